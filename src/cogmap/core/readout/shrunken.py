"""The readout on innovations: every number of iterations from one solution, shrunk and gated by leave-one-out.

With Q orthonormal under the weights, the coefficients C = Σ_i w_i q_iᵀ y_i of the first p columns do not depend on the
later ones. Fit, leverage and leave-one-out prediction after each iteration are therefore running sums.

Easy to get wrong: leverage of a *new* row is unbounded, and in late innovations an outlier's is huge. The gate ends the
reasoning of a row once its leverage passes a cap; in training it sees the leverage that the row has from outside.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from ..constants import GATE_FLOOR, GATE_MULTIPLE, LEAST_FREE
from ..network.reasoning import Network
from ..sums.space import NUMPY, DeviceArray, Space
from ..trajectory.increments import Course, increments, states_readout
from ..trajectory.innovations import Basis
from ..types import Array
from .states import leave_one_out
from .terms import Terms

NOTHING = 1e-24
"""Share of what the mean leaves, squared, below which an iteration's gains are rounding."""


GATE_MARGIN = 1e-3
"""How far from 1 a cap of leverages stays."""

FAR = 1e150
"""Size of an innovation beyond which all are as far: the square of a larger one would be no number."""


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

    def terms(self, space: Space, network: Network, initial: DeviceArray) -> Terms:
        """Return the raw class scores of rows with these initial states as sums over the innovations."""
        sizes = np.diff([1, *self.basis.ends])
        iteration = np.repeat(np.arange(len(sizes)), sizes)
        first = float(self.basis.to_innovations[0, 0])
        parts, stopped = [], None
        if len(iteration):
            Q = self._innovations(space, network, initial)
            stopped = self._stopped(space, Q)
            factor = space.xp.where(stopped, 0.0, space.put(self.shrink))
            bounds = enumerate(pairwise([1, *self.basis.ends]))
            parts = [(Q[:, a:b], factor[:, t : t + 1]) for t, (a, b) in bounds if b > a]
        concept = np.concatenate(self.basis.columns)
        base = first * self.coefficients[0]
        return Terms(lambda: parts, self.coefficients[1:], iteration, concept, base, stopped=stopped)

    def _innovations(self, space: Space, network: Network, initial: DeviceArray) -> DeviceArray:
        """Return Q of rows with these initial states, shape (n, p + 1)."""
        course = Course(space, network, self.reference, self.n_iter)
        chosen = zip(map(space.put, self.basis.columns), increments(course, initial), strict=False)
        parts = [space.ones(initial), *(space.take(E, columns, axis=1) for columns, (E, _, _) in chosen)]
        return space.times_triangle(space.hstack(parts), space.put(self.basis.scaled(course.gain)))

    def _stopped(self, space: Space, Q: DeviceArray) -> DeviceArray:
        """Say which rows do not reason any more at each iteration, shape (n, T + 1)."""
        exceeded = space.double(leverages(space, Q, self.basis.ends) > space.put(self.caps))
        # A row that was stopped once stays stopped: how often it was, up to each iteration.
        return exceeded @ space.put(np.triu(np.ones((len(self.caps),) * 2))) > 0.5

    def outer(self, network: Network) -> tuple[Array, Array]:
        """Return the outer weights on the states and their bias; shrunk, but not gated."""
        shrunk = self.shrinkage_of_columns[:, None] * self.coefficients
        K, constant = self.basis.coefficients(shrunk, len(self.reference))
        R, shift = states_readout(network, self.reference, K)
        return R, constant + shift


def gate_caps(ends: Sequence[int], total: float) -> Array:
    """Return the largest leverage at which a row may still use iteration t: where it would extrapolate, it stops."""
    p = np.asarray(ends, dtype=np.float64)
    caps = np.maximum(GATE_FLOOR, GATE_MULTIPLE * p / np.maximum(total - p, 1.0))
    # A row that alone has a value has a leverage of 1: beside a cap of 1, that of 4 p rows, rounding would decide.
    return np.where(np.abs(caps - 1) < GATE_MARGIN, 1 + GATE_MARGIN, caps)


def leverages(space: Space, Q: DeviceArray, ends: Sequence[int]) -> DeviceArray:
    """Return the leverage of each row after each iteration, shape (n, T + 1)."""
    upto = np.arange(ends[-1])[:, None] < np.asarray(ends)
    near = space.xp.clip(Q, -FAR, FAR)
    return (near * near) @ space.put(upto.astype(np.float64))


def from_outside(space: Space, leverage: DeviceArray, unit: DeviceArray) -> DeviceArray:
    """Return the leverage h / (1 − v h) that training rows have when `unit` of their weight is left out."""
    return leverage / space.xp.clip(1 - unit[:, None] * leverage, LEAST_FREE, None)


def active_rows(Q: Array, ends: Sequence[int], total: float, unit: Array) -> NDArray[np.bool_]:
    """Say which training rows still reason at each iteration, (n, T + 1), by the leverage they have from outside."""
    outside = from_outside(NUMPY, leverages(NUMPY, Q, ends), unit)
    active: NDArray[np.bool_] = np.logical_and.accumulate(outside <= gate_caps(ends, total), axis=1)
    return active


def trace(
    space: Space,
    Q: DeviceArray,
    ends: Sequence[int],
    target: DeviceArray,
    C: DeviceArray,
    total: float,
    unit: DeviceArray,
) -> Path:
    """Follow the leave-one-out predictions through the iterations; `total` is the weight of all training rows."""
    xp, caps = space.xp, gate_caps(ends, total).tolist()
    leverage = leverages(space, Q, ends)
    outside = from_outside(space, leverage, unit)
    fitted = Q[:, :1] @ C[:1, :]
    mean = previous = leave_one_out(space, target, fitted, Q[:, 0] ** 2, unit)
    gains, active = space.empty(len(ends), *target.shape), []
    reasons = xp.ones(Q.shape[0], dtype=xp.bool, device=space.device)
    # Columns are orthonormal, so coefficients do not change as columns come: fits and leverages are running sums.
    for t, (a, b) in enumerate(pairwise([1, *ends])):
        reasons = reasons & (outside[:, t] <= caps[t])
        fitted = fitted + Q[:, a:b] @ C[a:b, :]
        alone = leave_one_out(space, target, fitted, leverage[:, t], unit)
        following = xp.where(reasons[:, None], alone, previous)
        gains[t, :, :] = following - previous
        previous = following
        active.append(reasons)
    return Path(mean, gains, xp.stack(active))


def gains_gram(space: Space, path: Path, target: DeviceArray, weight: DeviceArray) -> DeviceArray:
    """Return the Gram matrix of the iterations' gains and of what the mean leaves, shape (T + 2, T + 2)."""
    xp, root = space.xp, space.xp.sqrt(weight)[:, None]
    gains = xp.reshape(path.gains * root, (path.gains.shape[0], -1))
    flat = xp.concat([gains, xp.reshape((target - path.mean) * root, (1, -1))])
    return flat @ flat.T


def factors_from(gram: Array) -> Array:
    """Return 1 ≥ d⁰ ≥ d¹ ≥ … ≥ 0, one factor an iteration, with the least leave-one-out squared error.

    `gram` is the Gram matrix of the gains. With d the suffix sums of u, u ≥ 0 and Σu ≤ 1, this is the point of a
    simplex nearest to a target: minimise ‖Σ_j u_j (residual − v_j)‖², where vertex v_j is the sum of the first j gains.
    The non-negative least squares of that with one more row, Σu ≈ 1, has the same direction (scaling u trades the two
    terms monotonically), so it is solved once and divided by its sum.
    """
    # Gains of rounding alone would be weighed by rounding: the iterations after the last that counts are cut.
    n_steps = int(np.max(np.flatnonzero(np.diagonal(gram)[:-1] > NOTHING * gram[-1, -1]), initial=0)) + 1
    read = np.r_[:n_steps, len(gram) - 1]
    vertices = np.vstack([-np.triu(np.ones((n_steps, n_steps + 1)), 1), np.ones((1, n_steps + 1))])
    value, vector = np.linalg.eigh(vertices.T @ gram[np.ix_(read, read)] @ vertices / (gram[-1, -1] or 1.0))
    factor = np.sqrt(np.maximum(value, 0.0))[:, None] * vector.T
    u = nnls(np.vstack([factor, np.ones(n_steps + 1)]), np.append(np.zeros(n_steps + 1), 1.0))[0]
    shrink = np.zeros(len(gram) - 1)
    shrink[:n_steps] = np.cumsum(u[::-1])[::-1][1:] / u.sum()
    return shrink


def shrunk_readout(reference: Array, basis: Basis, C: Array, shrink: Array, total: float) -> ShrunkReadout:
    """Put a readout together; iterations whose factor is 0 are cut off."""
    last = max(int(np.count_nonzero(shrink > 0)) - 1, 0)
    basis, shrink = basis.cut(last), shrink[: last + 1]
    return ShrunkReadout(reference, basis, C[: basis.ends[-1]], shrink, gate_caps(basis.ends, total))
