"""What a trajectory does in the end: fixed point, limit cycle, or neither within T (the paper's section II).

`contraction_bound` proves convergence from the weights alone: a map whose Lipschitz constant is below 1 in
some norm has one fixed point, which every trajectory reaches (Banach).

Easy to get wrong: with φ < 1 the map contains A⁰, so a contraction gives *each row* its fixed point. It is the
same one for all rows only if φ = 1, or if the states say so.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .activation import Array
from .inner import spectral_norm
from .reasoning import Network


@dataclass(frozen=True)
class Dynamics:
    """The verdict on each row of a trajectory.

    Attributes
    ----------
    period : int array of shape (n,)
        1 for a fixed point, P ≥ 2 for a limit cycle of that length, 0 for neither within T.
    reached_at : int array of shape (n,)
        The iteration from which the verdict holds; −1 where `period` is 0.
    unique : bool
        Whether all rows reached one and the same fixed point.
    contraction : float
        Upper bound on the contraction factor; below 1 it proves that every trajectory converges.
    """

    period: NDArray[np.intp]
    reached_at: NDArray[np.intp]
    unique: bool
    contraction: float

    def __str__(self) -> str:
        n, n_cycles = len(self.period), int((self.period > 1).sum())
        n_fixed = int((self.period == 1).sum())
        lines = [f"{n_fixed} of {n} rows reach a fixed point" + (", the same one" if self.unique else "")]
        if n_fixed:
            lines[0] += f", at iteration {self.reached_at[self.period == 1].max()} at the latest"
        if n_cycles:
            periods = ", ".join(map(str, np.unique(self.period[self.period > 1])))
            lines.append(f"{n_cycles} rows enter a limit cycle (period {periods})")
        if n - n_fixed - n_cycles:
            lines.append(f"{n - n_fixed - n_cycles} rows settle on neither within the iterations given")
        proof = "proves convergence" if self.contraction < 1 else "proves nothing"
        lines.append(f"contraction factor at most {self.contraction:.3g}: {proof}")
        return "; ".join(lines)


def _first_settled(moved: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Return per row the first column from which on no entry is true; the number of columns if the last one is."""
    start: NDArray[np.intp] = moved.shape[1] - np.argmax(np.c_[moved[:, ::-1], np.ones(len(moved), bool)], axis=1)
    return start


def diagnose(trajectory: Array, network: Network, tol: float) -> Dynamics:
    """Classify each row of a trajectory of shape (n, T + 1, M).

    A cycle of length P is accepted once it was seen twice: the states from `reached_at` on, at least 2P of
    them, agree with those P later within `tol` in every concept.
    """
    n, n_states = trajectory.shape[:2]
    period, reached_at = np.zeros(n, dtype=np.intp), np.full(n, -1, dtype=np.intp)
    for P in range(1, n_states // 2 + 1):
        moved = np.abs(trajectory[:, P:] - trajectory[:, :-P]).max(axis=2, initial=0.0) >= tol
        start = _first_settled(moved)
        found = (period == 0) & (start + 2 * P <= n_states)
        period[found], reached_at[found] = P, start[found]
    return Dynamics(period, reached_at, _all_alike(trajectory, period, tol), contraction_bound(network))


def merged(parts: list[Dynamics]) -> Dynamics:
    """Return the verdict on networks side by side: settled where all are, with the common multiple of their periods."""
    period = np.lcm.reduce([part.period for part in parts], axis=0)
    last = np.max([part.reached_at for part in parts], axis=0)
    return Dynamics(
        period,
        np.where(period > 0, last, -1),
        all(part.unique for part in parts),
        max(part.contraction for part in parts),
    )


def _all_alike(trajectory: Array, period: NDArray[np.intp], tol: float) -> bool:
    """Whether all rows ended in one fixed point.

    A row whose steps shrink by the factor ρ is still up to step / (1 − ρ) away from its limit, so slow
    convergence to one point is not mistaken for many points.
    """
    if len(period) == 0 or (period != 1).any():
        return False
    step = np.abs(np.diff(trajectory[:, -3:], axis=1)).max(axis=(0, 2), initial=0.0)
    rate = min(step[-1] / step[0], 0.99) if step[0] > 0 else 0.0
    return bool(np.ptp(trajectory[:, -1], axis=0).max(initial=0.0) <= 2 * tol / (1 - rate))


def contraction_bound(network: Network) -> float:
    """Return φ · L_f · ‖W‖, with the smallest of the 1-, 2- and ∞-norms: each of them is a valid bound.

    For the classic rules φ is 1, and the memory rule's matrix is W + I.
    """
    size = np.abs(network.weights)
    norm = min(spectral_norm(network.weights), *(float(size.sum(axis=axis).max(initial=0.0)) for axis in (0, 1)))
    return float(network.phi * network.activation.lipschitz * norm)
