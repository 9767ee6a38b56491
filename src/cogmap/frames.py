"""Tables in memory, from pandas, polars or arrays, as pandas frames with text for names; and class labels beside them.

Easy to get wrong: a frame may have numbers for names, and the same name twice. Names are text here, and each is one.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils.validation import check_array

if TYPE_CHECKING:
    import pandas as pd


def as_frame(X: Any) -> tuple["pd.DataFrame", bool]:
    """Return a table as a pandas frame with text for names, and whether it had names."""
    import pandas as pd

    if isinstance(X, pd.DataFrame):
        frame = X.set_axis([str(name) for name in X.columns], axis=1)
    elif type(X).__module__.partition(".")[0] == "polars" and hasattr(X, "to_dict"):
        frame = pd.DataFrame({name: _from_polars(values) for name, values in X.to_dict().items()})
    else:
        table = check_array(X, dtype=None, ensure_all_finite=False)
        return pd.DataFrame(table, columns=[f"x{j}" for j in range(table.shape[1])]), False
    twice = frame.columns[frame.columns.duplicated()]
    if len(twice):
        raise ValueError(f"X has more than one column called {twice[0]!r}: rename them.")
    if frame.shape[0] == 0:
        raise ValueError(f"Found array with 0 sample(s) (shape={frame.shape}): X has no rows.")
    return frame, True


def _from_polars(values: Any) -> Any:
    """Return a polars column as an array or a list of Python values; both without pyarrow."""
    return values.to_numpy() if values.dtype.is_numeric() else values.to_list()


def check_lists(frame: "pd.DataFrame", **lists: Sequence[str]) -> None:
    """Check that each list names columns of a frame, and that no column is called categorical and numeric."""
    for parameter, names in lists.items():
        if isinstance(names, str):
            raise ValueError(f"{parameter}={names!r} must be a list of columns: use [{names!r}].")
        unknown = [name for name in names if str(name) not in frame.columns]
        if unknown:
            raise ValueError(f"{parameter} names {listed(unknown)}, which X does not have.")
    both = [name for name in lists["categorical"] if name in lists["numeric"]]
    if both:
        raise ValueError(f"categorical and numeric both name {listed(both)}: choose one.")


def checked_labels(y: Any) -> Any:
    """Return class labels as an array; missing ones are named here, since text hides them from scikit-learn."""
    import pandas as pd

    if y is None:
        return y
    labels = np.asarray(y)
    absent = np.flatnonzero(pd.isna(labels)) if labels.dtype == object else np.empty(0)
    if len(absent):
        raise ValueError(
            f"y contains NaN: the class is missing in {len(absent)} rows, the first is row {absent[0]}: drop them."
        )
    return labels


def listed(names: Sequence[str]) -> str:
    """Name columns for a message, ten at most."""
    shown = ", ".join(repr(str(name)) for name in names[:10]) + (" and more" if len(names) > 10 else "")
    return f"column{'s' * (len(names) > 1)} {shown}"
