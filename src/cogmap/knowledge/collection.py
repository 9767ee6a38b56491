"""Knowledge: statements about edges, free of contradictions, as a value that never changes."""

import datetime as dt
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypedDict, Unpack

from ..writing import whole
from . import text
from .statement import Kind, Statement

FORMATS = {".toml": text.Format(text.to_toml, text.from_toml), ".json": text.Format(text.to_json, text.from_json)}


class Record(TypedDict, total=False):
    """Who says so, when, and why; a date as text is written 2026-01-31."""

    author: str | None
    date: dt.date | str | None
    reason: str | None


@dataclass(frozen=True, repr=False)
class Knowledge:
    """What experts state about the edges of a cognitive map.

    Each method states one thing more and returns *new* knowledge; nothing is changed in place, so that it can be a
    parameter of an estimator. Names are those of features; with linguistic terms, a statement about a feature holds for
    all its terms, and a statement about "alcohol is low" for that one. Weights are those of `inner_weights_`, between
    scaled concepts. Every statement may say who made it, when, and why: ``author=``, ``date=``, ``reason=``.

    A statement that contradicts an earlier one is an error, at once. Names are checked in `fit`, against the data.

    Parameters
    ----------
    statements : iterable of Statement, default=()
        Statements; of equal ones, the first is kept.

    Examples
    --------
    >>> from cogmap import Knowledge
    >>> knowledge = (
    ...     Knowledge()
    ...     .fix("ash", "alcohol", 0.25, author="A. Vintner", date="2026-03-01", reason="measured in 2025")
    ...     .sign("alcohol", "color_intensity", "+")
    ...     .irrelevant("proline")
    ... )
    >>> print(knowledge)
    1. ash → alcohol = 0.25 (A. Vintner, 2026-03-01: measured in 2025)
    2. alcohol → color_intensity is positive or 0
    3. proline is irrelevant
    >>> knowledge.at_least("ash", "alcohol", 0.5)
    Traceback (most recent call last):
    ValueError: statement 4, 'ash → alcohol ≥ 0.5', contradicts statement 1, 'ash → alcohol = 0.25 (A. Vintner, \
2026-03-01: measured in 2025)': leave one of them out.
    """

    statements: tuple[Statement, ...] = ()

    def __init__(self, statements: Iterable[Statement] = ()) -> None:
        kept = tuple(dict.fromkeys(statements))
        for statement in kept:
            if not isinstance(statement, Statement):
                raise TypeError(f"Knowledge holds statements, not {statement!r}: use fix, forbid, sign and the others.")
        _check_contradictions(kept)
        object.__setattr__(self, "statements", kept)

    def fix(self, source: str, target: str, value: float, **record: Unpack[Record]) -> "Knowledge":
        """State that the weight of an edge is exactly `value`."""
        return self._and("fix", source, target, value, record)

    def forbid(self, source: str, target: str, **record: Unpack[Record]) -> "Knowledge":
        """State that there is no such edge: its weight is exactly 0."""
        return self._and("forbid", source, target, None, record)

    def sign(self, source: str, target: str, value: Literal["+", "-"], **record: Unpack[Record]) -> "Knowledge":
        """State that the weight of an edge is not negative (``"+"``), or not positive (``"-"``)."""
        return self._and("sign", source, target, value, record)

    def at_least(self, source: str, target: str, value: float, **record: Unpack[Record]) -> "Knowledge":
        """State that the weight of an edge is `value` or larger."""
        return self._and("at_least", source, target, value, record)

    def at_most(self, source: str, target: str, value: float, **record: Unpack[Record]) -> "Knowledge":
        """State that the weight of an edge is `value` or smaller."""
        return self._and("at_most", source, target, value, record)

    def irrelevant(self, feature: str, **record: Unpack[Record]) -> "Knowledge":
        """State that a feature has no edges and no say: it becomes no concept, and no prediction depends on it."""
        return self._and("irrelevant", feature, None, None, record)

    def bias(self, feature: str, value: float, **record: Unpack[Record]) -> "Knowledge":
        """State that the bias of a concept, which its activation tends to without the others, is exactly `value`."""
        return self._and("bias", feature, None, value, record)

    def _and(
        self, kind: Kind, source: str, target: str | None, value: float | str | None, record: Record
    ) -> "Knowledge":
        return Knowledge((*self.statements, Statement(kind, source, target, value, **record)))

    def __add__(self, other: "Knowledge") -> "Knowledge":
        """Return what both state; they must not contradict each other."""
        if not isinstance(other, Knowledge):
            return NotImplemented
        return Knowledge((*self.statements, *other.statements))

    def __len__(self) -> int:
        return len(self.statements)

    def __iter__(self) -> Iterator[Statement]:
        return iter(self.statements)

    def __repr__(self) -> str:
        return "Knowledge()" + "".join(map(_call, self.statements))

    def __str__(self) -> str:
        lines = [f"{number}. {statement}" for number, statement in enumerate(self.statements, start=1)]
        return "\n".join(lines) or "nothing is stated"

    def to_toml(self) -> str:
        """Return the statements as TOML, with comments that say how to write more."""
        return text.to_toml(self.statements)

    def to_json(self) -> str:
        """Return the statements as JSON."""
        return text.to_json(self.statements)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the statements to a .toml or .json file; a file that is there already is replaced as a whole."""
        path = Path(path)
        write, _ = _format(path)
        with whole(path) as unfinished:
            unfinished.write_text(write(self.statements), encoding="utf-8")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Knowledge":
        """Read the statements of a .toml or .json file, written by `save` or by hand."""
        path = Path(path)
        _, read = _format(path)
        try:
            return cls(read(path.read_text(encoding="utf-8")))
        except UnicodeDecodeError as error:
            raise ValueError(f"{path} is not text in UTF-8 ({error}): save it as such.") from error
        except ValueError as error:
            raise ValueError(f"{path}: {error}") from error


def _format(path: Path) -> text.Format:
    if path.suffix.lower() not in FORMATS:
        raise ValueError(f"{path} ends with {path.suffix!r}: name a file of statements .toml or .json.")
    return FORMATS[path.suffix.lower()]


def _check_contradictions(statements: tuple[Statement, ...]) -> None:
    """Raise an error for the first statement that contradicts an earlier one.

    Intervals that meet in pairs all meet, so pairs suffice. An irrelevant feature has edges of weight 0 only.
    """
    edges: defaultdict[tuple[str, str | None], list[Statement]] = defaultdict(list)
    nonzero: defaultdict[str, list[Statement]] = defaultdict(list)
    irrelevant: dict[str, Statement] = {}
    for later in statements:
        if later.kind == "irrelevant":
            irrelevant[later.source] = later
            against = nonzero[later.source]
        else:
            against = [earlier for earlier in edges[later.source, later.target] if not earlier.meets(later)]
            edges[later.source, later.target].append(later)
            if not later.allows(0.0):
                against += [irrelevant[name] for name in later.names if name in irrelevant]
                for name in later.names:
                    nonzero[name].append(later)
        if against:
            raise ValueError(contradiction(statements, later, against[0]))


def contradiction(statements: Sequence[Statement], later: Statement, earlier: Statement) -> str:
    """Say that two statements cannot both hold."""
    named = [f"statement {statements.index(s) + 1}, '{s}'," for s in (later, earlier)]
    return f"{named[0]} contradicts {named[1][:-1]}: leave one of them out."


def _call(statement: Statement) -> str:
    """Return the method call that makes a statement."""
    given = [repr(part) for part in (*statement.names, statement.value) if part is not None]
    record = {"author": statement.author, "date": statement.date and str(statement.date), "reason": statement.reason}
    given += [f"{name}={part!r}" for name, part in record.items() if part is not None]
    return f".{statement.kind}({', '.join(given)})"
