"""Rows of one class whose nearest neighbour has another class and the same features: sixes and turned nines.

Run: COGMAP_DATA=… python benchmarks/twins.py
"""

import numpy as np
from data import load
from sklearn.neighbors import NearestNeighbors


def main():
    """Print for each class how many rows have such a twin, in deviations of the features closer than 1e-3."""
    for name in ("mfeat-zernike", "mfeat-morphological"):
        X, y = load(name)
        X = (X - X.mean(axis=0)) / X.std(axis=0)
        distance, nearest = (found[:, 1] for found in NearestNeighbors(n_neighbors=2).fit(X).kneighbors(X))
        twin = (distance < 1e-3) & (y[nearest] != y)
        for code in np.unique(y[twin]):
            own = twin & (y == code)
            middle = np.median(distance[own])
            print(f"{name}, class {code}: {own.sum()} of {(y == code).sum()} rows, median distance {middle:.1e}")


if __name__ == "__main__":
    main()
