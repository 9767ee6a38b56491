"""The methods of a classifier of raw tables that encode rows and explain it, in terms of columns.

Easy to get wrong: rows are warned about once. Methods encode them here, and hand the numbers to the network.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from ..core.fit.fitted import Fitted
from ..core.types import Array
from ..explain.columns import TabularExplanation, by_columns
from ..explain.relevance_table import RelevanceTable
from ..tables.columns import Column, column_sums, encoded
from ..tables.frames import as_frame
from ..tables.new_rows import differing, matched, warn_of_unseen
from .base import NetworkClassifier

if TYPE_CHECKING:
    import pandas as pd


class ExplainableTable:
    """A classifier whose fitted state is a network, and what the columns mean that it reads."""

    classifier_: NetworkClassifier
    columns_: tuple[Column, ...]

    @property
    def fitted_(self) -> Fitted:
        """The fitted value of the network."""
        return self.classifier_.fitted_

    def encode(self, X: Any) -> "pd.DataFrame":
        """Return the numbers that the network sees.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_columns)
            Raw columns, in any order. Columns that `fit` found constant, or dropped, may be absent.

        Returns
        -------
        DataFrame of shape (n_samples, n_encoded)
            One column for each concept of a column, such as "colour = red".
        """
        check_is_fitted(self)
        frame = self._matched(*as_frame(X))
        warn_of_unseen(frame, self.columns_)
        return encoded(frame, self.columns_)

    def relevance(
        self, X: Any = None, *, kind: Literal["model", "data", "paper"] = "model", per_class: bool = False
    ) -> Array:
        """Return how relevant each column is for the decision as a whole, all its concepts together.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_columns), default=None
            Rows to take means over; by default training rows that the model kept.
        kind : {"model", "data", "paper"}, default="model"
            ``"model"``: the mean size of the evidence that the column adds for the classes, as `explain` finds it.
            ``"data"``: the spread of the evidence that goes along with it. ``"paper"``: Ω, summed over its concepts.
        per_class : bool, default=False
            Return one line for each class.

        Returns
        -------
        array of shape (n_features_in_,) or (n_classes, n_features_in_)
            Relevance, at least 0; 0 for a column without concepts.
        """
        check_is_fitted(self)
        if kind == "paper":
            return column_sums(self.classifier_.relevance(kind=kind, per_class=per_class), self.columns_, axis=-1)
        rows = None if X is None else self.encode(X)
        groups = {column.name: column.concepts for column in self.columns_ if column.needed}
        joint = self.classifier_.grouped_relevance(rows, groups=groups, kind=kind, per_class=per_class).relevance
        every = np.zeros((*joint.shape[:-1], len(self.columns_)))
        every[..., [column.needed for column in self.columns_]] = joint
        return every

    def relevance_table(self, X: Any = None, *, kind: Literal["model", "data", "paper"] = "model") -> RelevanceTable:
        """Return `relevance` for people: by names, the largest first; a notebook shows it with bars.

        Parameters and result are those of `LTCNClassifier.relevance_table`; columns without concepts are left out.
        """
        relevance, used = self.relevance(X, kind=kind), [column.needed for column in self.columns_]
        return RelevanceTable([column.name for column in self.columns_ if column.needed], relevance[used], kind)

    def explain(self, X: Any, *, classes: ArrayLike | None = None, baseline: Any = None) -> TabularExplanation:
        """Explain why rows got their class: the evidence over columns, and over concepts and iterations.

        Parameters
        ----------
        X : DataFrame or array-like of shape (n_samples, n_columns)
            Rows.
        classes : array-like of class labels, default=None
            Classes that are explained; all by default.
        baseline : DataFrame of one row, default=None
            One row with which rows are compared, instead of training rows that the model kept.

        Returns
        -------
        TabularExplanation
            The explanation, with `to_frame`, `features_frame`, `to_text`, `flips` and more.
        """
        check_is_fitted(self)
        frame = self._matched(*as_frame(X))
        warn_of_unseen(frame, self.columns_)
        rows = encoded(frame, self.columns_)
        given = None if baseline is None else self._matched(*as_frame(baseline))
        start = None if given is None else encoded(given, self.columns_)
        explanation = self.classifier_.explain(rows, classes=classes, baseline=start)
        return by_columns(explanation, self.columns_, frame, given)

    @property
    def feature_importances_(self) -> Array:
        """Relevance of each column, summing to 1."""
        relevance = self.relevance()
        return relevance / (relevance.sum() or 1.0)

    def differing_columns(self, names: Sequence[Any]) -> tuple[list[str], list[str]]:
        """Return which columns are needed but not among `names`, and which names the model does not know."""
        return differing(names, self.columns_)

    def _matched(self, frame: "pd.DataFrame", named: bool) -> "pd.DataFrame":
        """Check the columns of new rows against those of `fit`; name what differs."""
        return matched(frame, named, self.columns_, type(self).__name__)
