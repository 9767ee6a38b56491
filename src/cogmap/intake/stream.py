"""Rows that come a block at a time, again in each pass: read, counted, encoded, and kept for later passes.

Easy to get wrong: a generator can be passed over once only. Give a list, a function that starts anew, or a path.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, Self

from ..core.fit.model import Settings
from ..core.sums.rows import Rows
from ..core.sums.sources import Blocks, Keep, Source, cut, keep_small
from ..core.sums.statistics import Census, Range, merged
from .blocks import Features, RawBlock, census, few
from .encoding import Encoder
from .progress import Meter
from .spill import Spill


@contextmanager
def scratch_space(scratch: str | os.PathLike[str] | Literal[False] | None) -> Iterator[Keep]:
    """Yield how blocks are kept: in temporary files of a folder, until the context ends, or in memory only."""
    if scratch is False:
        yield keep_small
        return
    with Spill(scratch) as spill:
        yield spill


def starter(source: Any) -> Callable[[], Iterable[tuple[Any, ...]]]:
    """Return what starts a user's blocks anew."""
    if callable(source):
        start: Callable[[], Iterable[tuple[Any, ...]]] = source
        return start
    if iter(source) is source:
        raise TypeError(
            f"A {type(source).__name__} can be passed over once only, and fitting takes several passes: give a list of "
            "blocks, a function that returns a new iterator, or a path."
        )
    return lambda: source


@dataclass
class Reading:
    """Passes over a user's blocks: checked and counted."""

    start: Callable[[], Iterable[tuple[Any, ...]]]
    meter: Meter
    features: Features = field(default_factory=lambda: Features(0, None))

    def first(self) -> tuple[Census, list[RawBlock]]:
        """Count all rows; also return them, where they are few."""
        held: list[RawBlock] = []
        n_rows = 0

        def counted() -> Iterator[tuple[int, Census]]:
            nonlocal n_rows
            for block in self.blocks():
                n_rows += len(block.X)
                held.append(block)
                if not few(n_rows):
                    held.clear()
                yield len(block.X), census(block)

        return merged(self.meter.counted(counted())), held

    def blocks(self) -> Iterator[RawBlock]:
        """Yield checked blocks; those without rows are left out."""
        rows = before = 0
        for given in self.start():
            if self.features.n_features == 0:
                self.features = Features.of(given[0])
            block = self.features.check(*given, before=before)
            if len(block.X):
                yield block
            before += len(given[1])
            rows += len(block.X)
        if self.meter.n_rows is not None and rows != self.meter.n_rows:
            raise ValueError(
                f"The source yielded {self.meter.n_rows} rows at first and {rows} in pass {self.meter.number}: "
                "it must yield the same rows each time."
            )


@dataclass(frozen=True)
class StreamSupply:
    """Blocks that come again in each pass; few rows are held from the first one."""

    reading: Reading
    keep: Keep
    counted: Census
    held: list[RawBlock]
    at_hand: bool = False

    @classmethod
    def of(cls, start: Callable[[], Iterable[tuple[Any, ...]]], meter: Meter, keep: Keep) -> Self:
        """Count the blocks that `start` yields anew; `meter` may have counted passes before."""
        reading = Reading(start, meter)
        return cls(reading, keep, *reading.first())

    @property
    def features(self) -> Features:
        """The features."""
        return self.reading.features

    def gather(self) -> Sequence[RawBlock]:
        """Return all rows, where they are few."""
        return self.held

    def source(self, encoder: Encoder, known: Range, every: Sequence[Settings]) -> Source[Rows]:
        """Return the rows as a source whose passes are counted and reported; what they need is kept."""
        n_rows, meter = self.counted.n_rows, self.reading.meter
        meter.n_rows = n_rows
        n_bytes = n_rows * (self.features.n_features + 4) * 8
        rows = self.keep(lambda: cut(map(encoder, self.reading.blocks())), n_bytes)
        return Blocks(rows, n_rows, keep=self.keep, watch=meter.counted)
