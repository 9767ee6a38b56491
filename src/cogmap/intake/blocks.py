"""Blocks of a user's rows: checked, and counted in a census.

Rows in memory, on a device, in a stream, in Dask and in Spark differ in where their blocks are. What happens to a block
is here and in `encoding`; what a fit is given in all, in `supply`.

Easy to get wrong: the functions of a block travel to other processes, so they hold data only, no estimator.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, _get_feature_names

from ..core.sums.rows import MOST_ROWS
from ..core.sums.sources import BLOCK_ROWS
from ..core.sums.statistics import Census
from ..core.types import Array
from .arrays import check_same_space, on_host
from .checks import check_weights, checked_rows, column, not_finite_sentence, sparse_sentence
from .labels import check_kinds, checked_labels, kinds_of


class RawBlock(NamedTuple):
    """Checked rows, their labels and weights."""

    X: Array
    labels: NDArray[Any]
    weight: Array

    @property
    def positive(self) -> "RawBlock":
        """The rows of positive weight."""
        counts = self.weight > 0
        return self if counts.all() else RawBlock(*(part[counts] for part in self))


@dataclass(frozen=True)
class Features:
    """How many features there are, and what they are called, if they have names."""

    n_features: int
    names: tuple[str, ...] | None

    @classmethod
    def of(cls, X: Any) -> "Features":
        """Look at the first block."""
        names = _get_feature_names(X)
        return cls(np.shape(X)[1] if np.ndim(X) == 2 else 0, None if names is None else tuple(map(str, names)))

    @property
    def array(self) -> NDArray[Any] | None:
        """The names as an array."""
        return None if self.names is None else np.array(self.names, dtype=object)

    @property
    def listed(self) -> list[str]:
        """Their names, or x0, x1, … where they have none."""
        return [f"x{i}" for i in range(self.n_features)] if self.names is None else list(self.names)

    def check(self, X: Any, y: Any, weight: Any = None, *, before: int = 0) -> RawBlock:
        """Return a block as numbers without rows of weight 0, or raise an error that says what is wrong with it.

        So many rows came `before` the block, where that is known.
        """
        if issparse(X):
            raise TypeError(sparse_sentence(X))
        if np.ndim(X) != 2 or self.n_features == 0:
            raise ValueError(f"X must be a table with rows and columns in every block; its shape is {np.shape(X)}.")
        names = _get_feature_names(X)
        if np.shape(X)[1] != self.n_features or (names is not None and tuple(map(str, names)) != self.names):
            raise ValueError(
                f"A block has the columns {_listed(names, np.shape(X)[1])} and the first block "
                f"{_listed(self.names, self.n_features)}: all blocks need the same columns in the same order."
            )
        rows = np.ascontiguousarray(_numbers(X, self.array))
        if np.shape(y) != (len(rows),):
            raise ValueError(f"A block has {len(rows)} rows, and y has shape {np.shape(y)}: give each row one class.")
        labels = checked_labels(y, before=before)
        if not np.isfinite(rows).all():
            raise ValueError(not_finite_sentence(rows, self.array, before))
        return _weighted(rows, labels, weight, before)


def _listed(names: Sequence[str] | None, n: int) -> str:
    return f"{n} without names" if names is None else ", ".join(map(repr, names))


def _numbers(X: Any, names: NDArray[Any] | None) -> Array:
    try:
        return np.asarray(X, dtype=np.float64)
    except (TypeError, ValueError) as error:
        table = np.asarray(X, dtype=object)
        for j in range(table.shape[1]):
            try:
                table[:, j].astype(np.float64)
            except (TypeError, ValueError):
                raise ValueError(
                    f"X holds values that are no numbers in {column(j, names)}: encode it as numbers first, or fit a "
                    "cogmap.TabularClassifier."
                ) from error
        raise


def _weighted(rows: Array, labels: NDArray[Any], weight: Any, before: int) -> RawBlock:
    if weight is None:
        return RawBlock(rows, labels, np.ones(len(rows)))
    numbers = np.asarray(weight, dtype=np.float64)
    if numbers.shape != (len(rows),) or not np.isfinite(numbers).all() or (numbers < 0).any():
        raise ValueError(f"Weights must be {len(rows)} finite numbers, 0 or larger, one for each row of the block.")
    check_weights(numbers, before)
    return RawBlock(rows, labels, numbers).positive


def checked_block(estimator: Any, X: Any, y: Any, sample_weight: Any, *, reset: bool) -> RawBlock:
    """Return arrays that an estimator is fitted to as one block, or raise an error that says what is wrong with them.

    With `reset`, they say what the estimator's features are; rows of weight 0 are among them.
    """
    check_same_space(X, y=y, sample_weight=sample_weight)
    rows = checked_rows(estimator, X, reset=reset)
    if y is None:
        raise ValueError(f"{type(estimator).__name__} requires y to be passed, but the target y is None.")
    labels = checked_labels(on_host(y))
    if len(labels) != len(rows):
        raise ValueError(f"X has {len(rows)} rows and y has {len(labels)}: give one class for each row.")
    check_classification_targets(labels)
    weight = _check_sample_weight(on_host(sample_weight), rows, dtype=np.float64, ensure_non_negative=True)
    check_weights(weight)
    return RawBlock(rows, labels, weight)


class LabelledCensus(Census):
    """A census that refuses labels of another kind in another block, which numpy would turn into text."""

    def merge(self, other: Self) -> Self:
        """Join two."""
        check_kinds(kinds_of(self.labels) | kinds_of(other.labels))
        return super().merge(other)


def census(block: RawBlock) -> Census:
    """Count a block."""
    return LabelledCensus.from_block(*block)


def n_blocks(n_rows: int) -> int:
    """Return into how many blocks so many rows are cut."""
    return -(-n_rows // BLOCK_ROWS)


def few(n_rows: int) -> bool:
    """Say whether so many rows are fitted at once."""
    return n_rows <= MOST_ROWS
