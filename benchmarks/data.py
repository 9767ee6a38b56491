"""The paper's datasets, read from the folder that COGMAP_DATA names."""

import os
import sys
from pathlib import Path

import numpy as np
import pandas as pd


def folder():
    """Return the folder, or leave with a sentence."""
    path = Path(os.environ.get("COGMAP_DATA", ""))
    if not (path / "banana.csv.gz").exists():
        sys.exit("Set COGMAP_DATA to the folder that holds the paper's datasets (banana.csv.gz and 29 more).")
    return path


def names():
    """Return the names of the 30 classification problems."""
    return sorted(
        path.name.removesuffix(".csv.gz") for path in folder().glob("*.csv.gz") if "phishing" not in path.name
    )


def load(name, n_folds=5):
    """Return X and integer classes; classes with fewer rows than folds are dropped, as the paper does."""
    table = pd.read_csv(folder() / f"{name}.csv.gz", header=None)
    X, y = table.iloc[:, :-1].to_numpy(float), np.unique(table.iloc[:, -1], return_inverse=True)[1]
    kept = np.bincount(y)[y] >= n_folds
    return X[kept], np.unique(y[kept], return_inverse=True)[1]
