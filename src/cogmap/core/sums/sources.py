"""Blocks of rows: cut from arrays, cut from a stream, or kept from an earlier pass; in memory, on disk or on a device.

A *pass* is a function of a space that returns the function of a block: what all blocks share is prepared once, where
the blocks are. A source reduces blocks to a statistic, or maps them to other blocks.

Every source cuts rows into blocks of `BLOCK_ROWS` in the order of the rows, wherever a user's own blocks end. A
streamed fit is therefore the fit in memory, bit for bit, if it sees the same rows in the same order. Blocks of numpy
are worked on side by side.

Easy to get wrong: what a pass returns for each row may be kept for the next ones only while it is small. Beyond
`KEPT_BYTES` it is computed anew, which gives the same bits, because a pass is a pure function of a block. A source that
may write to a disk keeps it there instead: `Blocks.keep` decides.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Generic, Protocol, TypeVar

import numpy as np

from .rows import Rows
from .space import NUMPY, Space, slices
from .statistics import S, merged
from .threads import side_by_side

B = TypeVar("B")
B_co = TypeVar("B_co", covariant=True)
C = TypeVar("C")
D = TypeVar("D")

BLOCK_ROWS = 4608
"""Rows of a block, 24 of those that stay in the cache: enough for a matrix product to be fast, few to hold."""

KEPT_BYTES = 400_000_000
"""What a pass may keep of all rows for later ones; the one over initial states does."""

Pass = Callable[[Space], Callable[[B], C]]


class Source(Protocol[B_co]):
    """Blocks of rows that can be passed over again and again.

    Attributes
    ----------
    space : Space
        Where the arrays of the blocks are.
    n_rows : int
        Number of rows in all blocks.
    whole : Rows or None
        All rows at once, where they are at hand.
    single : bool
        Whether they are one block, to be fitted at once.
    """

    space: Space
    n_rows: int
    whole: Rows | None
    single: bool

    def reduce(self, work: Pass[B_co, S]) -> S:
        """Return the statistic of all blocks."""

    def map(self, work: Pass[B_co, C], width: int) -> "Source[C]":
        """Return what a pass makes of every block as a source; it may be kept, or computed anew in each pass.

        `width` is how many numbers there are for each row.
        """

    def through(self, work: Pass[B_co, C]) -> "Source[C]":
        """Return the same for many numbers for each row, computed anew in each pass."""
        return Through(self, work, self.space, self.n_rows)

    def beside(self, rows: Rows) -> "Source[Rows]":
        """Return some rows in memory as a source for the same passes."""
        return from_rows(rows)


@dataclass(frozen=True)
class Through(Source[C], Generic[B, C]):
    """A pass over the blocks of a source that is the first part of every other pass over them."""

    source: Source[B]
    work: Pass[B, C]
    space: Space
    n_rows: int
    whole: None = None
    single: bool = False

    def reduce(self, work: Pass[C, S]) -> S:
        """Return the statistic of all blocks."""
        return self.source.reduce(partial(_composed, self.work, work))

    def map(self, work: Pass[C, D], width: int) -> Source[D]:
        """Return what a pass makes of every block as a source."""
        return self.source.map(partial(_composed, self.work, work), width)


def _composed(first: Pass[B, C], then: Pass[C, D], space: Space) -> Callable[[B], D]:
    begin, end = first(space), then(space)
    return lambda block: end(begin(block))


class Keep(Protocol):
    """How a source keeps what a pass returned for each block."""

    def __call__(self, start: Callable[[], Iterable[Any]], n_bytes: int) -> Callable[[], Iterable[Any]]:
        """Return a function that yields the same blocks, computed or read; `n_bytes` is the size of all of them."""


def keep_small(start: Callable[[], Iterable[Any]], n_bytes: int) -> Callable[[], Iterable[Any]]:
    """Keep blocks in memory, or compute them anew in every pass where they are large."""
    return Memory(start) if n_bytes <= KEPT_BYTES else start


def on_each(function: Callable[[B], C], blocks: Iterable[B]) -> Iterator[C]:
    """Yield a function of every block, in order."""
    return map(function, blocks)


@dataclass(frozen=True)
class Blocks(Source[B]):
    """A source from any function that yields the blocks anew, and the number of rows in them.

    Attributes
    ----------
    start : callable
        Yields the blocks.
    n_rows : int
        Rows in all blocks.
    space : Space
        Where the blocks are.
    keep : Keep
        How blocks are kept.
    heavy_rows : int
        Rows of a block for work that takes much memory for each, where that is less than a block has; else 0.
    whole : Rows or None
        All rows, where they are at hand.
    single : bool
        Whether they are one block, to be fitted at once.
    watch : callable
        Passes on the statistics of the blocks, one after another; with the blocks, whose rows it may count.
    """

    start: Callable[[], Iterable[B]]
    n_rows: int
    space: Space = NUMPY
    keep: Keep = keep_small
    heavy_rows: int = 0
    whole: Rows | None = None
    single: bool = False
    watch: Callable[[Iterable[tuple[int, Any]]], Iterator[Any]] | None = None

    def reduce(self, work: Pass[B, S]) -> S:
        """Return the statistic of all blocks."""
        of_block, blocks = work(self.space), self.start()
        if self.watch is None:
            parts = self._each(of_block, blocks)
        else:
            parts = self.watch(self._each(lambda block: (_length(block), of_block(block)), blocks))
        total: S = merged(parts)
        return total

    def map(self, work: Pass[B, D], width: int) -> "Blocks[D]":
        """Return what a pass makes of every block as a source, kept as `keep` says."""
        computed = Computation(self.start, work(self.space), self._each)
        return replace(self, start=self.keep(computed, self.n_rows * width * 8), whole=None)  # type: ignore[return-value]

    def through(self, work: Pass[B, D]) -> Source[D]:
        """Return what a pass with much memory for each row makes of every block, computed anew in each pass."""
        start = Cut(self.start, self.heavy_rows) if self.heavy_rows else self.start
        return Through(replace(self, start=start, heavy_rows=0), work, self.space, self.n_rows)

    def beside(self, rows: Rows) -> "Blocks[Rows]":
        """Return some rows in memory as a source where this one is: one block on a device, which is slow to begin."""
        if self.space.numpy:
            return from_rows(rows)
        put = self.space.put
        there = replace(rows, X=put(rows.X), codes=put(rows.codes), weight=put(rows.weight), unit=put(rows.unit))
        return Blocks(lambda: [there], len(rows.codes), self.space, self.keep, self.heavy_rows)

    @property
    def _each(self) -> Callable[..., Iterator[Any]]:
        return side_by_side if self.space.numpy else on_each


def only_block(source: Source[B]) -> B:
    """Return the one block of a source that has one."""
    block: B = source.reduce(_as_it_is)
    return block


def _as_it_is(space: Space) -> Callable[[Any], Any]:
    return lambda block: block


def _length(block: Any) -> int:
    """Return the number of rows of a block: rows, states and designs have class codes."""
    return int(block.codes.shape[0])


@dataclass(frozen=True)
class Computation(Generic[B, D]):
    """A function of blocks, computed in each pass."""

    start: Callable[[], Iterable[B]]
    function: Callable[[B], D]
    each: Callable[[Callable[[B], D], Iterable[B]], Iterator[D]] = on_each

    def __call__(self) -> Iterator[D]:
        """Yield it for every block."""
        return self.each(self.function, self.start())


@dataclass
class Memory(Generic[D]):
    """What the first whole pass yields, kept for all later ones; what it was computed from is not needed any more."""

    start: Callable[[], Iterable[D]] | None
    known: list[D] = field(default_factory=list)

    def __call__(self) -> Iterator[D]:
        """Yield it for every block."""
        if self.start is None:
            yield from self.known
            return
        blocks = []
        for block in self.start():
            blocks.append(block)
            yield block
        self.known, self.start = blocks, None


@dataclass(frozen=True)
class Cut:
    """Blocks of many rows, as blocks of at most `block_rows`."""

    start: Callable[[], Iterable[Any]]
    block_rows: int

    def __call__(self) -> Iterator[Any]:
        """Yield them."""
        for block in self.start():
            for part in slices(_length(block), self.block_rows):
                yield block[part]


def from_rows(rows: Rows) -> Blocks[Rows]:
    """Cut rows in memory into blocks, without copying them."""
    return Blocks(lambda: cut([rows]), len(rows.codes), whole=rows)


def at_once(rows: Rows) -> Blocks[Rows]:
    """Return rows in memory as one block."""
    return Blocks(lambda: [rows], len(rows.codes), whole=rows, single=True)


def on_device(space: Space, rows: Rows, many_rows: int, heavy_rows: int) -> Blocks[Rows]:
    """Cut rows on a device into blocks for work that takes little memory for each, and for heavy work."""

    def keep(start: Callable[[], Iterable[Any]], n_bytes: int) -> Callable[[], Iterable[Any]]:
        return Memory(start) if space.keeps(n_bytes) else start

    start = Cut(lambda: [rows], many_rows)
    return Blocks(start, int(rows.codes.shape[0]), space, keep, heavy_rows, rows)


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
        return replace(parts[0], X=np.ascontiguousarray(parts[0].X))
    X, codes, weight, unit = (
        np.concatenate([getattr(part, name) for part in parts]) for name in ("X", "codes", "weight", "unit")
    )
    even = all(part.even for part in parts)
    return Rows(np.ascontiguousarray(X), codes, weight, unit, parts[0].n_classes, even)
