"""Scores of many rows in numpy: all that is linear in a row's increments, folded into one matrix.

    score = base + Σ_t Eᵗ K_t,    K = (map to the innovations) · whitening · shrinkage · coefficients

takes p N multiplications of a row, where its p innovations alone take p². The gate wants to know their sum of squares:
of most rows a sketch says that it is far below the cap. The innovations times a few random directions have the same sum
of squares in the mean, and a row whose sketch is below a share of the cap would have to be nearly orthogonal to all of
them to be above it: so is one in a million. Only rows above that share are taken through the map.

Easy to get wrong: K is a sum of numbers that are far larger than itself. It is computed with more digits.
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from ..network.reasoning import Network
from ..sums.space import NUMPY
from ..sums.tiles import TILE, over_tiles
from ..trajectory.increments import Course, Increment
from ..trajectory.steps import Walk
from ..types import Array
from .ridge import IncrementReadout
from .shrunken import ShrunkReadout
from .terms import Readout

DIRECTIONS, SUSPECT = 32, 1 / 4.6
"""Directions of the sketch, and the share of the cap above which a sketch is not trusted.

χ² of 32 degrees of freedom is below 32 / 4.6 with a probability of 1e-6.
"""

BALANCED = 1e-9
"""Share of the coefficients of all classes to which they may sum for that to be 0 but for rounding."""

PIECE = 64
"""Columns of the pieces in which rows go through the triangular map."""


class Gate:
    """Which rows stop reasoning, and where: by a sketch of their innovations, and by these where it is not enough."""

    def __init__(self, readout: ShrunkReadout, gain: float) -> None:
        basis = readout.basis
        self.readout, self.ends, self.map = readout, basis.ends, basis.scaled(gain)
        self.read = np.concatenate([len(readout.reference) * t + part for t, part in enumerate(basis.columns)])
        p, total = len(self.map), 1 / basis.to_innovations[0, 0] ** 2
        self.most = SUSPECT * float(readout.caps.min())
        # Rows have a leverage of p / n in the mean: where that is near the cap, most would be suspect.
        self.sketched = 2 * DIRECTIONS < p < self.most * total
        n_directions = DIRECTIONS if self.sketched else 0
        self.directions = np.random.default_rng(0).normal(size=(p, n_directions)) / np.sqrt(DIRECTIONS)
        self.sketch = self.map @ self.directions

    def suspects(self, sketch: Array) -> Array:
        """Say which rows are to be looked at, given their sketch, shape (tiles, directions, TILE)."""
        if not self.sketched:
            return np.ones((sketch.shape[0], TILE), dtype=bool)
        found: Array = (sketch * sketch).sum(axis=1) > self.most
        return found

    def __call__(self, scores: Array, sketch: Array, F: Array) -> None:
        """Overwrite the scores of rows that are stopped; F holds the increments of all rows."""
        tile, row = np.nonzero(self.suspects(sketch))
        if len(tile) == 0:
            return
        Q = over_tiles(self._innovations, F[tile, :, row][:, self.read])
        ends = self.ends
        leverage = np.stack([np.einsum("ij,ij->i", Q[:, a:b], Q[:, a:b]) for a, b in pairwise([0, *ends])], axis=1)
        stopped = np.logical_or.accumulate(np.cumsum(leverage, axis=1) > self.readout.caps, axis=1)
        some = np.flatnonzero(stopped[:, -1])
        if len(some):
            scores[tile[some], :, row[some]] = over_tiles(self._read, Q[some] * self._factors(stopped[some]))

    def _innovations(self, rows: Array) -> Array:
        """Return Q of a tile of rows, shape (TILE, p + 1)."""
        Q = np.empty((len(rows), len(self.map)))
        for a, b in pairwise([*range(0, len(self.map), PIECE), len(self.map)]):
            np.matmul(rows[:, : b - 1], self.map[1:b, a:b], out=Q[:, a:b])
        Q += self.map[0]
        return Q

    def _factors(self, stopped: Array) -> Array:
        """Return the factor of each innovation of rows, 1 for the constant; shape (n, p + 1)."""
        factors = np.where(stopped, 0.0, self.readout.shrink)
        sizes = np.diff([1, *self.ends])
        return np.concatenate([np.ones((len(stopped), 1)), np.repeat(factors, sizes, axis=1)], axis=1)

    def _read(self, shrunk: Array) -> Array:
        scores: Array = shrunk @ self.readout.coefficients
        return scores


@dataclass(frozen=True)
class Folded:
    """A readout of the increments of a network, for tiles of rows.

    Attributes
    ----------
    course : Course
        What rows share.
    matrix : array of shape (N + directions, (T + 1) M)
        What increments, as `increments` yields them, count for each class and for the sketch.
    constant : array of shape (N + directions, 1)
        What every row gets.
    n_classes : int
        N.
    total : float or None
        The sum of a row's scores, where it is the same for all rows: coefficients of all classes add up to 0.
    gate : Gate or None
        What stops rows.
    """

    course: Course
    matrix: Array
    constant: Array
    n_classes: int
    total: float | None
    gate: Gate | None = None

    def __call__(self, initial: Array) -> Array:
        """Return the raw scores of rows with these initial states, (tiles, M, TILE), as (tiles, N, TILE)."""
        F = self._increments(initial)
        scores = np.matmul(self.matrix, F)
        scores += self.constant
        if self.total is not None:
            of_classes = scores[:, : self.n_classes]
            of_classes -= (of_classes.sum(axis=1, keepdims=True) - self.total) / self.n_classes
        if self.gate is not None:
            self.gate(scores[:, : self.n_classes], scores[:, self.n_classes :], F)
        raw: Array = scores[:, : self.n_classes]
        return raw

    def _increments(self, initial: Array) -> Array:
        """Return A⁰, E¹, … side by side, shape (tiles, (T + 1) M, TILE)."""
        n_tiles, M, _ = initial.shape
        n_steps = self.matrix.shape[1] // M
        F = np.empty((n_tiles, n_steps * M, TILE))
        F[:, :M] = initial
        walk, memory = Walk(self.course, initial), [np.empty_like(initial) for _ in range(4)]
        before = None
        for t in range(n_steps - 1):
            into = Increment(F[:, (t + 1) * M : (t + 2) * M], memory[t % 2], memory[2 + t % 2])
            walk.take(t, before, into)
            before = into
        return F


def fold(readout: Readout, network: Network) -> Folded | None:
    """Fold a readout of innovations or increments; None for one of states."""
    if isinstance(readout, ShrunkReadout):
        return _innovations(readout, network)
    return _increments(readout, network) if isinstance(readout, IncrementReadout) else None


def _innovations(readout: ShrunkReadout, network: Network) -> Folded:
    """Fold a gated readout of the innovations."""
    basis, M, N = readout.basis, len(readout.reference), readout.coefficients.shape[1]
    course = Course(NUMPY, network, readout.reference, readout.n_iter, TILE)
    gate = Gate(readout, course.gain)
    shrunk = readout.shrinkage_of_columns[:, None] * readout.coefficients
    precise = basis.map.astype(np.longdouble) @ (basis.whiten.astype(np.longdouble) @ shrunk)
    K = np.hstack([basis.scaled(course.gain, precise.astype(np.float64)), gate.sketch])
    matrix = np.zeros(((readout.n_iter + 1) * M, K.shape[1]))
    matrix[gate.read] = K[1:]
    total = _total(shrunk[1:], basis.to_innovations[0, 0] * shrunk[0])
    return Folded(course, np.ascontiguousarray(matrix.T), K[0][:, None], N, total, gate)


def _increments(readout: IncrementReadout, network: Network) -> Folded:
    """Fold a readout of the increments themselves."""
    course = Course(NUMPY, network, readout.reference, readout.n_iter, TILE)
    K = readout.coefficients * np.r_[1.0, np.full(readout.n_iter, course.gain)][:, None, None]
    n_classes = K.shape[2]
    K = K.reshape(-1, n_classes)
    total = _total(K, readout.constant)
    return Folded(course, np.ascontiguousarray(K.T), readout.constant[:, None], n_classes, total)


def _total(coefficients: Array, constant: Array) -> float | None:
    """Return the sum of a row's scores if it is the same for all rows."""
    alike = np.abs(coefficients.sum(axis=1)) <= BALANCED * np.abs(coefficients).sum(axis=1)
    return float(constant.sum()) if alike.all() else None
