"""Rows on a device as a source for the passes: each function of a block has a counterpart that works there.

`core.passes` hands the functions of numpy blocks to its source. A cluster sends them to other machines; a device runs
their counterparts instead, which `REDUCTIONS` and `MAPS` name. So the passes are written once.

Easy to get wrong: reading a number from a device waits for all work on it. Sums stay there until a pass is through
(`Pending`).
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from functools import partial
from typing import Any, Generic, Self, TypeVar

from ..sums.rows import Rows
from ..sums.sources import Computed, Kept, joined
from ..sums.statistics import S, Source, Statistic, merged
from .space import DeviceArray, Space, slices

B = TypeVar("B")
D = TypeVar("D")

REDUCTIONS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""For the function of a block that makes a statistic: what computes it of a `DeviceSource` and its other arguments."""

MAPS: dict[Callable[..., Any], Callable[..., Any]] = {}
"""For the function that makes a block of a block: what makes its counterpart of a `Space` and its other arguments."""


@dataclass(frozen=True)
class Pending:
    """Sums, smallest and largest values of blocks, still on the device."""

    space: Space
    sums: tuple[DeviceArray, ...]
    least: tuple[DeviceArray, ...] = ()
    most: tuple[DeviceArray, ...] = ()

    def merge(self, other: Self) -> Self:
        """Join two."""
        xp = self.space.xp
        return type(self)(
            self.space,
            tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)),
            tuple(xp.minimum(a, b) for a, b in zip(self.least, other.least, strict=True)),
            tuple(xp.maximum(a, b) for a, b in zip(self.most, other.most, strict=True)),
        )

    @property
    def host(self) -> list[Any]:
        """All of them in numpy, in this order."""
        return [self.space.host(array) for array in (*self.sums, *self.least, *self.most)]


P = TypeVar("P", bound=Statistic)


@dataclass(frozen=True)
class Cut:
    """Blocks of many rows, as blocks of fewer."""

    start: Callable[[], Iterable[Any]]
    block_rows: int

    def __call__(self) -> Iterator[Any]:
        """Yield them; `Rows` and `Started` hold arrays with one row for each, and the number of classes."""
        for block in self.start():
            *arrays, n_classes = (getattr(block, field.name) for field in fields(block))
            for part in slices(arrays[0].shape[0], self.block_rows):
                yield type(block)(arrays[0][part, :], *(array[part] for array in arrays[1:]), n_classes)


NARROW: set[Callable[..., Any]] = set()
"""Functions whose blocks are tuples of arrays with few numbers for each row: several are joined into one."""


@dataclass(frozen=True)
class Joined:
    """Blocks of few numbers for each row, as blocks of at most `many_rows`: a device is slow to begin."""

    space: Space
    start: Callable[[], Iterable[Any]]
    many_rows: int

    def __call__(self) -> Iterator[Any]:
        """Yield them; their own sizes and `many_rows` alone decide where they end."""
        waiting: list[Any] = []
        for block in self.start():
            if waiting and sum(part[0].shape[0] for part in (*waiting, block)) > self.many_rows:
                yield self._one(waiting)
                waiting = []
            waiting.append(block)
        if waiting:
            yield self._one(waiting)

    def _one(self, blocks: list[Any]) -> Any:
        return type(blocks[0])(*map(self.space.xp.concat, zip(*blocks, strict=True)))


@dataclass(frozen=True)
class DeviceSource(Source[B], Generic[B]):
    """Blocks of rows on a device. `even` says that all weights are 1.

    `start` yields blocks of `many_rows`, for work that takes little memory for each: a device is slow to begin. Heavy
    work is done on blocks of `block_rows`; 0 says that the blocks are such already, and then `large` may yield what
    they were cut from.
    """

    space: Space
    start: Callable[[], Iterable[B]]
    n_rows: int
    even: bool
    block_rows: int = 0
    many_rows: int = 0
    large: Callable[[], Iterable[B]] | None = None

    @classmethod
    def of(cls, space: Space, rows: Rows, even: bool, many_rows: int, block_rows: int) -> "DeviceSource[Rows]":
        """Cut rows into blocks, without copying them."""
        return DeviceSource(space, Cut(lambda: [rows], many_rows), rows.X.shape[0], even, block_rows, many_rows)

    def fold(self, from_block: Callable[[B], P]) -> P:
        """Return the statistic of all blocks, given a function that works on the device."""
        return merged(from_block(block) for block in self.start())

    @property
    def light(self) -> "DeviceSource[B]":
        """The same rows, for work that takes little memory for each."""
        return replace(self, start=self.large or self.start)

    def reduce(self, from_block: Callable[[B], S]) -> S:
        """Return the statistic of all blocks, given the function of a numpy block."""
        function, given = _parts(from_block)
        found: S = REDUCTIONS[function](self, *given)
        return found

    def map(self, function: Callable[[B], D], width: int) -> "DeviceSource[D]":
        """Return the function of every block as a source, kept where there is memory for it."""
        original, given = _parts(function)
        start: Callable[[], Iterator[D]] = Computed(self.start, MAPS[original](self.space, *given))
        start = Joined(self.space, start, self.many_rows) if original in NARROW else start
        large = Kept(start) if self.space.keeps(self.n_rows, width) else start
        start = Cut(large, self.block_rows) if self.block_rows else large
        return DeviceSource(self.space, start, self.n_rows, self.even, many_rows=self.many_rows, large=large)

    def through(self, function: Callable[[B], D]) -> "DeviceSource[D]":
        """Return the function of every block as a source, computed anew in each pass."""
        original, given = _parts(function)
        start: Callable[[], Iterator[D]] = Computed(self.start, MAPS[original](self.space, *given))
        return DeviceSource(self.space, start, self.n_rows, self.even, self.block_rows, self.many_rows)

    def beside(self, blocks: Sequence[Any]) -> "DeviceSource[Any]":
        """Return blocks of rows in memory as a source on the device: there they are one, since it is slow to begin."""
        rows, put = joined(list(blocks)), self.space.put
        there = Rows(put(rows.X), put(rows.codes), put(rows.weight), put(rows.unit), rows.n_classes)
        return DeviceSource.of(self.space, there, False, self.many_rows, self.block_rows)


def _parts(function: Callable[..., Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a function and the arguments that it was given beforehand."""
    return (function.func, function.args) if isinstance(function, partial) else (function, ())
