"""What the classifiers share: input, scores, classes, probabilities, and the view of their networks as one."""

import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import block_diag
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..core.concepts.concepts import Concepts
from ..core.decision.decision import Decision, class_covariance, judged_rows
from ..core.device.scores import probabilities, scores_of
from ..core.explain.relevance import Interval
from ..core.fit.at_once import Learned
from ..core.fit.model import Model, Settings, Summary
from ..core.fit.passes import Range
from ..core.network.dynamics import Dynamics, diagnose, merged
from ..core.sums.rows import Rows, Scored
from ..core.sums.statistics import Source
from ..core.types import Array
from ..errors import NoInformationWarning
from ..intake.arrays import labels_of, on_host, space_of
from ..intake.checks import checked_array, checked_rows
from ..knowledge import Knowledge
from ..knowledge.edges import checked_knowledge
from ..quality.comparison import Comparison, Edge, compare

if TYPE_CHECKING:
    from ..explain.explanation import Explanation
    from ..explain.relevance import GroupedRelevance
    from ..explain.relevance_table import RelevanceTable


class NetworkClassifier(ClassifierMixin, BaseEstimator):
    """A classifier whose fitted state is a list of networks, seen as one with block-diagonal inner weights.

    A subclass sets the fitted state: `_summary`; `_members`, each a `Model`
    with its weight in the raw score, and `_constant`, what is added to them; `_networks`, one `Model` for each block
    (members may share a network); `_longest`, the most iterations that it allowed; and `_decision`.
    `_network_names` tell the networks apart, whichever of them are used.
    """

    classes_: NDArray[Any]
    class_count_: Array
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    n_iter_: int
    inner_weights_: Array
    outer_weights_: Array
    concept_names_: NDArray[Any]
    condition_: float
    class_weight: Any
    decision: str
    decision_metric: str
    tol: float
    knowledge: Knowledge | None
    knowledge_: Knowledge
    _members: list[tuple[Model, float]]
    _constant: Array
    _networks: list[Model]
    _network_names: list[str]
    _longest: int
    _decision: Decision
    _summary: Summary
    _known_relevance: tuple[list[Any], dict[Any, Array]]

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the score of each class in log-odds; for two classes, that of the second less that of the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes), or (n_samples,) for two classes
            Scores; their softmax, or logistic function, is the probability. With the default `decision_metric` the
            largest, or the sign, decides the class.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row; shape (n_samples,).

        It is the most probable one, unless `decision_metric` moves the decision towards another metric.
        """
        scores = self._scores(X)
        if (space := space_of(X)) is not None:
            return labels_of(space, self.classes_, space.xp.argmax(scores + space.put(self._decision.shift), axis=1))
        return self.classes_[self._decision.codes(scores)]

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return class probabilities; shape (n_samples, n_classes).

        They are the softmax of the scores, calibrated by the least leave-one-out log loss whatever the
        `decision_metric`.
        """
        if (space := space_of(X)) is not None:
            return probabilities(space, self._scores(X))
        return self._probability(self._scores(X))

    def trajectory(self, X: ArrayLike) -> Array:
        """Return the states A⁰ … A^n_iter_ of each row, shape (n_samples, n_iter_ + 1, n_concepts)."""
        check_is_fitted(self)
        rows = checked_rows(self, X, reset=False)
        return np.concatenate([network.states(rows, self.n_iter_) for network in self._networks], axis=2)

    def diagnose(self, X: ArrayLike) -> Dynamics:
        """Say for each row whether its trajectory reaches a fixed point or a limit cycle within `max_iter`.

        At most 1000 iterations are followed, and limit cycles of at most 32 states are found.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Dynamics
            The verdict for each row, whether the fixed point is unique, and a bound that may prove convergence.
        """
        check_is_fitted(self)
        return self._diagnosed(checked_rows(self, X, reset=False))

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
        from ..explain.relevance import relevance

        return relevance(self, X, kind, per_class)

    def relevance_table(
        self, X: ArrayLike | None = None, *, kind: Literal["model", "data", "paper"] = "model"
    ) -> "RelevanceTable":
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
        from ..explain.relevance_table import RelevanceTable

        return RelevanceTable(self._feature_names(), self.relevance(X, kind=kind), kind)

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
        from ..explain.relevance import relevance_intervals

        return relevance_intervals(self, X, y, kind, per_class, n_bootstrap, level, random_state)

    def grouped_relevance(
        self,
        X: ArrayLike | None = None,
        *,
        groups: Literal["auto"] | Mapping[str, Sequence[str]] = "auto",
        kind: Literal["model", "data"] = "model",
        per_class: bool = False,
        threshold: float = 0.8,
    ) -> "GroupedRelevance":
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
        from ..explain.relevance import grouped_relevance

        return grouped_relevance(self, X, groups, kind, per_class, threshold)

    def explain(
        self, X: ArrayLike, *, classes: ArrayLike | None = None, baseline: ArrayLike | None = None
    ) -> "Explanation":
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
        from ..explain.explanation import explain

        return explain(self, X, classes, baseline)

    def save(self, path: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None) -> Path:
        """Write the fitted model to one file, which `cogmap.load` reads without executing anything in it.

        Parameters
        ----------
        path : path-like
            Name of the file, by custom ending in ``.cogmap``; a file of that name is replaced.
        data : path-like, default=None
            The file that the model was fitted on, if it was one: its SHA-256 is kept in the model file.

        Returns
        -------
        Path
            The path.
        """
        from ..files.model import save

        return save(self, path, data=data)

    def edit(self, knowledge: Knowledge, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Return a new model, fitted under the statements of this one and these.

        It has the same class and parameters, but for `knowledge`, and everything is learned anew from the rows under
        the statements, so that it is the model which those statements would have given from the start.
        `LTCNClassifierCV` chooses and stacks its networks anew too. This model stays as it is.

        Parameters
        ----------
        knowledge : Knowledge
            What to state beyond `knowledge_`; it must not contradict it.
        X : array-like of shape (n_samples, n_features)
            Rows, most often those that this model was fitted to.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        NetworkClassifier
            The new model.
        """
        check_is_fitted(self)
        checked_rows(self, X, reset=False)
        added = checked_knowledge(knowledge, self._feature_names())
        edited: Self = clone(self).set_params(knowledge=self.knowledge_ + added)
        return edited.fit(X, y, sample_weight=sample_weight)

    def compare(
        self, other: "NetworkClassifier", X: ArrayLike, y: ArrayLike, *, n_folds: int | None = None
    ) -> Comparison:
        """Say what changes from this model to another one, most often an edit of it.

        Parameters
        ----------
        other : LTCNClassifier or LTCNClassifierCV
            A model with the same features and classes.
        X : array-like of shape (n_samples, n_features)
            Rows to compare the predictions on. Give `n_folds` where the models were fitted to them.
        y : array-like of shape (n_samples,)
            Their class labels.
        n_folds : int, default=None
            Folds of a cross-validation on the rows, in which both models are fitted anew; fewer where a class has
            fewer rows. None: the models themselves predict the rows.

        Returns
        -------
        Comparison
            Scores, rows whose class changes, relevance and edges, before (this model) and after (the other).
        """
        return compare(self, other, on_host(X), on_host(y), n_folds)

    @property
    def feature_importances_(self) -> Array:
        """Relevance of each feature (`relevance`, kind "model", from the training rows kept), summing to 1."""
        from ..explain.relevance import importances

        return importances(self)

    def to_onnx(
        self,
        path: str | os.PathLike[str],
        *,
        opset: int = 13,
        contributions: bool = False,
        dtype: Literal["float32", "float64"] = "float64",
    ) -> Path:
        """Write the fitted classifier as an ONNX file, which predicts without Python.

        The graph has one input ``X`` of shape (rows, n_features_in_) and the outputs ``label``, ``scores`` (one column
        for each class; `decision_function` for two classes is the second less the first) and ``probabilities``. It
        consists of plain operators and computes in double precision. Needs the extra ``onnx``.

        Parameters
        ----------
        path : str or path-like
            The file to write; one that exists is replaced.
        opset : int, default=13
            Version of the operator set, 13 or later. The graph is the same; an old one is read by more runtimes.
        contributions : bool, default=False
            Also output ``contributions``, shape (rows, n_iter_ + 1, n_concepts, n_classes): what each iteration of each
            concept adds to each score; ``base``, what is added to them; and with cases ``cases``, what these add. Their
            sum is the score.
        dtype : {"float32", "float64"}, default="float64"
            Type of ``X``. The rounding of rows to float32 is all that it costs.

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.datasets import load_iris
        >>> from cogmap import LTCNClassifier
        >>> clf = LTCNClassifier().fit(*load_iris(return_X_y=True))
        >>> with TemporaryDirectory() as folder:
        ...     clf.to_onnx(Path(folder) / "iris.onnx").name
        'iris.onnx'
        """
        from ..files.onnx import export

        return export(self, path, opset=opset, contributions=contributions, dtype=dtype)

    def check_parameters(self) -> None:
        """Raise an error where a parameter is not what it may be."""
        raise NotImplementedError

    def settings(self, known: Range) -> list[Settings]:
        """Return what the core needs to know of the parameters of every network, given the range of the features."""
        raise NotImplementedError

    def fit_rows(self, rows: Rows, every: Sequence[Settings]) -> None:
        """Fit networks of these settings to all rows at once; copies are merged already."""
        raise NotImplementedError

    def fit_source(
        self, source: Source[Rows], known: Range, every: Sequence[Settings], learn: Callable[[Settings], Concepts]
    ) -> None:
        """Fit networks of these settings to blocks of rows in passes; `learn` learns the concepts of one of them."""
        raise NotImplementedError

    def _scores(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        if (space := space_of(X)) is not None:
            rows = checked_array(self, space, X, reset=False)
            return scores_of(space, self._members, self._constant, self._decision, rows)
        return self._decision(self._raw(checked_rows(self, X, reset=False)))

    def _probability(self, scores: Array) -> Array:
        probability = softmax(scores, axis=1)
        # Rounding can tie two probabilities whose scores differ; the larger score must stay the more probable.
        winner, row = scores.argmax(axis=1), np.arange(len(scores))
        tied = probability.argmax(axis=1) != winner
        probability[row[tied], winner[tied]] = np.nextafter(probability[tied].max(axis=1), 1)
        return probability

    def _diagnosed(self, rows: Array) -> Dynamics:
        tol = max(self.tol, float(np.finfo(np.float64).eps))
        return merged([diagnose(m.network, m.concepts(rows), self._longest, tol) for m in self._networks])

    def _raw(self, X: Array) -> Array:
        """Return the raw class scores of checked rows on the scale of the one-hot, shape (n, n_classes)."""
        parts = (weight * model.one_hot_scale(model.raw(X)) for model, weight in self._members)
        return self._constant + sum(parts, start=np.zeros((len(X), len(self.classes_))))

    def _metric(self) -> str | None:
        """Return what the decision is to be good at; None where the largest raw score decides."""
        return None if self.decision == "argmax" else self.decision_metric

    def _judged(self, model: Model, learned: Learned, rows: Rows) -> tuple[Scored, Array]:
        """Return what the decision is fitted to, on the scale of the one-hot: see `core.decision.decide`."""
        outside, fitted = model.one_hot_scale(learned.outside), model.one_hot_scale(learned.fitted)
        judged = judged_rows(outside, fitted, rows.codes, rows.weight, rows.unit)
        return judged, class_covariance(fitted, rows.codes, rows.weight)

    def _set_decision(self, decision: Decision) -> None:
        """Keep the decision; warn where it is the classes' shares alone."""
        self._decision = decision
        if not decision.informed:
            warnings.warn(
                "Leave-one-out finds nothing in these rows that tells the classes apart: every row gets the classes' "
                "shares as its probabilities. Give more rows, fewer concepts (terms, features), or other features.",
                NoInformationWarning,
                stacklevel=5,
            )

    def _feature_names(self) -> list[str]:
        names = getattr(self, "feature_names_in_", None)
        return [f"x{i}" for i in range(self.n_features_in_)] if names is None else [str(name) for name in names]

    def _edges(self) -> dict[Edge, float]:
        """Return the weight of every edge by its network and the names of its concepts."""
        found: dict[Edge, float] = {}
        for name, model in zip(self._network_names, self._networks, strict=True):
            concepts = model.concepts.names(self._feature_names())
            keys = (Edge(name, source, target) for source in concepts for target in concepts)
            found |= zip(keys, model.network.weights.ravel().tolist(), strict=True)
        return found

    def _publish(self, outer: list[tuple[Array, Array]], labels: list[str]) -> None:
        """Set the attributes that show all blocks as one network; `outer` has weights and bias of each block."""
        self.n_iter_ = max(len(weights) for weights, _ in outer) - 1
        self._join_networks()
        padded = [np.pad(R, ((0, self.n_iter_ + 1 - len(R)), (0, 0), (0, 0))) for R, _ in outer]
        self.outer_weights_ = np.concatenate(padded, axis=1)
        self.outer_bias_ = np.sum([bias for _, bias in outer], axis=0)
        names = [model.concepts.names(self._feature_names()) for model in self._networks]
        self.concept_names_ = np.array(
            [name + label for block, label in zip(names, labels, strict=True) for name in block], dtype=object
        )

    def _join_networks(self) -> None:
        """Set the inner weights and bias of all blocks as one network."""
        weights = [model.network.weights for model in self._networks]
        self.inner_weights_ = weights[0] if len(weights) == 1 else block_diag(*weights)
        self.inner_bias_ = np.concatenate([model.network.bias for model in self._networks])
