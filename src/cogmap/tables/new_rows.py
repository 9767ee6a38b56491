"""New rows of a raw table against the columns of `fit`: columns that are absent or unknown, values that are new.

Easy to get wrong: a column that has no concept may be absent, and a new value is no error. It counts as "other", or as
none of the known values, which a warning says, since "Male" for "male" is most often a mistake.
"""

import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..errors import UnseenValueWarning
from ..knowledge.names import did_you_mean
from .columns import Column, shortened
from .frames import listed

if TYPE_CHECKING:
    import pandas as pd

MOST_VALUES, MOST_COLUMNS = 3, 10
"""Most new values of one column that a warning names, and most columns."""


def matched(frame: "pd.DataFrame", named: bool, columns: Sequence[Column], estimator: str) -> "pd.DataFrame":
    """Return new rows under the names of the columns; say which differ, where the table had names."""
    if not named:
        if frame.shape[1] != len(columns):
            raise ValueError(
                f"X has {frame.shape[1]} features, but {estimator} is expecting {len(columns)} features as input: give "
                "the columns that it was fitted on."
            )
        return frame.set_axis([column.name for column in columns], axis=1)
    absent, unexpected = differing(frame.columns, columns)
    if not absent and not unexpected:
        return frame
    lacking = listed(absent, near=unexpected)
    problems = [f"lacks {lacking}"] * bool(absent) + [f"has unexpected {listed(unexpected)}"] * bool(unexpected)
    raise ValueError(f"X {' and '.join(problems)}: give the columns that the model was fitted on, by name.")


def differing(names: Iterable[Any], columns: Sequence[Column]) -> tuple[list[str], list[str]]:
    """Return which columns are needed but not among `names`, and which names no column has."""
    given, known = [str(name) for name in names], {column.name for column in columns}
    absent = [column.name for column in columns if column.needed and column.name not in set(given)]
    return absent, [name for name in given if name not in known]


def warn_of_unseen(frame: "pd.DataFrame", columns: Sequence[Column]) -> None:
    """Warn once of all values that no training row had."""
    unseen = UnseenValues(columns)
    unseen.add(frame)
    unseen.warn()


class UnseenValues:
    """Values that no training row had, and how many rows have each; rows may be looked at some at a time."""

    def __init__(self, columns: Sequence[Column]) -> None:
        self.used = [column for column in columns if column.needed]
        self.counts: dict[str, Counter[str]] = {column.name: Counter() for column in self.used}

    def add(self, frame: "pd.DataFrame") -> None:
        """Look at rows."""
        for column in self.used:
            self.counts[column.name].update(column.unseen(frame[column.name]))

    def warn(self) -> None:
        """Warn of all of them, if there are any."""
        unseen = {name: dict(counts) for name, counts in self.counts.items() if counts}
        if not unseen:
            return
        known = {column.name: column.categories for column in self.used}
        parts = [_named(name, counts, known[name]) for name, counts in list(unseen.items())[:MOST_COLUMNS]]
        parts += [f"{len(unseen) - MOST_COLUMNS} more columns"] * (len(unseen) > MOST_COLUMNS)
        grouped = any(column.other for column in self.used if column.name in unseen)
        counted = "each counts as none of the known values"
        counted += ", or as 'other' where the column has that concept" * grouped
        message = f"Values that fit did not see: {'; '.join(parts)}: {counted}."
        warnings.warn(UnseenValueWarning(message, unseen), stacklevel=3)


def _named(name: str, unseen: dict[str, int], known: Sequence[str]) -> str:
    """Name the most frequent new values of a column."""
    most = sorted(unseen.items(), key=lambda item: -item[1])
    shown = [
        f"{shortened(value)!r} in {count} row{'s' * (count != 1)}{did_you_mean(value, known)}"
        for value, count in most[:MOST_VALUES]
    ]
    shown += [f"{len(most) - MOST_VALUES} more"] * (len(most) > MOST_VALUES)
    return f"column {name!r} has {', '.join(shown)}"
