"""What one should know about the data: constant, repeated and leaking columns, missing values, repeated rows.

A column leaks if it alone tells the class almost perfectly: a decision tree on it has a cross-validated balanced
accuracy of at least 0.98. Often such a column was filled in after the class was known.

Easy to get wrong: accuracy alone calls every column of a rare class perfect, since the frequent class is right most of
the time; the mean over the classes does not.
"""

from collections import defaultdict
from itertools import combinations
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.tree import DecisionTreeClassifier

from .subject import Subject, spread

if TYPE_CHECKING:
    import pandas as pd

LEAKS = 0.98
"""Balanced accuracy of one column from which on it is suspicious: the best of iris has 0.95, of breast cancer 0.87."""

ROWS, FOLDS = 2000, 5
"""Rows and folds with which one column is judged."""

CLASS = "\x00class"
"""A name that no column has."""

MISSING = 0.05
"""Share of missing values worth a note."""


def notes(subject: Subject) -> list[dict[str, Any]]:
    """Return the notes, the most serious first; each has a kind, the columns, and a sentence."""
    frame = subject.frame[subject.used_columns]
    notes = [*_leaking(frame, subject.codes), *_constant(frame), *_duplicates(frame), *_missing(frame)]
    return notes + _repeated_rows(frame, subject.codes)


def _note(kind: str, columns: list[str], text: str, **numbers: float) -> dict[str, Any]:
    return {"kind": kind, "columns": columns, "text": text, **numbers}


def _constant(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    return [
        _note("constant", [name], "It has the same value in all rows, so it says nothing.")
        for name, values in frame.items()
        if values.nunique(dropna=False) <= 1
    ]


def _missing(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    shares = frame.isna().mean()
    return [
        _note("missing", [name], f"{100 * share:.0f} % of its values are missing.", share=float(share))
        for name, share in shares.sort_values(ascending=False).items()
        if share >= MISSING
    ]


def _duplicates(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Compare columns by the groups of rows that have the same value; the order of first occurrence numbers them."""
    import pandas as pd

    alike: defaultdict[bytes, list[str]] = defaultdict(list)
    for name, values in frame.items():
        groups = pd.factorize(values, use_na_sentinel=False)[0]
        if groups.any():
            alike[groups.tobytes()].append(str(name))
    notes = []
    for names in alike.values():
        for one, other in combinations(names, 2):
            if frame[one].astype(object).equals(frame[other].astype(object)):
                notes.append(_note("duplicate", [one, other], "They hold the same values in all rows: leave one out."))
            elif frame[one].nunique(dropna=False) <= len(frame) / 2:
                text = "Each tells the other exactly, under other names: leave one out."
                notes.append(_note("duplicate", [one, other], text))
    return notes


def _leaking(frame: "pd.DataFrame", codes: Any) -> list[dict[str, Any]]:
    notes = []
    for name in frame:
        accuracy = alone(frame[name], codes)
        if accuracy >= LEAKS:
            text = (
                f"It alone tells the class almost perfectly (balanced accuracy {accuracy:.3f}, cross-validated). Ask "
                "whether it is known before the class is; if it is not, leave it out."
            )
            notes.append(_note("leaking", [name], text, balanced_accuracy=accuracy))
    return notes


def alone(values: "pd.Series", codes: Any) -> float:
    """Return the cross-validated balanced accuracy of a decision tree on one column; 0 where it cannot be had.

    Text is taken by its categories, in order of their names, and a missing value by itself.
    """
    rows = spread(len(codes), ROWS)
    table, target = _numbers(values)[rows, None], codes[rows]
    counts = np.bincount(target)
    folds = min(FOLDS, int(counts[counts > 0].min()))
    if folds < 2 or (counts > 0).sum() < 2:
        return 0.0
    split = StratifiedKFold(folds, shuffle=True, random_state=0)
    predicted = cross_val_predict(DecisionTreeClassifier(random_state=0), table, target, cv=split)
    return float(balanced_accuracy_score(target, predicted))


def _numbers(values: "pd.Series") -> Any:
    """Return a column as numbers; a missing number is NaN, and missing text comes before all other."""
    import pandas as pd

    if pd.api.types.is_numeric_dtype(values):
        return values.to_numpy(dtype=np.float64, na_value=np.nan)
    # Not NaN: scikit-learn before 1.8 does not split it off where there is but one value besides.
    return pd.factorize(values.astype(str).where(values.notna()), sort=True)[0].astype(np.float64)


def _repeated_rows(frame: "pd.DataFrame", codes: Any) -> list[dict[str, Any]]:
    repeated = frame.duplicated(keep=False).to_numpy()
    n_repeated = int(repeated.sum())
    if not n_repeated:
        return []
    own = frame[repeated].assign(**{CLASS: codes[repeated]})
    n_torn = int((own.groupby(list(frame.columns), dropna=False, sort=False)[CLASS].nunique() > 1).sum())
    text = f"{n_repeated} rows have the same values as another row."
    if n_torn:
        text += f" In {n_torn} such group{'s' * (n_torn != 1)} the classes differ, which no model can get right."
    return [_note("repeated rows", [], text, n_rows=n_repeated)]
