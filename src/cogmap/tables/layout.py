"""How a CSV file is written, found out from its first rows: delimiter, header, decimal comma.

Easy to get wrong: a comma may separate values or decimals. Where several delimiters fit, the comma is taken last.
"""

import csv
import io
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

from ..errors import DataFileError
from .limits import LONGEST_LINE, check_columns, too_long

DELIMITERS = ("\t", ";", "|", ",")
"""In order of preference where several fit: a comma may also be a decimal mark."""
SAMPLE = 200
"""Number of rows from which delimiter, header and decimal mark are found out."""
HEAD = 1 << 20
"""Characters of the file in which these are looked for."""
MARKS = frozenset({"", "?", "na", "n/a", "nan", "null", "none", "-", "#n/a", "<na>"})
"""Cells that say nothing about whether a row is the header, in small letters."""
NUMBER = re.compile(r"\s*[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?\s*")
DECIMAL_COMMA = re.compile(r"\s*[+-]?\d*,\d+\s*")
DECIMAL_POINT = re.compile(r"\s*[+-]?\d*\.\d+([eE][+-]?\d+)?\s*")
LONG_VALUE = f"a value has more than {csv.field_size_limit():,} characters: shorten it; or is a quote left open?"


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
    header, names = column_names(path, sample, header, notes)
    decimal = "," if delimiter != "," and has_decimal_comma(sample[header:]) else "."
    return Layout(delimiter, names, header, decimal, tuple(notes))


def check_first_line(path: Path, text: str) -> None:
    """Refuse text whose first line, blank ones aside, is too long to be one row."""
    start = len(text) - len(text.lstrip("\n"))
    end = text.find("\n", start)
    if (len(text) if end < 0 else end) - start > LONGEST_LINE:
        raise DataFileError(too_long(path, text.count("\n", 0, start) + 1))


def column_names(path: Path, sample: list[list[str]], header: bool | None, notes: list[str]) -> tuple[bool, list[str]]:
    """Return whether the first row names the columns, and the names; note where that was found out."""
    width = len(sample[0])
    if header is None:
        header = has_header(sample)
        if not header:
            notes.append(f"{path} has no header: its columns are called x0 … x{width - 1}.")
    return header, [name.strip() or f"x{j}" for j, name in enumerate(sample[0] if header else [""] * width)]


def csv_rows(lines: Iterable[str], delimiter: str, *, strict: bool) -> Any:
    """Return the rows of lines, as the standard library reads them."""
    return csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=strict)


def _sample(text: str, delimiter: str) -> list[list[str]]:
    """Return the first rows that are not blank; fewer where the parser gives up."""
    rows: list[list[str]] = []
    head = text if len(text) <= HEAD else text[: max(text.rfind("\n", 0, HEAD), text.find("\n")) + 1 or len(text)]
    try:
        reader = csv_rows(io.StringIO(head, newline=""), delimiter, strict=False)
        rows.extend(islice((row for row in reader if row), SAMPLE))
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


def check_delimiter(delimiter: str | None) -> None:
    """Refuse what cannot be a delimiter."""
    if delimiter is not None and (len(delimiter) != 1 or delimiter in '" \r\n'):
        raise ValueError(f"delimiter={delimiter!r} must be one character, and not a quote, a space or a line end.")


def check_names(path: Path, names: list[str]) -> None:
    """Refuse names that occur twice."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise DataFileError(f"{path} has more than one column called {twice[0]!r}: rename them.")
