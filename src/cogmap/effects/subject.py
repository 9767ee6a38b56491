"""What feature effects are about: rows of numbers, the columns of each feature among them, and a model's predictions.

A network's features are columns of numbers. Those of a model for raw tables are raw columns, each with all its
concepts: rows are encoded once, and a column moves by taking over all that stands for its value in another row.

Easy to get wrong: a probability of 1 has no finite log-odds. Networks know theirs before they become probabilities.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.utils.validation import check_array, check_is_fitted

from ..core.fit.fitted import Fitted
from ..core.types import Array, Codes
from ..estimators.base import NetworkClassifier
from ..estimators.tabular import TabularClassifier
from ..explain.columns import column_groups
from ..intake.checks import checked_rows, module
from ..knowledge.names import did_you_mean
from ..tables.columns import OTHER, Column
from ..tables.frames import listed

UNSEEN = "any other value"
DAYS, DAY = "days since the first", 86_400.0


@dataclass(frozen=True)
class Feature:
    """A feature: its name, its columns among the numbers, and what they mean; None for a number."""

    name: str
    places: Codes
    column: Column | None = None

    @property
    def is_number(self) -> bool:
        """Whether its values have an order and distances."""
        return self.column is None or self.column.kind in ("number", "date")

    def numbers(self, rows: Array) -> Array:
        """Return a number in each row, NaN where it is missing; a date in days since 1970-01-01."""
        return self._numbers(rows[:, self.places])

    def missing_numbers(self, rows: Array) -> NDArray[np.bool_]:
        """Return in which rows a number is missing."""
        return self._absent(rows[:, self.places]) & self.is_number

    def codes(self, rows: Array) -> Codes:
        """Return the place of each row's value among `options`."""
        return self._codes(rows[:, self.places])

    def values(self, blocks: Array) -> NDArray[Any]:
        """Return the values that blocks of the feature's columns stand for; NaN, NaT or None for a missing one."""
        if self.is_number:
            numbers = self._numbers(blocks)
            return (DAY * numbers).round().astype("datetime64[s]") if self._begins is not None else numbers
        values = np.empty(len(blocks), dtype=object)
        values[:] = [self.options[code] for code in self._codes(blocks)]
        return values

    @property
    def options(self) -> list[Any]:
        """The values of a category: those known by name, all others, those never seen, and the missing one."""
        assert self.column is not None
        if self.column.kind == "boolean":
            return [False, True, None]
        if self.column.kind == "constant":
            return [self.column.fill, None]
        return [*self.column.categories, OTHER, UNSEEN, None]

    @property
    def _begins(self) -> float | None:
        """The day from which the days of a date count; None for what is no date, such as a time of day."""
        if self.column is None or self.column.first is None or DAYS not in self.column.parts:
            return None
        return self.column.first / DAY

    def _numbers(self, blocks: Array) -> Array:
        parts = () if self.column is None else self.column.parts
        # Days since the first are the last part; a time of day has one part.
        numbers = blocks[:, max(len(parts) - 1, 0)] + (self._begins or 0.0)
        return np.where(self._absent(blocks), np.nan, numbers)

    def _absent(self, blocks: Array) -> NDArray[np.bool_]:
        if self.column is None or not self.column.missing:
            return np.zeros(len(blocks), dtype=bool)
        absent: NDArray[np.bool_] = blocks[:, -1] == 1
        return absent

    def _codes(self, blocks: Array) -> Codes:
        column, options = self.column, self.options
        assert column is not None
        if column.kind == "boolean":
            codes = blocks[:, 0].astype(np.intp)
        elif column.kind == "constant":
            codes = np.zeros(len(blocks), dtype=np.intp)
        else:
            shown = [options.index(category) for category in column.shown] + [len(column.categories)] * column.other
            # Of two categories one has a concept; without it a row is of the other.
            lacking = options.index(column.fill) if len(column.shown) < len(column.categories) else len(options) - 2
            given = blocks[:, : len(shown)]
            codes = np.where(given.any(axis=1), np.array(shown)[given.argmax(axis=1)], lacking)
        return np.where(self._absent(blocks), len(options) - 1, codes)


@dataclass(frozen=True)
class Subject:
    """Rows as numbers with their weights, the features among them, classes, and log-odds up to a constant for a row."""

    rows: Array
    weight: Array
    features: tuple[Feature, ...]
    classes: NDArray[Any]
    log_odds: Callable[[Array], Array]

    def probability(self, rows: Array) -> Array:
        """Return class probabilities, shape (n, n_classes)."""
        probability: Array = softmax(self.log_odds(rows), axis=1)
        return probability

    def feature(self, name: str) -> Feature:
        """Return a feature by its name."""
        for feature in self.features:
            if feature.name == str(name):
                if len(feature.places) == 0:
                    raise ValueError(f"Column {feature.name!r} is not used by the model: it has no effect.")
                return feature
        known = [feature.name for feature in self.features]
        raise ValueError(f"There is no feature {name!r}{did_you_mean(name, known)}: the model has {listed(known)}.")


def subject_of(estimator: Any, X: Any) -> Subject:
    """Return rows and predictions of a fitted classifier; X None stands for the training rows that a model kept."""
    if isinstance(estimator, TabularClassifier):
        check_is_fitted(estimator)
        features = [
            Feature(column.name, places, column)
            for column, places in zip(estimator.columns_, column_groups(estimator.columns_), strict=True)
        ]
        encoded = None if X is None else estimator.encode(X).to_numpy(dtype=np.float64)
        return _of_fitted(estimator.fitted_, encoded, features)
    if isinstance(estimator, NetworkClassifier):
        check_is_fitted(estimator)
        rows = None if X is None else checked_rows(estimator, X, reset=False)
        return _of_fitted(estimator.fitted_, rows, _numbers(list(estimator.fitted_.feature_names)))
    return _of_other(estimator, X)


def _of_fitted(fitted: Fitted, rows: Array | None, features: list[Feature]) -> Subject:
    weight = fitted.summary.weight if rows is None else np.ones(len(rows))
    rows = fitted.summary.rows if rows is None else rows
    return Subject(rows, weight, tuple(features), fitted.classes, fitted.scores)


def _of_other(estimator: Any, X: Any) -> Subject:
    """Return the same for another classifier, from its probabilities; X must be numbers."""
    if not (hasattr(estimator, "predict_proba") and hasattr(estimator, "classes_")):
        raise TypeError(f"Effects need a fitted classifier with predict_proba, not a {type(estimator).__name__}.")
    if X is None:
        raise ValueError(f"A {type(estimator).__name__} keeps no training rows: give rows as X.")
    rows = check_array(X, dtype=np.float64)
    names = [str(name) for name in X.columns] if hasattr(X, "columns") else [f"x{j}" for j in range(rows.shape[1])]

    def log_odds(moved: Array) -> Array:
        given = module("pandas", "tabular").DataFrame(moved, columns=X.columns) if hasattr(X, "columns") else moved
        scores: Array = np.log(np.maximum(estimator.predict_proba(given), np.finfo(np.float64).tiny))
        return scores

    return Subject(rows, np.ones(len(rows)), tuple(_numbers(names)), np.asarray(estimator.classes_), log_odds)


def _numbers(names: list[str]) -> list[Feature]:
    return [Feature(name, np.array([j])) for j, name in enumerate(names)]
