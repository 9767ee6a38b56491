"""The ridge readout on a device: `core.ridge_passes` from one Gram matrix of the standardised increments.

A penalty bounds the condition, so a Gram matrix most often suffices: rounding moves a coefficient by
(G + α)⁻¹ δG β, and so a score by at most √(leverage) ‖δG β‖ / √α. Where that could pass `TRUSTED` of the scores' scale,
the factor is refined in a second pass (`factor.refined`), and `core.ridge_passes.solve` takes it from there.

Easy to get wrong: increments are standardised by a sample, so their means in all rows are small but not 0.
"""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy import linalg

from .. import ridge_passes
from ..activation import Array
from ..constants import LEAST_FREE
from ..decision_passes import Scored
from ..model import Solved
from ..ridge_passes import Evidence, Frame, Smoother, readout_of
from ..statistics import Factor
from ..training import Started
from .blocks import largest, leave_one_out
from .factor import Scatter, about, factor, preconditioner, root
from .increments import Reasoner
from .source import MAPS, REDUCTIONS, DeviceSource, Pending
from .space import DeviceArray, Space, pieces

TRUSTED = 1e-7
"""Largest error of a score, as a share of the one-hot's scale, for which one Gram matrix is enough."""

ROUNDING = 4 * np.finfo(np.float64).eps
"""Error of an entry of a Gram matrix, as a share of the weight of all rows."""


class Standardised:
    """(E − mean) · scale of rows, column by column, from a frame and what a solution adds to it."""

    def __init__(self, space: Space, frame: Frame, centre: Array | float = 0.0, scale: Array | float = 1.0) -> None:
        self.space, self.n_columns = space, len(frame.mean)
        self.reasoner = Reasoner.of(space, frame.network, frame.reference, frame.n_iter)
        gain = np.repeat(np.r_[1.0, np.full(frame.n_iter, self.reasoner.gain)], len(frame.reference))
        self.factor = space.put(gain * frame.scale * scale)
        self.shift = space.put((frame.mean * frame.scale + centre) * scale)

    def __call__(self, initial: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        """Return Z, (n, M (T + 1)), and the largest change of any activation at each iteration."""
        space, M, changes = self.space, initial.shape[1], []
        Z = space.empty(initial.shape[0], self.n_columns)
        for t, (E, moved) in enumerate(self.reasoner(initial)):
            part = slice(t * M, (t + 1) * M)
            space.multiply_into(Z[:, part], E, self.factor[part])
            changes.append(largest(space, moved) * (self.reasoner.gain if t else 1.0))
        Z -= self.shift
        return Z, space.xp.stack(changes)


@dataclass(frozen=True)
class GramEvidence:
    """What `core.ridge_passes.Evidence` knows, as Gram matrix, sums and products with the classes about the frame."""

    source: DeviceSource[Started]
    n_classes: int
    mass: Array
    sums: Array
    gram: Array
    cross: Array
    low: Array
    high: Array
    changes: Array

    def n_iter(self, tol: float) -> int:
        """Return the iterations up to the fixed point."""
        return ridge_passes.fixed_at(self.changes, tol)

    def solved(self, frame: Frame, alpha: float) -> tuple[Solved, Smoother]:
        """Solve for one penalty, over the iterations of the frame."""
        p = len(frame.mean)
        known = Scatter.of(self.mass.sum(), np.zeros(p), self.sums[:p], self.gram[:p, :p])
        size = np.sqrt(np.maximum(np.diagonal(known.gram), 0.0) / known.total)
        scale = np.where(self.high[:p] > self.low[:p], 1 / np.where(size > 0, size, 1.0), 0.0)
        G = known.gram * np.outer(scale, scale)
        cross = (self.cross[:p] - np.outer(known.mean, self.mass)) * scale[:, None]
        triangle = linalg.cholesky(G + alpha * np.eye(p), check_finite=False)
        slope = linalg.cho_solve((triangle, False), cross, check_finite=False)
        if ROUNDING * known.total * np.linalg.norm(slope) / np.sqrt(alpha) > TRUSTED:
            return ridge_passes.solve(frame, self._refined(frame, known), alpha)
        f = frame.network.activation
        zero, one = f.inverse(np.array([0.0, 1.0]))
        spread = linalg.solve_triangular(triangle, np.eye(p), check_finite=False)
        constant = zero + (one - zero) * self.mass / known.total
        between = cross.T @ slope / known.total
        smoother = Smoother(
            frame, known.mean, scale, (one - zero) * slope, spread, constant, known.total, between
        )
        return self._described(G, alpha, smoother), smoother

    def _described(self, G: Array, alpha: float, smoother: Smoother) -> Solved:
        """Say what is known of the solution, from the eigenvalues that a Gram matrix can tell from 0."""
        value = linalg.eigvalsh(G, check_finite=False)
        value = value[value > len(value) * np.finfo(np.float64).eps * value[-1]]
        condition = float(np.sqrt((value[-1] + alpha) / (value[0] + alpha))) if len(value) else 1.0
        freedom = 1 + float((value / (value + alpha)).sum())
        return Solved(readout_of(smoother), len(value) + 1, condition, freedom, alpha=alpha)

    def _refined(self, frame: Frame, known: Scatter) -> Evidence:
        """Return the evidence as a factor, from a second pass."""
        space, p = self.source.space, len(frame.mean)
        P, inverse = preconditioner(known.gram)
        standardised, device_P = Standardised(space, frame, known.mean), space.put(P)

        def of_block(block: Started) -> Pending:
            Y = standardised(block.initial)[0] @ device_P
            one_hot = space.one_hot(block.codes, self.n_classes)
            return Pending(space, (Y.T @ (one_hot * block.weight[:, None]), *about(space, Y, block.weight, self.source.even)))

        cross, sums, upper = self.source.fold(of_block).host
        found = Scatter.of(known.total, np.zeros(p), sums, upper)
        R = root(found.gram)
        along = np.linalg.lstsq(R.T, cross - np.outer(found.mean, self.mass), rcond=None)[0]
        known = known._replace(mean=np.r_[known.mean, self.mass / known.total])
        whole = factor(self.source.n_rows, known, np.hstack([R @ inverse, along]), p)
        return Evidence(whole, self.low[:p], self.high[:p], self.changes)


def evidence(source: DeviceSource[Started], frame: Frame) -> GramEvidence:
    """Take Gram matrix, products with the classes, ranges and changes of the standardised increments."""
    space, xp = source.space, source.space.xp
    standardised = Standardised(space, frame)
    n_classes = next(iter(source.start())).n_classes

    def of_block(block: Started) -> Pending:
        Z, changes = standardised(block.initial)
        weighted = space.one_hot(block.codes, n_classes)
        if not source.even:
            weighted *= block.weight[:, None]
        least, most, cross = xp.min(Z, axis=0), xp.max(Z, axis=0), Z.T @ weighted
        sums, upper = about(space, Z, block.weight, source.even)
        return Pending(space, (xp.sum(weighted, axis=0), sums, upper, cross), (least,), (most, changes))

    return GramEvidence(source, n_classes, *source.fold(of_block).host)


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
