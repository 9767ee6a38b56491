"""The lines of a CSV file, checked while they are read, and where its rows end.

Easy to get wrong: rows that are too short. pandas fills them with missing values in silence; here every row must have
as many values as the first one, and the message says which line has not.
"""

import csv
import io
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TextIO

from ..errors import DataFileError
from .layout import LONG_VALUE, csv_rows
from .limits import CHUNK, LONGEST_LINE, too_long

CONTROLS = bytes([*range(9), 0x0B, *range(0x0E, 0x20), 0x7F])
"""Bytes that no text has."""
CONTROL = re.compile(f"[{re.escape(CONTROLS.decode('ascii'))}]")
BLANK = re.compile("^ +$", re.MULTILINE)


def check_text(path: Path, text: str, before: int = 0) -> None:
    """Refuse characters that no text has; so many lines came `before` this text."""
    encoded = text.encode("utf-8", "surrogatepass")
    if len(encoded.translate(None, CONTROLS)) == len(encoded):  # ten times as fast as to search
        return
    control = CONTROL.search(text)
    assert control is not None
    line = before + text.count("\n", 0, control.start()) + 1
    raise DataFileError(f"{path} is not a text file: line {line} holds the character {control[0]!r}.")


def blanked(text: str) -> str:
    """Return text whose lines of spaces are empty: they are blank to one parser and a value to the other."""
    return BLANK.sub("", text) if " \n" in text or text.endswith(" ") else text


def line_blocks(path: Path, file: TextIO) -> Iterator[list[str]]:
    """Yield the lines of a text, a megabyte at a time; refuse what is no text, or a line that is too long."""
    rest, number = "", 0
    while chunk := file.read(CHUNK):
        text = rest + chunk
        end = text.rfind("\n") + 1
        text, rest = text[:end], text[end:]
        lines = _checked(path, text, number)
        number += len(lines)
        if len(rest) > LONGEST_LINE:
            raise DataFileError(too_long(path, number + 1))
        yield lines
    yield _checked(path, rest, number)


def _checked(path: Path, text: str, before: int) -> list[str]:
    check_text(path, text, before)
    lines = list(io.StringIO(blanked(text), newline="\n"))
    if max(map(len, lines), default=0) > LONGEST_LINE:
        long = next(k for k, line in enumerate(lines, start=1) if len(line) > LONGEST_LINE)
        raise DataFileError(too_long(path, before + long))
    return lines


class HeldLines:
    """Lines of blocks, which are held until they are `taken`."""

    def __init__(self, blocks: Iterable[list[str]]) -> None:
        self.blocks = blocks
        self.held: list[str] = []
        self.n_taken = 0

    def __iter__(self) -> Iterator[str]:
        """Yield one line after the other."""
        for block in self.blocks:
            self.held += block
            yield from block

    def taken(self, upto: int) -> list[str]:
        """Return the lines that were not taken yet, up to the one with this number."""
        n_lines = upto - self.n_taken
        lines, self.held, self.n_taken = self.held[:n_lines], self.held[n_lines:], upto
        return lines


def row_ends(path: Path, lines: Iterable[str], delimiter: str) -> Iterator[int]:
    """Yield the number of the last line of every row, the header included.

    A row that is longer or shorter than the first is refused. No line is taken from `lines` before it is needed.
    """
    reader, width = csv_rows(lines, delimiter, strict=True), 0
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
