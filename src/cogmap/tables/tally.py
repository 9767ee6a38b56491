"""What the columns of a raw table mean, learned from parts of its rows: `columns.describe` without the whole column.

One pass counts values, missing ones and categories; another measures numbers and dates that are text, where there are
such; two to five more find the medians, as the middle of a histogram whose middle cell is cut again and again. The
result is that of `describe`.

Easy to get wrong: memory. Of categories, all different values are held until the pass ends, so there may be `MOST_TEXT`
of them; whether whole numbers are all different takes one byte for each possible one, until the first comes twice.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..core.concepts.cells import Parts
from ..core.types import Array
from ..errors import UnusableColumnError
from ..intake.progress import Meter
from .columns import Column, as_numbers, as_seconds, as_text
from .dates import PARTS, date_parts, in_words, parts_of
from .description import (
    FREQUENT,
    category_column,
    date_column,
    may_count,
    midpoint,
    number_column,
    refuse_far_dates,
    refuse_infinity,
    sequence_error,
)
from .reading import Declared, Reading, TextReading, is_text, kind_of
from .unusable import attempted, usable

if TYPE_CHECKING:
    import pandas as pd

MOST_TEXT = 100_000
"""Most different values of a category."""

CELLS = 2**14
"""Cells of a histogram."""


@dataclass
class Range:
    """The smallest and the largest number of some."""

    low: float = np.inf
    high: float = -np.inf

    def add(self, numbers: Array) -> None:
        """Look at numbers."""
        self.low, self.high = min(self.low, float(numbers.min())), max(self.high, float(numbers.max()))

    @property
    def varies(self) -> bool:
        """Whether there are two different numbers."""
        return self.low < self.high


@dataclass
class Tally:
    """What is known of a column after some of its rows.

    Of text, the first pass finds out whether it is numbers or dates; only then can a second one measure them.
    """

    name: str
    declared: Declared
    n_rows: int = 0
    n_values: int = 0
    reading: Reading | None = None
    texts: TextReading | None = None
    text: Counter[str] = field(default_factory=Counter)
    counted: bool = True
    range: Range = field(default_factory=Range)
    parts: dict[str, Range] = field(default_factory=dict)
    measured: int = 0
    sum: float = 0.0
    whole: bool = True
    problem: ValueError | None = None

    def add(self, values: "pd.Series") -> None:
        """Count some rows."""
        if self.declared == "dropped" or self.problem is not None:
            return
        try:
            present = values[~values.isna().to_numpy(dtype=bool)]
            if len(present):
                self._set_kind(present)
                if self.texts is not None or self.kind == "category":
                    self._add_text(present)
                else:
                    self._measure(values, self.n_rows)
            self.n_rows += len(values)
            self.n_values += len(present)
        except ValueError as error:
            self.problem = error

    def measure(self, values: "pd.Series") -> None:
        """Look at numbers or dates that are text, in the second pass."""
        if self.problem is not None:
            return
        try:
            self._measure(values, 0)
        except ValueError as error:
            self.problem = error

    def settle(self) -> None:
        """Decide how text is read, once all of it was seen."""
        if self.texts is None or self.problem is not None:
            return
        try:
            self.reading = self.texts.reading()
        except ValueError as error:
            self.problem = error

    @property
    def kind(self) -> str | None:
        """What the column holds, as far as is known."""
        return None if self.reading is None else self.reading.kind

    @property
    def to_measure(self) -> bool:
        """Whether the column is text that is numbers or dates."""
        return self.texts is not None and self.kind != "category" and self.problem is None

    def numbers(self, values: "pd.Series") -> Array:
        """Return numbers or dates as floats."""
        assert self.reading is not None
        read = as_seconds if self.kind == "date" else as_numbers
        return read(values, self.name, self.reading.format, self.measured)

    def _set_kind(self, present: "pd.Series") -> None:
        if self.declared in ("number", "category"):
            found = Reading(self.declared, trusted=True)
        else:
            found = kind_of(present, self.name)
        if self.kind not in (None, found.kind):
            reason = f"is a {self.kind} in some rows and a {found.kind} in others"
            raise UnusableColumnError(self.name, reason, "list it as categorical.")
        self.reading = found
        if self.texts is None and is_text(present, found):
            self.texts = TextReading(self.name, self.declared)

    def _measure(self, values: "pd.Series", before: int) -> None:
        numbers = self.numbers(values)
        refuse_infinity(numbers, self.name, before)
        numbers = numbers[~np.isnan(numbers)]
        self.measured += len(numbers)
        if len(numbers) == 0:
            return
        self.range.add(numbers)
        if self.kind == "date":
            for part, found in date_parts(numbers).items():
                self.parts.setdefault(part, Range()).add(found)
        self.sum += float(numbers.sum()) if self.kind == "boolean" else 0.0
        self.whole = self.whole and bool((numbers == np.round(numbers)).all())

    def _add_text(self, present: "pd.Series") -> None:
        text, count = np.unique(as_text(present, self.name).astype(str), return_counts=True)
        if self.texts is not None:
            self.texts.add(text.tolist())
        if self.counted:
            self.text.update(dict(zip(text.tolist(), count.tolist(), strict=True)))
        if self.counted and len(self.text) > MOST_TEXT:
            self.counted = False
            self.text.clear()
        if not self.counted and self.declared != "number" and not (self.texts and self.texts.settled):
            reason = f"has more than {MOST_TEXT} different values, too many to be counted in passes over the file"
            raise UnusableColumnError(self.name, reason, "drop it.")

    @property
    def missing(self) -> bool:
        """Whether missing values are frequent enough for a concept."""
        absent = self.n_rows - self.n_values
        return absent > 0 and absent >= FREQUENT * self.n_rows

    @property
    def counts(self) -> bool:
        """Whether the column may number the rows."""
        suspicious = self.declared is None and self.kind == "number" and self.whole
        return suspicious and may_count(self.range.low, self.range.high, self.n_values)

    def column(self, max_categories: int, median: float | None) -> Column:
        """Return what the column means."""
        if self.problem is not None:
            raise self.problem
        if self.declared == "dropped":
            return Column(self.name, "dropped")
        if self.reading is None:
            return Column(self.name, "constant")
        if self.kind == "category":
            return self._category(self.reading.trusted, max_categories)
        low = self.range.low
        if self.kind == "date":
            refuse_far_dates(self.name, low, self.range.high)
        if not self.range.varies:
            fill = in_words(low, self.reading.format) if self.kind == "date" else low
            return Column(self.name, "constant", fill=fill, missing=self.missing)
        if self.kind == "boolean":
            return Column(self.name, "boolean", fill=float(2 * self.sum > self.n_values), missing=self.missing)
        assert median is not None
        if self.kind == "date":
            # Divided by the length of a day, two moments of a far year may be the same.
            self.parts[PARTS[-1]] = self.range
            varying = tuple(part for part in parts_of(self.reading.format) if self.parts[part].varies)
            return date_column(self.name, low, median, self.missing, self.reading, varying)
        return number_column(self.name, median, self.missing, self.reading)

    def _category(self, listed: bool, max_categories: int) -> Column:
        text = sorted(self.text)
        mass = np.array([self.text[value] for value in text], dtype=np.float64)
        return category_column(
            self.name, text, mass, self.n_values, missing=self.missing, listed=listed, max_categories=max_categories
        )


def learn_columns(
    parts: Callable[[], "Iterable[pd.DataFrame]"],
    declared: Sequence[tuple[str, Declared]],
    most: int,
    meter: Meter,
    *,
    drop_unusable: bool = False,
) -> tuple[Column, ...]:
    """Learn what columns mean in passes over parts of their rows.

    Parameters
    ----------
    parts : callable
        Starts a pass over the rows.
    declared : sequence of (name, declared)
        The columns, and what the user says of them.
    most : int
        Most concepts that a category may have.
    meter : Meter
        Counts the passes; knows the number of rows after the first.
    drop_unusable : bool, default=False
        Whether columns that cannot be used are dropped rather than refused.
    """
    tallies = [Tally(name, said) for name, said in declared]

    def looked(at: list[Tally], look: Callable[[Tally, "pd.Series"], None]) -> Iterator[tuple[int, int]]:
        for part in parts():
            for tally in at:
                look(tally, part[tally.name])
            yield len(part), len(part)

    meter.n_rows = sum(meter.counted(looked(tallies, Tally.add)))
    for tally in tallies:
        tally.settle()
    if to_measure := [tally for tally in tallies if tally.to_measure]:
        sum(meter.counted(looked(to_measure, Tally.measure)))
    middles = _medians([tally for tally in tallies if tally.kind in ("number", "date")], parts, meter)
    found = (attempted(partial(tally.column, most, middles.get(tally.name))) for tally in tallies)
    return usable(found, drop=drop_unusable, declared=[name for name, said in declared if said is not None])


@dataclass
class Middle:
    """Where the middle values of a column are: between `low` and `high`, with so many values `below` that.

    `seen` says which whole numbers from the smallest on have come, while all are different.
    """

    tally: Tally
    low: float
    high: float
    below: float = 0.0
    found: float | None = None
    seen: NDArray[np.bool_] | None = None

    def refine(self, low: Array, high: Array, mass: Array) -> None:
        """Go into the cell that holds the middle values, or find them where they lie in two cells or are one value."""
        held = np.flatnonzero(mass)
        low, high, upto = low[held], high[held], self.below + np.cumsum(mass[held])
        half = self.tally.n_values / 2
        first, second = np.searchsorted(upto, half, side="left"), np.searchsorted(upto, half, side="right")
        if first != second or low[first] == high[first]:
            self.found = midpoint(float(high[first]), float(low[second]))
            return
        self.low, self.high = float(low[first]), float(high[first])
        self.below = float(upto[first] - mass[held][first])

    def look_for_copies(self, numbers: Array) -> None:
        """Note whole numbers; forget all once one has come twice."""
        if self.seen is None:
            return
        at = (numbers - self.tally.range.low).astype(np.intp)
        if self.seen[at].any() or len(np.unique(at)) < len(at):
            self.seen = None
            return
        self.seen[at] = True


def _medians(tallies: list[Tally], parts: Callable[[], "Iterable[pd.DataFrame]"], meter: Meter) -> dict[str, float]:
    """Return the medians of columns of numbers and dates; note that a column numbers the rows."""
    varying = [tally for tally in tallies if tally.problem is None and tally.range.varies]
    middles = [Middle(tally, tally.range.low, tally.range.high) for tally in varying]
    for middle in middles:
        if middle.tally.counts:
            middle.seen = np.zeros(int(middle.high - middle.low) + 1, dtype=bool)
    while open_ones := [middle for middle in middles if middle.found is None and middle.tally.problem is None]:
        found: Parts | None = None
        for part in meter.counted(_histograms(open_ones, parts)):
            found = part if found is None else found.merge(part)
        assert found is not None
        for middle, low, high, mass in zip(open_ones, found.low, found.high, found.mass, strict=True):
            if middle.seen is not None:
                limits = middle.tally.range
                middle.tally.problem = sequence_error(middle.tally.name, limits.low, limits.high)
            else:
                middle.refine(low, high, mass)
    return {middle.tally.name: float(middle.found or 0.0) for middle in middles}


def _histograms(middles: list[Middle], parts: Callable[[], "Iterable[pd.DataFrame]"]) -> Iterator[tuple[int, Parts]]:
    for part in parts():
        low, high, mass = [], [], []
        for middle in middles:
            numbers = middle.tally.numbers(part[middle.tally.name].dropna())
            middle.look_for_copies(numbers)
            ends = (np.array([middle.low]), np.array([middle.high]))
            found = Parts.from_block([numbers], np.ones(len(numbers)), [ends], CELLS)
            low.append(found.low[0])
            high.append(found.high[0])
            mass.append(found.mass[0])
        yield len(part), Parts(low, high, mass)
