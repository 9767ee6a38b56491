"""Points of a feature, steps between them, and where rows stand: along what effects are accumulated.

The points of a number are quantiles of the rows; each step leads to the next one. Those of a category have no order:
steps connect categories whose rows are alike in all other features, in a tree of least total difference, as Apley and
Zhu order them by such differences. A missing number is a point beside the middle one.

Easy to get wrong: a point is a value of some row, with all that stands for the value there. A date is many columns, and
a missing number two; a row that moves takes over all of them.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree
from scipy.spatial.distance import pdist, squareform

from ..types import Array, Codes

COMPARED = 20
"""Values of another feature at which the distributions of two categories are compared."""


@dataclass(frozen=True)
class Axis:
    """Points of a feature, steps between them, and where each row stands.

    Attributes
    ----------
    blocks : array of shape (K, P)
        What a row holds at each point, in the P columns of the feature.
    steps : int array of shape (K − 1, 2)
        Points at which each step begins and ends; a tree.
    low, high : int arrays of shape (n,)
        The points between which each row stands; the same one where it stands at a point.
    fraction : array of shape (n,)
        How far it is from the one to the other, from 0 to 1.
    """

    blocks: Array
    steps: Codes
    low: Codes
    high: Codes
    fraction: Array

    @property
    def taken(self) -> NDArray[np.bool_]:
        """Which row takes which step, shape (n, K − 1): it stands nowhere but at its ends or between them."""
        begin, end = self.steps.T
        takes: NDArray[np.bool_] = np.ones((len(self.low), len(self.steps)), dtype=bool)
        for place in (self.low, self.high):
            takes &= (place[:, None] == begin) | (place[:, None] == end)
        return takes

    @property
    def ways(self) -> Array:
        """Steps on the way from point 0 to each point, 1 or −1 by direction, else 0; shape (K, K − 1)."""
        n = len(self.blocks)
        graph = np.zeros((n, n))
        graph[self.steps[:, 0], self.steps[:, 1]] = 1
        order, before = breadth_first_order(graph, 0, directed=False)
        number = {(a, b): k for k, (a, b) in enumerate(self.steps.tolist())}
        ways = np.zeros((n, n - 1))
        for point in order[1:].tolist():
            last = int(before[point])
            ways[point] = ways[last]
            forwards = (last, point) in number
            ways[point, number[last, point] if forwards else number[point, last]] = 1 if forwards else -1
        return ways

    @property
    def nearest(self) -> Codes:
        """The point nearest to each row, shape (n,)."""
        point: Codes = np.where(self.fraction < 0.5, self.low, self.high)
        return point

    def read(self, curve: Array) -> Array:
        """Return a curve, shape (K, …), where the rows stand: on the straight line between points; shape (n, …)."""
        share = self.fraction.reshape(-1, *[1] * (curve.ndim - 1))
        height: Array = (1 - share) * curve[self.low] + share * curve[self.high]
        return height


def number_axis(values: Array, blocks: Array, weight: Array, n_bins: int) -> Axis:
    """Return the axis of a number.

    Parameters
    ----------
    values : array of shape (n,)
        The number in each row; NaN where it is missing.
    blocks : array of shape (n, P)
        What stands for it in each row.
    weight : array of shape (n,)
        How often each row counts.
    n_bins : int
        Most steps between the points, which are quantiles; with no more different values, each of them is a point.
    """
    absent = np.isnan(values)
    if absent.all():
        return category_axis(np.zeros(len(values), dtype=np.intp), blocks, np.empty((len(values), 0)), weight)
    points = quantile_points(values[~absent], weight[~absent], n_bins)
    first = np.array([int(np.flatnonzero(values == point)[0]) for point in points])
    steps = np.stack([np.arange(len(points) - 1), np.arange(1, len(points))], axis=1)
    below = np.clip(np.searchsorted(points, np.where(absent, points[0], values), side="right") - 1, 0, None)
    at_point = absent | (points[below] == values)
    above = np.where(at_point, below, np.minimum(below + 1, len(points) - 1))
    span = np.where(at_point, 1.0, points[above] - points[below])
    fraction = np.where(at_point, 0.0, (values - points[below]) / span)
    if absent.any():
        middle = np.abs(points - weighted_quantile(values[~absent], weight[~absent], 0.5)).argmin()
        steps = np.concatenate([steps, [[middle, len(points)]]])
        first = np.append(first, np.flatnonzero(absent)[0])
        below, above = (np.where(absent, len(points), place) for place in (below, above))
    return Axis(blocks[first], steps.astype(np.intp), below, above, fraction)


def category_axis(codes: Codes, blocks: Array, others: Array, weight: Array) -> Axis:
    """Return the axis of a category.

    Parameters
    ----------
    codes : int array of shape (n,)
        The category of each row: 0 … K − 1, each of them in some row.
    blocks : array of shape (n, P)
        What stands for it in each row.
    others : array of shape (n, F)
        All other features, by which categories are alike or not.
    weight : array of shape (n,)
        How often each row counts.
    """
    _, first = np.unique(codes, return_index=True)
    # Zero would mean that there is no edge; the tree of least total difference is the same with 1 added to each.
    tree = minimum_spanning_tree(1 + _differences(codes, others, weight, len(first))).tocoo()
    steps = np.sort(np.stack([tree.row, tree.col], axis=1).astype(np.intp), axis=1)
    steps = steps[np.lexsort(steps.T[::-1])]
    return Axis(blocks[first], steps, codes, codes, np.zeros(len(codes)))


def _differences(codes: Codes, others: Array, weight: Array, n: int) -> Array:
    """Return the sum over the features of the largest distance of two categories' distribution functions, (K, K)."""
    mass = np.bincount(codes, weight, n)
    total = np.zeros(n * (n - 1) // 2)
    for values in others.T:
        points = quantile_points(values, weight, COMPARED)
        table = np.zeros((n, len(points)))
        np.add.at(table, (codes, np.minimum(np.searchsorted(points, values), len(points) - 1)), weight)
        total += pdist(table.cumsum(axis=1) / mass[:, None], "chebyshev")
    return squareform(total) if n > 1 else np.zeros((1, 1))


def quantile_points(values: Array, weight: Array, n_bins: int) -> Array:
    """Return all different values if there are at most `n_bins` + 1, else at most so many quantiles with the ends."""
    different = np.unique(values)
    if len(different) <= n_bins + 1:
        return different
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    at = np.searchsorted(total, np.linspace(0, 1, n_bins + 1) * total[-1])
    at[0] = 0
    points: Array = np.unique(values[order][np.minimum(at, len(values) - 1)])
    return points


def weighted_quantile(values: Array, weight: Array, level: float) -> float:
    """Return the least value that, with all below it, has this share of the weight."""
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weight[order])
    return float(values[order[min(int(np.searchsorted(total, level * total[-1])), len(values) - 1)]])
