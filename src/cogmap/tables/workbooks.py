"""Sheets of workbooks: Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods), through pandas and calamine.

Easy to get wrong: where the table begins. Empty rows above it and empty columns beside it are no part of it, and
whether its first row names the columns is found out as for a CSV file.
"""

import io
import zipfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataFileError
from ..intake.progress import Meter
from .contents import content_of, refusing
from .layout import SAMPLE, check_names, column_names
from .limits import CELL_BYTES, allowed_size, check_size, part_rows

if TYPE_CHECKING:
    import pandas as pd

OLD = b"\xd0\xcf\x11\xe0"
"""How files of Excel 97 begin."""

MEMBERS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
"""Files of which a zip archive has one if it is a workbook."""


def is_workbook(path: Path, start: bytes, opened: Callable[[], Any]) -> bool:
    """Say whether a file that starts so is a workbook; a zip archive of anything else is refused.

    `opened` opens it.
    """
    if start.startswith(OLD):
        return True
    if not start.startswith(b"PK\x03\x04"):
        return False
    try:
        with opened() as file, zipfile.ZipFile(file) as archive:
            names, size = set(archive.namelist()), sum(member.file_size for member in archive.infolist())
            packed = sum(member.compress_size for member in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise DataFileError(f"{path} is a damaged workbook or zip archive: {error}.") from error
    if not names.intersection(MEMBERS):
        raise DataFileError(f"{path} is a zip archive and no workbook: unpack it, and give the table in it.")
    check_size(path, size, allowed_size(packed))
    return True


@dataclass
class SheetParts:
    """A sheet of a workbook, which is read at once: it has a million rows at most."""

    frame: "pd.DataFrame"
    notes: list[str]
    names: list[str]
    n_rows: int
    n_bytes: int

    @classmethod
    def opened(cls, path: Path, content: bytes | None, header: bool | None, sheet: str | None) -> "SheetParts":
        """Read a sheet."""
        frame, notes = _sheet(path, content_of(path) if content is None else content, header, sheet)
        names = [str(name) for name in frame.columns]
        check_names(path, names)
        if len(frame) == 0:
            raise DataFileError(f"{path} has columns but no rows.")
        return cls(frame, notes, names, len(frame), CELL_BYTES * frame.size)

    def scan(self, meter: Meter, *, last: int | None = None) -> None:
        """Do nothing: the sheet was checked when it was read."""

    def at_once(self) -> "pd.DataFrame":
        """Return all rows."""
        return self.frame

    def __call__(self) -> "Iterator[pd.DataFrame]":
        """Yield the rows, some at a time, in their order."""
        size = part_rows(len(self.names))
        for begin in range(0, self.n_rows, size):
            yield self.frame.iloc[begin : begin + size].reset_index(drop=True)


def _sheet(path: Path, content: bytes, header: bool | None, sheet: str | None) -> tuple["pd.DataFrame", list[str]]:
    """Return a sheet of a workbook: its table without empty rows above and empty columns beside it; and notes."""
    book, chosen, others = sheet_cells(path, content, sheet)
    notes = []
    if others and sheet is None:
        notes.append(f"{path}: sheet {chosen!r} was read; there are also {', '.join(map(repr, others))}.")
    cells = parsed_sheet(path, book, chosen, dtype=object, na_filter=False)
    filled = (cells.notna() & (cells.astype(str).apply(lambda column: column.str.strip()) != "")).to_numpy(dtype=bool)
    if not filled.any():
        raise DataFileError(f"Sheet {chosen!r} of {path} is empty.")
    first, columns = int(filled.any(axis=1).argmax()), filled.any(axis=0)
    sample = cells.iloc[first : first + SAMPLE, columns].astype(str).to_numpy().tolist()
    header, names = column_names(path, sample, header, notes)
    if header and not filled[first + 1 :].any():
        raise DataFileError(f"Sheet {chosen!r} of {path} has a header but no rows.")
    frame = parsed_sheet(path, book, chosen, skiprows=first + header, na_values=["?"])
    frame = frame.reindex(columns=range(len(columns))).loc[:, columns].dropna(how="all").reset_index(drop=True)
    return frame.set_axis(names, axis=1), notes


def sheet_cells(path: Path, content: bytes, sheet: str | None) -> tuple["pd.ExcelFile", str, list[str]]:
    """Open a workbook; return it, the name of the chosen sheet, and those of the others."""
    try:
        import pandas as pd
        import python_calamine  # noqa: F401 # pandas imports it, but names another way out
    except ImportError as error:
        raise ImportError(f'Reading {path.name} needs pandas and calamine: pip install "cogmap[excel]".') from error
    with refusing(f"{path} is a damaged workbook"):
        book = pd.ExcelFile(io.BytesIO(content), engine="calamine")
    names = [str(name) for name in book.sheet_names]
    if not names:
        raise DataFileError(f"{path} is a workbook without sheets.")
    chosen = names[0] if sheet is None else sheet
    if chosen not in names:
        raise DataFileError(f"{path} has no sheet {sheet!r}: its sheets are {', '.join(map(repr, names))}.")
    return book, chosen, [name for name in names if name != chosen]


def parsed_sheet(path: Path, book: "pd.ExcelFile", sheet: str, **options: Any) -> "pd.DataFrame":
    """Return the cells of a sheet as a frame."""
    import pandas as pd

    with refusing(f"Sheet {sheet!r} of {path} is damaged"):
        frame: pd.DataFrame = pd.read_excel(book, sheet_name=sheet, header=None, index_col=None, **options)
    return frame
