"""LightGBM with the paper's two hyper-parameters: a validation fraction for early stopping, and the smallest leaf.

Easy to get wrong: the validation rows must not hold a class that the training rows lack, so the split is stratified
wherever there are enough rows for it.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.model_selection import train_test_split

from ..core.types import Array
from .validated import ValidatedClassifier

PATIENCE = 10
"""Trees without gain after which boosting stops."""


class LightGBMClassifier(ValidatedClassifier):
    """LightGBM that stops early on a validation split.

    Parameters
    ----------
    validation_fraction : float, default=0.1
        Share of the rows that decide when to stop.
    min_child_samples : int, default=20
        Fewest rows of a leaf.
    n_estimators : int, default=200
        Most trees.
    random_state : int, default=0
        Seed of the split.
    """

    def __init__(
        self,
        validation_fraction: float = 0.1,
        min_child_samples: int = 20,
        n_estimators: int = 200,
        random_state: int = 0,
    ) -> None:
        self.validation_fraction = validation_fraction
        self.min_child_samples = min_child_samples
        self.n_estimators = n_estimators
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Boost until the validation rows gain no more; X of shape (n_samples, n_features)."""
        try:
            from lightgbm import LGBMClassifier, early_stopping
        except ImportError as error:
            raise ImportError('LightGBM needs lightgbm: pip install "cogmap[study]".') from error
        rows, codes = self._training(X, y)
        counts = np.bincount(codes)
        roomy = counts.min() > 1 and self.validation_fraction * len(codes) >= len(counts)
        split = train_test_split(
            rows,
            codes,
            test_size=self.validation_fraction,
            random_state=self.random_state,
            stratify=codes if roomy else None,
        )
        known = np.isin(split[3], split[2])
        self.model_: Any = LGBMClassifier(
            n_estimators=self.n_estimators,
            min_child_samples=self.min_child_samples,
            n_jobs=1,
            random_state=self.random_state,
            verbose=-1,
        )
        stop = early_stopping(PATIENCE, verbose=False)
        self.model_.fit(split[0], split[2], eval_set=[(split[1][known], split[3][known])], callbacks=[stop])
        return self

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return class probabilities of the classes in `model_.classes_`, 0 for others; (n_samples, n_classes)."""
        rows = self._rows(X)
        probability = np.zeros((len(rows), len(self.classes_)))
        probability[:, self.model_.classes_] = self.model_.predict_proba(rows)
        return probability

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row."""
        winner = self.predict_proba(X).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[winner]
        return labels
