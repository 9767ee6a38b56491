"""Blocks of rows on this machine: cut from arrays, cut from a stream, or kept from an earlier pass.

Every source cuts rows into blocks of `BLOCK_ROWS` in the order of the rows, wherever a user's own blocks end. A
streamed fit is therefore the fit in memory, bit for bit, if it sees the same rows in the same order.

Easy to get wrong: what a pass returns for each row may be kept for the next ones only while it is small. Beyond
`KEPT_BYTES` it is computed anew, which gives the same bits, because a pass is a pure function of a block. A source that
may write to a disk keeps it there instead: `Blocks.keep` decides.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from .rows import Rows
from .statistics import S, Source, merged

B = TypeVar("B")
D = TypeVar("D")

BLOCK_ROWS = 4608
"""Rows of a block, 24 of those that stay in the cache: enough for a matrix product to be fast, few to hold."""

KEPT_BYTES = 400_000_000
"""What a pass may keep of all rows for later ones; the one over initial states does."""


class Keep(Protocol):
    """How a source keeps what a function returned for each block."""

    def __call__(self, start: Callable[[], Iterable[Any]], n_bytes: int) -> Callable[[], Iterable[Any]]:
        """Return a function that yields the same blocks, computed or read; `n_bytes` is the size of all of them."""


def keep_small(start: Callable[[], Iterable[Any]], n_bytes: int) -> Callable[[], Iterable[Any]]:
    """Keep blocks in memory, or compute them anew in every pass where they are large."""
    return Kept(start) if n_bytes <= KEPT_BYTES else start


@dataclass(frozen=True)
class Blocks(Source[B]):
    """A source from any function that yields the blocks anew, and the number of rows in them."""

    start: Callable[[], Iterable[B]]
    n_rows: int
    keep: Keep = keep_small

    def reduce(self, from_block: Callable[[B], S]) -> S:
        """Return the statistic of all blocks."""
        return merged(from_block(block) for block in self.start())

    def map(self, function: Callable[[B], D], width: int) -> "Blocks[D]":
        """Return the function of every block as a source, kept as `keep` says."""
        return Blocks(self.keep(Computed(self.start, function), self.n_rows * width * 8), self.n_rows, self.keep)


@dataclass(frozen=True)
class Computed(Generic[B, D]):
    """A function of blocks, computed in each pass."""

    start: Callable[[], Iterable[B]]
    function: Callable[[B], D]

    def __call__(self) -> Iterator[D]:
        """Yield it for every block."""
        return (self.function(block) for block in self.start())


@dataclass
class Kept(Generic[D]):
    """What the first whole pass yields, kept for all later ones; what it was computed from is not needed any more."""

    start: Callable[[], Iterable[D]] | None
    known: list[D] = field(default_factory=list)

    def __call__(self) -> Iterator[D]:
        """Yield it for every block."""
        if self.start is None:
            yield from self.known
            return
        found = []
        for block in self.start():
            found.append(block)
            yield block
        self.known, self.start = found, None


def from_rows(rows: Rows) -> Blocks[Rows]:
    """Cut rows in memory into blocks, without copying them."""
    return Blocks(lambda: cut([rows]), len(rows.X))


def cut(parts: Iterable[Rows]) -> Iterator[Rows]:
    """Cut consecutive rows into blocks of `BLOCK_ROWS`; the last may be shorter."""
    waiting: list[Rows] = []
    n_waiting = 0
    for part in parts:
        begin = 0
        while n_waiting + len(part.X) - begin >= BLOCK_ROWS:
            end = begin + BLOCK_ROWS - n_waiting
            yield joined([*waiting, part[begin:end]])
            waiting, n_waiting, begin = [], 0, end
        if begin < len(part.X):
            waiting.append(part[begin:])
            n_waiting += len(part.X) - begin
    if waiting:
        yield joined(waiting)


def joined(parts: list[Rows]) -> Rows:
    """Put consecutive rows together, one row after another in memory."""
    if len(parts) == 1:
        part = parts[0]
        return Rows(np.ascontiguousarray(part.X), part.codes, part.weight, part.unit, part.n_classes)
    X, codes, weight, unit = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "codes", "weight", "unit")
    )
    return Rows(np.ascontiguousarray(X), codes, weight, unit, parts[0].n_classes)
