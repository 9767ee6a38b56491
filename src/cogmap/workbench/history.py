"""What was stated, by whom and why: a list that only grows, in which undo and redo are entries too.

`Knowledge` never changes, so every entry holds what is stated after it. Where undo and redo lead follows from the list:
a statement goes on from where one is, and what had been undone by then cannot be redone.

Easy to get wrong: an entry that undoes holds the same knowledge as an earlier one, but is not that one. Numbers of
entries, which tell a page whether it is up to date, never come again.
"""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal, get_args

from ..knowledge import Knowledge, Statement

Action = Literal["begin", "state", "withdraw", "undo", "redo"]
ACTIONS: tuple[str, ...] = get_args(Action)


class ConflictError(ValueError):
    """Somebody else has changed what a change was made for."""


@dataclass(frozen=True)
class Entry:
    """One step of the history.

    Attributes
    ----------
    number : int
        Its place, from 0.
    action : {"begin", "state", "withdraw", "undo", "redo"}
        What was done.
    knowledge : Knowledge
        All that is stated after it.
    title : str
        What was done, in words.
    author, reason : str
        Who did it, and why.
    when : str
        When, in ISO form with a time zone.
    returns_to : int or None
        For undo and redo the entry whose knowledge holds again.
    """

    number: int
    action: Action
    knowledge: Knowledge
    title: str
    author: str = ""
    reason: str = ""
    when: str = ""
    returns_to: int | None = None


@dataclass(frozen=True)
class History:
    """The entries, the first of which is what a model began with."""

    entries: tuple[Entry, ...]

    @classmethod
    def begin(cls, knowledge: Knowledge) -> "History":
        """Return the history of a model that nobody has changed yet."""
        return cls((Entry(0, "begin", knowledge, "the model as it was given", when=now()),))

    @property
    def last(self) -> Entry:
        """The entry that holds."""
        return self.entries[-1]

    @property
    def _path(self) -> tuple[list[int], int]:
        """Entries that undo and redo lead along, and the place among them."""
        path, place = [0], 0
        for entry in self.entries[1:]:
            if entry.action in ("undo", "redo"):
                place += 1 if entry.action == "redo" else -1
            else:
                path, place = [*path[: place + 1], entry.number], place + 1
        return path, place

    @property
    def can_undo(self) -> bool:
        """Whether there is something to undo."""
        return self._path[1] > 0

    @property
    def can_redo(self) -> bool:
        """Whether there is something to redo."""
        path, place = self._path
        return place + 1 < len(path)

    def stated(self, statements: Sequence[Statement], author: str, reason: str, *, replace: bool = False) -> "History":
        """Return the history with statements more; with `replace` others about the same edges are withdrawn."""
        kept = self.last.knowledge.statements
        if replace:
            subjects = {statement.names for statement in statements}
            kept = tuple(statement for statement in kept if statement.names not in subjects)
        knowledge = Knowledge((*kept, *statements))
        if knowledge == self.last.knowledge:
            raise ValueError(f"'{statements[0].claim}' is stated already." if statements else "Nothing is stated.")
        return self._and("state", knowledge, "; ".join(one.claim for one in statements), author, reason)

    def withdrawn(self, numbers: Sequence[int], author: str, reason: str) -> "History":
        """Return the history without statements, by their numbers from 1 in the present knowledge."""
        present = self.last.knowledge.statements
        for number in numbers:
            if not 1 <= number <= len(present):
                raise ValueError(f"There is no statement {number}: there are {len(present)}.")
        kept = Knowledge(one for number, one in enumerate(present, 1) if number not in numbers)
        claims = "; ".join(present[number - 1].claim for number in dict.fromkeys(numbers))
        if not claims:
            raise ValueError("No statement is named: give the numbers of those to withdraw.")
        return self._and("withdraw", kept, f"no longer: {claims}", author, reason)

    def undone(self, author: str = "", reason: str = "") -> "History":
        """Return the history in which the last change that holds is undone."""
        path, place = self._path
        if place == 0:
            raise ValueError("There is nothing to undo.")
        return self._back_to("undo", path[place - 1], self.entries[path[place]], author, reason)

    def redone(self, author: str = "", reason: str = "") -> "History":
        """Return the history in which what was undone last holds again."""
        path, place = self._path
        if place + 1 >= len(path):
            raise ValueError("There is nothing to redo.")
        return self._back_to("redo", path[place + 1], self.entries[path[place + 1]], author, reason)

    def _back_to(self, action: Action, number: int, changed: Entry, author: str, reason: str) -> "History":
        again = self._and(action, self.entries[number].knowledge, f"{action}: {changed.title}", author, reason)
        return History((*self.entries, replace(again.last, returns_to=number)))

    def _and(self, action: Action, knowledge: Knowledge, title: str, author: str, reason: str) -> "History":
        entry = Entry(len(self.entries), action, knowledge, title, author.strip(), reason.strip(), now())
        return History((*self.entries, entry))

    def check_version(self, version: int) -> None:
        """Raise a `ConflictError` where entries came since a version was looked at."""
        if version > self.last.number:
            raise ConflictError(
                f"There is no version {version}: the last one is {self.last.number}. Load the page again."
            )
        if version < self.last.number:
            since = self.entries[version + 1]
            who = f" by {since.author}" if since.author else ""
            raise ConflictError(
                f"The session was changed meanwhile{who} ({since.title}): nothing was changed now. Look at the new "
                "state, then decide again."
            )


def now() -> str:
    """Return the present time as text."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="seconds")


def today() -> str:
    """Return the present date as text."""
    return dt.date.today().isoformat()
