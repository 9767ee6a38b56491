import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from cogmap.core.constants import CASE_DECAY, CASE_PENALTIES, CASE_START, TRAJECTORY_SHARE
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network
from cogmap.core.readout.shrunken import active_rows
from cogmap.core.readout.terms import raw_scores
from cogmap.core.resemblance.cases import (
    best_penalty,
    fit_cases,
    sample_rows,
    solve_dual,
)
from cogmap.core.resemblance.metric import fit_metric
from tests.core.problems import increments_of
from tests.core.trajectory.test_innovations import applied, fit

WEIGHTS = ["ones", "whole", "fractional"]
CDIST = {"straight": "euclidean", "squared": "sqeuclidean", "axes": "cityblock"}


def weights(kind, n, rng):
    choices = {"ones": [1.0], "whole": [1.0, 2.0, 3.0], "fractional": [0.4, 1.0, 2.5]}[kind]
    weight = rng.choice(choices, n)
    return weight, np.minimum(1.0, weight)


def bordered(K, target, penalty):
    """Solve [K + diag(penalty), 1; 1ᵀ, 0][a; q] = [target; 0]."""
    n = len(K)
    system = np.block([[K + np.diag(penalty), np.ones((n, 1))], [np.ones((1, n)), np.zeros((1, 1))]])
    solution = np.linalg.solve(system, np.vstack([target, np.zeros((1, target.shape[1]))]))
    return solution[:-1], solution[-1]


def random_kernel(rng, n=30):
    A = rng.normal(size=(n, n))
    return A @ A.T / n


@pytest.mark.parametrize("kind", WEIGHTS)
def test_dual_solution_equals_the_bordered_system(kind, rng):
    K, target = random_kernel(rng), rng.normal(size=(30, 2))
    weight, unit = weights(kind, 30, rng)
    dual = solve_dual(np.tril(K), target, weight, unit, 0.3)
    a, q = bordered(K, target, 0.3 / weight)
    np.testing.assert_allclose(dual.coefficients, a, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(dual.constant, q, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(dual.fitted, K @ a + q, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_leave_one_out_equals_explicit_refits(kind, rng):
    K, target = random_kernel(rng), rng.normal(size=(30, 2))
    weight, unit = weights(kind, 30, rng)
    outside = solve_dual(K.copy(), target, weight, unit, 0.3).outside
    for i in range(30):
        less = weight.copy()
        less[i] -= unit[i]
        kept = less > 0
        a, q = bordered(K[np.ix_(kept, kept)], target[kept], 0.3 / less[kept])
        np.testing.assert_allclose(outside[i], K[i, kept] @ a + q, rtol=1e-8, atol=1e-9)


@pytest.mark.parametrize("first", [1, 22, 29])
def test_the_last_rows_are_left_out_as_all_are(first, rng):
    K, target = random_kernel(rng), rng.normal(size=(30, 2))
    weight, unit = weights("fractional", 30, rng)
    every, last = (solve_dual(K.copy(), target, weight, unit, 0.3, start) for start in (0, first))
    np.testing.assert_allclose(last.outside, every.outside[first:], rtol=1e-9)
    np.testing.assert_array_equal(last.fitted, every.fitted)


def test_degrees_of_freedom_are_the_trace_of_the_smoother(rng):
    K, ones = random_kernel(rng), np.ones(30)
    smoother = np.column_stack(
        [solve_dual(K.copy(), column[:, None], ones, ones, 0.3).fitted[:, 0] for column in np.eye(30)]
    )
    found = solve_dual(K.copy(), np.eye(30)[:, :1], ones, ones, 0.3).degrees_of_freedom
    assert found == pytest.approx(np.trace(smoother))


def test_metric_divides_by_ridged_covariance_and_has_unit_mean_square_distance(rng):
    X = rng.normal(size=(300, 4)) @ rng.normal(size=(4, 4))
    coordinates = fit_metric(X, np.ones(300), 0.5)(X)
    assert (pdist(coordinates) ** 2).mean() == pytest.approx(1, rel=1 / 250)
    covariance = np.cov(X.T, bias=True)
    inverse = np.linalg.inv(covariance + 0.5 * np.trace(covariance) / 4 * np.eye(4))
    expected = cdist(X[:9], X[:9], "mahalanobis", VI=inverse)
    found = cdist(coordinates[:9], coordinates[:9])
    np.testing.assert_allclose(found / found[0, 1], expected / expected[0, 1], rtol=1e-9)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_scores_of_new_rows_equal_kernel_ridge_with_the_sum_of_both_kernels(kind, space, rng):
    X, new = rng.random((60, 3)), rng.random((15, 3))
    network = Network(rng.normal(size=(3, 3)) / 2, np.zeros(3), 0.8, ACTIVATIONS["sigmoid"])
    weight, unit = weights(kind, 60, rng)
    reference = weight @ X / weight.sum()
    basis, Q = fit(increments_of(network, X, reference, 3), weight, 30)
    active = active_rows(Q, basis.ends, weight.sum(), unit)
    target = rng.normal(size=(60, 2))
    fitted = fit_cases(X, reference, basis, Q, active, target, weight, unit)

    caps = fitted.readout.trajectory.caps
    new_Q = applied(basis, increments_of(network, new, reference, 3))
    metric = fitted.readout.metric
    K, K_new = np.exp(-cdist(metric(X), metric(X))), np.exp(-cdist(metric(new), metric(X)))
    reasons = np.ones(15, bool)
    for t, (start, end) in enumerate(zip([1, *basis.ends[:-1]], basis.ends, strict=True)):
        reasons &= (new_Q[:, :end] ** 2).sum(axis=1) <= caps[t]
        share = TRAJECTORY_SHARE * CASE_DECAY**t * weight.sum() / 3
        old = Q[:, start:end] * active[:, t, None]
        K += share * old @ old.T
        K_new += share * (new_Q[:, start:end] * reasons[:, None]) @ old.T
    a, q = bordered(K, target, fitted.alpha / weight)
    scores = space.host(raw_scores(fitted.readout, space, network, space.put(new)))
    np.testing.assert_allclose(scores, K_new @ a + q, rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(fitted.fitted, K @ a + q, rtol=1e-6, atol=1e-7)


def test_penalty_is_a_local_minimum_of_the_leave_one_out_error(rng):
    cases, ones = rng.random((80, 2)), np.ones(80)
    target = np.sin(5 * cases[:, :1]) + 0.3 * rng.normal(size=(80, 1))
    K = np.exp(-cdist(cases, cases))
    errors = [((target - solve_dual(K.copy(), target, ones, ones, a).outside) ** 2).sum() for a in CASE_PENALTIES]
    error, found, dual = best_penalty(K, target, ones, ones, CASE_START)
    assert error == pytest.approx(errors[found]) == ((target - dual.outside) ** 2).sum()
    assert errors[found] == min(errors[max(found - 1, 0) : found + 2])


def test_sampled_rows_are_spread_over_the_classes():
    codes = np.repeat([0, 1, 2], [300, 150, 50])
    rows = sample_rows(codes, 100)
    assert len(set(rows)) == 100
    np.testing.assert_allclose(np.bincount(codes[rows]), [60, 30, 10], atol=1)
    assert (sample_rows(codes, 500) == np.arange(500)).all()
