"""What fits cost, and how good they are, beside an earlier version: same folds, in turns, one thread each.

Run: COGMAP_DATA=… COGMAP_MORE=… python benchmarks/since.py effc32a [--min-rows 0] [--max-rows 2000]
         [--datasets A,B] [--folds 1] [--repeats 3]

The earlier version is checked out by git into a temporary folder; it needs nothing that this one does not. Seconds are
of the processor, the least of the repeats. Ratios are geometric means.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
from data import HALVES, MORE, PAPER, SEEDS, half, load
from sklearn.model_selection import StratifiedKFold

HERE = Path(__file__).resolve().parent.parent

FIT = """
import json, sys, time, warnings
import numpy as np
from cogmap import LTCNClassifierCV
warnings.simplefilter("ignore")
for line in sys.stdin:
    data = np.load(line.strip())
    start = time.process_time()
    model = LTCNClassifierCV().fit(data["X"], data["y"])
    seconds = time.process_time() - start
    P, y = np.clip(model.predict_proba(data["X_test"]), 1e-9, 1), data["y_test"]
    right = float((P.argmax(axis=1) == y).mean())
    print(json.dumps([right, float(-np.log(P[np.arange(len(y)), y]).mean()), seconds]), flush=True)
"""


def worker(folder):
    """Return a process that fits what it is told with the package in a folder."""
    threads = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    environment = os.environ | threads | {"PYTHONPATH": str(folder / "src")}
    return subprocess.Popen(
        [sys.executable, "-c", FIT], env=environment, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def ask(process, path):
    """Return accuracy, log loss and seconds of one fit."""
    print(path, file=process.stdin, flush=True)
    line = process.stdout.readline()
    return json.loads(line) if line else sys.exit("A fit ended its process; its error is above.")


def compare(workers, path, name, fold, repeats):
    """Return what both versions reach on one fold, shape (2, 3)."""
    X, y = load(name)
    seed = SEEDS["paper" if name in PAPER else "more"]
    train, test = list(StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y))[fold]
    np.savez(path, X=X[train], y=y[train], X_test=X[test], y_test=y[test])
    found = np.array([[ask(process, path) for process in workers] for _ in range(repeats)])
    return np.c_[found[0, :, :2], found[:, :, 2].min(axis=0)]


def main():
    """Print a line for each set and fold, and the means."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("revision")
    parser.add_argument("--datasets")
    parser.add_argument("--folds", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=3)
    parser.add_argument("--min-rows", type=int, default=0)
    parser.add_argument("--max-rows", type=int, default=2000)
    given = parser.parse_args()
    sizes = PAPER | MORE
    within = [name for name in sizes if given.min_rows <= sizes[name] <= given.max_rows]
    names = given.datasets.split(",") if given.datasets else within
    with tempfile.TemporaryDirectory() as folder:
        then = Path(folder) / "then"
        add = ["git", "worktree", "add", "--quiet", "--force", "--detach", then, given.revision]
        subprocess.run(add, check=True, cwd=HERE)
        workers, found, halves = [worker(then), worker(HERE)], [], []
        try:
            for name in names:
                for fold in range(given.folds):
                    found.append(compare(workers, Path(folder) / "fold.npz", name, fold, given.repeats))
                    halves.append(half(name))
                    (right, loss, seconds), now = found[-1]
                    print(
                        f"{name:<28} accuracy {right:.4f} {now[0]:.4f}  log loss {loss:.4f} {now[1]:.4f}  "
                        f"seconds {seconds:.3f} {now[2]:.3f}  {now[2] / seconds:.2f}",
                        flush=True,
                    )
        finally:
            for process in workers:
                process.kill()
            subprocess.run(["git", "worktree", "remove", "--force", then], check=True, cwd=HERE)
    for which in ("all", *HALVES):
        if some := [one for one, own in zip(found, halves, strict=True) if which in ("all", own)]:
            (right, loss, _), now = np.mean(some, axis=0)
            ratios = [one[1, 2] / one[0, 2] for one in some]
            print(
                f"{len(some)} folds ({which}): accuracy {right:.4f} {now[0]:.4f}  log loss {loss:.4f} {now[1]:.4f}  "
                f"cost × {np.exp(np.mean(np.log(ratios))):.2f} ({min(ratios):.2f} to {max(ratios):.2f})"
            )


if __name__ == "__main__":
    main()
