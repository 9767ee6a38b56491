"""The counterparts of `core.passes` on a device, but for the ridge.

Easy to get wrong: a counterpart must find what the function of a numpy block finds, not only something like it; the
tests compare every attribute of the fits.
"""

from collections.abc import Callable
from itertools import chain, pairwise

import numpy as np

from ..concepts.concepts import Concepts
from ..constants import LEAST_FREE
from ..fit import passes
from ..fit.model import SUMMARY_ROWS
from ..fit.passes import Readable, Traced
from ..network.activation import ACTIVATIONS
from ..network.reasoning import Network
from ..readout.shrunken import Path, gate_caps
from ..sums.rows import Rows, Scored, Started
from ..sums.sampling import Keys, Outlyingness, Samples
from ..sums.statistics import Gains, Gram
from ..trajectory.innovations import Basis
from ..types import Array
from .factor import states_factor
from .increments import Reasoner
from .sampling import DeviceOutlyingness, device_keys, in_order_of_int64, sample
from .scaling import DeviceConcepts
from .source import MAPS, NARROW, REDUCTIONS, DeviceSource, Pending
from .space import DeviceArray, Space, gram, times_triangle


def initial(space: Space, concepts: Concepts) -> Callable[[Rows], Started]:
    """Scale rows, and hash them."""
    scaled = DeviceConcepts.of(space, concepts)

    def of_block(block: Rows) -> Started:
        columns = list(space.columns(block.X, scaled.features))
        states, keys = scaled(columns), device_keys(space, columns)
        return Started(states, keys, block.codes, block.weight, block.unit, block.n_classes)

    return of_block


def kept(source: DeviceSource[Rows], limits: Keys, of_class: int) -> Samples:
    """Choose the rows that a model keeps, and those of each class that judge."""
    space, xp = source.space, source.space.xp
    last, *lasts = in_order_of_int64(limits).tolist()

    def of_block(block: Rows) -> Samples:
        columns = space.columns(block.X, range(block.X.shape[1]))
        keys = device_keys(space, chain([space.double(block.codes)], columns))
        some = xp.nonzero(keys <= last)[0]
        own = [xp.nonzero((block.codes == code) & (keys <= limit))[0] for code, limit in enumerate(lasts)]
        rows = (block.unit[:, None], block.X)
        return Samples(
            (
                sample(space, None, keys, (block.X,), block.weight, SUMMARY_ROWS, among=some),
                *(sample(space, None, keys, rows, block.weight, of_class, among=i) for i in own),
            )
        )

    return source.fold(of_block)


def samples(source: DeviceSource[Started], given: Outlyingness, sizes: tuple[int, int]) -> Samples:
    """Choose the rows that stand for all."""
    space, far, (spread, outlying) = source.space, DeviceOutlyingness(source.space, given), sizes

    def of_block(block: Started) -> Samples:
        rows, keys, weight = block.initial, block.keys, block.weight
        return Samples(
            (
                sample(space, None, keys, (rows,), weight, spread),
                sample(space, -far(rows), keys, (rows,), weight, outlying),
            )
        )

    return source.light.fold(of_block)


class Features:
    """The features F of rows, mapped: `core.innovations.features` and the first product."""

    def __init__(self, space: Space, network: Network, reference: Array, basis: Basis) -> None:
        self.space, self.ends = space, basis.ends
        self.reasoner = Reasoner.of(space, network, reference, len(basis.columns) - 1)
        self.columns = [space.put(columns) for columns in basis.columns]
        gains = [1.0, *[self.reasoner.gain] * (len(basis.scales) - 1)]
        self.scales = [space.put(scale * gain) for scale, gain in zip(basis.scales, gains, strict=True)]
        self.map = space.put(basis.map)

    def __call__(self, initial: DeviceArray, room: int = 0) -> tuple[DeviceArray, DeviceArray]:
        """Return F · map, (n, p + 1 + room), its last columns not set, and the largest change of any activation."""
        space, xp = self.space, self.space.xp
        F, changes = space.matrix(initial.shape[0], self.ends[-1]), []
        F[:, 0] = 1.0
        for t, ((E, moved), a, b) in enumerate(
            zip(self.reasoner(initial), [1, *self.ends[:-1]], self.ends, strict=True)
        ):
            space.multiply_into(F[:, a:b], space.take(E, self.columns[t], axis=1), self.scales[t])
            changes.append(space.largest(moved) * (self.reasoner.gain if t else 1.0))
        return times_triangle(space, F, self.map, room), xp.stack(changes)


def gram_of_features(source: DeviceSource[Started], network: Network, reference: Array, basis: Basis) -> Gram:
    """Return Gram matrix, class sums and changes of the mapped features."""
    space = source.space
    features = Features(space, network, reference, basis)

    def of_block(block: Started) -> Pending:
        mapped, changes = features(block.initial, block.n_classes)
        # A product with a matrix of few columns is slow: the classes are columns of the Gram matrix instead.
        mapped[:, features.ends[-1] :] = space.one_hot(block.codes, block.n_classes)
        if not source.even:
            mapped *= space.xp.sqrt(block.weight)[:, None]
        return Pending(space, (gram(space, mapped),), (), (changes,))

    found, changes = source.fold(of_block).host
    end = features.ends[-1]
    return Gram(found[:end, :end], found[:end, end:], changes)


def traced(space: Space, readable: Readable) -> Callable[[Started], Traced]:
    """Follow rows through the iterations."""
    basis, total = readable.basis, float(readable.mass.sum())
    features = Features(space, readable.network, readable.reference, basis)
    whiten, C, mass = map(space.put, (basis.whiten, readable.coefficients, readable.mass))
    zero, one = readable.network.activation.inverse(np.array([0.0, 1.0])).tolist()

    def of_block(block: Started) -> Traced:
        xp = space.xp
        Q = times_triangle(space, features(block.initial)[0], whiten)
        target = space.one_hot(block.codes, block.n_classes)
        target *= one - zero
        target += zero
        path = trace(space, Q, basis.ends, target, C, total, block.unit)
        alone = xp.nonzero(space.take(mass, block.codes) <= block.unit)[0]
        rows = space.take(Q, alone, axis=0)
        inside = [rows[:, a:b] @ C[a:b, :] for a, b in pairwise([0, 1, *basis.ends])]
        return Traced(path, block.codes, block.weight, alone, xp.stack(inside))

    return of_block


def leverages(space: Space, Q: DeviceArray, ends: list[int]) -> list[DeviceArray]:
    """Return the leverage of each row after each iteration."""
    found, total = [], Q[:, 0] ** 2
    for a, b in pairwise([1, *ends]):
        total = total + space.xp.linalg.vector_norm(Q[:, a:b], axis=1) ** 2
        found.append(total)
    return found


def trace(
    space: Space,
    Q: DeviceArray,
    ends: list[int],
    target: DeviceArray,
    C: DeviceArray,
    total: float,
    unit: DeviceArray,
) -> Path:
    """Follow the leave-one-out predictions through the iterations, as `core.shrinkage.trace`."""
    xp, caps = space.xp, gate_caps(ends, total)
    leverage = leverages(space, Q, ends)
    fitted = Q[:, :1] @ C[:1, :]
    mean = previous = leave_one_out(space, target, fitted, Q[:, 0] ** 2, unit)
    gains, active = space.empty(len(ends), *target.shape), []
    reasons = xp.ones(Q.shape[0], dtype=xp.bool, device=space.device)
    for t, (a, b) in enumerate(pairwise([1, *ends])):
        outside = leverage[t] / xp.clip(1 - unit * leverage[t], LEAST_FREE, None)
        reasons = reasons & (outside <= float(caps[t]))
        fitted += Q[:, a:b] @ C[a:b, :]
        alone = leave_one_out(space, target, fitted, leverage[t], unit)
        following = xp.where(reasons[:, None], alone, previous)
        gains[t, :, :] = following - previous
        previous = following
        active.append(reasons)
    return Path(mean, gains, xp.stack(active))


def leave_one_out(
    space: Space, target: DeviceArray, fitted: DeviceArray, leverage: DeviceArray, unit: DeviceArray
) -> DeviceArray:
    """Predict each row without `unit` of its weight, as `core.readout.leave_one_out`."""
    free = space.xp.clip(1 - unit * leverage, LEAST_FREE, None)
    return target - (target - fitted) / free[:, None]


def gains(source: DeviceSource[Traced], activation: str) -> Gains:
    """Return the Gram matrix of the gains, and the weight of the rows that still reason."""
    space, xp = source.space, source.space.xp
    zero, one = ACTIVATIONS[activation].inverse(np.array([0.0, 1.0])).tolist()

    def of_block(block: Traced) -> Pending:
        path, n_steps = block.path, block.path.gains.shape[0]
        rest = zero + (one - zero) * space.one_hot(block.codes, path.mean.shape[1]) - path.mean
        root = xp.sqrt(block.weight)[:, None]
        parts = (xp.reshape(path.gains * root, (n_steps, -1)), xp.reshape(rest * root, (1, -1)))
        flat = xp.concat(parts)
        return Pending(space, (flat @ flat.T, space.double(path.active) @ block.weight))

    return Gains(*source.fold(of_block).host)


def scored(space: Space, shrink: Array, scale: tuple[float, float]) -> Callable[[Traced], Scored]:
    """Return the scores that judge the decision, on the scale of the one-hot."""
    factors, with_constant = space.put(shrink), space.put(np.r_[1.0, shrink])
    zero, one = scale

    def of_block(block: Traced) -> Scored:
        xp = space.xp
        raw = block.path.mean + xp.tensordot(factors, block.path.gains, axes=1)
        if block.alone.shape[0]:
            raw = _replaced(space, raw, block.alone, xp.tensordot(with_constant, block.inside, axes=1))
        raw -= zero
        raw /= one - zero
        return Scored(raw, block.codes, block.weight)

    return of_block


def _replaced(space: Space, raw: DeviceArray, rows: DeviceArray, values: DeviceArray) -> DeviceArray:
    """Put values into some rows; the standard cannot write to rows that an array names."""
    for i, row in enumerate(space.host(rows).tolist()):
        raw[row, :] = values[i, :]
    return raw


def gathered(source: DeviceSource[Scored]) -> Scored:
    """Return all scores in numpy."""
    return source.fold(lambda block: Scored(*map(source.space.host, block)))


MAPS |= {passes._initial: initial, passes._traced: traced, passes._scored: scored}
NARROW.add(passes._scored)
REDUCTIONS |= {
    passes._kept: kept,
    passes._factor: states_factor,
    passes._samples: samples,
    passes._gram: gram_of_features,
    passes._gains: gains,
    passes.gathered: gathered,
}
