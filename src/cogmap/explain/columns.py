"""Explanations in terms of the columns of a raw table: what "colour" adds, not what each of its concepts adds.

Easy to get wrong: concepts of one column change together. Setting "colour = red" alone would make a row red and blue at
once, so a flip replaces the value of a whole column.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..core.types import Array, Codes
from ..tables.columns import OTHER, Column
from .evidence import Groups
from .explanation import Explanation
from .flips import Flip, smallest_flips

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class TabularExplanation(Explanation):
    """Why rows of a raw table got their class; `Explanation`, with columns for features.

    Attributes
    ----------
    columns : tuple of Column
        The columns that have concepts.
    frame : DataFrame of shape (n, n_columns)
        Their values in the rows, as they were given.
    given : DataFrame of one row, or None
        The baseline where one was given, as it was given.
    """

    columns: tuple[Column, ...] = field(repr=False)
    frame: "pd.DataFrame" = field(repr=False)
    given: "pd.DataFrame | None" = field(repr=False)

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    @property
    def values(self) -> NDArray[Any]:
        """The rows as they were given, missing values as None."""
        return _raw(self.frame)

    @property
    def baseline_values(self) -> NDArray[Any] | None:
        """The baseline that was given; None where rows are compared with training rows."""
        return None if self.given is None else _raw(self.given)[0]

    @property
    def _groups(self) -> Groups:
        return column_groups(self.columns)

    def smallest_flips(self, rows: Codes) -> list[Flip | None]:
        """Return the smallest change of one column, a number or a category."""
        return [
            _smaller(number, self._category_flip(i)) for i, number in zip(rows, self._number_flips(rows), strict=True)
        ]

    def _number_flips(self, rows: Codes) -> list[Flip | None]:
        """Return the smallest change of one number that is not missing."""
        numbers = [(k, start) for k, start, column in self._placed() if column.kind == "number"]
        absent = self.frame.isna().to_numpy()
        flips: list[Flip | None] = []
        for i in rows:
            own = {start: k for k, start in numbers if not absent[i, k]}
            flip = smallest_flips(self.fitted, self.X[[i]], features=list(own))[0]
            flips.append(flip and Flip(own[flip.feature], flip.value, flip.label, flip.change))
        return flips

    def _category_flip(self, row: int) -> Flip | None:
        """Return the first other value of one column that changes the class; such a change counts as 1."""
        tried = list(self._replaced(row))
        if not tried:
            return None
        decision = self.fitted.decision
        scores = self.fitted.scores(np.array([encoded for *_, encoded in tried]))
        codes, own = decision.codes(scores), self._predicted_codes[row]
        decided = scores + decision.shift
        # Of several changes of the same size, the one after which the class is clearest.
        margin = np.where(codes != own, decided.max(axis=1) - decided[:, own], -np.inf)
        best = int(margin.argmax())
        if codes[best] == own:
            return None
        return Flip(tried[best][0], tried[best][1], self.fitted.classes[codes[best]], 1.0)

    def _replaced(self, row: int) -> Iterator[tuple[int, Any, Array]]:
        """Yield each column with few values, another value of it, and the encoded row that has it."""
        import pandas as pd

        for k, start, column in self._placed():
            options: tuple[Any, ...] = column.categories + (OTHER,) * column.other
            if column.kind == "boolean":
                options = (False, True)
            blocks = column.encode(pd.Series(options, dtype=object)) if options else ()
            for option, block in zip(options, blocks, strict=True):
                encoded = self.X[row].copy()
                encoded[start : start + len(block)] = block
                if (encoded != self.X[row]).any():
                    yield k, option, encoded

    def _placed(self) -> Iterator[tuple[int, int, Column]]:
        """Yield the columns, each with its number and the place of its first concept."""
        start = 0
        for k, column in enumerate(self.columns):
            yield k, start, column
            start += len(column.concepts)


def by_columns(
    explanation: Explanation, columns: tuple[Column, ...], frame: "pd.DataFrame", given: "pd.DataFrame | None"
) -> TabularExplanation:
    """Turn the explanation of encoded rows into one of the raw rows in `frame`; `given` is the baseline, raw too."""
    used = tuple(column for column in columns if column.needed)
    parts = {part.name: getattr(explanation, part.name) for part in fields(Explanation)}
    names = [column.name for column in used]
    return TabularExplanation(**parts, columns=used, frame=frame[names], given=None if given is None else given[names])


def _raw(frame: "pd.DataFrame") -> NDArray[Any]:
    """Return the values of a frame, missing ones as None."""
    table: NDArray[Any] = frame.to_numpy(dtype=object, copy=True)
    table[frame.isna().to_numpy()] = None
    return table


def column_groups(columns: Sequence[Column]) -> list[NDArray[np.intp]]:
    """Return the places of each column's concepts among all."""
    ends = np.cumsum([len(column.concepts) for column in columns])
    return [np.arange(end - len(column.concepts), end) for column, end in zip(columns, ends, strict=True)]


def _smaller(number: Flip | None, category: Flip | None) -> Flip | None:
    if number is None or category is None:
        return number or category
    return number if number.change <= category.change else category
