"""The ridge readout on a device: `core.ridge_passes` from one Gram matrix of the standardised increments.

A penalty bounds the condition, so a Gram matrix most often suffices: rounding moves a coefficient by
(G + α)⁻¹ δG β, and so a score by at most √(leverage) ‖δG β‖ / √α. Where that could pass `TRUSTED` of the scores' scale,
the factor is refined in a second pass (`factor.refined`), and `core.ridge_passes.solve` takes it from there.

Easy to get wrong: increments are standardised by a sample, so their means in all rows are small but not 0.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack

from .. import ridge_passes
from ..activation import Array
from ..decision_passes import Scored
from ..model import Solved
from ..ridge_passes import Evidence, Frame, Smoother, readout_of
from ..training import Started
from .blocks import leave_one_out
from .factor import Scatter, about, factor, refined
from .increments import Reasoner
from .source import MAPS, REDUCTIONS, DeviceSource, Pending
from .space import DeviceArray, Space, pieces

TRUSTED = 1e-6
"""Largest bound of a score's error, as a share of the one-hot's scale, for which one Gram matrix is enough.

Rows have leverages far below 1, so errors are about a hundredth of the bound: 100,000 rows of 12 features, eight
iterations, α from 10 to 1e-6.
"""

ROUNDING = 4 * np.finfo(np.float64).eps
"""Error of an entry of a Gram matrix, as a share of the weight of all rows."""


class Standardised:
    """(E − mean) · scale of rows, column by column, from a frame and what a solution adds to it."""

    def __init__(self, space: Space, frame: Frame, centre: Array | float = 0.0, scale: Array | float = 1.0) -> None:
        self.space, self.n_columns = space, len(frame.mean)
        self.reasoner = Reasoner.of(space, frame.network, frame.reference, frame.n_iter)
        gain = np.repeat(np.r_[1.0, np.full(frame.n_iter, self.reasoner.gain)], len(frame.reference))
        self.factor = space.put(gain * frame.scale * scale)
        self.shift = space.put(-(frame.mean * frame.scale + centre) * scale)

    def __call__(self, initial: DeviceArray, room: int = 0) -> tuple[DeviceArray, DeviceArray]:
        """Return Z, (n, M (T + 1) + room), its last columns not set, and the largest change of any activation by t."""
        space, M, changes = self.space, initial.shape[1], []
        Z = space.matrix(initial.shape[0], self.n_columns + room)
        for t, (E, moved) in enumerate(self.reasoner(initial)):
            part = slice(t * M, (t + 1) * M)
            space.affine_into(Z[:, part], E, self.factor[part], self.shift[part])
            changes.append(space.largest(moved) * (self.reasoner.gain if t else 1.0))
        return Z, space.xp.stack(changes)


@dataclass(frozen=True)
class GramEvidence:
    """What `core.ridge_passes.Evidence` knows, as sums and Gram matrix of (Z̃ | Y), Y the one-hot."""

    source: DeviceSource[Started]
    sums: Array
    gram: Array
    low: Array
    high: Array
    changes: Array

    def n_iter(self, tol: float) -> int:
        """Return the iterations up to the fixed point."""
        return ridge_passes.fixed_at(self.changes, tol)

    def solved(self, frame: Frame, alpha: float) -> tuple[Solved, Smoother]:
        """Solve for one penalty, over the iterations of the frame."""
        p, mass = len(frame.mean), self.sums[len(self.low) :]
        known = self._scatter(p, mass.sum())
        size = np.sqrt(np.maximum(np.diagonal(known.gram)[:p], 0.0) / known.total)
        scale = np.where(self.high[:p] > self.low[:p], 1 / np.where(size > 0, size, 1.0), 0.0)
        G = known.gram[:p, :p] * np.outer(scale, scale)
        cross = known.gram[:p, p:] * scale[:, None]
        triangle, failed = lapack.dpotrf(G + alpha * np.eye(p))
        slope = lapack.dpotrs(triangle, cross)[0]
        if failed or ROUNDING * known.total * np.linalg.norm(slope) / np.sqrt(alpha) > TRUSTED:
            return ridge_passes.solve(frame, self._refined(frame, known), alpha)
        zero, one = frame.network.activation.inverse(np.array([0.0, 1.0]))
        spread = lapack.dtrtri(triangle)[0]
        constant = zero + (one - zero) * mass / known.total
        between = cross.T @ slope / known.total
        mean = known.mean[:p]
        smoother = Smoother(frame, mean, scale, (one - zero) * slope, spread, constant, known.total, between)
        return self._described(G, alpha, smoother), smoother

    def _scatter(self, p: int, total: float) -> Scatter:
        """Return mean and Gram matrix of the first p columns and of the one-hot."""
        kept = np.r_[:p, len(self.low) : len(self.sums)]
        return Scatter.of(total, np.zeros(len(kept)), self.sums[kept], self.gram[np.ix_(kept, kept)])

    def _described(self, G: Array, alpha: float, smoother: Smoother) -> Solved:
        """Say what is known of the solution, from the eigenvalues that a Gram matrix can tell from 0."""
        space = self.source.space
        value = space.host(space.xp.linalg.eigvalsh(space.put(G)))
        value = value[value > len(value) * np.finfo(np.float64).eps * value[-1]]
        condition = float(np.sqrt((value[-1] + alpha) / (value[0] + alpha))) if len(value) else 1.0
        freedom = 1 + float((value / (value + alpha)).sum())
        return Solved(readout_of(smoother), len(value) + 1, condition, freedom, alpha=alpha)

    def _refined(self, frame: Frame, known: Scatter) -> Evidence:
        """Return the evidence as a factor, from a second pass."""
        space, p = self.source.space, len(frame.mean)
        standardised, n_classes = Standardised(space, frame), len(known.mean) - p
        mean = space.put(known.mean)

        def centred(block: Started) -> tuple[DeviceArray, DeviceArray]:
            Z, _ = standardised(block.initial, n_classes)
            Z[:, p:] = space.one_hot(block.codes, n_classes)
            Z -= mean
            return Z, block.weight

        whole = factor(self.source.n_rows, known, refined(self.source, centred, known), p)
        return Evidence(whole, self.low[:p], self.high[:p], self.changes)


def evidence(source: DeviceSource[Started], frame: Frame) -> GramEvidence:
    """Take sums, Gram matrix, ranges and changes of the standardised increments and the one-hot."""
    space, p = source.space, len(frame.mean)
    standardised = Standardised(space, frame)

    def of_block(block: Started) -> Pending:
        Z, changes = standardised(block.initial, block.n_classes)
        Z[:, p:] = space.one_hot(block.codes, block.n_classes)
        least, most = space.extremes(Z[:, :p])
        return Pending(space, about(space, Z, block.weight, source.even), (least,), (most, changes))

    return GramEvidence(source, *source.fold(of_block).host)


def scored(space: Space, found: Smoother, mass: Array) -> Callable[[Started], Scored]:
    """Return the scores that judge the decision, on the scale of the one-hot."""
    standardised = Standardised(space, found.frame, found.centre, found.scale)
    slope, spread, constant, device_mass = map(space.put, (found.slope, found.spread, found.constant, mass))
    upper = not np.tril(found.spread, -1).any()
    zero, one = found.frame.network.activation.inverse(np.array([0.0, 1.0])).tolist()

    def of_block(block: Started) -> Scored:
        xp = space.xp
        Z, _ = standardised(block.initial)
        fitted = Z @ slope
        fitted += constant
        leverage = xp.full(Z.shape[0], 1 / found.total, dtype=xp.float64, device=space.device)
        for a, b in pieces(spread.shape[1]):
            part = Z[:, :b] @ spread[:b, a:b] if upper else Z @ spread[:, a:b]
            leverage += xp.sum(part * part, axis=1)
        target = zero + (one - zero) * space.one_hot(block.codes, block.n_classes)
        outside = leave_one_out(space, target, fitted, leverage, block.unit)
        alone = xp.take(device_mass, block.codes) <= block.unit
        raw = xp.where(alone[:, None], fitted, outside)
        return Scored((raw - zero) / (one - zero), block.codes, block.weight)

    return of_block


MAPS[ridge_passes.scored] = scored
REDUCTIONS[ridge_passes.Evidence.from_block] = evidence
