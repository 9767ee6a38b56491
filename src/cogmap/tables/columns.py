"""What the columns of a raw table mean, and how each becomes numbers that a network takes.

A number stays one concept. A category becomes one concept for each of its values, "colour = red", 1 where it holds; of
two values the rarer one only, since the other follows from it. True and false are 1 and 0. A date becomes those of its
parts that vary, "sold: month". A missing value becomes the median or the most frequent value, and 1 in a concept "age
is missing" where that was frequent. The description of a column is plain data, so that a model file can hold it.

Easy to get wrong: the same value has several spellings. A column of 1, 2 and 3 is read as 1.0, 2.0 and 3.0 once a value
is missing, and as text once one is not a number: categories are compared as text, and whole numbers lose their ".0".
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from ..core.types import Array
from ..errors import UnusableColumnError
from . import amounts, dates

if TYPE_CHECKING:
    import pandas as pd

Kind = Literal["number", "boolean", "category", "date", "constant", "dropped"]
KINDS: tuple[Kind, ...] = get_args(Kind)
OTHER = "other"


@dataclass(frozen=True)
class Column:
    """What one column of a table means.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "boolean", "category", "date", "constant", "dropped"}
        What it holds; "constant" is one value, or none; "dropped" is not looked at.
    fill : float, str or None
        What a missing value becomes: the median of numbers and dates (in seconds since 1970-01-01 UTC), the most
        frequent of other values (1 and 0 for true and false). None where all values were missing.
    categories : tuple of str
        The values of a category that are known by name.
    other : bool
        Whether all other values of a category share the concept "… = other"; without it they are 0 in all concepts.
    missing : bool
        Whether a missing value has a concept.
    format : str
        How text is read: "point" or "comma" is the decimal mark of numbers that were text; one of `dates.FORMATS` for
        dates; empty otherwise.
    first : float or None
        The earliest date, in seconds since 1970-01-01 UTC.
    parts : tuple of str
        The parts of a date that vary, of `dates.PARTS`.
    rare : tuple of str
        The values that share "… = other", unless they are very many.
    remark : str
        What was decided about it that could have been meant otherwise, or why it was dropped.
    """

    name: str
    kind: Kind
    fill: float | str | None = None
    categories: tuple[str, ...] = ()
    other: bool = False
    missing: bool = False
    format: str = ""
    first: float | None = None
    parts: tuple[str, ...] = ()
    rare: tuple[str, ...] = ()
    remark: str = ""

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
        names += tuple(f"{self.name}: {part}" for part in self.parts)
        names += tuple(f"{self.name} = {category}" for category in self.shown + (OTHER,) * self.other)
        return names + (f"{self.name} is missing",) * self.missing

    @property
    def needed(self) -> bool:
        """Whether the column has any concept."""
        return bool(self.concepts)

    @property
    def note(self) -> str:
        """What a user should know of the column; empty for most."""
        if self.kind == "dropped" and self.remark:
            return f"it {self.remark}: it is not used"
        if self.kind == "constant":
            held = "all its values are missing" if self.fill is None else f"its only value is {self.fill!r}"
            used = "only whether it is missing is used" if self.missing else "it is not used"
            return f"{held}: {used}"
        if self.other:
            return f"its rarer values are the concept '{self.name} = {OTHER}'"
        return self.remark

    @property
    def fill_text(self) -> str:
        """What a missing value becomes, for a reader."""
        if not self.needed or self.fill is None:
            return ""
        if self.kind == "boolean":
            return "true" if self.fill else "false"
        if self.kind == "date":
            return dates.in_words(float(self.fill), self.format)
        return f"{self.fill:.4g}" if isinstance(self.fill, float) else str(self.fill)

    def numbers(self, values: "pd.Series", before: int = 0) -> Array:
        """Return the values of numbers, booleans or dates (as seconds) as floats, NaN where missing.

        `before` of the column's values came before these; a message about one of them says so.
        """
        if self.kind == "date":
            return as_seconds(values, self.name, self.format, before)
        return as_numbers(values, self.name, self.format, before)

    def encode(self, values: "pd.Series") -> Array:
        """Return the encoded columns of a column's values, shape (n, number of concepts)."""
        absent = values.isna().to_numpy(dtype=bool)
        parts: list[Array] = []
        if self.kind in ("number", "boolean", "date"):
            numbers = np.where(absent, float(self.fill or 0), self.numbers(values))
            if self.kind == "date":
                of_dates = dates.date_parts(numbers, self.first or 0.0)
                parts.extend(of_dates[part][:, None] for part in self.parts)
            else:
                parts.append(numbers[:, None])
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
        indicators: Array = (target[:, None] == np.arange(len(self.shown) + self.other)).astype(np.float64)
        return indicators

    def unseen(self, values: "pd.Series") -> dict[str, int]:
        """Return the categories that no training row had, and how many rows have each.

        Nothing is known of a column whose rarer values were too many to be kept: they are all "other".
        """
        if self.kind != "category" or (self.other and not self.rare):
            return {}
        codes, different = _factorized(values, self.name)
        known = {*self.categories, *self.rare, *(OTHER,) * self.other}
        counts: Counter[str] = Counter()
        for value, count in zip(different, np.bincount(codes[codes >= 0], minlength=len(different)), strict=True):
            if (text := spelled(value)) not in known:
                counts[text] += int(count)
        return dict(counts)


def as_numbers(values: "pd.Series", name: str, form: str = "", before: int = 0) -> Array:
    """Return values as floats, NaN where missing; name the first that is no number, `before` of which came before.

    Text is read with the decimal mark `form`; durations are days.
    """
    import pandas as pd

    if values.dtype.kind == "m":
        return np.asarray(values / pd.Timedelta(days=1), dtype=np.float64)
    try:
        if form and not pd.api.types.is_numeric_dtype(values):
            raise ValueError
        converted: Array = pd.to_numeric(values).to_numpy(dtype=np.float64, na_value=np.nan)
        return converted
    except (ValueError, TypeError, OverflowError):
        codes, different = _factorized(values, name)
        numbers = [_number(value, form) for value in different]
        _refuse_first(values, name, [number is None for number in numbers], codes, "a number", before)
        return np.array([*numbers, np.nan], dtype=np.float64)[codes]


def as_seconds(values: "pd.Series", name: str, form: str, before: int = 0) -> Array:
    """Return dates as seconds since 1970-01-01 UTC, NaN where missing; name the first that is no date."""
    moments = dates.whole_column(values)
    if moments is not None:
        return moments
    codes, different = _factorized(values, name)
    seconds = [dates.value_seconds(value, form) for value in different]
    what = {"time": "a time", "iso": "a date"}.get(form, f"a date, the {form},")
    _refuse_first(values, name, [second is None for second in seconds], codes, what, before)
    return np.array([*seconds, np.nan], dtype=np.float64)[codes]


def _number(value: Any, form: str) -> float | None:
    """Return one value as a number; None where it is none."""
    import pandas as pd

    if form and isinstance(value, str):
        return amounts.text_amount(value, form)
    if isinstance(value, (pd.Timedelta, np.timedelta64)) or hasattr(value, "total_seconds"):
        return float(pd.Timedelta(value) / pd.Timedelta(days=1))
    try:
        return float(value)
    except (ValueError, TypeError, OverflowError):
        return None


def _factorized(values: "pd.Series", name: str) -> tuple[NDArray[np.intp], NDArray[Any]]:
    """Return the number of each value, -1 where missing, and the different values."""
    import pandas as pd

    try:
        codes, different = pd.factorize(values)
        return codes, np.asarray(different, dtype=object)
    except TypeError:
        reason = "holds lists or other nested values"
        raise UnusableColumnError(name, reason, "give each part its own column.") from None
    except OverflowError:  # pandas before 3 takes such an integer for a float
        reason = "holds an integer of more than 308 digits where a number is expected"
        raise UnusableColumnError(name, reason, "correct it, or leave the cell empty.") from None


def _refuse_first(
    values: "pd.Series", name: str, wrong: list[bool], codes: NDArray[np.intp], what: str, before: int
) -> None:
    """Name the first value that is wrong; `wrong` says it of each different one."""
    if not any(wrong):
        return
    row = int(np.flatnonzero(np.array([*wrong, False])[codes])[0])
    number = before + int((codes[: row + 1] >= 0).sum())
    reason = f"holds {shortened(str(values.iloc[row]))!r} (value {number}) where {what} is expected"
    raise UnusableColumnError(name, reason, "correct it, or leave the cell empty.")


def as_text(values: "pd.Series", name: str, fill: str = "") -> NDArray[Any]:
    """Return values as text, one spelling for each value; `fill` where missing."""
    codes, different = _factorized(values, name)
    texts = np.array([spelled(value) for value in different] + [fill], dtype=object)
    return texts[codes]


def text_masses(values: "pd.Series", name: str, weight: Array) -> dict[str, float]:
    """Return the different values as text, and how much each weighs; none of the values is missing."""
    codes, different = _factorized(values, name)
    texts, masses = [spelled(value) for value in different], np.bincount(codes, weight, len(different)).tolist()
    total = dict.fromkeys(texts, 0.0)
    for text, mass in zip(texts, masses, strict=True):
        total[text] += mass
    return total


def spelled(value: Any) -> str:
    """Return a value as text, the same for 1, 1.0 and "1"."""
    if isinstance(value, (float, np.floating)) and float(value).is_integer():
        return str(int(value))
    return str(value)


def shortened(text: str) -> str:
    """Return the beginning of a long text."""
    return text if len(text) <= 40 else text[:37] + "…"


def column_sums(encoded: Array, columns: Sequence[Column], axis: int = 0) -> Array:
    """Add up what belongs to the concepts of each column; `axis` has one entry for each encoded column."""
    values = np.moveaxis(np.asarray(encoded, dtype=np.float64), axis, 0)
    total = np.zeros((len(columns), *values.shape[1:]))
    np.add.at(total, np.repeat(np.arange(len(columns)), [len(column.concepts) for column in columns]), values)
    return np.moveaxis(total, 0, axis)


def encoded(frame: "pd.DataFrame", columns: Sequence[Column]) -> "pd.DataFrame":
    """Return the numbers that a network sees of a table, one column for each concept."""
    import pandas as pd

    parts = [column.encode(frame[column.name]) for column in columns if column.needed]
    return pd.DataFrame(np.hstack(parts), columns=unique_concepts(columns), index=frame.index)


def unique_concepts(columns: Sequence[Column]) -> list[str]:
    """Return the names of all encoded columns; raise where two are the same."""
    names = [name for column in columns for name in column.concepts]
    twice = {name for name in names if names.count(name) > 1} if len(set(names)) < len(names) else set()
    if twice:
        raise ValueError(f"Two columns give a concept called {min(twice)!r}: rename one of them.")
    return names
