import numpy as np
import pytest
from sklearn.linear_model import LinearRegression

from cogmap.core.explain.relevance import (
    cancellation,
    correlated_groups,
    over_classes,
    paper_relevance,
    paper_relevance_of_classes,
    pattern,
    percentiles,
    resamples,
    row_means,
    weights_cancel,
)


def test_relevance_equals_the_sums_written_as_loops(rng):
    W, R = rng.normal(size=(4, 4)), rng.normal(size=(3, 4, 2))
    inner = [sum(abs(W[i, j]) for j in range(4)) for i in range(4)]
    expected = [inner[i] + sum(abs(R[t, i, j]) for t in range(3) for j in range(2)) for i in range(4)]
    np.testing.assert_allclose(paper_relevance(W, R), expected, rtol=1e-14)
    of_classes = [[inner[i] + sum(abs(R[t, i, j]) for t in range(3)) for i in range(4)] for j in range(2)]
    np.testing.assert_allclose(paper_relevance_of_classes(W, R), of_classes, rtol=1e-14)


def test_cancellation_is_one_where_no_weight_meets_another_sign():
    R = np.ones((3, 2, 2))
    assert cancellation(R) == 1
    R[1] *= -1
    assert cancellation(R) == 3
    assert cancellation(np.zeros((3, 2, 2))) == 1


@pytest.mark.parametrize(
    ("outer", "cancel"),
    [([[5.0, -3.0]], False), ([[900.0, -900.0], [1.0, -1.0]], False), ([[2e5, -2e5]], True), ([[3.0], [-2.9]], True)],
)
def test_weights_cancel_over_iterations_or_between_concepts(outer, cancel):
    """Each line is an iteration, each number a concept's weight on one class."""
    assert weights_cancel(np.array(outer)[:, :, None]) == cancel


def test_means_over_resampled_rows_equal_means_over_repeated_rows(rng):
    sizes, weight = rng.random((6, 3, 2)), rng.integers(0, 3, 6)
    np.testing.assert_allclose(row_means(sizes, weight[None])[0], np.repeat(sizes, weight, axis=0).mean(axis=0))


def test_pattern_of_one_feature_is_its_covariance_with_the_margin(rng):
    x, margin, weight = rng.random((50, 3)), rng.normal(size=(50, 2)), rng.integers(1, 4, 50)
    x[:, 2] = 0.1
    found = pattern(x, margin, np.array([weight, np.ones(50)]), list(np.arange(3)[:, None]))
    for line, counts in zip(found, (weight, np.ones(50, int)), strict=True):
        rows, values = np.repeat(x, counts, axis=0), np.repeat(margin, counts, axis=0)
        for c in range(2):
            expected = [abs(np.cov(rows[:, j], values[:, c], bias=True)[0, 1]) / rows[:, j].std() for j in range(2)]
            np.testing.assert_allclose(line[c, :2], expected, rtol=1e-9)
            assert line[c, 2] == 0


def test_pattern_of_a_group_is_the_spread_of_a_regression_on_it(rng):
    x, margin = rng.random((80, 4)), rng.normal(size=(80, 2))
    group = np.array([0, 2, 3])
    found = pattern(x, margin, np.ones((1, 80)), [group])[0, :, 0]
    fitted = LinearRegression().fit(x[:, group], margin).predict(x[:, group])
    np.testing.assert_allclose(found, fitted.std(axis=0), rtol=1e-9)


def test_pattern_of_copies_is_that_of_one_of_them(rng):
    x, margin = rng.random((80, 1)), rng.normal(size=(80, 2))
    together = pattern(np.hstack([x, x]), margin, np.ones((1, 80)), [np.array([0, 1])])
    np.testing.assert_allclose(together, pattern(x, margin, np.ones((1, 80)), [np.array([0])]), rtol=1e-9)


def test_classes_count_by_their_shares():
    relevance = np.array([[1.0, 2.0], [3.0, 6.0]])
    np.testing.assert_allclose(over_classes(relevance, np.array([0.75, 0.25])), [1.5, 3.0])


def test_resamples_are_rows_drawn_with_replacement(rng):
    weight = np.array([1.0, 2.0, 1.0, 5.0])
    counts = resamples(weight, 2000, rng) / weight
    assert (counts.sum(axis=1) == 4).all()
    np.testing.assert_allclose(counts.mean(axis=0), 1, atol=0.1)


def test_percentiles_hold_the_level():
    values = np.arange(101.0)[:, None] * [1, 10]
    found = percentiles(np.array([7.0, 8.0]), values, 0.9)
    np.testing.assert_allclose(found.low, [5, 50])
    np.testing.assert_allclose(found.high, [95, 950])
    assert found.estimate.tolist() == [7, 8]


def test_groups_hold_what_is_correlated_with_either_sign(rng):
    u, v = rng.normal(size=(2, 200))
    X = np.c_[u, v, -u + 0.1 * rng.normal(size=200), v + 0.1 * rng.normal(size=200), rng.normal(size=200)]
    groups = correlated_groups(np.corrcoef(X.T), 0.8)
    assert [group.tolist() for group in groups] == [[0, 2], [1, 3], [4]]


@pytest.mark.parametrize("n_features", [0, 1])
def test_groups_of_few_features(n_features):
    assert len(correlated_groups(np.eye(n_features), 0.8)) == n_features
