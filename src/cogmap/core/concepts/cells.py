"""Rank knots of columns that are never held: cells of values with their weight, refined over passes until exact.

Every column starts as one cell per 1 / `FIRST` of its range. A cell knows the smallest and largest value that fell into
it, and their weight. A cell that is narrower than a tie is a single group whatever is in it; wider ones that matter,
because a wanted quantile falls into them, are split into `NEXT` and counted again. The knots that come out are those of
`scaling.rank_knots`, to the last bit where weights are whole numbers.

Easy to get wrong: a group of tied values can straddle cells. Neighbouring cells whose nearest values tie are linked,
and a link can lead to another one, so all cells that are linked to a wanted one are split with it.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..sums.sources import Pass, Source
from ..sums.space import Space
from ..types import Array
from .scaling import TIE, group_knots, kept_groups

B = TypeVar("B")

FIRST, NEXT = 2**14, 2**4
"""Cells of a column in the first pass, and parts of a cell in each later one: five passes reach a tie, 2⁻³⁰."""


@dataclass(frozen=True)
class Cells:
    """One column's cells in increasing order, empty ones left out."""

    low: Array
    high: Array
    mass: Array

    @property
    def tie(self) -> float:
        """Largest gap between values that share a group."""
        # The outermost cells hold the column's ends themselves, so the tie is that of `rank_knots` in every pass.
        return float(TIE * (self.high[-1] - self.low[0]))

    @property
    def open(self) -> NDArray[np.bool_]:
        """Which cells may hold more than one group."""
        undecided: NDArray[np.bool_] = self.high - self.low > self.tie
        return undecided

    def groups(self) -> NDArray[np.intp]:
        """Return the cell at which each run of linked cells starts."""
        return np.flatnonzero(np.r_[True, self.low[1:] - self.high[:-1] > self.tie])

    def unresolved(self) -> NDArray[np.intp]:
        """Return the open cells that matter: in a run that is kept, or anywhere if all groups may be kept."""
        starts = self.groups()
        kept = np.zeros(len(starts), dtype=bool)
        kept[kept_groups(np.add.reduceat(self.mass, starts))] = True
        run = np.repeat(np.arange(len(starts)), np.diff(np.r_[starts, len(self.low)]))
        return np.flatnonzero(self.open & kept[run])

    def knots(self) -> tuple[Array, Array]:
        """Return knot values and heights once no cell is unresolved."""
        starts = self.groups()
        ends = np.r_[starts[1:], len(self.low)] - 1
        return group_knots(self.low[starts], self.high[ends], np.add.reduceat(self.mass, starts))

    def refined(self, split: NDArray[np.intp], parts: "Cells") -> Self:
        """Put parts in the place of the cells that were split."""
        rest = np.setdiff1d(np.arange(len(self.low)), split)
        low, high, mass = (
            np.concatenate([getattr(self, name)[rest], getattr(parts, name)]) for name in ("low", "high", "mass")
        )
        order = np.argsort(low, kind="stable")
        return type(self)(low[order], high[order], mass[order])


@dataclass(frozen=True)
class Parts:
    """Counts of some columns' values in given intervals, each cut into equal parts; arrays, one for each column."""

    low: list[Array]
    high: list[Array]
    mass: list[Array]

    @classmethod
    def from_block(
        cls, columns: list[Array], weight: Array, intervals: list[tuple[Array, Array]], n_parts: int
    ) -> Self:
        """Count the values of each column that lie in its intervals [low, high], which are disjoint and in order."""
        counts = [_count(x, weight, *ends, n_parts) for x, ends in zip(columns, intervals, strict=True)]
        return cls(*(list(part) for part in zip(*counts, strict=True)))

    def merge(self, other: Self) -> Self:
        """Join two."""
        return type(self)(
            [np.minimum(a, b) for a, b in zip(self.low, other.low, strict=True)],
            [np.maximum(a, b) for a, b in zip(self.high, other.high, strict=True)],
            [a + b for a, b in zip(self.mass, other.mass, strict=True)],
        )

    def cells(self, j: int) -> Cells:
        """Return the parts of column j that hold a value."""
        held = self.mass[j] > 0
        return Cells(self.low[j][held], self.high[j][held], self.mass[j][held])


def _count(x: Array, weight: Array, low: Array, high: Array, n_parts: int) -> tuple[Array, Array, Array]:
    # In order, values find their intervals one after another, and the ends of a part are those of a run.
    order = np.argsort(x)
    x, weight = x[order], weight[order]
    at = np.searchsorted(low, x, side="right") - 1
    # Below all intervals `at` is −1 and reads the last one, which the first condition undoes.
    inside = (at >= 0) & (x <= high[at])
    x, weight, at = x[inside], weight[inside], at[inside]
    # Halves first: the width of the widest column that is allowed is not a number, that of its halves is.
    width = (high / 2 - low / 2)[at]
    # Half of the smallest number is 0: an interval of that width holds its two ends only.
    share = np.where(width > 0, x / 2 - low[at] / 2, x > low[at]) / np.where(width > 0, width, 1.0)
    # The upper end of an interval is in its last part, not in one of its own.
    part = at * n_parts + np.minimum((share * n_parts).astype(np.intp), n_parts - 1)
    size = len(low) * n_parts
    least, most = np.full(size, np.inf), np.full(size, -np.inf)
    first, last = np.flatnonzero(np.diff(part, prepend=-1)), np.flatnonzero(np.diff(part, append=size))
    least[part[first]], most[part[last]] = x[first], x[last]
    return least, most, np.bincount(part, weight, size).astype(np.float64)


def streamed_knots(
    source: Source[B], columns: Pass[B, tuple[Array, Array]], low: Array, high: Array
) -> list[tuple[Array, Array]]:
    """Return `rank_knots` of every column; `columns` gives a block's rows (n, n_columns) and their weights.

    No column may be constant; `low` and `high` are their ends.
    """
    ends = [(low[j : j + 1], high[j : j + 1]) for j in range(len(low))]
    counted = source.reduce(partial(_parts, columns, list(range(len(low))), ends, FIRST))
    cells = [counted.cells(j) for j in range(len(low))]
    while True:
        split = [column.unresolved() for column in cells]
        asked = [j for j, some in enumerate(split) if len(some)]
        if not asked:
            return [column.knots() for column in cells]
        ends = [(cells[j].low[split[j]], cells[j].high[split[j]]) for j in asked]
        counted = source.reduce(partial(_parts, columns, asked, ends, NEXT))
        for i, j in enumerate(asked):
            cells[j] = cells[j].refined(split[j], counted.cells(i))


def _parts(
    columns: Pass[B, tuple[Array, Array]],
    asked: list[int],
    ends: list[tuple[Array, Array]],
    n_parts: int,
    space: Space,
) -> Callable[[B], Parts]:
    of_columns = columns(space)

    def of_block(block: B) -> Parts:
        rows, weight = of_columns(block)
        return Parts.from_block([rows[:, j] for j in asked], weight, ends, n_parts)

    return of_block
