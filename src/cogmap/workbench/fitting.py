"""Fits in a process of their own, which can be stopped at any moment: what it does, and how to watch it.

The process is this module, run by the same Python. It reads `Job`s from its input and writes `Report`s to its output,
each as a pickle; both ends are the same program, and nobody else can write there.

Easy to get wrong: a server that is killed stops nothing. The process therefore ends when its input does.
"""

import logging
import os
import pickle
import subprocess
import sys
import threading
import warnings
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any, BinaryIO

from ..core.types import Array
from ..knowledge import Knowledge
from ..report.subject import Subject
from .measuring import Measured, fit_under, measure, n_steps, relevance_shares

ATTEMPTS = 50
"""How often a job is pickled again, because its model was asked meanwhile."""

log = logging.getLogger("cogmap.workbench")


@dataclass(frozen=True)
class Task:
    """A version to fit, unless `model` is it already, and to measure, unless that is not wanted."""

    knowledge: Knowledge
    model: Any
    wanted: bool


@dataclass(frozen=True)
class Job:
    """Versions of a model, in the order in which they are fitted; they are measured in the opposite one.

    Attributes
    ----------
    subject : Subject
        The given model and its rows.
    tasks : tuple of Task
        The versions.
    n_folds : int
        Folds of the cross-validation.
    named : tuple of str
        Columns whose effects are asked for.
    """

    subject: Subject
    tasks: tuple[Task, ...]
    n_folds: int
    named: tuple[str, ...]

    @property
    def n_steps(self) -> int:
        """Steps of which the process will tell."""
        measured = n_steps(self.subject, self.n_folds)
        return sum((task.model is None) + (1 + measured) * task.wanted for task in self.tasks)


@dataclass(frozen=True)
class Report:
    """News of a job.

    Attributes
    ----------
    kind : {"step", "model", "measured", "failed", "done"}
        What it is about.
    text : str
        The step that begins, or what went wrong.
    knowledge : Knowledge or None
        The version that it is about.
    model, relevance, measured, warnings
        What was made.
    """

    kind: str
    text: str = ""
    knowledge: Knowledge | None = None
    model: Any = None
    relevance: Array | None = None
    measured: Measured | None = None
    warnings: tuple[str, ...] = ()


class Worker:
    """A process that does one job at a time, and is ready for the next one; it takes seconds to start."""

    def __init__(self) -> None:
        self._process: subprocess.Popen[bytes] | None = None
        self._run: Run | None = None

    def begin(self, job: Job, tell: Callable[[Report], None]) -> None:
        """Begin a job, of which `tell` hears in a thread; one that is at work ends."""
        self.stop()
        self._run = Run(self._started(), job, tell)

    def stop(self) -> None:
        """End the job at work at once; nothing more is told of it."""
        if self._run is not None and self._run.stop():
            self._process = None
            self._started()

    def wait(self, seconds: float | None = None) -> None:
        """Wait until no job is at work."""
        if self._run is not None:
            self._run.thread.join(seconds)

    def close(self) -> None:
        """End the process."""
        if self._run is not None:
            self._run.stop()
        if self._process is not None:
            _end(self._process)
        self._run = self._process = None

    def _started(self) -> "subprocess.Popen[bytes]":
        """Return the process, started anew where it has ended."""
        if self._process is None or self._process.poll() is not None:
            here = str(Path(__file__).resolve().parents[2])
            paths = os.pathsep.join(filter(None, [here, os.environ.get("PYTHONPATH")]))
            self._process = subprocess.Popen(
                [sys.executable, "-P", "-W", "ignore", "-m", "cogmap.workbench.fitting"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
                env=os.environ | {"PYTHONPATH": paths},
            )
            weakref.finalize(self, _end, self._process)
        return self._process


class Run:
    """One job of a process."""

    def __init__(self, process: "subprocess.Popen[bytes]", job: Job, tell: Callable[[Report], None]) -> None:
        self._process, self._tell, self._over = process, tell, False
        self.thread = threading.Thread(target=self._listen, args=(job,), daemon=True, name="cogmap-refit")
        self.thread.start()

    def stop(self) -> bool:
        """End the process if it is at work, and say whether it was."""
        if self._over:
            return False
        self._over = True
        _end(self._process)
        return True

    def _listen(self, job: Job) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(pickled(job))
            self._process.stdin.flush()
            while not self._over:
                report: Report = pickle.load(self._process.stdout)
                if not self._over:
                    self._over = report.kind in ("done", "failed")
                    self._tell(report)
        except (OSError, EOFError, ValueError, pickle.UnpicklingError):
            if not self._over:
                self._over = True
                _end(self._process)
                code = self._process.returncode
                self._tell(Report("failed", f"The fit ended without a result (code {code}): try again."))


def pickled(job: Any) -> bytes:
    """Return the bytes of a job whose model may be asked meanwhile, and then remembers more: a dictionary grows."""
    for _ in range(ATTEMPTS):
        with suppress(RuntimeError):
            return pickle.dumps(job)
    return pickle.dumps(job)


def _end(process: "subprocess.Popen[bytes]") -> None:
    """End a process and close its pipes."""
    process.kill()
    process.wait()
    for pipe in (process.stdin, process.stdout):
        # What could not be written any more is of no use to anybody.
        with suppress(OSError, ValueError):
            assert pipe is not None
            pipe.close()


def work(job: Job, tell: Callable[[Report], None]) -> None:
    """Do a job: fit its versions, then measure them."""
    models = []
    for task in job.tasks:
        model = task.model
        if model is None:
            tell(Report("step", "fitting"))
            model = _fitted(job.subject, task.knowledge, tell)
        models.append(model)
    for task, model in reversed(list(zip(job.tasks, models, strict=True))):
        if not task.wanted:
            continue
        tell(Report("step", "relevance"))
        tell(Report("model", knowledge=task.knowledge, relevance=relevance_shares(model)))
        subject = replace(job.subject, model=model)
        measured = measure(subject, job.n_folds, job.named, lambda step: tell(Report("step", step)))
        tell(Report("measured", knowledge=task.knowledge, measured=measured))
    tell(Report("done"))


def _fitted(subject: Subject, knowledge: Knowledge, tell: Callable[[Report], None]) -> Any:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = fit_under(subject.model, knowledge, subject.inputs, subject.labels)
    said = tuple(dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning)))
    tell(Report("model", knowledge=knowledge, model=model, warnings=said))
    return model


def main() -> None:
    """Do the jobs that come from the input, one after the other."""
    output = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # what a library prints must not come between the reports
    if hasattr(os, "nice"):
        os.nice(5)

    def tell(report: Report) -> None:
        pickle.dump(report, output)
        output.flush()

    jobs: SimpleQueue[Job] = SimpleQueue()
    threading.Thread(target=_take_in, args=(sys.stdin.buffer, jobs), daemon=True).start()
    while True:
        try:
            work(jobs.get(), tell)
        except ValueError as error:
            tell(Report("failed", str(error)))
        except MemoryError:
            tell(Report("failed", "The memory does not suffice for this fit: use fewer rows."))
        except Exception as error:  # whatever it is, the page must say something
            tell(Report("failed", f"The fit failed ({type(error).__name__}: {error})."))


def _take_in(pipe: BinaryIO, jobs: "SimpleQueue[Job]") -> None:
    """Read jobs until the input ends, and end with it."""
    with suppress(EOFError, OSError):
        while True:
            jobs.put(pickle.load(pipe))
    os._exit(0)


if __name__ == "__main__":
    from cogmap.workbench import fitting  # by its full name: what is pickled here is unpickled there

    fitting.main()
