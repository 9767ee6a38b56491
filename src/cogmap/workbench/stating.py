"""The actions that change what is stated: each is one entry of the history, and starts a fit."""

from collections.abc import Sequence
from typing import Any

from ..intake.checks import feature_names
from ..knowledge import Knowledge, Statement
from ..knowledge.edges import checked_knowledge
from ..knowledge.statement import Kind
from ..knowledge.text import from_json, from_toml
from ..tables.knowledge import by_concept
from .held import Held
from .history import History, today

Claim = tuple[Kind, str, str | None, float | str | None]
READERS = {"toml": from_toml, "json": from_json}


class Stating(Held):
    """Fix, forbid, sign and bound edges, declare columns irrelevant; withdraw, undo and redo.

    All take `version`, the number of the history's last entry as the caller knows it: where others changed the session
    since, nothing is changed and a `ConflictError` says so. None takes whatever is there. All return `state`.
    """

    def fix(
        self,
        source: str,
        target: str,
        value: float,
        *,
        author: str,
        reason: str,
        version: int | None = None,
        replace: bool = False,
    ) -> dict[str, Any]:
        """State that the weight of an edge is exactly `value`."""
        return self._state([("fix", source, target, value)], author, reason, version, replace)

    def forbid(
        self, source: str, target: str, *, author: str, reason: str, version: int | None = None, replace: bool = False
    ) -> dict[str, Any]:
        """State that there is no such edge."""
        return self._state([("forbid", source, target, None)], author, reason, version, replace)

    def sign(
        self,
        source: str,
        target: str,
        value: str,
        *,
        author: str,
        reason: str,
        version: int | None = None,
        replace: bool = False,
    ) -> dict[str, Any]:
        """State that the weight of an edge is not negative ("+"), or not positive ("-")."""
        return self._state([("sign", source, target, value)], author, reason, version, replace)

    def bound(
        self,
        source: str,
        target: str,
        low: float | None = None,
        high: float | None = None,
        *,
        author: str,
        reason: str,
        version: int | None = None,
        replace: bool = False,
    ) -> dict[str, Any]:
        """State between which numbers the weight of an edge is; one of them may be None."""
        if low is None and high is None:
            raise ValueError(f"{source} → {target} has no bound: give the least weight, the largest, or both.")
        given: list[Claim] = [("at_least", source, target, low)] * (low is not None)
        given += [("at_most", source, target, high)] * (high is not None)
        return self._state(given, author, reason, version, replace)

    def irrelevant(
        self, feature: str, *, author: str, reason: str, version: int | None = None, replace: bool = False
    ) -> dict[str, Any]:
        """State that a column has no edges and no say."""
        return self._state([("irrelevant", feature, None, None)], author, reason, version, replace)

    def bias(
        self,
        feature: str,
        value: float,
        *,
        author: str,
        reason: str,
        version: int | None = None,
        replace: bool = False,
    ) -> dict[str, Any]:
        """State what the bias of a concept is: what its activation tends to without the others."""
        return self._state([("bias", feature, None, value)], author, reason, version, replace)

    def withdraw(
        self,
        number: int | None = None,
        numbers: Sequence[int] = (),
        *,
        author: str,
        reason: str,
        version: int | None = None,
    ) -> dict[str, Any]:
        """Withdraw statements, by their numbers in `state`."""
        _check_record(author, reason)
        chosen = [*([] if number is None else [number]), *numbers]
        return self._change(version, lambda past: past.withdrawn(chosen, author, reason))

    def add_knowledge(
        self,
        text: str | None = None,
        form: str = "toml",
        file: str | None = None,
        *,
        author: str,
        reason: str,
        version: int | None = None,
        replace: bool = False,
    ) -> dict[str, Any]:
        """State all that a file of statements says: a text, or a file of the folder."""
        _check_record(author, reason)
        if (text is None) == (file is None):
            raise ValueError("Give either the text of a file of statements or the name of one.")
        if file is not None:
            statements = list(Knowledge.load(self.folder.to_read(file)))
        elif form in READERS:
            statements = READERS[form](text or "")
        else:
            raise ValueError(f"form={form!r} is unknown: use 'toml' or 'json'.")
        return self._change(version, lambda past: past.stated(statements, author, reason, replace=replace))

    def undo(self, *, author: str = "", reason: str = "", version: int | None = None) -> dict[str, Any]:
        """Undo the last change that holds; the history grows by an entry."""
        return self._change(version, lambda past: past.undone(author, reason))

    def redo(self, *, author: str = "", reason: str = "", version: int | None = None) -> dict[str, Any]:
        """Make hold again what was undone last."""
        return self._change(version, lambda past: past.redone(author, reason))

    def _state(
        self, given: Sequence[Claim], author: str, reason: str, version: int | None, replace: bool
    ) -> dict[str, Any]:
        _check_record(author, reason)
        day = today()
        statements = [Statement(*one, author=author.strip(), date=day, reason=reason.strip()) for one in given]
        return self._change(version, lambda past: past.stated(statements, author, reason, replace=replace))

    def _change(self, version: int | None, change: Any) -> dict[str, Any]:
        """Put a changed history in the place of the present one, once its names are known to be right."""
        with self.lock:
            if version is not None:
                self.past.check_version(version)
            changed: History = change(self.past)
            self._check_names(changed.last.knowledge)
            self.put(history=changed)
            self.begin_refit()
            return self.state()

    def _check_names(self, knowledge: Knowledge) -> None:
        network, columns = self.given.network, getattr(self.given.model, "columns_", ())
        checked_knowledge(by_concept(knowledge, columns), feature_names(network))

    def state(self) -> dict[str, Any]:
        """Return where the session stands; see `Views`."""
        raise NotImplementedError


def _check_record(author: str, reason: str) -> None:
    for what, text in (("Who", author), ("Why", reason)):
        if not text.strip():
            raise ValueError(f"{what} states this is not said: give an author and a reason.")
