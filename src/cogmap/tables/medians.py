"""Medians of columns: of numbers in memory, or in passes over parts of the rows.

In passes, the middle of a histogram is cut again and again, two to five times, until its cell holds one value.

Easy to get wrong: memory. Whether whole numbers are all different takes one byte for each possible one, until the first
comes twice.
"""

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core.concepts.cells import Parts
from ..core.types import Array
from ..intake.progress import Meter
from .meaning import sequence_error

if TYPE_CHECKING:
    import pandas as pd

    from .tally import Tally

CELLS = 2**14
"""Cells of a histogram."""


def weighted_median(numbers: Array, weight: Array) -> float:
    """Return the median of numbers that count `weight` times each: where half of the weight lies on either side."""
    order = np.argsort(numbers, kind="stable")
    total = np.cumsum(weight[order])
    low = numbers[order[np.searchsorted(total, total[-1] / 2, side="left")]]
    high = numbers[order[min(np.searchsorted(total, total[-1] / 2, side="right"), len(order) - 1)]]
    return midpoint(float(low), float(high))


def midpoint(low: float, high: float) -> float:
    """Return the mean of two numbers, however large they are."""
    middle = (low + high) / 2
    return middle if math.isfinite(middle) else low / 2 + high / 2


@dataclass
class Middle:
    """Where the middle values of a column are: between `low` and `high`, with so many values `below` that.

    `seen` says which whole numbers from the smallest on have come, while all are different.
    """

    tally: "Tally"
    low: float
    high: float
    below: float = 0.0
    value: float | None = None
    seen: NDArray[np.bool_] | None = None

    def refine(self, low: Array, high: Array, mass: Array) -> None:
        """Go into the cell that holds the middle values, or find them where they lie in two cells or are one value."""
        held = np.flatnonzero(mass)
        low, high, upto = low[held], high[held], self.below + np.cumsum(mass[held])
        half = self.tally.n_values / 2
        first, second = np.searchsorted(upto, half, side="left"), np.searchsorted(upto, half, side="right")
        if first != second or low[first] == high[first]:
            self.value = midpoint(float(high[first]), float(low[second]))
            return
        self.low, self.high = float(low[first]), float(high[first])
        self.below = float(upto[first] - mass[held][first])

    def look_for_copies(self, numbers: Array) -> None:
        """Note whole numbers; forget all once one has come twice."""
        if self.seen is None:
            return
        at = (numbers - self.tally.range.low).astype(np.intp)
        if self.seen[at].any() or len(np.unique(at)) < len(at):
            self.seen = None
            return
        self.seen[at] = True


def medians(tallies: "list[Tally]", parts: Callable[[], "Iterable[pd.DataFrame]"], meter: Meter) -> dict[str, float]:
    """Return the medians of columns of numbers and dates; note that a column numbers the rows."""
    varying = [tally for tally in tallies if tally.problem is None and tally.range.varies]
    middles = [Middle(tally, tally.range.low, tally.range.high) for tally in varying]
    for middle in middles:
        if middle.tally.counts:
            middle.seen = np.zeros(int(middle.high - middle.low) + 1, dtype=bool)
    while open_ones := [middle for middle in middles if middle.value is None and middle.tally.problem is None]:
        cells: Parts | None = None
        for part in meter.counted(_histograms(open_ones, parts)):
            cells = part if cells is None else cells.merge(part)
        assert cells is not None
        for middle, low, high, mass in zip(open_ones, cells.low, cells.high, cells.mass, strict=True):
            if middle.seen is not None:
                limits = middle.tally.range
                middle.tally.problem = sequence_error(middle.tally.name, limits.low, limits.high)
            else:
                middle.refine(low, high, mass)
    return {middle.tally.name: float(middle.value or 0.0) for middle in middles}


def _histograms(middles: list[Middle], parts: Callable[[], "Iterable[pd.DataFrame]"]) -> Iterator[tuple[int, Parts]]:
    for part in parts():
        low, high, mass = [], [], []
        for middle in middles:
            numbers = middle.tally.numbers(part[middle.tally.name].dropna())
            middle.look_for_copies(numbers)
            ends = (np.array([middle.low]), np.array([middle.high]))
            cells = Parts.from_block([numbers], np.ones(len(numbers)), [ends], CELLS)
            low.append(cells.low[0])
            high.append(cells.high[0])
            mass.append(cells.mass[0])
        yield len(part), Parts(low, high, mass)
