"""Ridge readout on standardised increments, for a given penalty; `dual` has it for few rows against columns.

With Z = (Z⁰ | Z¹ | …) the increments, each column standardised, minimise Σ_i w_i ‖y_i − q − z_i β‖² + α ‖β‖². A
penalty bounds the condition, so a Gram matrix (`Sums`) most often suffices: rounding moves a coefficient by
(G + α)⁻¹ δG β, and so a score by at most √(leverage) ‖δG β‖ / √α. Where that could pass `TRUSTED` of the scores'
scale, a second pass takes an R-factor (`Evidence`), which squares nothing. With the increments Z̃ standardised by a
sample, the factor of (1 | Z̃ | Y) holds their true means and spreads, their singular values, and what the classes have
along each of them; the solution for any penalty follows, and so does that of all rows seen so far if more come:
`fit.batches` merges such factors.

Easy to get wrong: the standardisation of a sample is not that of all rows. It only keeps the numbers near 1; `solve`
divides by what the factor says.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..concepts.scaling import varying
from ..network.reasoning import Network
from ..sums.factor import Factor, Scatter, refine_factor, weighted_gram
from ..sums.lapack import dpotrf, dpotrs, dtrtri
from ..sums.rows import JudgeScores, States
from ..sums.sources import Source
from ..sums.space import NUMPY, DeviceArray, Space, pieces
from ..sums.statistics import Totals
from ..trajectory.increments import Course, increments, states_readout
from ..types import Array
from .design import Design
from .states import ReadoutFacts, leave_one_out
from .terms import Terms, block_terms

TRUSTED = 1e-6
"""Largest bound of a score's error, as a share of the one-hot's scale, for which one Gram matrix is enough.

Rows have leverages far below 1, so errors are about a hundredth of the bound: 100,000 rows of 12 features, eight
iterations, α from 10 to 1e-6.
"""

STANDARD_ROWS = 512
"""Rows of a sample that provisional means and scales are taken of, at most."""

ROUNDING = 4 * np.finfo(np.float64).eps
"""Error of an entry of a Gram matrix, as a share of the weight of all rows."""


@dataclass(frozen=True)
class IncrementReadout:
    """Scores are Σ_t Eᵗ `coefficients[t]` + `constant`, with E⁰ = A⁰; `coefficients` has shape (T + 1, M, N)."""

    reference: Array
    coefficients: Array
    constant: Array

    @property
    def n_iter(self) -> int:
        """Number of iterations that it reads."""
        return len(self.coefficients) - 1

    def terms(self, space: Space, network: Network, initial: DeviceArray) -> Terms:
        """Return the raw class scores of rows with these initial states as sums over the increments."""
        course = Course(space, network, self.reference, self.n_iter)
        gain = np.r_[1.0, np.full(self.n_iter, course.gain)]
        return block_terms(
            lambda: (increment.E for increment in increments(course, initial)),
            self.coefficients * gain[:, None, None],
            self.constant,
        )

    def outer(self, network: Network) -> tuple[Array, Array]:
        """Return the outer weights on the states and their bias."""
        R, shift = states_readout(network, self.reference, self.coefficients)
        return R, self.constant + shift


@dataclass(frozen=True)
class Frame:
    """The increments of a network about a reference row, and provisional means and scales of their columns.

    `varies` says which columns are known to hold two different values, and `moves` in which iterations an activation is
    known to move by the tolerance or more.
    """

    network: Network
    reference: Array
    mean: Array
    scale: Array
    varies: NDArray[np.bool_]
    moves: NDArray[np.bool_]

    @classmethod
    def from_sample(
        cls, network: Network, reference: Array, sample: Array, weight: Array, n_iter: int, tol: float
    ) -> Self:
        """Standardise by some rows' initial states; a column that is constant among them keeps its scale."""
        step, p = -(-len(sample) // STANDARD_ROWS), (n_iter + 1) * len(reference)
        sample, weight = sample[::step], weight[::step]
        unsure = (np.zeros(size, dtype=bool) for size in (p, n_iter + 1))
        E, changes = standardised(cls(network, reference, np.zeros(p), np.ones(p), *unsure), NUMPY)(sample, 0)
        mean = weight @ E / weight.sum()
        spread, varies = np.sqrt(weight @ (E - mean) ** 2 / weight.sum()), varying(E)
        # About its rounded mean, a constant column has a spread of rounding, seldom of 0.
        scale = 1 / np.where(varies & (spread > 0), spread, 1.0)
        return cls(network, reference, mean, scale, varies, changes >= tol)

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.moves) - 1

    def cut(self, n_iter: int) -> "Frame":
        """Return the frame of fewer iterations."""
        end = (n_iter + 1) * len(self.reference)
        parts = (self.mean[:end], self.scale[:end], self.varies[:end], self.moves[: n_iter + 1])
        return Frame(self.network, self.reference, *parts)


def standardised(frame: Frame, space: Space) -> Callable[[DeviceArray, int], tuple[DeviceArray, DeviceArray]]:
    """Return the function of initial states that gives Z̃, and the largest change of any activation at each iteration.

    The change is given as infinite where activations are known to move. Z̃ is A⁰, E¹ … side by side, standardised, and
    as many more columns, not set, as the second argument says.
    """
    M, p = len(frame.reference), len(frame.mean)
    course = Course(space, frame.network, frame.reference, frame.n_iter)
    gain = np.repeat(np.r_[1.0, np.full(frame.n_iter, course.gain)], M)
    factor, shift = space.put(gain * frame.scale), space.put(-frame.mean * frame.scale)
    moves = space.put(np.where(frame.moves, np.inf, 0.0))

    def of_rows(initial: DeviceArray, room: int) -> tuple[DeviceArray, DeviceArray]:
        Z = space.matrix(initial.shape[0], p + room)

        def strip(rows: slice) -> DeviceArray:
            changes = []
            for t, (E, moved, _) in zip(range(frame.n_iter + 1), increments(course, initial[rows, :]), strict=False):
                part = slice(t * M, (t + 1) * M)
                space.affine_into(Z[rows, part], E, factor[part], shift[part])
                changes.append(moves[t] if frame.moves[t] else space.largest(moved) * (course.gain if t else 1.0))
            return space.xp.stack(changes)

        return Z, space.most(space.over_strips(strip, *initial.shape))

    return of_rows


def designed(frame: Frame, space: Space) -> Callable[[States], Design]:
    """Follow the rows of a block."""
    follow, p = standardised(frame, space), len(frame.mean)

    def of_block(block: States) -> Design:
        ZY, changes = follow(block.initial, block.n_classes)
        ZY[:, p:] = space.one_hot(block.codes, block.n_classes)
        given = (block.codes, block.weight, block.unit, block.n_classes, block.even)
        return Design(ZY, changes, *given, frame.varies)

    return of_block


def _ranges(space: Space, block: Design) -> tuple[DeviceArray, DeviceArray]:
    """Return the smallest and the largest value of each column of Z̃; 0 and 1 where it is known to vary."""
    assert block.varies is not None
    low = space.zeros(len(block.varies))
    high = low + 1.0
    for j in np.flatnonzero(~block.varies).tolist():
        low[j], high[j] = space.xp.min(block.Z[:, j]), space.xp.max(block.Z[:, j])
    return low, high


def summed(space: Space) -> Callable[[Design], Totals]:
    """Sum over a block: Gram matrix of (Z̃ | Y), ranges, and changes."""

    def of_block(block: Design) -> Totals:
        low, high = _ranges(space, block)
        return Totals(space, (weighted_gram(space, block.ZY, block),), (low,), (high, block.changes))

    return of_block


class Smoother(NamedTuple):
    """Fit and leverage of rows: with Z = (Z̃ − centre) · scale, fit = constant + Z slope, leverage = ‖Z spread‖² + 1/n.

    `between` is the covariance of the one-hot with the fitted scores.
    """

    frame: Frame
    centre: Array
    scale: Array
    slope: Array
    spread: Array
    constant: Array
    total: float
    between: Array


@dataclass(frozen=True)
class Sums:
    """Gram matrix of (Z̃ | Y), Y the one-hot; the ranges of Z̃'s columns, and how far activations move."""

    gram: Array
    low: Array
    high: Array
    changes: Array

    @property
    def mass(self) -> Array:
        """Weight of each class."""
        return np.diagonal(self.gram)[len(self.low) :]

    def scatter(self, p: int) -> Scatter:
        """Return mean and Gram matrix of the first p columns and of the one-hot."""
        kept = np.r_[:p, len(self.low) : len(self.gram)]
        # Every row has one class: what a column sums to over the classes is what it sums to.
        sums = np.r_[self.gram[:p, len(self.low) :].sum(axis=1), self.mass]
        return Scatter.of(float(self.mass.sum()), np.zeros(len(kept)), sums, self.gram[np.ix_(kept, kept)])

    def solved(self, frame: Frame, alpha: float, space: Space) -> tuple[ReadoutFacts, Smoother] | None:
        """Solve for one penalty, over the iterations of the frame; None where a Gram matrix has too few digits."""
        p, known = len(frame.mean), self.scatter(len(frame.mean))
        # The spread of all rows, in units of the sample's; a column that never varies has none, and is left out.
        size = np.sqrt(np.maximum(np.diagonal(known.gram)[:p], 0.0) / known.total)
        scale = np.where(self.high[:p] > self.low[:p], 1 / np.where(size > 0, size, 1.0), 0.0)
        G = known.gram[:p, :p] * np.outer(scale, scale)
        cross = known.gram[:p, p:] * scale[:, None]
        triangle, failed = dpotrf(G + alpha * np.eye(p))
        # In the order of memory that a file is read back in: products round otherwise in another.
        slope = np.ascontiguousarray(dpotrs(triangle, cross)[0])
        # The bound of the module's head, with ROUNDING times the weight of all rows for δG and 1 for the leverage.
        if failed or ROUNDING * known.total * np.linalg.norm(slope) / np.sqrt(alpha) > TRUSTED:
            return None
        # With G + α = RᵀR, leverages are squared lengths of rows times R⁻¹.
        zero, one = frame.network.activation.ends
        spread = dtrtri(triangle)[0]
        constant = zero + (one - zero) * self.mass / known.total
        between = cross.T @ slope / known.total
        smoother = Smoother(frame, known.mean[:p], scale, (one - zero) * slope, spread, constant, known.total, between)
        # Rank, condition and freedom are of G itself; the largest problem of the fit, so it is solved where rows are.
        value = space.host(space.xp.linalg.eigvalsh(space.put(G)))
        value = value[value > len(value) * np.finfo(np.float64).eps * value[-1]]
        condition = float(np.sqrt((value[-1] + alpha) / (value[0] + alpha))) if len(value) else 1.0
        freedom = 1 + float((value / (value + alpha)).sum())
        return ReadoutFacts(readout_of(smoother), len(value) + 1, condition, freedom, alpha=alpha), smoother


@dataclass(frozen=True)
class Evidence:
    """The factor of (1 | Z̃ | Y), Y the one-hot, and the ranges of Z̃'s columns."""

    factor: Factor
    low: Array
    high: Array

    @classmethod
    def from_block(cls, block: Design) -> Self:
        """Factorise a block of numpy."""
        return cls(Factor.from_block(block.weight, *columns(NUMPY)(block)), *_ranges(NUMPY, block))

    def merge(self, other: Self) -> Self:
        """Join two."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return type(self)(self.factor.merge(other.factor), low, high)


def columns(space: Space) -> Callable[[Design], tuple[DeviceArray, DeviceArray]]:
    """Give the columns of a factor."""
    return lambda block: (block.Z, block.Y)


def fixed_at(changes: Array, tol: float) -> int:
    """Return the iterations up to the fixed point, where no activation of any row moves by `tol` or more."""
    fixed = np.flatnonzero(changes[1:] < tol)
    return int(fixed[0]) if len(fixed) else len(changes) - 1


def solve(frame: Frame, evidence: Evidence, alpha: float) -> tuple[ReadoutFacts, Smoother]:
    """Solve for one penalty, over the iterations of the frame."""
    factor, p = evidence.factor, len(frame.mean)
    n_classes = factor.R.shape[1] - 1 - len(evidence.low)
    total, (zero, one) = factor.total, frame.network.activation.ends
    Z, Y = factor.centred[:, :p], factor.centred[:, -n_classes:]
    size = np.linalg.norm(Z, axis=0) / np.sqrt(total)
    scale = np.where(evidence.high[:p] > evidence.low[:p], 1 / np.where(size > 0, size, 1.0), 0.0)
    # The triangle has the singular values of all rows; their left vectors are of no use, and not needed.
    U, S, Vt = np.linalg.svd(Z * scale, full_matrices=False)
    # Smaller ones are rounding of the largest, and a small α would let S / (S² + α) divide by them.
    kept = max(factor.n_rows, p) * np.finfo(np.float64).eps * S.max(initial=0.0) < S
    U, S, V = U[:, kept], S[kept], Vt[kept].T
    slope = (one - zero) * (V * (S / (S**2 + alpha))) @ (U.T @ Y)
    constant = zero + (one - zero) * factor.mean[-n_classes:]
    between = Y.T @ ((Z * scale) @ slope) / total / (one - zero)
    spread = V / np.sqrt(S**2 + alpha)
    smoother = Smoother(frame, factor.mean[:p], scale, slope, spread, constant, total, between)
    condition = float(np.sqrt((S[0] ** 2 + alpha) / (S[-1] ** 2 + alpha))) if len(S) else 1.0
    freedom = 1 + float((S**2 / (S**2 + alpha)).sum())
    return ReadoutFacts(readout_of(smoother), len(S) + 1, condition, freedom, alpha=alpha), smoother


def readout_of(smoother: Smoother) -> IncrementReadout:
    """Return the readout of the increments as they are, not standardised."""
    frame = smoother.frame
    K = (smoother.scale * frame.scale)[:, None] * smoother.slope
    # frame.mean + centre / frame.scale is the mean of all rows' increments, at which the fit is the constant.
    constant = smoother.constant - (frame.mean + smoother.centre / frame.scale) @ K
    coefficients = K.reshape(frame.n_iter + 1, len(frame.reference), -1)
    return IncrementReadout(frame.reference, coefficients, constant)


def scored(smoother: Smoother, mass: Array, space: Space) -> Callable[[Design], JudgeScores]:
    """Return the scores that judge the decision, on the scale of the one-hot; `mass` is the classes' weight.

    They are leave-one-out predictions, exactly. Centre and scale go into slope and spread, so that Z̃ is read and not
    written.
    """
    activation = smoother.frame.network.activation
    zero, one = activation.ends
    slope, spread = smoother.scale[:, None] * smoother.slope, smoother.scale[:, None] * smoother.spread
    constant, shift = smoother.constant - smoother.centre @ slope, -smoother.centre @ spread
    # A triangle, if a Gram matrix sufficed (`Sums.solved`), and none if it comes from singular vectors (`solve`).
    upper = not np.tril(spread, -1).any()
    there = [space.put(array) for array in (slope, spread, constant, shift, mass)]

    def of_block(block: Design) -> JudgeScores:
        xp, Z = space.xp, block.Z
        slope, spread, constant, shift, mass = there
        fitted = Z @ slope + constant
        leverage = xp.full(Z.shape[0], 1 / smoother.total, dtype=xp.float64, device=space.device)
        # Squares of some columns at a time: the whole product would be a second array of Z's size.
        for a, b in pieces(spread.shape[1]):
            end = b if upper else slope.shape[0]
            part = Z[:, :end] @ spread[:end, a:b]
            part += shift[a:b]
            leverage += xp.sum(part * part, axis=1)
        outside = leave_one_out(space, block.target(space, activation), fitted, leverage, block.unit)
        raw = xp.where(block.alone(space, mass)[:, None], fitted, outside)
        return JudgeScores(*map(space.host, ((raw - zero) / (one - zero), block.codes, block.weight)))

    return of_block


def fit_ridge(
    walk: Callable[[Frame], Source[Design]], frame: Frame, alpha: float, tol: float
) -> tuple[ReadoutFacts, Smoother, Source[Design]]:
    """Solve for one penalty; `walk` follows all rows through the iterations of a frame. Also return what it gave."""
    rows = walk(frame)
    sums = Sums(*rows.reduce(summed).host)
    n_iter = fixed_at(sums.changes, tol)
    if n_iter < frame.n_iter:
        # Sums over more iterations begin with those over fewer: they need no second pass.
        frame = frame.cut(n_iter)
        rows = walk(frame)
    solution = sums.solved(frame, alpha, rows.space)
    if solution is None:
        p = len(frame.mean)
        factor = refine_factor(rows, columns, p, sums.scatter(p))
        solution = solve(frame, Evidence(factor, sums.low[:p], sums.high[:p]), alpha)
    return *solution, rows
