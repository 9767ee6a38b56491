"""Scaling of features into [0, 1], where a concept's activation lives.

Easy to get wrong: a test row may lie outside the training range. It is clipped to it, because states outside
[0, 1] were never seen in training.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .activation import Array


@dataclass(frozen=True)
class MinMax:
    """x ↦ (x − low) / span, clipped to [0, 1]; a feature of span 0 becomes 0."""

    low: Array
    span: Array

    @classmethod
    def fit(cls, X: Array) -> "MinMax":
        """Take the range of each column."""
        low = X.min(axis=0)
        return cls(low, X.max(axis=0) - low)

    def __call__(self, X: Array) -> Array:
        """Scale rows."""
        return np.clip((X - self.low) / np.where(self.span > 0, self.span, 1.0), 0.0, 1.0)


@dataclass(frozen=True)
class InRange:
    """x ↦ x clipped to [low, high]: for data that is scaled already."""

    low: float
    high: float

    def __call__(self, X: Array) -> Array:
        """Clip rows."""
        return np.clip(X, self.low, self.high)


def varying(X: Array) -> NDArray[np.bool_]:
    """Say for each column whether it holds two different values."""
    differs: NDArray[np.bool_] = X.max(axis=0) > X.min(axis=0)
    return differs
