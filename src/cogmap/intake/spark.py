"""Rows of Spark dataframes: every pass is one `mapInArrow`, and the driver joins what the partitions return.

Easy to get wrong: Spark may compute a dataframe anew in every pass, and must then find the same rows in the same
partitions. Persist what a shuffle or a sample made; a pass that finds other numbers of rows is an error.
"""

import pickle
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import groupby
from operator import itemgetter
from typing import Any, Generic, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..core.fit.model import Settings
from ..core.sums.rows import Rows
from ..core.sums.sources import Pass, Source, cut
from ..core.sums.space import NUMPY, Space
from ..core.sums.statistics import Census, Range, Run, S
from .blocks import Features, RawBlock, census, n_blocks
from .checks import module
from .encoding import Encoder

B = TypeVar("B")
D = TypeVar("D")

PIECE = 2**20
"""Bytes of the largest piece in which a partition's answer is sent; Gram matrices of many concepts take 100 MB."""


@dataclass(frozen=True)
class SparkSupply:
    """A dataframe; for each partition by its index, its first block and the number of its rows."""

    features: Features
    counted: Census
    dataset: Any
    reader: "Reader"
    starts: dict[int, tuple[int, int]]
    at_hand: bool = False

    @classmethod
    def of(cls, dataset: Any, reader: "Reader") -> Self:
        """Check and count the partitions."""
        chosen = reader.select(dataset)
        counts = dict(collected(chosen, partial(count, reader)))
        with_rows = [count for _, count in sorted(counts.items()) if count[1] is not None]
        if not with_rows:
            raise ValueError("The dataframe has no rows of positive weight: give one that has.")
        starts, start = {}, 0
        for index, (n_rows, *_) in sorted(counts.items()):
            starts[index] = (start, n_rows)
            start += n_blocks(n_rows)
        counted: Census = Run.from_parts(part for _, part, _ in with_rows).total
        return cls(with_rows[0][2], counted, chosen, reader, starts)

    def gather(self) -> Sequence[RawBlock]:
        """Return all rows, where they are few."""
        parts = dict(collected(self.dataset, partial(gathered, self.reader)))
        return [block for _, part in sorted(parts.items()) for block in part]

    def source(self, encoder: Encoder, known: Range, every: Sequence[Settings]) -> Source[Rows]:
        """Return the rows as a source."""
        return SparkBlocks(self.dataset, self.reader, encoder, self.starts, self.counted.n_rows)


@dataclass(frozen=True)
class Reader:
    """Which columns of a dataframe hold features, classes and weights."""

    features: tuple[str, ...]
    label: str | None
    weight: str | None

    def select(self, dataset: Any) -> Any:
        """Return the dataframe with the columns that are needed."""
        wanted = [name for name in (*self.features, self.label, self.weight) if name is not None]
        missing = [name for name in wanted if name not in dataset.columns]
        if missing:
            raise ValueError(
                f"The dataframe has no column {missing[0]!r}: its columns are {', '.join(map(repr, dataset.columns))}."
            )
        return dataset.select(*wanted)

    def table(self, batch: Any) -> tuple[NDArray[Any], Features]:
        """Return a record batch as a table of numbers, and its features."""
        columns = [batch.column(name) for name in self.features]
        if len(columns) == 1 and columns[0].type.num_fields > 0:
            table = _stacked([_vector(value) for value in columns[0].to_pylist()], self.features[0])
            return table, Features(table.shape[1], None)
        table = np.column_stack([column.to_numpy(zero_copy_only=False) for column in columns])
        return table, Features(len(self.features), self.features)

    def blocks(self, batches: Iterator[Any]) -> Iterator[tuple[RawBlock, Features]]:
        """Yield checked blocks that hold rows, with their features."""
        for batch in batches:
            if batch.num_rows == 0:
                continue
            table, features = self.table(batch)
            y = batch.column(self.label).to_numpy(zero_copy_only=False)
            weight = None if self.weight is None else batch.column(self.weight).to_numpy(zero_copy_only=False)
            named = table if features.names is None else framed(table, features)
            block = features.check(named, y, weight)
            if len(block.X):
                yield block, features


def _stacked(rows: list[Any], name: str) -> NDArray[np.float64]:
    """Return arrays of numbers as a table; one that is missing is a row of NaN, one of another length an error."""
    lengths = sorted({len(value) for value in rows if value is not None})
    if len(lengths) > 1:
        raise ValueError(
            f"Column {name!r} holds arrays of {lengths[0]} and of {lengths[-1]} numbers: give all the same."
        )
    absent = [np.nan] * (lengths[0] if lengths else 1)
    return np.array([absent if value is None else value for value in rows], dtype=np.float64)


def framed(table: NDArray[Any], features: Features) -> Any:
    """Return a table with the names of its features."""
    return module("pandas", "spark").DataFrame(table, columns=list(features.names or ()))


def _vector(value: Any) -> Any:
    """Return an array, or a Spark vector as Arrow shows it: a struct of type, size, indices and values."""
    if not isinstance(value, dict):
        return value
    if value["type"] == 1:
        return value["values"]
    dense = np.zeros(value["size"])
    dense[value["indices"]] = value["values"]
    return dense


def collected(dataset: Any, function: Callable[[Iterator[Any]], Any]) -> list[tuple[int, Any]]:
    """Run a function of each partition; return its answers by the partition's index, or raise its refusal."""
    rows = dataset.mapInArrow(partial(answered, function), "part int, piece int, answer binary").toLocalIterator()
    pieces = sorted((row["part"], row["piece"], bytes(row["answer"])) for row in rows)
    parts = ((part, b"".join(piece for _, _, piece in group)) for part, group in groupby(pieces, itemgetter(0)))
    answers = [(part, pickle.loads(zlib.decompress(text))) for part, text in parts]
    for _, answer in answers:
        if isinstance(answer, Refusal):
            raise ValueError(answer.sentence)
    return answers


@dataclass(frozen=True)
class Refusal:
    """What is wrong with the rows of a partition; as an answer, since Spark buries an error under a trace of Java's."""

    sentence: str


def partition() -> int:
    """Return the index of the partition that this process works on."""
    return int(module("pyspark", "spark").TaskContext.get().partitionId())


def answered(function: Callable[[Iterator[Any]], Any], batches: Iterator[Any]) -> Iterator[Any]:
    """Yield what a function says of a partition, or why its rows are refused; in pieces: Java copies rows repeatedly.

    Compressed: in the first pass for rank knots, a partition of few rows answers with millions of cells, most empty.
    """
    try:
        answer = function(batches)
    except ValueError as error:
        answer = Refusal(str(error))
    pyarrow, index, text = module("pyarrow", "spark"), partition(), zlib.compress(pickle.dumps(answer), 1)
    for piece, start in enumerate(range(0, len(text), PIECE)):
        columns = [pyarrow.array([number], pyarrow.int32()) for number in (index, piece)]
        columns.append(pyarrow.array([text[start : start + PIECE]], pyarrow.binary()))
        yield pyarrow.RecordBatch.from_arrays(columns, names=["part", "piece", "answer"])


def count(reader: Reader, batches: Iterator[Any]) -> tuple[int, Census | None, Features | None]:
    """Return the number of rows, the census and the features of a partition."""
    parts, features = [], None
    for block, features in reader.blocks(batches):  # noqa: B007 # the features are those of the last block
        parts.append(census(block))
    total = Run.from_parts(parts).total if parts else None
    return total.n_rows if total else 0, total, features


def gathered(reader: Reader, batches: Iterator[Any]) -> list[RawBlock]:
    """Return the rows of a partition."""
    return [block for block, _ in reader.blocks(batches)]


@dataclass(frozen=True)
class Reduction:
    """A statistic of a partition's blocks, as a run of the tree over all blocks; `works` are done one by one."""

    reader: Reader
    encoder: Encoder
    starts: dict[int, tuple[int, int]]
    works: tuple[Pass[Any, Any], ...]

    def __call__(self, batches: Iterator[Any]) -> Run[Any]:
        """Compute."""
        index = partition()
        start, expected = self.starts.get(index, (0, 0))
        seen = 0

        def rows() -> Iterator[Rows]:
            nonlocal seen
            for block, _ in self.reader.blocks(batches):
                seen += len(block.X)
                yield self.encoder(block)

        blocks: Iterator[Any] = cut(rows())
        for work in self.works:
            blocks = map(work(NUMPY), blocks)
        run = Run.from_parts(blocks, start)
        if seen != expected:
            raise ValueError(
                f"Partition {index} had {expected} rows at first and {seen} now: persist the dataframe before the fit."
            )
        return run


@dataclass(frozen=True)
class SparkBlocks(Source[B], Generic[B]):
    """Blocks of a dataframe's partitions, each followed by functions of blocks; nothing is kept between passes."""

    dataset: Any
    reader: Reader
    encoder: Encoder
    starts: dict[int, tuple[int, int]]
    n_rows: int
    works: tuple[Pass[Any, Any], ...] = ()
    space: Space = NUMPY
    whole: None = None
    single: bool = False

    def reduce(self, work: Pass[B, S]) -> S:
        """Return the statistic of all blocks."""
        reduction = Reduction(self.reader, self.encoder, self.starts, (*self.works, work))
        runs: list[Run[S]] = [run for _, run in sorted(collected(self.dataset, reduction), key=itemgetter(0))]
        return reduce(Run.merge, runs).total

    def map(self, work: Pass[B, D], width: int) -> "Source[D]":
        """Return what a pass makes of every block, computed in each pass."""
        return replace(self, works=(*self.works, work))  # type: ignore[return-value]
