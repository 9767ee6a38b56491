"""Several networks on a device, stacked: the Gram matrix of their leave-one-out scores, and the scores of their sum.

Easy to get wrong: blocks of different networks go together only if all were cut alike.
"""

from collections.abc import Iterator

from ..activation import Array
from ..decision_passes import Scored
from .source import DeviceSource, Pending

Sources = list[DeviceSource[Scored]]


def agreement(sources: Sources, prior: Array) -> tuple[Array, Array]:
    """Return the weighted Gram matrix of the networks' scores less the prior, and their products with the one-hot's."""
    space, xp = sources[0].space, sources[0].space.xp
    device_prior = space.put(prior)

    def of_blocks(blocks: tuple[Scored, ...]) -> Pending:
        root = xp.sqrt(blocks[0].weight)[:, None]
        parts = [*(block.raw for block in blocks), space.one_hot(blocks[0].codes, len(prior))]
        columns = xp.stack([xp.reshape((part - device_prior) * root, (-1,)) for part in parts], axis=1)
        return Pending(space, (columns.T @ columns,))

    together = DeviceSource(space, lambda: _together(sources), sources[0].n_rows, sources[0].even)
    (found,) = together.fold(of_blocks).host
    return found[:-1, :-1], found[:-1, -1]


def stacked(sources: Sources, weights: Array, constant: Array) -> DeviceSource[Scored]:
    """Return constant + Σ weight · scores as a source."""
    first = sources[0]
    device_constant, factors = first.space.put(constant), weights.tolist()

    def start() -> Iterator[Scored]:
        for blocks in _together(sources):
            raw = device_constant + sum(w * block.raw for w, block in zip(factors, blocks, strict=True))
            yield Scored(raw, blocks[0].codes, blocks[0].weight)

    return DeviceSource(first.space, start, first.n_rows, first.even)


def _together(sources: Sources) -> Iterator[tuple[Scored, ...]]:
    return zip(*(source.start() for source in sources), strict=True)
