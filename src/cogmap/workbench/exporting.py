"""What goes out of a workbench, as files in its folder: the model, knowledge, report, history, scenarios, maps.

Easy to get wrong: names and reasons are text that others wrote. In Markdown they must stay text, whatever marks they
hold.
"""

import json
import re
from pathlib import Path
from typing import Any

import pandas as pd

from ..report.page import write_report
from ..writing import whole
from .held import plain
from .history import Entry
from .scenarios import Scenarios

SUFFIXES = {
    "model": (".cogmap",),
    "knowledge": (".toml", ".json"),
    "report": (".html",),
    "history": (".md",),
    "scenarios": (".json",),
    "map": (".csv", ".graphml", ".json"),
}
MARKS = re.compile(r"([\\`*_{}\[\]<>()#+\-!|~&])")


class Exporting(Scenarios):
    """Write files into the folder."""

    def files(self) -> dict[str, Any]:
        """Return the files of the folder."""
        listed = [{"name": path.name, "bytes": path.stat().st_size} for path in self.folder.files()]
        return {"folder": str(self.folder.path), "files": listed}

    def export(
        self,
        what: str,
        file: str,
        replace: bool = False,
        map: str | None = None,  # noqa: A002 (the name that the page uses)
    ) -> dict[str, Any]:
        """Write a file into the folder; its name ends with what it is.

        Parameters
        ----------
        what : {"model", "knowledge", "report", "history", "scenarios", "map"}
            What to write: the model in use as .cogmap, the statements as .toml or .json, the report as .html, the
            history as .md, scenarios as .json, a map as .csv (edges), .matrix.csv, .graphml or .json.
        file : str
            Name of the file, without a folder.
        replace : bool, default=False
            Whether a file of this name may be replaced.
        map : str, default=None
            Name of the map; by default the first of the model.

        Returns
        -------
        dict
            Name, folder and size of the file, and its text where it is short.
        """
        if what not in SUFFIXES:
            raise ValueError(f"what={what!r} is unknown: use one of {', '.join(repr(one) for one in SUFFIXES)}.")
        path = self.folder.to_write(file, SUFFIXES[what], replace=replace)
        text = None
        if what in ("model", "report"):
            self._write_model(what, path)
        elif what == "knowledge":
            self.past.last.knowledge.save(path)
            text = path.read_text(encoding="utf-8")
        else:
            text = self._text(what, file, map)
            with whole(path) as unfinished:
                unfinished.write_text(text, encoding="utf-8", newline="")
        return {"file": file, "folder": str(self.folder.path), "bytes": path.stat().st_size, "text": text}

    def _write_model(self, what: str, path: Path) -> None:
        number, version = self.in_use()
        if number != self.past.last.number:
            raise ValueError(
                f"Version {self.past.last.number} is not fitted (yet): wait for it, let it be fitted again, or undo it."
            )
        if what == "model":
            version.subject.model.save(path)
            return
        subject = version.subject
        target = pd.Series(subject.labels, name=subject.target)
        write_report(subject.model, subject.inputs, target, path, title=self.title, n_folds=self.n_folds)

    def _text(self, what: str, file: str, name: str | None) -> str:
        if what == "history":
            return self.history_text()
        if what == "scenarios":
            return json.dumps(plain(self.compare_scenarios()), ensure_ascii=False, indent=1, allow_nan=False) + "\n"
        return self.map_text(name, file)

    def history_text(self) -> str:
        """Return the history as Markdown: what was stated, by whom, why, and what it did."""
        with self.lock:
            entries, outcomes = self.past.entries, self.content.outcomes
        lines = [f"# History of {escaped(self.title)}", ""]
        lines += [
            f"{len(self.given.codes)} rows; classes {', '.join(escaped(name) for name in self.given.classes)}.",
            "",
        ]
        for entry in entries:
            lines += _entry_lines(entry, outcomes.get(entry.number, {}))
        lines += ["## What is stated now", ""]
        lines += [f"{number}. {escaped(str(one))}" for number, one in enumerate(entries[-1].knowledge, 1)]
        return "\n".join([*lines, *["Nothing."] * (not len(entries[-1].knowledge))]) + "\n"


def escaped(text: str) -> str:
    """Return text as Markdown shows it, on one line."""
    return MARKS.sub(r"\\\1", " ".join(text.split()))


def _entry_lines(entry: Entry, outcome: dict[str, Any]) -> list[str]:
    lines = [f"## {entry.number}. {escaped(entry.title)}", ""]
    said = [f"{what}: {escaped(text)}" for what, text in (("who", entry.author), ("why", entry.reason)) if text]
    lines += [f"- {part}" for part in [f"when: {entry.when}", *said]]
    comparison = outcome.get("comparison")
    if comparison:
        changes = [f"{one['name']} {one['before']:.3f} → {one['after']:.3f}" for one in comparison["scores"]]
        changed = f"{comparison['n_changed_rows']} of {comparison['n_rows']} rows change their class"
        lines += [f"- {', '.join(changes)}; {changed}", f"- {comparison['measured']}"]
    elif outcome.get("scores"):
        lines.append("- " + ", ".join(f"{name.replace('_', ' ')} {s:.3f}" for name, s in outcome["scores"].items()))
    elif outcome.get("message"):
        lines.append(f"- {escaped(outcome['message'])}")
    lines += [f"- warning: {escaped(one)}" for one in outcome.get("warnings", [])]
    return [*lines, ""]
