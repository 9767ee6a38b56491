"""Datasets by name: the paper's, read from the folder that COGMAP_DATA names, and others that need no folder."""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn import datasets

EMBEDDED = {
    "breast-cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}
SMALL_WIDE = {  # rows, features, informative, classes, clusters of a class
    "wide-200x60": (200, 60, 10, 2, 2),
    "wide-300x33": (300, 33, 8, 3, 2),
    "wide-360x90": (360, 90, 12, 4, 1),
    "wide-208x60": (208, 60, 15, 2, 3),
    "wide-250x50": (250, 50, 5, 2, 1),
    "wide-350x34": (350, 34, 10, 2, 4),
    "wide-240x80": (240, 80, 20, 3, 1),
    "wide-330x40": (330, 40, 12, 5, 1),
}


def folder():
    """Return the folder, or leave with a sentence."""
    path = Path(os.environ.get("COGMAP_DATA", ""))
    if not (path / "banana.csv.gz").exists():
        sys.exit("Set COGMAP_DATA to the folder that holds the paper's datasets (banana.csv.gz and 29 more).")
    return path


def names(group="paper"):
    """Return the names of the paper's 30 classification problems, or of the other problems."""
    if group == "other":
        return [*EMBEDDED, *SMALL_WIDE]
    return sorted(
        path.name.removesuffix(".csv.gz") for path in folder().glob("*.csv.gz") if "phishing" not in path.name
    )


def load(name, n_folds=5):
    """Return X and integer classes; classes with fewer rows than folds are dropped, as the paper does."""
    if name in EMBEDDED:
        return EMBEDDED[name](return_X_y=True)
    if name in SMALL_WIDE:
        n, m, informative, classes, clusters = SMALL_WIDE[name]
        return datasets.make_classification(
            n, m, n_informative=informative, n_redundant=m // 4, n_classes=classes, n_clusters_per_class=clusters,
            flip_y=0.02, random_state=len(name) + n + m,
        )  # fmt: skip
    table = pd.read_csv(folder() / f"{name}.csv.gz", header=None)
    X, y = table.iloc[:, :-1].to_numpy(float), np.unique(table.iloc[:, -1], return_inverse=True)[1]
    kept = np.bincount(y)[y] >= n_folds
    return X[kept], np.unique(y[kept], return_inverse=True)[1]
