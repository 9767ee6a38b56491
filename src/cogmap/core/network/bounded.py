"""Least squares under bounds, exactly: min ‖A w − c‖² for lower ≤ w ≤ upper; of several solutions, the shortest.

An entry whose bounds are equal is held there, and its column leaves the problem. The other entries are first left to
themselves. Where one of them breaks a bound, an active set finds those that the fit pulls against their bounds (Stark
and Parker's bounded-variable least squares, on what the columns without bounds cannot explain); these are held too.

Easy to get wrong: where columns depend on each other, many w fit equally well, and an active set returns whichever it
met first. All of them have the same gradient, so the entries that the fit holds are the same; among the rest, the
shortest w is a least-distance problem (Lawson and Hanson, chapter 23). It is unique, whatever the order of the columns.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from ..types import Array

Mask = NDArray[np.bool_]

STATIONARY = 1e-12
"""A gradient below this share of ‖column‖ · ‖c‖ is rounding, and so is a step beyond a bound of this share of ‖w‖."""

UNMOVED = 1e-9
"""An entry of which the null space moves no more than this share is the same in all solutions; and a bound that counts
no more than this share of the one that counts most holds nothing.
"""


def bounded_least_squares(A: Array, c: Array, lower: Array, upper: Array, noise: float = 0.0) -> Array:
    """Return the shortest of the w that minimise ‖A w − c‖ within bounds, which hold exactly.

    Parameters
    ----------
    A : array of shape (n, m)
        Columns.
    c : array of shape (n,)
        Target.
    lower, upper : arrays of shape (m,)
        Bounds, −inf or inf where there are none; equal bounds hold an entry.
    noise : float, default=0
        Singular values of A, or of some of its columns, count as zero up to this value.

    Returns
    -------
    array of shape (m,)
        The solution.
    """
    held = lower == upper
    w = _shortest(A, c, held, lower, noise)
    # A shortest solution with fewer conditions that keeps all bounds is the shortest of all: no further step is needed.
    if not _inside(w, lower, upper):
        held, value = _held_by_fit(A, c, lower, upper, noise)
        w = _shortest(A, c, held, value, noise)
        if not _inside(w, lower, upper):
            held, value = _held_by_length(A, w, lower, upper, held, noise)
            w = _shortest(A, c, held, value, noise)
    # What is still outside is rounding; the bounds are promised to the last bit.
    return np.clip(w, lower, upper)


def _inside(w: Array, lower: Array, upper: Array) -> bool:
    slack = STATIONARY * np.abs(w).max(initial=0.0)
    return bool(((w >= lower - slack) & (w <= upper + slack)).all())


def _shortest(A: Array, c: Array, held: Mask, value: Array, noise: float) -> Array:
    """Return the shortest least-squares solution whose held entries have these values."""
    w = np.where(held, value, 0.0)
    rest = ~held
    U, s, Vt = np.linalg.svd(A[:, rest], full_matrices=False)
    kept = s > noise
    w[rest] = (Vt[kept].T / s[kept]) @ (U[:, kept].T @ (c - A[:, held] @ value[held]))
    return w


def _held_by_fit(A: Array, c: Array, lower: Array, upper: Array, noise: float) -> tuple[Mask, Array]:
    """Return which entries the fit pulls against a bound, or whose bounds are equal, and the values of these."""
    held, value = lower == upper, lower.copy()
    bounded = ~held & (np.isfinite(lower) | np.isfinite(upper))
    target = c - A[:, held] @ lower[held]
    U, s, _ = np.linalg.svd(A[:, ~held & ~bounded], full_matrices=False)
    Q = U[:, s > noise]
    P, d = A[:, bounded], target
    for _ in range(2):  # Once leaves a rounding error of the size of what was taken away.
        P, d = P - Q @ (Q.T @ P), d - Q @ (Q.T @ d)
    # Of a column that the others explain rounding is left; as 0 it has no gradient, and is never set free.
    P = np.where(np.linalg.norm(P, axis=0) > noise, P, 0.0)
    rounding = STATIONARY * np.linalg.norm(A[:, bounded], axis=0) * np.linalg.norm(target)
    rounding = np.maximum(rounding, np.finfo(np.float64).tiny)
    x = _active_set(P, d, lower[bounded], upper[bounded], rounding)
    pull = P.T @ (d - P @ x)
    at_bound = (x == lower[bounded]) | (x == upper[bounded])
    held[bounded], value[bounded] = at_bound & (np.abs(pull) > rounding), x
    return held, value


def _active_set(P: Array, d: Array, lower: Array, upper: Array, rounding: Array) -> Array:
    """Return some x that minimises ‖P x − d‖ within bounds, of which each entry has at least one.

    All entries start at a bound. The one that the gradient pulls away most is set free, until none is pulled. Its
    column is then independent of those that are free already, because these have no gradient left.
    """
    x = np.where(np.abs(lower) <= np.abs(upper), lower, upper)
    free, stuck = np.zeros(len(x), bool), np.zeros(len(x), bool)
    # Without rounding every step lowers the error, so no set of free entries returns; the limit is for rounding.
    for _ in range(10 * len(x)):
        pull = P.T @ (d - P @ x)
        inwards = np.maximum(np.where(x == lower, pull, -np.inf), np.where(x == upper, -pull, -np.inf))
        gain = np.where(free | stuck, -np.inf, inwards / rounding)
        j = int(np.argmax(gain))
        if gain[j] <= 1:
            break
        before, free[j] = x[j], True
        x, free = _step(P, d, x, free, lower, upper)
        # Rounding can turn a freed entry back at once; it waits until another has moved.
        moved = free[j] or x[j] != before
        stuck = np.zeros(len(x), bool) if moved else stuck | (np.arange(len(x)) == j)
    return x


def _step(P: Array, d: Array, x: Array, free: Mask, lower: Array, upper: Array) -> tuple[Array, Mask]:
    """Move the free entries to their least squares; an entry that meets a bound on the way stays there."""
    x, free = x.copy(), free.copy()
    while free.any():
        z = x.copy()
        z[free] = np.linalg.lstsq(P[:, free], d - P[:, ~free] @ x[~free], rcond=None)[0]
        beyond = (z < lower) | (z > upper)
        if not beyond.any():
            return z, free
        limit = np.where(z < lower, lower, upper)
        share = np.ones(len(x))
        share[beyond] = (limit[beyond] - x[beyond]) / (z[beyond] - x[beyond])
        x = np.clip(x + share.min() * (z - x), lower, upper)
        met = beyond & (share == share.min())
        # The limit itself, not the rounded sum: whether an entry is at a bound is asked by equality.
        x[met], free[met] = limit[met], False
    return x, free


def _held_by_length(A: Array, w: Array, lower: Array, upper: Array, held: Mask, noise: float) -> tuple[Mask, Array]:
    """Return `held` and the entries that are at a bound in the shortest of all solutions, and the values of these.

    With `w` the shortest when bounds are left aside and N an orthonormal basis of the null space, all solutions are
    w + N z, and the shortest has the least ‖z‖ for which lower ≤ w + N z ≤ upper. Its dual is a non-negative least
    squares, whose positive entries are the bounds that it meets.
    """
    value, free = w.copy(), np.flatnonzero(~held)
    value[held] = np.clip(w[held], lower[held], upper[held])
    _, s, Vt = np.linalg.svd(A[:, free])
    N = Vt[int((s > noise).sum()) :].T
    movable = np.linalg.norm(N, axis=1) > UNMOVED
    sides = [(1.0, lower, np.isfinite(lower[free]) & movable), (-1.0, upper, np.isfinite(upper[free]) & movable)]
    G = np.vstack([sign * N[mine] for sign, _, mine in sides])
    h = np.concatenate([sign * (bound - w)[free][mine] for sign, bound, mine in sides])
    if h.max(initial=0.0) <= 0:
        return held, value
    # Dividing h divides z, and leaves the bounds that it meets; both parts of the problem are then of one size.
    dual, _ = nnls(np.vstack([G.T, h / h.max()]), np.r_[np.zeros(N.shape[1]), 1.0])
    # What rounding leaves above 0 would hold an entry that no bound holds.
    active = dual > UNMOVED * dual.max(initial=0.0)
    met, limit = (
        np.concatenate([free[mine] for _, _, mine in sides])[active],
        np.concatenate([bound[free][mine] for _, bound, mine in sides])[active],
    )
    held, value[met] = held.copy(), limit
    held[met] = True
    return held, value
