"""Contributions of features that share information, with what they only take from each other removed.

Contributions c_j of collinear features cancel: their weights are large and of opposite sign wherever the data hardly
tell them apart. With s_j² = E c_j² and P_jk = E c_j c_k / (s_j s_k), the decorrelated contributions are

    [P^−½ (c / s)]_j · [P^½ s]_j.

They add up to the same sum, are uncorrelated, and each is as near as possible to its feature's. For a linear score
these are the CAR scores of Zuber and Strimmer (2011), times the decorrelated features.

Easy to get wrong: P is known from few rows, and among many features some correlations are large by chance, so all
features would share. Only features that are linked by correlations of at least `LINKED` are taken together. These are
correlations of the features, too: of k contributions that cancel only all together, two correlate by −1 / (k − 1).
"""

import numpy as np
from scipy.sparse.csgraph import connected_components

from .activation import Array

LINKED = 0.5
"""Correlation that links two features: in 100 rows, chance exceeds it once in 10 million pairs."""


def decorrelated(contributions: Array, differences: Array) -> Array:
    """Return decorrelated contributions of rows, shape (n, F); a feature that is linked to none keeps its own.

    `differences` are those of the features from which the contributions come, of the same shape.
    """
    standard, size = _standardised(contributions)
    correlation = standard.T @ standard / len(standard)
    linked = np.maximum(np.abs(correlation), _correlation(differences)) >= LINKED
    _, label = connected_components(linked, directed=False)
    found = contributions.copy()
    for block in np.flatnonzero(np.bincount(label) > 1):
        own = label == block
        found[:, own] = _decorrelated(standard[:, own], correlation[np.ix_(own, own)], size[own])
    return found


def within_range(contributions: Array, differences: Array) -> Array:
    """Scale rows down in which one feature moves the score farther than all features together do in any row.

    Between two rows the path of integration crosses places where no data are, such as half of a symbol that is there
    or not. Where such a feature is rare, the score may leave its range on the way and come back: contributions of a
    hundred times the score that cancel, and a few such rows would decide all means. Features that are correlated count
    as one, because theirs may cancel anywhere. Shape and arguments as in `decorrelated`.
    """
    _, label = connected_components(_correlation(differences) >= LINKED, directed=False)
    blocks = label[:, None] == np.arange(label.max(initial=0) + 1)
    farthest = np.abs(contributions @ blocks.astype(np.float64)).max(axis=1, initial=0.0)
    most = np.abs(contributions.sum(axis=1)).max(initial=0.0)
    scaled: Array = (
        contributions * np.divide(most, farthest, out=np.ones_like(farthest), where=farthest > most)[:, None]
    )
    return scaled


def _correlation(differences: Array) -> Array:
    """Return absolute correlations of the features about 0, shape (F, F); a constant one has none."""
    features, _ = _standardised(differences)
    correlation: Array = np.abs(features.T @ features) / len(features)
    return correlation


def _standardised(values: Array) -> tuple[Array, Array]:
    """Divide columns by their root mean squares; columns of zeros stay."""
    size = np.sqrt((values**2).mean(axis=0))
    return np.divide(values, size, out=np.zeros_like(values), where=size > 0), size


def _decorrelated(standard: Array, correlation: Array, size: Array) -> Array:
    value, vector = np.linalg.eigh(correlation)
    kept = value > len(value) * np.finfo(np.float64).eps * value[-1]
    value, vector = value[kept], vector[:, kept]
    z = standard @ (vector / np.sqrt(value)) @ vector.T
    weight = (vector * np.sqrt(value)) @ (vector.T @ size)
    weighted: Array = z * weight
    return weighted
