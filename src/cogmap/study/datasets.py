"""Named datasets: the paper's from a folder or from OpenML, scikit-learn's own, and two without their target leak.

A name is looked for in the folder (``data_dir``, else the environment variable ``COGMAP_DATA``) as ``NAME.csv.gz`` or
``NAME.csv``: no header, the class last. The paper's sets that are not there are downloaded from OpenML and kept in
scikit-learn's data home; `Dataset.source` says where a set came from.

Easy to get wrong: OpenML holds the sets as their donors published them. Categories become numbers, and vehicle0–3 and
yeast1 and 3 are one class against the others, as in KEEL. And ten columns of the two cardiotocography files are a
one-hot of the ten-class target: the names that end in ``-clean`` leave them out.
"""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.types import Array

CLEAN = "-clean"
LEAK = slice(25, 35)
"""Columns of the cardiotocography files that are a one-hot of the ten-class target."""


@dataclass(frozen=True)
class Dataset:
    """Rows and classes.

    Attributes
    ----------
    name : str
        Its name.
    X : array of shape (n, M)
        Features.
    y : int array of shape (n,)
        Class codes 0 … N − 1.
    classes : array of shape (N,)
        Class labels.
    source : str
        Where it was found.
    """

    name: str
    X: Array
    y: NDArray[np.intp]
    classes: NDArray[Any]
    source: str

    def without_rare(self, n_least: int) -> "Dataset":
        """Leave out classes with fewer than `n_least` rows, as the paper does for classes smaller than its folds."""
        counts = np.bincount(self.y, minlength=len(self.classes))
        kept = counts[self.y] >= n_least
        codes = np.unique(self.y[kept], return_inverse=True)[1]
        return replace(self, X=self.X[kept], y=codes, classes=self.classes[counts >= n_least])


@dataclass(frozen=True)
class OpenML:
    """Where OpenML has a set; `positive` makes it binary, that class against the others."""

    data_id: int
    positive: str | None = None


OPENML = {
    "banana": OpenML(1460),
    "bank": OpenML(1558),
    "cardiotocography-10": OpenML(1466),
    "cardiotocography-3": OpenML(1560),
    "mfeat-factors": OpenML(12),
    "mfeat-fourier": OpenML(14),
    "mfeat-karhunen": OpenML(16),
    "mfeat-morphological": OpenML(18),
    "mfeat-pixel": OpenML(20),
    "mfeat-zernike": OpenML(22),
    "musk2": OpenML(1116),
    "optdigits": OpenML(28),
    "page-blocks": OpenML(30),
    "pendigits": OpenML(32),
    "plant-margin": OpenML(1491),
    "plant-shape": OpenML(1492),
    "plant-texture": OpenML(1493),
    "segment": OpenML(36),
    "spambase": OpenML(44),
    "vehicle": OpenML(54),
    "vehicle0": OpenML(54, "van"),
    "vehicle1": OpenML(54, "saab"),
    "vehicle2": OpenML(54, "bus"),
    "vehicle3": OpenML(54, "opel"),
    "waveform": OpenML(60),
    "winequality-red": OpenML(40691),
    "winequality-white": OpenML(40498),
    "yeast": OpenML(181),
    "yeast1": OpenML(181, "NUC"),
    "yeast3": OpenML(181, "ME3"),
}
PAPER = tuple(OPENML)
"""The paper's 30 classification problems, in its order."""

BINARY = ("banana", "bank", "musk2", "spambase", "vehicle0", "vehicle1", "vehicle2", "vehicle3", "yeast1", "yeast3")
"""Those with two classes, of the paper's table of binary classifiers."""

LEAKING = ("cardiotocography-10", "cardiotocography-3")
EMBEDDED = ("breast-cancer", "digits", "iris", "wine")
NAMES = (*PAPER, *(name + CLEAN for name in LEAKING), *EMBEDDED)


class UnknownDatasetError(ValueError):
    """A name that is neither a file of the folder nor a dataset that can be downloaded."""


def load(name: str, data_dir: str | Path | None = None) -> Dataset:
    """Return a dataset by name.

    Parameters
    ----------
    name : str
        One of `NAMES`, or a file ``NAME.csv.gz`` or ``NAME.csv`` of the folder.
    data_dir : path, default=None
        The folder; by default the one that ``COGMAP_DATA`` names, if any.

    Returns
    -------
    Dataset
        Rows, class codes, and where they came from.
    """
    if name.endswith(CLEAN) and name.removesuffix(CLEAN) in LEAKING:
        leaking = load(name.removesuffix(CLEAN), data_dir)
        return replace(leaking, name=name, X=np.delete(leaking.X, LEAK, axis=1))
    if name in EMBEDDED:
        return _embedded(name)
    folder = data_dir or os.environ.get("COGMAP_DATA")
    if folder and (path := _file(Path(folder), name)):
        return _read(name, path)
    if name in OPENML:
        return _download(name, OPENML[name])
    where = f"in {folder}" if folder else "because neither --data-dir nor COGMAP_DATA names a folder"
    raise UnknownDatasetError(
        f"There is no dataset {name!r}: no file {name}.csv.gz {where}, and it is none of {', '.join(NAMES)}."
    )


def _file(folder: Path, name: str) -> Path | None:
    if not folder.is_dir():
        raise FileNotFoundError(f"The data folder {folder} does not exist: correct --data-dir or COGMAP_DATA.")
    return next((path for path in (folder / f"{name}.csv.gz", folder / f"{name}.csv") if path.is_file()), None)


def _read(name: str, path: Path) -> Dataset:
    import pandas as pd

    table = pd.read_csv(path, header=None)
    try:
        X = table.iloc[:, :-1].to_numpy(np.float64)
    except ValueError as error:
        raise ValueError(
            f"{path} holds text before its last column: it needs numbers, no header, the class last."
        ) from (error)
    return _dataset(name, X, table.iloc[:, -1], str(path))


def _embedded(name: str) -> Dataset:
    from sklearn import datasets

    loaders: dict[str, Callable[..., Any]] = {
        "breast-cancer": datasets.load_breast_cancer,
        "digits": datasets.load_digits,
        "iris": datasets.load_iris,
        "wine": datasets.load_wine,
    }
    X, y = loaders[name](return_X_y=True)
    return _dataset(name, X, y, "scikit-learn")


def _download(name: str, where: OpenML) -> Dataset:
    from sklearn.datasets import fetch_openml, get_data_home

    try:
        fetched = fetch_openml(data_id=where.data_id, as_frame=True, parser="auto")
    except OSError as error:
        raise ConnectionError(
            f"{name} is not in the data folder and OpenML ({where.data_id}) cannot be reached ({error}): "
            f"put {name}.csv.gz into the folder that --data-dir or COGMAP_DATA names."
        ) from error
    target = fetched.target.astype(str)
    if where.positive is not None:
        target = target == where.positive
    return _dataset(name, _numbers(fetched.data), target, f"OpenML {where.data_id}, kept in {get_data_home()}")


def _numbers(frame: Any) -> Array:
    """Return the columns as numbers, categories by their position in the order of the categories."""
    from pandas.api.types import is_numeric_dtype

    columns = [c if is_numeric_dtype(c) else c.astype("category").cat.codes for _, c in frame.items()]
    return np.column_stack([np.asarray(column, dtype=np.float64) for column in columns])


def _dataset(name: str, X: Any, labels: Any, source: str) -> Dataset:
    classes, codes = np.unique(np.asarray(labels), return_inverse=True)
    return Dataset(name, np.asarray(X, dtype=np.float64), codes.astype(np.intp), classes, source)
