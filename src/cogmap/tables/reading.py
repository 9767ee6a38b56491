"""How the values of a raw column are to be read: as numbers, true and false, dates or categories.

Easy to get wrong: what one value is, all others decide. Text is a number or a date only if all of it is, read in one
way. Digits alone may be the names of categories, and count as numbers only where there are many.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from ..errors import UnusableColumnError
from .amounts import AmountText
from .columns import Kind
from .dates import DateText

if TYPE_CHECKING:
    import pandas as pd

Declared = Literal["number", "category", "dropped"] | None

ENOUGH_ROWS = 20
"""Fewer different values than this are not suspicious: any short list may hold each value once."""


@dataclass(frozen=True)
class Reading:
    """How the values of a column are to be read: kind, format and remark of a `Column`.

    A column that is `trusted` is not suspicious: a user said what it is, or the whole table did.
    """

    kind: Kind
    format: str = ""
    remark: str = ""
    trusted: bool = False


def kind_of(present: "pd.Series", name: str) -> Reading:
    """Return what a column holds by the types of its values; text is a category as far as these tell."""
    from pandas.api import types

    if types.is_bool_dtype(present):
        return Reading("boolean")
    if types.is_complex_dtype(present):
        raise UnusableColumnError(name, "holds complex numbers", "give their real and imaginary parts as columns.")
    if types.is_numeric_dtype(present):
        return Reading("number")
    inferred = types.infer_dtype(present, skipna=True)
    if inferred == "boolean":
        return Reading("boolean")
    if inferred in ("integer", "floating", "mixed-integer-float", "decimal", "timedelta64", "timedelta"):
        return Reading("number")
    if inferred in ("datetime64", "datetime", "date", "period"):
        return Reading("date", "iso")
    if inferred == "time":
        return Reading("date", "time")
    if inferred == "interval":
        raise UnusableColumnError(name, "holds intervals", "give their ends or their middle as columns.")
    return Reading("category", trusted=hasattr(present, "cat"))


def is_text(present: "pd.Series", reading: Reading) -> bool:
    """Say whether the values of a column are to be looked at as text."""
    from pandas.api import types

    if reading.kind == "category":
        return not reading.trusted
    return reading.kind == "number" and types.infer_dtype(present, skipna=True) in ("string", "mixed", "mixed-integer")


class TextReading:
    """How the texts of a column are to be read; its different texts may be added some at a time."""

    def __init__(self, name: str, declared: Declared) -> None:
        self.name, self.declared = name, declared
        self.amounts, self.dates = AmountText(), DateText()
        self.first: list[str] = []

    def add(self, texts: Iterable[str]) -> None:
        """Look at different texts, in order."""
        texts = list(texts)
        self.amounts.add(texts)
        self.dates.add(texts)
        if len(self.first) < ENOUGH_ROWS:
            self.first = list(dict.fromkeys([*self.first, *texts]))[:ENOUGH_ROWS]

    @property
    def settled(self) -> bool:
        """Whether the texts seen so far are numbers or dates, however many they are."""
        return self.amounts.format is not None or self.dates.format is not None

    @property
    def few(self) -> bool:
        """Whether there are too few different texts to be suspicious."""
        return len(self.first) < ENOUGH_ROWS

    def reading(self) -> Reading:
        """Return how the texts are read."""
        trusted = self.declared is not None
        number = self.amounts.format
        if self.declared == "number":
            # Where not all are numbers, the first that is none will be named.
            return Reading("number", number or "point", self._decimal_remark(), trusted)
        if number is not None and (self.amounts.marked or not self.few):
            if len(self.amounts.units) < 2:
                return Reading("number", number, self._decimal_remark(), trusted)
            if not self.few:
                units = " and ".join(map(repr, sorted(self.amounts.units)[:2]))
                way_out = "give all values in one unit, or list it as categorical."
                raise UnusableColumnError(self.name, f"mixes the units {units}", way_out)
        if self.dates.format is not None and number is None:
            return Reading("date", self.dates.format, self._order_remark(), trusted)
        return Reading("category", trusted=trusted)

    def _decimal_remark(self) -> str:
        if not self.amounts.ambiguous:
            return ""
        mark, group = ("point", "comma") if self.amounts.format == "point" else ("comma", "point")
        if (group == "comma") == ("," in self.amounts.groups):
            return f"a {group} is taken to group digits, as in 1{'.,'[group == 'comma']}234 for 1234"
        return f"a {mark} is taken to separate decimals, as in 1.234 for 1 + 234/1000"

    def _order_remark(self) -> str:
        if not self.dates.ambiguous:
            return ""
        first = "day" if self.dates.format == "day first" else "month"
        meant = "3 April" if first == "day" else "4 March"
        return f"the {first} is taken to come first, as in 03/04/2024 for {meant} 2024"
