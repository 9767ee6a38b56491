"""A table in a file, some rows at a time: CSV (also gzip), Parquet, Arrow or Feather, as `tables.read_table` reads it.

A CSV file is looked through once before it is read: encoding, shape of every row, and the type of every column, which
is what all of its parts have in common.

Easy to get wrong: pandas finds types part by part. A column that is numbers here and text there is text everywhere,
with the spelling of the file, as it would be if it had been read at once.
"""

import codecs
import gzip
import io
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ..errors import DataFileError
from ..intake.progress import Meter
from .limits import (
    CELL_BYTES,
    CHUNK,
    LONGEST_LINE,
    TEXT_BYTES,
    allowed_size,
    bounded,
    check_readable,
    check_size,
    check_start,
)
from .table import (
    BLANK,
    MIXED,
    Table,
    check_delimiter,
    check_names,
    check_text,
    is_arrow,
    layout,
    parsed,
    read_table,
    row_ends,
)
from .workbooks import is_workbook

if TYPE_CHECKING:
    import pandas as pd

PART_ROWS, PART_CELLS = 65536, 2**21
"""Most rows of a part, and most cells of it."""


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

    def scan(self, meter: Meter) -> None:
        """Check the whole file; to be called once before it is read."""

    def __call__(self) -> "Iterator[pd.DataFrame]":
        """Yield the rows, some at a time, in their order."""


def open_parts(
    path: str | Path, *, delimiter: str | None = None, header: bool | None = None, sheet: str | None = None
) -> TableParts:
    """Open a table; parameters are those of `tables.read_table`."""
    file = Path(path)
    check_delimiter(delimiter)
    check_readable(file, again=True)
    try:
        with file.open("rb") as opened:
            start = opened.read(8)
    except OSError as error:
        raise DataFileError(f"{path} cannot be read: {error.strerror or error}.") from error
    zipped = start[:2] == b"\x1f\x8b"
    if file.suffix == ".gz" and not zipped:
        raise DataFileError(f"{path} is not a gzip file, although its name ends in .gz: rename or compress it.")
    if not zipped and is_workbook(file, start, file):
        return _sheet(file, header, sheet)
    if sheet is not None:
        raise DataFileError(f"{path} is no workbook, and has no sheet {sheet!r}: leave the sheet out.")
    if not zipped and is_arrow(file, start):
        return ArrowParts.opened(file, start)
    return CsvParts(file, zipped, (delimiter, header))


def _sheet(path: Path, header: bool | None, sheet: str | None) -> "SheetParts":
    table = read_table(path, header=header, sheet=sheet)
    return SheetParts(path, table, list(table.notes))


def _part_rows(n_columns: int) -> int:
    return max(1, min(PART_ROWS, PART_CELLS // max(n_columns, 1)))


@dataclass
class SheetParts:
    """A sheet of a workbook, which is read at once: it has a million rows at most."""

    path: Path
    table: Table
    notes: list[str]

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.table.frame.columns]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.table.frame)

    @property
    def n_bytes(self) -> int:
        """About how much memory it takes."""
        return CELL_BYTES * self.table.frame.size

    def scan(self, meter: Meter) -> None:
        """Do nothing: the sheet was checked when it was read."""

    def __call__(self) -> "Iterator[pd.DataFrame]":
        """Yield the rows, some at a time, in their order."""
        size = _part_rows(len(self.names))
        for begin in range(0, self.n_rows, size):
            yield self.table.frame.iloc[begin : begin + size].reset_index(drop=True)


@dataclass
class ArrowParts:
    """A Parquet, Arrow or Feather file."""

    path: Path
    batches: Callable[[], Iterator[Any]]
    names: list[str]
    n_rows: int
    notes: list[str] = field(default_factory=list)

    @classmethod
    def opened(cls, path: Path, start: bytes) -> "ArrowParts":
        """Look at the schema."""
        try:
            import pyarrow as pa
            import pyarrow.parquet
        except ImportError as error:
            raise ImportError(f'Reading {path.name} needs pyarrow: pip install "cogmap[parquet]".') from error
        batches = partial(_parquet if start[:4] == b"PAR1" else _arrow, path)
        with _reading(path):
            n_rows, schema = 0, None
            if start[:4] == b"PAR1":
                with pa.parquet.ParquetFile(path) as file:
                    n_rows, schema = file.metadata.num_rows, file.schema_arrow
            else:
                for batch in batches():
                    n_rows, schema = n_rows + batch.num_rows, batch.schema
            names = [] if schema is None else [str(name) for name in schema.empty_table().to_pandas().columns]
        check_names(path, names)
        if n_rows == 0:
            raise DataFileError(f"{path} has columns but no rows.")
        return cls(path, batches, names, n_rows)

    @property
    def n_bytes(self) -> int:
        """About how much memory it takes to read the file at once."""
        return CELL_BYTES * self.n_rows * len(self.names)

    def scan(self, meter: Meter) -> None:
        """Do nothing: a part is checked when it is read."""

    def __call__(self) -> "Iterator[pd.DataFrame]":
        """Yield the rows, some at a time, in their order."""
        import pyarrow as pa

        size = _part_rows(len(self.names))
        with _reading(self.path):
            for batch in self.batches():
                batch.validate(full=True)
                for begin in range(0, batch.num_rows, size):
                    frame = pa.Table.from_batches([batch.slice(begin, size)]).to_pandas()
                    yield frame.reset_index(drop=True).set_axis(self.names, axis=1)


def _parquet(path: Path) -> Iterator[Any]:
    from pyarrow import parquet

    # Without threads and buffers nothing is read ahead, which would count as memory too.
    with parquet.ParquetFile(path, pre_buffer=False) as file:
        yield from file.iter_batches(_part_rows(len(file.schema_arrow)), use_threads=False)


def _arrow(path: Path) -> Iterator[Any]:
    import pyarrow as pa
    from pyarrow import feather

    with pa.OSFile(str(path)) as file:
        start = file.read(4)
        file.seek(0)
        if start == b"FEA1":  # the first version of Feather has no parts
            yield from feather.read_table(file).to_batches()
        elif start == b"\xff\xff\xff\xff":
            yield from pa.ipc.open_stream(file)
        else:
            reader = pa.ipc.open_file(file)
            for i in range(reader.num_record_batches):
                yield reader.get_batch(i)


@contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Turn what pyarrow raises into a `DataFileError` that names the file."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:  # pyarrow raises whatever its C++ code and its conversions meet
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise DataFileError(
            f"{path} is not a readable Parquet, Arrow or Feather file: {reason.rstrip('.')}."
        ) from error


@contextmanager
def _unzipping(path: Path) -> Iterator[None]:
    """Turn the errors of a damaged gzip file into a `DataFileError`."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataFileError(f"{path} is a damaged gzip file: {error}.") from error


@dataclass
class CsvParts:
    """A CSV file; `given` are the delimiter and whether there is a header, where a user said so.

    `lines` are the numbers of lines of its parts, once it was scanned, and `text` the columns that are text.
    """

    path: Path
    zipped: bool
    given: tuple[str | None, bool | None]
    encoding: str = "utf-8-sig"
    notes: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    text: set[str] = field(default_factory=set)
    counted: int | None = None

    def __post_init__(self) -> None:
        """Look at the first rows."""
        with _unzipping(self.path), self._open() as file:
            head = file.read(CHUNK)
            # Of a zipped file, the share that these bytes are follows from how far it was read.
            self.ratio = len(head) / max(int((file.fileobj if self.zipped else file).tell()), 1)
        if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
            self.encoding = "utf-16"
        self.row_bytes = len(head) / max(head.count(b"\n"), head.count(b"\r"), 1)
        self._look()

    def _head(self) -> bytes:
        """Return how the file starts: the first line at least."""
        parts: list[bytes] = []
        with _unzipping(self.path), self._open() as file:
            while len(parts) <= 2 * LONGEST_LINE // CHUNK and (part := file.read(CHUNK)):
                parts.append(part)
                if b"\n" in part or b"\r" in part:
                    break
        head = b"".join(parts)
        check_start(self.path, head)
        return head

    def _look(self) -> None:
        """Find out how the file is written from how it starts."""
        head = self._head()
        try:
            text = codecs.getincrementaldecoder(self.encoding)().decode(head)
        except UnicodeDecodeError:
            text = head.decode("latin-1")
        check_text(self.path, text)
        text = BLANK.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
        self.layout = layout(self.path, text, *self.given)
        check_names(self.path, self.layout.names)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self.layout.names

    @property
    def n_rows(self) -> int:
        """Number of rows; an estimate until `scan` was called."""
        return round(self._size / self.row_bytes) if self.counted is None else self.counted

    @property
    def n_bytes(self) -> int:
        """About how much memory it takes to read the file at once."""
        return round(TEXT_BYTES * self._size)

    @property
    def _size(self) -> float:
        return self.path.stat().st_size * self.ratio

    def scan(self, meter: Meter) -> None:
        """Find the encoding, check every row, and find the types of the columns."""
        if (line := self._not_utf8()) is not None:
            self.notes.append(f"{self.path} is not UTF-8 (line {line}): it was read as Latin-1.")
            self.encoding = "latin-1"
            self._look()
        self.notes += self.layout.notes
        kinds: dict[str, set[str]] = {name: set() for name in self.names}
        self.counted = 0
        for n, frame in meter.counted((n, (n, frame)) for n, frame in self._checked_parts()):
            self.counted += n
            for name, values in frame.items():
                kinds[str(name)].add(_type_of(values))
        if self.counted == 0:
            raise DataFileError(f"{self.path} has a header but no rows.")
        self.text = {name for name, found in kinds.items() if len(found - {"missing"}) > 1}

    def __call__(self) -> "Iterator[pd.DataFrame]":
        """Yield the rows, some at a time, in their order."""
        types: dict[str, type] = dict.fromkeys(sorted(self.text), str)
        with self._text() as file:
            lines, first = _blanked(_lines(self.path, file)), bool(self.layout.header)
            for n_lines in self.lines:
                yield parsed(self.path, "".join(islice(lines, n_lines)), self.layout, header=first, types=types)
                first = False

    def _checked_parts(self) -> "Iterator[tuple[int, pd.DataFrame]]":
        """Yield parts with types of their own, and their numbers of rows, while checking each row; set `lines`."""
        size = _part_rows(len(self.names))
        taken: list[str] = []
        with _unzipping(self.path), self._text() as file:
            n_rows, n_header = 0, int(self.layout.header)
            for _ in row_ends(
                self.path, _recorded(_blanked(_lines(self.path, file)), taken, self.path), self.layout.delimiter
            ):
                n_rows += 1
                if n_rows - n_header == size:
                    yield self._part(taken, n_rows, n_header)
                    taken.clear()
                    n_rows = n_header = 0
            if n_rows > n_header:
                yield self._part(taken, n_rows, n_header)

    def _part(self, taken: list[str], n_rows: int, n_header: int) -> "tuple[int, pd.DataFrame]":
        self.lines.append(len(taken))
        frame = parsed(self.path, "".join(taken), self.layout, header=bool(n_header))
        if len(frame) != n_rows - n_header:
            raise DataFileError(f"{self.path} {MIXED}")
        return len(frame), frame

    def _open(self) -> Any:
        return gzip.open(self.path, "rb") if self.zipped else self.path.open("rb")

    def _text(self) -> "io.TextIOWrapper":
        """Open the file as lines, whatever it ends them with."""
        return io.TextIOWrapper(self._open(), encoding=self.encoding, newline=None)

    def _not_utf8(self) -> int | None:
        """Return the first line that is not UTF-8, if there is one; refuse a zipped file that becomes too large."""
        decoder, n_lines, n_bytes = codecs.getincrementaldecoder(self.encoding)(), 0, 0
        most = allowed_size(self.path.stat().st_size)
        with _unzipping(self.path), self._open() as file:
            while True:
                chunk = file.read(CHUNK)
                n_bytes += len(chunk)
                if self.zipped:
                    check_size(self.path, n_bytes, most)
                kept = decoder.getstate()[0]
                try:
                    decoder.decode(chunk, final=not chunk)
                except UnicodeDecodeError as error:
                    if self.encoding == "utf-16":
                        raise DataFileError(f"{self.path} is a damaged UTF-16 file: {error.reason}.") from error
                    return n_lines + (kept + chunk).count(b"\n", 0, error.start) + 1
                if not chunk:
                    return None
                n_lines += chunk.count(b"\n")


def _lines(path: Path, file: io.TextIOWrapper) -> Iterator[str]:
    """Yield lines; one that is too long is refused before all of it is in memory."""
    return bounded(path, iter(lambda: file.readline(LONGEST_LINE + 1), ""))


def _blanked(lines: Iterable[str]) -> Iterator[str]:
    """Yield lines; those of spaces only are empty, since they are blank to one parser and a value to the other."""
    return ("\n" if line.strip(" ") == "\n" else line for line in lines)


def _recorded(lines: Iterable[str], taken: list[str], path: Path) -> Iterator[str]:
    """Yield lines, and note each in `taken`; refuse what is no text."""
    for number, line in enumerate(lines):
        check_text(path, line, number)
        taken.append(line)
        yield line


def _type_of(values: "pd.Series") -> str:
    """Return what a part of a column holds: numbers, true and false, text, or nothing."""
    from pandas.api import types

    present = values.dropna()
    if len(present) == 0:
        return "missing"
    if types.is_bool_dtype(present) or types.infer_dtype(present) == "boolean":
        return "boolean"
    return "number" if types.is_numeric_dtype(present) else "text"
