"""The paper's networks with something replaced: random inner or outer weights, or another cut-off of the final state.

Easy to get wrong: the paper prints kappa .73 for random *outer* weights and −.015 for random *inner* weights. A random
readout cannot classify, so the two pairs of numbers are swapped there.

`LTCNClassifier(readout="final")` takes singular values below 1e-6 of the largest for zero, so that no decision hangs on
late digits of a fixed point. The authors' package has 1e-15, the default of `numpy.linalg.pinv`, and reads them;
so does `FinalStateClassifier`.
"""

from dataclasses import replace
from typing import Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from ..core.readout.states import RCOND, StateReadout, inverse_one_hot, moore_penrose
from ..core.types import Array
from ..estimators.classifier import LTCNClassifier


class _Printed(LTCNClassifier):
    """The paper's network with the parameters that the study sets; `_read_with` gives it another readout."""

    def __init__(
        self,
        phi: float = 0.8,
        max_iter: int = 20,
        activation: str = "sigmoid",
        inner: str = "regression",
        scaling: str | None = "minmax",
        tol: float = 1e-9,
        random_state: int | None = 0,
    ) -> None:
        own = {"phi": phi, "max_iter": max_iter, "activation": activation, "inner": inner, "scaling": scaling}
        super().__init__(**LTCNClassifier.paper(**own, tol=tol).get_params())
        self.random_state = random_state

    def _read_with(self, weights: Array, bias: Array) -> None:
        readout = StateReadout(weights, bias)
        ((model, share),) = self.fitted_.members
        members = ((replace(model, readout=readout), share),)
        self.fitted_ = replace(self.fitted_, members=members, outer_weights=weights, outer_bias=bias)


class RandomInnerClassifier(_Printed):
    """The paper's network with random inner weights, uniform in [−1, 1], and learned outer weights."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Draw the inner weights, then learn the outer weights."""
        n_features = np.shape(X)[1]
        weights = check_random_state(self.random_state).uniform(-1, 1, (n_features, n_features))
        np.fill_diagonal(weights, 0.0)
        self.inner = weights
        return super().fit(X, y, sample_weight)


class RandomOuterClassifier(_Printed):
    """The paper's network with learned inner weights and random outer weights, standard normal."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the network, then replace what reads it."""
        super().fit(X, y, sample_weight)
        random = check_random_state(self.random_state)
        self._read_with(random.normal(size=self.outer_weights_.shape), random.normal(size=len(self.classes_)))
        return self


class FinalStateClassifier(_Printed):
    """The paper's network, read at its final state without singular values up to `RCOND` of the largest."""

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the network, then read its final state alone."""
        self.readout = "final"
        super().fit(X, y, sample_weight)
        activation = self.fitted_.members[0][0].network.activation
        target = inverse_one_hot(np.searchsorted(self.classes_, y), len(self.classes_), activation)
        ones = np.ones(len(target))
        last = moore_penrose([self.trajectory(X)[:, -1]], target, ones, ones, rcond=RCOND).readout
        unread = np.zeros((self.n_iter_, *last.weights.shape[1:]))
        self._read_with(np.concatenate([unread, last.weights]), last.bias)
        return self
