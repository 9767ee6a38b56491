"""LTCNClassifier: validate, call the core, keep what it found."""

import warnings
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import assert_all_finite
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted, column_or_1d

from .core.activation import ACTIVATIONS, Array
from .core.blocks import in_blocks
from .core.concepts import fit_concepts
from .core.decision import METRICS, Decision, argmax_decision, discriminant_decision
from .core.dynamics import Dynamics, diagnose
from .core.inner import correlation_weights, regression_weights, slope_weights, stable_regression_weights
from .core.learning import Learned, learn
from .core.readout import UNTRUSTWORTHY_CONDITION, inverse_one_hot
from .core.reasoning import RULES, Network, Rule, trajectory
from .core.relevance import paper_relevance
from .validation import checked_rows, column
from .warnings import IllConditionedWarning

CHOICES = {
    "activation": tuple(ACTIVATIONS),
    "rule": RULES,
    "readout": ("trajectory", "final"),
    "decision": ("discriminant", "argmax"),
    "decision_metric": METRICS,
    "scaling": ("halfway", "quantile", "minmax", None),
}
INNER = ("slopes", "regression", "stable-regression", "correlation")
Inner = Literal["slopes", "regression", "stable-regression", "correlation"]


class LTCNClassifier(ClassifierMixin, BaseEstimator):
    """Recurrence-aware Long-Term Cognitive Network classifier.

    Every feature is a concept of a recurrent network. Inner weights between the concepts are learned without the
    classes, the network reasons for a few iterations, and outer weights read the classes from all states on the way.
    Both steps are closed form and deterministic.

    Parameters
    ----------
    phi : float in [0, 1], default=0.8
        Nonlinearity: the share of the activation in the next state; the rest is the initial state. 0 is linear
        regression on the concepts. Used by the quasi-nonlinear rule only.
    max_iter : int, default=20
        Largest number of iterations T.
    activation : {"sigmoid", "tanh"}, default="sigmoid"
        Activation f of the concepts.
    alpha : "loo" or float, default="loo"
        How the outer weights are kept from overfitting. ``"loo"``: one shrink factor for each iteration, and with it
        the useful number of iterations, by exact leave-one-out. A positive number: one ridge penalty on the
        standardised increments of the states. 0: none, the paper's Moore–Penrose readout.
    inner : {"slopes", "regression", "stable-regression", "correlation"} or array, default="slopes"
        Inner weights: simple slopes of Frobenius norm 1 (the authors' code); each concept regressed on all others (the
        paper); the same with a ridge and a spectral norm of at most 2; correlations of Frobenius norm 1; or given
        weights of shape (n_features, n_features), where entry [j, i] leads from feature j to feature i.
    rule : {"quasi-nonlinear", "kosko", "kosko-memory"}, default="quasi-nonlinear"
        Reasoning rule: φ f(AW + b) + (1 − φ) A⁰, f(AW), or f(AW + A).
    readout : {"trajectory", "final"}, default="trajectory"
        States that the outer weights read: all, or the last one (the classic classifier, which predicts a single
        class once the network has a unique fixed point; solved by minimum norm whatever `alpha` is).
    decision : {"discriminant", "argmax"}, default="discriminant"
        Decode the class scores by discriminant analysis of their leave-one-out values, or take the largest.
    decision_metric : {"kappa", "accuracy", "balanced_accuracy", "log_loss"}, default="kappa"
        What the discriminant's prior is chosen for, by leave-one-out.
    scaling : {"halfway", "quantile", "minmax"} or None, default="halfway"
        Map each feature to [0, 1] by its ranks, by its range, or halfway between them; or None for data that lies in
        the activation's range already. Later rows are clipped to the training range.
    terms : int or None, default=None
        Number of linguistic terms for each feature ("alcohol is low", "… medium", "… high"), each a concept of its
        own; 3 or more. None makes each feature one concept.
    tol : float, default=1e-12
        Reasoning stops at the fixed point: where no activation of any training row moves by `tol` or more.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class's rows, in the fit and in the decision's priors.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, where X had names.
    concept_names_ : array of shape (n_concepts,)
        Names of the concepts: those of the features that vary, or x0, x1, …; with `terms`, "alcohol is low".
    inner_weights_ : array of shape (n_concepts, n_concepts)
        W; entry [j, i] leads from concept j to concept i.
    inner_bias_ : array of shape (n_concepts,)
        b.
    outer_weights_ : array of shape (n_iter_ + 1, n_concepts, n_classes)
        R, one matrix for each state: with the shrinkage, before gate and decision. To be read, not to predict with.
    outer_bias_ : array of shape (n_classes,)
        q.
    n_iter_ : int
        Number of iterations in use.
    alpha_ : float or None
        The ridge penalty in use. None for shrink factors; under ``"loo"`` a number where the rows were few against the
        concepts and a ridge had the smaller leave-one-out error.
    shrinkage_ : array of shape (n_iter_ + 1,) or None
        The shrink factors in use.
    active_share_ : array of shape (n_iter_ + 1,) or None
        Share of the training rows that still reasoned at each iteration; the gate had stopped the others before.
    degrees_of_freedom_ : float
        Effective number of parameters for each class.
    rank_ : int
        Number of independent columns that the readout reads, the constant among them.
    condition_ : float
        Largest factor by which the solution magnifies a rounding error.
    feature_importances_ : array of shape (n_features_in_,)
        The paper's relevance of each feature, summing to 1.

    References
    ----------
    Nápoles, Salgueiro, Grau, León Espinosa: Recurrence-Aware Long-Term Cognitive Network for Explainable Pattern
    Classification. IEEE Transactions on Cybernetics, 2022.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cogmap import LTCNClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LTCNClassifier().fit(X, y)
    >>> round(clf.score(X, y), 2)
    0.99
    >>> clf.n_iter_
    9
    """

    def __init__(
        self,
        phi: float = 0.8,
        max_iter: int = 20,
        activation: Literal["sigmoid", "tanh"] = "sigmoid",
        alpha: float | Literal["loo"] = "loo",
        inner: Inner | ArrayLike = "slopes",
        rule: Rule = "quasi-nonlinear",
        readout: Literal["trajectory", "final"] = "trajectory",
        decision: Literal["discriminant", "argmax"] = "discriminant",
        decision_metric: Literal["kappa", "accuracy", "balanced_accuracy", "log_loss"] = "kappa",
        scaling: Literal["halfway", "quantile", "minmax"] | None = "halfway",
        terms: int | None = None,
        tol: float = 1e-12,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
    ) -> None:
        self.phi = phi
        self.max_iter = max_iter
        self.activation = activation
        self.alpha = alpha
        self.inner = inner
        self.rule = rule
        self.readout = readout
        self.decision = decision
        self.decision_metric = decision_metric
        self.scaling = scaling
        self.terms = terms
        self.tol = tol
        self.class_weight = class_weight

    @classmethod
    def paper(cls, **parameters: Any) -> Self:
        """Return the configuration as printed in the paper; `parameters` replace some of it.

        Regression weights, min-max scaling, 20 iterations, the Moore–Penrose readout and the largest score.
        """
        printed: dict[str, Any] = {
            "inner": "regression",
            "scaling": "minmax",
            "alpha": 0.0,
            "decision": "argmax",
            "tol": 1e-9,
        }
        return cls(**(printed | parameters))

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn the inner weights from X, then the outer weights from the states and y.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, without missing values.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: 2 equals a repeated row, 0 an absent one.

        Returns
        -------
        LTCNClassifier
            This estimator.
        """
        self._check_parameters()
        rows = checked_rows(self, X, reset=True)
        rows, codes, weights, unit = self._encode(rows, y, sample_weight)
        activation = ACTIVATIONS[self.activation]
        if self.scaling is None:
            self._check_range(rows, activation.low, activation.high)
        bounds = (activation.low, activation.high)
        self._concepts = fit_concepts(rows, weights, self.scaling, self.terms, bounds)
        initial = self._concepts(rows)
        self._network = self._fit_network(initial, weights)
        target = inverse_one_hot(codes, len(self.classes_), activation)
        learned = learn(
            self._network,
            initial,
            target,
            weights,
            unit,
            alpha=self.alpha,
            final=self.readout == "final",
            max_iter=self.max_iter,
            tol=self.tol,
        )
        self._readout = learned.readout
        self._decision = self._fit_decision(learned, target, codes, weights)
        self._publish(learned)
        return self

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the score of each class; for two classes, that of the second less that of the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes), or (n_samples,) for two classes
            Scores; the largest, or the sign, decides the class.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row, the one with the largest score; shape (n_samples,)."""
        scores = self._scores(X)
        return self.classes_[scores.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return class probabilities; shape (n_samples, n_classes).

        They are the softmax of the scores times a factor that minimises the leave-one-out log loss. With
        ``decision_metric="log_loss"`` they are calibrated; another metric moves the prior on purpose, and them with it.
        """
        scores = self._scores(X)
        probability = softmax(self._decision.sharpness * scores, axis=1)
        # Rounding can tie two probabilities whose scores differ; the predicted class must stay the largest.
        winner, row = scores.argmax(axis=1), np.arange(len(scores))
        tied = probability.argmax(axis=1) != winner
        probability[row[tied], winner[tied]] = np.nextafter(probability[tied].max(axis=1), 1)
        return probability

    def trajectory(self, X: ArrayLike) -> Array:
        """Return the states A⁰ … A^n_iter_ of each row, shape (n_samples, n_iter_ + 1, n_concepts)."""
        return self._states(X, self.n_iter_)

    def diagnose(self, X: ArrayLike) -> Dynamics:
        """Say for each row whether its trajectory reaches a fixed point or a limit cycle within `max_iter`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Dynamics
            The verdict for each row, whether the fixed point is unique, and a bound that may prove convergence.
        """
        return diagnose(self._states(X, self.max_iter), self._network, max(self.tol, np.finfo(np.float64).eps))

    def relevance(self) -> Array:
        """Return the paper's relevance Ω of each feature, the absolute weights that leave its concepts.

        Returns
        -------
        array of shape (n_features_in_,)
            Relevance; exactly 0 for a constant feature.
        """
        check_is_fitted(self)
        concepts = paper_relevance(self.inner_weights_, self.outer_weights_)
        return np.bincount(self._concepts.feature, concepts, self.n_features_in_).astype(np.float64)

    @property
    def feature_importances_(self) -> Array:
        """Relevance of each feature, summing to 1."""
        relevance = self.relevance()
        return relevance / (relevance.sum() or 1.0)

    def _check_parameters(self) -> None:
        for name, choices in CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise ValueError(f"{name}={value!r} is unknown: use one of {', '.join(map(repr, choices))}.")
        if isinstance(self.inner, str) and self.inner not in INNER:
            raise ValueError(f"inner={self.inner!r} is unknown: use {' or '.join(map(repr, INNER))}, or an array.")
        if not (isinstance(self.phi, (float, Real)) and 0 <= self.phi <= 1):
            raise ValueError(f"phi={self.phi!r} must be a number from 0 to 1.")
        if not (isinstance(self.max_iter, (int, Integral)) and self.max_iter >= 0):
            raise ValueError(f"max_iter={self.max_iter!r} must be a whole number, 0 or larger.")
        if self.alpha != "loo" and not (isinstance(self.alpha, (float, Real)) and self.alpha >= 0):
            raise ValueError(f"alpha={self.alpha!r} must be 'loo' or a number, 0 or larger.")
        if self.terms is not None and not (isinstance(self.terms, (int, Integral)) and self.terms >= 3):
            raise ValueError(f"terms={self.terms!r} must be None or a whole number, 3 or larger.")
        if not (isinstance(self.tol, (float, Real)) and self.tol >= 0):
            raise ValueError(f"tol={self.tol!r} must be a number, 0 or larger.")

    def _encode(
        self, rows: Array, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Array, NDArray[np.intp], Array, Array]:
        """Drop rows of weight 0; return the rest, their class codes, their weights, and the weight of one copy of each.

        Sets `classes_`.
        """
        if y is None:
            raise ValueError("LTCNClassifier requires y to be passed, but the target y is None.")
        labels = column_or_1d(y, warn=True)
        assert_all_finite(labels, input_name="y")
        if len(labels) != len(rows):
            raise ValueError(f"X has {len(rows)} rows and y has {len(labels)}: give one class for each row.")
        check_classification_targets(labels)
        weights = _check_sample_weight(sample_weight, rows, dtype=np.float64, ensure_non_negative=True)
        rows, labels, weights = rows[weights > 0], labels[weights > 0], weights[weights > 0]
        self.classes_, codes = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"y holds one class ({self.classes_[0]!r}) only: a classifier needs at least two classes.")
        share = compute_class_weight(self.class_weight, classes=self.classes_, y=labels, sample_weight=weights)
        if not (share > 0).all():
            raise ValueError(f"class_weight={self.class_weight!r} must give every class a weight above 0.")
        return rows, codes, weights * share[codes], np.minimum(1.0, weights) * share[codes]

    def _check_range(self, rows: Array, low: float, high: float) -> None:
        outside = (rows < low) | (rows > high)
        if outside.any():
            row, index = np.argwhere(outside)[0]
            raise ValueError(
                f"scaling=None needs data in [{low:g}, {high:g}], but {column(index, self._names())} holds "
                f"{rows[row, index]:g} in row {row}: scale it, or use scaling='minmax'."
            )

    def _names(self) -> NDArray[Any] | None:
        return getattr(self, "feature_names_in_", None)

    def _fit_network(self, initial: Array, weights: Array) -> Network:
        activation = ACTIVATIONS[self.activation]
        if not isinstance(self.inner, str):
            W, b = self._given_weights(), np.zeros(initial.shape[1])
        elif self.inner == "regression":
            W, b = regression_weights(initial, weights, activation)
        elif self.inner == "stable-regression":
            W, b = stable_regression_weights(initial, weights, activation)
        elif self.inner == "correlation":
            W, b = correlation_weights(initial, weights)
        else:
            W, b = slope_weights(initial, weights)
        return Network.from_rule(self.rule, W, b, float(self.phi), activation)

    def _given_weights(self) -> Array:
        """Return the given weights between concepts; those between features hold for all their terms."""
        W = np.asarray(self.inner, dtype=np.float64)
        shape = (self.n_features_in_, self.n_features_in_)
        if W.shape != shape or not np.isfinite(W).all():
            raise ValueError(
                f"inner must be one of {INNER}, or finite numbers of shape {shape}; its shape is {W.shape}."
            )
        return W[np.ix_(self._concepts.feature, self._concepts.feature)]

    def _fit_decision(self, learned: Learned, target: Array, codes: NDArray[np.intp], weights: Array) -> Decision:
        if self.decision == "argmax":
            return argmax_decision(learned.outside, codes, weights)
        return discriminant_decision(learned.outside, learned.fitted, codes, weights, self.decision_metric)

    def _publish(self, learned: Learned) -> None:
        """Set the fitted attributes."""
        names = self._names()
        features = [f"x{i}" for i in range(self.n_features_in_)] if names is None else list(names)
        self.concept_names_ = np.array(self._concepts.names(features), dtype=object)
        self.inner_weights_, self.inner_bias_ = self._network.weights, self._network.bias
        self.outer_weights_, self.outer_bias_ = learned.readout.outer(self._network)
        self.n_iter_ = learned.readout.n_iter
        self.alpha_, self.shrinkage_ = learned.alpha, learned.shrinkage
        self.rank_, self.condition_ = learned.rank, learned.condition
        self.degrees_of_freedom_, self.active_share_ = learned.degrees_of_freedom, learned.active
        if self.alpha == 0 and self.condition_ > UNTRUSTWORTHY_CONDITION:
            warnings.warn(
                f"The readout's condition number is {self.condition_:.1e}: rounding decides part of its scores. "
                f"Use alpha='loo', or fewer iterations (max_iter is {self.max_iter}).",
                IllConditionedWarning,
                stacklevel=3,
            )

    def _scores(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        initial = self._concepts(checked_rows(self, X, reset=False))
        return in_blocks(lambda rows: self._decision(self._readout.scores(self._network, rows)), initial)

    def _states(self, X: ArrayLike, n_iter: int) -> Array:
        check_is_fitted(self)
        initial = self._concepts(checked_rows(self, X, reset=False))
        return in_blocks(lambda rows: trajectory(self._network, rows, n_iter), initial)
