"""How good a classifier is: agreement, probabilities, confusion and calibration, on given rows or cross-validated.

Beside each score stands that of a model which learned nothing: the most frequent class for every row, with the classes'
shares for probabilities. The calibration error is the mean over rows of |share of right predictions − mean probability
of the predicted class| in the row's bin of that probability.

Easy to get wrong: a class of the data that the model does not know. It would be left out of a confusion matrix in
silence; here it is an error. And the predicted class need not be the most probable one: a `decision_metric` moves it.
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

from ..core.decision.decision import score_labels
from ..core.types import Array
from ..errors import UnseenValueWarning
from ..tables.columns import spelled

TIE = 1e-9
"""Scores closer than this are equal but for rounding."""

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
    majority : str
        The most frequent class of these rows.
    majority_accuracy : float
        Accuracy of always naming it: its share.
    majority_log_loss : float
        Log loss of the classes' shares in these rows as probabilities of every row.
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
    majority: str
    majority_accuracy: float
    majority_log_loss: float
    confusion: NDArray[np.intp]
    calibration_error: float
    calibration: tuple[CalibrationBin, ...]

    def __str__(self) -> str:
        """Return scores, confusion matrix and calibration as text."""
        scores = [
            ("", "model", "majority"),
            ("accuracy", f"{self.accuracy:.3f}", f"{self.majority_accuracy:.3f}"),
            ("kappa", f"{self.kappa:.3f}", f"{0:.3f}"),
            (
                "balanced accuracy",
                f"{self.balanced_accuracy:.3f}",
                f"{1 / np.count_nonzero(self.confusion.sum(1)):.3f}",
            ),
            ("log loss", f"{self.log_loss:.3f}", f"{self.majority_log_loss:.3f}"),
            ("calibration error", f"{self.calibration_error:.3f}", ""),
        ]
        lines = [f"{'rows':<20}{self.n_rows}", *(f"{a:<20}{b:<8}{c}".rstrip() for a, b, c in scores)]
        lines += ["", self.remark] * bool(self.remark)
        cells = [["true \\ predicted", *self.classes]]
        cells += [[name, *map(str, row)] for name, row in zip(self.classes, self.confusion.tolist(), strict=True)]
        bins = [["probability", "rows", "mean", "right"]]
        bins += [
            [f"{b.low:.1f} to {b.high:.1f}", str(b.n_rows), f"{b.mean_probability:.3f}", f"{b.accuracy:.3f}"]
            for b in self.calibration
        ]
        return "\n".join([*lines, "", aligned(cells), "", aligned(bins)])

    @property
    def remark(self) -> str:
        """One sentence where a model that learned nothing would do as well; empty otherwise."""
        worse = [
            f"{name} {own:.3f} against {other:.3f}"
            for name, own, other, better in (
                ("accuracy", self.accuracy, self.majority_accuracy, self.accuracy > self.majority_accuracy + TIE),
                ("log loss", self.log_loss, self.majority_log_loss, self.log_loss < self.majority_log_loss - TIE),
            )
            if not better
        ]
        if not worse:
            return ""
        return (
            f"This is no better than always naming {self.majority!r}, the most frequent class: {' and '.join(worse)}."
        )


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
    probability, predicted = classifier.predict_proba(X), class_codes(classifier.predict(X), classifier.classes_)
    return from_probabilities(probability, codes, [spelled(c) for c in classifier.classes_], predicted)


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
    probability, predicted = np.zeros((len(codes), len(classes))), np.zeros(len(codes), dtype=np.intp)
    labels = np.asarray(y)
    fit = fold_fitter(classifier, X)
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=seed).split(codes, codes):
        fitted, rows = fit(_safe_indexing(X, train), labels[train]), _safe_indexing(X, test)
        with warnings.catch_warnings():
            # A rare value that is in no other fold is no news to who gave the whole table.
            warnings.simplefilter("ignore", UnseenValueWarning)
            probability[test] = fitted.predict_proba(rows)
            predicted[test] = class_codes(fitted.predict(rows), classes)
    return from_probabilities(probability, codes, [spelled(c) for c in classes], predicted)


def fold_fitter(classifier: Any, X: Any) -> Callable[[Any, ArrayLike], Any]:
    """Return a function that fits a copy of a classifier to some rows of X and their classes.

    What the columns of a raw table are is decided once, by all of its rows; it raises for all that cannot be used.
    """
    if not hasattr(classifier, "describe"):
        return lambda rows, y: clone(classifier).fit(rows, y)
    columns = classifier.describe(X)
    return lambda rows, y: clone(classifier).fit_columns(rows, y, columns)


def from_probabilities(
    probability: Array, codes: NDArray[np.intp], classes: Sequence[str], predicted: NDArray[np.intp] | None = None
) -> Evaluation:
    """Evaluate predictions against true class codes, shape (n,).

    Parameters
    ----------
    probability : array of shape (n, n_classes)
        Predicted probabilities.
    codes : array of shape (n,)
        True class codes.
    classes : sequence of str
        Names of the classes.
    predicted : array of shape (n,), default=None
        Predicted class codes, where they may differ from the most probable ones.

    Returns
    -------
    Evaluation
        Scores, confusion matrix, calibration.
    """
    outcomes = Outcomes(len(classes))
    outcomes.add(probability, codes, predicted)
    return outcomes.evaluation(classes)


class Outcomes:
    """Counts and sums from which an `Evaluation` follows; rows may be added some at a time."""

    def __init__(self, n_classes: int) -> None:
        self.confusion = np.zeros((n_classes, n_classes), dtype=np.intp)
        self.log_loss = 0.0
        self.bins = np.zeros((BINS, 3))

    def add(self, probability: Array, codes: NDArray[np.intp], predicted: NDArray[np.intp] | None = None) -> None:
        """Count rows; parameters are those of `from_probabilities`."""
        predicted = probability.argmax(axis=1) if predicted is None else predicted
        row = np.arange(len(codes))
        np.add.at(self.confusion, (codes, predicted), 1)
        self.log_loss -= float(np.log(np.maximum(probability[row, codes], np.finfo(np.float64).eps)).sum())
        self.bins += _bin_sums(probability[row, predicted], predicted == codes)

    def evaluation(self, classes: Sequence[str]) -> Evaluation:
        """Return what the predictions are worth, with the names of the classes."""
        # A score of labels is that of the matrix's cells, each counted as often as it has rows.
        true, predicted = (np.ravel(index) for index in np.indices(self.confusion.shape))
        cells = self.confusion.ravel().astype(np.float64)
        counts, n_rows = self.confusion.sum(axis=1), int(self.confusion.sum())
        share, held = counts / n_rows, counts > 0
        bins = _calibration_bins(self.bins)
        return Evaluation(
            classes=tuple(classes),
            n_rows=n_rows,
            accuracy=score_labels("accuracy", predicted, true, cells),
            kappa=score_labels("kappa", predicted, true, cells),
            balanced_accuracy=score_labels("balanced_accuracy", predicted, true, cells),
            log_loss=self.log_loss / n_rows,
            majority=classes[int(share.argmax())],
            majority_accuracy=float(share.max()),
            majority_log_loss=float(-(share[held] @ np.log(share[held]))),
            confusion=self.confusion,
            calibration_error=sum(b.n_rows * abs(b.accuracy - b.mean_probability) for b in bins) / n_rows,
            calibration=tuple(bins),
        )


def calibration(probability: Array, right: NDArray[np.bool_]) -> list[CalibrationBin]:
    """Return the bins of the predicted classes' probabilities that hold rows; both of shape (n,)."""
    return _calibration_bins(_bin_sums(probability, right))


def _bin_sums(probability: Array, right: NDArray[np.bool_]) -> Array:
    """Return number of rows, sum of probabilities and number of right predictions of each bin."""
    index = np.clip(np.ceil(probability * BINS).astype(int) - 1, 0, BINS - 1)
    return np.array([(np.sum(own := index == k), probability[own].sum(), right[own].sum()) for k in range(BINS)])


def _calibration_bins(sums: Array) -> list[CalibrationBin]:
    return [
        CalibrationBin(k / BINS, (k + 1) / BINS, int(n_rows), float(probability / n_rows), float(n_right / n_rows))
        for k, (n_rows, probability, n_right) in enumerate(sums)
        if n_rows
    ]


def class_codes(y: ArrayLike, classes: NDArray[Any]) -> NDArray[np.intp]:
    """Return the code of each row's class; name one that the model does not know."""
    known = KnownClasses(classes)
    codes = known.codes(y)
    known.check()
    return codes


class KnownClasses:
    """The classes of a model, and how many rows have others; rows may be looked at some at a time."""

    def __init__(self, classes: NDArray[Any]) -> None:
        self.code = {spelled(value): k for k, value in enumerate(classes)}
        self.unknown: Counter[str] = Counter()

    def codes(self, y: ArrayLike) -> NDArray[np.intp]:
        """Return the code of each row's class, -1 for one that the model does not know."""
        texts = [spelled(value) for value in np.asarray(y).tolist()]
        self.unknown.update(text for text in texts if text not in self.code)
        return np.array([self.code.get(text, -1) for text in texts], dtype=np.intp)

    def check(self) -> None:
        """Name the most frequent class that the model does not know."""
        if not self.unknown:
            return
        name, count = self.unknown.most_common(1)[0]
        raise ValueError(
            f"The data have {count} row{'s' * (count != 1)} of class {name!r}, which the model does not know: its "
            f"classes are {', '.join(map(repr, self.code))}."
        )


def aligned(cells: Sequence[Sequence[str]]) -> str:
    """Return a table as text: first column to the left, the others to the right."""
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    return "\n".join(
        "  ".join([row[0].ljust(widths[0]), *(c.rjust(w) for c, w in zip(row[1:], widths[1:], strict=True))]).rstrip()
        for row in cells
    )
