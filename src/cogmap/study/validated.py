"""What the study's own classifiers share: checked rows, class codes, and the refusal of more than two classes."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core.types import Array


class ValidatedClassifier(ClassifierMixin, BaseEstimator):
    """A classifier of dense, finite numbers; `two_classes_only` says whether it takes more than two classes."""

    two_classes_only = False
    classes_: NDArray[Any]
    n_features_in_: int

    def _training(self, X: ArrayLike, y: ArrayLike) -> tuple[Array, NDArray[np.intp]]:
        """Check the training rows, set `classes_`, and return rows and class codes."""
        rows, labels = validate_data(self, X, y, dtype=np.float64)
        check_classification_targets(labels)
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if self.two_classes_only and len(self.classes_) > 2:
            raise ValueError(
                f"Only binary classification is supported. y has {len(self.classes_)} classes: use two, or another "
                "classifier."
            )
        if len(self.classes_) < 2:
            only = self.classes_.tolist()[0]
            raise ValueError(f"y holds one class ({only!r}) only: a classifier needs at least two classes.")
        return rows, codes

    def _rows(self, X: ArrayLike) -> Array:
        """Check rows to predict."""
        check_is_fitted(self)
        rows: Array = validate_data(self, X, reset=False, dtype=np.float64)
        return rows

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = not self.two_classes_only
        return tags
