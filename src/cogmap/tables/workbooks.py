"""Sheets of workbooks: Excel (.xlsx, .xlsm, .xlsb, .xls) and OpenDocument (.ods), through pandas and calamine.

Easy to get wrong: where the table begins. Empty rows above it and empty columns beside it are no part of it, and
whether its first row names the columns is found out as for a CSV file.
"""

import io
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataFileError
from .limits import allowed_size, check_size

if TYPE_CHECKING:
    import pandas as pd

OLD = b"\xd0\xcf\x11\xe0"
"""How files of Excel 97 begin."""

MEMBERS = ("xl/workbook.xml", "xl/workbook.bin", "content.xml")
"""Files of which a zip archive has one if it is a workbook."""


def is_workbook(path: Path, start: bytes, file: Any) -> bool:
    """Say whether a file that starts so is a workbook; a zip archive of anything else is refused.

    `file` is what `zipfile` may open: a path or a file object.
    """
    if start.startswith(OLD):
        return True
    if not start.startswith(b"PK\x03\x04"):
        return False
    try:
        with zipfile.ZipFile(file) as archive:
            names, size = set(archive.namelist()), sum(member.file_size for member in archive.infolist())
            packed = sum(member.compress_size for member in archive.infolist())
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError) as error:
        raise DataFileError(f"{path} is a damaged workbook or zip archive: {error}.") from error
    if not names.intersection(MEMBERS):
        raise DataFileError(f"{path} is a zip archive and no workbook: unpack it, and give the table in it.")
    check_size(path, size, allowed_size(packed))
    return True


def sheet_cells(path: Path, content: bytes, sheet: str | None) -> tuple["pd.ExcelFile", str, list[str]]:
    """Open a workbook; return it, the name of the chosen sheet, and those of the others."""
    try:
        import pandas as pd
        import python_calamine  # noqa: F401 # pandas imports it, but names another way out
    except ImportError as error:
        raise ImportError(f'Reading {path.name} needs pandas and calamine: pip install "cogmap[excel]".') from error
    try:
        book = pd.ExcelFile(io.BytesIO(content), engine="calamine")
    except MemoryError:
        raise
    except Exception as error:  # calamine raises errors of its own for each kind of file
        raise DataFileError(f"{path} is a damaged workbook: {_reason(error)}.") from error
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

    try:
        return pd.read_excel(book, sheet_name=sheet, header=None, index_col=None, **options)
    except MemoryError:
        raise
    except Exception as error:  # calamine raises errors of its own for each kind of file
        raise DataFileError(f"Sheet {sheet!r} of {path} is damaged: {_reason(error)}.") from error


def _reason(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
