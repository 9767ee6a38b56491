"""An explanation as notebooks show it: for each row its class, and the features with the most evidence as bars.

Easy to get wrong: names and values come from the user's data and may hold HTML. `bars` escapes them.
"""

from typing import TYPE_CHECKING

import numpy as np

from .bars import bar, largest, table
from .evidence import by_size
from .text import labels, verdict, written
from .words import odds_words, signed

if TYPE_CHECKING:
    from .explanation import Explanation

MOST_ROWS = 5
"""Rows that are shown; each takes as long as its evidence."""

MOST_FEATURES = 8
"""Features of a row that are shown, those with the most evidence."""


def explained_rows(explanation: "Explanation") -> str:
    """See `Explanation`."""
    shown = [_row(explanation, row) for row in range(min(MOST_ROWS, len(explanation)))]
    more = len(explanation) - len(shown)
    return "".join(shown) + (f"<p>{more} more rows: see features_frame().</p>" if more else "")


def _row(explanation: "Explanation", row: int) -> str:
    label, _ = labels(explanation, row)
    values, start = explanation.reasons(row)
    chosen, rest = by_size(values, MOST_FEATURES)
    names, own = explanation.feature_names, explanation.values[row]
    parts = [(names[j], written(own[j]), float(values[j])) for j in chosen]
    if rest:
        parts.append((f"{len(rest)} further features", "", float(values[rest].sum())))
    compared = "other rows, on average" if explanation.baseline_values is None else "the row to compare with"
    parts.append((compared, "", start))
    lines = [[name, value, signed(adds), odds_words(adds, label)] for name, value, adds in parts]
    total = start + float(values.sum())
    lines.append(["in all", "", signed(total), ""])
    adds = np.array([part[2] for part in parts])
    drawn = [*(bar(value, largest(adds)) for value in adds), ""]
    caption = f"{' '.join(verdict(explanation, row))} Evidence in {explanation.unit(label)}:"
    return table(caption, ["feature", "value", "evidence", "odds"], lines, drawn)
