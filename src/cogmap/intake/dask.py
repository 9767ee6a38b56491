"""Rows of Dask collections: every pass is a task for each partition, and a tree that joins what they return.

Easy to get wrong: the bits of a matrix product depend on the number of BLAS threads. Dask gives its worker processes
one each; a fit in this process has the same bits if it has one too.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Generic, Self, TypeVar

import numpy as np

from ..core.fit.model import Settings
from ..core.sums.rows import Rows
from ..core.sums.sources import KEPT_BYTES, Pass, Source, cut
from ..core.sums.space import NUMPY, Space
from ..core.sums.statistics import Census, Range, Run, S
from .blocks import Features, RawBlock, census, n_blocks
from .checks import module
from .encoding import Encoder

B = TypeVar("B")
D = TypeVar("D")


@dataclass(frozen=True)
class DaskSupply:
    """Partitions as delayed objects, and the index of the first block of each."""

    features: Features
    counted: Census
    parts: Sequence[Any]
    starts: Sequence[int]
    client: Any
    at_hand: bool = False

    @classmethod
    def of(cls, X: Any, y: Any, sample_weight: Any, client: Any) -> Self:
        """Check and count the partitions."""
        features = _features(X)
        delayed = module("dask", "dask").delayed
        parts = [delayed(_checked)(features, *part) for part in _partitions(X, y, sample_weight)]
        counts = _computed(client, [delayed(_counted)(part) for part in parts])
        starts = np.cumsum([0, *(n_blocks(n) for n, _ in counts)])[:-1].tolist()
        counted = Run.from_parts(part for _, part in counts if part is not None).total
        return cls(features, counted, parts, starts, client)

    def gather(self) -> Sequence[RawBlock]:
        """Return all rows, where they are few."""
        blocks: list[RawBlock] = _computed(self.client, self.parts)
        return blocks

    def source(self, encoder: Encoder, known: Range, every: Sequence[Settings]) -> Source[Rows]:
        """Return the rows as a source whose blocks stay on the workers."""
        delayed = module("dask", "dask").delayed
        send = delayed(encoder)
        blocks = [delayed(_encoded)(send, part) for part in self.parts]
        return DaskBlocks(blocks, self.starts, self.counted.n_rows, self.client)


def _computed(client: Any, what: Any) -> Any:
    if client is not None:
        return client.compute(what, sync=True)
    return module("dask", "dask").compute(what)[0]


def _features(X: Any) -> Features:
    if hasattr(X, "columns"):
        return Features(len(X.columns), tuple(map(str, X.columns)))
    if getattr(X, "ndim", 0) != 2 or not hasattr(X, "to_delayed"):
        raise TypeError(f"X must be a dask array with rows and columns or a dask dataframe, not {type(X).__name__}.")
    return Features(int(X.shape[1]), None)


def _partitions(X: Any, y: Any, sample_weight: Any) -> list[tuple[Any, ...]]:
    """Return the partitions of rows, classes and weights as delayed objects, side by side."""
    given = [X if hasattr(X, "columns") else X.rechunk({1: -1}), y]
    given += [] if sample_weight is None else [sample_weight]
    parts = [np.ravel(np.array(part.to_delayed(), dtype=object)).tolist() for part in given]
    if len({len(part) for part in parts}) > 1:
        raise ValueError(
            f"X has {len(parts[0])} partitions and y or sample_weight {[len(part) for part in parts[1:]]}: "
            "give them the same partitions."
        )
    return list(zip(*parts, strict=True))


def _checked(features: Features, X: Any, y: Any, weight: Any = None) -> RawBlock:
    return features.check(X, y, weight)


def _counted(block: RawBlock) -> tuple[int, Census | None]:
    return len(block.X), census(block) if len(block.X) else None


def _encoded(encoder: Encoder, block: RawBlock) -> list[Rows]:
    return list(cut([encoder(block)]))


@dataclass(frozen=True)
class DaskBlocks(Source[B], Generic[B]):
    """Lists of blocks, one for each partition, as delayed objects; the index of each list's first block."""

    parts: Sequence[Any]
    starts: Sequence[int]
    n_rows: int
    client: Any
    space: Space = NUMPY
    whole: None = None
    single: bool = False

    def reduce(self, work: Pass[B, S]) -> S:
        """Return the statistic of all blocks, joined along a tree of partitions."""
        delayed = module("dask", "dask").delayed
        # What earlier passes found goes to each worker once, not with every task.
        function = delayed(_Constant(work), pure=False)
        runs = [delayed(_run)(function, part, start) for part, start in zip(self.parts, self.starts, strict=True)]
        while len(runs) > 1:
            pairs = [runs[i : i + 2] for i in range(0, len(runs), 2)]
            runs = [delayed(Run.merge)(*pair) if len(pair) == 2 else pair[0] for pair in pairs]
        run: Run[S] = _computed(self.client, runs[0])
        return run.total

    def map(self, work: Pass[B, D], width: int) -> "Source[D]":
        """Return the function of every block, kept on the workers where it is small."""
        dask = module("dask", "dask")
        send = dask.delayed(_Constant(work), pure=False)
        parts = [dask.delayed(_mapped)(send, part) for part in self.parts]
        if self.n_rows * width * 8 <= KEPT_BYTES:
            parts = list(dask.persist(*parts) if self.client is None else self.client.persist(parts))
        return DaskBlocks(parts, self.starts, self.n_rows, self.client)


@dataclass(frozen=True)
class _Constant(Generic[D]):
    """A pass as a value: Dask would call a bare one, or look into it."""

    value: Pass[Any, D]


def _run(work: _Constant[S], blocks: list[Any], start: int) -> Run[S]:
    return Run.from_parts(map(work.value(NUMPY), blocks), start)


def _mapped(work: _Constant[D], blocks: list[Any]) -> list[D]:
    return list(map(work.value(NUMPY), blocks))
