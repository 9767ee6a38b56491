"""What a column of a raw table is, given counts and limits of its values; and what is no feature, which is refused.

Identifiers, free text, numbers or dates with a few words among them.

Easy to get wrong: what a user has said is not suspicious. A category that is listed as such may have as many values as
there are rows.
"""

import re

import numpy as np

from ..core.types import Array
from ..errors import UnusableColumnError
from ..intake.checks import not_finite_sentence
from .amounts import may_be_amount
from .columns import OTHER, Column, shortened
from .dates import EARLIEST, LATEST, may_be_date
from .reading import ENOUGH_ROWS

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


def refuse_far_dates(name: str, low: float, high: float) -> None:
    """Raise for dates that the calendar does not have."""
    if low < EARLIEST or high > LATEST:
        raise UnusableColumnError(name, "holds dates before the year 1 or after 9999", "leave such cells empty.")


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
        Most concepts that it may have, those of missing values aside; rarer values share "… = other".
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
        present = np.where(np.isnan(numbers), 0.0, numbers)[:, None]
        raise ValueError(not_finite_sentence(present, np.array([name], dtype=object), before))


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
