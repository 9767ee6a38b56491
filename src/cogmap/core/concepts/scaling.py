"""Scaling of features into the range where a concept's activation lives, by monotone piecewise linear maps.

Every scaling is a list of knots (value, height) for each feature: min-max has two, ranks have up to `KNOTS`, and
halfway between them has the ranks' knots at the mean of both heights.

Easy to get wrong: a test row may lie outside the training range. It is clipped to it, because states outside were
never seen in training. And equal values must stay equal under rounding noise: values closer than `TIE` of the span
share a knot.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..types import Array

KNOTS = 1000
"""Most knots of a rank scaling: its heights are within 1/1000 of the exact ranks, on any number of rows."""

MANY = 1000
"""Rows from which on it is faster to sort a column before its knots are looked up, one after another."""

COLUMNS = 8
"""Columns that are copied at once: what a line of the cache holds of a row."""

TIE = 1e-9
"""Values closer than this share of the feature's span have one rank."""


@dataclass(frozen=True)
class Scaling:
    """For each feature, knot values in increasing order and their heights; linear between, constant beyond."""

    values: tuple[Array, ...]
    heights: tuple[Array, ...]

    def __call__(self, X: Array) -> Array:
        """Scale rows, shape (n, n_features)."""
        scaled = np.empty_like(X, order="F")
        for j, (values, heights) in enumerate(zip(self.values, self.heights, strict=True)):
            if len(X) < MANY or len(values) == 2:
                scaled[:, j] = np.interp(X[:, j], values, heights)
                continue
            order = np.argsort(X[:, j])
            scaled[order, j] = np.interp(X[order, j], values, heights)
        return scaled


def fit_scaling(kind: str, X: Array, sample_weight: Array) -> Scaling:
    """Return the scaling ``"minmax"``, ``"quantile"`` or ``"halfway"`` of weighted rows; no column may be constant."""
    some = (np.asfortranarray(X[:, start : start + COLUMNS]) for start in range(0, X.shape[1], COLUMNS))
    knots = [_knots(kind, column, sample_weight) for part in some for column in part.T]
    return Scaling(tuple(values for values, _ in knots), tuple(heights for _, heights in knots))


def identity(n_features: int, low: float, high: float) -> Scaling:
    """Return the scaling of data that lies in [low, high] already."""
    ends = np.array([low, high])
    return Scaling((ends,) * n_features, (ends,) * n_features)


def varying(X: Array) -> NDArray[np.bool_]:
    """Say for each column whether it holds two different values."""
    differs: NDArray[np.bool_] = X.max(axis=0) > X.min(axis=0)
    return differs


def _knots(kind: str, column: Array, sample_weight: Array) -> tuple[Array, Array]:
    low, high = column.min(), column.max()
    if kind == "minmax":
        return np.array([low, high]), np.array([0.0, 1.0])
    return knot_heights(kind, *rank_knots(column, sample_weight))


def knot_heights(kind: str, values: Array, ranks: Array) -> tuple[Array, Array]:
    """Return the knots of the scaling ``"quantile"`` or ``"halfway"``, given those of the ranks."""
    if kind == "quantile":
        return values, ranks
    low, high = values[0], values[-1]
    return values, (ranks + (values - low) / (high - low)) / 2


def rank_knots(column: Array, sample_weight: Array) -> tuple[Array, Array]:
    """Return knots of the mid-rank distribution function, stretched to [0, 1].

    Tied values form a group with one height, held flat from its smallest to its largest value. Of more groups than
    `KNOTS`, those are kept that hold the quantiles (j + ½) / `KNOTS`, and both ends.
    """
    if (sample_weight == sample_weight[0]).all():
        column = np.sort(column)
    else:
        order = np.argsort(column)
        column, sample_weight = column[order], sample_weight[order]
    first = np.ones(len(column) + 1, dtype=bool)
    np.greater(np.diff(column), TIE * (column[-1] - column[0]), out=first[1:-1])
    starts, ends = np.flatnonzero(first[:-1]), np.flatnonzero(first[1:])
    return group_knots(column[starts], column[ends], np.add.reduceat(sample_weight, starts))


def kept_groups(mass: Array) -> NDArray[np.intp]:
    """Return the groups of tied values that become knots, given the weight of each group."""
    if len(mass) <= KNOTS:
        return np.arange(len(mass))
    upto = np.cumsum(mass)
    levels = (np.arange(KNOTS) + 0.5) / KNOTS * upto[-1]
    kept = np.zeros(len(mass), dtype=bool)
    kept[np.searchsorted(upto, levels)] = kept[0] = kept[-1] = True
    return np.flatnonzero(kept)


def group_knots(low: Array, high: Array, mass: Array) -> tuple[Array, Array]:
    """Return the knots of groups of tied values, given their smallest and largest values and their weights."""
    rank = np.cumsum(mass) - mass / 2
    kept = kept_groups(mass)
    values = np.stack([low[kept], high[kept]], axis=1).ravel()
    height = (rank[kept] - rank[0]) / max(rank[-1] - rank[0], np.finfo(np.float64).tiny)
    return values, np.repeat(height, 2)
