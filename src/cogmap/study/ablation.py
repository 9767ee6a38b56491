"""The paper's ablation: networks of which one of the two learning steps is replaced by random weights.

Easy to get wrong: the paper prints kappa .73 for random *outer* weights and −.015 for random *inner* weights. A random
readout cannot classify, so the two pairs of numbers are swapped there.
"""

from dataclasses import replace
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from ..core.readout.states import StateReadout
from ..estimators.classifier import LTCNClassifier


class RandomInnerClassifier(LTCNClassifier):
    """The paper's network with random inner weights, uniform in [−1, 1], and learned outer weights."""

    def __init__(self, phi: float = 0.8, max_iter: int = 20, random_state: int | None = 0) -> None:
        super().__init__(**_printed(phi, max_iter))
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Draw the inner weights, then learn the outer weights."""
        n_features = np.shape(X)[1]
        weights = check_random_state(self.random_state).uniform(-1, 1, (n_features, n_features))
        np.fill_diagonal(weights, 0.0)
        self.inner = weights
        return super().fit(X, y, sample_weight)


class RandomOuterClassifier(LTCNClassifier):
    """The paper's network with learned inner weights and random outer weights, standard normal."""

    def __init__(self, phi: float = 0.8, max_iter: int = 20, random_state: int | None = 0) -> None:
        super().__init__(**_printed(phi, max_iter))
        self.random_state = random_state

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the network, then replace what reads it."""
        super().fit(X, y, sample_weight)
        random = check_random_state(self.random_state)
        readout = StateReadout(random.normal(size=self.outer_weights_.shape), random.normal(size=len(self.classes_)))
        ((model, weight),) = self.fitted_.members
        members = ((replace(model, readout=readout), weight),)
        self.fitted_ = replace(self.fitted_, members=members, outer_weights=readout.weights, outer_bias=readout.bias)
        return self


def _printed(phi: float, max_iter: int) -> dict[str, Any]:
    parameters: dict[str, Any] = LTCNClassifier.paper(phi=phi, max_iter=max_iter).get_params()
    return parameters
