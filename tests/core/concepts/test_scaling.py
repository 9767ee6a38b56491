import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.preprocessing import minmax_scale

from cogmap.core.concepts.scaling import KNOTS, fit_scaling, identity, varying

KINDS = ("minmax", "quantile", "halfway")


def mid_ranks(column):
    ranks = rankdata(column, method="average")
    return (ranks - ranks.min()) / (ranks.max() - ranks.min())


def columns(rng, n=200):
    return np.c_[rng.normal(size=n), rng.integers(0, 4, n), np.exp(3 * rng.normal(size=n)), rng.integers(0, 2, n)]


def test_minmax_equals_scikit_learn(rng):
    X = columns(rng)
    np.testing.assert_allclose(fit_scaling("minmax", X, np.ones(200))(X), minmax_scale(X), atol=1e-15)


def test_quantile_equals_mid_ranks(rng):
    X = columns(rng)
    scaled = fit_scaling("quantile", X, np.ones(200))(X)
    np.testing.assert_allclose(scaled, np.apply_along_axis(mid_ranks, 0, X), atol=1e-12)


def test_halfway_is_the_mean_of_both(rng):
    X = columns(rng)
    expected = (minmax_scale(X) + np.apply_along_axis(mid_ranks, 0, X)) / 2
    np.testing.assert_allclose(fit_scaling("halfway", X, np.ones(200))(X), expected, atol=1e-12)


def test_many_rows_are_within_one_knot_of_their_ranks(rng):
    X = np.exp(rng.normal(size=(20_000, 1)))
    scaling = fit_scaling("quantile", X, np.ones(20_000))
    assert len(scaling.values[0]) <= 2 * (KNOTS + 2)
    np.testing.assert_allclose(scaling(X)[:, 0], mid_ranks(X[:, 0]), atol=1 / KNOTS)


@pytest.mark.parametrize("kind", KINDS)
def test_rounding_noise_does_not_split_ties(kind, rng):
    X = rng.integers(0, 5, (300, 2)).astype(float)
    noisy = X + 1e-12 * rng.normal(size=X.shape)
    weight = np.ones(300)
    np.testing.assert_allclose(fit_scaling(kind, noisy, weight)(noisy), fit_scaling(kind, X, weight)(X), atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_weight_k_equals_a_row_repeated_k_times(kind, rng):
    X, times = columns(rng), rng.integers(1, 4, 200)
    weighted = fit_scaling(kind, X, times.astype(float))
    repeated = fit_scaling(kind, np.repeat(X, times, axis=0), np.ones(times.sum()))
    np.testing.assert_allclose(weighted(X), repeated(X), atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40).filter(lambda v: max(v) > min(v)),
    new=st.lists(st.floats(-1e7, 1e7), min_size=1, max_size=20),
)
def test_scaling_is_monotone_and_stays_in_range(kind, values, new):
    X = np.array(values)[:, None]
    scaled = fit_scaling(kind, X, np.ones(len(X)))(np.sort(np.array(new))[:, None])[:, 0]
    assert (np.diff(scaled) >= -1e-15).all()
    assert ((scaled >= 0) & (scaled <= 1)).all()


def test_identity_clips_only():
    X = np.array([[-0.5, 0.25], [0.5, 2.0]])
    np.testing.assert_array_equal(identity(2, 0.0, 1.0)(X), [[0, 0.25], [0.5, 1]])


def test_varying_columns():
    assert varying(np.array([[1.0, 2.0], [1.0, 3.0]])).tolist() == [False, True]
