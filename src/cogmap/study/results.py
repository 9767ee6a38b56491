"""The results file: a plain CSV, one line for each result, appended as soon as it is known.

Easy to get wrong: a process can be killed in the middle of a line. What follows the last line end is therefore dropped
when a run opens the file; and a finished run writes all rows in one order, under another name, and moves it into place,
so that interrupted and uninterrupted runs end with the same file but for the times.
"""

import csv
import io
import os
from collections.abc import Iterable
from pathlib import Path
from types import TracebackType
from typing import IO, Any, Self

from ..writing import whole
from .datasets import NAMES
from .protocol import COLUMNS, KEY, Row
from .registry import REGISTRY

Key = tuple[str, ...]


def key_of(row: Row) -> Key:
    """Return what identifies a row."""
    return tuple(str(row[name]) for name in KEY)


def read(path: Path) -> list[Row]:
    """Return the complete rows of a results file, as text; a half-written last line is left out."""
    if not path.exists():
        return []
    text = path.read_text(encoding="utf-8")
    reader = csv.DictReader(io.StringIO(text[: text.rfind("\n") + 1]))
    if reader.fieldnames is not None and tuple(reader.fieldnames) != COLUMNS:
        raise ValueError(f"{path} is no results file: its header must be {','.join(COLUMNS)}.")
    rows = []
    for row in reader:
        if None in row or None in row.values():
            raise ValueError(f"Line {reader.line_num} of {path} has not {len(COLUMNS)} fields: repair or delete it.")
        rows.append(dict(row))
    return rows


def write(path: Path, rows: Iterable[Row]) -> None:
    """Write rows in their one order, under another name first."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with whole(path) as unfinished, unfinished.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        ordered: list[Row] = sorted(rows, key=_order)
        writer.writerows(ordered)
        file.flush()
        os.fsync(file.fileno())


def merge(parts: Iterable[list[Row]]) -> list[Row]:
    """Join several files' rows: each key once, a result before an error, a later row before an earlier one."""
    newest: dict[Key, Row] = {}
    for row in (row for part in parts for row in part):
        known = newest.get(key_of(row))
        if known is None or known["error"] or not row["error"]:
            newest[key_of(row)] = row
    return list(newest.values())


def frame(path: Path) -> Any:
    """Return the results as a pandas frame with numbers."""
    import pandas as pd

    table = pd.DataFrame(read(path), columns=list(COLUMNS))
    for name in ("kappa", "accuracy", "fit_seconds", "cpu_seconds", "search_seconds", "inner", "seed"):
        table[name] = [float(text) if text else float("nan") for text in table[name]]
    return table


def _text(value: Any) -> str:
    """Write a number with six digits, which no table needs more of; anything else as it is."""
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _order(row: Row) -> tuple[Any, ...]:
    """Order datasets and classifiers as the paper and the registry do, unknown ones after them by name."""
    datasets, classifiers = list(NAMES), list(REGISTRY)
    d, c = row["dataset"], row["classifier"]
    return (
        (datasets.index(d) if d in datasets else len(datasets), d),
        (classifiers.index(c) if c in classifiers else len(classifiers), c),
        key_of(row),
    )


class Results:
    """A results file open for appending, held by one run at a time."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __enter__(self) -> Self:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self._file: IO[str] = self.path.open("a+", encoding="utf-8", newline="")
        try:
            _lock(self._file, self.path)
            self.rows = read(self.path)
        except BaseException:
            self._file.close()
            raise
        self._drop_half_line()
        if not self.path.stat().st_size:
            self._append(",".join(COLUMNS) + "\n")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._file.close()

    def add(self, row: Row) -> None:
        """Append a row; it is on the disk when this returns."""
        row = {name: _text(row.get(name, "")) for name in COLUMNS}
        line = io.StringIO()
        csv.DictWriter(line, COLUMNS, lineterminator="\n").writerow(row)
        self._append(line.getvalue())
        self.rows.append(row)

    def drop_errors(self, keys: set[Key]) -> None:
        """Forget the errors among these keys, so that they are tried again."""
        self.rows = [row for row in self.rows if not (row["error"] and key_of(row) in keys)]

    def finish(self) -> None:
        """Rewrite the file in its one order."""
        write(self.path, merge([self.rows]))

    def _append(self, text: str) -> None:
        self._file.write(text)
        self._file.flush()
        os.fsync(self._file.fileno())

    def _drop_half_line(self) -> None:
        content = self.path.read_bytes()
        complete = content.rfind(b"\n") + 1
        if complete < len(content):
            os.truncate(self.path, complete)


def _lock(file: IO[str], path: Path) -> None:
    """Refuse a second run on the same file, where the system has file locks."""
    try:
        import fcntl
    except ImportError:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise RuntimeError(f"Another run is writing {path}: wait for it, or use another --results.") from error
