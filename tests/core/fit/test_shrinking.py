"""The innovations of a draft and their shrink factors: every pass in every space, against the rows themselves."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from cogmap.core.decision.decision import class_covariance
from cogmap.core.fit.shrinking import (
    Outlyingness,
    _followed,
    _gained,
    _samples,
    _scored,
    innovations,
    mapped,
    sample,
    sample_sizes,
    shrink,
    summed,
)
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network, trajectory
from cogmap.core.readout.shrunken import factors_from, gains_gram, trace
from cogmap.core.readout.terms import raw_scores
from cogmap.core.sums.sampling import union
from cogmap.core.sums.sources import Blocks
from cogmap.core.sums.space import NUMPY
from tests.core.problems import draft_of, increments_of, on, states_of
from tests.core.trajectory.test_innovations import applied

N, N_ITER, N_CLASSES = 900, 4, 3


@pytest.fixture(params=[False, True], ids=["even", "weighted"])
def states(request, rng):
    """Rows with initial states, the last of them alone in its class."""
    initial = rng.random((N, 3))
    codes = np.digitize(initial[:, 0] + initial[:, 1] ** 2 + rng.normal(size=N) / 4, [0.9])
    codes[-1] = 2
    weight = rng.integers(1, 4, N) * 1.0 if request.param else None
    if weight is not None:
        weight[-1] = 1
    return states_of(initial, codes, weight, N_CLASSES)


@pytest.fixture
def network(rng):
    return Network(1.2 * rng.normal(size=(3, 3)), rng.normal(size=3), 0.9, ACTIVATIONS["tanh"])


def cut_up(space, states):
    """Return the states as three blocks in a space."""
    parts = [on(space, states[slice(a, b)]) for a, b in pairwise([0, 250, 600, N])]
    return Blocks(lambda: parts, N, space)


@pytest.fixture
def plan(network, states):
    return draft_of(network, states, max_iter=N_ITER, tol=0.0)


@pytest.fixture
def known(plan):
    return innovations(plan)


def test_sample_sizes_follow_the_rows():
    assert sample_sizes(5, 100.0) == (30, (135, 0))
    assert sample_sizes(5, 1e6) == (600, (1200, 600))
    assert sample_sizes(2000, 1e6) == (2000, (4000, 2000))
    assert sample_sizes(1, 1.0) == (1, (4, 0))


def test_samples_are_those_of_numpy(plan, states, space):
    outlyingness = Outlyingness.from_scatter(plan.reference, plan.scatter)
    expected = sample(plan, (40, 20))
    there = union(cut_up(space, states).reduce(partial(_samples, outlyingness, (40, 20))))
    for mine, theirs in zip(there, expected, strict=True):
        assert (mine == theirs).all()


def test_mapped_features_and_their_sums_are_those_of_numpy(plan, known, states, space):
    basis = known.basis
    source = cut_up(space, states).through(partial(mapped, plan.network, plan.reference, basis))
    every = increments_of(plan.network, states.initial, plan.reference, N_ITER)
    identity = replace(basis, whiten=np.eye(len(basis.map)))
    ZY = np.hstack([applied(identity, every), np.eye(N_CLASSES)[states.codes]])
    designs = []
    gram, changes = source.reduce(lambda space: lambda block: designs.append(block) or summed(space)(block)).host
    np.testing.assert_allclose(np.concatenate([space.host(block.ZY) for block in designs]), ZY, atol=1e-9)
    expected = (ZY * states.weight[:, None]).T @ ZY
    np.testing.assert_allclose(np.triu(gram), np.triu(expected), atol=1e-8)
    moved = np.abs(np.diff(trajectory(plan.network, states.initial, N_ITER), axis=1)).max(axis=(0, 2))
    np.testing.assert_allclose(changes[1:], moved, rtol=1e-9)


def test_followed_rows_gain_and_score_as_those_of_numpy(plan, known, states, space):
    """The row that is alone in its class is scored from inside."""
    basis, mass = known.basis, plan.census.mass
    zero, one = plan.network.activation.ends
    target = zero + (one - zero) * np.eye(N_CLASSES)[states.codes]
    Q = applied(basis, increments_of(plan.network, states.initial, plan.reference, N_ITER))
    C = Q.T @ (states.weight[:, None] * target)
    path = trace(NUMPY, Q, basis.ends, target, C, mass.sum(), states.unit)
    designs = cut_up(space, states).through(partial(mapped, plan.network, plan.reference, basis))
    paths = designs.map(partial(_followed, plan.network, basis, C, mass), 20)
    gram, active, total = paths.reduce(_gained).host
    np.testing.assert_allclose(gram, gains_gram(NUMPY, path, target, states.weight), rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(active, path.active @ states.weight)
    assert total == states.weight.sum()

    factors = np.linspace(0.9, 0.3, N_ITER + 1)
    scores = paths.reduce(partial(_scored, factors, (zero, one)))
    outside = path.mean + np.tensordot(factors, path.gains, axes=1)
    sizes = np.diff([0, 1, *basis.ends])
    outside[-1] = (Q[-1] * np.repeat(np.r_[1.0, factors], sizes)) @ C
    np.testing.assert_allclose(scores.raw, (outside - zero) / (one - zero), atol=1e-8)
    assert (scores.codes == states.codes).all()
    assert (scores.weight == states.weight).all()


def test_innovations_and_factors_of_blocks_are_those_of_one_block(plan, known, states, space):
    """On a device too, where rows are never one block."""
    source = cut_up(space, states)
    blocks = replace(plan, states=source, source=source)
    again = innovations(blocks)
    solved, scores, between = shrink(plan, known, known.designs)
    other, others, covariance = shrink(blocks, again, again.designs)
    new = np.random.default_rng(3).random((50, 3))
    expected = raw_scores(solved.readout, NUMPY, plan.network, new)
    there = space.host(raw_scores(other.readout, space, plan.network, space.put(new)))
    np.testing.assert_allclose(there, expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(others.raw, scores.raw, atol=1e-8)
    np.testing.assert_allclose(covariance, between, atol=1e-9)
    np.testing.assert_allclose(other.shrinkage, solved.shrinkage, atol=1e-6)
    np.testing.assert_allclose(other.active, solved.active, atol=1e-12)
    assert (other.rank, other.readout.n_iter) == (solved.rank, solved.readout.n_iter)
    assert other.degrees_of_freedom == pytest.approx(solved.degrees_of_freedom, rel=1e-6)


def test_the_covariance_is_that_of_the_shrunk_scores_without_the_gate(plan, known, states):
    solved, _, between = shrink(plan, known, known.designs)
    R, q = solved.readout.outer(plan.network)
    fitted = np.einsum("ntm,tmk->nk", trajectory(plan.network, states.initial, solved.readout.n_iter), R) + q
    zero, one = plan.network.activation.ends
    expected = class_covariance((fitted - zero) / (one - zero), states.codes, states.weight)
    np.testing.assert_allclose(between, expected, atol=1e-8)


def test_factors_have_the_least_error_of_the_judges(plan, known):
    """Judges may be some of the rows: here every third, with weights of their own."""
    block = known.designs.reduce(lambda _: lambda block: block)
    some = replace(block, ZY=block.ZY[::3], codes=block.codes[::3], weight=block.weight[::3] * 3, unit=block.unit[::3])
    solved, scores, _ = shrink(plan, known, Blocks(lambda: [some], len(some.codes)))
    assert len(scores.raw) == len(some.codes)
    zero, one = plan.network.activation.ends
    sums = zero * known.sums.sum(axis=1, keepdims=True) + (one - zero) * known.sums
    Q = some.ZY[:, : len(known.basis.whiten)] @ known.basis.whiten
    target = some.target(NUMPY, plan.network.activation)
    path = trace(NUMPY, Q, known.basis.ends, target, sums, plan.census.total, some.unit)
    factors = factors_from(gains_gram(NUMPY, path, target, some.weight))
    np.testing.assert_allclose(solved.shrinkage, factors[: len(solved.shrinkage)], atol=1e-9)
