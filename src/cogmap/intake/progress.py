"""How far the passes of a long fit are, and how long the present one will still take.

Easy to get wrong: a block counts once its statistic is computed, not once it is read, or the last block seems to take
no time at all.
"""

import sys
import time
from collections.abc import Callable, Iterable, Iterator
from typing import NamedTuple, TextIO, TypeVar

S = TypeVar("S")

EVERY, SELDOM = 1.0, 30.0
"""Seconds between reports; and between lines of a pass where they are not written over each other."""


class Progress(NamedTuple):
    """How far a pass is; the number of rows and the seconds left are None in the first pass, which counts them."""

    number: int
    rows: int
    n_rows: int | None
    seconds: float
    seconds_left: float | None
    ended: bool = False


class Meter:
    """Counts passes and the rows in them, and reports about once a second."""

    def __init__(self, report: Callable[[Progress], None]) -> None:
        self.report = report
        self.n_rows: int | None = None
        self.number = 0

    def counted(self, parts: Iterable[tuple[int, S]]) -> Iterator[S]:
        """Yield what each block gave; `parts` has the number of its rows too. It is one pass."""
        self.number += 1
        rows, begun = 0, time.monotonic()
        reported = begun
        for n, part in parts:
            rows += n
            yield part
            if time.monotonic() - reported >= EVERY:
                reported = time.monotonic()
                self.report(self._progress(rows, reported - begun))
        self.report(self._progress(rows, time.monotonic() - begun)._replace(ended=True))

    def _progress(self, rows: int, seconds: float) -> Progress:
        left = None if self.n_rows is None or rows == 0 else seconds * (self.n_rows - rows) / rows
        return Progress(self.number, rows, self.n_rows, seconds, left)


class Writer:
    """Writes one line for each pass: over and over on a terminal, elsewhere at its end and seldom before."""

    def __init__(self, stream: TextIO | None = None) -> None:
        self.stream = sys.stderr if stream is None else stream
        self.over = self.stream.isatty()
        self.written = 0.0

    def __call__(self, progress: Progress) -> None:
        """Write it."""
        if not (self.over or progress.ended or progress.seconds - self.written >= SELDOM):
            return
        self.written = 0.0 if progress.ended else progress.seconds
        line = f"pass {progress.number}: {progress.rows} rows in {progress.seconds:.0f} s"
        if progress.seconds_left is not None and progress.n_rows:
            line += f", {100 * progress.rows / progress.n_rows:.0f} %, {progress.seconds_left:.0f} s left"
        self.stream.write(f"\r\x1b[K{line}" if self.over else line)
        if progress.ended or not self.over:
            self.stream.write("\n")
        self.stream.flush()


def reporter(progress: Callable[[Progress], None] | bool | None) -> Callable[[Progress], None]:
    """Return what to report to: a user's function, stderr if True, or if None and it is a terminal; or nothing."""
    if callable(progress):
        return progress
    if progress or (progress is None and sys.stderr.isatty()):
        return Writer()
    return lambda _: None
