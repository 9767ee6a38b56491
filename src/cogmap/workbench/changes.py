"""What would change the class of a row: the smallest changes of one column, and of two together.

A change of a number is as large as it is where the first network scales it; a category counts 1. Changes of one number
are exact to a billionth of the range (`explain.flips`). Two columns are tried on a grid, all pairs of those that move
the decision most, and the best point of each pair is brought nearer along a straight line. A pair is listed where it
takes less than either of its columns alone.

Easy to get wrong: concepts of one column change together, so a move replaces all that stands for a column's value.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from ..core.fit.fitted import Fitted, probabilities
from ..core.types import Array, Codes
from ..explain.columns import column_groups
from ..explain.flips import Axis, feature_axes, flips_of_each
from ..report.subject import Subject
from .sheet import Cells, Control, Sheet

COLUMNS, GRID = 10, 9
"""Columns of which all pairs are tried, and values of each number."""

HALVINGS = 14
"""Steps by which a pair is brought nearer."""

MOST = 12
"""Changes of each kind that are listed."""


@dataclass(frozen=True)
class Move:
    """Another value of one column: where it stands among the numbers, what stands there, and how far it is."""

    name: str
    value: Any
    places: Codes
    block: Array
    size: float
    axis: Axis | None = None

    def part(self, share: float, own: Array) -> "Move":
        """Return the move a share of the way; a category has no way."""
        if self.axis is None:
            return self
        here = self.axis.height(own[self.places])
        block = self.axis.value(here + share * (self.axis.height(self.block) - here))
        return Move(self.name, float(block[0]), self.places, block, share * self.size, self.axis)


Moves = tuple[Move, ...]


def changes(subject: Subject, sheet: Sheet, cells: Cells) -> dict[str, Any]:
    """Return the smallest changes of one and of two columns that change the class of a row of cells."""
    fitted = subject.model.fitted_
    row = sheet.encoded(cells)[0]
    own = int(fitted.codes(row[None])[0])
    columns = list(_movable(subject, sheet, cells, fitted))
    single = _single(fitted, row, own, columns)
    alone = {moves[0].name: moves[0].size for moves in single}
    pairs = _pairs(fitted, row, own, columns, alone)
    return {
        "predicted": subject.classes[own],
        "one": _listed(subject, row, cells, single),
        "two": _listed(subject, row, cells, pairs),
        "note": (
            f"One column: every column, within the range of the rows. Two columns: all pairs of the "
            f"{min(COLUMNS, len(columns))} columns that move the decision most, {GRID} values of each number."
        ),
    }


def _movable(
    subject: Subject, sheet: Sheet, cells: Cells, fitted: Fitted
) -> Iterator[tuple[Control, Codes, Axis | None]]:
    """Yield the columns that can be moved: their places among the numbers, and the axis of a number."""
    axes = {axis.feature: axis for axis in feature_axes(fitted)}
    columns = getattr(subject.model, "columns_", None)
    if columns is None:
        places = dict(zip(subject.frame.columns, np.arange(len(sheet.names))[:, None], strict=True))
    else:
        places = dict(zip((column.name for column in columns), column_groups(columns), strict=True))
    for control in sheet.controls:
        own = places.get(control.name, np.empty(0, np.intp))
        if control.kind == "number" and cells[control.name] is not None and own[0] in axes:
            yield control, own[:1], axes[own[0]]
        elif control.kind in ("category", "boolean"):
            yield control, own, None


def _single(fitted: Fitted, row: Array, own: int, columns: Sequence[tuple[Control, Codes, Axis | None]]) -> list[Moves]:
    """Return the smallest change of each column that changes the class, smallest first."""
    numbers = {int(places[0]): control.name for control, places, axis in columns if axis is not None}
    found = [
        Move(numbers[flip.feature], flip.value, np.array([flip.feature]), np.array([flip.value]), flip.change)
        for flip in flips_of_each(fitted, row, list(numbers))
    ]
    for control, places, axis in columns:
        if axis is None and (moves := _categories(control, places, row)):
            margin = _margins(fitted, row, own, [(move,) for move in moves])
            if margin.min() < 0:
                found.append(moves[int(margin.argmin())])
    return [(move,) for move in sorted(found, key=lambda move: move.size)]


def _categories(control: Control, places: Codes, row: Array) -> list[Move]:
    """Return the other values of a category, or of true and false."""
    column = control.column
    assert column is not None
    assert control.values is not None
    blocks = column.encode(pd.Series(control.values, dtype=object))
    moves = [Move(control.name, v, places, block, 1.0) for v, block in zip(control.values, blocks, strict=True)]
    return [move for move in moves if (move.block != row[places]).any()]


def _numbers(control: Control, places: Codes, axis: Axis, row: Array) -> list[Move]:
    """Return some other values of a number, spread over its range."""
    some = axis.candidates[np.unique(np.linspace(0, len(axis.candidates) - 1, GRID).round().astype(int))]
    height = axis.height(row[places])[0]
    sizes = np.abs(axis.height(some) - height)
    # Few values, as of one that counts, are taken as they are: there is nothing between them.
    way = axis if axis.continuous else None
    return [
        Move(control.name, float(value), places, np.array([value]), float(size), way)
        for value, size in zip(some, sizes, strict=True)
        if size > 0
    ]


def _margins(fitted: Fitted, row: Array, own: int, tried: Sequence[Moves]) -> Array:
    """Return how far each change is from another class; below 0 where it has one."""
    if not tried:
        return np.empty(0)
    decided = fitted.scores(_moved(row, tried)) + fitted.decision.shift
    margin: Array = decided[:, own] - np.delete(decided, own, axis=1).max(axis=1)
    return margin


def _moved(row: Array, tried: Sequence[Moves]) -> Array:
    rows = np.repeat(row[None], len(tried), axis=0)
    for line, moves in zip(rows, tried, strict=True):
        for move in moves:
            line[move.places] = move.block
    return rows


def _pairs(
    fitted: Fitted,
    row: Array,
    own: int,
    columns: Sequence[tuple[Control, Codes, Axis | None]],
    alone: dict[str, float],
) -> list[Moves]:
    """Return for each pair of columns the smallest change that takes less than either alone, smallest first."""
    every = [
        _categories(control, places, row) if axis is None else _numbers(control, places, axis, row)
        for control, places, axis in columns
    ]
    single = [(move,) for moves in every for move in moves]
    ends = np.cumsum([len(moves) for moves in every])[:-1]
    nearest = [margin.min(initial=np.inf) for margin in np.split(_margins(fitted, row, own, single), ends)]
    chosen = [every[k] for k in np.argsort(nearest, kind="stable")[:COLUMNS] if every[k]]
    tried = [
        (one, other)
        for first, second in combinations(chosen, 2)
        for one in first
        for other in second
        if one.size + other.size < min(alone.get(one.name, np.inf), alone.get(other.name, np.inf))
    ]
    margin = _margins(fitted, row, own, tried)
    best: dict[tuple[str, str], Moves] = {}
    for k in sorted(np.flatnonzero(margin < 0), key=lambda k: -_size(tried[k])):
        best[tried[k][0].name, tried[k][1].name] = tried[k]
    return sorted(_nearer(fitted, row, own, list(best.values())), key=_size)


def _nearer(fitted: Fitted, row: Array, own: int, found: list[Moves]) -> list[Moves]:
    """Bring changes nearer along the straight line to the row, as far as they still change the class."""
    near, far = np.zeros(len(found)), np.ones(len(found))
    for _ in range(HALVINGS if found else 0):
        middle = (near + far) / 2
        tried = [
            tuple(move.part(share, row) for move in moves) for moves, share in zip(found, middle.tolist(), strict=True)
        ]
        flipped = _margins(fitted, row, own, tried) < 0
        far, near = np.where(flipped, middle, far), np.where(flipped, near, middle)
    return [tuple(move.part(share, row) for move in moves) for moves, share in zip(found, far.tolist(), strict=True)]


def _size(moves: Moves) -> float:
    return sum(move.size for move in moves)


def _listed(subject: Subject, row: Array, cells: Cells, found: Sequence[Moves]) -> list[dict[str, Any]]:
    """Return the smallest changes as plain data."""
    shown = list(found[:MOST])
    if not shown:
        return []
    fitted = subject.model.fitted_
    scores = fitted.scores(_moved(row, shown))
    codes, probability = fitted.decision.codes(scores), probabilities(scores)
    return [
        {
            "changes": [{"column": move.name, "from": cells[move.name], "to": move.value} for move in moves],
            "class": subject.classes[codes[k]],
            "probability": float(probability[k, codes[k]]),
            "size": _size(moves),
        }
        for k, moves in enumerate(shown)
    ]
