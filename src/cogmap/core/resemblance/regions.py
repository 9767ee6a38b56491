"""Remembered rows with a learned metric, in regions: any number of rows, each compared with few.

The rows are cut into boxes, "hours is at most 40 and age is above 25", halves of halves along the concept that spreads
them most in the learned metric, until a box has at most `REGION_ROWS`. In each box the score is that of a kernel ridge
over its own rows,

    f(x) = q + Σ_i a_i exp(−‖x − v_i‖).

A table of few rows is one box. Nothing of the network's reasoning is in it: the stack has networks beside it.

Easy to get wrong: of few rows, leave-one-out scores are taken in the metric of the row's own fold (`metric`). Of many,
those that taught the metric are few, and all rows are judged in it; which kind of metric it is, the regions choose.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..constants import AXES_UNITS, CASE_PENALTIES, HOPELESS, METRIC_WORTH, REGION_ROWS, REGION_SHARE
from ..network.reasoning import Network
from ..readout.dual import descend
from ..readout.terms import Terms
from ..sums.space import DeviceArray, Space
from ..sums.threads import side_by_side
from ..types import Array, Codes
from .cases import CaseReadout, Dual, solve_dual
from .distance import Distance, Metric, coordinates, lower_kernel, resemblance
from .metric import Examples, LearnedMetric, learn_metrics, n_choosing, some_of
from .remembered import Remembered

BEYOND = 2.0
"""What lies beyond every state, which are from −1 to 1: the side of a box that is open."""

SIZING_ROWS = 500
"""Most rows of each region by which the size of distances along the axes is chosen."""

PENALTY_REGIONS = 3
"""Regions on which the penalty of all is chosen."""

COMPARED_REGIONS, ALIKE = (8, 24), 1.15
"""Regions on which ways to remember rows are compared; and on how many those whose errors are this near the least.

Eight regions of krkopt know the error to 7 %, and took the worse of two ways in two of five folds.
"""


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
class RegionReadout:
    """Cases in regions, one region after another: those of region k end at `ends[k]`.

    `coefficients` has a line for each case, `constants` for each region.
    """

    metric: Metric
    boxes: Boxes
    ends: Codes
    cases: Array
    coefficients: Array
    constants: Array

    @property
    def n_iter(self) -> int:
        """Number of iterations that it reads."""
        return 0

    @property
    def regions(self) -> list[slice]:
        """The cases of each region."""
        return [slice(a, b) for a, b in zip([0, *self.ends[:-1]], self.ends, strict=True)]

    def resemblance(self, space: Space, initial: DeviceArray) -> DeviceArray:
        """Return how much rows resemble each case of their region, and 0 for others; shape (n, n_cases)."""
        rows = coordinates(space, self.metric, initial)
        parts = zip(self.regions, self.boxes.inside(space, initial), strict=True)
        return space.hstack([resemblance(space, self.metric, rows, self.cases[own]) * inside for own, inside in parts])

    def terms(self, space: Space, network: Network, initial: DeviceArray) -> Terms:
        """Return the raw class scores of rows with these initial states: cases, and what regions differ by."""
        none, base = np.zeros(0, dtype=np.intp), self.constants.mean(axis=0)
        added = self.remembered()(initial) - base if space.numpy else self._added(space, initial, base)
        return Terms(tuple, np.zeros((0, len(base))), none, none, base, added)

    def remembered(self) -> Remembered:
        """Return what cases and constants add in numpy."""
        regions = zip(self.regions, self.constants, strict=True)
        parts = ((self.cases[own], self.coefficients[own], constant) for own, constant in regions)
        return Remembered(self.metric, parts, self.boxes.codes)

    def _added(self, space: Space, initial: DeviceArray, base: Array) -> DeviceArray:
        """Return the same less the base, in another library: every row is compared with the cases of all regions."""
        rows, regions = coordinates(space, self.metric, initial), self.regions

        def of_region(k: int) -> DeviceArray:
            alike, pull = resemblance(space, self.metric, rows, self.cases[regions[k]]), self.coefficients[regions[k]]
            return alike @ space.put(pull) + space.put(self.constants[k] - base)

        if len(regions) == 1:
            return of_region(0)
        inside = self.boxes.inside(space, initial)
        return sum((of_region(k) * inside[k] for k in range(1, len(regions))), start=of_region(0) * inside[0])

    def outer(self, network: Network) -> tuple[Array, Array]:
        """Return no outer weights: the cases are not among them."""
        n_classes = self.coefficients.shape[1]
        return np.zeros((1, len(network.bias), n_classes)), np.zeros(n_classes)


Remembering = CaseReadout | RegionReadout
"""Readouts that remember rows."""


class RegionFit(NamedTuple):
    """A readout, its scores of the training rows from inside and outside, and what was chosen."""

    readout: RegionReadout
    fitted: Array
    outside: Array
    alpha: float
    condition: float
    degrees_of_freedom: float


def fit_regions(rows: Examples, codes: Codes, unit: Array, distance: Distance = "straight") -> RegionFit:
    """Learn a metric, cut the rows into regions, and fit their cases."""
    return best_way(ways(rows, codes, unit, distance)).fit()


class Way(NamedTuple):
    """Rows in regions of a metric: their problems in it, those that judge, fold by fold, and the penalty of all."""

    rows: Examples
    metric: Metric
    boxes: Boxes
    problems: "list[Problem]"
    folds: "list[list[Problem]]"
    penalty: int

    def error(self, n_regions: int) -> float:
        """Return the leave-one-out error of a row, of at most so many regions."""
        asked = [problem for fold in self.folds for problem in fold[:: -(-len(fold) // n_regions)]]
        weight = sum(float(problem.weight[problem.first :].sum()) for problem in asked)
        return sum(side_by_side(lambda problem: problem.error(self.penalty), asked)) / weight

    def aimed(self, target: Array) -> "Way":
        """Return the same way for another target of the rows."""
        rows = self.rows._replace(target=target)
        problems = [replace(problem, all_rows=rows, known={}) for problem in self.problems]
        judges = [[replace(problem, all_rows=rows, known={}) for problem in fold] for fold in self.folds]
        # Where no folds judge, all problems do, and are solved once.
        own = self.folds[0] is self.problems
        return self._replace(rows=rows, problems=problems, folds=[problems] if own else judges)

    def fit(self) -> RegionFit:
        """Fit the cases of all regions."""
        target, weight, penalty = self.rows.target, self.rows.weight, self.penalty
        outside, fitted = np.zeros_like(target), np.zeros_like(target)
        judges = [problem for fold in self.folds for problem in fold]
        for problem, dual in zip(judges, side_by_side(lambda one: one.solved(penalty), judges), strict=True):
            outside[problem.rows[problem.first :]] = dual.outside
        duals = list(side_by_side(lambda problem: problem.solved(penalty), self.problems))
        members = [problem.rows for problem in self.problems]
        fitted[np.concatenate(members)] = np.concatenate([dual.fitted for dual in duals])
        readout = RegionReadout(
            self.metric,
            self.boxes,
            np.cumsum([len(own) for own in members]),
            np.concatenate([problem.cases for problem in self.problems]),
            np.concatenate([dual.coefficients for dual in duals]),
            np.array([dual.constant for dual in duals]),
        )
        # As the rows are judged: each is in the trace of one fold.
        alpha, free = float(CASE_PENALTIES[penalty]), sum(one.solved(penalty).degrees_of_freedom for one in judges)
        # The kernel's largest eigenvalue is below its trace, which is the number of cases.
        condition = (max(map(len, members)) + alpha / weight.min()) / (alpha / weight.max())
        return RegionFit(readout, fitted, outside, alpha, float(condition), free)


def ways(rows: Examples, codes: Codes, unit: Array, distance: Distance) -> list[Way]:
    """Return the ways to remember rows by a distance: of few rows one."""
    return [_cut_up(rows, unit, learned) for learned in learn_metrics(rows, codes, distance)]


def best_way(tried: Sequence[Way]) -> Way:
    """Return the way of the least error; it does not matter in which concepts each is."""
    for n_regions in COMPARED_REGIONS:
        if len(tried) == 1:
            break
        errors = [way.error(n_regions) for way in tried]
        best = tried[int(np.argmin(errors))]
        tried = [way for way, error in zip(tried, errors, strict=True) if error <= ALIKE * min(errors)]
        tried = [best, *(way for way in tried if way is not best)]
    return tried[0]


def _cut_up(rows: Examples, unit: Array, learned: LearnedMetric) -> Way:
    """Cut rows into regions of a metric; choose a penalty, and of distances along axes how large they are."""
    boxes = cut_boxes(rows.initial, (learned.metric.map**2).sum(axis=1))
    region = boxes.codes(rows.initial)
    members = [np.flatnonzero(region == k) for k in range(len(boxes.low))]
    if learned.metric.distance == "straight":
        return _stated(rows, unit, boxes, members, learned)[1]
    few = [some_of(own, SIZING_ROWS) for own in members]
    # Some rows suffice to say how large distances are; where they are all rows, their way is that of all.
    least, best = _stated(rows, unit, boxes, few, learned)
    for factor in AXES_UNITS[1:]:
        larger = learned.times(factor)._replace(penalty=best.penalty)
        error, way = _stated(rows, unit, boxes, few, larger, HOPELESS * least)
        if not error < least:
            break
        least, best = error, way
    if sum(map(len, few)) == len(rows.weight):
        return best
    factor = float(best.metric.map.max() / learned.metric.map.max())
    return _stated(rows, unit, boxes, members, learned.times(factor)._replace(penalty=best.penalty))[1]


def _stated(
    rows: Examples,
    unit: Array,
    boxes: Boxes,
    members: Sequence[Codes],
    learned: LearnedMetric,
    hopeless: float = np.inf,
) -> tuple[float, Way]:
    """Return the rows in regions, with the best penalty, and the error that chose it.

    None is looked for where the metric's own has an error that is hopeless.
    """
    # Where folds judge, nothing is left out of the fit itself.
    none = np.empty(0, dtype=np.intp) if learned.folds else None
    problems = [Problem.of(rows, unit, own, learned.metric, none) for own in members]
    # Every row is judged once: in the metric that it had no part in, or in that of all where rows are many.
    folds = [
        [Problem.of(rows, unit, own, metric, judged) for own in members if np.isin(own, judged).any()]
        for judged, metric in learned.folds
    ] or [problems]
    error, penalty = _penalty(folds, learned.penalty, hopeless)
    return error, Way(rows, learned.metric, boxes, problems, folds, penalty)


@dataclass(frozen=True)
class Problem:
    """The kernel ridge of a region: where its rows are among all, and a metric; it judges the rows from `first` on.

    Coordinates are computed when they are needed: of many rows and several metrics they would take most of the memory.
    """

    all_rows: Examples
    all_units: Array
    rows: Codes
    metric: Metric
    first: int
    known: dict[int, Dual]

    @classmethod
    def of(cls, rows: Examples, unit: Array, own: Codes, metric: Metric, judged: Codes | None = None) -> "Problem":
        """State it for some rows."""
        if judged is None:
            return cls(rows, unit, own, metric, 0, {})
        judges = np.isin(own, judged)
        # Rows that it judges are the last: to leave them out takes the less, the fewer come after the first of them.
        return cls(rows, unit, np.r_[own[~judges], own[judges]], metric, int((~judges).sum()), {})

    @property
    def cases(self) -> Array:
        """The rows' coordinates in the metric."""
        return self.metric(self.all_rows.initial[self.rows])

    @property
    def weight(self) -> Array:
        """The rows' weights."""
        return self.all_rows.weight[self.rows]

    def solved(self, penalty: int, kernel: Array | None = None) -> Dual:
        """Solve it for a candidate of the penalty, once; the kernel may be given where it is known."""
        if penalty not in self.known:
            K = lower_kernel(self.metric, self.cases) if kernel is None else kernel.copy()
            target, unit = self.all_rows.target[self.rows], self.all_units[self.rows]
            self.known[penalty] = solve_dual(K, target, self.weight, unit, CASE_PENALTIES[penalty], self.first)
        return self.known[penalty]

    def error(self, penalty: int, kernel: Array | None = None) -> float:
        """Return the leave-one-out squared error of the rows that it judges."""
        target = self.all_rows.target[self.rows[self.first :]]
        missed = ((target - self.solved(penalty, kernel).outside) ** 2).sum(axis=1)
        return float(self.weight[self.first :] @ missed)


def _penalty(folds: list[list[Problem]], start: int, hopeless: float) -> tuple[float, int]:
    """Walk from one penalty to the least leave-one-out error, on some of the regions and as few folds as suffice.

    Return that error, and the penalty.
    """
    n_folds = n_choosing([sum(len(problem.rows) - problem.first for problem in fold) for fold in folds])
    asked = [problem for fold in folds[:n_folds] for problem in fold[:: -(-len(fold) // PENALTY_REGIONS)]]
    # Few enough to keep their kernels from one penalty to the next.
    kernels = list(side_by_side(lambda problem: lower_kernel(problem.metric, problem.cases), asked))

    def error(penalty: int) -> float:
        return sum(side_by_side(lambda one: one[0].error(penalty, one[1]), zip(asked, kernels, strict=True)))

    best = descend(error, len(CASE_PENALTIES), start, METRIC_WORTH, hopeless)
    return error(best), best
