import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import sqrtm

from cogmap.core.decorrelation import Moments, decorrelated, fit_moments


def test_moments_equal_those_of_repeated_rows(rng):
    X, weight = rng.random((40, 3)), rng.integers(1, 4, 40)
    found, repeated = fit_moments(X, weight.astype(float)), np.repeat(X, weight, axis=0)
    np.testing.assert_allclose(found.mean, repeated.mean(axis=0))
    np.testing.assert_allclose(found.deviation, repeated.std(axis=0))
    np.testing.assert_allclose(found.correlation, np.corrcoef(repeated.T))


def test_contributions_equal_the_formula_with_matrix_roots(rng):
    X = rng.random((100, 3)) @ rng.normal(size=(3, 3))
    moments, gradient = fit_moments(X, np.ones(100)), rng.normal(size=(100, 3, 2))
    delta, root = X - X.mean(axis=0), sqrtm(np.corrcoef(X.T)).real
    z = delta / X.std(axis=0) @ np.linalg.inv(root)
    expected = z[:, :, None] * np.einsum("ij,njk->nik", root, X.std(axis=0)[:, None] * gradient)
    np.testing.assert_allclose(decorrelated(moments, delta, gradient), expected, atol=1e-10)
    np.testing.assert_allclose(np.corrcoef(z.T), np.eye(3), atol=1e-10)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_decorrelation_changes_no_sum(seed, rank):
    """Whatever the rank: rows of the training data vary only where there is something to keep."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, rank)) @ rng.normal(size=(rank, 5))
    moments, gradient = fit_moments(X, np.ones(60)), rng.normal(size=(60, 5, 2))
    delta = X - X.mean(axis=0)
    found = decorrelated(moments, delta, gradient).sum(axis=1)
    np.testing.assert_allclose(found, np.einsum("nm,nmk->nk", delta, gradient), atol=1e-8)


def test_without_correlation_nothing_changes(rng):
    moments = Moments(np.zeros(3), rng.random(3), np.eye(3))
    delta, gradient = rng.normal(size=(10, 3)), rng.normal(size=(10, 3, 2))
    np.testing.assert_allclose(decorrelated(moments, delta, gradient), delta[:, :, None] * gradient, atol=1e-14)


def test_copies_of_one_concept_share_what_it_contributes(rng):
    x = rng.normal(size=50)
    X = np.c_[x, x, rng.normal(size=50)]
    gradient = np.zeros((50, 3, 1))
    gradient[:, 0], gradient[:, 1] = 1001.0, -1000.0
    found = decorrelated(fit_moments(X, np.ones(50)), X - X.mean(axis=0), gradient)[:, :, 0]
    np.testing.assert_allclose(found[:, 0], found[:, 1], atol=1e-9)
    assert np.abs(found).max() < np.abs(x - x.mean()).max()


def test_no_concepts():
    moments = fit_moments(np.empty((5, 0)), np.ones(5))
    assert decorrelated(moments, np.empty((2, 0)), np.empty((2, 0, 3))).shape == (2, 0, 3)
