"""Fit to rows that need not be in memory: any re-iterable source of blocks, or Parquet, Arrow and CSV files.

The rows are passed over a fixed number of times (`core.passes`), and what is held in memory does not depend on their
number: what later passes need of each row goes to a temporary file (`spill`). The result is an ordinary fitted
`LTCNClassifier`: bit for bit the one that `LTCNClassifier.fit` returns for the same rows in the same order, in whatever
blocks they came, if their weights are whole numbers.

Easy to get wrong: a generator can be passed over once only. Give a list, a function that starts anew, or a path.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar

from sklearn.base import clone

from .core.sums.rows import MOST_ROWS, Rows
from .core.sums.sources import Blocks, Keep, cut, keep_small
from .core.sums.statistics import Census, S, Source, merged
from .estimators.classifier import LTCNClassifier
from .intake.blocks import Columns, Encoder, RawBlock, begin, census, fit_at_once
from .intake.progress import Meter, Progress, reporter
from .intake.spill import Spill
from .tables.files import table_blocks

B = TypeVar("B")
D = TypeVar("D")

Readable = str | os.PathLike[str] | Iterable[tuple[Any, ...]] | Callable[[], Iterable[tuple[Any, ...]]]


def fit(
    source: Readable,
    classifier: LTCNClassifier | None = None,
    *,
    target: str | None = None,
    weight: str | None = None,
    block_rows: int = 65536,
    progress: Callable[[Progress], None] | bool | None = None,
    scratch: str | os.PathLike[str] | Literal[False] | None = None,
) -> LTCNClassifier:
    """Fit a classifier to blocks of rows in several passes.

    Parameters
    ----------
    source : path, pyarrow dataset, re-iterable or callable
        A Parquet file, Arrow file, CSV file or a folder of them; or anything that can be iterated over several times
        (or a function that returns an iterator) and yields ``(X, y)`` or ``(X, y, sample_weight)``, always the same.
    classifier : LTCNClassifier, default=None
        The parameters; it is cloned. By default ``LTCNClassifier()``.
    target : str, default=None
        Column of the classes; for files only. All other columns are features.
    weight : str, default=None
        Column of the weights; for files only.
    block_rows : int, default=65536
        Rows to read at a time from files.
    progress : callable, bool or None, default=None
        Called with a `Progress` about once a second; True writes to stderr, None does so if that is a terminal.
    scratch : path, False or None, default=None
        Folder for temporary files, which hold what later passes need of each row: about 8 bytes for each feature and
        again for each concept. By default ``TMPDIR``, or else /var/tmp where there is one. False, or too little free
        space, computes all of it anew in each pass, with the same result.

    Returns
    -------
    LTCNClassifier
        A new, fitted classifier.

    Examples
    --------
    >>> import numpy as np
    >>> from cogmap import stream
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 3))
    >>> blocks = [(part, (part[:, 0] > 0) * 1) for part in np.array_split(X, 5)]
    >>> stream.fit(blocks).score(X, X[:, 0] > 0) > 0.95
    True
    """
    chosen = LTCNClassifier() if classifier is None else classifier
    if not isinstance(chosen, LTCNClassifier):
        raise TypeError(f"stream.fit fits an LTCNClassifier, not {type(chosen).__name__}.")
    chosen._check_parameters()
    if isinstance(source, (str, os.PathLike)) or hasattr(source, "to_batches"):
        source = table_blocks(source, target, weight, block_rows)
    with scratch_space(scratch) as keep:
        return fit_started(_starter(source), chosen, Meter(reporter(progress)), keep)


def fit_started(
    start: Callable[[], Iterable[tuple[Any, ...]]], classifier: LTCNClassifier, meter: Meter, keep: Keep
) -> LTCNClassifier:
    """Fit a clone of a classifier to the blocks that `start` yields anew; `meter` may have counted passes before."""
    fitted = clone(classifier)
    reading = Reading(start, meter)
    counted, few = reading.first()
    encoder, known = begin(fitted, reading.columns, counted)
    if (found := fit_at_once(fitted, encoder, counted, known, lambda: few)) is not None:
        return found
    meter.n_rows = counted.n_rows
    rows = keep(_Encoded(reading, encoder), counted.n_rows * (reading.columns.n_features + 4) * 8)
    return fitted._fit_source(Passes(Blocks(rows, counted.n_rows, keep), meter), known, None)


@contextmanager
def scratch_space(scratch: str | os.PathLike[str] | Literal[False] | None) -> Iterator[Keep]:
    """Yield how blocks are kept: in temporary files of a folder, until the context ends, or in memory only."""
    if scratch is False:
        yield keep_small
        return
    with Spill(scratch) as spill:
        yield spill


def _starter(source: Any) -> Callable[[], Iterable[tuple[Any, ...]]]:
    if callable(source):
        return source
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
    columns: Columns = field(default_factory=lambda: Columns(0, None))

    def first(self) -> tuple[Census, list[RawBlock]]:
        """Count all rows; also return them, where they are few."""
        few: list[RawBlock] = []
        n_rows = 0

        def counted() -> Iterator[tuple[int, Census]]:
            nonlocal n_rows
            for block in self.blocks():
                n_rows += len(block.X)
                few.append(block)
                if n_rows > MOST_ROWS:
                    few.clear()
                yield len(block.X), census(block)

        return merged(self.meter.counted(counted())), few

    def blocks(self) -> Iterator[RawBlock]:
        """Yield checked blocks; those without rows are left out."""
        rows = before = 0
        for given in self.start():
            if self.columns.n_features == 0:
                self.columns = Columns.of(given[0])
            block = self.columns.check(*given, before=before)
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
class _Encoded:
    """The blocks of a reading as rows for the core."""

    reading: Reading
    encoder: Encoder

    def __call__(self) -> Iterator[Rows]:
        return cut(self.encoder(block) for block in self.reading.blocks())


@dataclass(frozen=True)
class Passes(Source[B]):
    """Blocks on this machine whose passes are counted and reported, wherever the blocks come from."""

    blocks: Blocks[B]
    meter: Meter

    def reduce(self, from_block: Callable[[B], S]) -> S:
        """Return the statistic of all blocks."""
        return merged(self.meter.counted((_n_rows(block), from_block(block)) for block in self.blocks.start()))

    def map(self, function: Callable[[B], D], width: int) -> "Passes[D]":
        """Return the function of every block as a source."""
        return Passes(self.blocks.map(function, width), self.meter)


def _n_rows(block: Any) -> int:
    """Return the number of rows of a block: rows and initial states both have class codes."""
    return len(block.codes)
