"""How good the model is: cross-validated on the given rows with the model's parameters, and the model itself on them.

Easy to get wrong: the model may have seen these rows. What it scores on them is therefore no estimate of what it scores
on new ones; models of the same kind that did not see the rows which they are judged on are.
"""

import warnings
from dataclasses import asdict
from typing import Any

import numpy as np
from sklearn.base import clone

from ..evaluation import Evaluation, cross_validate, from_probabilities
from .subject import Subject


def quality(subject: Subject, n_folds: int) -> dict[str, Any]:
    """Return the evaluation of the parameters and of the model; `reason` says why there is no cross-validation."""
    counts = np.bincount(subject.codes)
    counts = counts[counts > 0]
    folds, reason, found = min(n_folds, int(counts.min())), None, None
    if len(counts) < 2:
        reason = "All rows are of one class."
    elif folds < 2:
        rare = subject.classes[int(np.flatnonzero(np.bincount(subject.codes) == 1)[0])]
        reason = f"Class {rare!r} has one row, and a fold more than that."
    else:
        with warnings.catch_warnings():
            # What is doubtful about the model is said elsewhere, once and not for each fold.
            warnings.simplefilter("ignore")
            found = cross_validate(*_unfitted(subject), subject.labels, n_folds=folds)
    itself = from_probabilities(subject.probability, subject.codes, subject.classes)
    return {
        "n_folds": folds,
        "reason": reason,
        "cross_validated": None if found is None else _plain(found),
        "itself": _plain(itself),
        "most_frequent": {
            "name": subject.classes[int(np.bincount(subject.codes).argmax())],
            "share": float(counts.max() / counts.sum()),
        },
    }


def _unfitted(subject: Subject) -> tuple[Any, Any]:
    """Return the model, unfitted, and its rows; columns stay what they are in it, whatever a part of the rows shows.

    Statements name concepts, which a part of the rows may lack; then the encoding is that of the model, too.
    """
    if not subject.is_tabular:
        return clone(subject.model), subject.inputs
    if len(subject.network.knowledge_):
        return clone(subject.network), subject.model.encode(subject.inputs)
    kinds: dict[str, list[str]] = {"number": [], "category": []}
    for column in subject.model.columns_:
        if column.kind in kinds and column.name in subject.frame:
            kinds[column.kind].append(column.name)
    drop = [name for name in map(str, subject.model.drop) if name in subject.frame]
    model = clone(subject.model).set_params(numeric=kinds["number"], categorical=kinds["category"], drop=drop)
    return model, subject.inputs


def _plain(found: Evaluation) -> dict[str, Any]:
    return asdict(found) | {
        "classes": list(found.classes),
        "confusion": found.confusion.tolist(),
        "calibration": [asdict(one) for one in found.calibration],
    }
