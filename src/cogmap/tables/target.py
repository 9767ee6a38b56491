"""The column of the classes: checked, and as labels. Whole numbers lose the fraction that missing values gave them.

Easy to get wrong: a quantity. A price has thousands of values, a network would learn a class for each, and that takes
hours before it is of no use. Numbers of many values are refused, unless a user says that they are classes.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..intake.labels import COST_OF_CLASSES, MANY_CLASSES
from .columns import spelled

if TYPE_CHECKING:
    import pandas as pd

MOST_NUMBERS = 50
"""Numbers of more different values than this are a quantity."""

MOST_CLASSES, TOO_MANY = 50, 100_000
"""Text may have so many different values whatever the number of rows, or half as many as there are rows.

Of the second number and more, no more are counted.
"""


class Target:
    """A column of classes that is seen some rows at a time; `classes` says that it is one, whatever it looks like."""

    def __init__(self, name: str, *, classes: bool = False) -> None:
        self.name = name
        self.classes = classes
        self.n_rows = 0
        self.n_missing = 0
        self._values: set[Any] = set()
        self._numbers = self._floats = self._fractions = False

    def add(self, values: "pd.Series", n_missing: int) -> None:
        """Look at classes; `n_missing` rows beside them have none. A quantity is refused as soon as it shows."""
        self.n_rows += len(values)
        self.n_missing += n_missing
        if len(values) and values.dtype.kind in "iuf":
            self._numbers = True
        if len(values) and values.dtype.kind == "f":
            self._floats = True
            self._fractions = self._fractions or bool((values != values.round()).any())
        if len(self._values) < TOO_MANY:
            self._values.update(values.unique())
        if self._numbers and not self.classes and (self._fractions or len(self._values) > MOST_NUMBERS):
            what = "with fractions " if self._fractions else ""
            raise ValueError(self._refusal(f"different numbers {what}", "a quantity rather than classes"))

    def check(self) -> None:
        """Raise where the column does not hold classes."""
        if not self.n_rows:
            raise ValueError(f"No row has a value in {self.name!r}.")
        if not self.classes and len(self._values) > max(MOST_CLASSES, min(self.n_rows / 2, TOO_MANY - 1)):
            raise ValueError(self._refusal("different values ", "too many for classes"))

    def _refusal(self, what: str, verdict: str) -> str:
        return (
            f"Column {self.name!r} holds {len(self._values)} {what}in {self.n_rows} rows, {verdict}: choose another "
            "target, cut it into a few ranges, or say that it holds classes (--classes, classes=True)."
        )

    def labels(self, values: "pd.Series") -> NDArray[Any]:
        """Return classes as labels; numbers with fractions become text, since scikit-learn takes no others."""
        if self._fractions:
            return np.array([spelled(value) for value in values], dtype=object)
        return np.asarray(values.astype("int64") if self._floats else values.infer_objects())

    @property
    def notes(self) -> list[str]:
        """What a user should know."""
        notes = [f"{self.n_missing} rows have no value in {self.name!r}: they are left out."] * bool(self.n_missing)
        if len(self._values) > MANY_CLASSES:
            notes.append(f"{self.name!r} has {len(self._values)} classes: {COST_OF_CLASSES}")
        return notes
