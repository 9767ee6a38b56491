"""The methods of a classifier that explain it: they check the rows and hand over to the room `explain`."""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..core.explain.relevance import Interval
from ..core.fit.fitted import Fitted
from ..core.types import Array
from ..errors import IllConditionedWarning
from ..explain import relevance
from ..explain.explanation import Explanation, explain, row_labels
from ..explain.relevance import GroupedRelevance
from ..explain.relevance_table import RelevanceTable
from ..explain.resemblance import regions_frame, resemblance_frame
from ..intake.checks import checked_rows


class Explainable:
    """A classifier whose fitted state is a `Fitted`."""

    fitted_: Fitted

    def relevance(
        self, X: ArrayLike | None = None, *, kind: Literal["model", "data", "paper"] = "model", per_class: bool = False
    ) -> Array:
        """Return how relevant each feature is for the decision as a whole.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Rows to take means over; by default training rows that the model kept. For the kind "model" 16 to 256 of
            them serve, the fewer the more features there are; over those kept it is computed once for each fit.
        kind : {"model", "data", "paper"}, default="model"
            ``"model"``: the mean size of the evidence that the feature adds for the classes, as `explain` finds it.
            ``"data"``: which features carry the decision in the data, |cov(feature, evidence)| / sd(feature).
            ``"paper"``: Ω, the absolute weights that leave the feature's concepts.
        per_class : bool, default=False
            Return one line for each class; otherwise the mean over the classes, weighted by their shares.

        Returns
        -------
        array of shape (n_features_in_,) or (n_classes, n_features_in_)
            Relevance, at least 0; exactly 0 for a constant feature. The kinds "model" and "data" are in log-odds.

        Warns
        -----
        UnreliableRelevanceWarning
            Where weights that cancel, or rounding, decide the result.
        """
        relevance.check_kind(kind)
        check_is_fitted(self)
        # The paper's kind reads weights alone: it takes any X.
        return relevance.relevance(self.fitted_, None if kind == "paper" else self._known_rows(X), kind, per_class)

    def resemblance(self) -> Any:
        """Return what makes two rows alike for a model that remembers rows: how far each concept counts.

        Returns
        -------
        pandas.DataFrame
            Columns ``network``, ``distance``, ``concept`` and ``share``, the largest first. A distance along ``"axes"``
            is a sum over concepts, of which it is the share; of a ``"straight"`` one it is that of its square, and of a
            ``"squared"`` one of itself. Each network in whose concepts rows are remembered, and each distance, has a
            metric of its own.
        """
        check_is_fitted(self)
        return resemblance_frame(self.fitted_)

    def regions(self) -> Any:
        """Return the regions within which rows are compared, as rules.

        Returns
        -------
        pandas.DataFrame
            Columns ``network``, ``distance``, ``rule`` ("age is above 25 and hours is at most 40") and ``cases``, the
            number of remembered rows.
        """
        check_is_fitted(self)
        return regions_frame(self.fitted_)

    def relevance_table(
        self, X: ArrayLike | None = None, *, kind: Literal["model", "data", "paper"] = "model"
    ) -> RelevanceTable:
        """Return `relevance` for people: by names, the largest first; a notebook shows it with bars.

        Parameters
        ----------
        X, kind
            As for `relevance`.

        Returns
        -------
        RelevanceTable
            The table, with `to_frame`.
        """
        values = self.relevance(X, kind=kind)
        return RelevanceTable(list(self.fitted_.feature_names), values, kind)

    def relevance_intervals(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        kind: Literal["model", "data", "paper"] = "model",
        per_class: bool = False,
        n_bootstrap: int = 200,
        level: float = 0.95,
        random_state: int = 0,
    ) -> Interval:
        """Return relevance with bootstrap intervals.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows to resample.
        y : array-like of shape (n_samples,), default=None
            Their classes. With them the model is refitted on each resample, drawn within the classes, and the estimate
            is that of a fit to all rows; otherwise the model is held and the interval says how far the mean depends on
            the rows (64 of X, for the kind "model").
        kind, per_class
            As for `relevance`; ``kind="paper"`` needs y.
        n_bootstrap : int, default=200
            Number of resamples.
        level : float, default=0.95
            Share of the resampled values within the interval.
        random_state : int, default=0
            Seed of the resamples.

        Returns
        -------
        Interval
            Named tuple of `estimate`, `low` and `high`.
        """
        relevance.check_intervals(kind, n_bootstrap, level, refits=y is not None)
        check_is_fitted(self)
        options = (kind, per_class, n_bootstrap, level, np.random.default_rng(random_state))
        if y is None:
            return relevance.relevance_intervals(self.fitted_, checked_rows(self, X, reset=False), *options)

        def refit(weight: Array) -> tuple[Fitted, Array]:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", IllConditionedWarning)
                model: Any = clone(self).fit(X, y, sample_weight=weight)
            return model.fitted_, checked_rows(model, X, reset=False)

        return relevance.refitted_intervals(self.fitted_, refit, np.asarray(y), *options)

    def grouped_relevance(
        self,
        X: ArrayLike | None = None,
        *,
        groups: Literal["auto"] | Mapping[str, Sequence[str]] = "auto",
        kind: Literal["model", "data"] = "model",
        per_class: bool = False,
        threshold: float = 0.8,
    ) -> GroupedRelevance:
        """Return the joint relevance of groups of features, for blocks that carry the same information.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), default=None
            Rows, as for `relevance`.
        groups : "auto" or dict of str to sequence of str, default="auto"
            Names of the features in each group; a feature in none is a group of its own. ``"auto"`` clusters features
            whose absolute correlation is `threshold` or more on average.
        kind : {"model", "data"}, default="model"
            The mean size of the evidence that the members add together, as one feature; or the spread of the evidence
            that goes along with them.
        per_class : bool, default=False
            As for `relevance`.
        threshold : float, default=0.8
            Absolute correlation for ``groups="auto"``.

        Returns
        -------
        GroupedRelevance
            Named tuple of `names`, `features` and `relevance`.
        """
        relevance.check_joint_kind(kind)
        check_is_fitted(self)
        return relevance.grouped_relevance(self.fitted_, self._known_rows(X), groups, kind, per_class, threshold)

    def explain(
        self, X: ArrayLike, *, classes: ArrayLike | None = None, baseline: ArrayLike | None = None
    ) -> Explanation:
        """Explain why rows got their class: the evidence over features, and over concepts and iterations.

        Evidence is in log-odds: for two classes that of the class against the other one, for more its log probability
        less the mean of all classes'. What a feature adds is its Shapley value against other rows: training rows that
        the model kept, 32 of them, fewer (at least 4) with more than 64 features. A row takes up to 4,096 scores (more
        with more than 512 features).

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.
        classes : array-like of class labels, default=None
            Classes that are explained; all by default.
        baseline : array-like of shape (n_features,), default=None
            One row with which rows are compared in the attribution to features, instead of training rows.

        Returns
        -------
        Explanation
            The explanation, with `to_frame`, `features_frame`, `to_text`, `to_shap`, `flips` and more.
        """
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        given = None if baseline is None else self._given_row(baseline)
        return explain(self.fitted_, rows, row_labels(X, len(rows)), classes, given)

    @property
    def feature_importances_(self) -> Array:
        """Relevance of each feature (`relevance`, kind "model", from the training rows kept), summing to 1."""
        check_is_fitted(self)
        return relevance.importances(self.fitted_)

    def _known_rows(self, X: ArrayLike | None) -> Array | None:
        return None if X is None else checked_rows(self, X, reset=False)

    def _given_row(self, baseline: ArrayLike) -> Array:
        """Return one row to compare with, checked."""
        table = baseline if getattr(baseline, "ndim", 0) == 2 else np.asarray(baseline, dtype=np.float64).reshape(1, -1)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="X does not have valid feature names")
            rows = checked_rows(self, table, reset=False)
        if len(rows) != 1:
            raise ValueError(f"baseline has {len(rows)} rows: give one.")
        row: Array = rows[0]
        return row
