"""A step of logistic regression, against the formula by hand, scikit-learn's optimum, and fits without a row."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit
from sklearn.linear_model import LogisticRegression

from cogmap.core.constants import DOUBT, ODDS_PENALTY
from cogmap.core.curves.halves import Moments, Ridge
from cogmap.core.curves.odds import Start, step_summed
from cogmap.core.curves.pairs import Pieces
from cogmap.core.curves.search import halves_summed, search
from cogmap.core.fit import pairs
from cogmap.core.fit.fit import fit_network
from cogmap.core.fit.network import initial_states
from cogmap.core.fit.pairs import planned, read_pairs
from cogmap.core.sums.rows import States
from cogmap.core.sums.sources import Blocks, at_once, from_rows
from cogmap.core.sums.space import NUMPY
from tests.core.problems import SETTINGS, census_of, on, rows_of


@pytest.fixture
def rows(rng):
    """Two classes, one of them rare; features 0 and 1 act together; a row counts up to three times."""
    X = rng.uniform(-1, 1, size=(360, 3))
    codes = (4 * X[:, 0] * X[:, 1] + X[:, 2] + rng.logistic(size=360) * 0.5 > 1.2).astype(np.intp)
    return rows_of(X, codes, weight=rng.integers(1, 4, 360).astype(float), unit=np.ones(360))


@pytest.fixture
def known(rows, monkeypatch):
    """Fit a network whose curves take the step though rows are few."""
    monkeypatch.setattr(pairs, "ODDS_ROWS", 100)
    return fit_network(at_once(rows), census_of(rows), SETTINGS)


def states_of(X, codes, weight):
    return States(np.asfortranarray(X), np.arange(len(X), dtype=np.uint64), codes, weight, np.ones(len(X)), 2)


def aims(fitted, codes):
    """Return the working response and its weight, as textbooks of iterated least squares have them."""
    p = np.clip(fitted, DOUBT, 1 - DOUBT)
    return np.log(p / (1 - p)) + (codes - p) / (p * (1 - p)), p * (1 - p)


def ridge(Z, y, weight, penalty):
    """Solve the normal equations with a free constant."""
    design = np.hstack([Z, np.ones((len(Z), 1))])
    gram = (design * weight[:, None]).T @ design + np.diag([*penalty, 0.0])
    return np.linalg.solve(gram, design.T @ (weight * y))


def stepped(pieces, start, states, penalty):
    (gram,) = step_summed(start, pieces, np.arange(len(pieces.owners)), NUMPY)(states).host
    return Ridge.of(Moments.of_aims(gram), penalty)


def test_from_near_the_optimum_a_step_arrives_there(rng):
    """Newton's method: what is left is the square of how far it was, here of scikit-learn's optimum."""
    X, weight = rng.random((500, 2)), rng.integers(1, 4, 500).astype(float)
    codes = (rng.random(500) < expit(2 * X[:, 0] - X[:, 1] - 0.4)).astype(np.intp)
    pieces = Pieces.plain((np.array([0.0, 1.0]),) * 2, (np.array([0.0, 1.0]),) * 2)
    best = LogisticRegression(C=1 / 3, tol=1e-12, max_iter=1000).fit(X, codes, weight)
    # A line through the curve of the optimum's probabilities: about as near as least squares come.
    p = best.predict_proba(X)[:, 1]
    line = np.linalg.lstsq(np.c_[X, np.ones(500)], p, rcond=None)[0]
    found = stepped(pieces, Start(pieces, line[:2], float(line[2])), states_of(X, codes, weight), np.full(2, 3.0))
    away = np.abs(np.c_[X, np.ones(500)] @ line - p).max()
    np.testing.assert_allclose(4 * found.slope[:, 1], best.coef_[0], atol=20 * away**2)
    assert 4 * (found.offset[1] - 0.5) == pytest.approx(best.intercept_[0], abs=20 * away**2)
    np.testing.assert_allclose(found.slope[:, 0], -found.slope[:, 1])
    assert found.offset.sum() == pytest.approx(1)


def test_scores_are_those_of_fits_without_one_copy_of_the_row(rows, known):
    """Each row by the pairs that the other half chose, from the start that all rows chose."""
    fitted = read_pairs(at_once(rows), census_of(rows), known)
    states = initial_states(known.model.concepts, NUMPY)(rows)
    source = from_rows(rows).map(lambda space: initial_states(known.model.concepts, space), 8)
    choice = search(source, planned(known.model, census_of(rows)), rows.weight.sum())
    size = halves_summed(source, choice.pieces).choose(choice.columns)

    def columns(who):
        pieces = choice.part(who, size.share)
        Z = pieces.fill(NUMPY, states.initial, 0)
        return Z, np.where(np.arange(Z.shape[1]) < pieces.n_curves, size.curve, size.surface)

    Z, penalty = columns(2)
    aim, counts = aims(np.c_[Z, np.ones(360)] @ ridge(Z, rows.codes, rows.weight, penalty), rows.codes)
    factor = ODDS_PENALTY * (rows.weight @ counts) / rows.weight.sum()
    for i in (0, 7, 100, 333):
        Z, penalty = columns(1 - int(states.keys[i] % 2))
        weight = rows.weight.copy()
        weight[i] -= 1
        odds = np.r_[Z[i], 1] @ ridge(Z, aim, weight * counts, factor * penalty)
        np.testing.assert_allclose(fitted.scores.raw[i], [0.5 - odds / 4, 0.5 + odds / 4], atol=1e-8)
    Z, penalty = columns(2)
    odds = np.c_[Z, np.ones(360)] @ ridge(Z, aim, rows.weight * counts, factor * penalty)
    raw = fitted.model.one_hot_scale(fitted.model.raw(rows.X))
    np.testing.assert_allclose(raw, 0.5 + np.outer(odds, [-1, 1]) / 4, atol=1e-8)
    share = rows.weight / rows.weight.sum()
    between = (np.eye(2)[rows.codes] * share[:, None]).T @ (raw - share @ raw)
    np.testing.assert_allclose(fitted.between, between, atol=1e-9)


def test_every_space_and_any_blocks_give_the_same(rows, known, space):
    expected = read_pairs(at_once(rows), census_of(rows), known)
    many = Blocks(lambda: [on(space, rows[:130]), on(space, rows[130:])], 360, space)
    found = read_pairs(many, census_of(rows), known)
    np.testing.assert_allclose(found.model.raw(rows.X), expected.model.raw(rows.X), atol=1e-9)
    assert found.solved.degrees_of_freedom == pytest.approx(expected.solved.degrees_of_freedom)
    assert found.solved.condition == pytest.approx(expected.solved.condition)


def test_a_copy_is_a_weight_of_two(rows, known):
    twice = replace(rows, weight=2 * rows.weight)
    copied = rows_of(np.tile(rows.X, (2, 1)), np.tile(rows.codes, 2), weight=np.tile(rows.weight, 2), unit=np.ones(720))
    one, other = (read_pairs(at_once(own), census_of(own), known) for own in (twice, copied))
    np.testing.assert_allclose(one.model.raw(rows.X), other.model.raw(rows.X), atol=1e-9)


def test_classes_of_three_keep_least_squares(rows, known):
    codes = rows.codes + (rows.X[:, 2] > 0.5)
    three = rows_of(rows.X, codes, weight=rows.weight, unit=rows.unit)
    fitted = read_pairs(at_once(three), census_of(three), fit_network(at_once(three), census_of(three), SETTINGS))
    raw = fitted.model.one_hot_scale(fitted.model.raw(rows.X))
    # Least squares leave nothing of any column: the residuals sum to 0, those of log-odds do not.
    np.testing.assert_allclose(rows.weight @ (np.eye(3)[codes] - raw), 0, atol=1e-8)
