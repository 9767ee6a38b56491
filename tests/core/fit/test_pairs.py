"""Curves and surfaces from rows: pairs that matter, leave-one-out by hand, and every source and space alike."""

from dataclasses import replace

import numpy as np
import pytest

from cogmap.core.curves.halves import Size
from cogmap.core.curves.pairs import Pieces, all_pairs
from cogmap.core.curves.search import apart, halves_summed, search
from cogmap.core.fit.fit import fit_network
from cogmap.core.fit.network import initial_states
from cogmap.core.fit.pairs import planned, read_pairs, scored
from cogmap.core.sums.sources import Blocks, at_once, from_rows
from cogmap.core.sums.space import NUMPY
from tests.core.problems import SETTINGS, census_of, on, rows_of


@pytest.fixture
def rows(rng):
    """Features 1 and 3 act together, 0 by a bend, 2 not at all; a row counts up to three times."""
    X = rng.uniform(-1, 1, size=(420, 4))
    X[:, 3] = np.round(2 * X[:, 3])
    noise = rng.normal(size=(2, 420)) * 0.2
    codes = (X[:, 1] * X[:, 3] + noise[0] > 0).astype(np.intp) + (np.abs(X[:, 0]) + noise[1] > 0.8)
    return rows_of(X, codes, weight=rng.integers(1, 4, 420).astype(float), unit=np.ones(420))


def drafted(rows, source=None, **settings):
    source = at_once(rows) if source is None else source
    return fit_network(source, census_of(rows), replace(SETTINGS, **settings))


def states_of(rows, known):
    return initial_states(known.model.concepts, NUMPY)(rows)


def ridge(Z, Y, weight, penalty):
    """Solve the normal equations with a free constant."""
    design = np.hstack([Z, np.ones((len(Z), 1))])
    gram = (design * weight[:, None]).T @ design + np.diag([*penalty, 0.0])
    return np.linalg.solve(gram, (design * weight[:, None]).T @ Y)


@pytest.mark.parametrize(("times", "most"), [(1, 24), (10, 24), (20, 32), (30, 48), (100, 64)])
def test_many_rows_have_finer_curves(rng, times, most):
    """A knot for each 400 rows where that is more than 24, as the constants list them; copies count as rows."""
    rows = rows_of(rng.uniform(size=(700, 2)), np.arange(700) % 2, weight=np.full(700, float(times)))
    plan = planned(drafted(rows, max_iter=1).model, census_of(rows))
    assert [len(own) for own in plan.curves] == [most, most]


def test_the_pair_that_matters_is_found(rows):
    known = drafted(rows)
    choice = search(
        from_rows(rows).map(lambda space: initial_states(known.model.concepts, space), 8),
        planned(known.model, census_of(rows)),
        rows.weight.sum(),
    )
    for who in range(3):
        assert choice.pieces.pairs[choice.ranked[who][0]].tolist() == [1, 3]


def test_scores_of_pairs_are_what_residuals_hold_in_their_cells(rows):
    """Memberships by numpy's interpolation, cells by loops."""
    known = drafted(rows)
    plan = planned(known.model, census_of(rows))
    states, Y = states_of(rows, known), np.eye(3)[rows.codes]
    Z = plan.fill(NUMPY, states.initial, 0)
    solution = ridge(Z, Y, rows.weight, np.ones(Z.shape[1]))
    left = Y - Z @ solution[:-1] - solution[-1]
    corners = [
        np.stack([np.interp(a, own, one) for one in np.eye(len(own))])
        for a, own in zip(states.initial.T, plan.surfaces, strict=True)
    ]
    expected = []
    for i, j in all_pairs(4):
        cells = [(one * other * rows.weight) for one in corners[i] for other in corners[j]]
        expected.append(sum(((cell @ left) ** 2).sum() / (cell.sum() + 10) for cell in cells))
    choice = search(from_rows(rows).map(lambda space: initial_states(known.model.concepts, space), 8), plan, 1e9)
    order = np.argsort(-np.array(expected))
    assert choice.pieces.pairs.tolist() == all_pairs(4).tolist()
    assert choice.ranked[2].tolist() == order.tolist()


def test_ramps_are_taken_about_their_means(rows):
    known = drafted(rows)
    plan = planned(known.model, census_of(rows))
    choice = search(from_rows(rows).map(lambda space: initial_states(known.model.concepts, space), 8), plan, 1e9)
    initial = states_of(rows, known).initial
    ramps = np.hstack([plan.lines.of(NUMPY, initial), plan.factors[0].of(NUMPY, initial)])
    np.testing.assert_allclose(choice.pieces.means, rows.weight @ ramps / rows.weight.sum(), atol=1e-12)


def test_scores_are_those_of_fits_without_one_copy_of_the_row(rows):
    """Each row by the pairs that the other half chose."""
    known = drafted(rows)
    fitted = read_pairs(at_once(rows), census_of(rows), known)
    readout, states = fitted.model.readout, states_of(rows, known)
    plan = planned(known.model, census_of(rows))
    source = from_rows(rows).map(lambda space: initial_states(known.model.concepts, space), 8)
    choice = search(source, plan, rows.weight.sum())
    size = halves_summed(source, choice.pieces).choose(choice.columns)
    half = states.keys % 2
    Y = np.eye(3)[rows.codes]
    for i in (0, 7, 100, 333):
        pieces = choice.part(1 - int(half[i]), size.share)
        Z = pieces.fill(NUMPY, states.initial, 0)
        penalty = np.where(np.arange(Z.shape[1]) < pieces.n_curves, size.curve, size.surface)
        weight = rows.weight.copy()
        weight[i] -= 1
        solution = ridge(Z, Y, weight, penalty)
        np.testing.assert_allclose(fitted.scores.raw[i], np.r_[Z[i], 1] @ solution, atol=1e-8)
    pieces = choice.part(2, size.share)
    assert readout.pairs.tolist() == pieces.pairs.tolist()
    Z = pieces.fill(NUMPY, states.initial, 0)
    penalty = np.where(np.arange(Z.shape[1]) < pieces.n_curves, size.curve, size.surface)
    expected = np.hstack([Z, np.ones((len(Z), 1))]) @ ridge(Z, Y, rows.weight, penalty)
    raw = fitted.model.one_hot_scale(fitted.model.raw(rows.X))
    np.testing.assert_allclose(raw, expected, atol=1e-8)


def test_halves_part_rows_but_not_copies(rows):
    known = drafted(rows)
    twice = replace(
        rows,
        X=np.vstack([rows.X, rows.X]),
        **{name: np.tile(getattr(rows, name), 2) for name in ("codes", "weight", "unit")},
    )
    states = states_of(twice, known)
    parts = apart(NUMPY, states)
    assert sum(len(part.codes) for part in parts) == 840
    assert not set(map(tuple, parts[0].initial)) & set(map(tuple, parts[1].initial))
    assert 150 < len(parts[0].codes) / 2 < 270


def test_every_space_gives_the_same(rows, space):
    known = drafted(rows)
    expected = read_pairs(at_once(rows), census_of(rows), known)
    many = Blocks(lambda: [on(space, rows[:200]), on(space, rows[200:])], 420, space)
    found = read_pairs(many, census_of(rows), known)
    assert found.model.readout.pairs.tolist() == expected.model.readout.pairs.tolist()
    np.testing.assert_allclose(found.model.raw(rows.X), expected.model.raw(rows.X), atol=1e-9)
    assert found.solved.degrees_of_freedom == pytest.approx(expected.solved.degrees_of_freedom)
    # All rows judge here too, in an order of their own.
    assert len(found.scores.raw) == 420


def test_more_rows_than_judges(rows, monkeypatch):
    """Judges have the scores that they have among all."""
    monkeypatch.setattr("cogmap.core.fit.judges.JUDGES", 90)
    known = drafted(rows)
    found = read_pairs(from_rows(rows), census_of(rows), known)
    every = read_pairs(at_once(rows), census_of(rows), known)
    assert len(found.scores.raw) == 90
    assert all(np.isclose(every.scores.raw, raw, atol=1e-9).all(axis=1).any() for raw in found.scores.raw)


def test_a_row_alone_in_its_class_is_judged_from_inside(rng):
    X = rng.random((150, 2))
    codes = (X[:, 0] > 0.5).astype(np.intp)
    codes[3] = 2
    rows = rows_of(X, codes)
    known = drafted(rows)
    fitted = read_pairs(at_once(rows), census_of(rows), known)
    outside = scored(
        [(Pieces.plain(*_knots(fitted)), _curves(rows, fitted))] * 2, np.array([9.0, 9.0, 9.0]), None, NUMPY
    )
    inside = scored([(Pieces.plain(*_knots(fitted)), _curves(rows, fitted))] * 2, rows.mass, None, NUMPY)
    states = states_of(rows, known)
    assert inside(states).raw[3, 2] > outside(states).raw[3, 2]
    np.testing.assert_array_equal(np.delete(inside(states).raw, 3, 0), np.delete(outside(states).raw, 3, 0))


def _knots(fitted):
    return fitted.model.readout.curves, fitted.model.readout.surfaces


def _curves(rows, fitted):
    plan = Pieces.plain(*_knots(fitted))
    source = from_rows(rows).map(lambda space: initial_states(fitted.model.concepts, space), 4)
    return halves_summed(source, plan).solved(np.arange(plan.n_curves), Size(0.0, 1.0, 1.0))


def test_nothing_to_read(rows, rng):
    assert read_pairs(at_once(rows), census_of(rows), drafted(rows, terms=3)) is None
    few = rows_of(rng.random((60, 2)), (rng.random(60) > 0.5).astype(np.intp))
    assert read_pairs(at_once(few), census_of(few), drafted(few)) is None
    same = rows_of(np.array([[0.0], [1.0]]), np.array([0, 1]), weight=np.array([100.0, 100.0]), unit=np.ones(2))
    found = read_pairs(at_once(same), census_of(same), drafted(same, alpha=1.0))
    assert found is None or np.isfinite(found.scores.raw).all()


def test_one_feature_has_a_curve_alone(rng):
    X = rng.random((300, 1))
    rows = rows_of(X, (np.abs(X[:, 0] - 0.5) < 0.25).astype(np.intp))
    found = read_pairs(at_once(rows), census_of(rows), drafted(rows))
    assert found.model.readout.pairs.shape == (0, 2)
    assert (found.scores.raw.argmax(axis=1) == rows.codes).mean() > 0.95


def test_knots_are_fewer_where_concepts_are_many(rng):
    X = rng.random((400, 60))
    rows = rows_of(X, (X[:, 0] > 0.5).astype(np.intp))
    plan = planned(drafted(rows, max_iter=1).model, census_of(rows))
    assert plan.n_curves <= 400
    assert sum(map(len, plan.surfaces)) <= 300
