"""The split of a score against the score itself, and each term against the score without it."""

from dataclasses import replace

import numpy as np
import pytest

from cogmap.core.decision.decision import Decision
from cogmap.core.explain.contributions import decoded_splits
from cogmap.core.fit.model import Settings, fit_model
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.readout.cases import CaseReadout
from cogmap.core.readout.terms import split, strongest_cases
from cogmap.core.sums.blocks import in_blocks
from cogmap.core.sums.rows import Rows

DEFAULTS = {
    "phi": 0.8,
    "max_iter": 6,
    "activation": "sigmoid",
    "alpha": "loo",
    "inner": "slopes",
    "rule": "quasi-nonlinear",
    "readout": "trajectory",
    "scaling": "halfway",
    "terms": None,
    "cases": False,
    "tol": 1e-12,
}
KINDS = {
    "shrunken": {},
    "increments": {"alpha": 1.0},
    "states": {"alpha": 0.0, "max_iter": 3},
    "final": {"readout": "final"},
    "cases": {"cases": True},
    "terms": {"terms": 3},
}


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    codes = ((X[:, 0] ** 2 + X[:, 1] > 1).astype(int) + (X[:, 2] > 1)).astype(np.intp)
    return Rows(X, codes, np.ones(300), np.ones(300), 3)


@pytest.fixture(scope="module", params=[(kind, f) for kind in KINDS for f in ACTIVATIONS], ids="-".join)
def model(request, rows):
    kind, activation = request.param
    return fit_model(rows, Settings(**(DEFAULTS | {"activation": activation} | KINDS[kind])))[0]


def test_parts_add_up_to_the_score(model, rows):
    found = split(model.readout, model.network, model.concepts(rows.X))
    terms = np.abs(found.values[:, :, None] * found.coefficients).max(axis=1)
    largest = np.maximum(np.maximum(terms, np.abs(found.base)), np.abs(found.cases))
    assert (np.abs(found.scores - model.raw(rows.X)) <= 1e-12 * largest).all()


def test_a_term_is_what_the_score_loses_without_its_coefficient(model, rows):
    initial = model.concepts(rows.X[:50])
    found = split(model.readout, model.network, initial)
    readout = model.readout
    inner = readout.trajectory if isinstance(readout, CaseReadout) else readout
    name = "weights" if hasattr(inner, "weights") else "coefficients"
    for k in (0, 2, len(found.iteration) - 1):
        without = getattr(inner, name).copy()
        position = (found.iteration[k], found.concept[k]) if without.ndim == 3 else 1 + k
        without[position] = 0.0
        changed = replace(inner, **{name: without})
        lost = in_blocks(lambda a: inner.scores(model.network, a), initial) - in_blocks(
            lambda a, changed=changed: changed.scores(model.network, a), initial
        )
        term = found.values[:, k, None] * found.coefficients[k]
        np.testing.assert_allclose(term, lost, atol=1e-12 * np.abs(found.values[:, :, None] * found.coefficients).max())


def test_terms_put_each_value_at_its_iteration_and_concept(model, rows):
    found = split(model.readout, model.network, model.concepts(rows.X[:5]))
    direction = np.array([1.0, 0.0, -1.0])
    shape = (found.iteration.max() + 1, len(model.network.bias))
    terms = found.terms(direction, shape)
    for k, (t, concept) in enumerate(zip(found.iteration, found.concept, strict=True)):
        expected = found.values[:, k] * (found.coefficients[k, 0] - found.coefficients[k, 2])
        np.testing.assert_allclose(terms[:, t, concept], expected, rtol=1e-12, atol=1e-300)
    assert np.count_nonzero(np.abs(terms).sum(axis=0)) <= len(found.iteration)


def test_an_innovation_belongs_to_the_concept_whose_increment_entered(rows):
    """Innovations of A⁰ are triangular: the first one moves with its own concept alone."""
    model = fit_model(rows, Settings(**DEFAULTS))[0]
    initial = model.concepts(rows.X[:20])
    first = split(model.readout, model.network, initial)
    for concept in range(4):
        moved = initial.copy()
        moved[:, concept] += 1e-3
        change = split(model.readout, model.network, moved).values[:, 0] - first.values[:, 0]
        assert (np.abs(change) > 1e-6).all() == (concept == first.concept[0])


def test_the_gate_is_reported_where_the_leverage_passes_its_cap(rows):
    model = fit_model(rows, Settings(**(DEFAULTS | {"scaling": "minmax"})))[0]
    readout = model.readout
    far = np.array([[4.0, -4.0, 4.0, -4.0], [-4.0, 4.0, 4.0, 4.0]])
    initial = model.concepts(np.vstack([rows.X, far]))
    found = split(readout, model.network, initial)
    Q = readout.innovations(model.network, initial)
    for i, stopped in enumerate(found.stopped_at):
        leverage = [(Q[i, :end] ** 2).sum() for end in readout.basis.ends]
        passed = [t for t, (h, cap) in enumerate(zip(leverage, readout.caps, strict=True)) if h > cap]
        assert stopped == (passed[0] if passed else -1)
        if passed:
            assert not found.values[i, found.iteration >= stopped].any()
    assert (found.stopped_at[-2:] >= 0).all()


def test_cases_are_one_term_and_also_a_sum_over_remembered_rows(rows):
    model = fit_model(rows, Settings(**(DEFAULTS | {"cases": True})))[0]
    initial = model.concepts(rows.X[:3])
    found = split(model.readout, model.network, initial)
    u = model.readout.metric(initial)
    distance = np.sqrt(((u[:, None] - model.readout.cases) ** 2).sum(axis=2))
    np.testing.assert_allclose(found.cases, np.exp(-distance) @ model.readout.coefficients, atol=1e-6)
    direction = np.array([1.0, -1.0, 0.0])
    chosen, alike, pull = strongest_cases(model.readout, initial[1:2], direction, 300)
    assert sorted(chosen) == list(range(300))
    assert (np.diff(np.abs(pull)) <= 0).all()
    np.testing.assert_allclose(alike, np.exp(-distance[1, chosen]), atol=1e-6)
    np.testing.assert_allclose(pull.sum(), found.cases[1] @ direction, rtol=1e-9)


def test_decoded_splits_of_two_members_add_up_to_the_decision(rows, rng):
    members = [
        (fit_model(rows, Settings(**(DEFAULTS | KINDS[kind])))[0], weight)
        for kind, weight in (("cases", 0.7), ("increments", 0.5))
    ]
    constant, decision = rng.normal(size=3), Decision(rng.normal(size=(3, 3)), rng.normal(size=3), np.zeros(3))
    found = decoded_splits(members, [0, 4], constant, decision, rows.X)
    raw = constant + sum(w * m.one_hot_scale(m.raw(rows.X)) for m, w in members)
    np.testing.assert_allclose(sum(part.scores for part in found), decision(raw), atol=1e-11)
    assert set(found[1].concept) == {4, 5, 6, 7}


def test_an_unknown_readout_is_refused():
    with pytest.raises(TypeError, match="object"):
        split(object(), None, np.zeros((1, 2)))
