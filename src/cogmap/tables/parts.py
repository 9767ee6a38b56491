"""A table in a file, some rows at a time or at once: CSV (also gzip), a workbook, Parquet, Arrow or Feather.

A format is a class with the methods of `TableParts`, and a line in `parts_of_contents` that tells it by its first
bytes.

Easy to get wrong: a part is no small table. What a column is, a number or text, with missing values or without, is a
matter of all rows, which `scan` finds out before the first part is read.
"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from ..errors import DataFileError
from ..intake.progress import Meter
from .arrow_parts import ArrowParts, is_arrow
from .contents import Contents
from .csv_parts import CsvParts
from .layout import check_delimiter
from .workbooks import SheetParts, is_workbook

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["ArrowParts", "CsvParts", "SheetParts", "TableParts", "open_parts", "parts_of_contents"]


class TableParts(Protocol):
    """A table in a file."""

    notes: list[str]

    @property
    def names(self) -> list[str]:
        """Names of the columns."""

    @property
    def n_rows(self) -> int:
        """Number of rows; of a CSV file, an estimate until `scan` was called."""

    @property
    def n_bytes(self) -> int:
        """About how much memory it takes to read the file at once."""

    def scan(self, meter: Meter, *, last: int | None = None) -> None:
        """Check the whole file, or the parts up to row `last`; to be called once before the file is read in parts."""

    def __call__(self) -> "Iterator[pd.DataFrame]":
        """Yield the rows, some at a time, in their order, each column with one type."""

    def at_once(self) -> "pd.DataFrame":
        """Return all rows; to be called instead of `scan`."""


def open_parts(
    path: str | Path, *, delimiter: str | None = None, header: bool | None = None, sheet: str | None = None
) -> TableParts:
    """Open a table; parameters are those of `tables.read_table`."""
    check_delimiter(delimiter)
    return parts_of_contents(Contents.on_disk(Path(path)), delimiter, header, sheet)


def parts_of_contents(contents: Contents, delimiter: str | None, header: bool | None, sheet: str | None) -> TableParts:
    """Find out what a file is."""
    path, start = contents.path, contents.start
    if not contents.zipped and is_workbook(path, start, contents.open):
        return SheetParts.opened(path, contents.held, header, sheet)
    if sheet is not None:
        raise DataFileError(f"{path} is no workbook, and has no sheet {sheet!r}: leave the sheet out.")
    if not contents.zipped and is_arrow(path, start):
        return ArrowParts.opened(contents)
    return CsvParts(contents, (delimiter, header))
