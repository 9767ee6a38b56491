"""Fit to rows that need not be in memory: any re-iterable source of blocks, or Parquet, Arrow and CSV files.

The rows are passed over a fixed number of times (`core.passes`), and what is held in memory does not depend on their
number. The result is an ordinary fitted `LTCNClassifier`: bit for bit the one that `LTCNClassifier.fit` returns for the
same rows in the same order, in whatever blocks they came, if their weights are whole numbers.

Easy to get wrong: a generator can be passed over once only. Give a list, a function that starts anew, or a path.
"""

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .classifier import LTCNClassifier
from .core.sources import Blocks, cut
from .core.statistics import Census, merged
from .core.training import MOST_ROWS, Rows
from .files import table_blocks
from .intake import Columns, Encoder, RawBlock, begin, census, fit_at_once

Source = str | os.PathLike[str] | Iterable[tuple[Any, ...]] | Callable[[], Iterable[tuple[Any, ...]]]


class Progress(NamedTuple):
    """How far a pass is; the number of rows and the seconds left are None in the first pass, which counts them."""

    number: int
    rows: int
    n_rows: int | None
    seconds: float
    seconds_left: float | None


def fit(
    source: Source,
    classifier: LTCNClassifier | None = None,
    *,
    target: str | None = None,
    weight: str | None = None,
    block_rows: int = 65536,
    progress: Callable[[Progress], None] | bool | None = None,
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
    fitted = clone(chosen)
    fitted._check_parameters()
    if isinstance(source, (str, os.PathLike)) or hasattr(source, "to_batches"):
        source = table_blocks(source, target, weight, block_rows)
    reading = Reading(_starter(source), _reporter(progress))
    counted, few = reading.first()
    encoder, known = begin(fitted, reading.columns, counted)
    if (found := fit_at_once(fitted, encoder, counted, known, lambda: few)) is not None:
        return found
    reading.n_rows = counted.n_rows
    return fitted._fit_source(Blocks(_Encoded(reading, encoder), counted.n_rows), known, None)


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
    """Passes over a user's blocks: checked, counted and reported."""

    start: Callable[[], Iterable[tuple[Any, ...]]]
    report: Callable[[Progress], None]
    n_rows: int | None = None
    passes: int = 0
    columns: Columns = field(default_factory=lambda: Columns(0, None))

    def first(self) -> tuple[Census, list[RawBlock]]:
        """Count all rows; also return them, where they are few."""
        few: list[RawBlock] = []
        n_rows = 0

        def counted() -> Iterator[Census]:
            nonlocal n_rows
            for block in self.blocks():
                n_rows += len(block.X)
                few.append(block)
                if n_rows > MOST_ROWS:
                    few.clear()
                yield census(block)

        return merged(counted()), few

    def blocks(self) -> Iterator[RawBlock]:
        """Yield checked blocks; those without rows are left out."""
        self.passes += 1
        rows, begun, reported = 0, time.monotonic(), time.monotonic()
        for given in self.start():
            if self.columns.n_features == 0:
                self.columns = Columns.of(given[0])
            block = self.columns.check(*given)
            if len(block.X):
                yield block
            rows += len(block.X)
            if time.monotonic() - reported >= 1:
                reported = time.monotonic()
                self.report(self._progress(rows, reported - begun))
        if self.n_rows is not None and rows != self.n_rows:
            raise ValueError(
                f"The source yielded {self.n_rows} rows at first and {rows} in pass {self.passes}: "
                "it must yield the same rows each time."
            )
        self.report(self._progress(rows, time.monotonic() - begun))

    def _progress(self, rows: int, seconds: float) -> Progress:
        left = None if self.n_rows is None or rows == 0 else seconds * (self.n_rows - rows) / rows
        return Progress(self.passes, rows, self.n_rows, seconds, left)


@dataclass(frozen=True)
class _Encoded:
    """The blocks of a reading as rows for the core."""

    reading: Reading
    encoder: Encoder

    def __call__(self) -> Iterator[Rows]:
        return cut(self.encoder(block) for block in self.reading.blocks())


def _reporter(progress: Callable[[Progress], None] | bool | None) -> Callable[[Progress], None]:
    if callable(progress):
        return progress
    if progress or (progress is None and sys.stderr.isatty()):
        return _write
    return lambda _: None


def _write(progress: Progress) -> None:
    """Write one line to stderr."""
    line = f"pass {progress.number}: {progress.rows} rows in {progress.seconds:.0f} s"
    if progress.seconds_left is not None:
        line += f", {100 * progress.rows / (progress.n_rows or np.inf):.0f} %, {progress.seconds_left:.0f} s left"
    sys.stderr.write(line + "\n")
