"""The column of the classes: checked, and as labels. Whole numbers lose the fraction that missing values gave them."""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import pandas as pd

MOST_CLASSES, TOO_MANY = 20, 100_000
"""A target may have so many different values whatever the number of rows, or half as many as there are rows.

Of the second number and more, no more are counted.
"""


class Target:
    """A column of classes that is seen some rows at a time."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.n_rows = 0
        self.n_missing = 0
        self._values: set[Any] = set()
        self._floats = self._fractions = False

    def add(self, values: "pd.Series", n_missing: int) -> None:
        """Look at classes; `n_missing` rows beside them have none."""
        self.n_rows += len(values)
        self.n_missing += n_missing
        if values.dtype.kind == "f" and len(values):
            self._floats = True
            self._fractions = self._fractions or bool((values != values.round()).any())
        if len(self._values) < TOO_MANY:
            self._values.update(values.unique())

    def check(self) -> None:
        """Raise where the column does not hold classes."""
        if not self.n_rows:
            raise ValueError(f"No row has a value in {self.name!r}.")
        n = len(self._values)
        if self._fractions or n > max(MOST_CLASSES, min(self.n_rows / 2, TOO_MANY - 1)):
            what = "numbers with fractions" if self._fractions else "too many different values"
            raise ValueError(
                f"Column {self.name!r} holds {what} ({n} in {self.n_rows} rows): choose a column of classes."
            )

    def labels(self, values: "pd.Series") -> NDArray[Any]:
        """Return classes as labels."""
        return np.asarray(values.astype("int64") if self._floats else values.infer_objects())

    @property
    def notes(self) -> list[str]:
        """What a user should know."""
        return [f"{self.n_missing} rows have no value in {self.name!r}: they are left out."] * bool(self.n_missing)
