"""The ridge readout from blocks of rows: `ridge` from one Gram matrix of the standardised increments and the classes.

A penalty bounds the condition, so a Gram matrix (`Sums`) most often suffices: rounding moves a coefficient by
(G + α)⁻¹ δG β, and so a score by at most √(leverage) ‖δG β‖ / √α. Where that could pass `TRUSTED` of the scores'
scale, a second pass takes an R-factor (`Evidence`), which squares nothing. With the increments Z̃ standardised by a
sample, the factor of (1 | Z̃ | Y) holds their true means and spreads, their singular values, and what the classes have
along each of them; the solution for any penalty follows, and so does that of all rows seen so far if more come:
`recursion` merges such factors.

Easy to get wrong: the standardisation of a sample is not that of all rows. It only keeps the numbers near 1; `solve`
divides by what the factor says.
"""

from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import lapack
from scipy.linalg.blas import dsyrk, dtrmm

from ..concepts.scaling import varying
from ..network.reasoning import Network
from ..readout.states import Solved
from ..sums.blocks import ROWS
from ..sums.rows import Scored, Started
from ..sums.statistics import Factor, Scatter, Source
from ..trajectory.increments import Course, block_increments
from ..types import Array
from .ridge import IncrementReadout
from .states import inverse_one_hot, leave_one_out

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
        E, changes = cls(network, reference, np.zeros(p), np.ones(p), *unsure)(sample)
        mean = weight @ E / weight.sum()
        spread = np.sqrt(weight @ (E - mean) ** 2 / weight.sum())
        scale = 1 / np.where(spread > 0, spread, 1.0)
        return cls(network, reference, mean, scale, varying(E), changes >= tol)

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.moves) - 1

    def cut(self, n_iter: int) -> "Frame":
        """Return the frame of fewer iterations."""
        end = (n_iter + 1) * len(self.reference)
        parts = (self.mean[:end], self.scale[:end], self.varies[:end], self.moves[: n_iter + 1])
        return Frame(self.network, self.reference, *parts)

    def __call__(self, initial: Array, room: int = 0) -> tuple[Array, Array]:
        """Return Z̃ of rows with these initial states, and the largest change of any activation at each iteration.

        That is given as infinite where activations are known to move. Z̃ is A⁰, E¹ … side by side, standardised, and
        `room` more columns that are not set.
        """
        n, M = initial.shape
        Z, changes = np.empty((n, len(self.mean) + room), order="F"), np.where(self.moves, np.inf, 0.0)
        course = Course(self.network, self.reference)
        for begin in range(0, n, ROWS):
            rows = slice(begin, begin + ROWS)
            found = block_increments(course, initial[rows])
            for t, (linearised, whole) in zip(range(len(changes)), found, strict=False):
                part = slice(t * M, (t + 1) * M)
                np.multiply(linearised - self.mean[part], self.scale[part], out=Z[rows, part])
                if not self.moves[t]:
                    changes[t] = max(changes[t], np.abs(whole).max())
        return Z, changes


class Framed(NamedTuple):
    """(Z̃ | Y) of a block's rows, Y the one-hot; how far activations move at each iteration; else as `Started`.

    `varies` is the frame's: columns of Z̃ that hold two different values, in these rows or in others.
    """

    ZY: Array
    varies: NDArray[np.bool_]
    changes: Array
    codes: NDArray[np.intp]
    weight: Array
    unit: Array
    n_classes: int

    @property
    def Z(self) -> Array:  # noqa: N802
        """Z̃ alone."""
        return self.ZY[:, : self.ZY.shape[1] - self.n_classes]


def framed(frame: Frame, block: Started) -> Framed:
    """Follow a block's rows."""
    ZY, changes = frame(block.initial, block.n_classes)
    ZY[:, len(frame.mean) :] = np.eye(block.n_classes)[block.codes]
    return Framed(ZY, frame.varies, changes, block.codes, block.weight, block.unit, block.n_classes)


def ranges(block: Framed) -> tuple[Array, Array]:
    """Return the smallest and the largest value of each column of Z̃; 0 and 1 where it is known to vary."""
    low, high, unsure = np.zeros(len(block.varies)), np.ones(len(block.varies)), np.flatnonzero(~block.varies)
    low[unsure], high[unsure] = block.Z[:, unsure].min(axis=0), block.Z[:, unsure].max(axis=0)
    return low, high


@dataclass(frozen=True)
class Sums:
    """Gram matrix of (Z̃ | Y), Y the one-hot; the `ranges` of Z̃'s columns, and how far activations move."""

    gram: Array
    low: Array
    high: Array
    changes: Array

    @classmethod
    def from_block(cls, block: Framed) -> Self:
        """Sum over a block; only the upper triangle of the Gram matrix is set."""
        even = (block.weight == 1).all()
        weighted = block.ZY if even else block.ZY * np.sqrt(block.weight)[:, None]
        return cls(dsyrk(1.0, weighted, trans=1), *ranges(block), block.changes)

    def merge(self, other: Self) -> Self:
        """Join two."""
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        changes = np.maximum(self.changes, other.changes)
        return replace(self, gram=self.gram + other.gram, low=low, high=high, changes=changes)

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

    def solved(self, frame: Frame, alpha: float) -> "tuple[Solved, Smoother] | None":
        """Solve for one penalty, over the iterations of the frame; None where a Gram matrix has too few digits."""
        p, mass = len(frame.mean), self.mass
        known = self.scatter(p)
        size = np.sqrt(np.maximum(np.diagonal(known.gram)[:p], 0.0) / known.total)
        scale = np.where(self.high[:p] > self.low[:p], 1 / np.where(size > 0, size, 1.0), 0.0)
        G = known.gram[:p, :p] * np.outer(scale, scale)
        cross = known.gram[:p, p:] * scale[:, None]
        triangle, failed = lapack.dpotrf(G + alpha * np.eye(p))
        # In the order of memory that a file is read back in: products round otherwise in another.
        slope = np.ascontiguousarray(lapack.dpotrs(triangle, cross)[0])
        if failed or ROUNDING * known.total * np.linalg.norm(slope) / np.sqrt(alpha) > TRUSTED:
            return None
        zero, one = frame.network.activation.inverse(np.array([0.0, 1.0]))
        spread = lapack.dtrtri(triangle)[0]
        constant = zero + (one - zero) * mass / known.total
        between = cross.T @ slope / known.total
        mean = known.mean[:p]
        smoother = Smoother(frame, mean, scale, (one - zero) * slope, spread, constant, known.total, between)
        value = self._eigenvalues(G)
        value = value[value > len(value) * np.finfo(np.float64).eps * value[-1]]
        condition = float(np.sqrt((value[-1] + alpha) / (value[0] + alpha))) if len(value) else 1.0
        freedom = 1 + float((value / (value + alpha)).sum())
        return Solved(readout_of(smoother), len(value) + 1, condition, freedom, alpha=alpha), smoother

    def _eigenvalues(self, G: Array) -> Array:
        """Return them in increasing order."""
        return np.linalg.eigvalsh(G).astype(np.float64, copy=False)


def summed(block: Framed) -> Sums:
    """Return the sums of a block. A plain function: a cluster would send a class method with all that it refers to."""
    return Sums.from_block(block)


@dataclass(frozen=True)
class Evidence:
    """The factor of (1 | Z̃ | Y), Y the one-hot, and the `ranges` of Z̃'s columns."""

    factor: Factor
    low: Array
    high: Array

    @classmethod
    def from_block(cls, block: Framed) -> Self:
        """Factorise a block."""
        return cls(_factor(block), *ranges(block))

    def merge(self, other: Self) -> Self:
        """Join two."""
        return type(self)(
            self.factor.merge(other.factor),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
        )


def _factor(block: Framed) -> Factor:
    return Factor.from_block(block.Z, block.weight, np.eye(block.n_classes)[block.codes])


def refined(known: Scatter, n_columns: int, block: Framed) -> Factor:
    """Return the factor of a block. A device begins with the scatter of all rows, and the number of their columns."""
    return _factor(block)


def fixed_at(changes: Array, tol: float) -> int:
    """Return the iterations up to the fixed point, where no activation of any row moves by `tol` or more."""
    fixed = np.flatnonzero(changes[1:] < tol)
    return int(fixed[0]) if len(fixed) else len(changes) - 1


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


def solve(frame: Frame, evidence: Evidence, alpha: float) -> tuple[Solved, Smoother]:
    """Solve for one penalty, over the iterations of the frame."""
    factor, p = evidence.factor, len(frame.mean)
    n_classes = factor.R.shape[1] - 1 - len(evidence.low)
    total, activation = factor.total, frame.network.activation
    Z, Y = factor.centred[:, :p], factor.centred[:, -n_classes:]
    size = np.linalg.norm(Z, axis=0) / np.sqrt(total)
    scale = np.where(evidence.high[:p] > evidence.low[:p], 1 / np.where(size > 0, size, 1.0), 0.0)
    U, S, Vt = np.linalg.svd(Z * scale, full_matrices=False)
    kept = max(factor.n_rows, p) * np.finfo(np.float64).eps * S.max(initial=0.0) < S
    U, S, V = U[:, kept], S[kept], Vt[kept].T
    zero, one = activation.inverse(np.array([0.0, 1.0]))
    slope = (one - zero) * (V * (S / (S**2 + alpha))) @ (U.T @ Y)
    constant = zero + (one - zero) * factor.mean[-n_classes:]
    between = Y.T @ ((Z * scale) @ slope) / total / (one - zero)
    centre = factor.mean[:p]
    smoother = Smoother(frame, centre, scale, slope, V / np.sqrt(S**2 + alpha), constant, total, between)
    condition = float(np.sqrt((S[0] ** 2 + alpha) / (S[-1] ** 2 + alpha))) if len(S) else 1.0
    freedom = 1 + float((S**2 / (S**2 + alpha)).sum())
    return Solved(readout_of(smoother), len(S) + 1, condition, freedom, alpha=alpha), smoother


def readout_of(found: Smoother) -> IncrementReadout:
    """Return the readout of the increments as they are, not standardised."""
    frame = found.frame
    K = (found.scale * frame.scale)[:, None] * found.slope
    constant = found.constant - (frame.mean + found.centre / frame.scale) @ K
    coefficients = K.reshape(frame.n_iter + 1, len(frame.reference), -1)
    return IncrementReadout(frame.reference, coefficients, constant)


def smooth(found: Smoother, block: Framed) -> tuple[Array, Array]:
    """Return fitted values and exact leave-one-out predictions of rows that are among those solved for."""
    Z = block.Z - found.centre
    Z *= found.scale
    fitted = found.constant + Z @ found.slope
    leverage = 1 / found.total + row_squares(Z, found.spread)
    target = inverse_one_hot(block.codes, block.n_classes, found.frame.network.activation)
    return fitted, leave_one_out(target, fitted, leverage, block.unit)


def row_squares(Z: Array, spread: Array) -> Array:
    """Return the squared length of each row of Z `spread`; half the work where it is upper triangular, and in place."""
    dense = np.tril(spread, -1).any()
    mapped = Z @ spread if dense else dtrmm(1.0, spread, Z, side=1, overwrite_b=1)
    squares: Array = np.einsum("ij,ij->i", mapped, mapped)
    return squares


def scored(found: Smoother, mass: Array, block: Framed) -> Scored:
    """Return the scores that judge the decision, on the scale of the one-hot; `mass` is the classes' weight."""
    fitted, outside = smooth(found, block)
    raw = np.where((mass[block.codes] <= block.unit)[:, None], fitted, outside)
    zero, one = found.frame.network.activation.inverse(np.array([0.0, 1.0]))
    return Scored((raw - zero) / (one - zero), block.codes, block.weight)


def fit_ridge(source: Source[Started], frame: Frame, alpha: float, tol: float) -> tuple[Solved, Smoother]:
    """Solve for one penalty from blocks."""
    rows = source.through(partial(framed, frame))
    sums = rows.reduce(summed)
    n_iter = fixed_at(sums.changes, tol)
    if n_iter < frame.n_iter:
        frame = frame.cut(n_iter)
        rows = source.through(partial(framed, frame))
    found = sums.solved(frame, alpha)
    if found is None:
        p = len(frame.mean)
        factor = rows.reduce(partial(refined, sums.scatter(p), p))
        found = solve(frame, Evidence(factor, sums.low[:p], sums.high[:p]), alpha)
    return found
