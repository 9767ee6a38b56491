"""Probabilities without refitting: log loss and calibration error beside scikit-learn's sigmoid calibration.

Run: COGMAP_DATA=… python benchmarks/calibration.py

`LTCNClassifier` takes its calibration from leave-one-out scores of the one fit; `CalibratedClassifierCV` refits it five
times. Five folds of ten of the paper's sets.
"""

import os
import time

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from data import load
from sklearn.calibration import CalibratedClassifierCV
from sklearn.metrics import log_loss
from sklearn.model_selection import StratifiedKFold

from cogmap import LTCNClassifier

NAMES = (
    "banana",
    "bank",
    "mfeat-zernike",
    "page-blocks",
    "segment",
    "vehicle",
    "vehicle1",
    "winequality-red",
    "yeast",
    "yeast3",
)
METHODS = {
    "LTCNClassifier()": LTCNClassifier,
    "CalibratedClassifierCV(sigmoid)": lambda: CalibratedClassifierCV(LTCNClassifier(), method="sigmoid", cv=5),
}


def calibration_error(y, probability, n_bins=15):
    """Return the expected calibration error of the predicted class: mean |confidence − accuracy| over equal bins."""
    confidence, hit = probability.max(axis=1), probability.argmax(axis=1) == y
    bins = np.minimum((confidence * n_bins).astype(int), n_bins - 1)
    return sum(abs(hit[bins == b].sum() - confidence[bins == b].sum()) for b in range(n_bins)) / len(y)


def main():
    """Print one Markdown line a method."""
    rows = {name: [] for name in METHODS}
    for dataset in NAMES:
        X, y = load(dataset, 8)  # sigmoid calibration needs five rows of a class in every training fold
        for train, test in StratifiedKFold(5, shuffle=True, random_state=42).split(X, y):
            for name, method in METHODS.items():
                start = time.perf_counter()
                model = method().fit(X[train], y[train])
                seconds = time.perf_counter() - start
                probability = model.predict_proba(X[test])
                loss = log_loss(y[test], probability, labels=range(y.max() + 1))
                rows[name].append((loss, calibration_error(y[test], probability), seconds))
    print("| probabilities | log loss | calibration error | s a fit |\n|---|---|---|---|")
    for name, values in rows.items():
        loss, error, seconds = np.mean(values, axis=0)
        print(f"| {name} | {loss:.4f} | {error:.4f} | {seconds:.3f} |")
    best, sigmoid = (np.array(rows[name]) for name in METHODS)
    share = (best[:, 0] < sigmoid[:, 0]).mean()
    print(f"\nLower log loss than sigmoid calibration in {share:.0%} of the folds.")


if __name__ == "__main__":
    main()
