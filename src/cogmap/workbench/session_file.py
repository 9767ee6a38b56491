"""The session as a file: what was stated and measured, scenarios and maps, as JSON that a person can read.

It holds no model: fits are deterministic, so the given model, the rows and the statements give it again. The file says
by their digests which model and which rows it belongs to.

Easy to get wrong: two programs may have the same session open. Before a file is written it must be what this program
wrote or read last.
"""

import hashlib
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..knowledge import Knowledge
from ..knowledge.text import from_json
from ..writing import whole
from .history import ACTIONS, ConflictError, Entry, History

FORMAT = 1
KEYS = {"cogmap_session", "model", "data", "entries", "outcomes", "scenarios", "maps"}


@dataclass(frozen=True)
class Content:
    """What a session file holds."""

    history: History
    outcomes: dict[int, dict[str, Any]] = field(default_factory=dict)
    scenarios: tuple[dict[str, Any], ...] = ()
    maps: dict[str, dict[str, str]] = field(default_factory=dict)


class SessionFile:
    """A file that is read once, and written after each change.

    Parameters
    ----------
    path : Path
        The file.
    model, data : str
        What it belongs to: digests of the model and of the rows.
    """

    def __init__(self, path: Path, model: str, data: str) -> None:
        self.path = path.resolve()
        self.belongs = {"model": model, "data": data}
        self._digest: str | None = None

    def read(self) -> Content | None:
        """Return what the file holds; None where there is none."""
        if not self.path.exists():
            return None
        raw = self.path.read_bytes()
        try:
            content = json.loads(raw)
            if not isinstance(content, dict) or set(content) != KEYS:
                raise ValueError("it has other parts than a session has")
            if content["cogmap_session"] != FORMAT:
                raise ValueError(f"its format is {content['cogmap_session']!r}, and this version reads {FORMAT}")
            read = _content(content)
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
            raise ValueError(f"{self.path} is no session that can be opened ({error}): name another file.") from error
        for what, digest in self.belongs.items():
            if content[what] != digest:
                shown = "the model" if what == "model" else "the rows"
                raise ValueError(
                    f"{self.path} is the session of other files, {shown} differs: open it with those that it began "
                    "with, or name another session."
                )
        self._digest = hashlib.sha256(raw).hexdigest()
        return read

    def write(self, content: Content) -> None:
        """Replace the file as a whole; refuse where another program wrote it since."""
        there = hashlib.sha256(self.path.read_bytes()).hexdigest() if self.path.exists() else None
        if self._digest is not None and there is not None and there != self._digest:
            raise ConflictError(
                f"{self.path} was changed by another program since it was opened here: open the session again. "
                "Nothing was changed."
            )
        plain = {"cogmap_session": FORMAT, **self.belongs, **_plain(content)}
        text = json.dumps(plain, ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        with whole(self.path) as unfinished:
            unfinished.write_text(text, encoding="utf-8", newline="\n")
        self._digest = hashlib.sha256(text.encode()).hexdigest()


def _plain(content: Content) -> dict[str, Any]:
    return {
        "entries": [_entry(entry) for entry in content.history.entries],
        "outcomes": {str(number): outcome for number, outcome in content.outcomes.items()},
        "scenarios": list(content.scenarios),
        "maps": content.maps,
    }


def _entry(entry: Entry) -> dict[str, Any]:
    names = ("number", "action", "title", "author", "reason", "when", "returns_to")
    statements: dict[str, Any] = json.loads(entry.knowledge.to_json())
    return {name: getattr(entry, name) for name in names} | statements


def _content(plain: dict[str, Any]) -> Content:
    entries = tuple(_read_entry(number, entry) for number, entry in enumerate(plain["entries"]))
    if not entries or entries[0].action != "begin":
        raise ValueError("its history has no beginning")
    history = History(entries)
    for k in range(1, len(entries)):
        before = History(entries[:k])
        if (entries[k].action == "undo" and not before.can_undo) or (
            entries[k].action == "redo" and not before.can_redo
        ):
            raise ValueError(f"entry {k} of its history has nothing to {entries[k].action}")
    outcomes = {int(number): dict(outcome) for number, outcome in plain["outcomes"].items()}
    scenarios = tuple(dict(one) for one in plain["scenarios"])
    maps = {str(name): {"text": str(one["text"]), "from": str(one["from"])} for name, one in plain["maps"].items()}
    return Content(history, outcomes, scenarios, maps)


def _read_entry(number: int, plain: dict[str, Any]) -> Entry:
    if plain["number"] != number or plain["action"] not in ACTIONS:
        raise ValueError(f"entry {number} of its history is damaged")
    knowledge = Knowledge(from_json(json.dumps({"statement": plain["statement"]})))
    text = {name: str(plain[name]) for name in ("title", "author", "reason", "when")}
    back = None if plain["returns_to"] is None else int(plain["returns_to"])
    return Entry(number, plain["action"], knowledge, returns_to=back, **text)
