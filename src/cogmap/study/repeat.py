"""Results run again, on this machine: the same kappa, or a classifier of which that cannot be expected."""

import random
from collections.abc import Iterator
from dataclasses import dataclass

from .protocol import KEY, WHOLE, Row, Task, evaluate
from .registry import REGISTRY


@dataclass(frozen=True)
class Repeated:
    """A cell with its kappa in the results and here."""

    task: Task
    written: str
    now: float

    @property
    def same(self) -> bool:
        """Whether both are the same to the digits that are written, three at least."""
        digits = max(3, len(self.written.partition(".")[2]))
        return bool(abs(self.now - float(self.written)) <= 0.5 * 10.0**-digits + 1e-9)

    def __str__(self) -> str:
        task = self.task
        rounding = " (rounding decides some of its classes)" if REGISTRY[task.classifier].rounding else ""
        verdict = "the same" if self.same else f"differs by {self.now - float(self.written):+.6f}{rounding}"
        cell = f"{task.dataset} · {task.classifier} · {task.grid} · fold {task.fold}"
        return f"{cell}: kappa {self.written}, now {self.now:.6f}: {verdict}"


def drawn(rows: list[Row], n: int, seed: int) -> Iterator[tuple[Task, str]]:
    """Draw cells with a kappa, each classifier alike, of those that this machine can run."""
    kinds: dict[str, list[Row]] = {}
    for row in rows:
        if row["fold"] != WHOLE and not row["error"]:
            kinds.setdefault(row["classifier"], []).append(row)
    runnable = sorted(name for name in kinds if name in REGISTRY and not REGISTRY[name].missing())
    chance = random.Random(seed)
    for _ in range(n if runnable else 0):
        row = chance.choice(kinds[chance.choice(runnable)])
        values = {name: row[name] for name in KEY} | {
            "inner": int(float(row["inner"])),
            "seed": int(float(row["seed"])),
        }
        yield Task(**values), str(row["kappa"])


def repeated(task: Task, written: str, data_dir: str | None = None) -> Repeated:
    """Run a cell again."""
    return Repeated(task, written, evaluate(task, data_dir)["kappa"])
