"""Thousands of features: time against the matrix products of one fit, and extra memory.

Run:  python benchmarks/wide.py [--sizes 1000x2000,2000x5000] [--alphas loo,1e4] [--iterations 10]

Every fit runs in a process of its own with one BLAS thread, or as many as THREADS says. The yardstick are the products
that a fit cannot do without: two of the states with the inner weights for each iteration, and one K × K Gram matrix of
each iteration's increments, each timed once on at most 2,000 rows. A second reading of the iterations, for the outer
weights, and the factorisations come on top. Times are of the processor. Extra memory is the peak of the resident memory
during the fit beyond what the process held before, when the rows were there already.
"""

import argparse
import os
import subprocess
import sys
import time

THREADS = os.environ.get("THREADS", "1")
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = THREADS

import numpy as np
from scale import Peak, resident
from scipy.linalg.blas import dsyrk

from cogmap import LTCNClassifier


def problem(n, m, n_classes=4, n_factors=20):
    """Return rows that a few hidden factors generate, whose class is the largest of some functions of these."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(n, n_factors))
    X = factors @ rng.normal(size=(n_factors, m))
    X += rng.normal(size=(n, m))
    pairs = rng.integers(0, n_factors, (n_classes, 3))
    scores = [np.sin(2 * factors[:, a]) + factors[:, b] * factors[:, c] for a, b, c in pairs]
    return X, np.argmax(scores, axis=0)


def seconds_of(function):
    """Return the processor time of a call."""
    start = time.process_time()
    function()
    return time.process_time() - start


def products(X, n_iter):
    """Return the seconds of the products that a fit of `n_iter` iterations cannot do without."""
    some, W = np.ascontiguousarray(X[:2000]), np.full((X.shape[1], X.shape[1]), 0.5)
    share = len(X) / len(some)
    reasoning = share * seconds_of(lambda: some @ W)
    gram = share**2 * seconds_of(lambda: dsyrk(1.0, some.T, trans=1))
    return 2 * n_iter * reasoning + (n_iter + 1) * gram


def one(n, m, alpha, iterations):
    """Fit once, and print what was measured."""
    X, y = problem(n + 1000, m)
    X, y, X_test, y_test = X[:n], y[:n], X[n:], y[n:]
    model = LTCNClassifier(max_iter=iterations, alpha="loo" if alpha == "loo" else float(alpha))
    LTCNClassifier(max_iter=1).fit(X[:200, :20], y[:200])
    before = resident()
    with Peak() as peak:
        seconds = seconds_of(lambda: model.fit(X, y))
    accuracy = model.score(X_test, y_test)
    print(seconds, peak.most - before, model.n_iter_, products(X, iterations), accuracy, model.alpha_ or -1)


def main():
    """Read the command line, and print one line for each fit."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="1000x2000,2000x5000", help="rows x features, comma-separated")
    parser.add_argument("--alphas", default="loo,1e4", help="comma-separated")
    parser.add_argument("--iterations", type=int, default=10)
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    sizes = [tuple(map(int, size.split("x"))) for size in given.sizes.split(",")]
    if given.one:
        one(*sizes[0], given.alphas, given.iterations)
        return
    print("| rows | features | alpha | n_iter_ | alpha_ | seconds | × its products | extra memory | test accuracy |")
    print("|---" * 9 + "|")
    for n, m in sizes:
        for alpha in given.alphas.split(","):
            options = ["--one", "--sizes", f"{n}x{m}", "--alphas", alpha, "--iterations", str(given.iterations)]
            done = subprocess.run([sys.executable, __file__, *options], stdout=subprocess.PIPE, text=True, check=True)
            seconds, extra, n_iter, yardstick, accuracy, used = map(float, done.stdout.split())
            print(
                f"| {n} | {m} | {alpha} | {n_iter:.0f} | {used:.3g} | {seconds:.1f} | {seconds / yardstick:.1f} "
                f"| {extra:.0f} MB | {accuracy:.3f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
