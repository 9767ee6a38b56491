"""What a picture says about each concept of a fitted classifier: its own name, its block, and its feature's relevance.

Easy to get wrong: a concept need not be a feature. With terms, or in a stack, several concepts belong to one feature,
and a constant feature has none.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.types import Array
from ..estimators.base import NetworkClassifier
from ..estimators.tabular import TabularClassifier


def network_of(estimator: NetworkClassifier | TabularClassifier) -> NetworkClassifier:
    """Return the network: the estimator itself, or the one that a classifier of raw tables contains."""
    return estimator.classifier_ if isinstance(estimator, TabularClassifier) else estimator


def feature_relevance(estimator: NetworkClassifier) -> Array:
    """Return for each concept the relevance of its feature, as `relevance()` has it; shape (M,)."""
    return np.asarray(estimator.relevance())[estimator.fitted_.concept_features]


def names_and_blocks(estimator: NetworkClassifier) -> tuple[NDArray[Any], NDArray[Any] | None]:
    """Return for each concept its name within its block, and the name of the block; None for a single network."""
    parts = estimator.fitted_.own_names
    names = [name for part in parts for name in part]
    if len(parts) == 1:
        return np.array(names, dtype=object), None
    # A stack tells its blocks apart by what follows the concept's own name.
    whole = [str(name) for name in estimator.concept_names_]
    blocks = [full.removeprefix(name).strip(" []") for full, name in zip(whole, names, strict=True)]
    return np.array(names, dtype=object), np.array(blocks, dtype=object)
