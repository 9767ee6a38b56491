"""Models that did not see the rows which they predict: a fitted model, fitted anew without each fold of the rows.

Easy to get wrong: a part of a raw table can look different from the whole. A column of numbers may look like categories
in it, and a value that an expert named may be absent. So columns keep the kinds that they have in the model, and where
experts stated something, its concepts too.
"""

import warnings
from collections.abc import Iterator
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

Codes = NDArray[np.intp]


def possible_folds(labels: NDArray[Any], n_folds: int) -> tuple[int, str | None]:
    """Return how many folds the rarest class allows, at most `n_folds`; or 0, and why there are none."""
    classes, counts = np.unique(labels, return_counts=True)
    if len(classes) < 2:
        return 0, "All rows are of one class."
    if counts.min() < 2:
        return 0, f"Class {str(classes[counts.argmin()])!r} has one row, and a fold more than that."
    return min(n_folds, int(counts.min())), None


def fold_models(
    model: Any, X: Any, labels: NDArray[Any], n_folds: int, *, keep_concepts: bool = False
) -> Iterator[tuple[Any, Codes]]:
    """Yield for each of the stratified folds a model that was fitted without it, and the positions of its rows."""
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(labels, labels):
        with warnings.catch_warnings():
            # What is doubtful about the model is said of the model itself, once and not for each fold.
            warnings.simplefilter("ignore")
            fitted = refitted(model, _safe_indexing(X, train), labels[train], keep_concepts=keep_concepts)
        yield fitted, test


def refitted(model: Any, X: Any, labels: NDArray[Any], *, keep_concepts: bool = False) -> Any:
    """Return a model like a fitted one, fitted to other rows of the same table.

    With `keep_concepts`, or where experts stated something, raw columns are encoded as the given model does.
    """
    if not hasattr(model, "columns_"):
        return clone(model).fit(X, labels)
    if keep_concepts or len(model.classifier_.knowledge_):
        again = copy(model)
        again.classifier_ = clone(model.classifier_).fit(model.encode(X), labels)
        again.classes_ = again.classifier_.classes_
        return again
    return clone(model).fit_columns(X, labels, model.columns_)
