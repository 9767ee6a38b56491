"""Fit a `TabularClassifier` to a file that need not fit into memory: text, missing values and all.

What the columns mean is learned in passes over the file (`tables.tally`), then a network is fitted to the encoded rows
in passes (`intake.stream`). The result is that of `TabularClassifier.fit` on the whole table, bit for bit.

Easy to get wrong: rows without a class are left out before anything is learned, and classes that are whole numbers lose
the fraction that a missing one gives the column. The latter is a matter of all rows, not of one part of them.
"""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from sklearn.base import clone

from ..intake.progress import Meter, Progress, reporter
from ..intake.stream import StreamSupply, scratch_space
from ..knowledge.names import no_column
from ..tables.columns import Column, encoded
from ..tables.description import learn_columns
from ..tables.parts import ArrowParts, TableParts, open_parts
from ..tables.target import Target
from .classifier import LTCNClassifier
from .fitting import check_network, fit_supply
from .tabular import TabularClassifier

if TYPE_CHECKING:
    import pandas as pd

TEXT_CELL = 60
"""Bytes of a cell that may be text, in a temporary file."""


@dataclass(frozen=True)
class FittedFile:
    """A classifier that was fitted to a file, and what a user should know about how.

    Attributes
    ----------
    classifier : TabularClassifier
        The fitted classifier.
    n_rows : int
        Number of rows that it was fitted to.
    notes : tuple of str
        What was decided that could have been meant otherwise, and how many rows had no class.
    """

    classifier: TabularClassifier
    n_rows: int
    notes: tuple[str, ...]


def fit(
    table: str | os.PathLike[str] | TableParts,
    classifier: TabularClassifier | None = None,
    *,
    target: str,
    classes: bool = False,
    progress: Callable[[Progress], None] | bool | None = None,
    scratch: str | os.PathLike[str] | Literal[False] | None = None,
) -> FittedFile:
    """Fit a classifier to a table in a file, in several passes.

    Parameters
    ----------
    table : path, or what `table_parts.open_parts` returns
        A CSV file (also gzip), Parquet, Arrow or Feather.
    classifier : TabularClassifier, default=None
        The parameters; it is cloned. Its network may be an `LTCNClassifier`, which is the default here, or an
        `LTCNClassifierCV`.
    target : str
        Column of the classes.
    classes : bool, default=False
        Whether the target holds classes although it has many numbers or values, which is refused otherwise.
    progress, scratch
        As for `cogmap.stream.fit`.

    Returns
    -------
    FittedFile
        A new, fitted classifier, with notes.
    """
    fitted = clone(TabularClassifier(LTCNClassifier()) if classifier is None else classifier)
    if fitted.classifier is not None:
        check_network(fitted.classifier, "Passes over a file fit")
    parts = open_parts(Path(table)) if isinstance(table, (str, os.PathLike)) else table
    if target not in parts.names:
        raise ValueError(no_column(target, parts.names))
    names = [name for name in parts.names if name != target]
    fitted.check_parameters(names)
    meter = Meter(reporter(progress))
    parts.scan(meter)
    with scratch_space(scratch) as keep:
        # Arrow files are read fast enough to be read in each pass.
        read = parts if isinstance(parts, ArrowParts) else keep(parts, parts.n_rows * len(parts.names) * TEXT_CELL)
        rows = _LabelledParts(read, Target(target, classes=classes))
        fitted.columns_ = learn_columns(
            rows, fitted.declared(names), fitted.max_categories, meter, drop_unusable=fitted.drop_unusable
        )
        rows.target.check()
        network = fitted.unfitted_network(rows.target.n_rows)
        fitted.classifier_ = fit_supply(network, StreamSupply.of(lambda: rows.encoded(fitted.columns_), meter, keep))
    fitted.n_features_in_, fitted.feature_names_in_ = len(names), np.array(names, dtype=object)
    fitted.target_name_, fitted.classes_ = target, fitted.classifier_.classes_
    notes = (*parts.notes, *rows.target.notes)
    return FittedFile(fitted, rows.target.n_rows, notes)


class _LabelledParts:
    """Parts of a table without the rows that have no class; the first pass also looks at the classes."""

    def __init__(self, parts: Callable[[], Any], target: Target) -> None:
        self.parts = parts
        self.target = target
        self.looked = False

    def __call__(self) -> "Iterator[pd.DataFrame]":
        """Yield the parts that have rows."""
        for part in self.parts():
            known = part[self.target.name].notna().to_numpy(dtype=bool)
            kept = part if known.all() else part[known].reset_index(drop=True)
            if not self.looked:
                self.target.add(kept[self.target.name], len(part) - len(kept))
            if len(kept):
                yield kept
        self.looked = True

    def encoded(self, columns: tuple[Column, ...]) -> Iterator[tuple[Any, Any]]:
        """Yield encoded rows and their classes."""
        for part in self():
            yield encoded(part, columns), self.target.labels(part[self.target.name])
