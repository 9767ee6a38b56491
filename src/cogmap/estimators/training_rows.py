"""The methods of a classifier that take its training rows in: rows, classes and weights, checked and encoded.

Easy to get wrong: a feature that is stated to be irrelevant must be silent in every row, or copies of rows that differ
in it alone would not be merged.
"""

import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight

from ..core.concepts.scaling import varying
from ..core.sums.rows import Rows, merge_copies, weighted_rows
from ..core.types import Array
from ..errors import KnowledgeWarning, ManyClassesWarning
from ..intake.arrays import check_same_space, on_host
from ..intake.checks import LEAST_WEIGHT, MOST_WEIGHT, check_weights, checked_rows, feature_names
from ..intake.labels import COST_OF_CLASSES, MANY_CLASSES, checked_labels
from ..intake.memory import check_memory
from ..knowledge import Knowledge
from ..knowledge.edges import checked_knowledge, irrelevant_features, without_effect


class TrainingRows:
    """A classifier that is fitted to rows of numbers."""

    classes_: NDArray[Any]
    class_count_: Array
    class_weight: Any
    knowledge: Knowledge | None
    knowledge_: Knowledge

    def _training_rows(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None) -> Rows:
        """Check the input and merge copies of rows; set `classes_` and `class_count_`."""
        return self._merged(*self._given_rows(X, y, sample_weight))

    def _merged(self, rows: Array, codes: NDArray[np.intp], weight: Array, share: Array) -> Rows:
        """Merge copies of rows."""
        rows, codes, weight = merge_copies(rows, codes, weight)
        self._warn_of_constants(varying(rows))
        check_memory(len(rows), int(varying(rows).sum()), getattr(self, "terms", None), len(self.classes_))
        return weighted_rows(rows, codes, weight, share)

    def _given_rows(
        self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Array, NDArray[np.intp], Array, Array]:
        """Check the input; return rows of positive weight, their class codes and weights, and the classes' weights.

        Sets `classes_` and `class_count_`.
        """
        check_same_space(X, y=y, sample_weight=sample_weight)
        rows = self._without_irrelevant(checked_rows(self, X, reset=True))
        if y is None:
            raise ValueError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        labels = checked_labels(on_host(y))
        if len(labels) != len(rows):
            raise ValueError(f"X has {len(rows)} rows and y has {len(labels)}: give one class for each row.")
        check_classification_targets(labels)
        weight = _check_sample_weight(on_host(sample_weight), rows, dtype=np.float64, ensure_non_negative=True)
        check_weights(weight)
        if not (weight > 0).all():
            rows, labels, weight = rows[weight > 0], labels[weight > 0], weight[weight > 0]
        if len(rows) == 0:
            raise ValueError("Every sample_weight is 0: give rows of at least two classes a weight above 0.")
        classes, codes = np.unique(labels, return_inverse=True)
        count = np.bincount(codes, weight, len(classes)).astype(np.float64)
        return rows, codes, weight, self._class_shares(classes, count)

    def _without_irrelevant(self, rows: Array) -> Array:
        """Return checked rows with 0 in the features that are stated to be irrelevant; set `knowledge_`."""
        self.knowledge_ = checked_knowledge(self.knowledge, feature_names(self))
        silent = irrelevant_features(self.knowledge_, feature_names(self))
        # A constant column is no concept, and merges the rows that nothing else tells apart.
        return np.where(silent, 0.0, rows) if silent.any() else rows

    def _class_shares(self, classes: NDArray[Any], count: Array) -> Array:
        """Set `classes_` and `class_count_`; return the weight that `class_weight` gives each class."""
        if len(classes) < 2:
            only = classes.tolist()[0]
            raise ValueError(f"y holds one class ({only!r}) only: a classifier needs at least two classes.")
        share: Array = compute_class_weight(self.class_weight, classes=classes, y=classes, sample_weight=count)
        if not ((share >= LEAST_WEIGHT) & (share <= MOST_WEIGHT)).all():
            raise ValueError(
                f"class_weight={self.class_weight!r} must give every class a weight from {LEAST_WEIGHT:g} to "
                f"{MOST_WEIGHT:g}."
            )
        if len(classes) > MANY_CLASSES:
            warnings.warn(
                f"y holds {len(classes)} classes: {COST_OF_CLASSES} If y is a quantity, cut it into a few ranges.",
                ManyClassesWarning,
                stacklevel=4,
            )
        self.classes_, self.class_count_ = classes, count
        return share

    def _warn_of_constants(self, varies: NDArray[np.bool_]) -> None:
        """Warn of statements that have no effect, because their feature is constant and so has no edges."""
        for statement, name in without_effect(self.knowledge_, feature_names(self), varies):
            warnings.warn(
                f"'{statement}' has no effect: {name!r} is constant in these rows, and so is no concept.",
                KnowledgeWarning,
                stacklevel=5,
            )
