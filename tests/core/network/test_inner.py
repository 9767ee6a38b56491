import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from ltcn.LTCN import LTCN
from sklearn.linear_model import Ridge

from cogmap.core.constants import INNER_NORM, INNER_RIDGE
from cogmap.core.network import inner
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.inner import Regressors, regression, ridge, spectral_norm
from cogmap.core.sums.factor import Factor
from cogmap.core.sums.statistics import merged
from tests import naive
from tests.core.weights import (
    correlation_weights,
    regression_weights,
    ridge_weights,
    slope_weights,
    stable_regression_weights,
)

KINDS = ("independent", "duplicate", "collinear", "tiny collinear", "wide", "one feature")


def make(kind, rng):
    n, m = {"wide": (8, 12), "one feature": (20, 1)}.get(kind, (60, 6))
    X = rng.random((n, m))
    if kind == "duplicate":
        X[:, 3] = X[:, 0]
    if kind == "collinear":
        X[:, 3] = 0.2 * X[:, 0] + 0.3 * X[:, 1] + 0.5 * X[:, 2]
        X[:, 5] = 1 - X[:, 4]
    if kind == "tiny collinear":
        X[:, 3] = (X[:, 0] + 1e-3 * X[:, 1]) / 1.001
    return X


@pytest.mark.parametrize("width", [2, 2048])
@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_regressions_equal_separate_minimum_norm_solutions(kind, activation, width, rng, monkeypatch):
    monkeypatch.setattr(inner, "WEIGHT_COLUMNS", width)
    X = make(kind, rng)
    W, b = regression_weights(X, np.ones(len(X)), ACTIVATIONS[activation])
    W_naive, b_naive = naive.regression_weights(X, activation)
    np.testing.assert_allclose(W, W_naive, rtol=1e-8, atol=1e-8 * np.abs(W_naive).max())
    np.testing.assert_allclose(b, b_naive, rtol=1e-8, atol=1e-8 * np.abs(b_naive).max())
    assert (np.diag(W) == 0).all()


@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.one_of(st.integers(2, 6), st.integers(2, 30)),
    m=st.integers(1, 12),
    rank=st.integers(1, 12),
)
@example(seed=5816, n=4, m=3, rank=12)
def test_regressions_equal_separate_ones_for_any_shape_and_rank(seed, n, m, rank):
    rng = np.random.default_rng(seed)
    X = rng.random((n, rank)) @ rng.random((rank, m)) / rank
    if np.linalg.cond(X) < 1e12 and np.linalg.cond(X) > 1e6:
        return
    W, b = regression_weights(X, np.ones(n), ACTIVATIONS["sigmoid"])
    fitted = X @ W + b
    W_naive, b_naive = naive.regression_weights(X, "sigmoid")
    scale = np.abs(W_naive).max()
    np.testing.assert_allclose(fitted, X @ W_naive + b_naive, atol=1e-7 * (1 + scale))
    np.testing.assert_allclose(W, W_naive, atol=1e-6 * (1e-3 + scale))


@settings(max_examples=100)
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(3, 7), extra=st.integers(0, 3))
def test_few_rows_of_full_rank_have_the_residual_of_least_squares(seed, n, extra):
    """No column depends on others, so each regression is an ordinary one, however small the table is."""
    rng = np.random.default_rng(seed)
    m = min(2 + extra, n - 1)
    X = rng.random((n, m))
    if np.linalg.cond(X - X.mean(axis=0)) > 1e4:
        return
    W, b = regression_weights(X, np.ones(n), ACTIVATIONS["sigmoid"])
    target = ACTIVATIONS["sigmoid"].inverse(X)
    for i in range(m):
        F = np.c_[np.ones(n), np.delete(X, i, axis=1)]
        residual = target[:, i] - F @ np.linalg.lstsq(F, target[:, i], rcond=None)[0]
        np.testing.assert_allclose(target[:, i] - (X @ W[:, i] + b[i]), residual, atol=1e-8)


def test_slopes_equal_the_authors_package(rng):
    X = rng.random((200, 7)) ** 2
    W, b = slope_weights(X, np.ones(200))
    np.testing.assert_allclose(W, LTCN().build_matrix(X), rtol=1e-10)
    np.testing.assert_allclose(W, naive.slope_weights(X), rtol=1e-12)
    assert not b.any()


@pytest.mark.parametrize("solve", [lambda X, w: regression_weights(X, w, ACTIVATIONS["sigmoid"]), slope_weights])
def test_weight_k_equals_a_row_repeated_k_times(solve, rng):
    X, times = rng.random((40, 5)), rng.integers(1, 4, 40)
    pairs = zip(solve(X, times.astype(float)), solve(np.repeat(X, times, 0), np.ones(times.sum())), strict=True)
    for weighted, repeated in pairs:
        np.testing.assert_allclose(weighted, repeated, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("unit", [1e-14, 1e14])
@pytest.mark.parametrize("kind", ["collinear", "wide"])
def test_weights_of_rows_in_another_unit_change_nothing(kind, unit, rng):
    """What counts as rounding, and as dependent on others, must be a share of what there is."""
    X = make(kind, rng)
    W, b = regression_weights(X, np.full(len(X), unit), ACTIVATIONS["sigmoid"])
    W_naive, b_naive = naive.regression_weights(X, "sigmoid")
    np.testing.assert_allclose(W, W_naive, rtol=1e-8, atol=1e-8 * np.abs(W_naive).max())
    np.testing.assert_allclose(b, b_naive, rtol=1e-8, atol=1e-8 * np.abs(b_naive).max())


def test_concepts_that_are_all_constant_owe_nothing_to_each_other():
    X = np.tile([0.5, 0.25, 0.75], (8, 1))
    W, b = regression_weights(X, np.ones(8), ACTIVATIONS["sigmoid"])
    assert not W.any()
    np.testing.assert_allclose(b, ACTIVATIONS["sigmoid"].inverse(X[0]), atol=1e-14)


@pytest.mark.parametrize("gain", [1e-8, 1.0, 1e8])
def test_the_spectral_norm_of_large_weights_is_the_largest_singular_value(gain, rng, monkeypatch):
    monkeypatch.setattr(inner, "WEIGHT_COLUMNS", 5)
    W = gain * rng.normal(size=(40, 40))
    assert spectral_norm(W) == pytest.approx(np.linalg.svd(W, compute_uv=False)[0], rel=1e-10)
    assert spectral_norm(gain * np.eye(40)) == pytest.approx(gain, rel=1e-10)
    assert spectral_norm(np.array([[gain]])) == pytest.approx(gain)
    assert spectral_norm(np.zeros((0, 0))) == 0.0


@pytest.mark.parametrize(("way", "of_rows"), [(regression, regression_weights), (ridge, ridge_weights)])
def test_regressions_from_a_factor_are_those_of_the_rows(way, of_rows, rng):
    """Collinear concepts among them: the factor must keep the rank."""
    f = ACTIVATIONS["sigmoid"]
    X = rng.random((90, 4))
    X = np.c_[X, 0.5 * X[:, 0] + 0.5 * X[:, 1]]
    weight = rng.uniform(0.5, 2, 90)
    parts = zip(np.array_split(X, 4), np.array_split(weight, 4), strict=True)
    factor = merged(Factor.from_block(w, x, f.inverse(x)) for x, w in parts)
    for mine, expected in zip(way(Regressors.from_factor(factor, 5)), of_rows(X, weight, f), strict=True):
        np.testing.assert_allclose(mine, expected, atol=1e-9)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_ridge_equals_separate_regressions_of_scikit_learn(activation, rng):
    """λ is a penalty for each unit of weight, so scikit-learn's is λ times their sum."""
    f = ACTIVATIONS[activation]
    X, weight = rng.random((60, 6)), rng.uniform(0.5, 2, 60)
    X[:, 3] = 0.2 * X[:, 0] + 0.3 * X[:, 1] + 0.5 * X[:, 2]
    W, b = ridge_weights(X, weight, f)
    assert (np.diag(W) == 0).all()
    for i, target in enumerate(f.inverse(X).T):
        peer = Ridge(INNER_RIDGE * weight.sum(), tol=1e-12).fit(np.delete(X, i, axis=1), target, weight)
        np.testing.assert_allclose(np.delete(W[:, i], i), peer.coef_, rtol=1e-8, atol=1e-10)
        assert b[i] == pytest.approx(peer.intercept_, rel=1e-8)


@pytest.mark.parametrize(("spread", "capped"), [(1.0, True), (1e-3, False)])
def test_stable_regression_is_the_ridge_with_a_spectral_norm_of_at_most_two(spread, capped, rng):
    """Small spreads of the concepts leave the ridge small weights."""
    X = 0.5 + spread * (np.repeat(rng.random((80, 2)), 3, axis=1) - 0.5) * [1, 0.9, 0.8, 0.9, 1, 0.7]
    f, weight = ACTIVATIONS["sigmoid"], np.ones(80)
    (W, b), (free, free_b) = stable_regression_weights(X, weight, f), ridge_weights(X, weight, f)
    norm = np.linalg.svd(free, compute_uv=False)[0]
    assert (norm > INNER_NORM) == capped
    factor = INNER_NORM / norm if capped else 1.0
    np.testing.assert_allclose(W, factor * free, rtol=1e-10)
    np.testing.assert_allclose(b, factor * free_b, rtol=1e-10)


def test_correlations_are_those_of_numpy_with_frobenius_norm_one(rng):
    X, times = rng.random((50, 4)) @ rng.random((4, 6)), rng.integers(1, 4, 50)
    W, b = correlation_weights(X, times)
    expected = np.corrcoef(np.repeat(X, times, axis=0), rowvar=False)
    np.testing.assert_allclose(W, expected / np.sqrt((expected**2).sum()), rtol=1e-10)
    assert b.shape == (6,)
    assert not b.any()
