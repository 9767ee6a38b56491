"""Relevance of features for the decision as a whole, in three kinds; each is at least 0, and 0 for a constant feature.

- ``"paper"`` (equation 9): Ω(i) = Σ_j |w_ij| + Σ_j Σ_t |r_ij^t|, absolute weights that leave a concept.
- ``"model"``: the mean size of the evidence that a feature adds, E |φ_j|, with φ_j its Shapley value.
- ``"data"``: which features carry the decision in the data, |cov(x_j, evidence)| / sd(x_j): the activation pattern of
  Haufe et al. (2014). It does not see a feature that the model only needs to cancel the noise of another one.

The last two are in units of the evidence, log-odds. Over the classes, relevance is the mean weighted by their shares.

Easy to get wrong: Ω adds up weights that cancel. States resemble each other, so weights of opposite sign on states of
one concept nearly annul in the score, and Ω counts both: `cancellation` says how far.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from ..types import Array

KINDS = ("model", "data", "paper")

CANCELS = 20.0
"""Absolute outer weights as a multiple of what is left of their sums over t, beyond which Ω is not to be trusted.

It is below 16 on seven sets for minimum norm or a single iteration, and above 60 for every readout of more than three
iterations in another basis, up to 1e13: 95 % and more of Ω are then weights that annul each other.
"""


LARGEST = 1e3
"""Outer weight beyond which the same holds, whatever t: states are at most 1 and scores some tens, so that weights on
other concepts cancel it. On four sets and with seven readouts, the rank correlation of Ω with the kind "model" is .50
in the mean of the ten fits that keep to both bounds, and −.15 in that of the others.
"""


def paper_relevance(inner_weights: Array, outer_weights: Array) -> Array:
    """Return Ω(i) = Σ_j |w_ij| + Σ_j Σ_t |r_ij^t|: outgoing weights only, biases left out; shape (M,)."""
    relevance: Array = np.abs(inner_weights).sum(axis=1) + np.abs(outer_weights).sum(axis=(0, 2))
    return relevance


def paper_relevance_of_classes(inner_weights: Array, outer_weights: Array) -> Array:
    """Return the same with the outer weights of one class at a time, shape (N, M); inner weights serve all classes."""
    relevance: Array = np.abs(inner_weights).sum(axis=1) + np.abs(outer_weights).sum(axis=0).T
    return relevance


def cancellation(outer_weights: Array) -> float:
    """Return Σ|r_ij^t| / Σ|Σ_t r_ij^t|: how far the weights on the states of one concept cancel each other."""
    left = np.abs(outer_weights.sum(axis=0)).sum()
    return float(np.abs(outer_weights).sum() / left) if left > 0 else 1.0


def weights_cancel(outer_weights: Array) -> bool:
    """Say whether outer weights cancel each other, those on one concept's states or those on several concepts."""
    largest = float(np.abs(outer_weights).max(initial=0.0))
    return largest > LARGEST or cancellation(outer_weights) > CANCELS


def row_means(sizes: Array, weights: Array) -> Array:
    """Return weighted means over the rows, shape (B, …); `weights` has shape (B, n), a line for each resample."""
    means: Array = np.tensordot(weights / weights.sum(axis=1, keepdims=True), sizes, axes=1)
    return means


def pattern(scaled: Array, evidence: Array, weights: Array, groups: Sequence[NDArray[np.intp]]) -> Array:
    """Return for each group of features the spread of the evidence that goes with them, shape (B, N, G).

    For one feature it is |cov(x, evidence)| / sd(x), for several √(c Σ⁻¹ c): the standard deviation of the evidence's
    regression on them. `scaled` has shape (n, F), `evidence` (n, N), `weights` (B, n).
    """
    return np.array([_pattern(scaled, evidence, weight / weight.sum(), groups) for weight in weights])


def _pattern(scaled: Array, evidence: Array, share: Array, groups: Sequence[NDArray[np.intp]]) -> Array:
    (x, varies), (m, moves) = (_centred(values, share) for values in (scaled, evidence))
    cross = (x * share[:, None]).T @ np.where(moves, m, 0.0)
    spread = np.sqrt(share @ x**2)
    alone = np.divide(np.abs(cross), spread[:, None], out=np.zeros_like(cross), where=varies[:, None])
    spread_of = np.zeros((evidence.shape[1], len(groups)))
    for g, group in enumerate(groups):
        if len(group) == 1:
            spread_of[:, g] = alone[group[0]]
            continue
        block = x[:, group]
        inverse = np.linalg.pinv((block * share[:, None]).T @ block, rcond=1e-10, hermitian=True)
        squared = np.einsum("ic,ij,jc->c", cross[group], inverse, cross[group])
        spread_of[:, g] = np.sqrt(np.maximum(squared, 0.0))
    return spread_of


def _centred(values: Array, share: Array) -> tuple[Array, NDArray[np.bool_]]:
    """Return columns less their means, and which of them vary: a constant one leaves rounding when it is centred."""
    centred = values - share @ values
    varies: NDArray[np.bool_] = np.sqrt(share @ centred**2) > 1e-12 * np.abs(values).max(axis=0, initial=0.0)
    return centred, varies


def over_classes(relevance: Array, shares: Array) -> Array:
    """Return the mean over the classes, weighted by their shares; (…, N, F) becomes (…, F)."""
    mean: Array = np.tensordot(relevance, shares, axes=(-2, 0))
    return mean


class Interval(NamedTuple):
    """An estimate and the ends of its bootstrap interval, each of the shape of the estimate."""

    estimate: Array
    low: Array
    high: Array


def percentiles(estimate: Array, resampled: Array, level: float) -> Interval:
    """Return the interval that holds `level` of the resampled values, shape (B, …)."""
    low, high = np.quantile(resampled, [(1 - level) / 2, (1 + level) / 2], axis=0)
    return Interval(estimate, low, high)


def resamples(weight: Array, n_bootstrap: int, rng: np.random.Generator) -> Array:
    """Return the weights of rows drawn with replacement, shape (n_bootstrap, n)."""
    n = len(weight)
    counts: Array = rng.multinomial(n, np.full(n, 1 / n), size=n_bootstrap) * weight
    return counts


def correlated_groups(correlation: Array, threshold: float) -> list[NDArray[np.intp]]:
    """Cluster features whose absolute correlations are, on average, `threshold` or more; in order of the features."""
    n_features = len(correlation)
    if n_features < 2:
        return [np.arange(n_features)] if n_features else []
    distance = np.clip(1 - np.abs(correlation), 0.0, None)
    np.fill_diagonal(distance, 0.0)
    tree = linkage(squareform((distance + distance.T) / 2, checks=False), method="average")
    label = fcluster(tree, 1 - threshold, criterion="distance")
    first = sorted(np.unique(label, return_index=True)[1])
    return [np.flatnonzero(label == label[j]) for j in first]
