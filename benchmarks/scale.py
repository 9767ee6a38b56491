"""Many rows in memory: time against one matrix product, extra memory, and growth with the number of rows.

Run:  python benchmarks/scale.py [--rows 200000] [--features 50] [--classes 10] [--threads 1]

Every fit runs in a process of its own. The yardstick is one product of two matrices with as many multiply-adds as HᵀH
of the states H (K × M (T + 1)), 20,000 rows at a time, half of it before the fit and half after, with as many threads.
(numpy sees that HᵀH itself is symmetric, and takes little more than half of that.) Times of one thread are of the
processor, which other programs on the machine disturb less than the clock; with `--runs` the median of several. Extra
memory is the peak of the resident memory during the fit beyond what the process held before, when the rows were there
already.
"""

import argparse
import os
import subprocess
import sys
import threading
import time
from pathlib import Path

THREADS = sys.argv[sys.argv.index("--threads") + 1] if "--threads" in sys.argv else "1"
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = THREADS

import numpy as np

from cogmap import LTCNClassifier

ITERATIONS = 10
clock = time.process_time if THREADS == "1" else time.perf_counter


def problem(n, m, n_classes):
    """Return correlated rows whose class is the largest of some functions of a few features."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, m)) @ (np.eye(m) + 0.3 * rng.normal(size=(m, m)))
    pairs = rng.integers(0, m, (n_classes, 3))
    scores = [np.sin(X[:, a] / 3) + X[:, b] * X[:, c] / 30 for a, b, c in pairs]
    return X, np.argmax(scores, axis=0)


def resident():
    """Return the resident memory of this process in MB."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


class Peak:
    """The largest resident memory while it is open, looked at a hundred times a second."""

    def __enter__(self):
        self.most, self.open = resident(), True
        self.thread = threading.Thread(target=self.watch)
        self.thread.start()
        return self

    def watch(self):
        """Look until it is closed."""
        while self.open:
            self.most = max(self.most, resident())
            time.sleep(0.01)

    def __exit__(self, *_):
        self.open = False
        self.thread.join()


def product(n, m):
    """Return the seconds of a product of n rows with the multiply-adds of HᵀH."""
    H, G = np.random.default_rng(0).random((2, 20_000, m * (ITERATIONS + 1)))
    H[:2000].T @ G[:2000]
    start = clock()
    for _ in range(-(-n // len(H))):
        H.T @ G
    return (clock() - start) * n / (-(-n // len(H)) * len(H))


def one(n, m, n_classes, alpha):
    """Fit once, and print seconds, extra memory, iterations and the yardstick."""
    X, y = problem(n, m, n_classes)
    model = LTCNClassifier(max_iter=ITERATIONS, alpha="loo" if alpha == "loo" else float(alpha))
    LTCNClassifier(max_iter=1).fit(X[:500], y[:500])
    yardstick = product(n // 2, m)
    before = resident()
    with Peak() as peak:
        start = clock()
        model.fit(X, y)
        seconds = clock() - start
    print(seconds, peak.most - before, model.n_iter_, yardstick + product(n // 2, m))


def main():
    """Read the command line, and print one line for each fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--runs", type=int, default=1, help="fits of each size")
    parser.add_argument("--threads", type=int, default=1, help="threads of the products, and of the fit")
    parser.add_argument("--alpha", default=None, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.alpha is not None:
        one(given.rows, given.features, given.classes, given.alpha)
        return
    print("| rows | alpha | seconds | × one product | per row, against a quarter | extra memory | n_iter_ |")
    print("|---|---|---|---|---|---|---|")
    for alpha in ("loo", "1.0", "0.001"):
        base = None
        for n in (given.rows // 4, given.rows // 2, given.rows):
            sizes = ["--rows", n, "--features", given.features, "--classes", given.classes]
            command = [sys.executable, __file__, *sizes, "--alpha", alpha, "--threads", given.threads]
            runs = [
                subprocess.run([*map(str, command)], capture_output=True, text=True, check=True)
                for _ in range(given.runs)
            ]
            found = np.array([run.stdout.split() for run in runs], dtype=float)
            seconds, extra, n_iter, _ = np.median(found, axis=0)
            ratio = np.median(found[:, 0] / found[:, 3])
            base = base or seconds / n
            print(
                f"| {n} | {alpha} | {seconds:.1f} | {ratio:.2f} | {seconds / n / base:.2f} | "
                f"{extra:.0f} MB | {n_iter:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
