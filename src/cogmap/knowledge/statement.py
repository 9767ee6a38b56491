"""One statement of an expert about an edge, or about a feature, and who made it when and why.

Every statement about an edge is an interval for its weight: a fixed weight is one point, a forbidden edge is 0, a sign
is a half line that includes 0. Two statements about one edge contradict each other where their intervals do not meet.
A bias is like an edge without a source, fixed at one point.
"""

import datetime as dt
import math
import sys
from dataclasses import dataclass
from numbers import Real
from reprlib import repr as brief
from typing import Any, Literal, get_args

Kind = Literal["fix", "forbid", "sign", "at_least", "at_most", "irrelevant", "bias"]
KINDS: tuple[str, ...] = get_args(Kind)
RELATIONS = {"fix": "=", "at_least": "≥", "at_most": "≤", "bias": "="}
OF_ONE = ("irrelevant", "bias")
"""Kinds that are about one feature, not about an edge."""
SIGNS = ("+", "-")


@dataclass(frozen=True)
class Statement:
    """What is stated, about which edge, and the record of it.

    Attributes
    ----------
    kind : {"fix", "forbid", "sign", "at_least", "at_most", "irrelevant", "bias"}
        What is stated.
    source, target : str
        Names of the features, or of single terms ("alcohol is low"), between which the edge is. A feature that is
        irrelevant, or has a bias, is the `source`, and the `target` is None.
    value : float, "+", "-" or None
        The weight, the bound, or the sign; None where the kind needs none.
    author, reason : str or None
        Who says so, and why.
    date : datetime.date or None
        When; text in the form 2026-01-31 is taken too.
    """

    kind: Kind
    source: str
    target: str | None = None
    value: float | str | None = None
    author: str | None = None
    date: dt.date | str | None = None
    reason: str | None = None

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise ValueError(f"kind={brief(self.kind)} is unknown: use one of {', '.join(map(repr, KINDS))}.")
        object.__setattr__(self, "value", _checked_value(self.kind, self.value))
        object.__setattr__(self, "date", _checked_date(self.date))
        for field in ("source",) if self.kind in OF_ONE else ("source", "target"):
            if not isinstance(name := getattr(self, field), str) or not name:
                raise ValueError(f"The {field} of '{self.kind}' is {brief(name)}: give the name of a feature, as text.")
        if self.kind in OF_ONE and self.target is not None:
            raise ValueError(f"'{self.kind}' is about one feature ({self.source!r}): leave the target out.")
        for field in ("author", "reason"):
            if not isinstance(text := getattr(self, field), str | None):
                raise ValueError(f"The {field} of a statement is {brief(text)}: give text, or leave it out.")
        for text in (*self.names, self.author or "", self.reason or ""):
            if any("\ud800" <= letter <= "\udfff" for letter in text):
                raise ValueError(f"{brief(text)} holds half of a character: write it in full.")

    @property
    def interval(self) -> tuple[float, float]:
        """The least and the largest weight, or bias, that the statement allows."""
        if self.kind == "sign":
            return (0.0, math.inf) if self.value == "+" else (-math.inf, 0.0)
        number = self.value if isinstance(self.value, float) else 0.0
        return (-math.inf if self.kind == "at_most" else number, math.inf if self.kind == "at_least" else number)

    @property
    def names(self) -> tuple[str, ...]:
        """The names that it mentions."""
        return (self.source,) if self.target is None else (self.source, self.target)

    def allows(self, weight: float) -> bool:
        """Whether a weight is within the interval."""
        lower, upper = self.interval
        return lower <= weight <= upper

    def meets(self, other: "Statement") -> bool:
        """Whether some weight is within both intervals."""
        (a, b), (c, d) = self.interval, other.interval
        return max(a, c) <= min(b, d)

    @property
    def claim(self) -> str:
        """What is stated, in a few words."""
        if self.kind == "irrelevant":
            return f"{self.source} is irrelevant"
        if self.kind == "bias":
            return f"bias of {self.source} = {self.value!r}"
        if self.kind == "forbid":
            return f"no edge {self.source} → {self.target}"
        if self.kind == "sign":
            return f"{self.source} → {self.target} is {'positive' if self.value == '+' else 'negative'} or 0"
        return f"{self.source} → {self.target} {RELATIONS[self.kind]} {self.value!r}"

    def __str__(self) -> str:
        who = ", ".join(str(part) for part in (self.author, self.date) if part is not None)
        record = ": ".join(part for part in (who, " ".join((self.reason or "").split())) if part)
        return f"{self.claim} ({record})" if record else self.claim


def _checked_value(kind: str, value: Any) -> float | str | None:
    if kind == "sign":
        if value not in SIGNS:
            raise ValueError(f"The sign of an edge is {brief(value)}: use '+' or '-'.")
        return str(value)
    if kind not in RELATIONS:
        if value is not None:
            raise ValueError(f"'{kind}' takes no value, but has {brief(value)}: leave it out.")
        return None
    if isinstance(value, bool) or not isinstance(value, Real) or not _is_finite(value):
        raise ValueError(f"The value of '{kind}' is {brief(value)}: give a finite number.")
    return float(value)


def _is_finite(value: Any) -> bool:
    """Whether a number is finite, and small enough to be a float."""
    return bool(abs(value) <= sys.float_info.max)


def _checked_date(value: Any) -> dt.date | None:
    if isinstance(value, str):
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            raise ValueError(f"The date of a statement is {brief(value)}: write it as 2026-01-31.") from None
    if isinstance(value, dt.datetime):
        return value.date()
    if value is not None and not isinstance(value, dt.date):
        raise ValueError(f"The date of a statement is {brief(value)}: give a datetime.date, or text as 2026-01-31.")
    return value
