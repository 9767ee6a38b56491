"""Rows as a page shows and changes them: plain cells, a control for each column, and back to what a model takes.

A cell is a number, text, true, false or None (missing). Dates are text in ISO form; amounts such as "$1,234" are
numbers.

Easy to get wrong: what a page sends is not what a file held. Cells are checked here, by the column's name.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..core.types import Array
from ..knowledge.names import no_column
from ..report.subject import Subject
from ..tables import dates
from ..tables.columns import OTHER, Column, as_text, spelled
from ..tables.new_rows import UnseenValues

FEW_VALUES = 20
"""A number with at most this many different values takes these only."""

STEPS = 200
"""About as many steps a slider has."""

MOST_BLOCKS = 20_000
"""Encoded cells that are kept."""

Cells = dict[str, Any]


class _Few(dict[Any, Any]):
    """A dictionary that begins anew when it holds too much."""

    def __init__(self, most: int) -> None:
        super().__init__()
        self.most = most

    def __setitem__(self, key: Any, value: Any) -> None:
        if len(self) >= self.most:
            self.clear()
        super().__setitem__(key, value)


@dataclass(frozen=True)
class Control:
    """What a page needs to let somebody choose a cell of one column; see `Sheet.controls`."""

    name: str
    kind: str
    concepts: tuple[str, ...]
    low: Any = None
    high: Any = None
    step: float | None = None
    values: tuple[Any, ...] | None = None
    typical: Any = None
    missing: bool = False
    column: Column | None = None


@dataclass(frozen=True)
class Sheet:
    """A table in plain cells.

    Attributes
    ----------
    names : tuple of str
        Names of the columns.
    cells : tuple of object arrays of shape (n,)
        Their cells.
    columns : dict of str to Column
        What the columns of a raw table mean; empty for a model of numbers.
    """

    names: tuple[str, ...]
    cells: tuple[NDArray[Any], ...]
    columns: Mapping[str, Column]

    @classmethod
    def of(cls, subject: Subject) -> "Sheet":
        """Return the rows of a model."""
        columns = {column.name: column for column in getattr(subject.model, "columns_", ())}
        frame = subject.frame
        cells = tuple(_cells(frame[name], columns.get(name)) for name in frame.columns)
        return cls(tuple(str(name) for name in frame.columns), cells, columns)

    @cached_property
    def controls(self) -> tuple[Control, ...]:
        """A control for each column."""
        return tuple(
            _control(name, cells, self.columns.get(name), raw=bool(self.columns))
            for name, cells in zip(self.names, self.cells, strict=True)
        )

    @property
    def typical(self) -> Cells:
        """The middle of each number, the most frequent of other values."""
        return {control.name: control.typical for control in self.controls}

    def row(self, number: int) -> Cells:
        """Return the cells of one row."""
        n_rows = len(self.cells[0])
        if not 0 <= number < n_rows:
            raise ValueError(f"There is no row {number}: there are the rows 0 to {n_rows - 1}.")
        return {name: cells[number] for name, cells in zip(self.names, self.cells, strict=True)}

    def filled(self, values: Mapping[str, Any] | None, row: int | None) -> Cells:
        """Return the cells of a row, or of a typical one, with some of them replaced and checked."""
        whole = self.typical if row is None else self.row(row)
        kinds = {control.name: control.kind for control in self.controls}
        for name, value in (values or {}).items():
            if name not in whole:
                raise ValueError(no_column(name, self.names))
            whole[name] = self._checked(name, kinds[name], value)
        return whole

    def frame(self, cells: Cells) -> pd.DataFrame:
        """Return a row of cells as a raw table of one row."""
        return pd.DataFrame([[cells[name] for name in self.names]], columns=list(self.names), dtype=object)

    def encoded(self, cells: Cells) -> Array:
        """Return a row of cells as the numbers that a network takes, shape (1, n_features); warn of unseen values."""
        if not self.columns:
            return np.array([[cells[name] for name in self.names]], dtype=np.float64)
        blocks, unseen = [], UnseenValues(tuple(self.columns.values()))
        for column in unseen.used:
            cell = cells[column.name]
            if (column.name, cell) not in self._blocks:
                values = pd.Series([cell], dtype=object)
                self._blocks[column.name, cell] = column.encode(values)[0], column.unseen(values)
            block, counts = self._blocks[column.name, cell]
            blocks.append(block)
            unseen.counts[column.name].update(counts)
        unseen.warn()
        return np.concatenate(blocks)[None]

    @cached_property
    def _blocks(self) -> dict[tuple[str, Any], tuple[Array, dict[str, int]]]:
        """What cells were encoded as: while a slider moves, all but one are those of the call before."""
        return _Few(MOST_BLOCKS)

    def _checked(self, name: str, kind: str, value: Any) -> Any:
        if value is None:
            if not self.columns:
                raise ValueError(f"{name!r} has no value, and this model takes numbers only: give one.")
            return None
        if kind == "number":
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not abs(value) < 1e300:
                raise ValueError(f"{name!r} is {_short(value)}: give a number.")
            return float(value)
        if kind == "boolean" and not isinstance(value, bool):
            raise ValueError(f"{name!r} is {_short(value)}: give true or false.")
        if kind in ("category", "date") and not isinstance(value, str):
            raise ValueError(f"{name!r} is {_short(value)}: give text.")
        if kind == "date" and dates.value_seconds(value, self.columns[name].format) is None:
            raise ValueError(f"{name!r} is {_short(value)}, which is no date: write it as 2026-01-31.")
        return value


def _short(value: Any) -> str:
    return repr(value) if len(repr(value)) < 60 else f"{repr(value)[:57]}…"


def _cells(values: pd.Series, column: Column | None) -> NDArray[Any]:
    """Return the plain cells of a column."""
    cells = np.full(len(values), None, dtype=object)
    held = ~values.isna().to_numpy(dtype=bool)
    kind = "number" if column is None else column.kind
    if kind in ("number", "boolean", "date"):
        numbers = values.to_numpy(dtype=np.float64) if column is None else column.numbers(values)
        held &= np.isfinite(numbers)
        plain: list[Any] = numbers[held].tolist()
        if kind == "boolean":
            plain = [bool(number) for number in plain]
        elif kind == "date":
            assert column is not None
            plain = [dates.in_words(number, column.format) for number in plain]
    elif kind == "category":
        plain = as_text(values, str(values.name))[held].tolist()
    else:
        plain = [spelled(value) for value in values[held]]
    cells[held] = plain
    return cells


def _control(name: str, cells: NDArray[Any], column: Column | None, *, raw: bool) -> Control:
    kind = "number" if column is None else column.kind
    held = [cell for cell in cells if cell is not None]
    concepts = (name,) if column is None else column.concepts
    if not concepts or not held or kind in ("constant", "dropped"):
        return Control(name, "unused", concepts, typical=held[0] if held else None, missing=raw)
    missing = raw and (len(held) < len(cells) or bool(column and column.missing))
    if kind == "number":
        low, high, step, values, typical = _number(held)
        return Control(name, kind, concepts, low, high, step, values, typical, missing, column)
    if kind == "date":
        ordered = sorted(held)
        return Control(name, kind, concepts, ordered[0], ordered[-1], None, None, ordered[len(held) // 2], missing)
    frequent = max(sorted(set(held)), key=held.count)
    options: tuple[Any, ...] = (False, True)
    if kind == "category":
        assert column is not None
        options = column.categories + (OTHER,) * column.other
        frequent = frequent if frequent in options else options[0]
    return Control(name, kind, concepts, values=options, typical=frequent, missing=missing, column=column)


def _number(held: list[float]) -> tuple[float, float, float, tuple[float, ...] | None, float]:
    """Return range, step, the values where they are few, and the middle one of a number."""
    different = sorted(set(held))
    low, high = different[0], different[-1]
    middle = sorted(held)[len(held) // 2]
    rough = (high - low) / STEPS or 1.0
    scale = 10.0 ** math.floor(math.log10(rough))
    step = next(scale * nice for nice in (1, 2, 5, 10) if scale * nice >= rough * 0.999)
    if all(value.is_integer() for value in different):
        step = max(step, 1.0)
    return low, high, step, tuple(different) if len(different) <= FEW_VALUES else None, middle
