"""Innovations: what each iteration adds beyond all before it, as orthonormal columns in the order of t.

The increments F = (1 | A⁰ | E¹ | …), columns scaled by powers of two, are orthogonalised block by block: Q = F T with T
upper triangular, so the first columns solve the readout for every smaller number of iterations too.

Easy to get wrong: F is ill-conditioned, so T has entries up to `AMPLIFICATION` and cannot be known to full precision.
It need not be: whatever T came out is applied to the training rows as it will be to new ones, and one further factor,
which is well-conditioned, makes *that* orthonormal. An error in T then changes the basis of a span and not the
solution; what remains is the rounding of the product itself. Columns are chosen whole, by pivoting: unlike a cut among
singular vectors, a set of columns spans the same space after any rounding.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import qr, solve_triangular
from scipy.linalg.blas import dgemm

from ..constants import AMPLIFICATION, NOVELTY
from ..sums.lapack import dpotrf, dtrtri
from ..sums.space import DeviceArray
from ..sums.statistics import differ
from ..types import Array
from .increments import Course, increments

INDEPENDENT = 1e-3
"""Part of an innovation that must be new once the map has been applied to all rows; it is about 1 on most data.

The whitening is then orthonormal to 1e-10."""

CANCELLED = 0.01
"""A projection that leaves less than this of a column is repeated: its rounding errors would not be orthogonal."""

TIE_BREAK = 0.99
"""Preference of a block's last column against its first where pivots tie, as for a feature and its complement."""


@dataclass(frozen=True)
class Basis:
    """The map from increments to innovations.

    Attributes
    ----------
    columns, scales : tuple of arrays
        For each iteration, the concepts whose increments entered and the powers of two that scale them.
    map, whiten : arrays of shape (p + 1, p + 1)
        Q = (F · map) · whiten, both upper triangular; column 0 is the constant.
    """

    columns: tuple[NDArray[np.intp], ...]
    scales: tuple[Array, ...]
    map: Array
    whiten: Array

    @property
    def ends(self) -> list[int]:
        """Number of columns of Q, the constant among them, up to each iteration."""
        return list(1 + np.cumsum([len(columns) for columns in self.columns]))

    @property
    def condition(self) -> float:
        """Largest factor by which an innovation magnifies a rounding error of the scaled increments."""
        return float(np.linalg.norm(self.map, axis=0).max() / self.map[0, 0])

    @cached_property
    def to_innovations(self) -> Array:
        """Map and whitening in one product: Q = F · to_innovations."""
        return self.map @ self.whiten

    def scaled(self, gain: float, matrix: Array | None = None) -> Array:
        """Return a map of F for increments as `increments` yields them: not scaled, and without the factor `gain`.

        By default that is the map to the innovations.
        """
        sizes = np.concatenate([[1.0], self.scales[0], *(gain * scale for scale in self.scales[1:])])
        return sizes[:, None] * (self.to_innovations if matrix is None else matrix)

    def cut(self, n_iterations: int) -> "Basis":
        """Return the basis of the first `n_iterations` iterations after A⁰."""
        return self.first(self.ends[n_iterations])

    def until(self, changes: Array, tol: float) -> "Basis":
        """Return the basis up to the fixed point: the first iteration at which nothing changes by `tol` or more."""
        fixed = np.flatnonzero(changes[1:] < tol)
        return self.cut(fixed[0]) if len(fixed) else self

    def first(self, n_columns: int) -> "Basis":
        """Return the basis of the first columns of Q, the constant among them; A⁰ stays, even without a column."""
        starts = [1, *self.ends[:-1]]
        blocks = [t for t, start in enumerate(starts) if start < n_columns or t == 0]
        return Basis(
            tuple(self.columns[t][: n_columns - starts[t]] for t in blocks),
            tuple(self.scales[t][: n_columns - starts[t]] for t in blocks),
            self.map[:n_columns, :n_columns],
            self.whiten[:n_columns, :n_columns],
        )

    def coefficients(self, C: Array, n_concepts: int) -> tuple[Array, Array]:
        """Turn coefficients of Q, shape (p + 1, N), into those of A⁰, E¹, …, shape (T + 1, M, N), and a constant."""
        raw = self.map @ (self.whiten @ C)
        coefficients, start = np.zeros((len(self.columns), n_concepts, C.shape[1])), 1
        for t, (columns, scale) in enumerate(zip(self.columns, self.scales, strict=True)):
            coefficients[t, columns] = raw[start : start + len(columns)] * scale[:, None]
            start += len(columns)
        return coefficients, raw[0]


def grow(blocks: Iterable[Array], sample_weight: Array, max_rank: int) -> tuple[Basis, Array]:
    """Build the map on rows whose increments these are; return it, not whitened yet, and their F times √w.

    Blocks are taken until one adds nothing, or `max_rank` innovations are found. The block of A⁰ is always there, if
    need be without a column.
    """
    root, total = np.sqrt(sample_weight)[:, None], sample_weight.sum()
    # Room for all columns at once, in Fortran's order: BLAS takes the leading ones of it without a copy.
    F, Q = (np.empty((len(root), max_rank + 1), order="F") for _ in range(2))
    F[:, :1], Q[:, :1] = root, root / np.sqrt(total)
    T = np.full((1, 1), total**-0.5)
    columns: list[NDArray[np.intp]] = []
    scales: list[Array] = []
    for block in blocks:
        low, high = block.min(axis=0), block.max(axis=0)
        # A constant column is a multiple of column 0; what is left of it without that would be rounding. One that spans
        # next to nothing, as all do where φ is, has no scale that could be a number.
        varies = np.flatnonzero(differ(low, high))
        scale = 1 / _binary_ceiling(np.maximum(-low, high)[varies])
        new = np.asfortranarray(block[:, varies])
        new *= scale
        new *= root
        p = len(T)
        chosen, q, T = _innovate(new, Q[:, :p], T, max_rank + 1 - p)
        if len(chosen) > 0 or not columns:
            F[:, p : len(T)], Q[:, p : len(T)] = new[:, chosen], q
            columns.append(varies[chosen])
            scales.append(scale[chosen])
        if len(chosen) == 0:
            break
    return Basis(tuple(columns), tuple(scales), T, np.eye(len(T))), F[:, : len(T)]


def features(course: Course, basis: Basis, initial: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
    """Return the columns of the increments that the basis reads, and the largest change of any activation.

    The columns are 1 and those of A⁰, E¹, …, (n, p + 1), as `increments` yields them; the changes have shape (T + 1,).
    """
    space, ends = course.space, basis.ends
    columns = [space.put(chosen) for chosen in basis.columns]
    F = space.matrix(initial.shape[0], ends[-1])
    F[:, 0] = 1.0

    def strip(rows: slice) -> DeviceArray:
        changes = []
        taken = zip(columns, increments(course, initial[rows, :]), pairwise([1, *ends]), strict=False)
        for chosen, (E, moved, _), (a, b) in taken:
            F[rows, a:b] = space.take(E, chosen, axis=1)
            changes.append(space.largest(moved))
        return space.xp.stack(changes)

    changes = space.most(space.over_strips(strip, *initial.shape))
    changes[1:] *= course.gain
    return F, changes


def whitened_by(basis: Basis, gram: Array) -> Basis:
    """Return the basis with the whitening of rows whose mapped features have this Gram matrix (its upper triangle)."""
    whiten = _whitening(gram)
    sound = len(whiten)
    return replace(basis, whiten=np.pad(whiten, (0, len(basis.map) - sound))).first(sound)


def _whitening(gram: Array) -> Array:
    """Return the inverse of the Cholesky factor of as many leading columns as are independent after all.

    Reads the upper triangle of `gram`. Columns are divided by their norms first: rows beyond the sample can make some
    large. What is then dependent, with all after it, is left out; it is rounding, or the work of single rows.
    """
    norm = np.sqrt(np.diagonal(gram))
    triangle, failed = dpotrf(gram / np.outer(norm, norm), lower=0)
    # LAPACK counts from 1 and stops at the first column that failed: the factor of those before it is complete.
    sound = _leading(np.diagonal(triangle)[: failed - 1 if failed else None] > INDEPENDENT)
    inverse: Array = dtrtri(triangle[:sound, :sound], lower=0)[0]
    return inverse / norm[:sound, None]


def _innovate(F: Array, Q: Array, T: Array, room: int) -> tuple[NDArray[np.intp], Array, Array]:
    """Return the columns of F that add to Q, their innovations q, and T enlarged by the map to them.

    Classical Gram–Schmidt, twice where it cancels: F = Q S + q R, hence q = F R⁻¹ − Q S R⁻¹ with Q = (earlier F) T.
    """
    if F.shape[1] == 0:
        return np.empty(0, dtype=np.intp), F, T
    # What the columns have along earlier innovations is taken away in one product; a second pays where little is left.
    S = Q.T @ F
    rest = dgemm(-1.0, Q, S, beta=1.0, c=F.copy(order="F"), overwrite_c=1)
    size = np.einsum("ij,ij->j", F, F)
    if (np.einsum("ij,ij->j", rest, rest) < CANCELLED**2 * size).any():
        again = Q.T @ rest
        rest = dgemm(-1.0, Q, again, beta=1.0, c=rest, overwrite_c=1)
        S += again
    # The part of F along the constant is its weighted mean; its spread is what it has beyond that.
    spread = np.maximum(np.linalg.norm(F - np.outer(Q[:, 0], S[0]), axis=0), np.finfo(np.float64).tiny)
    # Pivoting orders the columns by how much each adds beyond those before it, so that leading ones can be kept.
    order, R = _pivoted(rest, spread)
    k = min(_leading(np.abs(np.diagonal(R)) > NOVELTY), room)
    # From here on in the units of F itself: the map must apply to columns as they come.
    R = R[:k, :k] * spread[order[:k]]
    inverse = solve_triangular(R, np.eye(k))
    across = -T @ (S[:, order[:k]] @ inverse)
    # Entries of F are at most 1 and those of Q about T[0, 0], so this is what becomes of a rounding error of F.
    size = np.hypot(np.linalg.norm(across, axis=0), np.linalg.norm(inverse, axis=0))
    # Fewer columns need no second solution: a triangle's leading part has the leading part of its inverse.
    k = _leading(size <= AMPLIFICATION * T[0, 0])
    chosen, inverse = order[:k], inverse[:k, :k]
    enlarged = np.block([[T, across[:, :k]], [np.zeros((k, len(T))), inverse]])
    return chosen, rest[:, chosen] @ inverse, enlarged


def _pivoted(rest: Array, spread: Array) -> tuple[NDArray[np.intp], Array]:
    """Return the order and the triangle of a column-pivoted QR of the columns, each relative to its spread."""
    preference = np.linspace(1.0, TIE_BREAK, rest.shape[1]) / spread
    # The triangle has the lengths and angles of the columns, hence the same pivots. Pivoting takes columns one by one,
    # and is slow on many rows.
    small = np.linalg.qr(rest, mode="r") if len(rest) > rest.shape[1] else rest
    R, order = qr(small * preference, mode="r", pivoting=True, check_finite=False)
    R = R[: R.shape[1]]
    # The preference decides about ties alone: how new a column is, is judged without it.
    return order.astype(np.intp), R / (preference * spread)[order]


def _leading(condition: NDArray[np.bool_]) -> int:
    """Return how many entries come before the first false one."""
    return int(np.logical_and.accumulate(condition).sum())


def _binary_ceiling(x: Array) -> Array:
    """Return the power of two above each positive x: scaling by it is exact."""
    ceiling: Array = np.ldexp(1.0, np.frexp(x)[1])
    return ceiling
