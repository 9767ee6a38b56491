"""Tables in memory, from pandas, polars or arrays, as pandas frames with text for names.

Easy to get wrong: a frame may have numbers for names, and the same name twice. Names are text here, and each is one.
"""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from scipy.sparse import issparse
from sklearn.utils.validation import check_array

from ..knowledge.names import did_you_mean

if TYPE_CHECKING:
    import pandas as pd


def as_frame(X: Any) -> tuple["pd.DataFrame", bool]:
    """Return a table as a pandas frame with text for names, and whether it had names."""
    import pandas as pd

    if issparse(X):
        raise TypeError(
            "X is a sparse matrix, and raw columns are dense: give X.toarray(), or a DataFrame of the columns that you "
            "need."
        )
    if isinstance(X, pd.DataFrame):
        frame = _dense(X).set_axis([str(name) for name in X.columns], axis=1)
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


def _dense(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame whose columns are dense."""
    import pandas as pd

    types = {name: dtype.subtype for name, dtype in frame.dtypes.items() if isinstance(dtype, pd.SparseDtype)}
    return frame.astype(types) if types else frame


def _from_polars(values: Any) -> Any:
    """Return a polars column as an array or a list of Python values; both without pyarrow."""
    return values.to_numpy() if values.dtype.is_numeric() else values.to_list()


def check_lists(columns: Sequence[str], **lists: Sequence[str]) -> None:
    """Check that each list names some of these columns, and that no column is called categorical and numeric."""
    for parameter, names in lists.items():
        if isinstance(names, str):
            raise ValueError(f"{parameter}={names!r} must be a list of columns: use [{names!r}].")
        unknown = [name for name in names if str(name) not in columns]
        if unknown:
            named = listed(unknown, near=columns)
            raise ValueError(f"{parameter} names {named}, which X does not have.")
    both = [name for name in lists["categorical"] if name in lists["numeric"]]
    if both:
        raise ValueError(f"categorical and numeric both name {listed(both)}: choose one.")


def listed(names: Sequence[Any], near: Iterable[Any] = ()) -> str:
    """Name columns for a message, ten at most; each with those of `near` that may be meant."""
    known = list(near)
    shown = ", ".join(f"{str(name)!r}{did_you_mean(name, known)}" for name in names[:10])
    return f"column{'s' * (len(names) > 1)} {shown}{' and more' * (len(names) > 10)}"
