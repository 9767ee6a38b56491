"""A metric of distance that the classes teach.

A kernel ridge f(x) = q + Σ_i a_i exp(−d(x, v_i)) is fitted in some metric. The average outer product of its gradients,
Σ_x ∇f(x) ∇f(x)ᵀ, says along which directions the classes change; its square root is the map to the coordinates of the
next metric, in which the ridge is fitted again. Radhakrishnan and others call this recursive feature machines. A metric
of the axes takes the whole of it instead of its root, at first and for as long as rounds save much.

d is a distance as `distance` has them; a metric of the axes stretches single concepts: turned axes would be no
concepts. What squares of many rows teach, whose scores are smooth, serves straight distances too, and better than what
these teach: which of both is heard, the rows choose afterwards (`ways`).

Which directions count (all, or those of single concepts), how many rounds, and the penalty are chosen by the error on
rows that the metric has not seen. Few rows are judged in folds, each with a metric that the other folds taught; the
first folds choose, as many as have rows enough, and the metrics of the others follow; that of all rows is their mean.
Of many rows some are drawn: one group judges the metric that the other teaches. Many rows have nearer neighbours than
those that are drawn, and directions of any kind serve far ones: so both kinds are handed on, for the regions to choose.

Easy to get wrong: leave-one-out in the last metric is blind, because the metric has seen the class of the row. Hence
the folds, whose metrics are handed on: leave-one-out in the metric of its fold is honest for a row
(`benchmarks/honesty.py`).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from ..constants import (
    AXES_ROWS,
    CASE_PENALTIES,
    CASE_RIDGES,
    CASE_START,
    METRIC_CONCEPTS,
    METRIC_FLOOR,
    METRIC_FOLDS,
    METRIC_GAIN,
    METRIC_GRADIENTS,
    METRIC_GROUP,
    METRIC_JUDGES,
    METRIC_ROUNDS,
    METRIC_ROWS,
    METRIC_WORTH,
    SQUARE_ROWS,
)
from ..readout.dual import follow
from ..sums.lapack import dpotrf, dpotrs
from ..sums.space import NUMPY
from ..sums.threads import side_by_side
from ..types import Array, Codes
from .distance import Distance, Metric, kernel, resemblance

NEAR = 1e-9
"""Distance below which two rows are one: the gradient of their resemblance has no direction."""

HUGE = 2.0**600
"""What makes any difference of two coordinates larger than 1, and rounds none."""

DEPENDENT = 1e-14
"""Share of the largest squared length of coefficients below which a combination of classes is rounding."""

STEP = float(np.log(CASE_PENALTIES[1] / CASE_PENALTIES[0]))
"""From one candidate of the penalty to the next, in its logarithm."""


class Kind(NamedTuple):
    """Whether a metric stretches single concepts alone, and which distances teach it."""

    single: bool
    distance: Distance = "squared"


class Examples(NamedTuple):
    """Rows to learn from: initial states, target scores and weights."""

    initial: Array
    target: Array
    weight: Array

    def some(self, rows: Codes) -> "Examples":
        """Return some of them."""
        return Examples(*(part[rows] for part in self))


class LearnedMetric(NamedTuple):
    """A metric, the candidate of its penalty, and for each fold its rows and the metric that the other rows taught.

    There are no folds where rows are many.
    """

    metric: Metric
    penalty: int
    folds: list[tuple[Codes, Metric]]

    def heard(self, hearing: "Hearing") -> "LearnedMetric":
        """Return the same with distances as they are heard."""
        folds = [(rows, hearing.of(taught)) for rows, taught in self.folds]
        return self._replace(metric=hearing.of(self.metric), folds=folds)


class Hearing(NamedTuple):
    """How distances in a learned metric are heard: of which kind they are, and how many times as large."""

    distance: Distance
    size: float = 1.0

    def of(self, learned: Metric) -> Metric:
        """Return the metric of such distances."""
        return replace(learned, map=self.size * learned.map, distance=self.distance)

    def learned(self, heard: Metric) -> Metric:
        """Return the metric that was learned, by squares of straight distances."""
        return replace(heard, map=heard.map / self.size, distance="squared")


class Lesson(NamedTuple):
    """Rows that teach a metric, and rows that judge it."""

    taught: Examples
    judged: Examples


def learn_metrics(rows: Examples, codes: Codes, distance: Distance) -> list[LearnedMetric]:
    """Learn a metric of a distance from rows that are in an order of their own; of many rows one of each kind."""
    n, order = len(codes), spread(codes)
    few: Distance = "straight" if n < SQUARE_ROWS else "squared"
    kinds = _kinds(rows, distance if distance == "axes" else few)
    n_folds = min(next((folds for most, folds in METRIC_FOLDS.items() if n <= most), 0), n)
    if not n_folds:
        groups = [_groups(rows, order)]
        walks = side_by_side(lambda kind: _walk(groups, kind), kinds)
        return [LearnedMetric(walk.metrics[0], walk.penalties[-1], []) for walk in walks]
    judges = [order[k::n_folds] for k in range(n_folds)]
    others = (np.delete(order, np.s_[k::n_folds]) for k in range(n_folds))
    lessons = [
        Lesson(rows.some(some_of(taught)), rows.some(some_of(own))) for taught, own in zip(others, judges, strict=True)
    ]
    # The first folds choose, if their rows are enough; the metrics of the others follow.
    n_asked = n_choosing([len(own) for own in judges])
    walks = side_by_side(lambda kind: _walk(lessons[:n_asked], kind), kinds)
    best = min(walks, key=lambda walk: walk.error)
    following = side_by_side(lambda lesson: _followed(lesson.taught, best), lessons[n_asked:])
    metrics = [*best.metrics, *following]
    metric = mean_metric(rows, metrics) if best.powers else first_metric(rows, best.kind)
    return [LearnedMetric(metric, best.penalties[-1], list(zip(judges, metrics, strict=True)))]


def n_choosing(sizes: Sequence[int]) -> int:
    """Return how many of the first folds have rows enough to choose by, given the rows of each."""
    return next((k for k in range(1, len(sizes)) if sum(sizes[:k]) >= METRIC_JUDGES), len(sizes))


def some_of(order: Codes, most: int = METRIC_ROWS) -> Codes:
    """Return at most so many rows, evenly from all."""
    return order[np.linspace(0, len(order) - 1, min(len(order), most)).astype(np.intp)]


def spread(codes: Codes) -> Codes:
    """Return the rows in an order of which every k-th row is a sample spread over the classes."""
    order = np.random.default_rng(0).permutation(len(codes))
    return order[np.argsort(codes[order], kind="stable")]


def _groups(rows: Examples, order: Codes) -> Lesson:
    """Draw two groups of rows, each spread over the classes."""
    drawn = some_of(order, 2 * METRIC_GROUP)
    return Lesson(rows.some(drawn[::2]), rows.some(drawn[1::2]))


class Walk(NamedTuple):
    """The best round of a walk: error of those who judge, metrics of the lessons, and what led to it.

    That is the penalty of each round, and the power of the directions by which the next was stretched.
    """

    error: float
    metrics: list[Metric]
    penalties: list[int]
    powers: list[float]
    kind: Kind


def _kinds(rows: Examples, teaching: Distance) -> list[Kind]:
    """Return the kinds of metrics to try: along all directions too, unless concepts are many or axes are theirs."""
    turned = teaching != "axes" and rows.initial.shape[1] <= METRIC_CONCEPTS
    return [Kind(single, teaching) for single in ((False, True) if turned else (True,))]


def _walk(lessons: Sequence[Lesson], kind: Kind) -> Walk:
    """Teach the metrics of all lessons, round by round, for as long as those who judge gain."""
    metrics = [first_metric(lesson.taught, kind) for lesson in lessons]
    best, penalties, powers = Walk(np.inf, metrics, [], [], kind), [CASE_START], list[float]()
    for _ in range(METRIC_ROUNDS + 1):
        ridges = list(
            side_by_side(lambda one: Ridge.of(one[0].taught, one[1], one[0].judged), zip(lessons, metrics, strict=True))
        )
        error, penalty, coefficients = _penalised(ridges, penalties[-1])
        penalties.append(penalty)
        if not error < best.error:
            break
        far = kind.distance == "axes" and error < (1 - METRIC_GAIN) * best.error
        best = Walk(error, metrics, penalties[1:], list(powers), kind)
        powers.append(1.0 if far else 0.5)
        directions = side_by_side(
            lambda one: one[0].directions(one[1], kind.single), zip(ridges, coefficients, strict=True)
        )
        metrics = [
            taught_metric(ridge.rows, own, kind, powers[-1]) for ridge, own in zip(ridges, directions, strict=True)
        ]
    return best


class Judgement(NamedTuple):
    """Squared error of those who judge, its slope from one candidate penalty to the next, and the coefficients."""

    error: float
    slope: float
    coefficients: Array


def taught_further(rows: Examples, metric: Metric, penalty: int, rounds: int) -> Metric:
    """Teach rows another metric of squared distances in so many rounds, which begin with this one."""
    kind = _kinds(rows, metric.distance)[0]
    for _ in range(rounds):
        ridge = Ridge.of(rows, metric)
        metric = taught_metric(rows, ridge.directions(ridge.coefficients(penalty)[0], kind.single), kind, 0.5)
    return metric


def _followed(rows: Examples, walk: Walk) -> Metric:
    """Teach rows a metric in as many rounds as a walk had, with its penalties."""
    metric = first_metric(rows, walk.kind)
    for penalty, power in zip(walk.penalties[:-1], walk.powers, strict=True):
        ridge = Ridge.of(rows, metric)
        directions = ridge.directions(ridge.coefficients(penalty)[0], walk.kind.single)
        metric = taught_metric(rows, directions, walk.kind, power)
    return metric


def _penalised(ridges: "Sequence[Ridge]", start: int) -> tuple[float, int, list[Array]]:
    """Walk from one penalty to the least error of all who judge; return it, the penalty and the coefficients."""
    known: dict[int, list[Judgement]] = {}

    def judge(place: tuple[int, ...]) -> tuple[float, list[float]]:
        (penalty,) = place
        known[penalty] = list(side_by_side(lambda ridge: ridge.judgement(penalty), ridges))
        return sum(one.error for one in known[penalty]), [sum(one.slope for one in known[penalty])]

    (best,) = follow(judge, [len(CASE_PENALTIES)], (start,), METRIC_WORTH)
    return sum(one.error for one in known[best]), best, [one.coefficients for one in known[best]]


@dataclass(frozen=True)
class Ridge:
    """A kernel ridge in a metric: its rows, their resemblance to each other, and that of rows that judge to them."""

    rows: Examples
    metric: Metric
    coordinates: Array
    kernel: Array
    judged: Examples | None
    seen: Array | None

    @classmethod
    def of(cls, rows: Examples, metric: Metric, judged: Examples | None = None) -> "Ridge":
        """Compare the rows in a metric."""
        Z = metric(rows.initial)
        seen = None if judged is None else resemblance(NUMPY, metric, metric(judged.initial), Z)
        return cls(rows, metric, Z, kernel(metric, Z), judged, seen)

    def coefficients(self, penalty: int) -> tuple[Array, Array]:
        """Return the dual coefficients for a candidate of the penalty, and the constant."""
        return self._solver(penalty)(self.rows.target)

    def judgement(self, penalty: int) -> Judgement:
        """Return what those who judge say of a candidate of the penalty."""
        assert self.judged is not None
        assert self.seen is not None
        solve, weight = self._solver(penalty), self.judged.weight[:, None]
        coefficients, constant = solve(self.rows.target)
        # With (K + α W⁻¹) a + q = y, what a and q change by along log α solves the same system for −α W⁻¹ a.
        moved, constant_moved = solve(-(CASE_PENALTIES[penalty] / self.rows.weight)[:, None] * coefficients)
        left = constant + self.seen @ coefficients - self.judged.target
        error, slope = (weight * left * left).sum(), 2 * (weight * left * (constant_moved + self.seen @ moved)).sum()
        return Judgement(float(error), float(slope) * STEP, coefficients)

    def _solver(self, penalty: int) -> Callable[[Array], tuple[Array, Array]]:
        """Return the function of y that gives a and q with (K + α W⁻¹) a + q = y and Σa = 0."""
        n = len(self.kernel)
        K = self.kernel.copy()
        K[np.diag_indices(n)] += CASE_PENALTIES[penalty] / self.rows.weight
        factor, _ = dpotrf(K.T, lower=0, overwrite_a=1, clean=0)

        def solve(target: Array) -> tuple[Array, Array]:
            solved = dpotrs(factor, np.column_stack([np.ones(n), target]), lower=0)[0]
            ones, own = solved[:, 0], solved[:, 1:]
            constant = ones @ target / ones.sum()
            return own - np.outer(ones, constant), constant

        return solve

    def directions(self, coefficients: Array, single: bool) -> Array:
        """Return Σ w ∇f ∇fᵀ over classes and at most so many rows, with respect to the initial states; shape (M, M).

        Of a metric that stretches single concepts the diagonal is all that is asked for, and the rest is 0.
        """
        n, n_classes = coefficients.shape
        most = next(gradients for rows, gradients in METRIC_GRADIENTS.items() if n <= rows)
        at, L, combined = some_of(np.arange(n), max(most // n_classes, 1)), self.metric.map, _combined(coefficients)
        if self.metric.distance == "axes":
            return L @ np.diag(self._along_axes(some_of(at, AXES_ROWS), combined)) @ L.T
        pull, root, Z = self._pull(at), np.sqrt(self.rows.weight[at])[:, None], self.coordinates
        total = np.zeros(L.shape)
        for own in combined.T:
            pulled = pull @ np.column_stack([own[:, None] * Z, own])
            gradient = root * (pulled[:, :-1] - pulled[:, -1:] * Z[at])
            if single:
                total[np.diag_indices_from(total)] += np.einsum("ij,ij->j", gradient, gradient)
            else:
                total += gradient.T @ gradient
        return L @ total @ L.T

    def _along_axes(self, at: Codes, combined: Array) -> Array:
        """Return Σ w (∂f / ∂z_j)² over combinations of classes and some rows, for each coordinate z_j; shape (M,)."""
        kernel, weight, squared = self.kernel[at], self.rows.weight[at], []
        pull = np.empty_like(kernel)
        for z in self.coordinates.T * HUGE:
            # Rows that agree in a coordinate pull neither way along it.
            np.clip(np.subtract(z[at, None], z, out=pull), -1.0, 1.0, out=pull)
            slope = np.multiply(pull, kernel, out=pull) @ combined
            squared.append(weight @ np.einsum("ij,ij->i", slope, slope))
        return np.array(squared)

    def _pull(self, at: Codes) -> Array:
        """Return the factor of the difference of two rows in the gradient of their resemblance, of some rows to all.

        It is exp(−d) / d of straight distances, and 0 where rows are one; of squares 2 exp(−d).
        """
        kernel = self.kernel[at]
        if self.metric.distance == "squared":
            return 2 * kernel
        with np.errstate(divide="ignore"):
            distance = -np.log(kernel)
        distance[distance < NEAR] = np.inf
        return np.divide(kernel, distance, out=distance)


def _combined(coefficients: Array) -> Array:
    """Return combinations of classes with the same Σ a aᵀ as these classes: fewer, where coefficients are dependent.

    They are, since those of a row add up to 0 over the classes: of two classes one is left.
    """
    value, vector = np.linalg.eigh(coefficients.T @ coefficients)
    combined: Array = coefficients @ vector[:, value > DEPENDENT * value[-1]]
    return combined


def fit_metric(initial: Array, sample_weight: Array, ridge: float) -> Metric:
    """Divide by the square root of covariance + ridge · (mean variance), then by the root mean square distance."""
    share = sample_weight / sample_weight.sum()
    mean = share @ initial
    centred = initial - mean
    value, vector = np.linalg.eigh((centred * share[:, None]).T @ centred)
    value = np.maximum(value, 0.0)
    if not value.any():
        return Metric(mean, np.eye(len(mean)))  # rows that are all alike have no unit of distance
    scaled = value + ridge * value.mean()
    return Metric(mean, vector / np.sqrt(scaled * 2 * (value / scaled).sum()))


def first_metric(rows: Examples, kind: Kind) -> Metric:
    """Return the metric to begin with: concepts count alike, or as far as the covariance says that they differ."""
    if kind.single:
        return _scaled(rows, np.eye(rows.initial.shape[1]), kind.distance)
    return replace(fit_metric(rows.initial, rows.weight, CASE_RIDGES[0]), distance=kind.distance)


def taught_metric(rows: Examples, directions: Array, kind: Kind, power: float) -> Metric:
    """Return the metric that stretches along the directions in which the scores change; or along single concepts."""
    n_concepts = len(directions)
    value, vector = (np.diagonal(directions), np.eye(n_concepts)) if kind.single else np.linalg.eigh(directions)
    share = np.maximum(value, 0.0) / max(value.max(), np.finfo(np.float64).tiny)
    stretch = share**power + METRIC_FLOOR
    return _scaled(rows, (vector * stretch) @ vector.T, kind.distance)


def mean_metric(rows: Examples, metrics: Sequence[Metric]) -> Metric:
    """Return the mean of metrics that rows taught in one or more rounds: that of the logarithms of their maps.

    It is as good as a metric that all rows teach, in rounds of their own, and costs none of these.
    """
    mean = np.mean([_mapped(np.log, metric.map) for metric in metrics], axis=0)
    return _scaled(rows, _mapped(np.exp, mean), metrics[0].distance)


def _mapped(function: Callable[[Array], Array], matrix: Array) -> Array:
    """Return a function of a symmetric matrix."""
    own = np.diagonal(matrix)
    if not (matrix - np.diag(own)).any():
        return np.diag(function(own))
    value, vector = np.linalg.eigh(matrix)
    mapped: Array = (vector * function(value)) @ vector.T
    return mapped


def _scaled(rows: Examples, matrix: Array, distance: Distance) -> Metric:
    """Return a metric in which the root mean square straight distance of two rows is 1."""
    share = rows.weight / rows.weight.sum()
    mean = share @ rows.initial
    variance = float((share @ ((rows.initial - mean) @ matrix) ** 2).sum())
    return Metric(mean, matrix / np.sqrt(2 * variance) if variance > 0 else matrix, distance)
