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

from ..activation import ACTIVATIONS, Array
from ..concepts import Concepts, term_peaks
from ..model import Settings
from ..passes import Range
from ..scaling import KNOTS, TIE, Scaling, identity, knot_heights
from ..training import Rows
from .space import DeviceArray, Space


def rank_knots(space: Space, column: DeviceArray, weight: DeviceArray | None) -> tuple[Array, Array]:
    """Return knots and ranks of a column; weights None are all 1."""
    xp, n = space.xp, column.shape[0]
    if weight is None:
        column, upto = xp.sort(column), None
    else:
        order = xp.argsort(column, stable=True)
        column, upto = xp.take(column, order), xp.cumulative_sum(xp.take(weight, order))
    first, last = column[:1], column[n - 1 :]
    apart = (column[1:] - column[:-1]) > TIE * (last - first)
    ends = xp.concat([xp.nonzero(apart)[0], xp.asarray([n - 1], device=space.device)])
    until = space.double(ends + 1) if upto is None else xp.take(upto, ends)
    kept = _kept(space, until)
    at, before = (xp.asarray(index, device=space.device) for index in (kept, np.maximum(kept - 1, 0)))
    low = xp.take(column, xp.where(at > 0, xp.take(ends, before) + 1, 0))
    high = xp.take(column, xp.take(ends, at))
    found = (low, high, xp.take(until, at), xp.take(until, before))
    low_, high_, upper, lower = (space.host(part) for part in found)
    mass = upper - np.where(kept > 0, lower, 0.0)
    rank = upper - mass / 2
    height = (rank - rank[0]) / max(rank[-1] - rank[0], np.finfo(np.float64).tiny)
    return np.c_[low_, high_].ravel(), np.repeat(height, 2)


def _kept(space: Space, until: DeviceArray) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    """Return the groups that become knots, as `core.scaling.kept_groups`, given the weight up to each group's end."""
    n = until.shape[0]
    if n <= KNOTS:
        return np.arange(n)
    levels = (np.arange(KNOTS) + 0.5) / KNOTS * float(until[n - 1])
    return np.unique(np.r_[0, space.host(space.xp.searchsorted(until, space.put(levels))), n - 1])


def fit_concepts(space: Space, rows: Rows, known: Range, even: bool, settings: Settings) -> Concepts:
    """Learn scaling and terms of all rows; the same as `core.concepts.fit_concepts`. `even`: all weights are 1."""
    features, kind = np.flatnonzero(known.varies), settings.scaling
    knots_of = partial(rank_knots, space, weight=None if even else rows.weight)
    if kind is None:
        activation = ACTIVATIONS[settings.activation]
        scaling = identity(len(features), activation.low, activation.high)
    elif kind == "minmax":
        ends = tuple(np.array([known.low[j], known.high[j]]) for j in features)
        scaling = Scaling(ends, (np.array([0.0, 1.0]),) * len(ends))
    else:
        ranks = (knots_of(space.column(rows.X, int(j))) for j in features)
        knots = [knot_heights(kind, *found) for found in ranks]
        scaling = Scaling(tuple(values for values, _ in knots), tuple(heights for _, heights in knots))
    concepts = Concepts(known.varies, scaling, (np.empty(0),) * len(features))
    if settings.terms is None:
        return concepts
    lines = zip(features, scaling.values, scaling.heights, strict=True)
    columns = (Line.of(space, values, heights)(space.column(rows.X, int(j))) for j, values, heights in lines)
    peaks = tuple(term_peaks(*knots_of(column), settings.terms) for column in columns)
    return Concepts(known.varies, scaling, peaks)


class Line(NamedTuple):
    """A piecewise linear function: knots in increasing order, their heights, and the slope after each."""

    space: Space
    values: DeviceArray
    heights: DeviceArray
    slopes: DeviceArray

    @classmethod
    def of(cls, space: Space, values: Array, heights: Array) -> Self:
        """Take one to the device."""
        gaps = np.diff(values)
        slopes = np.append(np.divide(np.diff(heights), gaps, out=np.zeros_like(gaps), where=gaps > 0), 0.0)
        return cls(space, *map(space.put, (values, heights, slopes)))

    def __call__(self, column: DeviceArray) -> DeviceArray:
        """Return the function of a column, constant beyond the ends."""
        xp, values = self.space.xp, self.values
        column = xp.clip(column, values[0], values[values.shape[0] - 1])
        at = xp.searchsorted(values[1:], column, side="right")
        found = column - xp.take(values, at)
        found *= xp.take(self.slopes, at)
        found += xp.take(self.heights, at)
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
        found, m = self.space.empty(columns[0].shape[0], width), 0
        for given, (line,), terms in zip(columns, self.lines, self.terms, strict=True):
            scaled = line(given)
            for column in [term(scaled) for term in terms] or [scaled]:
                found[:, m] = column
                m += 1
        return found

    def of_rows(self, X: DeviceArray) -> DeviceArray:
        """Return A⁰ of rows."""
        return self([self.space.column(X, j) for j in self.features])
