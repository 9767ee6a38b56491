"""Read a table at once: CSV, also compressed, a workbook, Parquet, Arrow or Feather, whatever the file's name says.

Of a CSV file, encoding, delimiter, header, decimal comma and the columns' types are found out. See `parts`, which reads
the same files some rows at a time.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from .contents import Contents
from .layout import check_delimiter
from .parts import parts_of_contents

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Table:
    """A table that was read, and what a user should know about how.

    Attributes
    ----------
    frame : DataFrame
        Columns with their types.
    notes : tuple of str
        What was decided that could have been meant otherwise.
    """

    frame: "pd.DataFrame"
    notes: tuple[str, ...] = field(default=())


def read_table(
    path: str | Path, *, delimiter: str | None = None, header: bool | None = None, sheet: str | None = None
) -> Table:
    """Read a table from a file.

    Parameters
    ----------
    path : path
        A CSV file (also gzip), an Excel or OpenDocument workbook, Parquet, Arrow or Feather. CSV may be a pipe.
    delimiter : str, default=None
        One character between the values of a CSV file; None to find it out among tab, semicolon, bar and comma.
    header : bool, default=None
        Whether the first row of a CSV file or a sheet holds the names of the columns; None to find it out.
    sheet : str, default=None
        Sheet of a workbook; by default the first.

    Returns
    -------
    Table
        The columns, with notes.

    Raises
    ------
    DataFileError
        If the file is not one table; the message names the file and, where it can, the line.
    TooLargeError
        If the table takes more memory than there is.
    """
    check_delimiter(delimiter)
    parts = parts_of_contents(Contents.in_memory(Path(path)), delimiter, header, sheet)
    return Table(parts.at_once(), tuple(parts.notes))
