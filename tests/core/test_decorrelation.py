import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import sqrtm

from cogmap.core.decorrelation import decorrelated, within_range


def test_a_linear_score_gets_car_scores_times_decorrelated_features(rng):
    """Zuber and Strimmer's formula, R^½ β for standardised features, with matrix roots."""
    Z = rng.normal(size=(400, 3)) @ np.array([[1.0, 0.8, 0.7], [0.0, 0.6, 0.2], [0.0, 0.0, 0.6]])
    Z = (Z - Z.mean(axis=0)) / Z.std(axis=0)
    beta = np.array([2.0, -1.0, 0.5])
    root = sqrtm(np.corrcoef(Z.T)).real
    expected = (Z @ np.linalg.inv(root)) * (root @ beta)
    found = decorrelated(Z * beta, Z)
    np.testing.assert_allclose(found, expected, atol=1e-10)
    np.testing.assert_allclose(np.corrcoef(found.T), np.diag([1, 1, 1]) * 1.0, atol=1e-10)


@settings(max_examples=25)
@given(st.integers(0, 2**32 - 1), st.integers(1, 5))
def test_decorrelation_changes_no_sum(seed, rank):
    rng = np.random.default_rng(seed)
    contributions = rng.normal(size=(60, rank)) @ rng.normal(size=(rank, 5))
    np.testing.assert_allclose(
        decorrelated(contributions, np.zeros_like(contributions)).sum(axis=1), contributions.sum(axis=1), atol=1e-7
    )


def test_unlinked_features_keep_their_contributions(rng):
    contributions = rng.normal(size=(500, 4))
    contributions[:, 2] = 0.0
    np.testing.assert_array_equal(decorrelated(contributions, np.zeros_like(contributions)), contributions)
    with_copy = np.c_[contributions, contributions[:, 0]]
    np.testing.assert_array_equal(decorrelated(with_copy, np.zeros_like(with_copy))[:, 1:4], contributions[:, 1:])


def test_contributions_that_cancel_vanish(rng):
    x = rng.normal(size=200)
    contributions = np.c_[1000 * x, -1000 * x + 0.1 * rng.normal(size=200), rng.normal(size=200)]
    found = decorrelated(contributions, np.zeros_like(contributions))
    assert np.abs(found[:, :2]).max() < 1
    np.testing.assert_array_equal(found[:, 2], contributions[:, 2])


def test_what_cancels_only_together_vanishes_where_the_features_are_linked(rng):
    """Three contributions of sum 0 correlate by −½ at most; their features' correlation links them."""
    parts = rng.normal(size=(2000, 4))
    contributions = 100 * (parts - parts.mean(axis=1, keepdims=True)) + rng.normal(size=(2000, 1))
    features = rng.normal(size=(2000, 1)) + 0.01 * rng.normal(size=(2000, 4))
    assert np.abs(decorrelated(contributions, features)).max() < 10
    np.testing.assert_array_equal(decorrelated(contributions, rng.normal(size=(2000, 4))), contributions)


def test_copies_share_alike(rng):
    x = rng.normal(size=50)
    found = decorrelated(np.c_[3 * x, 1 * x], np.zeros((50, 2)))
    np.testing.assert_allclose(found, np.c_[2 * x, 2 * x], atol=1e-9)


def test_no_features():
    assert decorrelated(np.empty((5, 0)), np.empty((5, 0))).shape == (5, 0)


def test_a_row_whose_contributions_leave_the_range_and_cancel_is_scaled_to_it(rng):
    differences = rng.normal(size=(200, 3))
    contributions = differences * [3.0, 2.0, 1.0]
    wild = contributions.copy()
    wild[7] = [900.0, -500.0, -398.0]
    found = within_range(wild, differences)
    most = np.abs(wild.sum(axis=1)).max()
    np.testing.assert_allclose(found[7], np.array([900.0, -500.0, -398.0]) * most / 900.0)
    kept = np.abs(wild).max(axis=1) <= most
    assert kept.sum() >= 195
    np.testing.assert_array_equal(found[kept], wild[kept])


def test_collinear_features_may_cancel_anywhere(rng):
    shared = rng.normal(size=200)
    differences = np.c_[shared, shared + 1e-3 * rng.normal(size=200), rng.normal(size=200)]
    contributions = differences * [1000.0, -1000.0, 1.0]
    np.testing.assert_array_equal(within_range(contributions, differences), contributions)


def test_nothing_contributed_stays_nothing():
    nothing = np.zeros((5, 2))
    np.testing.assert_array_equal(within_range(nothing, nothing), nothing)
