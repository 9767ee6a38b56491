"""How good a classifier is: agreement, probabilities, confusion and calibration, on given rows or cross-validated.

The calibration error is the mean over rows of |share of right predictions − mean probability of the predicted class|
in the row's bin of that probability.

Easy to get wrong: a class of the data that the model does not know. It would be left out of a confusion matrix in
silence; here it is an error.
"""

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold
from sklearn.utils import _safe_indexing

from .columns import spelled
from .core.activation import Array
from .core.decision import score_labels
from .warnings import UnseenValueWarning

BINS = 10
"""Number of bins of equal width for the calibration."""


@dataclass(frozen=True)
class CalibrationBin:
    """Rows whose predicted class has a probability in (low, high]."""

    low: float
    high: float
    n_rows: int
    mean_probability: float
    accuracy: float


@dataclass(frozen=True)
class Evaluation:
    """What predictions are worth.

    Attributes
    ----------
    classes : tuple of str
        Classes, in the order of the matrix.
    n_rows : int
        Number of rows.
    accuracy, kappa, balanced_accuracy : float
        Agreement of predicted with true classes: plain, beyond chance, mean over the classes.
    log_loss : float
        Mean −log of the probability of the true class.
    confusion : array of shape (n_classes, n_classes)
        Number of rows by true class (down) and predicted class (across).
    calibration_error : float
        Mean distance between probability and share of right predictions.
    calibration : tuple of CalibrationBin
        The bins that hold rows.
    """

    classes: tuple[str, ...]
    n_rows: int
    accuracy: float
    kappa: float
    balanced_accuracy: float
    log_loss: float
    confusion: NDArray[np.intp]
    calibration_error: float
    calibration: tuple[CalibrationBin, ...]

    def __str__(self) -> str:
        """Return scores, confusion matrix and calibration as text."""
        scores = (
            f"rows                {self.n_rows}\n"
            f"accuracy            {self.accuracy:.3f}\n"
            f"kappa               {self.kappa:.3f}\n"
            f"balanced accuracy   {self.balanced_accuracy:.3f}\n"
            f"log loss            {self.log_loss:.3f}\n"
            f"calibration error   {self.calibration_error:.3f}\n"
        )
        cells = [["true \\ predicted", *self.classes]]
        cells += [[name, *map(str, row)] for name, row in zip(self.classes, self.confusion.tolist(), strict=True)]
        bins = [["probability", "rows", "mean", "right"]]
        bins += [
            [f"{b.low:.1f} to {b.high:.1f}", str(b.n_rows), f"{b.mean_probability:.3f}", f"{b.accuracy:.3f}"]
            for b in self.calibration
        ]
        return f"{scores}\n{aligned(cells)}\n\n{aligned(bins)}"


def evaluate(classifier: Any, X: Any, y: ArrayLike) -> Evaluation:
    """Evaluate a fitted classifier on rows that it should not have been fitted on.

    Parameters
    ----------
    classifier : fitted classifier
        Any of this library's.
    X : DataFrame or array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Their true classes.

    Returns
    -------
    Evaluation
        Scores, confusion matrix, calibration.
    """
    codes = class_codes(y, classifier.classes_)
    probability = classifier.predict_proba(X)
    return from_probabilities(probability, codes, [spelled(c) for c in classifier.classes_])


def cross_validate(classifier: Any, X: Any, y: ArrayLike, *, n_folds: int = 5, seed: int = 0) -> Evaluation:
    """Evaluate a classifier by stratified cross-validation; each row is predicted by a model that did not see it.

    Parameters
    ----------
    classifier : classifier
        Need not be fitted.
    X : DataFrame or array-like of shape (n_samples, n_features)
        Rows.
    y : array-like of shape (n_samples,)
        Their classes.
    n_folds : int, default=5
        Number of folds.
    seed : int, default=0
        Which rows share a fold.

    Returns
    -------
    Evaluation
        Of all rows together.
    """
    classes, codes = np.unique(np.asarray(y), return_inverse=True)
    rare = np.flatnonzero(np.bincount(codes) < n_folds)
    if len(rare):
        n_rows = int(np.bincount(codes)[rare[0]])
        raise ValueError(
            f"Class {spelled(classes[rare[0]])!r} has {n_rows} row{'s' * (n_rows != 1)}, fewer than {n_folds} folds: "
            "use fewer folds, or drop the class."
        )
    probability = np.zeros((len(codes), len(classes)))
    labels = np.asarray(y)
    fit = fold_fitter(classifier, X)
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(codes, codes):
        fitted = fit(_safe_indexing(X, train), labels[train])
        with warnings.catch_warnings():
            # A rare value that is in no other fold is no news to who gave the whole table.
            warnings.simplefilter("ignore", UnseenValueWarning)
            probability[test] = fitted.predict_proba(_safe_indexing(X, test))
    return from_probabilities(probability, codes, [spelled(c) for c in classes])


def fold_fitter(classifier: Any, X: Any) -> Callable[[Any, ArrayLike], Any]:
    """Return a function that fits a copy of a classifier to some rows of X and their classes.

    What the columns of a raw table are is decided once, by all of its rows; it raises for all that cannot be used.
    """
    if not hasattr(classifier, "describe"):
        return lambda rows, y: clone(classifier).fit(rows, y)
    columns = classifier.describe(X)
    return lambda rows, y: clone(classifier)._fit(rows, y, None, columns)


def from_probabilities(probability: Array, codes: NDArray[np.intp], classes: Sequence[str]) -> Evaluation:
    """Evaluate predicted probabilities, shape (n, n_classes), against true class codes, shape (n,)."""
    predicted, row, one = probability.argmax(axis=1), np.arange(len(codes)), np.ones(len(codes))
    confusion = np.zeros((len(classes), len(classes)), dtype=np.intp)
    np.add.at(confusion, (codes, predicted), 1)
    bins = calibration(probability[row, predicted], predicted == codes)
    true = np.maximum(probability[row, codes], np.finfo(np.float64).eps)
    return Evaluation(
        classes=tuple(classes),
        n_rows=len(codes),
        accuracy=score_labels("accuracy", predicted, codes, one),
        kappa=score_labels("kappa", predicted, codes, one),
        balanced_accuracy=score_labels("balanced_accuracy", predicted, codes, one),
        log_loss=float(-np.log(true).mean()),
        confusion=confusion,
        calibration_error=sum(b.n_rows * abs(b.accuracy - b.mean_probability) for b in bins) / len(codes),
        calibration=tuple(bins),
    )


def calibration(probability: Array, right: NDArray[np.bool_]) -> list[CalibrationBin]:
    """Return the bins of the predicted classes' probabilities that hold rows; both of shape (n,)."""
    index = np.clip(np.ceil(probability * BINS).astype(int) - 1, 0, BINS - 1)
    return [
        CalibrationBin(
            k / BINS, (k + 1) / BINS, int(inside.sum()), float(probability[inside].mean()), float(right[inside].mean())
        )
        for k in range(BINS)
        if (inside := index == k).any()
    ]


def class_codes(y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the code of each row's class; name one that the model does not know."""
    code = {spelled(value): k for k, value in enumerate(classes)}
    texts = [spelled(value) for value in np.asarray(y).tolist()]
    unknown = Counter(text for text in texts if text not in code)
    if unknown:
        name, count = unknown.most_common(1)[0]
        raise ValueError(
            f"The data have {count} row{'s' * (count != 1)} of class {name!r}, which the model does not know: its "
            f"classes are {', '.join(map(repr, code))}."
        )
    return np.array([code[text] for text in texts], dtype=np.intp)


def aligned(cells: Sequence[Sequence[str]]) -> str:
    """Return a table as text: first column to the left, the others to the right."""
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]).rstrip()
        for row in cells
    )
