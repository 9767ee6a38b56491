"""Bounded least squares: optimality from the definition, the solver of scipy where the solution is unique."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear

from cogmap.core.network.bounded import bounded_least_squares

KINDS = ("free", "fixed", "at least", "at most", "positive", "between")


def make_bounds(kinds, values):
    lower, upper = np.full(len(kinds), -np.inf), np.full(len(kinds), np.inf)
    for j, (kind, value) in enumerate(zip(kinds, values, strict=True)):
        if kind == "fixed":
            lower[j] = upper[j] = value
        elif kind == "at least":
            lower[j] = value
        elif kind == "at most":
            upper[j] = value
        elif kind == "positive":
            lower[j] = 0.0
        elif kind == "between":
            lower[j], upper[j] = value, value + 0.5
    return lower, upper


def assert_fits_best(A, c, w, lower, upper):
    """Karush, Kuhn and Tucker: no gradient inside, and at a bound only one that points outwards."""
    assert (w >= lower).all()
    assert (w <= upper).all()
    gradient = A.T @ (A @ w - c)
    slack = 1e-11 * np.linalg.norm(A, axis=0) * (np.linalg.norm(A) * np.abs(w).max() + np.linalg.norm(c))
    assert (gradient[w < upper] >= -slack[w < upper]).all()
    assert (gradient[w > lower] <= slack[w > lower]).all()


def assert_shortest(A, w, lower, upper):
    """Optimality of min ‖w‖ among all w with the same A w: w = Aᵀλ + μ, with μ pushing from a bound inwards."""
    low, high = w == lower, w == upper
    design = np.hstack([A.T, np.eye(len(w))[:, low | high]])
    least = np.r_[np.full(len(A), -np.inf), np.where(high, -np.inf, 0.0)[low | high]]
    most = np.r_[np.full(len(A), np.inf), np.where(low, np.inf, 0.0)[low | high]]
    found = lsq_linear(design, w, (least, most), method="bvls", tol=1e-14).x
    np.testing.assert_allclose(design @ found, w, atol=1e-7 * (1 + np.abs(w).max()))


@settings(max_examples=150)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 15),
    kinds=st.lists(st.sampled_from(KINDS), min_size=1, max_size=10),
    rank=st.integers(1, 10),
    copy=st.booleans(),
)
def test_the_solution_is_optimal_and_the_shortest(seed, n, kinds, rank, copy):
    rng, m = np.random.default_rng(seed), len(kinds)
    A, c = rng.normal(size=(n, rank)) @ rng.normal(size=(rank, m)), rng.normal(size=n)
    if copy:
        A[:, -1] = A[:, 0]
    s = np.linalg.svd(A, compute_uv=False)
    if ((s > 1e-12 * s[0]) & (s < 1e-3 * s[0])).any():
        return
    lower, upper = make_bounds(kinds, np.round(rng.normal(size=m) / 2, 1))
    w = bounded_least_squares(A, c, lower, upper, 1e-12 * s[0])
    assert_fits_best(A, c, w, lower, upper)
    assert_shortest(A, w, lower, upper)
    held = lower == upper
    assert (w[held] == lower[held]).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_unique_solution_is_that_of_scipy(seed):
    rng = np.random.default_rng(seed)
    A, c = rng.normal(size=(30, 8)), rng.normal(size=30)
    lower, upper = make_bounds(rng.choice(KINDS[2:], 8), rng.normal(size=8) / 5)
    expected = lsq_linear(A, c, (lower, upper), method="bvls", tol=1e-15).x
    np.testing.assert_allclose(bounded_least_squares(A, c, lower, upper), expected, atol=1e-10)


def test_of_equal_columns_one_bound_leaves_the_rest_to_the_other(rng):
    """Two copies share a weight of 1 evenly, unless one may have .2 at most; then the other takes .8."""
    a = rng.normal(size=20)
    A, c = np.c_[a, a], a
    free = bounded_least_squares(A, c, np.full(2, -np.inf), np.full(2, np.inf), 1e-12)
    np.testing.assert_allclose(free, [0.5, 0.5], rtol=1e-12)
    bounded = bounded_least_squares(A, c, np.full(2, -np.inf), np.array([np.inf, 0.2]), 1e-12)
    np.testing.assert_allclose(bounded, [0.8, 0.2], rtol=1e-12)
    assert bounded[1] == 0.2


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("dependent", [False, True])
def test_a_solution_on_its_bound_does_not_pass_it_by_a_rounding_error(dependent, seed):
    """Without bounds the solution would be 0 in half of the entries, up to the last digits; 0 is their bound."""
    rng = np.random.default_rng(seed)
    A = rng.random((20, 6))
    if dependent:
        A[:, 5] = A[:, 4]
    true = np.array([0.0, 1.0, 0.0, -2.0, 0.0, 0.0])
    lower = np.where(true == 0, 0.0, -np.inf)
    w = bounded_least_squares(A, A @ true, lower, np.full(6, np.inf), 1e-12)
    assert (w >= lower).all()
    np.testing.assert_allclose(w, true, atol=1e-12)


@settings(max_examples=50)
@given(seed=st.integers(0, 2**32 - 1))
@example(seed=1048577)  # a bound that rounding made count, with numpy 2.1 and scipy 1.15
def test_the_order_of_the_columns_does_not_matter(seed):
    rng = np.random.default_rng(seed)
    A, c = np.round(rng.normal(size=(12, 4)), 1) @ rng.integers(-2, 3, (4, 8)), rng.normal(size=12)
    lower, upper = make_bounds(rng.choice(KINDS, 8), np.round(rng.normal(size=8) / 2, 1))
    order, noise = rng.permutation(8), 1e-12 * np.linalg.norm(A)
    w = bounded_least_squares(A, c, lower, upper, noise)
    permuted = bounded_least_squares(A[:, order], c, lower[order], upper[order], noise)
    np.testing.assert_allclose(permuted, w[order], atol=1e-8 * (1 + np.abs(w).max()))
