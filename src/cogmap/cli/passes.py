"""DATA some rows at a time: a look through the file, then one part after the other.

Memory does not grow with the number of rows. How far a pass is, stderr shows for files of more than one part.

Easy to get wrong: what is said of a table is said once, and of all its parts together: notes, columns that a model does
not know, and values that it did not see.
"""

from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .inputs import known_columns, open_data
from .output import say

if TYPE_CHECKING:
    import pandas as pd

    from ..intake.progress import Meter
    from ..tables.columns import Column
    from ..tables.parts import TableParts


class DataPasses:
    """A file of data; `scan` once, then go over its `parts`."""

    def __init__(self, path: Path, delimiter: str | None, header: bool | None) -> None:
        self.path = path
        self.table: TableParts = open_data(path, delimiter, header)

    @property
    def names(self) -> list[str]:
        """Names of the columns."""
        return self.table.names

    @property
    def cut(self) -> bool:
        """Whether there are several parts; of a CSV file that was not looked through, by its size."""
        from ..tables.limits import part_rows

        return self.table.n_rows > part_rows(len(self.names))

    @cached_property
    def _meter(self) -> "Meter":
        from ..intake.progress import Meter, reporter

        return Meter(reporter(True) if self.cut else lambda _: None)

    def scan(self, last: int | None = None) -> None:
        """Check the file, or its parts up to row `last`; say on stderr what was decided."""
        self.table.scan(self._meter, last=last)
        self._meter.n_rows = self.table.n_rows
        say(*self.table.notes)

    def parts(self) -> "Iterator[pd.DataFrame]":
        """Yield the rows, some at a time."""
        return self._meter.counted((len(part), part) for part in self.table())

    def rows(self, wanted: Sequence[int]) -> "pd.DataFrame":
        """Return some rows by their numbers, in this order; no more of the file is read than what is before them."""
        import pandas as pd

        self.scan(last=max(wanted) if min(wanted) >= 0 else None)
        for row in wanted:
            if not 0 <= row < self.table.n_rows:
                raise ValueError(f"There is no row {row}: {self.path} has the rows 0 to {self.table.n_rows - 1}.")
        chosen, begin = [], 0
        for part in self.table():
            here = sorted({row for row in wanted if begin <= row < begin + len(part)})
            chosen.append(part.iloc[[row - begin for row in here]].set_axis(here, axis=0))
            begin += len(part)
            if begin > max(wanted):
                break
        return pd.concat(chosen).loc[list(wanted)]


class NetworkRows:
    """Parts of a table with columns of these names as the rows that a model's `network` takes."""

    def __init__(self, model: Any, names: list[str]) -> None:
        from ..tables.new_rows import UnseenValues

        self.columns, self.remark = known_columns(model, names)
        self.raw: Sequence[Column] | None = getattr(model, "columns_", None)
        self.network = model if self.raw is None else model.classifier_
        self.unseen = UnseenValues(self.raw or ())

    def __call__(self, part: "pd.DataFrame") -> "pd.DataFrame":
        """Return rows; count the values in them that the model did not see."""
        from ..tables.columns import encoded

        if self.raw is None:
            return part[self.columns]
        self.unseen.add(part)
        return encoded(part, self.raw)
