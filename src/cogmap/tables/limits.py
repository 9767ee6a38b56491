"""How large a file of data may be; beyond, it is refused in one sentence, before time and memory are spent on it.

Easy to get wrong: compressed files. Ten megabytes can hold ten gigabytes of one character, so what comes out of a file
is counted while it is read.
"""

from pathlib import Path

from ..errors import DataFileError, TooLargeError
from ..intake.memory import available, in_words

LONGEST_LINE = 1 << 24
"""Most characters of a line: 100,000 columns of 160 characters each."""

MOST_COLUMNS = 250_000
"""Most columns of a table."""

CELL_BYTES, TEXT_BYTES = 40, 8
"""Memory that it takes to read a file at once: for each cell of an Arrow file, and for each byte of a CSV file.

Measured on 200,000 rows of 20 numbers and a word: 36 and 8.
"""

PART_ROWS, PART_CELLS = 65536, 2**21
"""Most rows of a part of a table, and most cells of it."""

CHUNK = 1 << 20
"""Bytes to read at a time where their content does not matter."""

EXPANSION, HARMLESS = 200, 1 << 28
"""A compressed file may become so many times larger, or this many bytes large. Tables become about 10 times larger."""


def part_rows(n_columns: int) -> int:
    """Return the number of rows of a part."""
    return max(1, min(PART_ROWS, PART_CELLS // max(n_columns, 1)))


def too_long(path: Path, line: int) -> str:
    """Say that a line is too long."""
    return f"{path}, line {line}: more than {LONGEST_LINE:,} characters without a line end: this is no table of rows."


def check_start(path: Path, content: bytes) -> None:
    """Refuse a file whose first line is too long, before it is decoded."""
    start = content[: 2 * LONGEST_LINE + 1]  # of UTF-16, a character has two bytes
    if len(start) > 2 * LONGEST_LINE and b"\n" not in start and b"\r" not in start:
        raise DataFileError(too_long(path, 1))


def check_columns(path: Path, n_columns: int) -> None:
    """Refuse a table of too many columns."""
    if n_columns > MOST_COLUMNS:
        raise DataFileError(f"{path} has {n_columns:,} columns, and at most {MOST_COLUMNS:,} are read.")


def allowed_size(packed: int) -> int:
    """Return the most bytes that a compressed file of this size may hold."""
    return max(HARMLESS, EXPANSION * packed)


def check_size(path: Path, size: int, most: int) -> None:
    """Refuse what a compressed file holds, where it is more than allowed."""
    if size > most:
        raise DataFileError(
            f"{path} becomes more than {in_words(most)} when it is decompressed, more than {EXPANSION} times its size: "
            "decompress it first, if that is what it should be."
        )


def check_room(path: Path, need: int) -> None:
    """Refuse to read at once what takes more memory than there is."""
    there = available()
    if there is not None and need > there:
        raise TooLargeError(
            f"To read {path} at once takes about {in_words(need)} of memory, and there are {in_words(there)}: fit it "
            "in passes (cogmap fit --memory), or give fewer rows or columns."
        )
