"""Datasets by name: the paper's, as `cogmap.study.datasets` finds them, and others that need no folder."""

import os
import sys
from pathlib import Path

from sklearn.datasets import make_classification

from cogmap.study import datasets

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
        return [*datasets.EMBEDDED, *SMALL_WIDE]
    return list(datasets.PAPER)


def load(name, n_folds=5):
    """Return X and integer classes; classes with fewer rows than folds are dropped, as the paper does."""
    if name in SMALL_WIDE:
        n, m, informative, classes, clusters = SMALL_WIDE[name]
        return make_classification(
            n, m, n_informative=informative, n_redundant=m // 4, n_classes=classes, n_clusters_per_class=clusters,
            flip_y=0.02, random_state=len(name) + n + m,
        )  # fmt: skip
    found = datasets.load(name, None if name in datasets.EMBEDDED else folder()).without_rare(n_folds)
    return found.X, found.y
