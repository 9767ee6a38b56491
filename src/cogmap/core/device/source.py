"""Rows on a device as a source for the passes: each function of a block has a counterpart that works there.

`core.passes` hands the functions of numpy blocks to its source. A cluster sends them to other machines; a device runs
their counterparts instead, which `REDUCTIONS` and `MAPS` name. So the passes are written once.

Easy to get wrong: reading a number from a device waits for all work on it. Sums stay there until a pass is through
(`Pending`).
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, Self, TypeVar

from ..sources import Computed, Kept
from ..statistics import S, Source, Statistic, merged
from ..training import Rows
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
class DeviceSource(Source[B], Generic[B]):
    """Blocks of rows on a device. `even` says that all weights are 1."""

    space: Space
    start: Callable[[], Iterable[B]]
    n_rows: int
    even: bool

    @classmethod
    def of(cls, space: Space, rows: Rows, even: bool, block_rows: int) -> "DeviceSource[Rows]":
        """Cut rows into blocks, without copying them."""
        n_rows = rows.X.shape[0]

        def blocks() -> Iterator[Rows]:
            for part in slices(n_rows, block_rows):
                yield Rows(rows.X[part, :], rows.codes[part], rows.weight[part], rows.unit[part], rows.n_classes)

        return DeviceSource(space, blocks, n_rows, even)

    def fold(self, from_block: Callable[[B], P]) -> P:
        """Return the statistic of all blocks, given a function that works on the device."""
        return merged(from_block(block) for block in self.start())

    def reduce(self, from_block: Callable[[B], S]) -> S:
        """Return the statistic of all blocks, given the function of a numpy block."""
        function, given = _parts(from_block)
        found: S = REDUCTIONS[function](self, *given)
        return found

    def map(self, function: Callable[[B], D], width: int) -> "DeviceSource[D]":
        """Return the function of every block as a source, kept where there is memory for it."""
        original, given = _parts(function)
        computed = Computed(self.start, MAPS[original](self.space, *given))
        kept = self.space.keeps(self.n_rows, width)
        return DeviceSource(self.space, Kept(computed) if kept else computed, self.n_rows, self.even)


def _parts(function: Callable[..., Any]) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """Return a function and the arguments that it was given beforehand."""
    return (function.func, function.args) if isinstance(function, partial) else (function, ())
