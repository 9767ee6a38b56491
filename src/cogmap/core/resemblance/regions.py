"""Remembered rows with a learned metric, in regions: any number of rows, each compared with few.

The rows are cut into boxes, "hours is at most 40 and age is above 25", halves of halves along the concept that spreads
them most in the learned metric, until a box has at most `REGION_ROWS`. In each box the score is that of a kernel ridge
over its own rows,

    f(x) = q + Σ_i a_i exp(−‖x − v_i‖).

A table of few rows is one box. Nothing of the network's reasoning is in it: the stack has networks beside it.

Easy to get wrong: of few rows, leave-one-out scores are taken in the metric of the row's own fold (`metric`). Of many,
those that taught the metric are few, and all rows are judged in it; which kind of metric it is, the regions choose.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import reduce
from operator import add

import numpy as np

from ..constants import REGION_ROWS, REGION_SHARE
from ..network.reasoning import Network
from ..readout.terms import Terms
from ..sums.space import DeviceArray, Space
from ..types import Array, Codes
from .cases import CaseReadout
from .distance import Metric, coordinates, resemblance
from .remembered import Remembered

BEYOND = 2.0
"""What lies beyond every state, which are from −1 to 1: the side of a box that is open."""


@dataclass(frozen=True)
class Boxes:
    """Boxes that every row is in one of, with low < x ≤ high for every concept; `low` and `high` have shape (k, M)."""

    low: Array
    high: Array

    @property
    def cut(self) -> Codes:
        """The concepts that boxes are cut by."""
        return np.flatnonzero((self.low > -BEYOND).any(axis=0) | (self.high < BEYOND).any(axis=0))

    def codes(self, initial: Array) -> Codes:
        """Return the box of each row."""
        x, codes = initial[:, self.cut], np.zeros(len(initial), dtype=np.intp)
        for k, (low, high) in enumerate(zip(self.low[:, self.cut], self.high[:, self.cut], strict=True)):
            codes[((x > low) & (x <= high)).all(axis=1)] = k
        return codes

    def inside(self, space: Space, initial: DeviceArray) -> list[DeviceArray]:
        """Return for each box a column that has 1 for the rows in it and 0 for others."""
        x, double = space.take(initial, space.put(self.cut), axis=1), space.double
        sides = zip(self.low[:, self.cut], self.high[:, self.cut], strict=True)
        held = (double(x > space.put(low)) - double(x > space.put(high)) for low, high in sides)
        return [double(space.xp.sum(one, axis=1, keepdims=True) > len(self.cut) - 0.5) for one in held]


def cut_boxes(initial: Array, stretch: Array, most: int = REGION_ROWS) -> Boxes:
    """Cut rows into boxes of at most so many; `stretch` is how far a metric stretches each concept, squared."""
    n_concepts = initial.shape[1]
    done, waiting = [], [(np.full(n_concepts, -BEYOND), np.full(n_concepts, BEYOND), initial)]
    while waiting:
        low, high, rows = waiting.pop()
        found = _cut(rows, stretch) if len(rows) > most else None
        if found is None:
            done.append((low, high))
            continue
        j, threshold = found
        upper, lower = low.copy(), high.copy()
        upper[j] = lower[j] = threshold
        below = rows[:, j] <= threshold
        waiting += [(upper, high, rows[~below]), (low, lower, rows[below])]
    return Boxes(*(np.array(side) for side in zip(*done, strict=True)))


def _cut(rows: Array, stretch: Array) -> tuple[int, float] | None:
    """Return concept and threshold that halve the rows best, of the concepts that spread them; None if none varies."""
    uneven = []
    for j in np.argsort(-stretch * rows.var(axis=0), kind="stable"):
        column = np.sort(rows[:, j])
        middle = column[len(column) // 2]
        # Copies of a value stay together: the cut is below or above those of the median.
        at = min(
            np.searchsorted(column, middle, "left"),
            np.searchsorted(column, middle, "right"),
            key=lambda place: abs(place - len(column) / 2),
        )
        share = min(at, len(column) - at) / len(column)
        if at in (0, len(column)):
            continue
        threshold = (column[at - 1] + column[at]) / 2
        if share >= REGION_SHARE:
            return int(j), float(threshold)
        uneven.append((share, int(j), float(threshold)))
    return max(uneven)[1:] if uneven else None


@dataclass(frozen=True)
class OwnMetrics:
    """Metrics that the rows of each region taught; `means` has shape (k, M), `maps` (k, M, M)."""

    means: Array
    maps: Array


@dataclass(frozen=True)
class RegionReadout:
    """Cases in regions, one region after another: those of region k end at `ends[k]`.

    `coefficients` has a line for each case, `constants` for each region. The metric is that of all regions, unless they
    have their own; cases are coordinates.
    """

    metric: Metric
    boxes: Boxes
    ends: Codes
    cases: Array
    coefficients: Array
    constants: Array
    own: OwnMetrics | None = None

    @property
    def n_iter(self) -> int:
        """Number of iterations that it reads."""
        return 0

    @property
    def regions(self) -> list[slice]:
        """The cases of each region."""
        return [slice(a, b) for a, b in zip([0, *self.ends[:-1]], self.ends, strict=True)]

    @property
    def metrics(self) -> list[Metric]:
        """The metric of each region."""
        if self.own is None:
            return [self.metric] * len(self.ends)
        return [
            replace(self.metric, mean=mean, map=own) for mean, own in zip(self.own.means, self.own.maps, strict=True)
        ]

    def states(self, chosen: Codes) -> Array:
        """Return the initial states of some cases."""
        metrics = self.metrics
        return np.array(
            [
                metrics[k].states(self.cases[i])
                for i, k in zip(chosen, np.searchsorted(self.ends, chosen, "right"), strict=True)
            ]
        )

    def _alike(self, space: Space, initial: DeviceArray) -> Iterator[DeviceArray]:
        """Yield how much rows resemble the cases of each region, wherever they are."""
        rows = None
        for own, metric in zip(self.regions, self.metrics, strict=True):
            if rows is None or self.own is not None:
                rows = coordinates(space, metric, initial)
            yield resemblance(space, metric, rows, self.cases[own])

    def resemblance(self, space: Space, initial: DeviceArray) -> DeviceArray:
        """Return how much rows resemble each case of their region, and 0 for others; shape (n, n_cases)."""
        parts = zip(self._alike(space, initial), self.boxes.inside(space, initial), strict=True)
        return space.hstack([alike * inside for alike, inside in parts])

    def terms(self, space: Space, network: Network, initial: DeviceArray) -> Terms:
        """Return the raw class scores of rows with these initial states: cases, and what regions differ by."""
        none, base = np.zeros(0, dtype=np.intp), self.constants.mean(axis=0)
        added = self.remembered()(initial) - base if space.numpy else self._added(space, initial, base)
        return Terms(tuple, np.zeros((0, len(base))), none, none, base, added)

    def remembered(self) -> Remembered:
        """Return what cases and constants add in numpy."""
        regions = zip(self.metrics, self.regions, self.constants, strict=True)
        parts = ((metric, self.cases[own], self.coefficients[own], constant) for metric, own, constant in regions)
        return Remembered(parts, self.boxes.codes)

    def _added(self, space: Space, initial: DeviceArray, base: Array) -> DeviceArray:
        """Return the same less the base, in another library: every row is compared with the cases of all regions."""
        regions = zip(self._alike(space, initial), self.regions, self.constants, strict=True)
        added = (
            alike @ space.put(self.coefficients[own]) + space.put(constant - base) for alike, own, constant in regions
        )
        if len(self.ends) == 1:
            return next(added)
        inside = self.boxes.inside(space, initial)
        return reduce(add, (one * there for one, there in zip(added, inside, strict=True)))

    def outer(self, network: Network) -> tuple[Array, Array]:
        """Return no outer weights: the cases are not among them."""
        n_classes = self.coefficients.shape[1]
        return np.zeros((1, len(network.bias), n_classes)), np.zeros(n_classes)


Remembering = CaseReadout | RegionReadout
"""Readouts that remember rows."""
