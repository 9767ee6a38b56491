"""LTCNClassifier: one network from parameters, rows and classes."""

import warnings
from collections.abc import Sequence
from numbers import Integral, Real
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.metaestimators import available_if

from ..core.concepts.concepts import Concepts
from ..core.constants import INNER_NORM
from ..core.decision.decision import METRICS, Decision, decide
from ..core.fit.batches import Recursion
from ..core.fit.fit import fit_network
from ..core.fit.model import Model, Settings, Summary
from ..core.network.activation import ACTIVATIONS
from ..core.network.constraints import Bounds, exceeds_cap
from ..core.network.reasoning import RULES, Rule
from ..core.readout.states import UNTRUSTWORTHY_CONDITION, ReadoutFacts
from ..core.sums.rows import Rows
from ..core.sums.sources import Source
from ..core.sums.statistics import Range
from ..core.types import Array
from ..errors import IllConditionedWarning, KnowledgeWarning
from ..intake.checks import column, feature_names
from ..knowledge import Knowledge
from ..knowledge.edges import check_terms, checked_knowledge, edge_bounds
from .base import NetworkClassifier, refused_parameters
from .batches import add_batch
from .fitting import fit_arrays

CHOICES = {
    "activation": tuple(ACTIVATIONS),
    "rule": RULES,
    "readout": ("trajectory", "final"),
    "decision": ("discriminant", "argmax"),
    "decision_metric": METRICS,
    "scaling": ("halfway", "quantile", "minmax", None),
}
ROUNDED = 1e-9
"""How far data may lie beyond the activation's range where it is not scaled, in units of a range of about 1."""

INNER = ("slopes", "regression", "stable-regression", "correlation")
Inner = Literal["slopes", "regression", "stable-regression", "correlation"]


class LTCNClassifier(NetworkClassifier):
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
    decision_metric : {"accuracy", "balanced_accuracy", "kappa"}, default="accuracy"
        What `predict` is to be good at. ``"accuracy"`` is the most probable class. Another metric moves the decision
        towards or away from rare classes, as far as leave-one-out gains; probabilities stay calibrated.
    scaling : {"halfway", "quantile", "minmax"} or None, default="halfway"
        Map each feature to [0, 1] by its ranks, by its range, or halfway between them; or None for data that lies in
        the activation's range already. Later rows are clipped to the training range.
    terms : int or None, default=None
        Number of linguistic terms for each feature ("alcohol is low", "… medium", "… high"), each a concept of its
        own; 3 or more. None makes each feature one concept.
    cases : bool, default=False
        Also remember the training rows: each becomes a concept, how much a row resembles it, and is read together with
        the states. For problems where neighbours matter; needs ``alpha="loo"``, stores the training rows in the model,
        and costs time with the cube of their number.
    tol : float, default=1e-12
        Reasoning stops at the fixed point: where no activation of any training row moves by `tol` or more.
    class_weight : dict, "balanced" or None, default=None
        Weight of each class's rows, in the fit and in the decision's priors.
    knowledge : Knowledge or None, default=None
        What experts state about the edges. Regressions are solved under it exactly, and only in the columns concerned;
        the cap of the stable regression acts on what is learned, not on what is stated. Other weights are replaced or
        clipped, after their normalisation. With linguistic terms, a statement about a feature holds for all its terms.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Class labels.
    class_count_ : array of shape (n_classes,)
        Number of training rows of each class; with sample weights, their sum.
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
        Number of independent columns that the readout reads, the constant among them; for a number as `alpha` and
        more than 30,000 rows, of those that a Gram matrix can tell from dependent ones.
    condition_ : float
        Largest factor by which the solution magnifies a rounding error.
    knowledge_ : Knowledge
        The statements under which the model was fitted.
    fitted_ : Fitted
        The whole fitted state as one frozen value, from which predictions and explanations follow.
    feature_importances_ : array of shape (n_features_in_,)
        Relevance of each feature (kind "model", from the training rows kept), summing to 1.

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

    _recursion: Recursion | None = None

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
        decision_metric: Literal["accuracy", "balanced_accuracy", "kappa"] = "accuracy",
        scaling: Literal["halfway", "quantile", "minmax"] | None = "halfway",
        terms: int | None = None,
        cases: bool = False,
        tol: float = 1e-12,
        class_weight: dict[Any, float] | Literal["balanced"] | None = None,
        knowledge: Knowledge | None = None,
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
        self.cases = cases
        self.tol = tol
        self.class_weight = class_weight
        self.knowledge = knowledge

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
            Numbers, without missing values. Under scikit-learn's `array_api_dispatch`, arrays of torch, CuPy and others
            are fitted where they are, if they have more than 30,000 rows.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: 2 equals a repeated row, 0 an absent one.

        Returns
        -------
        LTCNClassifier
            This estimator.
        """
        if self._recursion is not None:
            del self._recursion
        return fit_arrays(self, X, y, sample_weight)

    @available_if(  # type: ignore[untyped-decorator]
        lambda self: self.alpha != "loo" and self.alpha > 0 and self.readout == "trajectory"
    )
    def partial_fit(
        self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None, sample_weight: ArrayLike | None = None
    ) -> Self:
        """Learn from a batch of rows beside all batches before it; for a positive `alpha`.

        The first call learns scaling, inner weights and `n_iter_`, which then stay. The readout is always that of all
        rows so far, exactly; the decision is judged by leave-one-out on up to 10,000 of them. After `fit`, or in a
        model from a file, there are no sums to add to: the batch then counts as the first, with a `RestartWarning`.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, without missing values. Values beyond the range of the first batch are clipped to it.
        y : array-like of shape (n_samples,)
            Class labels.
        classes : array-like of shape (n_classes,), default=None
            All classes that will come; by default those of the first batch. Read in the first call only.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        LTCNClassifier
            This estimator.
        """
        self.check_parameters()
        self._recursion = add_batch(self, self._recursion, X, y, classes, sample_weight)
        model, solved, decision = self._recursion.solved(float(self.alpha), self._metric())
        self._keep(model, solved, decision, self._recursion.summary())
        return self

    def fit_source(self, source: Source[Rows], census: Range, every: Sequence[Settings]) -> None:
        """Fit to rows, wherever they are."""
        (settings,) = every
        network = fit_network(source, census, settings)
        check_terms(self.knowledge_, feature_names(self), [network.model.concepts])
        decision = decide(network.scores, network.between, self._metric(), network.model.scale)
        self._keep(network.model, network.solved, decision, network.summary)

    def _keep(self, model: Model, solved: ReadoutFacts, decision: Decision, summary: Summary) -> None:
        """Set the fitted attributes."""
        members, constant = ((model, 1.0),), np.zeros(len(self.classes_))
        outer = model.readout.outer(model.network)
        self._set_fitted(members, constant, decision, summary, outer, solved.condition, self.max_iter)
        self.alpha_, self.shrinkage_, self.rank_ = solved.alpha, solved.shrinkage, solved.rank
        self.degrees_of_freedom_, self.active_share_ = solved.degrees_of_freedom, solved.active
        if self.alpha != "loo" and self.condition_ > UNTRUSTWORTHY_CONDITION:
            warnings.warn(
                f"The readout's condition number is {self.condition_:.1e}: rounding decides part of its scores. "
                f"Use alpha='loo', or fewer iterations (max_iter is {self.max_iter}).",
                IllConditionedWarning,
                stacklevel=6,
            )

    def settings(self, census: Range) -> list[Settings]:
        """Return what the core needs to know of the parameters, given the range of the features."""
        self._check_range(census.low, census.high)
        settings = Settings(
            phi=self.phi,
            max_iter=self.max_iter,
            activation=self.activation,
            alpha=self.alpha,
            inner=self.inner if isinstance(self.inner, str) else self._given_weights(),
            rule=self.rule,
            readout=self.readout,
            scaling=self.scaling,
            terms=self.terms,
            cases=self.cases,
            tol=self.tol,
            bounds=self._bounds if self.knowledge else None,
        )
        return [settings]

    def _bounds(self, concepts: Concepts) -> Bounds:
        """Return what is stated about the edges between concepts; warn where it takes more than the cap allows."""
        bounds = edge_bounds(checked_knowledge(self.knowledge, feature_names(self)), feature_names(self), concepts)
        if isinstance(self.inner, str) and self.inner == "stable-regression" and exceeds_cap(bounds.least):
            warnings.warn(
                f"The stated weights alone have a spectral norm of {np.linalg.norm(bounds.least, 2):.3g}, and "
                f"inner='stable-regression' caps it at {INNER_NORM:g}: reasoning may not converge. "
                "State smaller weights, or look at diagnose(X).",
                KnowledgeWarning,
                stacklevel=7,
            )
        if self.rule != "quasi-nonlinear" and not np.isnan(bounds.bias).all():
            warnings.warn(
                f"What is stated about the bias has no effect: rule={self.rule!r} has none. Use 'quasi-nonlinear'.",
                KnowledgeWarning,
                stacklevel=7,
            )
        return bounds

    def check_parameters(self) -> None:
        """Raise an error where a parameter is not what it may be."""
        for name, choices in CHOICES.items():
            if (value := getattr(self, name)) not in choices:
                raise ValueError(f"{name}={value!r} is unknown: use one of {', '.join(map(repr, choices))}.")
        if isinstance(self.inner, str) and self.inner not in INNER:
            raise ValueError(f"inner={self.inner!r} is unknown: use one of {', '.join(map(repr, INNER))}, or an array.")
        if not (isinstance(self.phi, (float, Real)) and 0 <= self.phi <= 1):
            raise ValueError(f"phi={self.phi!r} must be a number from 0 to 1.")
        if not (isinstance(self.max_iter, (int, Integral)) and self.max_iter >= 0):
            raise ValueError(f"max_iter={self.max_iter!r} must be a whole number, 0 or larger.")
        if self.alpha != "loo" and not (isinstance(self.alpha, (float, Real)) and 0 <= self.alpha < np.inf):
            raise ValueError(f"alpha={self.alpha!r} must be 'loo' or a finite number, 0 or larger.")
        if self.terms is not None and not (isinstance(self.terms, (int, Integral)) and self.terms >= 3):
            raise ValueError(f"terms={self.terms!r} must be None or a whole number, 3 or larger.")
        if self.cases and (self.alpha != "loo" or self.readout == "final"):
            raise ValueError(f"cases=True needs alpha='loo' and readout='trajectory'; alpha is {self.alpha!r}.")
        if not (isinstance(self.tol, (float, Real)) and 0 <= self.tol < np.inf):
            raise ValueError(f"tol={self.tol!r} must be a finite number, 0 or larger.")

    def check_stored(self) -> None:
        """Raise a `ModelFileError` where no file may hold these parameters."""
        with refused_parameters():
            self.check_parameters()
            if not isinstance(self.inner, str):
                self._given_weights()
        super().check_stored()

    def _check_range(self, low: Array, high: Array) -> None:
        """Raise an error where data that is not to be scaled goes beyond the activation's range."""
        if self.scaling is not None:
            return
        activation = ACTIVATIONS[self.activation]
        # What another scaler rounded beyond the range is clipped to it, as later rows are.
        outside = np.flatnonzero((low < activation.low - ROUNDED) | (high > activation.high + ROUNDED))
        if len(outside):
            j = outside[0]
            raise ValueError(
                f"scaling=None needs data in [{activation.low:g}, {activation.high:g}], but "
                f"{column(j, getattr(self, 'feature_names_in_', None))} goes from {low[j]:.12g} to {high[j]:.12g}: "
                "scale it, or use scaling='minmax'."
            )

    def _given_weights(self) -> Array:
        W = np.asarray(self.inner, dtype=np.float64)
        shape = (self.n_features_in_, self.n_features_in_)
        if W.shape != shape or not np.isfinite(W).all():
            raise ValueError(
                f"inner must be one of {INNER}, or finite numbers of shape {shape}; its shape is {W.shape}."
            )
        return W
