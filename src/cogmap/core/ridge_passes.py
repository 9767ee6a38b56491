"""The ridge readout from blocks of rows: `ridge` from one R-factor of the standardised increments and the classes.

With the increments Z̃ standardised by a sample, the factor of (1 | Z̃ | Y) holds their true means and spreads, their
singular values, and what the classes have along each of them; the solution for any penalty follows, and so does that of
all rows seen so far if more come (`Evidence.merge`).

Easy to get wrong: the standardisation of a sample is not that of all rows. It only keeps the numbers near 1; `solve`
divides by what the factor says.
"""

from dataclasses import dataclass
from functools import partial
from typing import NamedTuple, Self

import numpy as np

from .activation import Array
from .blocks import ROWS
from .decision_passes import Scored
from .increments import block_increments
from .model import Solved
from .readout import inverse_one_hot, leave_one_out
from .reasoning import Network
from .ridge import IncrementReadout
from .statistics import Factor, Source
from .training import Started


@dataclass(frozen=True)
class Frame:
    """The increments of a network about a reference row, and provisional means and scales of their columns."""

    network: Network
    reference: Array
    mean: Array
    scale: Array

    @classmethod
    def from_sample(cls, network: Network, reference: Array, sample: Array, weight: Array, n_iter: int) -> Self:
        """Standardise by some rows' initial states; a column that is constant among them keeps its scale."""
        E, _ = stacked_increments(network, sample, reference, n_iter)
        mean = weight @ E / weight.sum()
        spread = np.sqrt(weight @ (E - mean) ** 2 / weight.sum())
        return cls(network, reference, mean, 1 / np.where(spread > 0, spread, 1.0))

    @property
    def n_iter(self) -> int:
        """Number of iterations."""
        return len(self.mean) // len(self.reference) - 1

    def cut(self, n_iter: int) -> "Frame":
        """Return the frame of fewer iterations."""
        end = (n_iter + 1) * len(self.reference)
        return Frame(self.network, self.reference, self.mean[:end], self.scale[:end])

    def __call__(self, initial: Array) -> tuple[Array, Array]:
        """Return Z̃ of rows with these initial states, and the largest change of any activation at each iteration."""
        E, changes = stacked_increments(self.network, initial, self.reference, self.n_iter)
        E -= self.mean
        E *= self.scale
        return E, changes


def stacked_increments(network: Network, initial: Array, reference: Array, n_iter: int) -> tuple[Array, Array]:
    """Return A⁰, E¹ … side by side, (n, (n_iter + 1) M), and the largest change of any activation at each iteration."""
    n, M = initial.shape
    E, changes = np.empty((n, (n_iter + 1) * M)), np.zeros(n_iter + 1)
    for begin in range(0, n, ROWS):
        rows = slice(begin, begin + ROWS)
        found = block_increments(network, initial[rows], reference)
        for t, (linearised, whole) in zip(range(n_iter + 1), found, strict=False):
            E[rows, t * M : (t + 1) * M] = linearised
            changes[t] = max(changes[t], np.abs(whole).max())
    return E, changes


@dataclass(frozen=True)
class Evidence:
    """The factor of (1 | Z̃ | Y), Y the one-hot; the range of every column, and how far activations move."""

    factor: Factor
    low: Array
    high: Array
    changes: Array

    @classmethod
    def from_block(cls, frame: Frame, block: Started) -> Self:
        """Factorise a block."""
        Z, changes = frame(block.initial)
        factor = Factor.from_block(Z, block.weight, np.eye(block.n_classes)[block.codes])
        return cls(factor, Z.min(axis=0), Z.max(axis=0), changes)

    def merge(self, other: Self) -> Self:
        """Join two."""
        return type(self)(
            self.factor.merge(other.factor),
            np.minimum(self.low, other.low),
            np.maximum(self.high, other.high),
            np.maximum(self.changes, other.changes),
        )

    def n_iter(self, tol: float) -> int:
        """Return the iterations up to the fixed point, where no activation of any row moves by `tol` or more."""
        return fixed_at(self.changes, tol)

    def solved(self, frame: Frame, alpha: float) -> "tuple[Solved, Smoother]":
        """Solve for one penalty, over the iterations of the frame."""
        return solve(frame, self, alpha)


def fixed_at(changes: Array, tol: float) -> int:
    """Return the iterations up to the fixed point, given the largest change of any activation at each."""
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


def smooth(found: Smoother, block: Started) -> tuple[Array, Array]:
    """Return fitted values and exact leave-one-out predictions of rows that are among those solved for."""
    Z, _ = found.frame(block.initial)
    Z -= found.centre
    Z *= found.scale
    fitted = found.constant + Z @ found.slope
    leverage = 1 / found.total + ((Z @ found.spread) ** 2).sum(axis=1)
    target = inverse_one_hot(block.codes, block.n_classes, found.frame.network.activation)
    return fitted, leave_one_out(target, fitted, leverage, block.unit)


def scored(found: Smoother, mass: Array, block: Started) -> Scored:
    """Return the scores that judge the decision, on the scale of the one-hot; `mass` is the classes' weight."""
    fitted, outside = smooth(found, block)
    raw = np.where((mass[block.codes] <= block.unit)[:, None], fitted, outside)
    zero, one = found.frame.network.activation.inverse(np.array([0.0, 1.0]))
    return Scored((raw - zero) / (one - zero), block.codes, block.weight)


def fit_ridge(
    source: Source[Started], frame: Frame, mass: Array, alpha: float, tol: float
) -> tuple[Solved, Smoother, Source[Scored]]:
    """Solve for one penalty from blocks; also return the scores that the decision is judged by."""
    evidence = source.reduce(partial(Evidence.from_block, frame))
    solved, smoother = evidence.solved(frame.cut(evidence.n_iter(tol)), alpha)
    return solved, smoother, source.map(partial(scored, smoother, mass), len(mass) + 2)
