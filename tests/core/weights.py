"""Inner weights of rows in memory, by the factor that every fit takes of them."""

import numpy as np

from cogmap.core.network import constraints, inner
from cogmap.core.network.inner import Regressors
from cogmap.core.sums.factor import Factor


def regressors(X, sample_weight, activation):
    factor = Factor.from_block(np.asarray(sample_weight, dtype=float), X, activation.inverse(X))
    return Regressors.from_factor(factor, X.shape[1])


def centred(X, sample_weight):
    return Factor.from_block(np.asarray(sample_weight, dtype=float), X).centred


def regression_weights(X, sample_weight, activation):
    return inner.regression(regressors(X, sample_weight, activation))


def ridge_weights(X, sample_weight, activation):
    return inner.ridge(regressors(X, sample_weight, activation))


def stable_regression_weights(X, sample_weight, activation):
    return inner.stable_regression(regressors(X, sample_weight, activation))


def slope_weights(X, sample_weight):
    return inner.slopes(centred(X, sample_weight))


def correlation_weights(X, sample_weight):
    return inner.correlations(centred(X, sample_weight))


def constrained_regression(X, sample_weight, activation, bounds):
    return constraints.bounded_regression(regressors(X, sample_weight, activation), bounds)


def constrained_stable_regression(X, sample_weight, activation, bounds):
    return constraints.bounded_stable_regression(regressors(X, sample_weight, activation), bounds)
