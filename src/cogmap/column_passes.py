"""What the columns of a raw table mean, learned from parts of its rows: `columns.describe` without the whole column.

One pass counts values, missing ones and categories; two to five more find the medians of numbers, as the middle of a
histogram whose middle cell is cut again and again. The result is that of `describe`.

Easy to get wrong: memory. Of categories, all different values are held until the pass ends, so there may be `MOST_TEXT`
of them; whether whole numbers are all different takes one byte for each possible one, until the first comes twice.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from .columns import (
    FREQUENT,
    Column,
    Declared,
    as_numbers,
    as_text,
    category_column,
    kind_of,
    may_count,
    midpoint,
    sequence_sentence,
)
from .core.activation import Array
from .core.cells import Parts
from .progress import Meter
from .validation import not_finite_sentence

if TYPE_CHECKING:
    import pandas as pd

MOST_TEXT = 100_000
"""Most different values of a category."""

CELLS = 2**14
"""Cells of a histogram."""


@dataclass
class Tally:
    """What is known of a column after some of its rows."""

    name: str
    declared: Declared
    n_rows: int = 0
    n_values: int = 0
    kind: str | None = None
    listed: bool = False
    low: float = np.inf
    high: float = -np.inf
    sum: float = 0.0
    whole: bool = True
    text: Counter[str] = field(default_factory=Counter)

    def add(self, values: "pd.Series") -> None:
        """Count some rows."""
        if self.declared == "dropped":
            return
        present = values[~values.isna().to_numpy(dtype=bool)]
        if len(present):
            self._set_kind(present)
            if self.kind == "category":
                self._add_text(present)
            else:
                self._add_numbers(as_numbers(present, self.name, self.n_values), values)
        self.n_rows += len(values)
        self.n_values += len(present)

    def _set_kind(self, present: "pd.Series") -> None:
        kind = self.declared or kind_of(present, self.name)
        if self.kind not in (None, kind):
            raise ValueError(
                f"Column {self.name!r} is a {self.kind} in some rows and a {kind} in others: list it as categorical."
            )
        self.kind = kind
        self.listed = self.declared is not None or hasattr(present, "cat")

    def _add_numbers(self, numbers: Array, values: "pd.Series") -> None:
        if not np.isfinite(numbers).all():
            rows = as_numbers(values, self.name)[:, None]
            found = np.where(np.isnan(rows), 0.0, rows)
            raise ValueError(not_finite_sentence(found, np.array([self.name], dtype=object), self.n_rows))
        self.low, self.high = min(self.low, float(numbers.min())), max(self.high, float(numbers.max()))
        self.sum += float(numbers.sum()) if self.kind == "boolean" else 0.0
        self.whole = self.whole and bool((numbers == np.round(numbers)).all())

    def _add_text(self, present: "pd.Series") -> None:
        text, count = np.unique(as_text(present, self.name).astype(str), return_counts=True)
        self.text.update(dict(zip(text.tolist(), count.tolist(), strict=True)))
        if len(self.text) > MOST_TEXT:
            raise ValueError(
                f"Column {self.name!r} has more than {MOST_TEXT} different values, too many to be counted in passes "
                "over the file: drop it."
            )

    @property
    def missing(self) -> bool:
        """Whether missing values are frequent enough for a concept."""
        absent = self.n_rows - self.n_values
        return absent > 0 and absent >= FREQUENT * self.n_rows

    @property
    def counts(self) -> bool:
        """Whether the column may number the rows."""
        return self.declared is None and self.whole and may_count(self.low, self.high, self.n_values)

    def column(self, max_categories: int, median: float | None) -> Column:
        """Return what the column means."""
        if self.declared == "dropped":
            return Column(self.name, "dropped")
        if self.n_values == 0:
            return Column(self.name, "constant")
        if self.kind == "category":
            text = sorted(self.text)
            mass = np.array([self.text[value] for value in text], dtype=np.float64)
            return category_column(
                self.name,
                text,
                mass,
                self.n_values,
                missing=self.missing,
                listed=self.listed,
                max_categories=max_categories,
            )
        if self.low == self.high:
            return Column(self.name, "constant", fill=self.low, missing=self.missing)
        if self.kind == "boolean":
            return Column(self.name, "boolean", fill=float(2 * self.sum > self.n_values), missing=self.missing)
        return Column(self.name, "number", fill=median, missing=self.missing)


def learn_columns(
    parts: Callable[[], "Iterable[pd.DataFrame]"], declared: Sequence[tuple[str, Declared]], most: int, meter: Meter
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
    """
    tallies = [Tally(name, said) for name, said in declared]

    def counted() -> Iterator[tuple[int, int]]:
        for part in parts():
            for tally in tallies:
                tally.add(part[tally.name])
            yield len(part), len(part)

    meter.n_rows = sum(meter.counted(counted()))
    middles = _medians([t for t in tallies if t.kind == "number" and t.low < t.high], parts, meter)
    return tuple(tally.column(most, middles.get(tally.name)) for tally in tallies)


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
        at = (numbers - self.tally.low).astype(np.intp)
        if self.seen[at].any() or len(np.unique(at)) < len(at):
            self.seen = None
            return
        self.seen[at] = True


def _medians(tallies: list[Tally], parts: Callable[[], "Iterable[pd.DataFrame]"], meter: Meter) -> dict[str, float]:
    """Return the medians of columns of numbers; raise for a column that numbers the rows."""
    middles = [Middle(tally, tally.low, tally.high) for tally in tallies]
    for middle in middles:
        if middle.tally.counts:
            middle.seen = np.zeros(int(middle.high - middle.low) + 1, dtype=bool)
    while open_ones := [middle for middle in middles if middle.found is None]:
        found: Parts | None = None
        for part in meter.counted(_histograms(open_ones, parts)):
            found = part if found is None else found.merge(part)
        assert found is not None
        for middle in open_ones:
            if middle.seen is not None:
                raise ValueError(sequence_sentence(middle.tally.name, middle.tally.low, middle.tally.high))
        for middle, low, high, mass in zip(open_ones, found.low, found.high, found.mass, strict=True):
            middle.refine(low, high, mass)
    return {middle.tally.name: float(middle.found or 0.0) for middle in middles}


def _histograms(middles: list[Middle], parts: Callable[[], "Iterable[pd.DataFrame]"]) -> Iterator[tuple[int, Parts]]:
    for part in parts():
        low, high, mass = [], [], []
        for middle in middles:
            numbers = as_numbers(part[middle.tally.name].dropna(), middle.tally.name)
            middle.look_for_copies(numbers)
            ends = (np.array([middle.low]), np.array([middle.high]))
            found = Parts.from_block([numbers], np.ones(len(numbers)), [ends], CELLS)
            low.append(found.low[0])
            high.append(found.high[0])
            mass.append(found.mass[0])
        yield len(part), Parts(low, high, mass)
