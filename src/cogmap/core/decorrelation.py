"""Decorrelated concepts: for each concept the nearest variable that is uncorrelated with those of all others.

With Δ a row's distance from the mean, S the standard deviations and R the correlations of the training rows, the
decorrelated concepts are z = R^−½ S⁻¹ Δ. A gradient g becomes R^½ S g, so that contributions z_k [R^½ S g]_k add up to
Δ · g as before (Zuber and Strimmer 2011 do so for linear regression).

Easy to get wrong: without it, contributions of collinear concepts cancel each other. Their weights are large and of
opposite sign wherever the data hardly tell them apart, and say nothing about the decision.
"""

from dataclasses import dataclass

import numpy as np

from .activation import Array


@dataclass(frozen=True)
class Moments:
    """Weighted mean (M,), standard deviations (M,) and correlations (M, M) of the training rows' initial states."""

    mean: Array
    deviation: Array
    correlation: Array


def fit_moments(initial: Array, sample_weight: Array) -> Moments:
    """Return the moments of weighted rows; no column may be constant."""
    share = sample_weight / sample_weight.sum()
    mean = share @ initial
    centred = initial - mean
    covariance = (centred * share[:, None]).T @ centred
    deviation = np.sqrt(np.diagonal(covariance))
    return Moments(mean, deviation, covariance / np.outer(deviation, deviation))


def decorrelated(moments: Moments, delta: Array, gradient: Array) -> Array:
    """Return the contributions of the decorrelated concepts, shape (n, M, K).

    `delta` has shape (n, M), `gradient` (n, M, K). A direction in which the training rows do not vary is left out.
    """
    value, vector = np.linalg.eigh(moments.correlation)
    least = len(value) * np.finfo(np.float64).eps * value.max(initial=0.0)
    value, vector = value[value > least], vector[:, value > least]
    z = (delta / moments.deviation) @ (vector / np.sqrt(value)) @ vector.T
    root = (vector * np.sqrt(value)) @ vector.T * moments.deviation
    contributions: Array = z[:, :, None] * np.matmul(root, gradient)
    return contributions
