"""Scores of many rows in numpy: all that is linear in a row's increments, folded into one matrix.

    score = base + Σ_t Eᵗ K_t,    K = (map to the innovations) · whitening · shrinkage · coefficients

takes p N multiplications of a row, where its p innovations alone take p². The gate wants to know their sum of squares:
of most rows a sketch says that it is far below the cap. The innovations times a few random directions have the same sum
of squares in the mean, and a row whose sketch is below a share of the cap would have to be nearly orthogonal to all of
them to be above it: so is one in a million. Only rows above that share are taken through the map.

Easy to get wrong: K is a sum of numbers that are far larger than itself. It is computed with more digits.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..network.reasoning import Network
from ..sums.space import NUMPY
from ..sums.tiles import TILE, over_tiles
from ..trajectory.increments import Course, Increment
from ..trajectory.steps import Walk
from ..types import Array
from .ridge import IncrementReadout
from .shrunken import FAR, ShrunkReadout
from .terms import Readout

SKETCHES = ((32, 1 / 4.6), (64, 1 / 2.75), (128, 1 / 2.0))
"""Directions of a sketch, and the share of the cap above which it is not trusted.

χ² of so many degrees of freedom is below their number times that share with a probability of 1e-6.
"""

BALANCED = 1e-9
"""Share of the coefficients of all classes to which they may sum for that to be 0 but for rounding."""

PIECE = 64
"""Columns of the map, at least, by which increments are multiplied at a time: those of some iterations.

Innovations of an iteration read no later ones.
"""


class Gate:
    """Which rows stop reasoning, and where: by a sketch of their innovations, and by these where it is not enough."""

    def __init__(self, readout: ShrunkReadout, gain: float) -> None:
        basis, M = readout.basis, len(readout.reference)
        self.readout, self.n_steps = readout, len(basis.columns)
        scaled = basis.scaled(gain)
        self.read = np.concatenate([M * t + part for t, part in enumerate(basis.columns)])
        # Rows of the map in the order of all increments, those too that are not read.
        self.map, self.constant = np.zeros((M * self.n_steps, len(scaled))), scaled[0][:, None]
        self.map[self.read] = scaled[1:]
        self.pieces = self._pieces(basis.ends, M)
        self.upto = (np.arange(len(scaled)) < np.array(basis.ends)[:, None]).astype(np.float64)
        n_directions, share = self._sketch(len(scaled), 1 / basis.to_innovations[0, 0] ** 2)
        self.most = share * float(readout.caps.min())
        random = np.random.default_rng(0).normal(size=(len(scaled), n_directions))
        self.directions = random / np.sqrt(max(n_directions, 1))
        self.sketch = scaled @ self.directions

    def _sketch(self, p: int, total: float) -> tuple[int, float]:
        """Choose a sketch; none where most rows would be suspect, or where it is not far smaller than the map.

        Rows have a leverage of p / n in the mean.
        """
        cap = float(self.readout.caps.min())
        worth = (one for one in SKETCHES if 2 * p / total < one[1] * cap and one[0] < p / 3)
        return next(worth, (0, 0.0))

    @staticmethod
    def _pieces(ends: Sequence[int], n_concepts: int) -> list[tuple[int, int, int]]:
        """Return bounds of consecutive innovations, and how many increments those read."""
        pieces, start = [], 0
        for t, end in enumerate(ends, start=1):
            if end - start >= PIECE or t == len(ends):
                pieces.append((start, end, t * n_concepts))
                start = end
        return pieces

    def __call__(self, scores: Array, sketch: Array, F: Array) -> None:
        """Overwrite the scores of rows that are stopped; F holds the increments of all rows."""
        if sketch.shape[1]:
            tile, row = np.nonzero((np.clip(sketch, -FAR, FAR) ** 2).sum(axis=1) > self.most)
            if len(tile) == 0:
                return
            filled = np.zeros((-(-len(tile) // TILE) * TILE, F.shape[1]))
            filled[: len(tile)] = F[tile, :, row]
            F = filled.reshape(-1, TILE, F.shape[1]).transpose(0, 2, 1)
        else:
            tile, row = (place.ravel() for place in np.indices((len(F), TILE)))
        Q = self._innovations(F)
        leverage = np.matmul(self.upto, np.clip(Q, -FAR, FAR) ** 2)
        stopped = np.logical_or.accumulate(leverage > self.readout.caps[:, None], axis=1)
        some = np.flatnonzero(stopped[:, -1].ravel()[: len(tile)])
        if len(some):
            at = np.divmod(some, TILE)
            shrunk = Q[at[0], :, at[1]] * self._factors(stopped[at[0], :, at[1]])
            scores[tile[some], :, row[some]] = over_tiles(lambda rows: rows @ self.readout.coefficients, shrunk)

    def _innovations(self, F: Array) -> Array:
        """Return Q of tiles, shape (tiles, p + 1, TILE)."""
        Q = np.empty((len(F), len(self.constant), TILE))
        for start, end, n_read in self.pieces:
            np.matmul(self.map[:n_read, start:end].T, F[:, :n_read], out=Q[:, start:end])
        Q += self.constant
        return Q

    def _factors(self, stopped: Array) -> Array:
        """Return the factor of each innovation of rows, 1 for the constant; shape (n, p + 1)."""
        factors = np.where(stopped, 0.0, self.readout.shrink)
        sizes = np.diff([1, *self.readout.basis.ends])
        return np.concatenate([np.ones((len(stopped), 1)), np.repeat(factors, sizes, axis=1)], axis=1)


class Total(NamedTuple):
    """The sum of all classes' scores, and the share of each class in what rounding adds to it, shape (N, 1).

    A rare class has small coefficients, and errors that are as small: it may not be given those of others.
    """

    score: float
    shares: Array


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
    total : Total or None
        The sum of a row's scores, where it is the same for all rows: coefficients of all classes add up to 0.
    gate : Gate or None
        What stops rows.
    """

    course: Course
    matrix: Array
    constant: Array
    n_classes: int
    total: Total | None
    gate: Gate | None = None

    def __call__(self, initial: Array) -> Array:
        """Return the raw scores of rows with these initial states, (tiles, M, TILE), as (tiles, N, TILE)."""
        F = self._increments(initial)
        scores = np.matmul(self.matrix, F)
        scores += self.constant
        if self.total is not None:
            of_classes = scores[:, : self.n_classes]
            of_classes -= (of_classes.sum(axis=1, keepdims=True) - self.total.score) * self.total.shares
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
    basis, N = readout.basis, readout.coefficients.shape[1]
    course = Course(NUMPY, network, readout.reference, readout.n_iter, TILE)
    gate = Gate(readout, course.gain)
    shrunk = readout.shrinkage_of_columns[:, None] * readout.coefficients
    precise = basis.map.astype(np.longdouble) @ (basis.whiten.astype(np.longdouble) @ shrunk)
    K = np.hstack([basis.scaled(course.gain, precise.astype(np.float64)), gate.sketch])
    matrix = np.zeros((len(gate.map), K.shape[1]))
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


def _total(coefficients: Array, constant: Array) -> Total | None:
    """Return the sum of a row's scores if it is the same for all rows."""
    alike = np.abs(coefficients.sum(axis=1)) <= BALANCED * np.abs(coefficients).sum(axis=1)
    size = (coefficients**2).sum(axis=0)[:, None]
    return Total(float(constant.sum()), size / size.sum()) if alike.all() and size.any() else None
