"""Many folds: in processes, each result kept as soon as it is known, continued after an interruption.

Every process uses one thread for linear algebra, so that `jobs` processes use `jobs` cores and times can be compared.
A process that takes longer than the limit, or dies, is replaced; its fold becomes a row with the error.

Easy to get wrong: the training time on the whole dataset needs the configuration that the folds chose, so that task is
made when the last fold of its group is known, be it from this run or an earlier one.
"""

import logging
import multiprocessing
import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from concurrent.futures import Future
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from queue import SimpleQueue
from typing import Any

from .datasets import load
from .protocol import N_FOLDS, WHOLE, Row, Task, evaluate, time_whole, usual
from .registry import GRIDS, Entry, Shape, find
from .results import Results, key_of

logger = logging.getLogger(__name__)
THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS")


@dataclass(frozen=True)
class Plan:
    """What to run, and how.

    Attributes
    ----------
    datasets, classifiers : tuple of str
        Names.
    grid, inner, scale, seed
        As in `Task`.
    jobs : int
        Processes.
    limit : float or None
        Most seconds of a fold, its search included.
    whole : bool
        Whether training is also timed on the whole dataset.
    largest_first : bool
        Whether the largest datasets are run first; it keeps many cores busy to the end.
    retry : bool
        Whether folds that ended in an error are tried again.
    data_dir : str or None
        Folder of the datasets.
    """

    datasets: tuple[str, ...]
    classifiers: tuple[str, ...]
    grids: tuple[str, ...] = ("small",)
    inner: int = 3
    scale: str = "fold"
    seed: int = 42
    jobs: int = 1
    limit: float | None = None
    whole: bool = True
    largest_first: bool = False
    retry: bool = False
    data_dir: str | None = None


def available(plan: Plan) -> list[Entry]:
    """Return the classifiers that this machine can run; say which ones it cannot, and why."""
    entries = []
    for entry in map(find, plan.classifiers):
        if reason := entry.missing():
            logger.warning("%s is skipped: %s.", entry.name, reason)
        else:
            entries.append(entry)
    return entries


def tasks(plan: Plan) -> list[Task]:
    """Return every fold of the plan; classifiers for two classes take binary problems only, which is said."""
    entries, tasks = available(plan), []
    for entry in entries:
        for grid in set(plan.grids) & set(GRIDS):
            entry.grid(grid, Shape(2, 1, 2))  # says so where there is no such grid
    left_out: dict[str, int] = {}
    sizes = {}
    for name in plan.datasets:
        data = load(name, plan.data_dir)
        if not data.source.startswith(str(plan.data_dir or os.environ.get("COGMAP_DATA", "\0"))):
            logger.warning("%s comes from %s.", name, data.source)
        sizes[name] = data.X.size
        for entry in entries:
            if entry.binary and len(data.without_rare(N_FOLDS).classes) > 2:
                left_out[entry.name] = left_out.get(entry.name, 0) + 1
                continue
            for grid in plan.grids:
                scale = "file" if grid == "authors" else plan.scale
                task = Task(name, entry.name, grid, plan.inner, scale, plan.seed, "0")  # type: ignore[arg-type]
                tasks += [replace(task, fold=str(fold)) for fold in range(N_FOLDS)]
    for name, count in left_out.items():
        logger.warning("%s takes two classes only: left out on %d of %d datasets.", name, count, len(plan.datasets))
    return sorted(tasks, key=lambda task: sizes[task.dataset], reverse=plan.largest_first)


def run(plan: Plan, path: Path) -> Iterator[tuple[Row, int]]:
    """Run what is not in the results yet; yield each new row with the number of tasks still to do."""
    wanted = tasks(plan)
    with Results(path) as results:
        if plan.retry:
            keys = {key_of(asdict(task)) for task in wanted}
            results.drop_errors(keys | {(*key[:-1], WHOLE) for key in keys})
        yield from _run(plan, wanted, results)
        results.finish()


def _run(plan: Plan, wanted: list[Task], results: Results) -> Iterator[tuple[Row, int]]:
    progress = _Progress(plan, wanted, results)
    if not progress.waiting and not progress.whole_ready():
        return
    done: SimpleQueue[tuple[Task, Future[Row]]] = SimpleQueue()
    with _pool(plan.jobs) as pool:

        def schedule(task: Task, function: Any, *arguments: Any) -> None:
            future = pool.schedule(function, args=(task, *arguments, plan.data_dir), timeout=plan.limit)
            future.add_done_callback(lambda finished: done.put((task, finished)))

        for task in progress.waiting:
            schedule(task, evaluate)
        pending = len(progress.waiting)
        for task, params in progress.whole_ready():
            schedule(task, time_whole, params)
            pending += 1
        while pending:
            task, future = done.get()
            pending -= 1
            row = asdict(task) | _outcome(future, plan.limit)
            results.add(row)
            if task.fold != WHOLE and (ready := progress.finished(task)):
                schedule(ready[0], time_whole, ready[1])
                pending += 1
            yield row, pending + progress.unscheduled()


class _Progress:
    """Which folds are still to do, and which groups are complete but for the time on the whole dataset."""

    def __init__(self, plan: Plan, wanted: list[Task], results: Results) -> None:
        self._results, self._whole = results, plan.whole
        known = {key_of(row) for row in results.rows}
        self.waiting = [task for task in wanted if key_of(asdict(task)) not in known]
        self._left: dict[tuple[Any, ...], int] = {task.group: 0 for task in wanted}
        for task in self.waiting:
            self._left[task.group] += 1
        self._timed = {task.group for task in wanted if key_of(asdict(replace(task, fold=WHOLE))) in known}
        self._first = {task.group: task for task in wanted}

    def whole_ready(self) -> list[tuple[Task, str]]:
        """Return whole-dataset tasks of groups whose folds were all known before this run."""
        groups = [group for group, left in self._left.items() if not left and group not in self._timed]
        return [ready for group in groups if (ready := self._whole_task(group))]

    def finished(self, task: Task) -> tuple[Task, str] | None:
        """Note a finished fold; return the whole-dataset task that it makes possible."""
        self._left[task.group] -= 1
        return None if self._left[task.group] or task.group in self._timed else self._whole_task(task.group)

    def unscheduled(self) -> int:
        """Return the number of whole-dataset tasks that wait for folds."""
        return sum(left > 0 and group not in self._timed for group, left in self._left.items()) if self._whole else 0

    def _whole_task(self, group: tuple[Any, ...]) -> tuple[Task, str] | None:
        task = replace(self._first[group], fold=WHOLE)
        rows = {row["fold"]: row for row in self._results.rows if key_of(row)[:-1] == tuple(map(str, group))}
        params = [rows[fold]["params"] for fold in sorted(rows) if fold != WHOLE and not rows[fold]["error"]]
        return (task, usual(params)) if self._whole and params else None


def _outcome(future: "Future[Row]", limit: float | None) -> Row:
    """Return what a task found, or its error in one line."""
    try:
        return future.result()
    except TimeoutError:
        return {"error": f"timeout: more than {limit:g} s"}
    except Exception as error:
        return {"error": " ".join(f"{type(error).__name__}: {error}".split())[:300]}


@contextmanager
def _pool(jobs: int) -> Iterator[Any]:
    """Provide worker processes, and stop them on the way out, whatever they are doing."""
    try:
        from pebble import ProcessPool
    except ImportError as error:
        raise ImportError('The study needs pebble: pip install "cogmap[study]".') from error
    before = {name: os.environ.get(name) for name in THREADS}
    os.environ.update(dict.fromkeys(THREADS, "1"))
    pool = ProcessPool(jobs, initializer=_prepare, context=multiprocessing.get_context("spawn"))
    try:
        with _ending_in_order():
            yield pool
    finally:
        pool.stop()  # type: ignore[no-untyped-call]
        pool.join()
        for name, value in before.items():
            os.environ.pop(name, None) if value is None else os.environ.update({name: value})


@contextmanager
def _ending_in_order() -> Iterator[None]:
    """Turn SIGTERM into an exit that cleans up: otherwise the pool's processes and semaphores are left behind."""
    ours = threading.current_thread() is threading.main_thread() and signal.getsignal(signal.SIGTERM) == signal.SIG_DFL
    if ours:
        signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        if ours:
            signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _prepare() -> None:
    """Let this process end when its parent is gone, even if that was killed, and leave nothing when it is killed."""
    from tqdm import tqdm

    # By default tqdm locks by a semaphore, with a name that outlives a killed process; susi's SOM shows progress.
    tqdm.set_lock(threading.RLock())
    logging.disable(logging.INFO)
    parent = multiprocessing.parent_process()

    def watch() -> None:
        if parent is not None:
            parent.join()
            time.sleep(0.1)
            os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
