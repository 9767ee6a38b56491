"""What a version of the model is worth and does: a fit under knowledge, its cross-validation, relevance and effects.

Both models of a comparison are measured in the same folds, each fitted anew without the rows that it predicts, with the
concepts of the whole table.

Easy to get wrong: statements may be withdrawn, also those that the given model had. So every version is the given model
fitted anew under all that is stated, and not an edit of the version before.
"""

import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from ..core.types import Array
from ..effects.effects import feature_effect, most_relevant
from ..effects.results import FeatureEffect
from ..estimators.tabular import TabularClassifier
from ..knowledge import Knowledge
from ..quality.evaluation import from_probabilities
from ..quality.folds import fold_models, possible_folds
from ..report.subject import Subject
from ..tables.knowledge import by_concept

SCORES = ("accuracy", "kappa", "log_loss")
MOST_EFFECTS = 6
"""Columns, besides those that statements name, whose effects are compared."""

Tell = Callable[[str], None]


@dataclass(frozen=True)
class Measured:
    """What a version is worth and does.

    Attributes
    ----------
    n_folds : int
        Folds of the cross-validation; 0 where there is none, and the model itself predicts.
    reason : str or None
        Why there is none.
    probability, predicted : arrays of shapes (n, n_classes) and (n,)
        Class probabilities and codes of the classes, by models that did not see the row.
    scores : dict of str to float
        Accuracy, kappa and log loss of these.
    effects : dict of str to FeatureEffect
        How some columns act, on the probability of every class.
    """

    n_folds: int
    reason: str | None
    probability: Array
    predicted: NDArray[np.intp]
    scores: dict[str, float]
    effects: dict[str, FeatureEffect]

    @property
    def sentence(self) -> str:
        """How it was measured."""
        n = len(self.predicted)
        if self.reason is not None:
            return f"Measured on the {n} rows that the models were fitted to, new rows fare worse: {self.reason}"
        return (
            f"Cross-validated on {n} rows in {self.n_folds} folds: each model was fitted anew without each fold, and "
            "predicted it."
        )


def fit_under(model: Any, knowledge: Knowledge, X: Any, labels: NDArray[Any]) -> Any:
    """Return a model like the given one, fitted under this knowledge and no other; raw columns keep their concepts."""
    if not isinstance(model, TabularClassifier):
        return clone(model).set_params(knowledge=knowledge).fit(X, labels)
    again = copy(model)
    again.classifier = clone(model.classifier_).set_params(knowledge=knowledge)
    stated = by_concept(knowledge, model.columns_)
    again.classifier_ = clone(again.classifier).set_params(knowledge=stated).fit(model.encode(X), labels)
    return again


def stated_in(model: Any) -> Knowledge:
    """Return what a model was fitted under, in names of columns where it was stated so."""
    if not isinstance(model, TabularClassifier):
        statements: Knowledge = model.knowledge_
        return statements
    stated, given = model.classifier_.knowledge_, getattr(model.classifier, "knowledge", None) or Knowledge()
    return given if by_concept(given, model.columns_) == stated else stated


def relevance_shares(model: Any) -> Array:
    """Return the relevance of each column, as shares of all."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        relevance = np.asarray(model.relevance())
    return relevance / (relevance.sum() or 1.0)


def measure(subject: Subject, n_folds: int, named: tuple[str, ...], tell: Tell) -> Measured:
    """Cross-validate a version, and say how columns act: the most relevant ones and those of these names."""
    possible, reason = possible_folds(subject.labels, n_folds)
    probability, predicted = np.zeros((len(subject.labels), len(subject.classes))), subject.codes.copy()
    if reason is not None:
        probability, predicted = subject.probability, subject.predicted
    folds = fold_models(subject.model, subject.inputs, subject.labels, possible, keep_concepts=True)
    for k in range(possible):
        tell(f"fold {k + 1} of {possible}")
        model, test = next(folds)
        known = np.searchsorted(subject.model.classes_, model.classes_)
        with _quietly():
            probability[np.ix_(test, known)] = model.predict_proba(subject.rows(test))
            predicted[test] = known[np.searchsorted(model.classes_, model.predict(subject.rows(test)))]
    tell("effects")
    effects = _effects(subject, named)
    evaluation = from_probabilities(probability, subject.codes, subject.classes, predicted)
    scores = {name: float(getattr(evaluation, name)) for name in SCORES}
    return Measured(possible, reason, probability, predicted, scores, effects)


def n_steps(subject: Subject, n_folds: int) -> int:
    """Return how often `measure` tells of a step that begins."""
    return possible_folds(subject.labels, n_folds)[0] + 1


def _effects(subject: Subject, named: tuple[str, ...]) -> dict[str, FeatureEffect]:
    used = {column.name for column in getattr(subject.model, "columns_", ()) if column.needed}
    with _quietly():
        names = dict.fromkeys([*named, *most_relevant(subject.model, MOST_EFFECTS)])
        chosen = [name for name in names if not used or name in used]
        return {
            name: feature_effect(subject.model, subject.inputs, name, classes=subject.model.classes_) for name in chosen
        }


@contextmanager
def _quietly() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
