"""A CSV file, also compressed: looked through once, then read some rows at a time; or at once, which is one part.

The first pass finds the encoding, checks the shape of every row, and finds the type of every column, which is what all
of its parts have in common. Text counts as missing where it is empty, "?", "NA", "NaN", "null" or another mark that
pandas knows.

Easy to get wrong: pandas finds types part by part. A column that is numbers here and text there is text everywhere,
with the spelling of the file; and whole numbers are floats everywhere if a value is missing anywhere.
"""

import codecs
import gzip
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import chain, islice
from typing import TYPE_CHECKING, Any, cast

from ..errors import DataFileError
from ..intake.progress import Meter
from .contents import Contents, unzipping
from .layout import HEAD, Layout, check_names, layout
from .limits import CHUNK, LONGEST_LINE, TEXT_BYTES, allowed_size, check_room, check_size, check_start, part_rows
from .lines import HeldLines, blanked, check_text, line_blocks, row_ends

if TYPE_CHECKING:
    from pathlib import Path

    import pandas as pd

MIXED = "mixes quotes and line ends in a way that can be read differently: correct it."


@dataclass
class CsvParts:
    """A CSV file; `given` are the delimiter and whether there is a header, where a user said so.

    Once it was scanned, `lines` are the numbers of lines of its parts, `types` what pandas is told of the columns, and
    `only` is the part of a file that has one.
    """

    contents: Contents
    given: tuple[str | None, bool | None]
    encoding: str = "utf-8-sig"
    notes: list[str] = field(default_factory=list)
    lines: list[int] = field(default_factory=list)
    types: dict[str, Any] = field(default_factory=dict)
    only: "pd.DataFrame | None" = None
    counted: int | None = None

    def __post_init__(self) -> None:
        """Look at the first rows."""
        self.path = self.contents.path
        with unzipping(self.path), self.contents.open() as file:
            head = file.read(CHUNK)
            # Of a zipped file, the share that these bytes are follows from how far it was read.
            self.ratio = len(head) / max(int((file.fileobj if self.contents.zipped else file).tell()), 1)
        if head[:2] in (b"\xff\xfe", b"\xfe\xff"):
            self.encoding = "utf-16"
        self.row_bytes = len(head) / max(head.count(b"\n"), head.count(b"\r"), 1)
        self._look()

    def _head(self) -> bytes:
        """Return how the file starts: the first line at least."""
        parts: list[bytes] = []
        with unzipping(self.path), self.contents.open() as file:
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
            text = codecs.getincrementaldecoder(self.encoding)().decode(head, final=len(head) < CHUNK)
        except UnicodeDecodeError as error:
            self._check_utf16(error)
            text = head.decode("latin-1")
        check_text(self.path, text)
        text = blanked(text.replace("\r\n", "\n").replace("\r", "\n"))
        if len(head) >= HEAD:  # the last row may be cut
            text = text[: text.rfind("\n") + 1] or text
        self.layout = layout(self.path, text, *self.given)
        check_names(self.path, self.layout.names)

    def _check_utf16(self, error: UnicodeDecodeError) -> None:
        """Refuse a damaged file; what is not UTF-8 may be Latin-1."""
        if self.encoding == "utf-16":
            raise DataFileError(f"{self.path} is a damaged UTF-16 file: {error.reason}.") from error

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
        return self.contents.size * self.ratio

    def scan(self, meter: Meter, *, last: int | None = None) -> None:
        """Find the encoding, check every row, and find the types of the columns; see `TableParts.scan`."""
        self._look_through(meter, part_rows(len(self.names)), last)

    def at_once(self) -> "pd.DataFrame":
        """Return all rows: the only part of a file that is not cut."""
        check_room(self.path, self.n_bytes)
        self._look_through(Meter(lambda _: None), None, None)
        assert self.only is not None
        return self.only

    def _look_through(self, meter: Meter, size: int | None, last: int | None) -> None:
        try:
            self._scan(meter, size, last)
        except UnicodeDecodeError as error:
            self._check_utf16(error)
            self.notes.append(f"{self.path} is not UTF-8 (line {self._first_not_utf8()}): it was read as Latin-1.")
            self.encoding = "latin-1"
            self._look()
            self._scan(meter, size, last)
        self.notes += self.layout.notes

    def _scan(self, meter: Meter, size: int | None, last: int | None) -> None:
        seen: dict[str, set[str]] = {name: set() for name in self.names}
        self.lines, self.counted, self.only = [], 0, None
        for part in meter.counted((len(part), part) for part in self._checked_parts(size, last)):
            self.only = part if self.counted == 0 else None
            self.counted += len(part)
            for name, values in part.items():
                seen[str(name)].add(_type_of(values))
        if self.counted == 0:
            raise DataFileError(f"{self.path} has a header but no rows.")
        self.types = {name: common for name, types in seen.items() if (common := _common_type(types)) is not None}

    def __call__(self) -> "Iterator[pd.DataFrame]":
        """Yield the rows, some at a time, in their order; columns have the types that they have in the whole file."""
        if self.only is not None:
            yield self.only
            return
        text = {name: kind for name, kind in self.types.items() if kind is str}
        others = {name: kind for name, kind in self.types.items() if kind is not str}
        with unzipping(self.path), self._text() as file:
            lines, header = chain.from_iterable(line_blocks(self.path, file)), self.layout.header
            for n_lines in self.lines:
                part = parsed(self.path, "".join(islice(lines, n_lines)), self.layout, header=header, types=text)
                yield part.astype(others)
                header = False

    def _checked_parts(self, size: int | None, last: int | None) -> "Iterator[pd.DataFrame]":
        """Yield parts with types of their own while checking each row; set `lines`. `last` is the last row needed."""
        with unzipping(self.path), self._text() as file:
            lines = HeldLines(self._bounded(line_blocks(self.path, file), file))
            n_rows, n_header, before, end = 0, int(self.layout.header), 0, 0
            for end in row_ends(self.path, lines, self.layout.delimiter):
                n_rows += 1
                if n_rows - n_header == size:
                    yield self._part(lines.taken(end), n_rows, n_header)
                    before, n_rows, n_header = before + size, 0, 0
                    if last is not None and before > last:
                        return
            if n_rows > n_header:
                yield self._part(lines.taken(end), n_rows, n_header)

    def _part(self, lines: list[str], n_rows: int, n_header: int) -> "pd.DataFrame":
        self.lines.append(len(lines))
        text = "".join(lines)
        lines.clear()
        frame = parsed(self.path, text, self.layout, header=bool(n_header))
        if len(frame) != n_rows - n_header:
            raise DataFileError(f"{self.path} {MIXED}")
        return frame

    def _bounded(self, blocks: Iterator[list[str]], file: io.TextIOWrapper) -> Iterator[list[str]]:
        """Yield blocks; refuse a zipped file that becomes too large."""
        most, unpacked = allowed_size(self.contents.size), cast("gzip.GzipFile", file.buffer)
        for block in blocks:
            if self.contents.zipped:
                check_size(self.path, unpacked.tell(), most)
            yield block

    def _text(self) -> io.TextIOWrapper:
        """Open the file as lines, whatever it ends them with."""
        return io.TextIOWrapper(self.contents.open(), encoding=self.encoding, newline=None)

    def _first_not_utf8(self) -> int:
        """Return the first line that is not UTF-8."""
        decoder, n_lines = codecs.getincrementaldecoder("utf-8-sig")(), 0
        with self.contents.open() as file:
            while True:
                chunk = file.read(CHUNK)
                waiting = decoder.getstate()[0]
                try:
                    decoder.decode(chunk, final=not chunk)
                except UnicodeDecodeError as error:
                    line: int = n_lines + (waiting + chunk).count(b"\n", 0, error.start) + 1
                    return line
                n_lines += chunk.count(b"\n")


def _type_of(values: "pd.Series") -> str:
    """Return what a part of a column holds: whole numbers, numbers, true and false, text, or nothing."""
    from pandas.api import types

    if types.is_bool_dtype(values.dtype):
        return "boolean"
    if types.is_integer_dtype(values.dtype):
        return "whole"
    present = values.dropna()
    if len(present) == 0:
        return "missing"
    if types.is_float_dtype(values.dtype):
        return "number"
    return "boolean with gaps" if types.infer_dtype(present) == "boolean" else "text"


def _common_type(types: set[str]) -> Any:
    """Return the type of a column whose parts hold this; None where each part has it anyway."""
    held = types - {"missing"}
    if held <= {"whole", "number"}:
        return float if len(types) > 1 else None
    if held <= {"boolean", "boolean with gaps"}:
        return object if len(types) > 1 else None
    return str


def _exact_numbers(version: str) -> dict[str, Any]:
    """Return the option that reads numbers to their last bit, which pandas does by itself from 3.1 on."""
    major, minor = (int(part) for part in version.split(".")[:2])
    return {"float_precision": "round_trip"} if (major, minor) < (3, 1) else {}


def parsed(
    path: "Path", text: str, written: Layout, *, header: bool, types: dict[str, Any] | None = None
) -> "pd.DataFrame":
    """Let pandas find the columns' types, but for those given; `header` says whether the first row is one."""
    import pandas as pd

    # The blank lines go first: pandas would count those before the header as rows to skip. And a StringIO would take
    # four bytes for each character.
    lines = io.BytesIO(text.lstrip("\n").encode())
    try:
        frame = pd.read_csv(
            lines,
            sep=written.delimiter,
            header=0 if header else None,
            names=written.names,
            index_col=False,
            decimal=written.decimal,
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
