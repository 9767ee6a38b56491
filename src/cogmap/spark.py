"""Fit to Spark dataframes: every pass is one `mapInArrow`, and the driver joins what the partitions return.

Only the DataFrame API is used, so Spark Connect works too. Functions of a partition are pure, so an executor that dies
costs time and changes no bit.

Easy to get wrong: Spark may compute a dataframe anew in every pass, and must then find the same rows in the same
partitions. Persist what a shuffle or a sample made; a pass that finds other numbers of rows is an error.
"""

import pickle
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby
from operator import itemgetter
from typing import Any, Generic, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone

from .core.sums.rows import Rows
from .core.sums.sources import cut
from .core.sums.statistics import Census, Run, S, Source
from .estimators.classifier import LTCNClassifier
from .intake.blocks import Columns, Encoder, RawBlock, begin, census, fit_at_once, n_blocks
from .intake.checks import module

B = TypeVar("B")
D = TypeVar("D")

PIECE = 2**20
"""Bytes of the largest piece in which a partition's answer is sent; Gram matrices of many concepts take 100 MB."""


class SparkLTCNClassifier(BaseEstimator):
    """An `LTCNClassifier` that is fitted to a Spark dataframe.

    Parameters
    ----------
    classifier : LTCNClassifier, default=None
        The parameters; by default ``LTCNClassifier()``.
    featuresCol : str or sequence of str, default="features"
        Columns of numbers; or one column of arrays or vectors.
    labelCol : str, default="label"
        Column of the classes, numbers or text.
    weightCol : str, default=None
        Column that says how often each row counts.
    predictionCol, probabilityCol : str, default="prediction", "probability"
        Columns that `SparkLTCNModel.transform` adds.
    """

    def __init__(
        self,
        classifier: LTCNClassifier | None = None,
        featuresCol: str | Sequence[str] = "features",
        labelCol: str = "label",
        weightCol: str | None = None,
        predictionCol: str = "prediction",
        probabilityCol: str = "probability",
    ) -> None:
        self.classifier = classifier
        self.featuresCol = featuresCol
        self.labelCol = labelCol
        self.weightCol = weightCol
        self.predictionCol = predictionCol
        self.probabilityCol = probabilityCol

    def fit(self, dataset: Any) -> "SparkLTCNModel":
        """Fit to a dataframe; return the fitted transformer."""
        module("pyspark", "spark")
        chosen = LTCNClassifier() if self.classifier is None else self.classifier
        if not isinstance(chosen, LTCNClassifier):
            raise TypeError(f"SparkLTCNClassifier fits an LTCNClassifier, not {type(chosen).__name__}.")
        fitted = clone(chosen)
        reader = Reader(_names(self.featuresCol), self.labelCol, self.weightCol)
        chosen_rows = reader.select(dataset)
        counts = {i: _loaded(part) for i, part in _collected(chosen_rows, Counted(reader))}
        found = [count for _, count in sorted(counts.items()) if count[1] is not None]
        if not found:
            raise ValueError("The dataframe has no rows of positive weight: give one that has.")
        counted: Census = Run.from_parts(part for _, part, _ in found).total
        columns = found[0][2]
        encoder, known = begin(fitted, columns, counted)
        local = fit_at_once(fitted, encoder, counted, known, lambda: _gathered(chosen_rows, reader))
        if local is not None:
            return self._model(local)
        starts, start = {}, 0
        for index, count in sorted(counts.items()):
            starts[index] = (start, count[0])
            start += n_blocks(count[0])
        source: Source[Rows] = SparkBlocks(chosen_rows, reader, encoder, starts)
        return self._model(fitted._fit_source(source, known, None))

    def _model(self, local: LTCNClassifier) -> "SparkLTCNModel":
        return SparkLTCNModel(local, _names(self.featuresCol), self.predictionCol, self.probabilityCol)


class SparkLTCNModel:
    """A fitted classifier as a Spark transformer.

    Parameters
    ----------
    local : LTCNClassifier
        The fitted classifier.
    features : sequence of str
        Columns of numbers, or one column of arrays or vectors.
    prediction, probability : str
        Columns to add.
    """

    def __init__(self, local: LTCNClassifier, features: Sequence[str], prediction: str, probability: str) -> None:
        self._local = local
        self._features = tuple(features)
        self._added = (prediction, probability)

    def to_local(self) -> LTCNClassifier:
        """Return the fitted classifier, which knows nothing of Spark."""
        return self._local

    def transform(self, dataset: Any) -> Any:
        """Return the dataframe with the predicted class and the class probabilities of each row.

        A row with a missing feature has none: both are null.
        """
        types = module("pyspark.sql.types", "spark")
        schema = types.StructType(list(dataset.schema.fields))
        kind = self._local.classes_.dtype.kind
        label = {"i": types.LongType(), "u": types.LongType(), "f": types.DoubleType(), "b": types.BooleanType()}
        schema = schema.add(self._added[0], label.get(kind, types.StringType()))
        schema = schema.add(self._added[1], types.ArrayType(types.DoubleType()))
        reader = Reader(self._features, None, None)
        return dataset.mapInArrow(Predicted(reader, self._local, self._added), schema)


def _names(features: str | Sequence[str]) -> tuple[str, ...]:
    return (features,) if isinstance(features, str) else tuple(features)


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

    def table(self, batch: Any) -> tuple[NDArray[Any], Columns]:
        """Return the features of a record batch as a table, and its columns."""
        found = [batch.column(name) for name in self.features]
        if len(found) == 1 and found[0].type.num_fields > 0:
            table = _stacked([_vector(value) for value in found[0].to_pylist()], self.features[0])
            return table, Columns(table.shape[1], None)
        table = np.column_stack([column.to_numpy(zero_copy_only=False) for column in found])
        return table, Columns(len(self.features), self.features)

    def blocks(self, batches: Iterator[Any]) -> Iterator[tuple[RawBlock, Columns]]:
        """Yield checked blocks that hold rows, with their columns."""
        for batch in batches:
            if batch.num_rows == 0:
                continue
            table, columns = self.table(batch)
            y = batch.column(self.label).to_numpy(zero_copy_only=False)
            weight = None if self.weight is None else batch.column(self.weight).to_numpy(zero_copy_only=False)
            named = table if columns.names is None else _framed(table, columns)
            block = columns.check(named, y, weight)
            if len(block.X):
                yield block, columns


def _stacked(rows: list[Any], name: str) -> NDArray[np.float64]:
    """Return arrays of numbers as a table; one that is missing is a row of NaN, one of another length an error."""
    lengths = sorted({len(value) for value in rows if value is not None})
    if len(lengths) > 1:
        raise ValueError(
            f"Column {name!r} holds arrays of {lengths[0]} and of {lengths[-1]} numbers: give all the same."
        )
    absent = [np.nan] * (lengths[0] if lengths else 1)
    return np.array([absent if value is None else value for value in rows], dtype=np.float64)


def _framed(table: NDArray[Any], columns: Columns) -> Any:
    return module("pandas", "spark").DataFrame(table, columns=list(columns.names or ()))


def _vector(value: Any) -> Any:
    """Return an array, or a Spark vector as Arrow shows it: a struct of type, size, indices and values."""
    if not isinstance(value, dict):
        return value
    if value["type"] == 1:
        return value["values"]
    dense = np.zeros(value["size"])
    dense[value["indices"]] = value["values"]
    return dense


def _collected(dataset: Any, function: Callable[[Iterator[Any]], Iterator[Any]]) -> list[tuple[int, bytes]]:
    """Run a function of each partition; return what each found, by the partition's index."""
    rows = dataset.mapInArrow(function, "part int, piece int, found binary").toLocalIterator()
    pieces = sorted((row["part"], row["piece"], bytes(row["found"])) for row in rows)
    parts = ((part, b"".join(piece for _, _, piece in group)) for part, group in groupby(pieces, itemgetter(0)))
    return [(part, zlib.decompress(text)) for part, text in parts]


@dataclass(frozen=True)
class Refusal:
    """What is wrong with the rows of a partition; as an answer, since Spark buries an error under a trace of Java's."""

    sentence: str


def _refusing(function: Callable[[], Any]) -> Any:
    """Return what a function of a partition finds, or why its rows are refused."""
    try:
        return function()
    except ValueError as error:
        return Refusal(str(error))


def _loaded(text: bytes) -> Any:
    """Return the answer of a partition; raise an error where that is a refusal."""
    found = pickle.loads(text)
    if isinstance(found, Refusal):
        raise ValueError(found.sentence)
    return found


def _answer(found: Any) -> Iterator[Any]:
    """Yield the answer of a partition, in pieces: Java copies each row several times over.

    Compressed: in the first pass for rank knots, a partition of few rows answers with millions of cells, most empty.
    """
    pyarrow = module("pyarrow", "spark")
    index, text = module("pyspark", "spark").TaskContext.get().partitionId(), zlib.compress(pickle.dumps(found), 1)
    for piece, start in enumerate(range(0, len(text), PIECE)):
        columns = [pyarrow.array([number], pyarrow.int32()) for number in (index, piece)]
        columns.append(pyarrow.array([text[start : start + PIECE]], pyarrow.binary()))
        yield pyarrow.RecordBatch.from_arrays(columns, names=["part", "piece", "found"])


@dataclass(frozen=True)
class Counted:
    """Number of rows, census and columns of a partition."""

    reader: Reader

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Count."""
        yield from _answer(_refusing(lambda: self._count(batches)))

    def _count(self, batches: Iterator[Any]) -> tuple[int, Census | None, Columns | None]:
        parts, columns = [], None
        for block, columns in self.reader.blocks(batches):  # noqa: B007 # the columns are those of the last block
            parts.append(census(block))
        found = Run.from_parts(parts).total if parts else None
        return found.n_rows if found else 0, found, columns


@dataclass(frozen=True)
class Gathered:
    """The rows of a partition."""

    reader: Reader

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Gather."""
        yield from _answer(_refusing(lambda: [block for block, _ in self.reader.blocks(batches)]))


def _gathered(dataset: Any, reader: Reader) -> list[RawBlock]:
    parts = sorted(_collected(dataset, Gathered(reader)))
    return [block for _, part in parts for block in _loaded(part)]


@dataclass(frozen=True)
class Ran:
    """A statistic of a partition's blocks, as a run of the tree over all blocks."""

    reader: Reader
    encoder: Encoder
    starts: dict[int, tuple[int, int]]
    from_block: Callable[[Any], Any]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Compute."""
        yield from _answer(_refusing(lambda: self._run(batches)))

    def _run(self, batches: Iterator[Any]) -> Run[Any]:
        index = module("pyspark", "spark").TaskContext.get().partitionId()
        start, expected = self.starts.get(index, (0, 0))
        seen = 0

        def rows() -> Iterator[Rows]:
            nonlocal seen
            for block, _ in self.reader.blocks(batches):
                seen += len(block.X)
                yield self.encoder(block)

        run = Run.from_parts(map(self.from_block, cut(rows())), start)
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
    functions: tuple[Callable[[Any], Any], ...] = field(default=())

    def reduce(self, from_block: Callable[[B], S]) -> S:
        """Return the statistic of all blocks."""
        chain = Chain((*self.functions, from_block))
        parts = sorted(_collected(self.dataset, Ran(self.reader, self.encoder, self.starts, chain)))
        run: Run[S] = _loaded(parts[0][1])
        for _, part in parts[1:]:
            run = run.merge(_loaded(part))
        return run.total

    def map(self, function: Callable[[B], D], width: int) -> "Source[D]":
        """Return the function of every block, computed in each pass."""
        return SparkBlocks(self.dataset, self.reader, self.encoder, self.starts, (*self.functions, function))


@dataclass(frozen=True)
class Chain:
    """One function after another."""

    functions: tuple[Callable[[Any], Any], ...]

    def __call__(self, block: Any) -> Any:
        """Apply them."""
        for function in self.functions:
            block = function(block)
        return block


@dataclass(frozen=True)
class Predicted:
    """Add predictions to record batches."""

    reader: Reader
    local: LTCNClassifier
    added: tuple[str, str]

    def __call__(self, batches: Iterator[Any]) -> Iterator[Any]:
        """Predict."""
        pyarrow = module("pyarrow", "spark")
        for batch in batches:
            if batch.num_rows == 0:
                continue
            predictions, probabilities = self._predicted(batch)
            probability = pyarrow.array(probabilities, pyarrow.list_(pyarrow.float64()))
            names, arrays = (
                [*batch.schema.names, *self.added],
                [*batch.columns, pyarrow.array(predictions), probability],
            )
            yield pyarrow.RecordBatch.from_arrays(arrays, names=names)

    def _predicted(self, batch: Any) -> tuple[list[Any], list[Any]]:
        """Return class and probabilities of each row; None for a row that lacks a feature."""
        table, columns = self.reader.table(batch)
        complete = np.isfinite(table.astype(np.float64)).all(axis=1)
        predictions: list[Any] = [None] * len(table)
        probabilities: list[Any] = [None] * len(table)
        if complete.any():
            X = table[complete] if columns.names is None else _framed(table[complete], columns)
            labels, shares = self.local.predict(X).tolist(), self.local.predict_proba(X).tolist()
            for place, row in enumerate(np.flatnonzero(complete)):
                predictions[row], probabilities[row] = labels[place], shares[place]
        return predictions, probabilities
