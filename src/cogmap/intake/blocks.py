"""Blocks of a user's rows: checked, counted in a census, and encoded for the core.

A streamed fit, a Dask fit and a Spark fit differ in where their blocks are; what happens to a block is here.

Easy to get wrong: the functions of a block travel to other processes, so they hold data only, no estimator.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _get_feature_names

from ..core.fit.passes import Range, passable
from ..core.sums.rows import MOST_ROWS, Rows, weighted_rows
from ..core.sums.sources import BLOCK_ROWS
from ..core.sums.statistics import Census
from ..core.types import Array
from ..estimators.base import NetworkClassifier
from ..estimators.classifier import LTCNClassifier
from ..knowledge.edges import irrelevant_features
from .checks import check_span, check_weights, column, not_finite_sentence, sparse_sentence
from .labels import check_kinds, checked_labels, kinds_of


class RawBlock(NamedTuple):
    """Checked rows of positive weight, their labels and weights."""

    X: Array
    labels: NDArray[Any]
    weight: Array


@dataclass(frozen=True)
class Columns:
    """How many columns there are, and what they are called, if they have names."""

    n_features: int
    names: tuple[str, ...] | None

    @classmethod
    def of(cls, X: Any) -> "Columns":
        """Look at the first block."""
        names = _get_feature_names(X)
        return cls(np.shape(X)[1] if np.ndim(X) == 2 else 0, None if names is None else tuple(map(str, names)))

    @property
    def array(self) -> NDArray[Any] | None:
        """The names as an array."""
        return None if self.names is None else np.array(self.names, dtype=object)

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
        return _positive(rows, labels, weight, before)


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


def _positive(rows: Array, labels: NDArray[Any], weight: Any, before: int) -> RawBlock:
    if weight is None:
        return RawBlock(rows, labels, np.ones(len(rows)))
    found = np.asarray(weight, dtype=np.float64)
    if found.shape != (len(rows),) or not np.isfinite(found).all() or (found < 0).any():
        raise ValueError(f"Weights must be {len(rows)} finite numbers, 0 or larger, one for each row of the block.")
    check_weights(found, before)
    kept = found > 0
    return RawBlock(rows, labels, found) if kept.all() else RawBlock(rows[kept], labels[kept], found[kept])


class LabelledCensus(Census):
    """A census that refuses labels of another kind in another block, which numpy would turn into text."""

    def merge(self, other: Self) -> Self:
        """Join two."""
        check_kinds(kinds_of(self.labels) | kinds_of(other.labels))
        return super().merge(other)


def census(block: RawBlock) -> Census:
    """Count a block."""
    return LabelledCensus.from_block(*block)


@dataclass(frozen=True)
class Encoder:
    """From labels to class codes, with the weight of every class, and without the features that are irrelevant."""

    classes: NDArray[Any]
    share: Array
    silent: NDArray[np.bool_]

    def codes(self, labels: NDArray[Any]) -> NDArray[np.intp]:
        """Return the code of each label."""
        check_kinds(kinds_of(self.classes[:1]) | kinds_of(labels[:1]))
        found = np.searchsorted(self.classes, labels)
        unknown = self.classes[np.minimum(found, len(self.classes) - 1)] != labels
        if unknown.any():
            raise ValueError(f"y holds the class {labels[unknown].tolist()[0]!r}, which was not there before.")
        return found

    def rows(self, X: Array) -> Array:
        """Return rows with 0 in irrelevant features."""
        return np.where(self.silent, 0.0, X) if self.silent.any() else X

    def __call__(self, block: RawBlock) -> Rows:
        """Encode a block."""
        return weighted_rows(self.rows(block.X), self.codes(block.labels), block.weight, self.share)


def begin(classifier: NetworkClassifier, columns: Columns, counted: Census) -> tuple[Encoder, Range]:
    """Check parameters and census, and set what the estimator knows of its input and classes."""
    classifier._check_parameters()
    classifier.n_features_in_ = columns.n_features
    if columns.array is not None:
        classifier.feature_names_in_ = columns.array
    check_span(np.vstack([counted.low, counted.high]), columns.array)
    # Each class three times: scikit-learn warns where more than half of the labels are different.
    check_classification_targets(np.repeat(counted.labels, 3))
    classifier._without_irrelevant(np.vstack([counted.low, counted.high]))
    share = classifier._class_shares(counted.labels, counted.mass)
    silent = irrelevant_features(classifier.knowledge_, classifier._feature_names())
    low, high = np.where(silent, 0.0, counted.low), np.where(silent, 0.0, counted.high)
    return Encoder(counted.labels, share, silent), Range(low, high, counted.mass * share)


def fit_at_once(
    classifier: LTCNClassifier,
    encoder: Encoder,
    counted: Census,
    known: Range,
    gather: Callable[[], Sequence[RawBlock]],
) -> LTCNClassifier | None:
    """Fit to rows that are few enough to be gathered, as `LTCNClassifier.fit` does; return None where they are many.

    Where no feature varies, the census says all. Where rows are many and blocks do not suffice, raise an error.
    """
    if not known.varies.any():
        rows = np.tile(counted.low, (len(counted.labels), 1))
        return _fit_gathered(classifier, encoder, [RawBlock(rows, counted.labels, counted.mass)])
    if counted.n_rows <= MOST_ROWS:
        return _fit_gathered(classifier, encoder, gather())
    if not passable(classifier._settings(), known):
        raise ValueError(
            f"{counted.n_rows} rows do not fit at once, and blocks of rows need readout='trajectory', cases=False, a "
            "positive alpha or 'loo', and for the latter a weight of six rows or more for each concept."
        )
    return None


def _fit_gathered(classifier: LTCNClassifier, encoder: Encoder, blocks: Sequence[RawBlock]) -> LTCNClassifier:
    X, labels, weight = (np.concatenate(parts) for parts in zip(*blocks, strict=True))
    return classifier._fit_given(encoder.rows(X), encoder.codes(labels), weight, encoder.share)


def n_blocks(n_rows: int) -> int:
    """Return into how many blocks so many rows are cut."""
    return -(-n_rows // BLOCK_ROWS)
