"""The ridge of `ridge`, for more increments than rows: by its dual, from one Gram matrix of the rows.

With G = ZZᵀ (rows times √w and centred, so that the constant is apart), ỹ = √w (y − mean) and P = (G + αI)⁻¹,

    fitted = mean + (ỹ − α P ỹ) / √w,    leverage_i = 1 / Σw + (1 − α P_ii) / w_i,    β = Zᵀ P ỹ.

G is a sum over iterations, gathered in one pass. What has been summed up to iteration T belongs to the network of T
iterations, so every T on the way can be judged by its exact leave-one-out error. β follows in a second pass. Beside the
rows, three arrays of their size and one K × K matrix are held: below its diagonal G stays, above it the Cholesky factor
of G + αI and its inverse come and go. Of few rows these have a matrix of their own, which saves some copying.

Easy to get wrong: G squares the condition of Z, so an error of rounding is magnified by λ₁ / α. The penalties that
leave-one-out chooses from keep that below 1e4 times the rows; for much smaller ones an LQ factor is gathered.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

import numpy as np
from scipy.linalg.blas import dsyrk

from ..constants import (
    HELD_BYTES,
    HOPELESS,
    RIDGE_DECAYS,
    RIDGE_ITERATIONS,
    RIDGE_PENALTIES,
    RIDGE_ROWS,
    RIDGE_WORTH,
)
from ..sums.lapack import dpotrf, dpotrs, dtrtri
from ..sums.space import NUMPY
from ..trajectory.increments import Course, increments, lockstep
from ..types import Array
from .ridge import IncrementReadout
from .spectrum import Problem, dual_of, smooth, spectrum_of
from .states import UNTRUSTWORTHY_CONDITION, leave_one_out

COLUMNS = 512
"""Columns of a matrix that are worked on at once."""

ROUNDING_OF_ERRORS = 1e-9
"""Share by which a leave-one-out error must be smaller than that of fewer iterations: less may be rounding."""


class Block(NamedTuple):
    """Standardised increments of one iteration: Z = (E − mean) · scale, rows times √w."""

    Z: Array
    mean: Array
    scale: Array


@dataclass
class Gram:
    """G, of which `matrix` holds what is below the diagonal, and `diagonal` the rest; above is room for a factor."""

    matrix: Array
    diagonal: Array

    @classmethod
    def zeros(cls, n: int) -> "Gram":
        """Return that of no columns."""
        return cls(np.zeros((n, n), order="F"), np.zeros(n))

    def add(self, Z: Array) -> None:
        """Add Z Zᵀ."""
        # A factor may have taken the diagonal's place. Z in numpy's order is Zᵀ in that of BLAS: nothing is copied.
        np.fill_diagonal(self.matrix, self.diagonal)
        dsyrk(1.0, Z.T, beta=1.0, c=self.matrix, trans=1, lower=1, overwrite_c=1)
        self.diagonal = np.diagonal(self.matrix).copy()

    def add_scaled(self, other: "Gram", factor: float) -> None:
        """Add another one, times a factor."""
        for part in _parts(len(self.matrix)):
            self.matrix[part.start :, part] += factor * other.matrix[part.start :, part]
        self.diagonal = self.diagonal + factor * other.diagonal

    @property
    def trace(self) -> float:
        """The sum of the eigenvalues, and so a bound on the largest."""
        return float(self.diagonal.sum())

    def _mirrored(self) -> Array:
        """Return the matrix itself, with G above its diagonal too: what the last penalty left there makes way."""
        G = self.matrix
        for part in _parts(len(G)):
            G[part, part.stop :] = G[part.stop :, part].T
            block = np.tril(G[part, part], -1)
            G[part, part] = block + block.T
        return G

    def inverse_of_penalised(self, alpha: float, target: Array) -> tuple[Array, Array]:
        """Return P · target and the diagonal of P = (G + αI)⁻¹; G stays as it is."""
        n, few = len(self.matrix), self.matrix.nbytes <= HELD_BYTES
        G = np.array(self.matrix.T, order="F") if few else self._mirrored()
        np.fill_diagonal(G, self.diagonal + alpha)
        # What LAPACK sets to 0 below the diagonal is G, which the next penalty needs: in a copy only.
        _, failed = dpotrf(G, lower=0, overwrite_a=1, clean=few)
        if failed:
            least = self.trace / UNTRUSTWORTHY_CONDITION
            raise np.linalg.LinAlgError(
                f"alpha={alpha:g} is below the rounding errors of {n} rows with so many states: "
                f"use alpha='loo', or {least:.1g} at least."
            )
        solved = dpotrs(G, target, lower=0)[0]
        dtrtri(G, lower=0, overwrite_c=1)
        # With G + αI = UᵀU, P = U⁻¹U⁻ᵀ.
        if few:
            return np.asarray(solved), np.einsum("ij,ij->i", G, G)
        parts = [(np.triu(G[part, part.start :]) ** 2).sum(axis=1) for part in _parts(n)]
        return np.asarray(solved), np.concatenate(parts)


def _parts(n: int) -> list[slice]:
    return [slice(start, min(start + COLUMNS, n)) for start in range(0, n, COLUMNS)]


class Solution(NamedTuple):
    """A ridge in its dual form.

    Attributes
    ----------
    error : float
        Leave-one-out squared error, summed with the rows' weights.
    dual : array of shape (n, N)
        P ỹ.
    fitted, outside : arrays of shape (n, N)
        Scores of the rows from inside and from outside.
    alpha, decay, n_iter : float, float, int
        Penalty, weight of each further iteration, and number of iterations.
    degrees_of_freedom, condition : float
        Trace of the smoother, and a bound on how far a rounding error is magnified.
    rank : int or None
        Number of independent columns, the constant among them, where a factor tells.
    """

    error: float
    dual: Array
    fitted: Array
    outside: Array
    alpha: float
    decay: float
    n_iter: int
    degrees_of_freedom: float
    condition: float
    rank: int | None = None


def solve_dual(problem: Problem, gram: Gram, target: Array, alpha: float) -> Solution:
    """Solve for one penalty; the problem says which decay and iterations G belongs to."""
    mean, weight, root = problem.mean(target), problem.sample_weight, problem.root
    dual, diagonal = gram.inverse_of_penalised(alpha, root * (target - mean))
    # A ridge leaves the residual α P ỹ: the fit needs no product with G.
    fitted = target - alpha * dual / root
    smoother = 1 - alpha * diagonal
    outside = leave_one_out(NUMPY, target, fitted, 1 / weight.sum() + smoother / weight, problem.unit)
    error = weighted_error(problem, target, outside)
    freedom, condition = 1 + float(smoother.sum()), 1 + gram.trace / alpha
    return Solution(error, dual, fitted, outside, alpha, problem.decay, problem.n_iter, freedom, condition)


class Columns(NamedTuple):
    """Mean of every increment, and what divides its spread away, 0 for a constant one; both (T + 1, M)."""

    mean: Array
    scale: Array


@dataclass(frozen=True)
class Choice:
    """What a pass over the iterations left behind: the columns' means and scales, and the best solution."""

    columns: Columns
    solution: Solution


def read(problem: Problem, tol: float) -> Iterator[Block]:
    """Yield the standardised blocks up to the fixed point, in one array; the decay is left out."""
    for t, (E, change) in enumerate(islice(lockstep(problem.course, problem.initial), problem.n_iter + 1)):
        if t > 0 and change < tol:
            return
        yield Block(E, *standardise(E, problem.sample_weight))


def standardise(E: Array, sample_weight: Array) -> tuple[Array, Array]:
    """Replace E by Z = (E − mean) · scale, rows times √w; return mean and scale. A constant column becomes 0."""
    total, root = sample_weight.sum(), np.sqrt(sample_weight)[:, None]
    mean, scale = np.empty(E.shape[1]), np.empty(E.shape[1])
    for part in _parts(E.shape[1]):
        columns = E[:, part]
        # By its ends: about its rounded mean, a constant column has a spread of rounding, seldom of 0.
        varies = columns.max(axis=0) > columns.min(axis=0)
        mean[part] = sample_weight @ columns / total
        columns -= mean[part]
        spread = np.sqrt(sample_weight @ columns**2 / total)
        scale[part] = np.where(varies, 1 / np.where(spread > 0, spread, 1.0), 0.0)
        columns *= scale[part]
        columns *= root
    return mean, scale


def needed(n_rows: int, n_columns: int) -> bool:
    """Say whether a Gram matrix of the rows is smaller than one of the increments, or these are too many to hold."""
    return n_columns > n_rows or (2 * n_columns > n_rows and 8 * n_rows * n_columns > 16 * HELD_BYTES)


def fit_penalty(problem: Problem, target: Array, alpha: float, tol: float) -> Choice:
    """Solve for one penalty: from an LQ factor where increments are few enough to hold, or so small a penalty needs it.

    Otherwise a Gram matrix of the rows serves.
    """
    n, n_columns = problem.shape
    # The trace of G bounds its largest eigenvalue.
    too_small = problem.sample_weight.sum() * n_columns > UNTRUSTWORTHY_CONDITION * alpha
    if n_columns > n and (too_small or 8 * n * n_columns <= HELD_BYTES):
        return fit_factor(problem, target, alpha, tol)
    return fit_gram(problem, target, alpha, tol)


def fit_gram(problem: Problem, target: Array, alpha: float, tol: float) -> Choice:
    """Solve for one penalty from G."""
    gram, columns = Gram.zeros(len(target)), []
    for Z, mean, scale in read(problem, tol):
        gram.add(Z)
        columns.append((mean, scale))
    reached = replace(problem, n_iter=len(columns) - 1)
    return Choice(_joined(columns), solve_dual(reached, gram, target, alpha))


def fit_factor(problem: Problem, target: Array, alpha: float, tol: float) -> Choice:
    """Solve for one penalty from an LQ factor gathered over columns."""
    n, n_columns = problem.shape
    columns: list[tuple[Array, Array]] = []

    def parts() -> Iterator[Array]:
        for Z, mean, scale in read(problem, tol):
            columns.append((mean, scale))
            yield from (Z[:, start : start + n] for start in range(0, Z.shape[1], n))

    spectrum = spectrum_of(parts(), n, n_columns)
    reached = replace(problem, n_iter=len(columns) - 1)
    fitted, outside = smooth(reached, spectrum, target, alpha)
    solution = Solution(
        weighted_error(problem, target, outside),
        dual_of(reached, spectrum, target, alpha),
        fitted,
        outside,
        alpha,
        problem.decay,
        reached.n_iter,
        1 + float(spectrum.kept(alpha).sum()),
        spectrum.condition(alpha),
        len(spectrum.S) + 1,
    )
    return Choice(_joined(columns), solution)


def weighted_error(problem: Problem, target: Array, outside: Array) -> float:
    """Return the leave-one-out squared error, summed with the rows' weights."""
    return float(problem.sample_weight @ ((target - outside) ** 2).sum(axis=1))


def choose(problem: Problem, target: Array, tol: float) -> Choice:
    """Choose iterations, decay and penalty by leave-one-out.

    Numbers of iterations are those of `RIDGE_ITERATIONS`, and all up to the fixed point. Decays are tried with the
    latter, if `RIDGE_ROWS` allows: each needs a Gram matrix of its own.
    """
    n = len(target)
    decays = RIDGE_DECAYS if n <= RIDGE_ROWS else RIDGE_DECAYS[:1]
    grams, columns = [Gram.zeros(n) for _ in decays], []
    search = Search(problem, target)
    for t, (Z, mean, scale) in enumerate(read(problem, tol)):
        _add(grams, decays, Z, t)
        columns.append((mean, scale))
        # Now or never: G of these iterations is gone once the next one is added.
        if t in RIDGE_ITERATIONS:
            search.look(grams[0], decays[0], columns)
    for gram, decay in zip(grams, decays, strict=True):
        if decay != decays[0] or len(columns) - 1 not in RIDGE_ITERATIONS:
            search.look(gram, decay, columns)
    assert search.best is not None
    return Choice(_joined(columns), search.best)


@dataclass
class Search:
    """The best solution so far, and the penalty that it came with, where the next walk starts."""

    problem: Problem
    target: Array
    index: int = len(RIDGE_PENALTIES) // 2
    best: Solution | None = None

    def look(self, gram: Gram, decay: float, columns: list[tuple[Array, Array]]) -> None:
        """Walk downhill in leave-one-out error over the penalties for one G."""
        problem = replace(self.problem, n_iter=len(columns) - 1, decay=decay)
        n_columns = sum(int(np.count_nonzero(scale)) for _, scale in columns)
        size = gram.trace / max(min(n_columns, len(self.target) - 1), 1)

        def error(index: int) -> float:
            solution = solve_dual(problem, gram, self.target, float(RIDGE_PENALTIES[index] * size))
            if self.best is None or solution.error < (1 - ROUNDING_OF_ERRORS) * self.best.error:
                self.best = solution
            return solution.error

        hopeless = np.inf if self.best is None else HOPELESS * self.best.error
        self.index = descend(error, len(RIDGE_PENALTIES), self.index, RIDGE_WORTH, hopeless)


def _add(grams: list[Gram], decays: Sequence[float], Z: Array, t: int) -> None:
    if len(grams) == 1:
        grams[0].add(Z)
        return
    # Decays weigh one and the same Z Zᵀ, which is most of the work.
    new = Gram.zeros(len(Z))
    new.add(Z)
    for gram, decay in zip(grams, decays, strict=True):
        gram.add_scaled(new, decay**t)


def _joined(columns: list[tuple[Array, Array]]) -> Columns:
    means, scales = zip(*columns, strict=True)
    return Columns(np.array(means), np.array(scales))


def readout(problem: Problem, target: Array, choice: Choice) -> IncrementReadout:
    """Return the readout that a dual solution stands for, by a second pass over the iterations, rows by rows."""
    solution, n_iter = choice.solution, choice.solution.n_iter
    pull, course = problem.root * solution.dual, Course(NUMPY, problem.network, problem.reference, n_iter)
    mean, scale = (part[: n_iter + 1] for part in choice.columns)
    gain = np.r_[1.0, np.full(n_iter, course.gain)]

    def strip(rows: slice) -> Array:
        parts = [
            ((gain[t] * E - mean[t]) * scale[t]).T @ pull[rows]
            for t, (E, _, _) in zip(range(n_iter + 1), increments(course, problem.initial[rows]), strict=False)
        ]
        return np.array(parts)

    K = sum(NUMPY.over_strips(strip, *problem.initial.shape))
    # Columns are weighted by √decayᵗ, in the rows that were learned from and in those to be scored: decayᵗ together.
    K *= (scale.T * solution.decay ** np.arange(n_iter + 1)).T[:, :, None]
    constant = problem.mean(target) - np.einsum("tm,tmk->k", mean, K)
    return IncrementReadout(problem.reference, K, constant)


def descend(error: Callable[[int], float], n: int, start: int, worth: float = 0.0, hopeless: float = np.inf) -> int:
    """Walk downhill from candidate `start` among 0 … n − 1 to one that no neighbour undercuts by such a share.

    The error has one valley; each is asked for once. Where the first is hopeless, no other is.
    """
    known: dict[int, float] = {}

    def remembered(index: int) -> float:
        if index not in known:
            known[index] = error(index)
        return known[index]

    best = start
    while remembered(start) <= hopeless:
        near = [i for i in (best - 1, best, best + 1) if 0 <= i < n]
        lowest = min(near, key=remembered)
        if not remembered(lowest) < (1 - worth) * remembered(best):
            break
        best = lowest
    return best


def follow(
    judge: Callable[[tuple[int, ...]], tuple[float, Sequence[float]]],
    sizes: Sequence[int],
    start: tuple[int, ...],
    worth: float,
) -> tuple[int, ...]:
    """Walk downhill among candidates of one or more penalties, where slopes from one to the next are known too.

    Along each penalty, the one that promises most first, only the neighbour that the error falls to is asked, and only
    where the slope promises at least such a share of it.
    """
    best, (error, slopes) = start, judge(start)
    while True:
        for along in np.argsort(-np.abs(slopes), kind="stable").tolist():
            ahead = (*best[:along], best[along] - int(np.sign(slopes[along])), *best[along + 1 :])
            if not 0 <= ahead[along] < sizes[along] or abs(slopes[along]) < worth * error:
                continue
            further = judge(ahead)
            if further[0] < error:
                best, (error, slopes) = ahead, further
                break
        else:
            return best
