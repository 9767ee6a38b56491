"""What is known of a column after some of its rows: counts, limits and texts, from which its meaning follows.

A table in memory is one part. Of a table in a file, one pass counts; another measures numbers and dates that are text,
where there are such; the medians take more (`medians`).

Easy to get wrong: memory. Of categories, all different values are held until the pass ends, so a file may have
`MOST_TEXT` of them.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.types import Array
from ..errors import UnusableColumnError
from .columns import Column, as_numbers, as_seconds, text_masses
from .dates import PARTS, date_parts, in_words, parts_of
from .meaning import (
    FREQUENT,
    category_column,
    may_count,
    refuse_far_dates,
    refuse_infinity,
    sequence_error,
)
from .medians import weighted_median
from .reading import Declared, Reading, TextReading, is_text, kind_of

if TYPE_CHECKING:
    import pandas as pd

MOST_TEXT = 100_000
"""Most different values of a category in a file that is read in passes."""


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
class Numbers:
    """The numbers or dates of a column that is in memory, and how often each counts."""

    values: Array = field(default_factory=lambda: np.empty(0))
    weight: Array = field(default_factory=lambda: np.empty(0))

    @property
    def median(self) -> float:
        """The median."""
        return weighted_median(self.values, self.weight)

    @property
    def differ(self) -> bool:
        """Whether no two are the same."""
        return len(np.unique(self.values)) == len(self.values)


@dataclass
class Tally:
    """What is known of a column after some of its rows.

    Of text, the first pass finds out whether it is numbers or dates; only then can a second one measure them.

    Attributes
    ----------
    name : str
        Name of the column.
    declared : {"number", "category", "dropped"} or None
        What the user says of it; then nothing about it is suspicious.
    known : Column or None
        What the column is in a table of which these are some rows; then its kind and format are known.
    held : Numbers or None
        Where the numbers of a column go that is in memory; None where it is not.
    """

    name: str
    declared: Declared
    known: Column | None = None
    held: Numbers | None = None
    n_rows: int = 0
    n_values: int = 0
    mass: float = 0.0
    missing_mass: float = 0.0
    reading: Reading | None = None
    texts: TextReading | None = None
    text: Counter[str] = field(default_factory=Counter)
    counted: bool = True
    range: Range = field(default_factory=Range)
    parts: dict[str, Range] = field(default_factory=dict)
    measured: int = 0
    balance: float = 0.0
    whole: bool = True
    problem: ValueError | None = None

    def add(self, values: "pd.Series", weight: Array | None = None) -> None:
        """Count some rows, each `weight` times."""
        if not self.dropped and self.problem is None:
            with self._noting():
                self._add(values, np.ones(len(values)) if weight is None else weight)

    def measure(self, values: "pd.Series", weight: Array | None = None) -> None:
        """Look at numbers or dates that are text, in the second pass."""
        if self.problem is None:
            with self._noting():
                self._measure(*_counting(values, np.ones(len(values)) if weight is None else weight), 0)

    def settle(self) -> None:
        """Decide how text is read, once all of it was seen."""
        if self.texts is not None and self.problem is None:
            with self._noting():
                self.reading = self.texts.reading()

    @contextmanager
    def _noting(self) -> Iterator[None]:
        """Keep an error as the column's problem: all of them are told together."""
        try:
            yield
        except ValueError as error:
            self.problem = error

    @property
    def dropped(self) -> bool:
        """Whether the column is not looked at."""
        return self.declared == "dropped" or (self.known is not None and self.known.kind == "dropped")

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

    def _add(self, values: "pd.Series", weight: Array) -> None:
        if values.dtype.kind == "f":
            refuse_infinity(values.to_numpy(dtype=np.float64, na_value=np.nan), self.name, self.n_rows)
        before, self.n_rows = self.n_rows, self.n_rows + len(values)
        values, weight = _counting(values, weight)
        absent = values.isna().to_numpy(dtype=bool)
        self.mass += float(weight.sum())
        self.missing_mass += float(weight[absent].sum())
        present = values if not absent.any() else values[~absent]
        if len(present) == 0:
            return
        self.n_values += len(present)
        self._set_kind(present)
        if self.texts is not None or self.kind == "category":
            self._add_text(present, weight[~absent])
        else:
            self._measure(values, weight, before)

    def _set_kind(self, present: "pd.Series") -> None:
        if self.known is not None and self.known.kind != "constant":
            self.reading = Reading(self.known.kind, self.known.format, self.known.remark, trusted=True)
            return
        if self.declared in ("number", "category"):
            reading = Reading(self.declared, trusted=True)
        else:
            reading = kind_of(present, self.name)
        if self.kind not in (None, reading.kind):
            reason = f"is a {self.kind} in some rows and a {reading.kind} in others"
            raise UnusableColumnError(self.name, reason, "list it as categorical.")
        self.reading = reading
        if self.texts is None and is_text(present, reading):
            self.texts = TextReading(self.name, self.declared)

    def _measure(self, values: "pd.Series", weight: Array, before: int) -> None:
        absent = values.isna().to_numpy(dtype=bool)
        numbers = np.full(len(values), np.nan)
        numbers[~absent] = self.numbers(values[~absent])  # pandas takes a date that is missing for a number
        refuse_infinity(numbers, self.name, before)
        there = ~np.isnan(numbers)
        numbers, weight = numbers[there], weight[there]
        self.measured += len(numbers)
        if len(numbers) == 0:
            return
        if self.held is not None:
            self.held.values, self.held.weight = numbers, weight
        self.range.add(numbers)
        if self.kind == "date":
            for part, moments in date_parts(numbers).items():
                self.parts.setdefault(part, Range()).add(moments)
        if self.kind == "boolean":
            self.balance += float(weight @ (2 * numbers - 1))
        self.whole = self.whole and bool((numbers == np.round(numbers)).all())

    def _add_text(self, present: "pd.Series", weight: Array) -> None:
        masses = text_masses(present, self.name, weight)
        if self.texts is not None:
            self.texts.add(masses)
        if self.counted:
            self.text.update(masses)
        if self.held is None and self.counted and len(self.text) > MOST_TEXT:
            self.counted = False
            self.text.clear()
        if not self.counted and self.declared != "number" and not (self.texts and self.texts.settled):
            reason = f"has more than {MOST_TEXT} different values, too many to be counted in passes over the file"
            raise UnusableColumnError(self.name, reason, "drop it.")

    @property
    def missing(self) -> bool:
        """Whether missing values are frequent enough for a concept."""
        return self.missing_mass > 0 and self.missing_mass >= FREQUENT * self.mass

    @property
    def counts(self) -> bool:
        """Whether the column may number the rows."""
        suspicious = self.reading is not None and not self.reading.trusted and self.kind == "number" and self.whole
        return suspicious and may_count(self.range.low, self.range.high, self.n_values)

    def column(self, max_categories: int, median: float | None = None) -> Column:
        """Return what the column means; `median` is that of numbers or dates which are not held."""
        if self.problem is not None:
            raise self.problem
        if self.dropped:
            return Column(self.name, "dropped") if self.known is None else self.known
        if self.reading is None:
            return Column(self.name, "constant")
        if self.kind == "category":
            return self._category(self.reading.trusted, max_categories)
        return self._of_numbers(self.reading, median)

    def _of_numbers(self, reading: Reading, median: float | None) -> Column:
        low, high = self.range.low, self.range.high
        if reading.kind == "date":
            refuse_far_dates(self.name, low, high)
        if not self.range.varies:
            fill = in_words(low, reading.format) if reading.kind == "date" else low
            return Column(self.name, "constant", fill=fill, missing=self.missing)
        if reading.kind == "boolean":
            return Column(self.name, "boolean", fill=float(self.balance > 0), missing=self.missing)
        if self.held is not None:
            if self.counts and self.held.differ:
                raise sequence_error(self.name, low, high)
            median = self.held.median
        assert median is not None
        more: dict[str, Any] = {"missing": self.missing, "format": reading.format, "remark": reading.remark}
        if reading.kind == "date":
            more |= {"first": low, "parts": self._varying_parts(reading)}
        return Column(self.name, reading.kind, fill=median, **more)

    def _varying_parts(self, reading: Reading) -> tuple[str, ...]:
        # Divided by the length of a day, two moments of a far year may be the same.
        limits = self.parts | {PARTS[-1]: self.range}
        return tuple(part for part in parts_of(reading.format) if limits[part].varies)

    def _category(self, listed: bool, max_categories: int) -> Column:
        text = sorted(self.text)
        mass = np.array([self.text[value] for value in text], dtype=np.float64)
        return category_column(
            self.name, text, mass, self.n_values, missing=self.missing, listed=listed, max_categories=max_categories
        )


def _counting(values: "pd.Series", weight: Array) -> "tuple[pd.Series, Array]":
    """Return the rows that count."""
    counting: NDArray[np.bool_] = weight > 0
    return (values, weight) if counting.all() else (values[counting], weight[counting])
