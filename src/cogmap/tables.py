"""Read a table from a file: CSV, also compressed, Parquet, Arrow or Feather; what it is follows from its content.

Of a CSV file, encoding, delimiter, header, decimal comma and the columns' types are found out. Text counts as missing
where it is empty, "?", "NA", "NaN", "null" or another mark that pandas knows.

Easy to get wrong: rows that are too short. pandas fills them with missing values in silence; here every row must have
as many values as the first one, and the message says which line has not.
"""

import csv
import gzip
import io
import re
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .errors import DataFileError

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
MIXED = "mixes quotes and line ends in a way that can be read differently: correct it."
FOREIGN = {b"PK\x03\x04": "a zip archive or an Excel workbook", b"\xd0\xcf\x11\xe0": "an old Excel workbook"}


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


def read_table(path: str | Path, *, delimiter: str | None = None, header: bool | None = None) -> Table:
    """Read a table from a file.

    Parameters
    ----------
    path : path
        A CSV file (also gzip), Parquet, Arrow or Feather.
    delimiter : str, default=None
        One character between the values of a CSV file; None to find it out among tab, semicolon, bar and comma.
    header : bool, default=None
        Whether the first row of a CSV file holds the names of the columns; None to find it out.

    Returns
    -------
    Table
        The columns, with notes.

    Raises
    ------
    DataFileError
        If the file is not one table; the message names the file and, where it can, the line.
    """
    path = Path(path)
    check_delimiter(delimiter)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise DataFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    if content[:2] == b"\x1f\x8b":
        content = _unzipped(path, content)
    elif path.suffix == ".gz":
        raise DataFileError(f"{path} is not a gzip file, although its name ends in .gz: rename or compress it.")
    if is_arrow(path, content):
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


def _unzipped(path: Path, content: bytes) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise DataFileError(f"{path} is a damaged gzip file: {error}.") from error


def is_arrow(path: Path, start: bytes) -> bool:
    """Say whether a file that starts so is Parquet, Arrow or Feather rather than CSV; refuse archives and workbooks."""
    for magic, name in FOREIGN.items():
        if start.startswith(magic):
            raise DataFileError(f"{path} is {name}: save the table as CSV.")
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
            table = parquet.read_table(source)
        elif content[:4] == b"\xff\xff\xff\xff":
            table = ipc.open_stream(source).read_all()
        else:
            table = feather.read_table(source)
        table.validate(full=True)
        frame = table.to_pandas()
    except Exception as error:  # pyarrow raises whatever its C++ code and its conversions meet
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataFileError(
            f"{path} is not a readable Parquet, Arrow or Feather file: {reason.rstrip('.')}."
        ) from error
    return frame


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
    sample_of = {mark: _sample(text, mark) for mark in ([delimiter] if delimiter else DELIMITERS)}
    delimiter = delimiter or best_delimiter(sample_of)
    sample = sample_of[delimiter]
    if not sample:
        raise DataFileError(f"{path} is empty.")
    notes: list[str] = []
    if header is None:
        header = has_header(sample)
        if not header:
            notes.append(f"{path} has no header: its columns are called x0 … x{len(sample[0]) - 1}.")
    names = [name.strip() or f"x{j}" for j, name in enumerate(sample[0] if header else [""] * len(sample[0]))]
    decimal = "," if delimiter != "," and has_decimal_comma(sample[header:]) else "."
    return Layout(delimiter, names, header, decimal, tuple(notes))


def _csv_table(path: Path, content: bytes, delimiter: str | None, header: bool | None) -> Table:
    text, notes = _decoded(path, content)
    found = layout(path, text, delimiter, header)
    n_rows = sum(1 for _ in row_ends(path, io.StringIO(text, newline=""), found.delimiter))
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
    head = text if len(text) <= HEAD else text[: max(text.rfind("\n", 0, HEAD), text.find("\n")) + 1]
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
        raise DataFileError(f"{path}, line {start}: {error}; is a quote left open?") from error


def check_names(path: Path, names: list[str]) -> None:
    """Refuse names that occur twice."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataFileError(f"{path} has more than one column called {twice[0]!r}: rename them.")


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
        )
    except (ValueError, OverflowError, pd.errors.ParserError) as error:
        reason = str(error).splitlines()[0].removeprefix("Error tokenizing data. C error: ")
        raise DataFileError(f"{path} cannot be read as one table: {reason.rstrip('.')}.") from error
    return frame
