"""The readout on innovations: every number of iterations from one solution, shrunk and gated by leave-one-out.

With Q orthonormal under the weights, the coefficients C = Σ_i w_i q_iᵀ y_i of the first p columns do not depend on the
later ones. Fit, leverage and leave-one-out prediction after each iteration are therefore running sums.

Easy to get wrong: leverage of a *new* row is unbounded, and in late innovations an outlier's is huge. The gate ends the
reasoning of a row once its leverage passes a cap; in training it sees the leverage that the row has from outside.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from ..constants import GATE_FLOOR, GATE_MULTIPLE, LEAST_FREE
from ..network.reasoning import Network
from ..trajectory.increments import increments, states_readout
from ..trajectory.innovations import Basis
from ..types import Array
from .states import leave_one_out


@dataclass(frozen=True)
class Path:
    """The readout after each iteration, seen from outside.

    Attributes
    ----------
    mean : array of shape (n, N)
        Leave-one-out prediction of the mean alone.
    gains : array of shape (T + 1, n, N)
        What each iteration adds to the leave-one-out prediction; 0 where the gate has stopped the row.
    active : bool array of shape (T + 1, n)
        Whether the row still reasons at that iteration.
    """

    mean: Array
    gains: Array
    active: NDArray[np.bool_]


@dataclass(frozen=True)
class ShrunkReadout:
    """Innovations, their coefficients, one shrink factor an iteration, and the leverage at which a row stops.

    `coefficients` has shape (p + 1, N); row 0 belongs to the constant. `reference` is the row about which increments
    are linearised.
    """

    reference: Array
    basis: Basis
    coefficients: Array
    shrink: Array
    caps: Array

    @property
    def n_iter(self) -> int:
        """Number of iterations that it reads."""
        return len(self.shrink) - 1

    @property
    def shrinkage_of_columns(self) -> Array:
        """The factor of each innovation, 1 for the constant; shape (p + 1,)."""
        return np.repeat(np.r_[1.0, self.shrink], np.diff([0, 1, *self.basis.ends]))

    @property
    def degrees_of_freedom(self) -> float:
        """The trace of the smoother, the gate left aside."""
        return float(self.shrinkage_of_columns.sum())

    def innovations(self, network: Network, initial: Array) -> Array:
        """Return Q of rows with these initial states."""
        found = islice(increments(network, initial, self.reference), self.n_iter + 1)
        return self.basis(increment.linearised for increment in found)

    def factors(self, Q: Array) -> Array:
        """Return the factor of every innovation of every row: its iteration's shrinkage, or 0 after the gate."""
        factor = np.repeat(np.where(self.active(Q), self.shrink[:, None], 0.0), np.diff([1, *self.basis.ends]), axis=0)
        return np.hstack([np.ones((len(Q), 1)), factor.T])

    def active(self, Q: Array) -> NDArray[np.bool_]:
        """Say which rows still reason at each iteration, shape (T + 1, n)."""
        active: NDArray[np.bool_] = np.logical_and.accumulate(
            leverages(Q, self.basis.ends) <= self.caps[:, None], axis=0
        )
        return active

    def scores(self, network: Network, initial: Array) -> Array:
        """Return the raw class scores of rows with these initial states, shape (n, N)."""
        Q = self.innovations(network, initial)
        return (Q * self.factors(Q)) @ self.coefficients

    def outer(self, network: Network) -> tuple[Array, Array]:
        """Return the outer weights on the states and their bias; shrunk, but not gated."""
        shrunk = self.shrinkage_of_columns[:, None] * self.coefficients
        K, constant = self.basis.coefficients(shrunk, len(self.reference))
        R, shift = states_readout(network, self.reference, K)
        return R, constant + shift


def gate_caps(ends: Sequence[int], total: float) -> Array:
    """Return the largest leverage at which a row may still use iteration t: where it would extrapolate, it stops."""
    p = np.asarray(ends, dtype=np.float64)
    return np.maximum(GATE_FLOOR, GATE_MULTIPLE * p / np.maximum(total - p, 1.0))


def leverages(Q: Array, ends: Sequence[int]) -> Array:
    """Return the leverage of each row after each iteration, shape (T + 1, n)."""
    starts = [1, *ends[:-1]]
    return np.cumsum([(Q[:, a:b] ** 2).sum(axis=1) for a, b in zip(starts, ends, strict=True)], axis=0) + Q[:, 0] ** 2


def active_rows(Q: Array, ends: Sequence[int], total: float, unit: Array) -> NDArray[np.bool_]:
    """Say which training rows still reason at each iteration, by the leverage h / (1 − v h) they have from outside."""
    leverage = leverages(Q, ends)
    outside = leverage / np.maximum(1 - unit * leverage, LEAST_FREE)
    active: NDArray[np.bool_] = np.logical_and.accumulate(outside <= gate_caps(ends, total)[:, None], axis=0)
    return active


def trace(Q: Array, ends: Sequence[int], target: Array, C: Array, total: float, unit: Array) -> Path:
    """Follow the leave-one-out predictions through the iterations; `total` is the weight of all training rows."""
    leverage, active = leverages(Q, ends), active_rows(Q, ends, total, unit)
    fitted = Q[:, :1] @ C[:1]
    mean = previous = leave_one_out(target, fitted, Q[:, 0] ** 2, unit)
    gains = np.zeros((len(ends), *target.shape))
    for t, (a, b) in enumerate(zip([1, *ends[:-1]], ends, strict=True)):
        fitted = fitted + Q[:, a:b] @ C[a:b]
        alone = leave_one_out(target, fitted, leverage[t], unit)
        following = np.where(active[t][:, None], alone, previous)
        gains[t], previous = following - previous, following
    return Path(mean, gains, active)


def shrink_factors(path: Path, target: Array, sample_weight: Array) -> Array:
    """Return 1 ≥ d⁰ ≥ d¹ ≥ … ≥ 0, one factor an iteration, with the least leave-one-out squared error.

    With d the suffix sums of u, u ≥ 0 and Σu ≤ 1, this is the point of a simplex nearest to a target: minimise
    ‖Σ_j u_j (residual − v_j)‖², where vertex v_j is the sum of the first j gains. The non-negative least squares of
    that with one more row, Σu ≈ 1, has the same direction (scaling u trades the two terms monotonically), so it is
    solved once and divided by its sum.
    """
    return factors_from(gains_gram(path, target, sample_weight))


def gains_gram(path: Path, target: Array, sample_weight: Array) -> Array:
    """Return the Gram matrix of the iterations' gains and of what the mean leaves, shape (T + 2, T + 2)."""
    root = np.sqrt(sample_weight)[:, None]
    flat = np.vstack([(path.gains * root).reshape(len(path.gains), -1), ((target - path.mean) * root).reshape(1, -1)])
    gram: Array = flat @ flat.T
    return gram


def factors_from(gram: Array) -> Array:
    """Return the shrink factors that belong to a Gram matrix of gains."""
    n_steps = len(gram) - 1
    vertices = np.vstack([-np.triu(np.ones((n_steps, n_steps + 1)), 1), np.ones((1, n_steps + 1))])
    value, vector = np.linalg.eigh(vertices.T @ gram @ vertices / (gram[-1, -1] or 1.0))
    factor = np.sqrt(np.maximum(value, 0.0))[:, None] * vector.T
    u = nnls(np.vstack([factor, np.ones(n_steps + 1)]), np.append(np.zeros(n_steps + 1), 1.0))[0]
    shrink: Array = np.cumsum(u[::-1])[::-1][1:] / u.sum()
    return shrink


def fit_shrunken(
    reference: Array, basis: Basis, Q: Array, target: Array, sample_weight: Array, unit: Array
) -> tuple[ShrunkReadout, Array, Path]:
    """Solve the readout on the innovations; return it, its leave-one-out scores and the path to them.

    Iterations whose factor is 0 are cut off.
    """
    C = Q.T @ (sample_weight[:, None] * target)
    path = trace(Q, basis.ends, target, C, sample_weight.sum(), unit)
    shrink = shrink_factors(path, target, sample_weight)
    outside = path.mean + np.tensordot(shrink, path.gains, axes=1)
    return shrunk_readout(reference, basis, C, shrink, sample_weight.sum()), outside, path


def shrunk_readout(reference: Array, basis: Basis, C: Array, shrink: Array, total: float) -> ShrunkReadout:
    """Put a readout together; iterations whose factor is 0 are cut off."""
    last = max(int(np.count_nonzero(shrink > 0)) - 1, 0)
    basis, shrink = basis.cut(last), shrink[: last + 1]
    return ShrunkReadout(reference, basis, C[: basis.ends[-1]], shrink, gate_caps(basis.ends, total))
