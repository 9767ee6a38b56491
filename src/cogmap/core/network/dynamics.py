"""What a trajectory does in the end: fixed point, limit cycle, or neither within T (the paper's section II).

`contraction_bound` proves convergence from the weights alone: a map whose Lipschitz constant is below 1 in
some norm has one fixed point, which every trajectory reaches (Banach).

Easy to get wrong: with φ < 1 the map contains A⁰, so a contraction gives *each row* its fixed point. It is the
same one for all rows only if φ = 1, or if the states say so.

Rows that reach neither may only be slow, or wander for ever. The largest Lyapunov exponent tells: the mean logarithm by
which one step stretches a small difference, with the Jacobian δ ↦ φ (δ W) ∘ f′(A W + b) in closed form. Negative, the
row settles later, on a fixed point or a cycle; positive, nearby states part: chaos.
"""

from collections import deque
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..sums.space import STRIP, blocks, in_blocks
from ..types import Array
from .inner import spectral_norm
from .reasoning import Network, states

FOLLOWED = 1000
"""Most iterations that are followed, whatever `max_iter` allows; a row not settled by then counts as neither."""

LONGEST_PERIOD = 32
"""Longest limit cycle that is looked for: that many states are held at a time."""

EXPONENT_SKIPPED, EXPONENT_STEPS, EXPONENT_ROWS = 100, 300, 1000
"""Iterations before exponents are averaged and over which they are, and most rows of which they are computed.

In chaotic random networks of 50 concepts, the mean over 300 steps was within .05 of that over 30,000. Some wander for
thousands of steps before they come to rest after all; these are called chaotic.
"""

EXPONENT_MARGIN = 0.02
"""Exponents nearer to 0 tell nothing."""


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
    moves : array of shape (T,)
        The largest change of any activation of any row in each iteration.
    exponent : array of shape (n,)
        Largest Lyapunov exponent, an iteration, of rows whose `period` is 0: of all, or of 1,000 that are spread over
        them. NaN elsewhere.
    """

    period: NDArray[np.intp]
    reached_at: NDArray[np.intp]
    unique: bool
    contraction: float
    moves: Array
    exponent: Array

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
            wandering = f"{n - n_fixed - n_cycles} rows settle on neither within the iterations given"
            if not np.isnan(self.exponent).all():
                wandering += f" ({exponent_words(float(np.nanmax(self.exponent)))})"
            lines.append(wandering)
        proof = "proves convergence" if self.contraction < 1 else "proves nothing"
        lines.append(f"contraction factor at most {self.contraction:.3g}: {proof}")
        return "; ".join(lines)


class BlockVerdict(NamedTuple):
    """What a block of rows did: the verdict on each, how far any moved in each iteration, and the last three states."""

    period: NDArray[np.intp]
    reached_at: NDArray[np.intp]
    moves: Array
    last: Array


def diagnose(network: Network, initial: Array, n_iter: int, tol: float) -> Dynamics:
    """Classify the trajectories of rows with these initial states over `n_iter` iterations, `FOLLOWED` at most.

    A cycle of length P is accepted once it was seen twice: the states from `reached_at` on, at least 2P of
    them, agree with those P later within `tol` in every concept.
    """
    n_iter, n = min(n_iter, FOLLOWED), len(initial)
    parts = [
        follow(network, block, min(STRIP, n - start), n_iter, tol)
        for start, block in zip(range(0, n, STRIP), blocks(initial), strict=True)
    ]
    period, reached_at = (np.concatenate([part[i] for part in parts]) for i in range(2))
    moves = np.max([part.moves for part in parts], axis=0)
    last = np.concatenate([part.last for part in parts])
    exponent = np.full(n, np.nan)
    wandering = np.flatnonzero(period == 0)
    if n_iter and len(wandering):
        chosen = wandering[:: -(-len(wandering) // EXPONENT_ROWS)]
        exponent[chosen] = in_blocks(lambda block: largest_exponent(network, block), initial[chosen])
    return Dynamics(period, reached_at, _all_alike(last, period, tol), contraction_bound(network), moves, exponent)


def largest_exponent(
    network: Network, initial: Array, n_skipped: int = EXPONENT_SKIPPED, n_iter: int = EXPONENT_STEPS
) -> Array:
    """Return the largest Lyapunov exponent of each row, shape (n,): −inf where a difference vanishes altogether."""
    f, W, b = network.activation, network.weights, network.bias
    # Any direction but a few has a part along the one that grows most; all rows begin with the same.
    direction = np.random.default_rng(0).normal(size=len(b))
    tangent = np.broadcast_to(direction / np.linalg.norm(direction), initial.shape)
    total = np.zeros(len(initial))
    for t, state in enumerate(islice(states(network, initial), n_skipped + n_iter)):
        tangent = network.phi * (tangent @ W) * f.derivative(state @ W + b)
        size = np.sqrt((tangent * tangent).sum(axis=1))
        if t >= n_skipped:
            with np.errstate(divide="ignore"):
                total += np.log(size)
        tangent = tangent / np.where(size > 0, size, 1.0)[:, None]
    return total / n_iter


def exponent_words(exponent: float) -> str:
    """Say what a largest Lyapunov exponent means."""
    value = f"largest Lyapunov exponent {exponent:+.2g}"
    if exponent > EXPONENT_MARGIN:
        return f"{value}: chaotic"
    if exponent < -EXPONENT_MARGIN:
        return f"{value}: settles later"
    return f"{value}: neither chaotic nor settling"


def follow(network: Network, initial: Array, n: int, n_iter: int, tol: float) -> BlockVerdict:
    """Follow the first `n` rows of a block; a state that equals the one before it, bit by bit, is the last to come."""
    longest, n_states = min((n_iter + 1) // 2, LONGEST_PERIOD), n_iter + 1
    # For each length P, the first state from which on all agree with those P later.
    start, moves = np.zeros((longest + 1, n), dtype=np.intp), np.zeros(n_iter)
    recent: deque[Array] = deque(maxlen=max(longest, 3))
    apart, still = np.empty((n, initial.shape[1])), 0
    for t, state in enumerate(islice(states(network, initial), n_states)):
        for P in range(1, min(t, longest) + 1):
            np.subtract(state[:n], recent[-P][:n], out=apart)
            change = np.abs(apart, out=apart).max(axis=1, initial=0.0)
            start[P, change >= tol] = t - P + 1
            if P == 1:
                moves[t - 1] = change.max()
                still = still + 1 if moves[t - 1] < tol / (2 * longest) else 0
                if still >= longest:  # tiny steps, as many as the longest period has: no recent state is `tol` away
                    break
        recent.append(state)
        if t and moves[t - 1] == 0:
            recent.extend([state, state])
            break
    period, reached_at = np.zeros(n, dtype=np.intp), np.full(n, -1, dtype=np.intp)
    for P in range(longest, 0, -1):
        seen_twice = start[P] + 2 * P <= n_states
        period[seen_twice], reached_at[seen_twice] = P, start[P, seen_twice]
    last = np.stack([state[:n] for state in list(recent)[-min(3, n_states) :]], axis=1)
    return BlockVerdict(period, reached_at, moves, last)


def merged(parts: list[Dynamics]) -> Dynamics:
    """Return the verdict on networks side by side: settled where all are, with the common multiple of their periods."""
    period = np.lcm.reduce([part.period for part in parts], axis=0)
    last = np.max([part.reached_at for part in parts], axis=0)
    return Dynamics(
        period,
        np.where(period > 0, last, -1),
        all(part.unique for part in parts),
        max(part.contraction for part in parts),
        np.max([part.moves for part in parts], axis=0),
        np.fmax.reduce([part.exponent for part in parts], axis=0),
    )


def _all_alike(last: Array, period: NDArray[np.intp], tol: float) -> bool:
    """Whether all rows ended in one fixed point; `last` has their last three states.

    A row whose steps shrink by the factor ρ is still up to step / (1 − ρ) away from its limit, so slow
    convergence to one point is not mistaken for many points.
    """
    if len(period) == 0 or (period != 1).any():
        return False
    step = np.abs(np.diff(last, axis=1)).max(axis=(0, 2), initial=0.0)
    rate = min(step[-1] / step[0], 0.99) if step[0] > 0 else 0.0
    return bool(np.ptp(last[:, -1], axis=0).max(initial=0.0) <= 2 * tol / (1 - rate))


def contraction_bound(network: Network) -> float:
    """Return φ · L_f · ‖W‖, with the smallest of the 1-, 2- and ∞-norms: each of them is a valid bound.

    For the classic rules φ is 1, and the memory rule's matrix is W + I.
    """
    size = np.abs(network.weights)
    norm = min(spectral_norm(network.weights), *(float(size.sum(axis=axis).max(initial=0.0)) for axis in (0, 1)))
    # 0 first: a step has an infinite derivative.
    return float(network.phi * network.activation.lipschitz * norm) if network.phi * norm else 0.0
