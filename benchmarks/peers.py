"""Many rows, side by side with peers: time to fit, time to predict, accuracy on new rows.

Run:  python benchmarks/peers.py [--rows 200000] [--features 50] [--classes 10] [--limit 900] [names …]

Needs lightgbm, interpret-core and ltcn (pip install "cogmap[study]" ltcn==0.1.0). Every model has its defaults, one
thread and a process of its own; those that ask for scaled features get them, and the scaling is part of the time. Times
are of the processor. A fit that takes more than `--limit` seconds of it is stopped.
"""

import argparse
import os
import resource
import subprocess
import sys
import time

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from scale import problem

NEW_ROWS = 50_000


class Authors:
    """The authors' package: rows scaled to [0, 1], classes as a one-hot matrix."""

    def __init__(self, method):
        from ltcn.LTCN import LTCN

        self.model = LTCN(method=method)

    def fit(self, X, y):
        """Fit."""
        self.low, self.span = X.min(axis=0), np.ptp(X, axis=0)
        self.model.fit((X - self.low) / self.span, np.eye(y.max() + 1)[y])

    def predict(self, X):
        """Return the class with the largest score."""
        return self.model.predict(np.clip((X - self.low) / self.span, 0, 1)).argmax(axis=1)


def network(**parameters):
    """Return an `LTCNClassifier`."""
    from cogmap import LTCNClassifier

    return LTCNClassifier(**parameters)


def lightgbm():
    """Return LightGBM."""
    from lightgbm import LGBMClassifier

    return LGBMClassifier(n_jobs=1, verbose=-1)


def boosting():
    """Return scikit-learn's gradient boosting."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(random_state=0)


def scaled(name):
    """Return a linear model of standardised features."""
    from sklearn import linear_model
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), getattr(linear_model, name)())


def additive():
    """Return the explainable boosting machine."""
    from interpret.glassbox import ExplainableBoostingClassifier

    return ExplainableBoostingClassifier(n_jobs=1)


MODELS = {
    "LTCNClassifier": network,
    "LTCNClassifier(alpha=1.0)": lambda: network(alpha=1.0),
    "RidgeClassifier": lambda: scaled("RidgeClassifier"),
    "LogisticRegression": lambda: scaled("LogisticRegression"),
    "LightGBM": lightgbm,
    "HistGradientBoosting": boosting,
    "ltcn": lambda: Authors("ridge"),
    "ltcn, pseudoinverse": lambda: Authors("inverse"),
    "EBM": additive,
}


def one(name, n, m, n_classes):
    """Fit and predict; print both times, the accuracy and the largest memory in MB."""
    X, y = problem(n + NEW_ROWS, m, n_classes)
    model = MODELS[name]()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.process_time()
    model.fit(X[:n], y[:n])
    fitted = time.process_time()
    predicted = model.predict(X[n:])
    seconds = time.process_time() - fitted
    extra = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(fitted - start, seconds, (predicted == y[n:]).mean(), extra / 1024)


def main():
    """Read the command line, and print one line for each model."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--rows", type=int, default=200_000)
    parser.add_argument("--features", type=int, default=50)
    parser.add_argument("--classes", type=int, default=10)
    parser.add_argument("--limit", type=int, default=900)
    parser.add_argument("--one", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.one is not None:
        one(given.one, given.rows, given.features, given.classes)
        return
    sizes = ["--rows", given.rows, "--features", given.features, "--classes", given.classes]
    print("| model | fit, s | predict 50,000 rows, s | accuracy | extra memory |\n|---|---|---|---|---|")
    for name in given.names or MODELS:
        command = [sys.executable, __file__, "--one", name, *map(str, sizes)]
        # The limit is one of the processor, and the process inherits it.
        resource.setrlimit(resource.RLIMIT_CPU, (given.limit, resource.RLIM_INFINITY))
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
        if done.returncode:
            print(f"| {name} | over {given.limit}, stopped | | | |", flush=True)
            continue
        fit, predict, accuracy, extra = map(float, done.stdout.split())
        print(f"| {name} | {fit:.1f} | {predict:.2f} | {accuracy:.3f} | {extra:.0f} MB |", flush=True)


if __name__ == "__main__":
    main()
