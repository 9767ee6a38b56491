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
from .core.dynamics import Dynamics, diagnose
from .core.inner import regression_weights, slope_weights
from .core.readout import UNTRUSTWORTHY_CONDITION, Readout, final_state, inverse_one_hot, moore_penrose
from .core.reasoning import RULES, Network, Rule, states, trajectory, until_fixed_point
from .core.relevance import paper_relevance
from .core.scaling import InRange, MinMax, varying
from .validation import checked_rows, column
from .warnings import IllConditionedWarning

CHOICES = {
    "activation": tuple(ACTIVATIONS),
    "rule": RULES,
    "readout": ("trajectory", "final"),
    "scaling": ("minmax", None),
}
INNER = ("regression", "slopes")


class LTCNClassifier(ClassifierMixin, BaseEstimator):
    """Recurrence-aware Long-Term Cognitive Network classifier.

    Every feature is a concept of a recurrent network. Inner weights between the concepts are learned without the
    classes, the network reasons for a few iterations, and outer weights read the classes from all states on the way.
    Both steps are closed form and deterministic.

    Parameters
    ----------
    phi : float in [0, 1], default=0.8
        Nonlinearity: the share of the activation in the next state; the rest is the initial state. 0 is linear
        regression on the features. Used by the quasi-nonlinear rule only.
    max_iter : int, default=20
        Largest number of iterations T.
    activation : {"sigmoid", "tanh"}, default="sigmoid"
        Activation f of the concepts.
    inner : {"regression", "slopes"} or array of shape (n_features, n_features), default="regression"
        Inner weights: each concept regressed on all others (the paper), simple slopes of Frobenius norm 1 (the
        authors' code), or given weights, where entry [j, i] leads from feature j to feature i.
    rule : {"quasi-nonlinear", "kosko", "kosko-memory"}, default="quasi-nonlinear"
        Reasoning rule: φ f(AW + b) + (1 − φ) A⁰, f(AW), or f(AW + A).
    readout : {"trajectory", "final"}, default="trajectory"
        States that the outer weights read: all, or the last one (the classic classifier, which predicts a single
        class once the network has a unique fixed point).
    scaling : {"minmax"} or None, default="minmax"
        Map each feature's training range to [0, 1]; or None for data that lies in the activation's range already.
        Later rows are clipped to the range.
    tol : float, default=1e-9
        Reasoning stops at the fixed point: where no activation of any training row moves by `tol` or more.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class's rows.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Names of the features, where X had names.
    concept_names_ : array of shape (n_concepts,)
        Names of the concepts: those of the features, or x0, x1, …
    inner_weights_ : array of shape (n_concepts, n_concepts)
        W; entry [j, i] leads from concept j to concept i. A constant feature has no edges.
    inner_bias_ : array of shape (n_concepts,)
        b.
    outer_weights_ : array of shape (n_iter_ + 1, n_concepts, n_classes)
        R, one matrix for each state.
    outer_bias_ : array of shape (n_classes,)
        q.
    n_iter_ : int
        Number of iterations in use: `max_iter`, or fewer where the network reached its fixed point.
    rank_ : int
        Numerical rank of the readout's design (H | 1).
    condition_ : float
        Its condition number, over the singular values that count.
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
    >>> clf = LTCNClassifier(max_iter=3).fit(X, y)
    >>> round(clf.score(X, y), 2)
    0.97
    >>> clf.concept_names_[clf.relevance().argmax()]
    'petal length (cm)'
    """

    def __init__(
        self,
        phi: float = 0.8,
        max_iter: int = 20,
        activation: Literal["sigmoid", "tanh"] = "sigmoid",
        inner: Literal["regression", "slopes"] | ArrayLike = "regression",
        rule: Rule = "quasi-nonlinear",
        readout: Literal["trajectory", "final"] = "trajectory",
        scaling: Literal["minmax"] | None = "minmax",
        tol: float = 1e-9,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
    ) -> None:
        self.phi = phi
        self.max_iter = max_iter
        self.activation = activation
        self.inner = inner
        self.rule = rule
        self.readout = readout
        self.scaling = scaling
        self.tol = tol
        self.class_weight = class_weight

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
        rows, codes, weights = self._encode(rows, y, sample_weight)
        self._scale, self._varies = self._fit_scaling(rows), varying(rows)
        initial = self._initial(rows)
        self._network = self._fit_network(initial, weights)
        trajectory_ = until_fixed_point(self._network, initial, self.max_iter, self.tol)
        target = inverse_one_hot(codes, len(self.classes_), self._network.activation)
        solve = moore_penrose if self.readout == "trajectory" else final_state
        self._readout = solve(trajectory_, target, weights)
        self._publish(self._readout)
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
        """Return class probabilities, the softmax of the scores; shape (n_samples, n_classes)."""
        scores = self._scores(X)
        probability = softmax(scores, axis=1)
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
        """Return the paper's relevance Ω of each feature: the absolute weights that leave it; shape (n_features,)."""
        check_is_fitted(self)
        return paper_relevance(self.inner_weights_, self.outer_weights_)

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
        if not (isinstance(self.tol, (float, Real)) and self.tol >= 0):
            raise ValueError(f"tol={self.tol!r} must be a number, 0 or larger.")

    def _encode(
        self, rows: Array, y: ArrayLike, sample_weight: ArrayLike | None
    ) -> tuple[Array, NDArray[np.intp], Array]:
        """Drop rows of weight 0; return the rest, their class codes and their weights; set `classes_`."""
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
        weights = weights * share[codes]
        return rows[weights > 0], codes[weights > 0], weights[weights > 0]

    def _fit_scaling(self, rows: Array) -> MinMax | InRange:
        if self.scaling == "minmax":
            return MinMax.fit(rows)
        activation = ACTIVATIONS[self.activation]
        low, high = activation.low, activation.high
        outside = (rows < low) | (rows > high)
        if outside.any():
            row, index = np.argwhere(outside)[0]
            raise ValueError(
                f"scaling=None needs data in [{low:g}, {high:g}], but {column(index, self._names())} holds "
                f"{rows[row, index]:g} in row {row}: scale it, or use scaling='minmax'."
            )
        return InRange(low, high)

    def _names(self) -> NDArray[Any] | None:
        return getattr(self, "feature_names_in_", None)

    def _initial(self, rows: Array) -> Array:
        """Return A⁰: the scaled features that vary."""
        return self._scale(rows)[:, self._varies]

    def _fit_network(self, initial: Array, weights: Array) -> Network:
        activation = ACTIVATIONS[self.activation]
        if not isinstance(self.inner, str):
            W, b = self._given_weights(), np.zeros(initial.shape[1])
        elif self.inner == "regression":
            W, b = regression_weights(initial, weights, activation)
        else:
            W, b = slope_weights(initial, weights)
        return Network.from_rule(self.rule, W, b, float(self.phi), activation)

    def _given_weights(self) -> Array:
        W = np.asarray(self.inner, dtype=np.float64)
        shape = (self.n_features_in_, self.n_features_in_)
        if W.shape != shape or not np.isfinite(W).all():
            raise ValueError(
                f"inner must be one of {INNER}, or finite numbers of shape {shape}; its shape is {W.shape}."
            )
        return W[np.ix_(self._varies, self._varies)]

    def _publish(self, readout: Readout) -> None:
        """Set the fitted attributes; constant features get weights of exactly 0."""
        varies, n = self._varies, self.n_features_in_
        names = self._names()
        self.concept_names_ = np.array([f"x{i}" for i in range(n)], dtype=object) if names is None else names
        self.inner_weights_ = np.zeros((n, n))
        self.inner_weights_[np.ix_(varies, varies)] = self._network.weights
        self.inner_bias_ = np.zeros(n)
        self.inner_bias_[varies] = self._network.bias
        self.outer_weights_ = np.zeros((len(readout.weights), n, len(self.classes_)))
        self.outer_weights_[:, varies] = readout.weights
        self.outer_bias_ = readout.bias
        self.n_iter_ = len(readout.weights) - 1
        self.rank_, self.condition_ = readout.rank, readout.condition
        if readout.condition > UNTRUSTWORTHY_CONDITION:
            warnings.warn(
                f"The readout's condition number is {readout.condition:.1e}: rounding decides part of its scores. "
                f"Use fewer iterations (max_iter is {self.max_iter}).",
                IllConditionedWarning,
                stacklevel=3,
            )

    def _scores(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        initial = self._initial(checked_rows(self, X, reset=False))
        return in_blocks(lambda rows: self._readout.scores(states(self._network, rows)), initial)

    def _states(self, X: ArrayLike, n_iter: int) -> Array:
        """Return the states of all concepts; a constant feature keeps its scaled value."""
        check_is_fitted(self)
        initial = self._scale(checked_rows(self, X, reset=False))
        result = np.repeat(initial[:, None, :], n_iter + 1, axis=1)
        result[:, :, self._varies] = in_blocks(
            lambda rows: trajectory(self._network, rows, n_iter), initial[:, self._varies]
        )
        return result
