"""Read a table from a file: CSV, also compressed, a workbook, Parquet, Arrow or Feather, whatever its name says.

Of a CSV file, encoding, delimiter, header, decimal comma and the columns' types are found out. Text counts as missing
where it is empty, "?", "NA", "NaN", "null" or another mark that pandas knows.

Easy to get wrong: rows that are too short. pandas fills them with missing values in silence; here every row must have
as many values as the first one, and the message says which line has not.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import DataFileError
from .limits import CELL_BYTES, LONGEST_LINE, bounded, check_columns, check_room, check_start, content_of, too_long
from .workbooks import is_workbook, parsed_sheet, sheet_cells

if TYPE_CHECKING:
    import pandas as pd

DELIMITERS = ("\t", ";", "|", ",")
"""In order of preference where several fit: a comma may also be a decimal mark."""
SAMPLE = 200
"""Number of rows from which delimiter, header and decimal mark are found out."""
HEAD = 1 << 20
"""Characters of the file in which these are looked for."""
MARKS = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "-", "#n/a", "<na>"})
"""Cells that say nothing about whether a row is the header, in small letters."""
CONTROL = re.compile("[\x00-\x08\x0b\x0e-\x1f\x7f]")
BLANK = re.compile("^ +$", re.MULTILINE)
NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")
DECIMAL_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
LONG_VALUE = f"a value has more than {csv.field_size_limit():,} characters: shorten it; or is a quote left open?"
MIXED = "mixes quotes and line ends in a way that can be read differently: correct it."


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
    path = Path(path)
    check_delimiter(delimiter)
    content = content_of(path)
    if is_workbook(path, content[:8], io.BytesIO(content)):
        table = _workbook_table(path, content, header, sheet)
    elif sheet is not None:
        raise DataFileError(f"{path} is no workbook, and has no sheet {sheet!r}: leave the sheet out.")
    elif is_arrow(path, content):
        table = Table(_arrow_frame(path, content))
    else:
        table = _csv_table(path, content, delimiter, header)
    check_names(path, [str(name) for name in table.frame.columns])
    if len(table.frame) == 0:
        raise DataFileError(f"{path} has columns but no rows.")
    return table


def check_delimiter(delimiter: str | None) -> None:
    """Refuse what cannot be a delimiter."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '" \r\n'):
        raise ValueError(f"delimiter={delimiter!r} must be one character, and not a quote, a space or a line end.")


def is_arrow(path: Path, start: bytes) -> bool:
    """Say whether a file that starts so is Parquet, Arrow or Feather rather than CSV."""
    said = path.suffix.lower() in (".parquet", ".pq", ".arrow", ".feather")
    return said or start[:4] in (b"PAR1", b"ARRO", b"FEA1", b"\xff\xff\xff\xff")


def _arrow_frame(path: Path, content: bytes) -> "pd.DataFrame":
    """Return a Parquet, Feather or Arrow file as a frame."""
    try:
        import pyarrow as pa
        from pyarrow import feather, ipc, parquet
    except ImportError as error:
        raise ImportError(f'Reading {path.name} needs pyarrow: pip install "cogmap[parquet]".') from error
    source = pa.BufferReader(content)
    try:
        if content[:4] == b"PAR1":
            sizes = parquet.read_metadata(source)
            check_room(path, CELL_BYTES * sizes.num_rows * sizes.num_columns)
            table = parquet.read_table(source)
        elif content[:4] == b"\xff\xff\xff\xff":
            table = ipc.open_stream(source).read_all()
        else:
            table = feather.read_table(source)
        table.validate(full=True)
        frame = table.to_pandas()
    except MemoryError:
        raise
    except Exception as error:  # pyarrow raises whatever its C++ code and its conversions meet
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataFileError(
            f"{path} is not a readable Parquet, Arrow or Feather file: {reason.rstrip('.')}."
        ) from error
    return frame


def _workbook_table(path: Path, content: bytes, header: bool | None, sheet: str | None) -> Table:
    """Return a sheet of a workbook: its table without empty rows above and empty columns beside it."""
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
    header, names = _names(path, sample, header, notes)
    if header and not filled[first + 1 :].any():
        raise DataFileError(f"Sheet {chosen!r} of {path} has a header but no rows.")
    frame = parsed_sheet(path, book, chosen, skiprows=first + header, na_values=["?"])
    frame = frame.reindex(columns=range(len(columns))).loc[:, columns].dropna(how="all").reset_index(drop=True)
    return Table(frame.set_axis(names, axis=1), tuple(notes))


def _names(path: Path, sample: list[list[str]], header: bool | None, notes: list[str]) -> tuple[bool, list[str]]:
    """Return whether the first row names the columns, and the names; note where that was found out."""
    width = len(sample[0])
    if header is None:
        header = has_header(sample)
        if not header:
            notes.append(f"{path} has no header: its columns are called x0 … x{width - 1}.")
    return header, [name.strip() or f"x{j}" for j, name in enumerate(sample[0] if header else [""] * width)]


@dataclass(frozen=True)
class Layout:
    """How a CSV file is written; `notes` say what could have been meant otherwise."""

    delimiter: str
    names: list[str]
    header: bool
    decimal: str
    notes: tuple[str, ...]


def layout(path: Path, text: str, delimiter: str | None, header: bool | None) -> Layout:
    """Find out how a CSV file is written; `text` is all of it, or at least `HEAD` characters and the first line."""
    check_first_line(path, text)
    sample_of = {mark: _sample(text, mark) for mark in ([delimiter] if delimiter else DELIMITERS)}
    delimiter = delimiter or best_delimiter(sample_of)
    sample = sample_of[delimiter]
    if not sample:
        raise DataFileError(f"{path}, line 1: {LONG_VALUE}" if text.strip() else f"{path} is empty.")
    check_columns(path, len(sample[0]))
    notes: list[str] = []
    header, names = _names(path, sample, header, notes)
    decimal = "," if delimiter != "," and has_decimal_comma(sample[header:]) else "."
    return Layout(delimiter, names, header, decimal, tuple(notes))


def check_first_line(path: Path, text: str) -> None:
    """Refuse text whose first line, blank ones aside, is too long to be one row."""
    start = len(text) - len(text.lstrip("\n"))
    end = text.find("\n", start)
    if (len(text) if end < 0 else end) - start > LONGEST_LINE:
        raise DataFileError(too_long(path, text.count("\n", 0, start) + 1))


def _csv_table(path: Path, content: bytes, delimiter: str | None, header: bool | None) -> Table:
    check_start(path, content)
    text, notes = _decoded(path, content)
    found = layout(path, text, delimiter, header)
    n_rows = sum(1 for _ in row_ends(path, bounded(path, io.StringIO(text, newline="")), found.delimiter))
    check_names(path, found.names)
    if found.header and n_rows == 1:
        raise DataFileError(f"{path} has a header but no rows.")
    frame = parsed(path, text, found, header=found.header)
    if len(frame) != n_rows - found.header:
        raise DataFileError(f"{path} {MIXED}")
    return Table(frame, (*notes, *found.notes))


def _decoded(path: Path, content: bytes) -> tuple[str, list[str]]:
    """Return the text of a file; refuse what is no text."""
    notes = []
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        text = content.decode("latin-1")
        if encoding == "utf-16":
            raise DataFileError(f"{path} is a damaged UTF-16 file: {error.reason}.") from error
        line = content.count(b"\n", 0, error.start) + 1
        notes.append(f"{path} is not UTF-8 (line {line}): it was read as Latin-1.")
    check_text(path, text)
    # One kind of line end and of blank line, so that both parsers and the line numbers agree.
    return BLANK.sub("", text.replace("\r\n", "\n").replace("\r", "\n")), notes


def check_text(path: Path, text: str, before: int = 0) -> None:
    """Refuse characters that no text has; so many lines came `before` this text."""
    if (found := CONTROL.search(text)) is not None:
        line = before + text.count("\n", 0, found.start()) + 1
        raise DataFileError(f"{path} is not a text file: line {line} holds the character {found[0]!r}.")


def _rows(lines: Iterable[str], delimiter: str, *, strict: bool) -> Any:
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)


def _sample(text: str, delimiter: str) -> list[list[str]]:
    """Return the first rows that are not blank; fewer where the parser gives up."""
    rows: list[list[str]] = []
    head = text if len(text) <= HEAD else text[: max(text.rfind("\n", 0, HEAD), text.find("\n")) + 1 or len(text)]
    try:
        found = _rows(io.StringIO(head, newline=""), delimiter, strict=False)
        rows.extend(islice((row for row in found if row), SAMPLE))
    except csv.Error:
        return rows
    return rows


def best_delimiter(samples: dict[str, list[list[str]]]) -> str:
    """Return the delimiter by which most rows have the same number of values, more than one."""

    def agreement(delimiter: str) -> float:
        lengths = Counter(len(row) for row in samples[delimiter])
        width, count = max(lengths.items(), key=lambda item: item[1], default=(0, 0))
        return count / lengths.total() if width > 1 else 0.0

    best = max(DELIMITERS, key=agreement)
    return best if agreement(best) > 0 else ","


def has_header(sample: list[list[str]]) -> bool:
    """Say whether the first row names the columns.

    It does where it has text above numbers. It does not where it has numbers above numbers only, or a text that comes
    again below. A table of text is taken to have a header.
    """
    first, rest = sample[0], sample[1:]
    names = values = 0
    for j, cell in enumerate(first):
        below = [row[j].strip() for row in rest if len(row) > j and row[j].strip().lower() not in MARKS]
        if not below or cell.strip().lower() in MARKS:
            continue
        numbers_below = sum(bool(NUMBER.fullmatch(value)) for value in below) > len(below) / 2
        if numbers_below and not NUMBER.fullmatch(cell):
            names += 1
        elif numbers_below or cell.strip() in below:
            values += 1
    return names > 0 or values == 0


def has_decimal_comma(rows: list[list[str]]) -> bool:
    """Say whether numbers are written with a comma: some are, and none with a point."""
    cells = [cell for row in rows for cell in row]
    return any(map(DECIMAL_COMMA.fullmatch, cells)) and not any(map(DECIMAL_POINT.fullmatch, cells))


def row_ends(path: Path, lines: Iterable[str], delimiter: str) -> Iterator[int]:
    """Yield the number of the last line of every row, the header included.

    A row that is longer or shorter than the first is refused. No line is taken from `lines` before it is needed.
    """
    reader, width = _rows(lines, delimiter, strict=True), 0
    start = 1
    try:
        for row in reader:
            if row:
                width = width or len(row)
                if len(row) != width:
                    raise DataFileError(
                        f"{path}, line {start}: {len(row)} value{'s' * (len(row) != 1)} where the first row has "
                        f"{width} (the delimiter is {delimiter!r}): correct it, or quote values that contain the "
                        "delimiter."
                    )
                yield reader.line_num
            start = reader.line_num + 1
    except csv.Error as error:
        reason = LONG_VALUE if "field limit" in str(error) else f"{error}; is a quote left open?"
        raise DataFileError(f"{path}, line {start}: {reason}") from error


def check_names(path: Path, names: list[str]) -> None:
    """Refuse names that occur twice."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataFileError(f"{path} has more than one column called {twice[0]!r}: rename them.")


def _exact_numbers(version: str) -> dict[str, Any]:
    """Return the option that reads numbers to their last bit, which pandas does by itself from 3.1 on."""
    major, minor = (int(part) for part in version.split(".")[:2])
    return {"float_precision": "round_trip"} if (major, minor) < (3, 1) else {}


def parsed(
    path: Path, text: str, found: Layout, *, header: bool, types: dict[str, type] | None = None
) -> "pd.DataFrame":
    """Let pandas find the columns' types, but for those given; `header` says whether the first row is one."""
    import pandas as pd

    # The blank lines go first: pandas would count those before the header as rows to skip.
    lines = text.lstrip("\n")
    try:
        frame = pd.read_csv(
            io.StringIO(lines),
            sep=found.delimiter,
            header=0 if header else None,
            names=found.names,
            index_col=False,
            decimal=found.decimal,
            skipinitialspace=True,
            na_values=["?"],
            low_memory=False,
            dtype=types,
            **_exact_numbers(pd.__version__),
        )
    except (ValueError, OverflowError, pd.errors.ParserError) as error:
        reason = str(error).splitlines()[0].removeprefix("Error tokenizing data. C error: ")
        raise DataFileError(f"{path} cannot be read as one table: {reason.rstrip('.')}.") from error
    return frame
