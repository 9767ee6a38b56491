"""How fast models predict: rows a second, and milliseconds for one row, beside LightGBM in the same run.

Run:  python benchmarks/predict.py [--train 5000] [--rows 50000] [--features 20] [--classes 3] [--threads 2] [--runs 7]

Models take turns, and the fastest of their runs counts: other programs on the machine disturb all alike. One row is the
median of many, each another row. Ratios are against LightGBM, above 1 where that is better, and there are none without
it. Beside the clock stand the microseconds of the processor for each row, which other programs disturb less.
"""

import argparse
import os
import sys
import time

THREADS = sys.argv[sys.argv.index("--threads") + 1] if "--threads" in sys.argv else "2"
for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = THREADS

import numpy as np
from sklearn.datasets import make_classification
from sklearn.linear_model import LogisticRegression

from cogmap import LTCNClassifier, LTCNClassifierCV

ONE_BY_ONE = 100
LIGHTGBM = "LightGBM"


def models():
    """Return models by name; LightGBM where it is installed."""
    made = {
        "one network": LTCNClassifier(),
        "stack without cases": LTCNClassifierCV(cases=False),
        "stack": LTCNClassifierCV(),
        "logistic regression": LogisticRegression(max_iter=1000),
    }
    try:
        from lightgbm import LGBMClassifier
    except ImportError:
        return made
    return made | {LIGHTGBM: LGBMClassifier(n_jobs=int(THREADS), verbose=-1)}


def timed(function, *given):
    """Return the seconds of a call by the clock, and by the processor."""
    clock, processor = time.perf_counter(), time.process_time()
    function(*given)
    return time.perf_counter() - clock, time.process_time() - processor


def measure(fitted, rows, runs):
    """Return for each model the seconds of all rows, those of the processor, and those of one row."""
    every, single = {name: [] for name in fitted}, {name: [] for name in fitted}
    for run in range(-1, runs):
        for name, model in fitted.items():
            together = timed(model.predict, rows)
            alone = [timed(model.predict, rows[i : i + 1])[0] for i in range(ONE_BY_ONE)]
            if run >= 0:  # the first is for what is computed once
                every[name].append(together)
                single[name].append(np.median(alone))
    return {name: (*np.min(every[name], axis=0), min(single[name])) for name in fitted}


def main():
    """Fit, measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--train", type=int, default=5000)
    parser.add_argument("--rows", type=int, default=50_000)
    parser.add_argument("--features", type=int, default=20)
    parser.add_argument("--classes", type=int, default=3)
    parser.add_argument("--threads", type=int, default=2, help="threads of BLAS, of the networks and of LightGBM")
    parser.add_argument("--runs", type=int, default=7)
    given = parser.parse_args()
    n, m = given.train, given.features
    X, y = make_classification(n + given.rows, m, n_informative=m // 2, n_classes=given.classes, random_state=0)
    fitted = {name: model.fit(X[:n], y[:n]) for name, model in models().items()}
    found = measure(fitted, X[n:], given.runs)
    base = found.get(LIGHTGBM)
    print("| model | rows a second | against LightGBM | µs of the processor a row | one row, ms | against LightGBM |")
    print("|---|---|---|---|---|---|")
    for name, (seconds, processor, one) in found.items():
        slower = [f"{ratio:.2f}" for ratio in (seconds / base[0], one / base[2])] if base else ["", ""]
        print(
            f"| {name} | {given.rows / seconds:,.0f} | {slower[0]} | {1e6 * processor / given.rows:.2f} "
            f"| {1e3 * one:.2f} | {slower[1]} |"
        )


if __name__ == "__main__":
    main()
