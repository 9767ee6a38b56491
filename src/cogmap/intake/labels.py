"""Class labels from users: complete, of one kind, and so that they can be sorted; the one place that checks them.

Easy to get wrong: numpy turns a list of text and numbers, or of text and a missing value, into text in silence: NaN
would be a class of that name. So lists are looked at before they become arrays.
"""

from collections.abc import Iterable
from numbers import Number
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite
from sklearn.utils.validation import column_or_1d

MISSING = ("NoneType", "NAType", "NaTType")
"""Types whose values are missing: of Python and of pandas."""

MANY_CLASSES = 100
"""Of more classes than this, a fit warns."""

COST_OF_CLASSES = "time and memory of a fit grow with their number (10,000 rows of 1,000 classes: 25 s and 3 GB)."


def checked_labels(y: Any, *, before: int = 0) -> NDArray[Any]:
    """Return class labels as an array of one dimension.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels.
    before : int, default=0
        Number of rows before these, for messages.

    Returns
    -------
    array of shape (n,)
        Numbers, true and false, or text (as objects).

    Raises
    ------
    ValueError
        If a label is missing, or labels are of several kinds.
    """
    given = np.array(y, dtype=object) if isinstance(y, (list, tuple)) else y
    labels: NDArray[Any] = column_or_1d(given, warn=True)
    if labels.dtype.kind == "T":
        labels = labels.astype(object)
    if labels.dtype.kind != "O":
        assert_all_finite(labels, input_name="y")
        return labels
    values = labels.tolist()
    _check_complete(values, before)
    kinds = kinds_of(labels)
    check_kinds(kinds)
    if "text" in kinds:
        return labels
    plain = np.array(values)
    assert_all_finite(plain, input_name="y")
    return plain


def check_kinds(kinds: dict[str, Any]) -> None:
    """Raise an error where there are labels of several kinds, each with an example, or of one that has no order."""
    if len(kinds) > 1:
        listed = " and ".join(f"{kind} ({value!r})" for kind, value in sorted(kinds.items()))
        raise ValueError(f"y mixes {listed}: give all classes one type, for example all as text.")
    for kind, value in kinds.items():
        try:
            value < value  # noqa: B015 # whether the type has an order is all that is asked
        except TypeError:
            raise ValueError(
                f"y holds {kind} ({value!r}), which have no order: give classes as numbers or text."
            ) from None


def kinds_of(labels: NDArray[Any]) -> dict[str, Any]:
    """Return the kinds of checked labels, with an example each."""
    if labels.dtype.kind == "O":
        return {_kind(type(value)): value for value in reversed(labels.tolist())}
    return {_kind(labels.dtype.type): labels[0].item()} if len(labels) else {}


def _kind(of: type) -> str:
    """Name what a label is."""
    if issubclass(of, (str, np.str_)):
        return "text"
    if issubclass(of, (bool, np.bool_)):
        return "true and false"
    return "numbers" if issubclass(of, (Number, np.number)) else f"values of type {of.__name__}"


def _check_complete(values: Iterable[Any], before: int) -> None:
    missing = [row for row, value in enumerate(values) if type(value).__name__ in MISSING or _is_nan(value)]
    if missing:
        raise ValueError(
            f"y contains NaN or None: the class is missing in {len(missing)} row{'s' * (len(missing) != 1)}, the first "
            f"is row {before + missing[0]}: drop such rows."
        )


def _is_nan(value: Any) -> bool:
    return isinstance(value, (Number, np.number)) and bool(value != value)
