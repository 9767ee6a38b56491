"""Input from users: what is wrong with it, in one sentence that names the column and the way out."""

from importlib import import_module
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.validation import _get_feature_names, validate_data

from ..core.sums.space import DeviceArray, Space
from ..core.types import Array
from .arrays import on_host
from .memory import in_words


def checked_rows(estimator: Any, X: Any, *, reset: bool) -> Array:
    """Return X as finite float64 rows whose columns are those the estimator was fitted on."""
    if not reset and _as_they_should_be(estimator, X):
        return cast(Array, X)
    X = on_host(X)
    if issparse(X):
        raise TypeError(sparse_sentence(X))
    try:
        rows: Array = validate_data(estimator, X, reset=reset, dtype=np.float64, ensure_all_finite=False)
    except ValueError as error:
        if "could not convert" in str(error):
            raise ValueError(_text_sentence(X)) from error
        raise
    if not np.isfinite(rows).all():
        raise ValueError(not_finite_sentence(rows, getattr(estimator, "feature_names_in_", None)))
    return rows


def _as_they_should_be(estimator: Any, X: Any) -> bool:
    """Say whether there is nothing to find: for one row, scikit-learn looks longer than a network predicts."""
    return (
        type(X) is np.ndarray
        and X.dtype == np.float64
        and X.ndim == 2
        and len(X) > 0
        and X.shape[1] == estimator.n_features_in_
        and not hasattr(estimator, "feature_names_in_")
        and bool(np.isfinite(X).all())
    )


def feature_names(estimator: Any) -> list[str]:
    """Return the names of the features that an estimator was given: x0, x1, … where they had none."""
    names = getattr(estimator, "feature_names_in_", None)
    return [f"x{j}" for j in range(estimator.n_features_in_)] if names is None else [str(name) for name in names]


def checked_array(estimator: Any, space: Space, X: DeviceArray, *, reset: bool) -> DeviceArray:
    """Return X where it is, if it is a table of finite numbers whose columns are those the estimator was fitted on."""
    xp = space.xp
    X = X.detach() if space.library == "torch" else X
    if X.ndim != 2 or 0 in X.shape:
        raise ValueError(f"X must be a table with one row and one column at least; its shape is {tuple(X.shape)}.")
    if not xp.isdtype(X.dtype, ("bool", "integral", "real floating")):
        raise ValueError(f"X holds values of type {X.dtype}: give real numbers.")
    try:
        space.zeros(1)
    except (TypeError, ValueError) as error:
        raise ValueError(
            f"{space.library} has no float64 on {space.device}, and float32 cannot hold what late iterations add: move "
            "the arrays to the CPU."
        ) from error
    validate_data(estimator, X, reset=reset, skip_check_array=True)
    X = space.double(X) if xp.isdtype(X.dtype, "bool") else X
    if xp.isdtype(X.dtype, "real floating") and not bool(xp.all(xp.isfinite(X))):
        raise ValueError(not_finite_sentence(space.host(X), None))
    return X


LEAST_WEIGHT, MOST_WEIGHT = 1e-30, 1e30
"""Range of a weight that is not 0: sums of squares must neither vanish nor overflow."""


def check_weights(weight: Array, before: int = 0) -> None:
    """Refuse weights that are not 0 and that arithmetic cannot tell from 0 or infinity; so many rows came `before`."""
    sound = (weight == 0) | ((weight >= LEAST_WEIGHT) & (weight <= MOST_WEIGHT))
    if not sound.all():
        row = int(np.flatnonzero(~sound)[0])
        raise ValueError(
            f"sample_weight is {weight[row]:g} in row {before + row}: weights count rows, and must be 0, or from "
            f"{LEAST_WEIGHT:g} to {MOST_WEIGHT:g}."
        )


def check_span(low: Array, high: Array, names: NDArray[Any] | None) -> None:
    """Raise an error where a column spans more than a number can hold."""
    with np.errstate(over="ignore"):
        wide = np.flatnonzero(~np.isfinite(high - low))
    if len(wide):
        j = wide[0]
        raise ValueError(
            f"X goes from {low[j]:g} to {high[j]:g} in {column(j, names)}, more than a number can hold: rescale it."
        )


def column(index: int, names: NDArray[Any] | None) -> str:
    """Name a column for a message."""
    return f"column {index}" if names is None else f"column {str(names[index])!r}"


def module(name: str, extra: str) -> Any:
    """Import an optional library, or name the extra that brings it."""
    try:
        return import_module(name)
    except ImportError as error:
        raise ImportError(f'This needs {name}: pip install "cogmap[{extra}]".') from error


def sparse_sentence(X: Any) -> str:
    """Say what to do with a sparse matrix."""
    n_rows, n_columns = X.shape
    return (
        f"X is a sparse matrix of {n_rows} rows and {n_columns} columns, and every concept of a network has a value in "
        f"every row: give X.toarray(), which takes {in_words(8 * n_rows * n_columns)}, or fewer columns."
    )


def _text_sentence(X: Any) -> str:
    names = _get_feature_names(X)
    table = np.asarray(X, dtype=object)
    for index in range(table.shape[1]):
        for value in table[:, index]:
            try:
                float(value)
            except ValueError:
                return (
                    f"X holds text in {column(index, names)} ({str(value)!r}): fit a cogmap.TabularClassifier, which "
                    "takes text as it is, or encode it, for example with sklearn.preprocessing.OneHotEncoder."
                )
    raise AssertionError("unreachable: some value could not be converted")


def not_finite_sentence(rows: Array, names: NDArray[Any] | None, before: int = 0) -> str:
    """Say where the first value is that is no finite number; so many rows came `before` these."""
    row, index = np.argwhere(~np.isfinite(rows))[0]
    if np.isnan(rows[row, index]):
        return (
            f"X contains NaN in {column(index, names)} ({np.isnan(rows[:, index]).sum()} rows, the first is row "
            f"{before + row})"
            ": fit a cogmap.TabularClassifier, which takes missing values as they are, or fill them, for example with "
            "sklearn.impute.SimpleImputer."
        )
    return (
        f"X contains infinity (inf) in {column(index, names)}, row {before + row}: replace it by a finite value or "
        "drop the row."
    )
