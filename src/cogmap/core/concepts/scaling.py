"""Scaling of features into the range where a concept's activation lives, by monotone piecewise linear maps.

Every scaling is a list of knots (value, height) for each feature: min-max has two, ranks have up to `KNOTS`, and
halfway between them has the ranks' knots at the mean of both heights.

Easy to get wrong: a test row may lie outside the training range. It is clipped to it, because states outside were
never seen in training. And equal values must stay equal under rounding noise: values closer than `TIE` of the span
share a knot. A knot can be there twice, where a group of ties has one value: the last of them counts, as in
`numpy.interp`, whose operations other libraries follow in the same order, to the last bit.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..sums.space import DeviceArray, Space
from ..sums.statistics import differ
from ..types import Array, Codes

KNOTS = 1000
"""Most knots of a rank scaling: its heights are within 1/1000 of the exact ranks, on any number of rows."""

MANY = 1000
"""Rows from which on it is faster to sort a column before its knots are looked up, one after another."""

CELLS, MOST_IN_CELL = 4, 4
"""Cells for each knot in which knots are looked up, and most knots in one cell for that to be faster than a search."""

TIE = 1e-9
"""Values closer than this share of the feature's span have one rank."""


@dataclass(frozen=True)
class Scaling:
    """For each feature, knot values in increasing order and their heights; linear between, constant beyond."""

    values: tuple[Array, ...]
    heights: tuple[Array, ...]

    def lines(self, space: Space) -> list["Line"]:
        """Return the scaling of each feature, in a space."""
        return [Line.of(space, *knots) for knots in zip(self.values, self.heights, strict=True)]


class Line(NamedTuple):
    """A piecewise linear function: knots in increasing order, their heights, and the slope after each.

    numpy interpolates by itself, and has no use for slopes.
    """

    space: Space
    ends: tuple[float, float]
    values: DeviceArray
    heights: DeviceArray
    slopes: DeviceArray | None

    @classmethod
    def of(cls, space: Space, values: Array, heights: Array) -> Self:
        """Take one to a space."""
        slopes = None if space.numpy else space.put(slopes_between(values, heights))
        return cls(space, (float(values[0]), float(values[-1])), space.put(values), space.put(heights), slopes)

    def __call__(self, column: DeviceArray) -> DeviceArray:
        """Return the function of a column, constant beyond the ends."""
        space, values = self.space, self.values
        if space.numpy:
            return self._interpolated(column)
        column = space.xp.clip(column, *self.ends)
        at = space.xp.searchsorted(values[1:], column, side="right")
        scaled = column - space.take(values, at)
        scaled *= space.take(self.slopes, at)
        scaled += space.take(self.heights, at)
        return scaled

    def _interpolated(self, column: Array) -> Array:
        if len(column) < MANY or len(self.values) == 2:
            return np.interp(column, self.values, self.heights)
        order, scaled = np.argsort(column), np.empty(len(column))
        scaled[order] = np.interp(column[order], self.values, self.heights)
        return scaled


def slopes_between(values: Array, heights: Array) -> Array:
    """Return the slope after each knot; 0 after the last."""
    gaps = np.diff(values)
    with np.errstate(over="ignore"):
        slopes = np.divide(np.diff(heights), gaps, out=np.zeros_like(gaps), where=gaps > 0)
    # An infinite slope times the distance 0 from a knot would not be 0.
    return np.append(np.nan_to_num(slopes), 0.0)


class Lines:
    """Many lines at once in numpy, with the bits of `numpy.interp`: one lookup for all features, and not a search each.

    A feature's range is cut into equal cells, and a table says which knot is the last before each. From there it is a
    few knots to the right one. Features with more knots in a cell are interpolated one by one.
    """

    def __init__(self, lines: Sequence[Line]) -> None:
        self.lines = lines
        cells = [_Cells.of(line) for line in lines]
        self.suited = [j for j, one in enumerate(cells) if one is not None]
        parts = [one for one in cells if one is not None]
        starts = np.cumsum([0, *(len(one.knots) for one in parts)])
        firsts = np.cumsum([0, *(len(one.table) for one in parts)])
        self.table, self.knots, self.heights, self.slopes = (
            np.concatenate([np.empty(0, dtype), *arrays])
            for dtype, arrays in (
                (np.intp, [one.table + start for one, start in zip(parts, starts[:-1], strict=True)]),
                *((np.float64, [getattr(one, name) for one in parts]) for name in ("knots", "heights", "slopes")),
            )
        )
        # The knot after each; after the last of a feature comes none.
        self.following = np.append(self.knots[1:], np.inf)
        self.following[starts[1:] - 1] = np.inf
        self.first = firsts[:-1, None]
        self.low, self.high, self.per_unit = (
            np.array([getattr(one, name) for one in parts]).reshape(-1, 1) for name in ("low", "high", "per_unit")
        )
        self.most = max((one.most for one in parts), default=0)

    def __call__(self, columns: Array) -> Array:
        """Return the scaled features, shape (features, n), given the features as they are."""
        if len(self.suited) == len(self.lines):
            return self._looked_up(columns)
        scaled = np.empty_like(columns)
        scaled[self.suited] = self._looked_up(columns[self.suited])
        for j in set(range(len(self.lines))) - set(self.suited):
            scaled[j] = np.interp(columns[j], self.lines[j].values, self.lines[j].heights)
        return scaled

    def _looked_up(self, columns: Array) -> Array:
        x = np.maximum(columns, self.low)
        np.minimum(x, self.high, out=x)
        place = x - self.low
        place *= self.per_unit
        cell = place.astype(np.intp)
        cell += self.first
        at = self.table.take(cell)
        for _ in range(self.most):
            at += x >= self.following.take(at)
        x -= self.knots.take(at)
        x *= self.slopes.take(at)
        x += self.heights.take(at)
        scaled: Array = x
        return scaled


class _Cells(NamedTuple):
    """The cells of one line: its different knots, and in `table` the last knot before each cell, or the first of all.

    `most` is the largest number of knots in a cell.
    """

    low: float
    high: float
    per_unit: float
    most: int
    table: Codes
    knots: Array
    heights: Array
    slopes: Array

    @classmethod
    def of(cls, line: Line) -> "_Cells | None":
        """Return the cells of a line; None where they would not help."""
        kept = np.append(line.values[1:] > line.values[:-1], True)
        knots, heights, slopes = line.values[kept], line.heights[kept], slopes_between(line.values, line.heights)[kept]
        low, high = line.ends
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            per_unit = CELLS * len(knots) / np.subtract(high, low)
            place = (knots - low) * per_unit
        if not (np.isfinite(place).all() and per_unit > 0 and np.abs(slopes).max() < np.finfo(np.float64).max):
            return None
        cell = place.astype(np.intp)
        most = int(np.bincount(cell).max())
        table = np.maximum(np.searchsorted(cell, np.arange(cell[-1] + 1)) - 1, 0)
        return cls(low, high, float(per_unit), most, table, knots, heights, slopes) if most <= MOST_IN_CELL else None


def identity(n_features: int, low: float, high: float) -> Scaling:
    """Return the scaling of data that lies in [low, high] already."""
    ends = np.array([low, high])
    return Scaling((ends,) * n_features, (ends,) * n_features)


def varying(X: Array) -> NDArray[np.bool_]:
    """Say for each column whether it holds two different values."""
    return differ(X.min(axis=0), X.max(axis=0))


def knot_heights(kind: str, values: Array, ranks: Array) -> tuple[Array, Array]:
    """Return the knots of the scaling ``"quantile"`` or ``"halfway"``, given those of the ranks."""
    if kind == "quantile":
        return values, ranks
    low, high = values[0], values[-1]
    return values, (ranks + (values - low) / (high - low)) / 2


def rank_knots(space: Space, column: DeviceArray, weight: DeviceArray | None) -> tuple[Array, Array]:
    """Return knots of the mid-rank distribution function, stretched to [0, 1]; weights None are all 1.

    Tied values form a group with one height, held flat from its smallest to its largest value. Of more groups than
    `KNOTS`, those are kept that hold the quantiles (j + ½) / `KNOTS`, and both ends.
    """
    xp, n = space.xp, column.shape[0]
    if weight is None:
        column, upto = xp.sort(column), None
    else:
        order = xp.argsort(column, stable=True)
        column, upto = space.take(column, order), xp.cumulative_sum(space.take(weight, order))
    # A group ends where the next value is further away than a tie; all else is read at the groups' ends.
    first, last = column[:1], column[n - 1 :]
    apart = (column[1:] - column[:-1]) > TIE * (last - first)
    ends = xp.concat([xp.nonzero(apart)[0], xp.asarray([n - 1], device=space.device)])
    until = space.double(ends + 1) if upto is None else space.take(upto, ends)
    at = _kept(space, until, n if upto is None else float(upto[n - 1]))
    before = xp.clip(at - 1, 0, None)
    low = space.take(column, xp.where(at > 0, space.take(ends, before) + 1, 0))
    high = space.take(column, space.take(ends, at))
    upper, lower = space.take(until, at), xp.where(at > 0, space.take(until, before), 0.0)
    groups = space.host(xp.stack([space.double(at), low, high, upper, lower]))
    low_, high_, upper_, lower_ = groups[1:, np.unique(groups[0], return_index=True)[1]]
    return _stretched(low_, high_, upper_ - (upper_ - lower_) / 2)


def _kept(space: Space, until: DeviceArray, total: float) -> DeviceArray:
    """Return the groups that become knots, as `kept_groups`, some of them twice.

    `until` is the weight up to each group's end, and `total` that of all groups.
    """
    xp, n = space.xp, until.shape[0]
    if n <= KNOTS:
        return xp.arange(n, device=space.device)
    levels = (np.arange(KNOTS) + 0.5) / KNOTS * total
    ends = xp.asarray([0, n - 1], device=space.device)
    return xp.concat([ends, xp.searchsorted(until, space.put(levels))])


def kept_groups(mass: Array) -> Codes:
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
    rank, kept = np.cumsum(mass) - mass / 2, kept_groups(mass)
    return _stretched(low[kept], high[kept], rank[kept])


def _stretched(low: Array, high: Array, rank: Array) -> tuple[Array, Array]:
    """Return knots at both ends of each group, with the ranks stretched to [0, 1]."""
    height = (rank - rank[0]) / max(rank[-1] - rank[0], np.finfo(np.float64).tiny)
    return np.stack([low, high], axis=1).ravel(), np.repeat(height, 2)
