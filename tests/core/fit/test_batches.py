"""Batches of rows: the ridge of all rows seen so far, against the fit of all rows at once."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cogmap.core.fit.batches import Recursion
from cogmap.core.fit.network import draft
from cogmap.core.sums.sources import at_once
from tests.core.fit.test_fit import problem
from tests.core.problems import SETTINGS, census_of, increments_of, rows_of


@pytest.fixture
def rows(rng):
    return rows_of(*problem(rng, 900), rng.choice([0.5, 1.0, 2.0], 900))


def begun(rows, alpha):
    plan = draft(at_once(rows), census_of(rows), replace(SETTINGS, alpha=alpha))
    return Recursion.begun(plan.concepts, plan.network, rows, SETTINGS.max_iter, SETTINGS.tol)


@pytest.mark.parametrize("alpha", [0.01, 3.0])
def test_batches_have_the_solution_of_all_their_rows(alpha, rows):
    """With the concepts and inner weights of the first batch."""
    recursion = begun(rows[:300], alpha)
    for start, end in pairwise([300, 500, 800, 900]):
        recursion = recursion.and_then(rows[start:end])
    model, solved, decision = recursion.solved(alpha, "accuracy")
    frame = recursion.frame
    E = np.hstack(increments_of(frame.network, model.concepts(rows.X), frame.reference, frame.n_iter))
    mean = np.average(E, axis=0, weights=rows.weight)
    Z = (E - mean) / np.sqrt(np.average((E - mean) ** 2, axis=0, weights=rows.weight))
    zero, one = model.scale
    ridge = Ridge(alpha=alpha, solver="svd").fit(Z, zero + (one - zero) * np.eye(3)[rows.codes], rows.weight)
    expected = ridge.predict(Z)
    np.testing.assert_allclose(model.raw(rows.X), expected, rtol=0, atol=1e-8 * np.abs(expected).max())
    smoother = Ridge(alpha=alpha, solver="svd").fit(Z, np.eye(900), rows.weight).predict(Z)
    assert solved.degrees_of_freedom == pytest.approx(np.trace(smoother), rel=1e-6)
    assert decision.informed
    np.testing.assert_allclose(recursion.mass, rows.mass)
    assert len(recursion.summary().rows) <= 256


def test_a_class_that_no_row_had_so_far_is_the_least_likely(rng):
    X, codes = problem(rng, 400)
    rows = rows_of(X, np.where(codes == 1, 0, codes), n_classes=3)
    model, _, decision = begun(rows, 1.0).solved(1.0, "accuracy")
    decoded = decision(model.one_hot_scale(model.raw(X)))
    assert (decoded[:, 1] < decoded[:, [0, 2]].min(axis=1)).all()
    assert not decision.projection[1].any()
    assert not decision.projection[:, 1].any()
