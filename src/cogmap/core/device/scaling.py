"""Rank knots and concepts on a device: `core.scaling` and `core.concepts` for whole columns that are there.

The knots are those of `core.scaling.rank_knots`, to the last bit where weights are whole numbers, and so are the scaled
values: the same steps, in the same order of operations as `numpy.interp`.

Easy to get wrong: a knot can be there twice, where a group of ties has one value. The last of them counts.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from ..concepts.concepts import Concepts, term_peaks
from ..concepts.scaling import KNOTS, TIE, Scaling, identity, knot_heights
from ..fit.model import Settings
from ..fit.passes import Range
from ..network.activation import ACTIVATIONS
from ..sums.rows import Rows
from ..types import Array
from .space import DeviceArray, Space


def rank_knots(space: Space, column: DeviceArray, weight: DeviceArray | None) -> tuple[Array, Array]:
    """Return knots and ranks of a column; weights None are all 1."""
    xp, n = space.xp, column.shape[0]
    if weight is None:
        column, upto = xp.sort(column), None
    else:
        order = xp.argsort(column, stable=True)
        column, upto = space.take(column, order), xp.cumulative_sum(space.take(weight, order))
    first, last = column[:1], column[n - 1 :]
    apart = (column[1:] - column[:-1]) > TIE * (last - first)
    ends = xp.concat([xp.nonzero(apart)[0], xp.asarray([n - 1], device=space.device)])
    until = space.double(ends + 1) if upto is None else space.take(upto, ends)
    at = _kept(space, until, n if upto is None else float(upto[n - 1]))
    before = xp.clip(at - 1, 0, None)
    low = space.take(column, xp.where(at > 0, space.take(ends, before) + 1, 0))
    high = space.take(column, space.take(ends, at))
    upper, lower = space.take(until, at), xp.where(at > 0, space.take(until, before), 0.0)
    found = space.host(xp.stack([space.double(at), low, high, upper, lower]))
    low_, high_, upper_, lower_ = found[1:, np.unique(found[0], return_index=True)[1]]
    rank = upper_ - (upper_ - lower_) / 2
    height = (rank - rank[0]) / max(rank[-1] - rank[0], np.finfo(np.float64).tiny)
    return np.c_[low_, high_].ravel(), np.repeat(height, 2)


def _kept(space: Space, until: DeviceArray, total: float) -> DeviceArray:
    """Return the groups that become knots, as `core.scaling.kept_groups`, some of them twice.

    `until` is the weight up to each group's end, and `total` that of all groups.
    """
    xp, n = space.xp, until.shape[0]
    if n <= KNOTS:
        return xp.arange(n, device=space.device)
    levels = (np.arange(KNOTS) + 0.5) / KNOTS * total
    ends = xp.asarray([0, n - 1], device=space.device)
    return xp.concat([ends, xp.searchsorted(until, space.put(levels))])


def fit_concepts(space: Space, rows: Rows, known: Range, even: bool, settings: Settings) -> Concepts:
    """Learn scaling and terms of all rows; the same as `core.concepts.fit_concepts`. `even`: all weights are 1."""
    features, kind = np.flatnonzero(known.varies).tolist(), settings.scaling
    knots_of = partial(rank_knots, space, weight=None if even else rows.weight)
    if kind is None:
        activation = ACTIVATIONS[settings.activation]
        scaling = identity(len(features), activation.low, activation.high)
    elif kind == "minmax":
        ends = tuple(np.array([known.low[j], known.high[j]]) for j in features)
        scaling = Scaling(ends, (np.array([0.0, 1.0]),) * len(ends))
    else:
        knots = [knot_heights(kind, *knots_of(column)) for column in space.columns(rows.X, features)]
        scaling = Scaling(tuple(values for values, _ in knots), tuple(heights for _, heights in knots))
    concepts = Concepts(known.varies, scaling, (np.empty(0),) * len(features))
    if settings.terms is None:
        return concepts
    lines = (Line.of(space, *knots) for knots in zip(scaling.values, scaling.heights, strict=True))
    columns = (line(column) for line, column in zip(lines, space.columns(rows.X, features), strict=True))
    peaks = tuple(term_peaks(*knots_of(column), settings.terms) for column in columns)
    return Concepts(known.varies, scaling, peaks)


class Line(NamedTuple):
    """A piecewise linear function: knots in increasing order, their heights, and the slope after each."""

    space: Space
    ends: tuple[float, float]
    values: DeviceArray
    heights: DeviceArray
    slopes: DeviceArray

    @classmethod
    def of(cls, space: Space, values: Array, heights: Array) -> Self:
        """Take one to the device."""
        gaps = np.diff(values)
        slopes = np.append(np.divide(np.diff(heights), gaps, out=np.zeros_like(gaps), where=gaps > 0), 0.0)
        return cls(space, (float(values[0]), float(values[-1])), *map(space.put, (values, heights, slopes)))

    def __call__(self, column: DeviceArray) -> DeviceArray:
        """Return the function of a column, constant beyond the ends."""
        space, values = self.space, self.values
        column = space.xp.clip(column, *self.ends)
        at = space.xp.searchsorted(values[1:], column, side="right")
        found = column - space.take(values, at)
        found *= space.take(self.slopes, at)
        found += space.take(self.heights, at)
        return found


@dataclass(frozen=True)
class DeviceConcepts:
    """The map from rows on a device to initial states A⁰; `lines` has those of each feature that varies."""

    space: Space
    features: tuple[int, ...]
    lines: tuple[tuple[Line, ...], ...]
    terms: tuple[tuple[Line, ...], ...]

    @classmethod
    def of(cls, space: Space, concepts: Concepts) -> Self:
        """Take the map to the device."""
        scaling = concepts.scaling
        lines = tuple(
            (Line.of(space, values, heights),) for values, heights in zip(scaling.values, scaling.heights, strict=True)
        )
        terms = tuple(tuple(Line.of(space, peaks, one) for one in np.eye(len(peaks))) for peaks in concepts.peaks)
        return cls(space, tuple(np.flatnonzero(concepts.varies).tolist()), lines, terms)

    def __call__(self, columns: Sequence[DeviceArray]) -> DeviceArray:
        """Return A⁰, shape (n, M), of the columns of the features that vary."""
        width = sum(max(1, len(terms)) for terms in self.terms)
        n, m = columns[0].shape[0], 0
        found, transposed = self.space.empty(n, width), self.space.empty(width, n)
        for given, (line,), terms in zip(columns, self.lines, self.terms, strict=True):
            scaled = line(given)
            for column in [term(scaled) for term in terms] or [scaled]:
                transposed[m, :] = column
                m += 1
        self.space.transpose_into(found.T, transposed.T)
        return found

    def of_rows(self, X: DeviceArray) -> DeviceArray:
        """Return A⁰ of rows."""
        return self(list(self.space.columns(X, self.features)))
