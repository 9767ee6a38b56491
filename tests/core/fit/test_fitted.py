import copy
import pickle
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from scipy.linalg import block_diag
from sklearn.datasets import load_wine

from cogmap import LTCNClassifier, LTCNClassifierCV
from cogmap.core.fit.fitted import Edge, distinct_networks, joint_outer, offsets, probabilities
from cogmap.core.readout.states import StateReadout
from cogmap.core.resemblance.regions import RegionReadout

X, Y = load_wine(return_X_y=True)


@pytest.fixture(scope="module")
def stack():
    """Return a stack of two networks, one of them read twice, without cases and with those of one distance."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cogmap.estimators.tuned.stack_weights", lambda members: np.array([0.5, 0.3, 0.0, 0.4]))
        fitted = LTCNClassifierCV(max_iter=3, terms=None, pairs=False).fit(X, Y).fitted_
    assert [isinstance(model.readout, RegionReadout) for model, _ in fitted.members] == [False, False, True]
    return fitted


@pytest.fixture(scope="module")
def single():
    return LTCNClassifier.paper(max_iter=2).fit(X, Y).fitted_


def test_members_of_one_network_share_its_concepts(stack):
    shared = next(model.network for model, _ in stack.members[:2] if model.network is stack.members[2][0].network)
    assert sum(model.network is shared for model in stack.networks) == 1
    assert len(stack.networks) == 2
    assert stack.networks == distinct_networks(stack.members)
    assert offsets(stack.members) == [0, 13, 0 if stack.networks[0].network is shared else 13]
    assert stack.concept_features.tolist() == [*range(13), *range(13)]
    assert len(stack.concept_names) == 26


def test_networks_are_shown_as_blocks_of_one(stack, single):
    np.testing.assert_array_equal(stack.inner_weights, block_diag(*(m.network.weights for m in stack.networks)))
    np.testing.assert_array_equal(stack.inner_bias, np.r_[tuple(m.network.bias for m in stack.networks)])
    assert single.inner_weights is single.networks[0].network.weights


def test_scores_are_the_weighted_sum_of_the_members(stack):
    total = np.tile(stack.constant, (len(X), 1))
    for model, weight in stack.members:
        zero, one = np.log(np.array([0.01, 0.99]) / np.array([0.99, 0.01]))
        total += weight * (model.raw(X) - zero) / (one - zero)
    np.testing.assert_allclose(stack.raw(X), total, rtol=1e-12, atol=1e-12)
    scores = total @ stack.decision.projection + stack.decision.offset
    np.testing.assert_allclose(stack.scores(X), scores, rtol=1e-9, atol=1e-9)
    assert (stack.codes(X) == (scores + stack.decision.shift).argmax(axis=1)).all()


def test_states_of_all_networks_stand_beside_each_other(stack):
    states = stack.states(X[:5])
    assert states.shape == (5, stack.n_iter + 1, 26)
    for k, model in enumerate(stack.networks):
        A = A0 = model.concepts(X[:5])
        for t in range(stack.n_iter + 1):
            np.testing.assert_allclose(states[:, t, 13 * k : 13 * (k + 1)], A, rtol=1e-12)
            z = A @ model.network.weights + model.network.bias
            A = model.network.phi / (1 + np.exp(-z)) + (1 - model.network.phi) * A0


def test_outer_weights_read_the_raw_scores_from_the_states():
    """Weights of states, unlike those of innovations, give the scores themselves."""
    member = LTCNClassifier.paper(max_iter=2).fit(X, Y).fitted_.members[0][0]
    assert isinstance(member.readout, StateReadout)
    short = replace(member, readout=replace(member.readout, weights=member.readout.weights[:2]))
    members, constant = ((member, 0.7), (short, 0.2)), np.array([0.1, 0.0, -0.1])
    weights, bias = joint_outer(members, constant)
    assert weights.shape == (3, 13, 3)
    states = member.states(X, 2)
    raw = constant + 0.7 * member.one_hot_scale(member.raw(X)) + 0.2 * short.one_hot_scale(short.raw(X))
    np.testing.assert_allclose(np.einsum("ntm,tmk->nk", states, weights) + bias, raw, rtol=1e-6, atol=1e-6)


def test_edges_are_told_apart_by_their_networks(stack, single):
    edges = stack.edges
    assert len(edges) == 2 * 13 * 13
    assert set(stack.network_names) == {edge.network for edge in edges}
    for name, model in zip(stack.network_names, stack.networks, strict=True):
        assert edges[Edge(name, "x3", "x5")] == model.network.weights[3, 5]
    assert single.edges["", "x0", "x12"] == single.inner_weights[0, 12]


def test_the_verdict_of_a_stack_is_that_of_all_its_networks(stack):
    alone = [replace(stack, members=((model, 1.0),), network_names=("",)).diagnose(X[:20]) for model in stack.networks]
    together = stack.diagnose(X[:20])
    assert (together.reached_at == np.max([one.reached_at for one in alone], axis=0)).all()
    assert together.contraction == max(one.contraction for one in alone)


def test_the_larger_score_is_the_more_probable():
    scores = np.array([[0.0, 1e-20, 0.0], [3.0, 3.0, 1.0], [1.0, 2.0, 40.0]])
    found = probabilities(scores)
    np.testing.assert_allclose(found, np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True), rtol=1e-15)
    assert found.argmax(axis=1).tolist() == [1, 0, 2]


def test_it_is_frozen_and_a_changed_copy_remembers_nothing(single):
    with pytest.raises(FrozenInstanceError):
        single.longest = 3
    single.memory["something"] = 1
    assert pickle.loads(pickle.dumps(single)).memory == copy.deepcopy(single).memory == {"something": 1}
    assert replace(single, longest=7).memory == {}


@pytest.mark.parametrize("parameters", [{}, {"alpha": 1.0}, {"alpha": 0.0, "max_iter": 2}, {"cases": True}], ids=str)
def test_scores_of_a_row_have_the_same_bits_in_any_batch(parameters, rng):
    """Also where rows are so many that threads share them, and where numbers are beyond what was seen."""
    X = rng.normal(size=(1700, 4)) * np.where(np.arange(1700) % 7 == 0, 5.0, 1.0)[:, None]
    fitted = LTCNClassifier(**parameters).fit(X[:120], (X[:120, 0] * X[:120, 1] > 0) * 1).fitted_
    whole = fitted.scores(X)
    for size in (1, 7, 191, 193, 400):
        for begin in range(0, 400, size):
            assert (fitted.scores(X[begin : begin + size]) == whole[begin : begin + size]).all()
