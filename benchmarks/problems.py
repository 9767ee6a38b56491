"""Problems whose relevant features are known, and what a rank correlation with the truth can reach.

A truth answers one of two questions, which differ where features work only together:

- *use*: how much is lost when the feature is dropped, and the best classifier is learned from the others;
- *carry*: how much the feature, alone, says about the class.

A suppressor is used and carries nothing; two features that work only as a product are used and carry nothing. Where
both answers have the same order there is one truth.

Easy to get wrong: the truth has ties, and importances have none, so that no method can reach a correlation of 1.
"""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import data
import numpy as np
from scipy.special import expit
from scipy.stats import spearmanr
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from cogmap import LTCNClassifier


class Problem(NamedTuple):
    """How to draw n rows, and the truth by question: a number for each feature, of which only the order counts."""

    draw: Callable
    truths: dict


def _labels(logit, rng):
    return (rng.random(len(logit)) < expit(logit)).astype(int)


def independent(n, rng):
    """Return five independent features of falling weight."""
    X = rng.normal(size=(n, 5))
    return X, _labels(X @ [3.0, 2.0, 1.3, 0.8, 0.4], rng)


def collinear(n, rng):
    """Return three signals, and three features that are collinear with each other and independent of the class."""
    signals, shared = rng.normal(size=(n, 3)), rng.normal(size=(n, 1))
    X = np.hstack([signals, shared + 0.05 * rng.normal(size=(n, 3))])
    return X, _labels(signals @ [3.0, 1.8, 0.9], rng)


def suppressor(n, rng):
    """Return a signal with a noise added, that noise alone, a weaker signal, and two features that say nothing."""
    signal, noise, weaker, *others = rng.normal(size=(5, n))
    return np.c_[signal + noise, noise, weaker, *others], _labels(4 * signal + 1.2 * weaker, rng)


def interaction(n, rng):
    """Return two features that count only as a product, one that counts alone, and three that say nothing."""
    X = rng.normal(size=(n, 6))
    return X, _labels(4 * X[:, 0] * X[:, 1] + 1.2 * X[:, 2], rng)


def irrelevant(n, rng):
    """Return three signals among nine features that say nothing."""
    X = rng.normal(size=(n, 12))
    return X, _labels(X[:, :3] @ [3.0, 1.8, 0.9], rng)


SYNTHETIC = {
    "independent": Problem(independent, {"": (5, 4, 3, 2, 1)}),
    "collinear": Problem(collinear, {"": (3, 2, 1, 0, 0, 0)}),
    "suppressor": Problem(suppressor, {"use": (3, 2, 1, 0, 0), "carry": (2, 0, 1, 0, 0)}),
    "interaction": Problem(interaction, {"use": (2, 2, 1, 0, 0, 0), "carry": (0, 0, 1, 0, 0, 0)}),
    "irrelevant": Problem(irrelevant, {"": (3, 2, 1) + 9 * (0,)}),
}

REAL = ("wine", "yeast", "winequality-red")


def rank_correlation(one, other):
    """Return Spearman's correlation; 0 where one of both is constant, and therefore orders nothing.

    >>> rank_correlation([3.0, 2.0, 1.0], [30, 20, 10])
    1.0
    >>> rank_correlation([1.0, 1.0, 1.0], [30, 20, 10])
    0.0
    """
    if np.ptp(one) == 0 or np.ptp(other) == 0:
        return 0.0
    return float(spearmanr(one, other).statistic)


def largest_correlation(truth):
    """Return the largest Spearman correlation of the truth with numbers without ties, √(1 − Σ(t³ − t) / (n³ − n)).

    >>> round(largest_correlation([3, 2, 1, 0, 0, 0]), 4)
    0.9411
    """
    n, ties = len(truth), np.unique(truth, return_counts=True)[1]
    return float(np.sqrt(1 - (ties**3 - ties).sum() / (n**3 - n)))


def dropped_losses(X, y, seed=0):
    """Return how much the log loss grows in five-fold cross-validation when a feature is dropped, shape (n_features,).

    The network is refitted without the feature. Log loss moves with every row; an accuracy only with those at the
    border, and the differences between features would drown in chance.
    """
    everything = np.arange(X.shape[1])
    whole = _cross_validated_loss(X, y, seed)
    return np.array([_cross_validated_loss(np.delete(X, j, axis=1), y, seed) - whole for j in everything])


def _cross_validated_loss(X, y, seed):
    found = []
    for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y):
        model = LTCNClassifier().fit(X[train], y[train])
        found.append(log_loss(y[test], model.predict_proba(X[test]), labels=model.classes_))
    return float(np.mean(found))


@cache
def real_truths(name):
    """Return the losses by drop-and-refit on a dataset, from two ways to make the folds, shape (2, n_features)."""
    X, y = data.load(name)
    return np.array([dropped_losses(X, y, seed) for seed in (0, 1)])


def split(name, seed):
    """Return training rows and held-out rows: X, y, X_test, y_test; the training rows are at most 500."""
    if name in SYNTHETIC:
        X, y = SYNTHETIC[name].draw(1500, np.random.default_rng(seed))
        return X[:500], y[:500], X[500:], y[500:]
    X, y = data.load(name)
    order = np.random.default_rng(seed).permutation(len(X))
    n_train = min(500, len(X) // 2)
    train, test = order[:n_train], order[n_train:]
    # A class with a row or two in the training half cannot be learned by any of the methods.
    known = np.flatnonzero(np.bincount(y[train]) >= 5)
    train, test = (rows[np.isin(y[rows], known)] for rows in (train, test))
    return X[train], y[train], X[test], y[test]
