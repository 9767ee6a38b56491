"""How good the model is: cross-validated on the given rows with the model's parameters, and the model itself on them.

Easy to get wrong: the model may have seen these rows. What it scores on them is therefore no estimate of what it scores
on new ones; models of the same kind that did not see the rows which they are judged on are.
"""

from dataclasses import asdict
from typing import Any

import numpy as np

from ..quality.evaluation import Evaluation, from_probabilities
from .subject import Subject
from .unseen import Unseen


def quality(subject: Subject, told: Unseen) -> dict[str, Any]:
    """Return the evaluation of the parameters and of the model; `reason` says why there is no cross-validation."""
    counts = np.bincount(subject.codes, minlength=len(subject.classes))
    itself = from_probabilities(subject.probability, subject.codes, subject.classes, subject.predicted)
    unseen = None if told.reason else _cross_validated(subject, told)
    return {
        "n_folds": told.n_folds,
        "reason": told.reason,
        "cross_validated": None if unseen is None else _plain(unseen),
        "itself": _plain(itself),
        "most_frequent": {
            "name": subject.classes[int(counts.argmax())],
            "share": float(counts.max() / counts.sum()),
        },
        "remark": (unseen or itself).remark,
    }


def _cross_validated(subject: Subject, told: Unseen) -> Evaluation:
    """Evaluate what the models of the folds predict, for the classes that the rows have."""
    present = np.unique(subject.codes)
    names = [subject.classes[k] for k in present]
    truth, predicted = (np.searchsorted(present, codes) for codes in (subject.codes, told.predicted))
    return from_probabilities(told.probability[:, present], truth, names, predicted)


def _plain(evaluation: Evaluation) -> dict[str, Any]:
    return asdict(evaluation) | {
        "classes": list(evaluation.classes),
        "confusion": evaluation.confusion.tolist(),
        "calibration": [asdict(one) for one in evaluation.calibration],
    }
