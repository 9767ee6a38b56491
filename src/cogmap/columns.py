"""What the columns of a raw table mean, and how each becomes numbers that a network takes.

A number stays one concept. A category becomes one concept for each of its values, "colour = red", 1 where it holds; of
two values the rarer one only, since the other follows from it. True and false are 1 and 0. A missing value becomes the
median or the most frequent value, and 1 in a concept "age is missing" where that was frequent. The description of a
column is plain data, so that a model file can hold it.

Easy to get wrong: the same value has several spellings. A column of 1, 2 and 3 is read as 1.0, 2.0 and 3.0 once a value
is missing, and as text once one is not a number: categories are compared as text, and whole numbers lose their ".0".
"""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from .core.activation import Array

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["number", "boolean", "category", "constant", "dropped"]
KINDS: tuple[Kind, ...] = get_args(Kind)
Declared = Literal["number", "category", "dropped"] | None

FREQUENT = 0.01
"""Share of the rows from which on missing values have a concept of their own: a rarer one has next to no influence."""
ENOUGH_ROWS = 20
"""Fewer different values than this are not suspicious: any short list may hold each value once."""
MOSTLY = 0.5
"""A text column is no category if more than this share of its values differ, or if fewer are among those kept."""
ALMOST = 0.1
"""A text column was meant as numbers if fewer than this share of its different values are none."""
OTHER = "other"
DATE = re.compile(r"\s*(\d{4}[-/.]\d{1,2}[-/.]\d{1,2}|\d{1,2}[-/.]\d{1,2}[-/.]\d{2,4})([ T]\d{1,2}:\d{2}.*)?\s*")


@dataclass(frozen=True)
class Column:
    """What one column of a table means.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "boolean", "category", "constant", "dropped"}
        What it holds; "constant" is one value, or none; "dropped" is not looked at.
    fill : float, str or None
        What a missing value becomes: the median of numbers, the most frequent of other values (1 and 0 for true and
        false). None where all values were missing.
    categories : tuple of str
        The values of a category that are known by name.
    other : bool
        Whether all other values of a category share the concept "… = other"; without it they are 0 in all concepts.
    missing : bool
        Whether a missing value has a concept.
    """

    name: str
    kind: Kind
    fill: float | str | None = None
    categories: tuple[str, ...] = ()
    other: bool = False
    missing: bool = False

    @property
    def shown(self) -> tuple[str, ...]:
        """The categories that have a concept: of two, the rarer one."""
        if len(self.categories) == 2 and not self.other:
            return tuple(c for c in self.categories if c != self.fill)
        return self.categories

    @property
    def concepts(self) -> tuple[str, ...]:
        """Names of the encoded columns, in order."""
        names: tuple[str, ...] = (self.name,) if self.kind in ("number", "boolean") else ()
        names += tuple(f"{self.name} = {category}" for category in self.shown + (OTHER,) * self.other)
        return names + (f"{self.name} is missing",) * self.missing

    @property
    def needed(self) -> bool:
        """Whether the column has any concept."""
        return bool(self.concepts)

    @property
    def note(self) -> str:
        """What a user should know of the column; empty for most."""
        if self.kind == "constant":
            found = "all its values are missing" if self.fill is None else f"its only value is {self.fill!r}"
            used = "only whether it is missing is used" if self.missing else "it is not used"
            return f"{found}: {used}"
        if self.other:
            return f"its rarer values are the concept '{self.name} = {OTHER}'"
        return ""

    def encode(self, values: "pd.Series") -> Array:
        """Return the encoded columns of a column's values, shape (n, number of concepts)."""
        absent = values.isna().to_numpy(dtype=bool)
        parts: list[Array] = []
        if self.kind in ("number", "boolean"):
            numbers = as_numbers(values, self.name)
            parts.append(np.where(absent, float(self.fill or 0), numbers)[:, None])
        elif self.kind == "category":
            parts.append(self._indicators(as_text(values, self.name, fill=str(self.fill))))
        if self.missing:
            parts.append(absent.astype(np.float64)[:, None])
        return np.hstack(parts) if parts else np.empty((len(values), 0))

    def _indicators(self, text: NDArray[Any]) -> Array:
        import pandas as pd

        known = pd.Index(self.categories, dtype=object).get_indexer(pd.Index(text, dtype=object))
        position = {category: k for k, category in enumerate(self.shown)}
        unknown = len(self.shown) if self.other else -1
        target = np.array([position.get(category, -1) for category in self.categories] + [unknown])[known]
        return (target[:, None] == np.arange(len(self.shown) + self.other)).astype(np.float64)


def describe(
    values: "pd.Series",
    name: str,
    weight: Array,
    *,
    declared: Declared,
    max_categories: int,
) -> Column:
    """Learn what a column means from its values, each counted `weight` times.

    Parameters
    ----------
    values : Series of shape (n,)
        The column.
    name : str
        Its name.
    weight : array of shape (n,)
        How often each value counts; positive.
    declared : {"number", "category", "dropped"} or None
        What the user says of it; then nothing about it is suspicious.
    max_categories : int
        Most concepts that a category may have, those of missing values aside; rarer values share "… = other".
    """
    if declared == "dropped":
        return Column(name, "dropped")
    absent = values.isna().to_numpy(dtype=bool)
    missing = bool(absent.any() and weight[absent].sum() >= FREQUENT * weight.sum())
    present, weight = values[~absent], weight[~absent]
    if len(present) == 0:
        return Column(name, "constant")
    kind = declared or kind_of(present, name)
    if kind == "category":
        return _category(present, name, weight, missing, declared, max_categories)
    numbers = as_numbers(present, name)
    if (numbers == numbers[0]).all():
        return Column(name, "constant", fill=float(numbers[0]), missing=missing)
    if kind == "boolean":
        return Column(name, "boolean", fill=float(weight @ (2 * numbers - 1) > 0), missing=missing)
    if declared is None:
        _refuse_sequence(numbers, name)
    return Column(name, "number", fill=weighted_median(numbers, weight), missing=missing)


def kind_of(present: "pd.Series", name: str) -> Kind:
    """Return what a column holds, by the types of its values."""
    from pandas.api import types

    if types.is_bool_dtype(present):
        return "boolean"
    if types.is_complex_dtype(present):
        raise ValueError(f"Column {name!r} holds complex numbers: give their real and imaginary parts as columns.")
    if types.is_numeric_dtype(present):
        return "number"
    inferred = types.infer_dtype(present, skipna=True)
    if inferred == "boolean":
        return "boolean"
    if inferred in ("integer", "floating", "mixed-integer-float", "decimal"):
        return "number"
    if inferred in ("datetime64", "datetime", "date", "timedelta64", "timedelta", "time", "period", "interval"):
        raise ValueError(_date_sentence(name))
    return "category"


def _category(
    present: "pd.Series", name: str, weight: Array, missing: bool, declared: str | None, max_categories: int
) -> Column:
    text, codes = np.unique(as_text(present, name).astype(str), return_inverse=True)
    mass = np.bincount(codes, weight).astype(np.float64)
    listed = declared is not None or hasattr(present, "cat")
    return category_column(
        name, text.tolist(), mass, len(codes), missing=missing, listed=listed, max_categories=max_categories
    )


def category_column(
    name: str, text: list[str], mass: Array, n_values: int, *, missing: bool, listed: bool, max_categories: int
) -> Column:
    """Return the column of a category.

    Parameters
    ----------
    name : str
        Its name.
    text : list of str
        Its different values in increasing order.
    mass : array of shape (len(text),)
        How often each of them counts.
    n_values : int
        Number of rows that have a value.
    missing : bool
        Whether a missing value has a concept.
    listed : bool
        Whether it is known to be a category; then nothing about it is suspicious.
    max_categories : int
        As for `describe`.
    """
    share = mass / mass.sum()
    order = np.argsort(-share, kind="stable")
    fill = text[order[0]]
    if len(text) == 1:
        return Column(name, "constant", fill=fill, missing=missing)
    if len(text) <= max_categories:
        kept = order
    else:
        kept = np.array([k for k in order[: max_categories - 1] if text[k] != OTHER], dtype=np.intp)
    if not listed:
        _refuse_text(text, n_values, float(share[kept].sum()), name)
    categories = tuple(sorted(text[k] for k in kept))
    return Column(name, "category", fill, categories, other=len(kept) < len(text), missing=missing)


def _refuse_text(text: list[str], n_values: int, kept: float, name: str) -> None:
    """Raise for values that are dates, almost numbers, identifiers or free text."""
    if len(text) < ENOUGH_ROWS:
        return
    odd = [value for value in text if not _is_number(value)]
    if len(odd) < ALMOST * len(text):
        more = f" and {len(odd) - 1} more such values" if len(odd) > 1 else ""
        raise ValueError(
            f"Column {name!r} holds numbers, but also {odd[0]!r}{more}: leave such cells empty, or list the column as "
            "categorical."
        )
    if all(DATE.fullmatch(value) for value in text[:: max(1, len(text) // 100)]):
        raise ValueError(_date_sentence(name))
    way_out = "drop it, or list it as categorical."
    if len(text) == n_values:
        raise ValueError(f"Column {name!r} looks like an identifier, all its {n_values} values differ: {way_out}")
    if len(text) > MOSTLY * n_values or kept < MOSTLY:
        raise ValueError(
            f"Column {name!r} looks like free text, it has {len(text)} different values in {n_values} rows (one is "
            f"{_shortened(text[0])!r}): {way_out}"
        )


def _refuse_sequence(numbers: Array, name: str) -> None:
    """Raise for whole numbers that are all different and almost without gaps: row numbers rather than a quantity."""
    low, high = float(numbers.min()), float(numbers.max())
    if not may_count(low, high, len(numbers)) or (numbers != np.round(numbers)).any():
        return
    if len(set(numbers)) == len(numbers):
        raise ValueError(sequence_sentence(name, low, high))


def may_count(low: float, high: float, n: int) -> bool:
    """Say whether n different whole numbers between these would almost be without gaps, and enough to be suspicious."""
    return n >= ENOUGH_ROWS and high - low < 2 * n


def sequence_sentence(name: str, low: float, high: float) -> str:
    """Say that a column numbers the rows."""
    return (
        f"Column {name!r} looks like an identifier, it numbers the rows from {low:.0f} to {high:.0f}: drop it, or list "
        "it as numeric."
    )


def _date_sentence(name: str) -> str:
    return (
        f"Column {name!r} holds dates or times: replace it by numbers that mean the same for new rows (age in days, "
        "month, weekday), or drop it."
    )


def _shortened(text: str) -> str:
    return text if len(text) <= 40 else text[:37] + "…"


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def as_numbers(values: "pd.Series", name: str, before: int = 0) -> Array:
    """Return values as floats, NaN where missing; name the first that is no number, `before` of which came before."""
    import pandas as pd

    try:
        return pd.to_numeric(values).to_numpy(dtype=np.float64, na_value=np.nan)
    except (ValueError, TypeError):
        for row, value in enumerate(values[values.notna()]):
            try:
                float(value)
            except (ValueError, TypeError):
                raise ValueError(
                    f"Column {name!r} holds {_shortened(str(value))!r} (value {before + row + 1}) where a number is "
                    "expected: correct it, or leave the cell empty."
                ) from None
        # Some numbers are of types that pandas does not convert, such as Decimal.
        return np.array([np.nan if pd.isna(value) else float(value) for value in values], dtype=np.float64)


def as_text(values: "pd.Series", name: str, fill: str = "") -> NDArray[Any]:
    """Return values as text, one spelling for each value; `fill` where missing."""
    import pandas as pd

    try:
        codes, different = pd.factorize(values)
    except TypeError:
        raise ValueError(
            f"Column {name!r} holds lists or other nested values: give each part its own column."
        ) from None
    texts = np.array([spelled(value) for value in different] + [fill], dtype=object)
    return texts[codes]


def spelled(value: Any) -> str:
    """Return a value as text, the same for 1, 1.0 and "1"."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def weighted_median(numbers: Array, weight: Array) -> float:
    """Return the median of numbers that count `weight` times each: where half of the weight lies on either side."""
    order = np.argsort(numbers, kind="stable")
    total = np.cumsum(weight[order])
    low = numbers[order[np.searchsorted(total, total[-1] / 2, side="left")]]
    high = numbers[order[min(np.searchsorted(total, total[-1] / 2, side="right"), len(order) - 1)]]
    return midpoint(float(low), float(high))


def midpoint(low: float, high: float) -> float:
    """Return the mean of two numbers, however large they are."""
    middle = (low + high) / 2
    return middle if math.isfinite(middle) else low / 2 + high / 2


def column_sums(encoded: Array, columns: Sequence[Column], axis: int = 0) -> Array:
    """Add up what belongs to the concepts of each column; `axis` has one entry for each encoded column."""
    values = np.moveaxis(np.asarray(encoded, dtype=np.float64), axis, 0)
    total = np.zeros((len(columns), *values.shape[1:]))
    np.add.at(total, np.repeat(np.arange(len(columns)), [len(column.concepts) for column in columns]), values)
    return np.moveaxis(total, 0, axis)


def unique_concepts(columns: Sequence[Column]) -> list[str]:
    """Return the names of all encoded columns; raise where two are the same."""
    names = [name for column in columns for name in column.concepts]
    twice = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
    if twice:
        raise ValueError(f"Two columns give a concept called {min(twice)!r}: rename one of them.")
    return names
