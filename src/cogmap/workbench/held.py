"""What a workbench holds: the given model and its rows, the session, fitted versions, and the fit at work.

Everything that it holds is a value that never changes; a change puts another in its place, under one lock, and only
after the session's file holds it.

Easy to get wrong: a fit ends long after it began, and meanwhile somebody may have stated something else. What a fit
reports counts only as long as it is the fit at work.
"""

import hashlib
import math
import threading
import time
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..knowledge import Knowledge
from ..report.subject import Subject
from .comparing import Version, compared
from .fitting import Job, Report, Task, Worker, log
from .folder import Folder
from .history import History
from .measuring import stated_in
from .session_file import Content, SessionFile
from .sheet import Sheet

MOST_VERSIONS = 8
"""Fitted versions that are kept in memory."""


@dataclass(frozen=True)
class Progress:
    """How far the fit at work is; `began` and `ended` are on the clock of this process."""

    state: str = "idle"
    version: int | None = None
    step: str = ""
    done: int = 0
    total: int = 0
    began: float = 0.0
    ended: float | None = None
    message: str = ""
    tick: int = 0

    @property
    def seconds(self) -> float:
        """How long it is at work, or was."""
        if not self.began:
            return 0.0
        return (self.ended or time.monotonic()) - self.began


class Held:
    """The values of a workbench, and how they are replaced."""

    def __init__(
        self,
        subject: Subject,
        *,
        title: str,
        n_folds: int,
        session: Path | None,
        folder: Path,
        kept: tuple[Path, ...],
        refit: bool,
    ) -> None:
        self.given, self.title, self.n_folds, self.refits = subject, title, n_folds, refit
        self.sheet = Sheet.of(subject)
        self.folder = Folder.of(folder, kept if session is None else (*kept, session))
        self.file = None if session is None else SessionFile(session, model_digest(subject), rows_digest(subject))
        self.lock = threading.RLock()
        knowledge = stated_in(subject.model)
        self.versions: dict[Knowledge, Version] = {knowledge: Version(subject)}
        self.doing, self._begun = Progress(), 0
        self._worker = Worker()
        opened = None if self.file is None else self.file.read()
        self.content = opened or Content(History.begin(knowledge))
        if self.file is not None and opened is None:
            self.file.write(self.content)
        self.begin_refit()

    @property
    def past(self) -> History:
        """What was stated."""
        return self.content.history

    def in_use(self) -> tuple[int, Version]:
        """Return the last version that is fitted, and the number of its entry."""
        with self.lock:
            entry = next(e for e in reversed(self.past.entries) if e.knowledge in self.versions)
            return entry.number, self.versions[entry.knowledge]

    def put(self, **parts: Any) -> None:
        """Replace parts of the session, in its file first."""
        with self.lock:
            content = replace(self.content, **parts)
            if self.file is not None:
                self.file.write(content)
            self.content = content

    def begin_refit(self) -> None:
        """Fit and measure what is not yet, for the last entry and the one before it; another fit at work ends."""
        with self.lock:
            self._worker.stop()
            tasks = self._tasks()
            if not self.refits:
                return
            number, tick = self.past.last.number, self.doing.tick + 1
            if not tasks:
                self.doing = Progress("done", number, tick=tick)
                self._record()
                return
            self._begun = tick
            named = [n for task in tasks for one in task.knowledge for n in one.names if n in self.sheet.names]
            job = Job(self.given, tasks, self.n_folds, tuple(dict.fromkeys(named)))
            self.doing = Progress("running", number, "starting", 0, job.n_steps, time.monotonic(), tick=tick)
            self._worker.begin(job, lambda report: self._hear(tick, report))

    def cancel_refit(self) -> None:
        """End the fit at work; the entry stays, unmeasured."""
        with self.lock:
            if self.doing.state != "running":
                return
            self._worker.stop()
            self._end("cancelled", "The fit was cancelled: what was stated stays, and can be fitted again or undone.")

    def wait(self, seconds: float | None = None) -> None:
        """Wait until no fit is at work."""
        self._worker.wait(seconds)

    def close(self) -> None:
        """End the fit at work, if there is one; the session is in its file."""
        with self.lock:
            self._worker.close()

    def _tasks(self) -> tuple[Task, ...]:
        """Return what must be fitted or measured: the last entry, and what its change is measured against."""
        entries = self.past.entries
        wanted = [entries[-1].knowledge]
        outcome = self.content.outcomes.get(self.past.last.number, {})
        if len(entries) > 1 and outcome.get("status") != "measured":
            wanted.append(entries[-2].knowledge)
        tasks = []
        for knowledge in dict.fromkeys(wanted):
            version = self.versions.get(knowledge)
            if version is None or version.measured is None:
                tasks.append(Task(knowledge, None if version is None else version.subject.model, True))
        return tuple(tasks)

    def _hear(self, begun: int, report: Report) -> None:
        """Take over what a fit reports, unless another one is at work; `begun` is the tick at which it began."""
        with self.lock:
            if self.doing.state != "running" or self._begun != begun:
                return
            self.doing = replace(self.doing, tick=self.doing.tick + 1)
            if report.kind == "step":
                first = self.doing.step == "starting"
                self.doing = replace(self.doing, step=report.text, done=self.doing.done + (not first))
            elif report.kind in ("model", "measured"):
                self._take(report)
            elif report.kind == "failed":
                self._end("failed", report.text)
            elif report.kind == "done":
                self.doing = replace(self.doing, state="done", done=self.doing.total, ended=time.monotonic())
                self._record()

    def _take(self, report: Report) -> None:
        assert report.knowledge is not None
        version = self.versions.get(report.knowledge)
        if report.model is not None:
            version = Version(replace(self.given, model=report.model), warnings=report.warnings)
        assert version is not None
        if report.relevance is not None:
            version = replace(version, relevance=report.relevance)
        if report.measured is not None:
            version = replace(version, measured=report.measured)
        self.versions.pop(report.knowledge, None)
        self.versions[report.knowledge] = version
        needed = {self.past.entries[0].knowledge, *(entry.knowledge for entry in self.past.entries[-2:])}
        surplus = max(len(self.versions) - MOST_VERSIONS, 0)
        for knowledge in [one for one in self.versions if one not in needed][:surplus]:
            del self.versions[knowledge]

    def _end(self, state: str, message: str) -> None:
        tick = self.doing.tick + 1
        self.doing = replace(self.doing, state=state, message=message, ended=time.monotonic(), tick=tick)
        number = self.past.last.number
        if self.content.outcomes.get(number, {}).get("status") != "measured":
            self._keep_outcomes({**self.content.outcomes, number: {"status": state, "message": message}})

    def _record(self) -> None:
        """Keep what each change did, once the version is measured, and the one before it."""
        entries, outcomes = self.past.entries, dict(self.content.outcomes)
        for entry in entries:
            after = self.versions.get(entry.knowledge)
            if outcomes.get(entry.number, {}).get("status") == "measured" or after is None or after.measured is None:
                continue
            before = self.versions.get(entries[entry.number - 1].knowledge) if entry.number else None
            known = before is not None and before.measured is not None
            outcomes[entry.number] = {
                "status": "measured",
                "scores": after.measured.scores,
                "warnings": list(after.warnings),
                "comparison": plain(compared(before, after)) if known and before is not None else None,
            }
        self._keep_outcomes(outcomes)

    def _keep_outcomes(self, outcomes: dict[int, dict[str, Any]]) -> None:
        try:
            self.put(outcomes=outcomes)
        except (OSError, ValueError) as error:
            log.warning("the session was not written: %s", type(error).__name__)
            self.doing = replace(self.doing, message=str(error))


def plain(value: Any) -> Any:
    """Return a value as JSON has it; NaN and infinity as None."""
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        # Most lists are long and hold finite numbers only.
        if all(type(part) is float and math.isfinite(part) for part in value):
            return list(value)
        return [plain(part) for part in value]
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return value


def model_digest(subject: Subject) -> str:
    """Return a digest of what a model has learned."""
    fitted = subject.model.fitted_
    digest = hashlib.sha256(repr((list(subject.classes), fitted.feature_names)).encode())
    for array in (fitted.inner_weights, fitted.inner_bias, fitted.outer_weights, fitted.outer_bias):
        digest.update(np.ascontiguousarray(array, dtype=np.float64).tobytes())
    return digest.hexdigest()


def rows_digest(subject: Subject) -> str:
    """Return a digest of the rows and their classes."""
    labels = repr([subject.classes[code] for code in subject.codes])
    return hashlib.sha256((subject.frame.to_csv(index=False) + labels).encode(errors="surrogatepass")).hexdigest()
