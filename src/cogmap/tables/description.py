"""Learn what a column of a raw table means from its values: its kind, how its text is read, what fills missing values.

What is no feature is refused: identifiers, free text, numbers or dates with a few words among them, nested values.

Easy to get wrong: a part of the rows may show another thing than all of them. A column that is known from the whole
table keeps its kind, and nothing about it is suspicious in a part.
"""

import math
import re
from collections.abc import Iterable, Sequence
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from ..core.types import Array
from ..errors import UnusableColumnError
from ..intake.checks import not_finite_sentence
from .amounts import may_be_amount
from .columns import OTHER, Column, as_numbers, as_seconds, as_text, shortened
from .dates import EARLIEST, LATEST, date_parts, in_words, may_be_date, parts_of
from .reading import ENOUGH_ROWS, Declared, Reading, read_values
from .unusable import attempted, usable

if TYPE_CHECKING:
    import pandas as pd

FREQUENT = 0.01
"""Share of the rows from which on missing values have a concept of their own: a rarer one has next to no influence."""
MOSTLY = 0.5
"""A text column is no category if more than this share of its values differ, or if fewer are among those kept."""
ALMOST = 0.1
"""A text column was meant as numbers if fewer than this share of its different values are none."""
MOST_RARE = 1_000
"""Most values of a category that are kept although they share the concept "… = other"."""
UNNAMED = re.compile(r"(Unnamed: \d+(_level_\d+)?|x0|index|level_0|\s*)", re.IGNORECASE)
"""Names that a table's index has where it was written as a column."""


def describe_table(
    frame: "pd.DataFrame",
    weight: Array,
    declared: Sequence[tuple[str, Declared]],
    *,
    max_categories: int,
    drop_unusable: bool,
    known: Iterable[Column] = (),
) -> tuple[Column, ...]:
    """Learn what all columns of a table mean; raise one error for all that cannot be used, or drop them.

    Parameters
    ----------
    frame : DataFrame of shape (n, n_columns)
        The table.
    weight : array of shape (n,)
        How often each row counts.
    declared : sequence of (name, declared)
        The columns, and what the user says of them.
    max_categories : int
        As for `describe`.
    drop_unusable : bool
        Whether columns that cannot be used are dropped rather than refused.
    known : iterable of Column
        What columns are in a table of which these are some rows.
    """
    by_name = {column.name: column for column in known}
    found = (
        attempted(
            partial(
                describe,
                frame[name],
                name,
                weight,
                declared=said,
                max_categories=max_categories,
                known=by_name.get(name),
            )
        )
        for name, said in declared
    )
    return usable(found, drop=drop_unusable, declared=[name for name, said in declared if said is not None])


def describe(
    values: "pd.Series",
    name: str,
    weight: Array,
    *,
    declared: Declared,
    max_categories: int,
    known: Column | None = None,
) -> Column:
    """Learn what a column means from its values, each counted `weight` times.

    Parameters
    ----------
    values : Series of shape (n,)
        The column.
    name : str
        Its name.
    weight : array of shape (n,)
        How often each value counts.
    declared : {"number", "category", "dropped"} or None
        What the user says of it; then nothing about it is suspicious.
    max_categories : int
        Most concepts that a category may have, those of missing values aside; rarer values share "… = other".
    known : Column, default=None
        What the column is in a table of which these are some rows; then its kind and format are known.
    """
    if known is not None and known.kind == "dropped":
        return known
    if declared == "dropped":
        return Column(name, "dropped")
    if values.dtype.kind == "f":
        refuse_infinity(values.to_numpy(dtype=np.float64, na_value=np.nan), name)
    values, weight = values[weight > 0], weight[weight > 0]
    absent = values.isna().to_numpy(dtype=bool)
    missing = bool(absent.any() and weight[absent].sum() >= FREQUENT * weight.sum())
    present, weight = values[~absent], weight[~absent]
    if len(present) == 0:
        return Column(name, "constant")
    reading = known_reading(known) or read_values(present, name, declared)
    if reading.kind == "category":
        return _category(present, name, weight, missing, reading, max_categories)
    if reading.kind == "date":
        return _date(as_seconds(present, name, reading.format), name, weight, missing, reading)
    numbers = as_numbers(present, name, reading.format)
    if (numbers == numbers[0]).all():
        return Column(name, "constant", fill=float(numbers[0]), missing=missing)
    if reading.kind == "boolean":
        return Column(name, "boolean", fill=float(weight @ (2 * numbers - 1) > 0), missing=missing)
    if not reading.trusted:
        _refuse_sequence(numbers, name)
    return number_column(name, weighted_median(numbers, weight), missing, reading)


def known_reading(known: Column | None) -> Reading | None:
    """Return how a column is read that is known from a whole table; None where that says nothing."""
    if known is None or known.kind == "constant":
        return None
    return Reading(known.kind, known.format, known.remark, trusted=True)


def number_column(name: str, median: float, missing: bool, reading: Reading) -> Column:
    """Return the column of numbers that vary."""
    return Column(name, "number", fill=median, missing=missing, format=reading.format, remark=reading.remark)


def date_column(
    name: str, low: float, median: float, missing: bool, reading: Reading, parts: tuple[str, ...]
) -> Column:
    """Return the column of dates that vary; `low` is the first."""
    return Column(
        name,
        "date",
        fill=median,
        missing=missing,
        format=reading.format,
        first=low,
        parts=parts,
        remark=reading.remark,
    )


def refuse_far_dates(name: str, low: float, high: float) -> None:
    """Raise for dates that the calendar does not have."""
    if low < EARLIEST or high > LATEST:
        raise UnusableColumnError(name, "holds dates before the year 1 or after 9999", "leave such cells empty.")


def _date(seconds: Array, name: str, weight: Array, missing: bool, reading: Reading) -> Column:
    low, high = float(seconds.min()), float(seconds.max())
    refuse_far_dates(name, low, high)
    if low == high:
        return Column(name, "constant", fill=in_words(low, reading.format), missing=missing)
    parts = date_parts(seconds, low)
    varying = tuple(part for part in parts_of(reading.format) if (parts[part] != parts[part][0]).any())
    return date_column(name, low, weighted_median(seconds, weight), missing, reading, varying)


def _category(
    present: "pd.Series", name: str, weight: Array, missing: bool, reading: Reading, max_categories: int
) -> Column:
    text, codes = np.unique(as_text(present, name).astype(str), return_inverse=True)
    mass = np.bincount(codes, weight).astype(np.float64)
    return category_column(
        name, text.tolist(), mass, len(codes), missing=missing, listed=reading.trusted, max_categories=max_categories
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
    rare = tuple(sorted(set(text) - set(categories)))
    return Column(
        name,
        "category",
        fill,
        categories,
        other=len(rare) > 0,
        missing=missing,
        rare=rare if len(rare) <= MOST_RARE else (),
    )


def refuse_infinity(numbers: Array, name: str, before: int = 0) -> None:
    """Raise where numbers hold infinity; so many rows came `before` these."""
    if np.isinf(numbers).any():
        found = np.where(np.isnan(numbers), 0.0, numbers)[:, None]
        raise ValueError(not_finite_sentence(found, np.array([name], dtype=object), before))


def _refuse_text(text: list[str], n_values: int, kept: float, name: str) -> None:
    """Raise for values that are almost numbers, almost dates, identifiers or free text."""
    if len(text) < ENOUGH_ROWS:
        return
    for what, may_be in (("numbers", may_be_amount), ("dates", may_be_date)):
        odd = [value for value in text if not may_be(value)]
        if 0 < len(odd) < ALMOST * len(text):
            more = f" and {len(odd) - 1} more such values" if len(odd) > 1 else ""
            reason = f"holds {what}, but also {shortened(odd[0])!r}{more}"
            raise UnusableColumnError(name, reason, "leave such cells empty, or list the column as categorical.")
        if not odd:
            reason = f"holds {what} that are written in several ways, such as {text[0]!r} and {text[-1]!r}"
            raise UnusableColumnError(name, reason, "write them in one way, or list the column as categorical.")
    way_out = "drop it, or list it as categorical."
    if len(text) == n_values:
        raise UnusableColumnError(name, f"looks like an identifier, all its {n_values} values differ", way_out)
    if len(text) > MOSTLY * n_values or kept < MOSTLY:
        reason = f"looks like free text, it has {len(text)} different values in {n_values} rows"
        raise UnusableColumnError(name, f"{reason} (one is {shortened(text[0])!r})", way_out)


def _refuse_sequence(numbers: Array, name: str) -> None:
    """Raise for whole numbers that are all different and almost without gaps: row numbers rather than a quantity."""
    low, high = float(numbers.min()), float(numbers.max())
    if not may_count(low, high, len(numbers)) or (numbers != np.round(numbers)).any():
        return
    if len(set(numbers)) == len(numbers):
        raise sequence_error(name, low, high)


def may_count(low: float, high: float, n: int) -> bool:
    """Say whether n different whole numbers between these would almost be without gaps, and enough to be suspicious."""
    return n >= ENOUGH_ROWS and high - low < 2 * n


def sequence_error(name: str, low: float, high: float) -> UnusableColumnError:
    """Return the error of a column that numbers the rows."""
    rows = f"it numbers the rows from {low:.0f} to {high:.0f}"
    if UNNAMED.fullmatch(name):
        reason = f"looks like the index that pandas writes, {rows}"
        return UnusableColumnError(name, reason, "drop it, or read the file with pandas and index_col=0.")
    return UnusableColumnError(name, f"looks like an identifier, {rows}", "drop it, or list it as numeric.")


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
