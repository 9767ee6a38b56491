"""What it costs to judge shrinkage, gate and decision by some rows instead of all: kappa and log loss of new rows.

Run:  python benchmarks/judges.py [--rows 200000]

Each problem is fitted twice to the same rows, with the limits of `core.fit.judges` and without; 200,000 new rows
try both.
"""

import argparse
import os
import time

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from sklearn.metrics import cohen_kappa_score, log_loss

from cogmap import LTCNClassifier
from cogmap.core.fit import judges

LIMITS = ("JUDGES", "DECIDERS", "JUDGED_NUMBERS")
NEW_ROWS = 200_000


def rows(rng, n):
    """Return ten correlated features, and a signal in them that is no line."""
    X = rng.normal(size=(n, 10)) @ (np.eye(10) + 0.3 * np.random.default_rng(1).normal(size=(10, 10)))
    return X, np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 4 + X[:, 3] / 2 + rng.normal(size=n) / 2


def problems():
    """Return the bounds between classes along the signal, by name."""
    return {
        "two classes": [0.0],
        "two classes, one of 2 %": [2.1],
        "five classes": [-1.5, -0.5, 0.5, 1.5],
        "twenty classes": np.linspace(-2.4, 2.4, 19),
    }


def main():
    """Fit, and print a line for each problem and penalty."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=int, default=200_000)
    given = parser.parse_args()
    limits = {name: getattr(judges, name) for name in LIMITS}
    print("| problem | alpha | kappa, all rows | kappa, judges | log loss, all rows | log loss, judges | time, ratio |")
    print("|---|---|---|---|---|---|---|")
    for name, bounds in problems().items():
        rng = np.random.default_rng(0)
        (X, signal), (new, new_signal) = rows(rng, given.rows), rows(rng, NEW_ROWS)
        y, truth = np.digitize(signal, bounds), np.digitize(new_signal, bounds)
        for alpha in ("loo", 1.0):
            kappa, loss, seconds = [], [], []
            for given_limits in (dict.fromkeys(LIMITS, 10**12), limits):
                for limit, most in given_limits.items():
                    setattr(judges, limit, most)
                start = time.process_time()
                model = LTCNClassifier(alpha=alpha).fit(X, y)
                seconds.append(time.process_time() - start)
                kappa.append(cohen_kappa_score(truth, model.predict(new)))
                loss.append(log_loss(truth, model.predict_proba(new)))
            cells = [f"{value:.4f}" for value in (*kappa, *loss)]
            print(f"| {name} | {alpha} | {' | '.join(cells)} | {seconds[1] / seconds[0]:.2f} |", flush=True)


if __name__ == "__main__":
    main()
