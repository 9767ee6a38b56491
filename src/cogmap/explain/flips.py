"""The smallest change of one feature that changes the class of a row.

Each feature is moved over a grid of its training range, in the space to which the first network scales it; the nearest
point with another class is then brought nearer by bisection.

Easy to get wrong: a feature that counts cannot be 2.7. One with few different training values takes these only.
"""

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.fit.fitted import Fitted
from ..core.types import Array, Codes

GRID = 33
"""Points at which a feature is tried, the ends of its range among them."""

FEW_VALUES = 20
"""Features with at most this many different values among the training rows kept take these only."""

HALVINGS = 30
"""Bisections: they bring the change within 1e-9 of a grid step of the smallest."""

BATCH = 20_000
"""Most rows to score at once."""

CELLS = 16_000_000
"""Most numbers in the rows that are scored at once, unless those of one feature are more."""


@dataclass(frozen=True)
class Flip:
    """A feature, its new value, the class that the row then has, and the size of the change where it is scaled."""

    feature: int
    value: Any
    label: Any
    change: float


@dataclass(frozen=True)
class Axis:
    """The values that one feature may take, and where they are scaled to; linear between them if `continuous`."""

    feature: int
    values: Array
    heights: Array
    continuous: bool

    def height(self, value: Array) -> Array:
        """Scale values."""
        return np.interp(value, self.values, self.heights)

    def value(self, height: Array) -> Array:
        """Return the value that is scaled to a height."""
        return np.interp(height, self.heights, self.values)

    @property
    def step(self) -> float:
        """Distance between two candidates where bisection may go further; otherwise 0."""
        return float(self.heights[-1] - self.heights[0]) / (GRID - 1) if self.continuous else 0.0

    @property
    def candidates(self) -> Array:
        """Values to try."""
        if not self.continuous:
            return self.values
        return self.value(np.linspace(self.heights[0], self.heights[-1], GRID))


def smallest_flips(fitted: Fitted, rows: Array, features: Collection[int] | None = None) -> list[Flip | None]:
    """Return the smallest flip of each row, or None where no single feature (of these) changes its class."""
    axes = [axis for axis in feature_axes(fitted) if features is None or axis.feature in features]
    size = max(1, BATCH // max(1, sum(len(axis.candidates) for axis in axes)))
    flips: list[Flip | None] = []
    for start in range(0, len(rows) if axes else 0, size):
        flips.extend(_smallest(fitted, rows[start : start + size], axes))
    return flips or [None] * len(rows)


def flips_of_each(fitted: Fitted, row: Array, features: Collection[int] | None = None) -> list[Flip]:
    """Return for each feature (of these) the smallest change that changes the class of a row, smallest first."""
    axes = [axis for axis in feature_axes(fitted) if features is None or axis.feature in features]
    if not axes:
        return []
    predicted = fitted.codes(row[None])
    value, change = _on_grid(fitted, row[None], predicted, axes)
    a = np.flatnonzero(np.isfinite(change[0]))
    pairs = Pairs(np.repeat(row[None], len(a), axis=0), np.repeat(predicted, len(a)), axes, a)
    best = pairs.bisected(fitted, value[0, a])
    return sorted(pairs.flips(fitted, best), key=lambda flip: flip.change)


def feature_axes(fitted: Fitted) -> list[Axis]:
    """Return the values that each feature which varies may take."""
    concepts, kept = fitted.networks[0].concepts, fitted.summary.rows
    axes = []
    for j, values, heights in zip(
        np.flatnonzero(concepts.varies).tolist(), concepts.scaling.values, concepts.scaling.heights, strict=True
    ):
        seen = np.unique(kept[:, j])
        if len(seen) <= FEW_VALUES:
            axes.append(Axis(j, seen, np.interp(seen, values, heights), continuous=False))
        else:
            axes.append(Axis(j, values, heights, continuous=True))
    return axes


def _smallest(fitted: Fitted, rows: Array, axes: list[Axis]) -> list[Flip | None]:
    predicted = fitted.codes(rows)
    value, change = _on_grid(fitted, rows, predicted, axes)
    # Bisection gains less than a step of the grid: only axes within a step of the nearest can become the nearest.
    step = np.array([axis.step for axis in axes])
    i, a = np.nonzero(np.isfinite(change) & (change - step <= change.min(axis=1, keepdims=True)))
    if len(i) == 0:
        return [None] * len(rows)
    pairs = Pairs(rows[i], predicted[i], axes, a)
    every = pairs.flips(fitted, pairs.bisected(fitted, value[i, a]))
    flips: list[Flip | None] = [None] * len(rows)
    for pair in sorted(range(len(every)), key=lambda pair: -every[pair].change):
        flips[i[pair]] = every[pair]
    return flips


def _on_grid(fitted: Fitted, rows: Array, predicted: Codes, axes: list[Axis]) -> tuple[Array, Array]:
    """Return for each row and axis the nearest candidate with another class, and its distance; infinite if none."""
    value, change = np.empty((len(rows), len(axes))), np.empty((len(rows), len(axes)))
    size = max(1, CELLS // (rows.size * GRID))
    for start in range(0, len(axes), size):
        group = axes[start : start + size]
        candidates = [axis.candidates for axis in group]
        changed = _changed(fitted, rows, predicted, group, candidates)
        for a, (axis, values, other) in enumerate(zip(group, candidates, changed, strict=True), start):
            own = axis.height(rows[:, axis.feature])
            distance = np.where(other, np.abs(axis.height(values) - own[:, None]), np.inf)
            nearest = distance.argmin(axis=1)
            value[:, a], change[:, a] = values[nearest], distance.min(axis=1)
    return value, change


def _changed(
    fitted: Fitted, rows: Array, predicted: Codes, axes: list[Axis], candidates: list[Array]
) -> list[NDArray[np.bool_]]:
    """Say for each axis which candidates give each row another class, shape (n, candidates)."""
    ends = np.cumsum([len(values) for values in candidates])
    tried = np.repeat(rows[:, None], ends[-1], axis=1)
    for axis, values, end in zip(axes, candidates, ends, strict=True):
        tried[:, end - len(values) : end, axis.feature] = values
    other = fitted.codes(tried.reshape(-1, rows.shape[1])).reshape(len(rows), -1) != predicted[:, None]
    return np.split(other, ends[:-1], axis=1)


@dataclass(frozen=True)
class Pairs:
    """Rows, their class codes, and the axis along which each is moved."""

    rows: Array
    predicted: Codes
    axes: list[Axis]
    axis: Codes

    @property
    def feature(self) -> Codes:
        """The feature of each axis."""
        return np.array([axis.feature for axis in self.axes])[self.axis]

    @property
    def own(self) -> Array:
        """The value that each row has."""
        return self.rows[np.arange(len(self.rows)), self.feature]

    def moved(self, value: Array) -> Array:
        """Return the rows with other values."""
        moved = self.rows.copy()
        moved[np.arange(len(moved)), self.feature] = value
        return moved

    def heights(self, value: Array) -> Array:
        """Scale values."""
        return self._each(lambda axis, part: axis.height(part), value)

    def values(self, height: Array) -> Array:
        """Return the values that are scaled to these heights."""
        return self._each(lambda axis, part: axis.value(part), height)

    def bisected(self, fitted: Fitted, value: Array) -> Array:
        """Bring values with another class as near as possible to the rows' own; a feature of few values keeps its."""
        step = np.array([axis.step for axis in self.axes])[self.axis]
        far, best = self.heights(value), value
        near = far + np.clip(self.heights(self.own) - far, -step, step)
        for _ in range(HALVINGS if step.any() else 0):
            middle = (near + far) / 2
            tried = np.where(step > 0, self.values(middle), value)
            flipped = fitted.codes(self.moved(tried)) != self.predicted
            best = np.where(flipped, tried, best)
            far, near = np.where(flipped, middle, far), np.where(flipped, near, middle)
        return best

    def flips(self, fitted: Fitted, value: Array) -> list[Flip]:
        """Return what becomes of each row with its new value."""
        labels: Any = fitted.classes[fitted.codes(self.moved(value))] if len(value) else ()
        size = np.abs(self.heights(value) - self.heights(self.own)).tolist()
        return [Flip(*flip) for flip in zip(self.feature.tolist(), value.tolist(), labels, size, strict=True)]

    def _each(self, function: Callable[[Axis, Array], Array], values: Array) -> Array:
        results = np.empty(len(values))
        for a in np.unique(self.axis):
            own = self.axis == a
            results[own] = function(self.axes[a], values[own])
        return results
