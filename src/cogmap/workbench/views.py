"""What a workbench shows: where the session stands, the map, what if, before and after, the rows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from ..core.fit.fitted import Fitted
from ..knowledge import Knowledge
from ..knowledge.edges import edge_bounds
from ..tables.knowledge import by_concept
from .changes import changes
from .comparing import Version, compared
from .held import Held
from .history import Entry
from .rows import rows
from .sheet import Control
from .what_if import PARTS, what_if

DIGITS = 9
"""Significant digits of a weight."""


class Views(Held):
    """Everything that can be looked at; nothing is changed."""

    def state(self) -> dict[str, Any]:
        """Return where the session stands: statements, columns, versions, the fit at work.

        Returns
        -------
        dict
            Plain data; `version` is the number of the last entry of the history, which changes must name.
        """
        with self.lock:
            (number, version), past = self.in_use(), self.past
            stated = past.last.knowledge
            return {
                "title": self.title,
                "target": self.given.target,
                "classes": self.given.classes,
                "n_rows": len(self.given.codes),
                "kind": type(self.given.model).__name__,
                "version": past.last.number,
                "model_version": number,
                "can_undo": past.can_undo,
                "can_redo": past.can_redo,
                "statements": _statements(stated),
                "columns": self._columns(version, stated),
                "author": next((entry.author for entry in reversed(past.entries) if entry.author), ""),
                "folder": str(self.folder.path),
                "session": None if self.file is None else self.file.path.name,
                "progress": self.progress(),
            }

    def progress(self) -> dict[str, Any]:
        """Return how far the fit at work is."""
        with self.lock:
            doing, (number, _) = self.doing, self.in_use()
        left = doing.seconds / doing.done * (doing.total - doing.done) if doing.done else None
        shown = {
            name: getattr(doing, name) for name in ("state", "version", "step", "done", "total", "message", "tick")
        }
        running = doing.state == "running"
        return {**shown, "seconds": doing.seconds, "seconds_left": left if running else None, "model_version": number}

    def cancel(self) -> dict[str, Any]:
        """End the fit at work; what was stated stays."""
        self.cancel_refit()
        return self.progress()

    def refit(self) -> dict[str, Any]:
        """Fit and measure what is not yet, as after a fit that was cancelled."""
        self.begin_refit()
        return self.progress()

    def map(self) -> dict[str, Any]:
        """Return the cognitive map of each network of the model in use: concepts, weights, and what is stated."""
        number, version = self.in_use()
        fitted, columns = version.subject.model.fitted_, self._column_of(version)
        shares = self._shares(version)
        networks = []
        for name, names, model in zip(fitted.network_names, fitted.own_names, fitted.networks, strict=True):
            owners = [columns[fitted.feature_names[j]] for j in model.concepts.feature]
            concepts = [
                {"name": own, "column": owner, "relevance": shares.get(owner)}
                for own, owner in zip(names, owners, strict=True)
            ]
            weights, bias = (_short(part) for part in (model.network.weights, model.network.bias))
            networks.append(
                {"name": name, "concepts": concepts, "weights": weights, "bias": bias, "n_iter": fitted.n_iter}
            )
        with self.lock:
            stated = self.past.last.knowledge
        largest = max((float(np.abs(model.network.weights).max(initial=0)) for model in fitted.networks), default=0.0)
        marks = self._stated_edges(fitted, stated)
        return {"version": number, "networks": networks, "stated": marks, "largest": largest}

    def history(self) -> dict[str, Any]:
        """Return all entries of the history, with what each did to the scores."""
        with self.lock:
            return {"entries": [self._entry(entry) for entry in self.past.entries]}

    def compare(self, version: int | None = None, before: int | None = None) -> dict[str, Any]:
        """Return what changes from one version to another, by default from the one before the last to the last."""
        with self.lock:
            last = self.past.last.number
            after = last if version is None else version
            earlier = max(after - 1, 0) if before is None else before
            for number in (after, earlier):
                if not 0 <= number <= last:
                    raise ValueError(f"There is no version {number}: there are the versions 0 to {last}.")
            pair = [self.versions.get(self.past.entries[number].knowledge) for number in (earlier, after)]
            outcome = self.content.outcomes.get(after, {})
        numbers = {"version": after, "before": earlier}
        old, new = pair
        if old is not None and new is not None and old.measured is not None and new.measured is not None:
            return {**numbers, "ready": True, **compared(old, new)}
        if outcome.get("comparison") and earlier == after - 1:
            return {**numbers, "ready": True, **outcome["comparison"]}
        return {**numbers, "ready": False, "message": self._why_not(after, outcome), "progress": self.progress()}

    def what_if(
        self,
        values: Mapping[str, Any] | None = None,
        row: int | None = None,
        class_: str | None = None,
        parts: Sequence[str] = PARTS,
    ) -> dict[str, Any]:
        """Return what the model says of a row, with some cells changed: probabilities, evidence, trajectories.

        Parameters
        ----------
        values : mapping of str to cell, default=None
            Cells that differ from those of the row.
        row : int, default=None
            Number of a row; None for a typical one.
        class_ : str, default=None
            The class whose evidence is shown; the predicted one by default.
        parts : sequence of {"evidence", "trajectory"}
            What is wanted beside the probabilities.
        """
        return self._said(values, row, class_, tuple(parts))

    def explain(self, row: int | None = None, values: Mapping[str, Any] | None = None) -> dict[str, Any]:
        """Return the explanation of a row as a paragraph, its evidence, and what models say that did not see it."""
        answer = self._said(values, row, None, ("evidence",), number=0 if row is None else row)
        _, version = self.in_use()
        measured, unseen = version.measured, None
        if row is not None and not values and measured is not None and measured.n_folds:
            code = measured.predicted[row]
            unseen = {"predicted": self.given.classes[code], "probability": float(measured.probability[row, code])}
        return {**answer, "unseen": unseen}

    def changes(self, values: Mapping[str, Any] | None = None, row: int | None = None) -> dict[str, Any]:
        """Return the smallest changes of one and of two columns that change the class of a row."""
        number, version = self.in_use()
        return {"version": number, **changes(version.subject, self.sheet, self.sheet.filled(values, row))}

    def rows(
        self,
        filter: str = "all",  # noqa: A002 (the name that the page uses)
        class_: str | None = None,
        search: str = "",
        sort: str = "row",
        descending: bool = False,
        offset: int = 0,
        limit: int = 50,
        by: str | None = None,
    ) -> dict[str, Any]:
        """Return rows of the table with truth, prediction and probability.

        Parameters
        ----------
        filter : {"all", "errors", "uncertain"}, default="all"
            Which rows.
        class_ : str, default=None
            Only rows of this class.
        search : str, default=""
            Only rows in which a cell holds this text.
        sort : {"row", "truth", "predicted", "probability"} or str, default="row"
            What to sort by, also the name of a column.
        descending : bool, default=False
            The other way round.
        offset, limit : int
            Which of them to return, at most 500.
        by : {"unseen", "model"}, default=None
            Predictions of models that did not see the row, or of the model itself; by default the first, once there.
        """
        number, version = self.in_use()
        order = {"sort": sort, "descending": descending, "offset": offset, "limit": limit}
        table = rows(version, self.sheet, chosen=filter, truth=class_, search=search, by=by, **order)  # type: ignore[arg-type]
        return {"version": number, **table}

    def _said(
        self,
        values: Mapping[str, Any] | None,
        row: int | None,
        label: str | None,
        parts: tuple[str, ...],
        *,
        number: int | None = None,
    ) -> dict[str, Any]:
        if unknown := [part for part in parts if part not in PARTS]:
            raise ValueError(f"parts={unknown!r} are unknown: use some of {', '.join(map(repr, PARTS))}.")
        entry, version = self.in_use()
        cells = self.sheet.filled(values, row)
        truth = None if row is None else self.given.classes[self.given.codes[row]]
        said = what_if(version.subject, self.sheet, cells, label=label, parts=parts, row=number)
        return {"version": entry, "row": row, "truth": truth, **said}

    def _columns(self, version: Version, stated: Knowledge) -> list[dict[str, Any]]:
        shares = self._shares(version)
        irrelevant = {one.source for one in stated if one.kind == "irrelevant"}
        return [
            {
                **{key: value for key, value in asdict(control).items() if key != "column"},
                "relevance": shares.get(control.name),
                "irrelevant": control.name in irrelevant or _all_of(control, irrelevant),
            }
            for control in self.sheet.controls
        ]

    def _shares(self, version: Version) -> dict[str, float]:
        if version.relevance is None:
            return {}
        columns = getattr(version.subject.model, "columns_", None)
        names = self.sheet.names if columns is None else [column.name for column in columns]
        return dict(zip(names, version.relevance.tolist(), strict=True))

    def _column_of(self, version: Version) -> dict[str, str]:
        """Return the column of each feature of the network."""
        columns = getattr(version.subject.model, "columns_", None)
        if columns is None:
            return {name: name for name in version.subject.model.fitted_.feature_names}
        return {concept: column.name for column in columns for concept in column.concepts}

    def _stated_edges(self, fitted: Fitted, stated: Knowledge) -> list[dict[str, int]]:
        """Return the edges that each statement is about, in each network."""
        columns, marks = getattr(self.given.model, "columns_", ()), []
        for number, statement in enumerate(stated, 1):
            if statement.target is None:
                continue
            alone = by_concept(Knowledge([statement]), columns)
            for k, model in enumerate(fitted.networks):
                bounds = edge_bounds(alone, fitted.feature_names, model.concepts)
                edges = np.argwhere(np.isfinite(bounds.lower) | np.isfinite(bounds.upper)).tolist()
                marks += [{"statement": number, "network": k, "source": j, "target": i} for j, i in edges]
        return marks

    def _entry(self, entry: Entry) -> dict[str, Any]:
        outcome = self.content.outcomes.get(entry.number, {})
        running = self.doing.state == "running" and self.doing.version == entry.number
        names = ("number", "action", "title", "author", "reason", "when", "returns_to")
        return {
            **{name: getattr(entry, name) for name in names},
            "n_statements": len(entry.knowledge),
            "status": "running" if running else outcome.get("status", "waiting"),
            "message": outcome.get("message", ""),
            "scores": outcome.get("scores"),
            "warnings": outcome.get("warnings", []),
        }

    def _why_not(self, number: int, outcome: dict[str, Any]) -> str:
        if self.doing.state == "running":
            return f"Version {number} is being fitted and measured."
        return outcome.get("message") or f"Version {number} was not measured: let it be fitted again."


def _statements(stated: Knowledge) -> list[dict[str, Any]]:
    names = ("kind", "source", "target", "value", "claim", "author", "reason")
    return [
        {"number": number, **{name: getattr(one, name) for name in names}, "date": one.date and str(one.date)}
        for number, one in enumerate(stated, 1)
    ]


def _all_of(control: Control, irrelevant: set[str]) -> bool:
    """Whether all concepts of a column are stated to be irrelevant."""
    return bool(control.concepts) and set(control.concepts) <= irrelevant


def _short(numbers: Any) -> Any:
    """Return weights with fewer digits, as lists."""
    scale = 10.0 ** (DIGITS - 1 - np.floor(np.log10(np.abs(np.where(numbers == 0, 1.0, numbers)))))
    return (np.round(numbers * scale) / scale).tolist()
