"""Resemblance of rows, exp(−distance), in the coordinates of a metric.

The distance is straight, the square of that, or the sum of distances along the axes. Of squares, scores are smooth, and
as many rows say more where classes are smooth too. Of sums, resemblance is a product over concepts, "x_j is about v_j,
for every j": what the limit of a forest of random cuts is, and as good as trees where classes change at thresholds of
single features.

Easy to get wrong: a straight distance comes from a product of matrices, and that of a row to itself is rounding, 1e-8
instead of 0. Distances along the axes are added up one by one, and are exact.
"""

from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Literal

import numpy as np
from scipy.spatial.distance import cdist

from ..sums.space import DeviceArray, Space, slices
from ..types import Array

PART = 96
"""Rows that are compared with all others at a time: what is computed of them stays in the cache."""

Distance = Literal["straight", "squared", "axes"]


@dataclass(frozen=True)
class Metric:
    """x ↦ coordinates, and the distance of these: straight, its square, or the sum of distances along the axes."""

    mean: Array
    map: Array
    distance: Distance = "straight"

    def __call__(self, initial: Array) -> Array:
        """Return coordinates of rows, shape (n, M)."""
        return (initial - self.mean) @ self.map

    def states(self, coordinates: Array) -> Array:
        """Return the rows that have such coordinates."""
        rows: Array = coordinates @ np.linalg.inv(self.map) + self.mean
        return rows


def coordinates(space: Space, metric: Metric, initial: DeviceArray) -> DeviceArray:
    """Return coordinates of rows in a space."""
    return (initial - space.put(metric.mean)) @ space.put(metric.map)


def resemblance(space: Space, metric: Metric, rows: DeviceArray, cases: Array) -> DeviceArray:
    """Return exp(−distance) of every row to every case, given their coordinates; shape (n, n_cases)."""
    xp = space.xp
    if space.numpy:  # in place: the matrix is large
        apart = distances(metric, rows, cases)
        return np.exp(np.negative(apart, out=apart), out=apart)
    if metric.distance == "axes":
        along = (xp.abs(rows[:, j : j + 1] - space.put(own)) for j, own in enumerate(cases.T))
        return xp.exp(-reduce(add, along))
    squared = rows @ space.put(-2 * cases.T)
    squared += xp.sum(rows * rows, axis=1, keepdims=True)
    squared += space.put((cases**2).sum(axis=1))
    squared = xp.clip(squared, 0.0, None)
    return xp.exp(-squared if metric.distance == "squared" else -xp.sqrt(squared))


def distances(metric: Metric, rows: Array, cases: Array) -> Array:
    """Return the distance of every row to every case in numpy, given their coordinates; shape (n, n_cases)."""
    if metric.distance == "axes":
        along: Array = cdist(rows, cases, "cityblock")
        return along
    squared = rows @ (-2 * cases.T)
    squared += np.einsum("ij,ij->i", rows, rows)[:, None]
    squared += np.einsum("ij,ij->i", cases, cases)
    np.maximum(squared, 0.0, out=squared)
    return squared if metric.distance == "squared" else np.sqrt(squared, out=squared)


def lower_kernel(metric: Metric, cases: Array, features: Array | None = None) -> Array:
    """Return the resemblance of rows to each other plus the products of their features, where they have some.

    What is above the diagonal is not set.
    """
    n = len(cases)
    K = np.empty((n, n))
    for rows in slices(n, PART):
        apart = distances(metric, cases[rows], cases[: rows.stop])
        alike = np.exp(np.negative(apart, out=apart), out=K[rows, : rows.stop])
        if features is not None:
            alike += features[rows] @ features[: rows.stop].T
    return K


def kernel(metric: Metric, cases: Array) -> Array:
    """Return the resemblance of rows to each other, shape (n, n)."""
    K = lower_kernel(metric, cases)
    for rows in slices(len(K), PART):
        K[: rows.start, rows] = K[rows, : rows.start].T
    return K
