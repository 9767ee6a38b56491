"""What models that did not see the rows say about them: probabilities, classes, explanations.

Easy to get wrong: a model fits the rows that it was fitted to better than new ones, and one that remembers rows is
certain of them. What the report says about single rows therefore comes from the models of the cross-validation, each
about the rows that it did not see.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..core.types import Array
from ..quality.folds import fold_models, possible_folds
from .subject import Codes, Subject


@dataclass(frozen=True)
class Unseen:
    """Rows as predicted without them.

    Attributes
    ----------
    n_folds : int
        Number of folds; 0 where there is no cross-validation, and the model itself predicts.
    reason : str or None
        Why there is none.
    models : list of fitted models
        One for each fold, or the model itself.
    fold : int array of shape (n,)
        Which of them predicts each row.
    probability : array of shape (n, n_classes)
        Class probabilities; 0 for a class of the model that no row has.
    predicted : int array of shape (n,)
        The predicted class.
    """

    n_folds: int
    reason: str | None
    models: list[Any]
    fold: Codes
    probability: Array
    predicted: Codes

    def explanations(self, subject: Subject, positions: Sequence[int]) -> dict[int, tuple[Any, int]]:
        """Return for each row the explanation that holds it, by the model that did not see it, and its place there."""
        explanations: dict[int, tuple[Any, int]] = {}
        for k, model in enumerate(self.models):
            own = [position for position in positions if self.fold[position] == k]
            if own:
                explanation = model.explain(subject.rows(own))
                explanations |= {position: (explanation, i) for i, position in enumerate(own)}
        return explanations


def unseen(subject: Subject, n_folds: int) -> Unseen:
    """Cross-validate the model on its rows; where that cannot be, let it predict them itself."""
    n_rows, classes = len(subject.codes), subject.model.classes_
    possible, reason = possible_folds(subject.labels, n_folds)
    fold = np.zeros(n_rows, dtype=np.intp)
    if reason is not None:
        return Unseen(0, reason, [subject.model], fold, subject.probability, subject.predicted)
    probability, codes = np.zeros((n_rows, len(classes))), np.zeros(n_rows, dtype=np.intp)
    models = []
    for k, (model, test) in enumerate(fold_models(subject.model, subject.inputs, subject.labels, possible)):
        rows, known = subject.rows(test), np.searchsorted(classes, model.classes_)
        with warnings.catch_warnings():
            # A fold can hold a value that the others lack.
            warnings.simplefilter("ignore")
            probability[np.ix_(test, known)] = model.predict_proba(rows)
            codes[test] = np.searchsorted(classes, model.predict(rows))
        fold[test] = k
        models.append(model)
    return Unseen(possible, None, models, fold, probability, codes)
