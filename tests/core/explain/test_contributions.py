"""The split of a score against the score itself, and each term against the score without it."""

from dataclasses import replace

import numpy as np
import pytest

from cogmap.core.decision.decision import Decision
from cogmap.core.explain.contributions import decoded_splits, split, strongest_cases
from cogmap.core.fit.fit import fit_network
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.readout.terms import raw_scores
from cogmap.core.resemblance.cases import CaseReadout
from cogmap.core.sums import threads
from cogmap.core.sums.rows import Rows
from cogmap.core.sums.sources import at_once
from cogmap.core.sums.space import NUMPY, STRIP, in_blocks
from tests.core.problems import SETTINGS, census_of, increments_of
from tests.core.trajectory.test_innovations import applied

KINDS = {
    "shrunken": {},
    "increments": {"alpha": 1.0},
    "states": {"alpha": 0.0, "max_iter": 3},
    "final": {"readout": "final"},
    "cases": {"cases": True},
    "terms": {"terms": 3},
}


def fit_model(rows, **settings):
    return fit_network(at_once(rows), census_of(rows), replace(SETTINGS, **settings)).model


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 4))
    codes = ((X[:, 0] ** 2 + X[:, 1] > 1).astype(int) + (X[:, 2] > 1)).astype(np.intp)
    return Rows(X, codes, np.ones(300), np.ones(300), 3)


@pytest.fixture(scope="module", params=[(kind, f) for kind in KINDS for f in ACTIVATIONS], ids="-".join)
def model(request, rows):
    kind, activation = request.param
    return fit_model(rows, **({"activation": activation} | KINDS[kind]))


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
        lost = in_blocks(lambda a: raw_scores(inner, NUMPY, model.network, a), initial) - in_blocks(
            lambda a, changed=changed: raw_scores(changed, NUMPY, model.network, a), initial
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
    model = fit_model(rows)
    initial = model.concepts(rows.X[:20])
    first = split(model.readout, model.network, initial)
    for concept in range(4):
        moved = initial.copy()
        moved[:, concept] += 1e-3
        change = split(model.readout, model.network, moved).values[:, 0] - first.values[:, 0]
        assert (np.abs(change) > 1e-6).all() == (concept == first.concept[0])


def test_the_gate_is_reported_where_the_leverage_passes_its_cap(rows):
    model = fit_model(rows, scaling="minmax")
    readout = model.readout
    far = np.array([[4.0, -4.0, 4.0, -4.0], [-4.0, 4.0, 4.0, 4.0]])
    initial = model.concepts(np.vstack([rows.X, far]))
    found = split(readout, model.network, initial)
    Q = applied(readout.basis, increments_of(model.network, initial, readout.reference, readout.n_iter))
    for i, stopped in enumerate(found.stopped_at):
        leverage = [(Q[i, :end] ** 2).sum() for end in readout.basis.ends]
        passed = [t for t, (h, cap) in enumerate(zip(leverage, readout.caps, strict=True)) if h > cap]
        assert stopped == (passed[0] if passed else -1)
        if passed:
            assert not found.values[i, found.iteration >= stopped].any()
    assert (found.stopped_at[-2:] >= 0).all()


def test_cases_are_one_term_and_also_a_sum_over_remembered_rows(rows):
    model = fit_model(rows, cases=True)
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
    members = [(fit_model(rows, **KINDS[kind]), weight) for kind, weight in (("cases", 0.7), ("increments", 0.5))]
    constant, decision = rng.normal(size=3), Decision(rng.normal(size=(3, 3)), rng.normal(size=3), np.zeros(3))
    found = decoded_splits(members, [0, 4], constant, decision, rows.X)
    raw = constant + sum(w * m.one_hot_scale(m.raw(rows.X)) for m, w in members)
    np.testing.assert_allclose(sum(part.scores for part in found), decision(raw), atol=1e-11)
    assert set(found[1].concept) == {4, 5, 6, 7}


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_parts_have_the_same_bits_in_any_batch_and_for_any_number_of_workers(workers, rows, monkeypatch):
    model = fit_model(rows)
    initial = model.concepts(np.tile(rows.X, (3, 1)))
    expected = split(model.readout, model.network, initial[:7])
    assert len(initial) > 3 * STRIP
    monkeypatch.setattr(threads, "n_workers", lambda: workers)
    parts = split(model.readout, model.network, initial)
    assert (parts.values[:7] == expected.values).all()
    assert (parts.stopped_at[:7] == expected.stopped_at).all()
    assert len(parts.values) == len(initial)


def test_without_concepts_the_base_is_all(rng):
    rows = Rows(np.ones((20, 2)), rng.integers(0, 2, 20), np.ones(20), np.ones(20), 2)
    model = fit_model(rows)
    parts = split(model.readout, model.network, model.concepts(rows.X))
    np.testing.assert_allclose(parts.scores, model.raw(rows.X), atol=1e-12)
    assert parts.values.shape[1] == 0 or not parts.values.any()
    assert (parts.stopped_at == -1).all()
