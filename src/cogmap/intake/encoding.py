"""From a user's blocks to rows for the core: class codes, weights, and nothing in irrelevant features.

Easy to get wrong: the encoder travels to other processes, so it holds data only.
"""

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets

from ..core.sums.rows import Rows, merge_copies, weighted_rows
from ..core.sums.space import NUMPY, Space
from ..core.sums.statistics import Census, Range
from ..core.types import Array, Codes
from ..errors import KnowledgeWarning, ManyClassesWarning
from ..knowledge import Knowledge
from ..knowledge.edges import irrelevant_features, without_effect
from .blocks import Features, RawBlock
from .checks import LEAST_WEIGHT, MOST_WEIGHT, check_span
from .labels import COST_OF_CLASSES, MANY_CLASSES, check_kinds, kinds_of


@dataclass(frozen=True)
class Encoder:
    """From labels to class codes, with the weight of every class, and without the features that are irrelevant."""

    classes: NDArray[Any]
    share: Array
    silent: NDArray[np.bool_]

    @classmethod
    def of(cls, features: Features, counted: Census, class_weight: Any, knowledge: Knowledge) -> Self:
        """Look at the census of all rows."""
        check_span(counted.low, counted.high, features.array)
        # Each class three times: scikit-learn warns where more than half of the labels are different.
        check_classification_targets(np.repeat(counted.labels, 3))
        share = class_shares(class_weight, counted.labels, counted.mass)
        return cls(counted.labels, share, irrelevant_features(knowledge, features.listed))

    def range(self, counted: Census) -> Range:
        """Return what the census says of encoded rows."""
        low, high = (np.where(self.silent, 0.0, end) for end in (counted.low, counted.high))
        return Range(low, high, counted.mass * self.share)

    def codes(self, labels: NDArray[Any]) -> NDArray[np.intp]:
        """Return the code of each label."""
        check_kinds(kinds_of(self.classes[:1]) | kinds_of(labels[:1]))
        codes = np.searchsorted(self.classes, labels)
        unknown = self.classes[np.minimum(codes, len(self.classes) - 1)] != labels
        if unknown.any():
            raise ValueError(f"y holds the class {labels[unknown].tolist()[0]!r}, which was not there before.")
        return codes

    def rows(self, X: Array, space: Space = NUMPY) -> Array:
        """Return rows with 0 in irrelevant features."""
        # A constant column is no concept, and merges the rows that nothing else tells apart.
        return space.xp.where(space.put(self.silent), 0.0, space.double(X)) if self.silent.any() else X

    def encoded(self, X: Array, codes: Codes, frequency: Array, space: Space = NUMPY) -> Rows:
        """Encode rows of these classes, where they are."""
        return weighted_rows(self.rows(X, space), codes, frequency, self.share, space)

    def __call__(self, block: RawBlock) -> Rows:
        """Encode a block."""
        return self.encoded(block.X, self.codes(block.labels), block.weight)

    def merged(self, block: RawBlock) -> Rows:
        """Encode a block of all rows; copies become one row, in an order of their own."""
        return weighted_rows(*merge_copies(self.rows(block.X), self.codes(block.labels), block.weight), self.share)


def class_shares(class_weight: Any, classes: NDArray[Any], count: Array) -> Array:
    """Return the weight that `class_weight` gives each class; `count` is how many rows each has."""
    if len(classes) < 2:
        only = classes.tolist()[0]
        raise ValueError(f"y holds one class ({only!r}) only: a classifier needs at least two classes.")
    share: Array = compute_class_weight(class_weight, classes=classes, y=classes, sample_weight=count)
    if not ((share >= LEAST_WEIGHT) & (share <= MOST_WEIGHT)).all():
        raise ValueError(
            f"class_weight={class_weight!r} must give every class a weight from {LEAST_WEIGHT:g} to {MOST_WEIGHT:g}."
        )
    if len(classes) > MANY_CLASSES:
        warnings.warn(
            f"y holds {len(classes)} classes: {COST_OF_CLASSES} If y is a quantity, cut it into a few ranges.",
            ManyClassesWarning,
            stacklevel=7,
        )
    return share


def warn_of_constants(knowledge: Knowledge, features: Sequence[str], varies: NDArray[np.bool_]) -> None:
    """Warn of statements that have no effect, because their feature is constant and so has no edges."""
    for statement, name in without_effect(knowledge, features, varies):
        warnings.warn(
            f"'{statement}' has no effect: {name!r} is constant in these rows, and so is no concept.",
            KnowledgeWarning,
            stacklevel=5,
        )
