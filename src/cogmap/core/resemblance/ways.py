"""Ways to remember rows in regions: a metric, the kernel ridge of each region in it, and the penalty of all.

Every row is judged once, by leave-one-out in a metric that it had no part in, or of many rows in one that few of them
taught. Judges choose how large distances are, and whether straight ones are squared, of many rows the penalty and which
of several ways saves most, and whether regions have metrics of their own: then the rows of each have taught it further,
half of them for the other half.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import NamedTuple, TypeVar

import numpy as np

from ..constants import (
    CASE_PENALTIES,
    HOPELESS,
    METRIC_GROUP,
    METRIC_ROUNDS,
    METRIC_WORTH,
    UNITS,
)
from ..readout.dual import descend
from ..sums.threads import side_by_side
from ..types import Array, Codes
from .cases import Dual, solve_dual
from .distance import Distance, Metric, lower_kernel
from .metric import (
    Examples,
    Hearing,
    LearnedMetric,
    learn_metrics,
    mean_metric,
    n_choosing,
    some_of,
    spread,
    taught_further,
)
from .regions import Boxes, OwnMetrics, RegionReadout, cut_boxes

One = TypeVar("One")

HEARD: dict[Distance, tuple[Distance, ...]] = {"squared": ("squared", "straight"), "axes": ("axes",)}
"""What distances may be heard as, and how large, by those that taught the metric; straight ones stay as they are."""

SIZING_ROWS = 500
"""Most rows of each region by which kind and size of distances are chosen."""

COMPARED_REGIONS, COMPARED_ROWS, ALIKE = (4, 8), 1500, 0.9
"""Regions on which ways to remember many rows are compared, and penalties chosen; most rows of each that are asked; and
on the second number of regions those that save at least this share of what the best one does are compared again."""

LOOK = 0.003
"""Least share of the squared error that remembered rows must save, on the first of these, for all to be fitted."""


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

    @cached_property
    def compared(self) -> "Problem":
        """The same for no more rows than choices ask for."""
        if len(self.rows) <= COMPARED_ROWS:
            return self
        at = some_of(np.arange(len(self.rows)), COMPARED_ROWS)
        return replace(self, rows=self.rows[at], first=int(np.searchsorted(at, self.first)), known={})

    def taught_further(self, penalty: int, rounds: int, hearing: Hearing) -> "Problem":
        """Return the same in a metric that rows which do not judge teach further."""
        teachers = some_of(self.rows[: self.first], METRIC_GROUP)
        metric = taught_further(self.all_rows.some(teachers), hearing.learned(self.metric), penalty, rounds)
        return replace(self, metric=hearing.of(metric), known={})

    def in_mean(self, judges: "Sequence[Problem]", hearing: Hearing) -> "Problem":
        """Return the problem, which judges none, in the mean of metrics."""
        metric = mean_metric(self.all_rows.some(self.rows), [judge.metric for judge in judges])
        return replace(self, metric=hearing.of(metric), first=len(self.rows), known={})

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


Judges = Sequence[Problem]
"""Problems of one region, one for each fold of its rows."""


class RegionFit(NamedTuple):
    """A readout, its scores of the training rows from inside and outside, and what was chosen."""

    readout: RegionReadout
    fitted: Array
    outside: Array
    alpha: float
    condition: float
    degrees_of_freedom: float


class Way(NamedTuple):
    """Rows in regions of a metric: their problems in it, those that judge, fold by fold, and the penalty of all.

    `hearing` says how distances in the metric that was learned are heard, and `lesson` the penalty it was taught with.
    `beside` are problems of rows on which several ways are compared, where rows are many.
    """

    rows: Examples
    metric: Metric
    boxes: Boxes
    problems: list[Problem]
    folds: list[list[Problem]]
    penalty: int
    hearing: Hearing
    lesson: int
    beside: list[Problem]

    @property
    def in_folds(self) -> bool:
        """Whether rows are judged in folds, because they are few."""
        return self.folds[0] is not self.problems

    def gain(self, known: Array, n_regions: int) -> float:
        """Return the share of the squared error of known scores that is saved where rows are remembered beside them.

        It is that of at most so many regions, with the best weight of both.
        """
        asked = self.beside[:n_regions]
        if not asked:
            asked = [problem.compared for fold in self.folds for problem in _spread_out(fold, n_regions)]
        duals = side_by_side(lambda problem: problem.solved(self.penalty), asked)
        outside = np.concatenate([dual.outside for dual in duals])
        rows = np.concatenate([problem.rows[problem.first :] for problem in asked])
        left, apart = self.rows.target[rows] - known[rows], outside - known[rows]

        def inner(one: Array, other: Array) -> float:
            return float(self.rows.weight[rows] @ (one * other).sum(axis=1))

        total, along, length = inner(left, left), inner(left, apart), inner(apart, apart)
        share = min(max(along / length, 0.0), 1.0) if length > 0 else 0.0
        return share * (2 * along - share * length) / total if total > 0 else 0.0

    def penalised(self) -> "Way":
        """Return the same with the best penalty."""
        return self._replace(penalty=_penalty(self.folds, self.penalty)[1])

    def refined(self, codes: Codes) -> "Way":
        """Return the same regions with metrics of their own where these err less: the rows of each teach it further.

        A few regions say in how many rounds, if any. Distances along the axes gain nothing by it.
        """
        regions = self._judges(codes) if len(self.problems) > 1 and self.metric.distance != "axes" else []
        if not regions:
            return self

        def taught(regions: Sequence[Judges], rounds: int) -> list[Judges]:
            def further(judges: Judges) -> Judges:
                return [judge.taught_further(self.lesson, rounds, self.hearing) for judge in judges]

            return list(side_by_side(further, regions))

        def error(regions: Sequence[Judges]) -> float:
            return sum(side_by_side(lambda judges: sum(judge.error(self.penalty) for judge in judges), regions))

        some: list[Judges] = list(_spread_out(regions, COMPARED_REGIONS[1]))
        if not self.in_folds:
            # Rows that are judged in folds are few, and so are those who teach: none can be spared.
            some = [[judge.compared for judge in judges] for judges in some]
        least, rounds = error(some), 0
        while rounds < METRIC_ROUNDS:
            some = taught(some, 1)
            found = error(some)
            if not found < (1 - METRIC_WORTH) * least:
                break
            least, rounds = found, rounds + 1
        if rounds == 0:
            return self
        regions = taught(regions, rounds)
        parts = zip(self.problems, regions, strict=True)
        problems = [problem.in_mean(judges, self.hearing) for problem, judges in parts]
        return self._replace(problems=problems, folds=[list(fold) for fold in zip(*regions, strict=True)]).penalised()

    def _judges(self, codes: Codes) -> list[Judges]:
        """Return for each region those of its problems that judge, fold by fold; without folds, halves of the rows.

        None where a fold of some region has no row to judge, or the others none to teach.
        """
        folds = self.folds
        if not self.in_folds:
            halves = [spread(codes)[k::2] for k in range(2)]
            parts = [[(problem.rows, problem.metric, half) for problem in self.problems] for half in halves]
            unit = self.problems[0].all_units
            folds = [[Problem.of(self.rows, unit, *part) for part in fold] for fold in parts]
        enough = all(0 < one.first < len(one.rows) for fold in folds for one in fold)
        return list(zip(*folds, strict=True)) if enough and {*map(len, folds)} == {len(self.problems)} else []

    def aimed(self, target: Array) -> "Way":
        """Return the same way for another target of the rows."""
        rows = self.rows._replace(target=target)
        problems = [replace(problem, all_rows=rows, known={}) for problem in self.problems]
        judges = [[replace(problem, all_rows=rows, known={}) for problem in fold] for fold in self.folds]
        # Where no folds judge, all problems do, and are solved once.
        return self._replace(rows=rows, problems=problems, folds=judges if self.in_folds else [problems], beside=[])

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
            self._own(),
        )
        # As the rows are judged: each is in the trace of one fold.
        alpha, free = float(CASE_PENALTIES[penalty]), sum(one.solved(penalty).degrees_of_freedom for one in judges)
        # The kernel's largest eigenvalue is below its trace, which is the number of cases.
        condition = (max(map(len, members)) + alpha / weight.min()) / (alpha / weight.max())
        return RegionFit(readout, fitted, outside, alpha, float(condition), free)

    def _own(self) -> OwnMetrics | None:
        """Return the metrics of the regions where they are not that of all."""
        metrics = [problem.metric for problem in self.problems]
        if metrics[0] is self.metric:
            return None
        return OwnMetrics(np.array([one.mean for one in metrics]), np.array([one.map for one in metrics]))


def ways(rows: Examples, codes: Codes, unit: Array, distance: Distance, first: Way | None = None) -> list[Way]:
    """Return the ways to remember rows by a distance: of few rows one.

    Of many rows all are compared with the first one, which may be in other concepts, on the same rows: some of those of
    its regions. Regions of one way are not those of another, and some are easier than others.
    Penalties are those that metrics were learned with, by the rows that judged them, or that some rows chose. Where
    rows are few, another walk from there costs 4 % and changes nothing (accuracy −.0002, log loss −.0001 on 40 sets).
    """
    found = [_cut_up(rows, unit, learned) for learned in learn_metrics(rows, codes, distance)]
    if found[0].in_folds:
        return found
    some = _spread_out((first or found[0]).problems, COMPARED_REGIONS[1])
    # The first of these are spread out too.
    apart = [some_of(problem.rows, COMPARED_ROWS) for problem in (*some[::2], *some[1::2])]
    return [way._replace(beside=[Problem.of(rows, unit, own, way.metric) for own in apart]) for way in found]


def worth_fitting(tried: Sequence[Way], known: Array) -> bool:
    """Say whether rows are few, or one of the ways to remember them saves enough of the error of known scores."""
    return any(way.in_folds or way.gain(known, COMPARED_REGIONS[0]) >= LOOK for way in tried)


def best_way(tried: Sequence[Way], known: Array) -> Way:
    """Return the way that saves most of the error of known scores."""
    few, more = COMPARED_REGIONS
    if not tried[0].in_folds:
        gains = [way.gain(known, few) for way in tried]
        tried = [way.penalised() for way, gain in zip(tried, gains, strict=True) if gain >= ALIKE * max(gains)]
    return tried[0] if len(tried) == 1 else max(tried, key=lambda way: way.gain(known, more))


def _cut_up(rows: Examples, unit: Array, learned: LearnedMetric) -> Way:
    """Cut rows into regions of a metric, and choose how distances in it are heard."""
    boxes = cut_boxes(rows.initial, (learned.metric.map**2).sum(axis=1))
    region = boxes.codes(rows.initial)
    members = [np.flatnonzero(region == k) for k in range(len(boxes.low))]
    taught = learned.metric.distance
    if taught not in HEARD:
        return _stated(rows, unit, boxes, members, learned, Hearing(taught), learned.penalty)
    # Some rows suffice to choose; where they are all rows, their way is that of all.
    few, tried = [some_of(own, SIZING_ROWS) for own in members], list[tuple[float, Way]]()

    def best() -> tuple[float, Way]:
        return min(tried, key=lambda one: one[0])

    def error(distance: Distance, place: int) -> float:
        least, penalty = (best()[0], best()[1].penalty) if tried else (np.inf, learned.penalty)
        way = _stated(rows, unit, boxes, few, learned, Hearing(distance, UNITS[place]), penalty)
        found, penalty = _penalty(way.folds, penalty, HOPELESS * least)
        tried.append((found, way._replace(penalty=penalty)))
        return found

    place, hopeless = 0, np.inf
    for distance in HEARD[taught]:
        # One distance is heard best at about the size of the other.
        descend(partial(error, distance), len(UNITS), place, hopeless=hopeless)
        place, hopeless = UNITS.index(best()[1].hearing.size), HOPELESS * best()[0]
    way = best()[1]
    if sum(map(len, few)) == len(rows.weight):
        return way
    return _stated(rows, unit, boxes, members, learned, way.hearing, way.penalty)


def _stated(
    rows: Examples,
    unit: Array,
    boxes: Boxes,
    members: Sequence[Codes],
    learned: LearnedMetric,
    hearing: Hearing,
    penalty: int,
) -> Way:
    """Return the rows in regions."""
    # Where folds judge, nothing is left out of the fit itself.
    none, heard = np.empty(0, dtype=np.intp) if learned.folds else None, learned.heard(hearing)
    problems = [Problem.of(rows, unit, own, heard.metric, none) for own in members]
    # Every row is judged once: in the metric that it had no part in, or in that of all where rows are many.
    folds = [
        [Problem.of(rows, unit, own, metric, judged) for own in members if np.isin(own, judged).any()]
        for judged, metric in heard.folds
    ] or [problems]
    return Way(rows, heard.metric, boxes, problems, folds, penalty, hearing, learned.penalty, [])


def _spread_out(regions: Sequence[One], most: int) -> Sequence[One]:
    """Return at most so many of what there is one of for each region, evenly from all."""
    return regions[:: -(-len(regions) // most)]


def _penalty(folds: list[list[Problem]], start: int, hopeless: float = np.inf) -> tuple[float, int]:
    """Walk from one penalty to the least leave-one-out error, on some of the regions and as few folds as suffice.

    Return that error, and the penalty. None is looked for where that of the start has an error that is hopeless.
    """
    n_folds = n_choosing([sum(len(problem.rows) - problem.first for problem in fold) for fold in folds])
    asked = [problem.compared for fold in folds[:n_folds] for problem in _spread_out(fold, COMPARED_REGIONS[0])]
    # Few enough to keep their kernels from one penalty to the next.
    kernels = list(side_by_side(lambda problem: lower_kernel(problem.metric, problem.cases), asked))

    def error(penalty: int) -> float:
        return sum(side_by_side(lambda one: one[0].error(penalty, one[1]), zip(asked, kernels, strict=True)))

    best = descend(error, len(CASE_PENALTIES), start, METRIC_WORTH, hopeless)
    return error(best), best
