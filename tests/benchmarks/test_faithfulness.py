import doctest
from itertools import pairwise, permutations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss, roc_auc_score


def losses_without_each(X, y, terms):
    """Return the growth of a logistic regression's log loss when a feature is dropped, with `terms` of the others."""

    def loss(columns):
        Z = terms(X[:, columns], list(columns))
        return log_loss(y, LogisticRegression(C=1e6, max_iter=500).fit(Z, y).predict_proba(Z)[:, 1])

    everything = np.arange(X.shape[1])
    return np.array([loss(np.delete(everything, j)) for j in everything]) - loss(everything)


def with_product(Z, columns):
    """Add the product of features 0 and 1, where both are there."""
    if 0 in columns and 1 in columns:
        return np.c_[Z, Z[:, columns.index(0)] * Z[:, columns.index(1)]]
    return Z


@pytest.mark.parametrize("name", ["independent", "collinear", "suppressor", "interaction", "irrelevant"])
def test_truth_of_use_is_what_a_refit_without_the_feature_loses(name):
    from problems import SYNTHETIC

    problem = SYNTHETIC[name]
    X, y = problem.draw(20_000, np.random.default_rng(0))
    truth = np.array(problem.truths.get("use", problem.truths.get("")))
    lost = losses_without_each(X, y, with_product)
    levels = [lost[truth == level] for level in np.unique(truth)]
    for lower, higher in pairwise(levels):
        assert higher.min() > 3 * lower.max() or (higher.min() > 1.3 * lower.max() and lower.max() > 0.005)
    if truth.min() == 0:
        assert levels[0].max() < 1e-3
    for level in levels[1:]:
        np.testing.assert_allclose(level, level.mean(), rtol=0.05)


@pytest.mark.parametrize("name", ["independent", "collinear", "suppressor", "interaction", "irrelevant"])
def test_truth_of_carrying_is_what_a_feature_alone_says(name):
    from problems import SYNTHETIC

    problem = SYNTHETIC[name]
    X, y = problem.draw(20_000, np.random.default_rng(1))
    truth = np.array(problem.truths.get("carry", problem.truths.get("")))
    said = np.abs(np.array([roc_auc_score(y, column) for column in X.T]) - 0.5)
    levels = [said[truth == level] for level in np.unique(truth)]
    for lower, higher in pairwise(levels):
        assert higher.min() > 1.2 * lower.max()
    if truth.min() == 0:
        assert levels[0].max() < 0.015


@pytest.mark.parametrize("truth", [(3, 2, 1, 0, 0, 0), (2, 2, 1, 0, 0, 0), (3, 2, 1, 0, 0), (1, 2, 3)])
def test_no_order_without_ties_correlates_more_than_the_largest_correlation(truth):
    from problems import largest_correlation

    best = max(spearmanr(order, truth).statistic for order in permutations(range(len(truth))))
    assert largest_correlation(truth) == pytest.approx(best, abs=1e-12)


def test_dropping_a_feature_that_decides_costs_most():
    from problems import dropped_losses, independent

    X, y = independent(200, np.random.default_rng(0))
    lost = dropped_losses(X[:, [4, 0, 1]], y)
    assert np.argmax(lost) == 1
    assert lost[0] < lost[2] < lost[1]


@pytest.mark.filterwarnings("ignore::cogmap.errors.NoInformationWarning")
@pytest.mark.filterwarnings("ignore::cogmap.NoInformationWarning")  # noise alone is left at the end
def test_deletion_is_the_mean_accuracy_along_the_order():
    from faithfulness import deletion
    from problems import split

    from cogmap import LTCNClassifier

    X, y, X_test, y_test = split("suppressor", 0)
    expected = [
        LTCNClassifier().fit(X[:, kept], y).score(X_test[:, kept], y_test)
        for kept in ([0, 1, 2, 3, 4], [0, 1, 3, 4], [1, 3, 4], [3, 4], [4])
    ]
    assert deletion([4, 2, 5, 1, 0], (X, y, X_test, y_test), {}) == pytest.approx(np.mean(expected))


@pytest.mark.parametrize("method", ["paper", "model", "data", "permutation"])
def test_importances_name_the_strongest_of_independent_features(method):
    from importances import importances
    from problems import split

    found = importances(method, *split("independent", 0))
    assert found.shape == (5,)
    assert method == "paper" or found.argmax() == 0


def test_the_examples_hold():
    import faithfulness
    import problems

    for module in (faithfulness, problems):
        found = doctest.testmod(module)
        assert found.attempted > 0
        assert found.failed == 0
