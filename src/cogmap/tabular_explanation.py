"""Explanations in terms of the columns of a raw table: what "colour" adds, not what each of its concepts adds.

Easy to get wrong: concepts of one column change together. Setting "colour = red" alone would make a row red and blue at
once, so a flip replaces the value of a whole column.
"""

import warnings
from collections.abc import Iterator
from dataclasses import dataclass, field, fields
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .columns import OTHER, Column, column_sums
from .core.activation import Array
from .core.contributions import Codes
from .explain import Explanation
from .flips import Flip, smallest_flips
from .warnings import UnreliableRelevanceWarning

if TYPE_CHECKING:
    import pandas as pd

CANCELS = 10.0
"""Contributions this many times the largest score are not to be read: they owe their size to each other."""


@dataclass(frozen=True)
class TabularExplanation(Explanation):
    """Why rows of a raw table got their scores; `Explanation`, with columns for features.

    Attributes
    ----------
    columns : tuple of Column
        The columns that have concepts.
    frame : DataFrame of shape (n, n_columns)
        Their values in the rows, as they were given.
    """

    columns: tuple[Column, ...] = field(repr=False)
    frame: "pd.DataFrame" = field(repr=False)

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns."""
        return [column.name for column in self.columns]

    @property
    def values(self) -> NDArray[Any]:
        """The rows as they were given, missing values as None."""
        table = self.frame.to_numpy(dtype=object)
        table[self.frame.isna().to_numpy()] = None
        return table

    def _attribute(self, rows: Codes, directions: Array) -> tuple[Array, Array]:
        values, start = super()._attribute(rows, directions)
        summed = column_sums(values, self.columns, axis=1)
        warn_if_cancelling(float(np.abs(summed).max(initial=0.0)), self.scores)
        return summed, start

    def _flips(self, rows: Codes) -> list[Flip | None]:
        return [
            _smaller(number, self._category_flip(i)) for i, number in zip(rows, self._number_flips(rows), strict=True)
        ]

    def _number_flips(self, rows: Codes) -> list[Flip | None]:
        """Return the smallest change of one number that is not missing."""
        numbers = [(k, start) for k, start, column in self._placed() if column.kind == "number"]
        absent = self.frame.isna().to_numpy()
        found: list[Flip | None] = []
        for i in rows:
            own = {start: k for k, start in numbers if not absent[i, k]}
            flip = smallest_flips(self.estimator, self.X[[i]], features=list(own))[0]
            found.append(flip and Flip(own[flip.feature], flip.value, flip.label, flip.change))
        return found

    def _category_flip(self, row: int) -> Flip | None:
        """Return the first other value of one column that changes the class; such a change counts as 1."""
        tried = list(self._replaced(row))
        if not tried:
            return None
        scores = self.estimator._decision(self.estimator._raw(np.array([encoded for *_, encoded in tried])))
        codes = scores.argmax(axis=1)
        own = self.scores[row].argmax()
        # Of several changes of the same size, the one after which the class is clearest.
        margin = np.where(codes != own, scores.max(axis=1) - scores[:, own], -np.inf)
        best = int(margin.argmax())
        if codes[best] == own:
            return None
        return Flip(tried[best][0], tried[best][1], self.estimator.classes_[codes[best]], 1.0)

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


def by_columns(explanation: Explanation, columns: tuple[Column, ...], frame: "pd.DataFrame") -> TabularExplanation:
    """Turn the explanation of encoded rows into one of the raw rows in `frame`."""
    used = tuple(column for column in columns if column.needed)
    parts = {part.name: getattr(explanation, part.name) for part in fields(Explanation)}
    return TabularExplanation(**parts, columns=used, frame=frame[[column.name for column in used]])


def warn_if_cancelling(largest: float, scores: Array) -> None:
    """Warn where what columns add is far larger than any score, and so cancels."""
    times = largest / max(float(np.abs(scores).max(initial=0.0)), np.finfo(np.float64).tiny)
    if times > CANCELS:
        warnings.warn(
            f"What columns add is up to {times:.0f} times the largest score and cancels: between the values of a "
            "category, where no row lies, the scores are rough. Use fewer iterations (max_iter), or a smaller phi.",
            UnreliableRelevanceWarning,
            stacklevel=3,
        )


def _smaller(number: Flip | None, category: Flip | None) -> Flip | None:
    if number is None or category is None:
        return number or category
    return number if number.change <= category.change else category
