"""The ridge readout on a device: `core.ridge_passes` from one Gram matrix of the standardised increments.

Easy to get wrong: increments are standardised by a sample, so their means in all rows are small but not 0.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..readout import ridge_passes
from ..readout.ridge_passes import Frame, Framed, Smoother, Sums
from ..sums.rows import Scored, Started
from ..sums.statistics import Factor, Scatter
from ..types import Array
from .blocks import leave_one_out
from .factor import factor, refined, weighted_gram
from .increments import Reasoner
from .source import MAPS, NARROW, REDUCTIONS, DeviceSource, Pending
from .space import DeviceArray, Space, pieces


def framed(space: Space, frame: Frame) -> Callable[[Started], Framed]:
    """Follow rows: Z̃ = (E − mean) · scale, and beside it the one-hot of their classes."""
    reasoner = Reasoner.of(space, frame.network, frame.reference, frame.n_iter)
    M, p = len(frame.reference), len(frame.mean)
    gain = np.repeat(np.r_[1.0, np.full(frame.n_iter, reasoner.gain)], M)
    given = (gain * frame.scale, -frame.mean * frame.scale, np.where(frame.moves, np.inf, 0.0))
    factor, shift, moves = map(space.put, given)

    def of_block(block: Started) -> Framed:
        changes, n_classes = moves + 0.0, block.n_classes
        Z = space.matrix(block.initial.shape[0], p + n_classes)
        for t, (E, moved) in enumerate(reasoner(block.initial)):
            part = slice(t * M, (t + 1) * M)
            space.affine_into(Z[:, part], E, factor[part], shift[part])
            if not frame.moves[t]:
                changes[t] = space.largest(moved) * (reasoner.gain if t else 1.0)
        Z[:, p:] = space.one_hot(block.codes, n_classes)
        return Framed(Z, frame.varies, changes, block.codes, block.weight, block.unit, n_classes)

    return of_block


@dataclass(frozen=True)
class DeviceSums(Sums):
    """Sums whose larger problems are solved on the device."""

    space: Space

    def _eigenvalues(self, G: Array) -> Array:
        found: Array = self.space.host(self.space.xp.linalg.eigvalsh(self.space.put(G)))
        return found


def ranges(space: Space, block: Framed) -> tuple[DeviceArray, DeviceArray]:
    """Return the smallest and the largest value of each column of Z̃; 0 and 1 where it is known to vary."""
    low = space.zeros(len(block.varies))
    high = low + 1.0
    for j in np.flatnonzero(~block.varies).tolist():
        low[j], high[j] = space.xp.min(block.Z[:, j]), space.xp.max(block.Z[:, j])
    return low, high


def sums(source: DeviceSource[Framed]) -> DeviceSums:
    """Take Gram matrix, ranges and changes of the standardised increments and the one-hot."""
    space = source.space

    def of_block(block: Framed) -> Pending:
        low, high = ranges(space, block)
        found = weighted_gram(space, block.ZY, block.weight, source.even)
        return Pending(space, (found,), (low,), (high, block.changes))

    gram, low, high, changes = source.fold(of_block).host
    return DeviceSums(gram, low, high, changes, space)


def refined_factor(source: DeviceSource[Framed], known: Scatter, n_columns: int) -> Factor:
    """Return the factor of all rows, whose small singular values have digits too."""
    mean = source.space.put(known.mean)
    centred = refined(source, lambda block: (block.ZY - mean, block.weight), known)
    return factor(source.n_rows, known, centred, n_columns)


def scored(space: Space, found: Smoother, mass: Array) -> Callable[[Framed], Scored]:
    """Return the scores that judge the decision, on the scale of the one-hot.

    Centre and scale go into slope and spread, so that Z̃ is read and not written.
    """
    zero, one = found.frame.network.activation.inverse(np.array([0.0, 1.0])).tolist()
    slope, spread = found.scale[:, None] * found.slope, found.scale[:, None] * found.spread
    given = (slope, spread, found.constant - found.centre @ slope, -found.centre @ spread, mass)
    device_slope, device_spread, constant, shift, device_mass = map(space.put, given)
    upper = not np.tril(spread, -1).any()

    def of_block(block: Framed) -> Scored:
        xp, Z = space.xp, block.Z
        fitted = Z @ device_slope
        fitted += constant
        leverage = xp.full(Z.shape[0], 1 / found.total, dtype=xp.float64, device=space.device)
        for a, b in pieces(spread.shape[1]):
            end = b if upper else len(slope)
            part = Z[:, :end] @ device_spread[:end, a:b]
            part += shift[a:b]
            leverage += xp.linalg.vector_norm(part, axis=1) ** 2
        target = zero + (one - zero) * space.one_hot(block.codes, block.n_classes)
        outside = leave_one_out(space, target, fitted, leverage, block.unit)
        alone = space.take(device_mass, block.codes) <= block.unit
        raw = xp.where(alone[:, None], fitted, outside)
        return Scored((raw - zero) / (one - zero), block.codes, block.weight)

    return of_block


MAPS[ridge_passes.framed] = framed
MAPS[ridge_passes.scored] = scored
NARROW.add(ridge_passes.scored)
REDUCTIONS[ridge_passes.summed] = sums
REDUCTIONS[ridge_passes.refined] = refined_factor
