"""One network from rows to raw class scores: concepts, inner weights, reasoning and readout put together."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ..concepts.concepts import Concepts, fit_concepts
from ..decision.decision import class_shares
from ..network.activation import ACTIVATIONS
from ..network.constraints import Bounds, bounded_regression, bounded_stable_regression
from ..network.inner import Regressors, centre, correlations, regression, slopes, stable_regression
from ..network.reasoning import Network, trajectory
from ..readout.cases import sample_rows
from ..readout.states import Readout, inverse_one_hot
from ..sums.blocks import in_blocks
from ..sums.rows import Rows
from ..sums.sampling import content_keys
from ..types import Array
from .at_once import Learned, learn, learn_with_cases


@dataclass(frozen=True)
class Settings:
    """What a user decides about one network; the parameters of `LTCNClassifier` by the same names.

    `bounds` says what is stated about the edges between given concepts.
    """

    phi: float
    max_iter: int
    activation: str
    alpha: float | str
    inner: str | Array
    rule: str
    readout: str
    scaling: str | None
    terms: int | None
    cases: bool
    tol: float
    bounds: Callable[[Concepts], Bounds] | None = None


SUMMARY_ROWS = 256
"""Most training rows that a model keeps: enough for means over rows, and few beside what the model holds already."""


@dataclass(frozen=True)
class Summary:
    """Some training rows with their weights, spread over the classes, and each class's share of all weight."""

    rows: Array
    weight: Array
    shares: Array


def summarise(rows: Rows) -> Summary:
    """Keep at most `SUMMARY_ROWS` rows."""
    kept = sample_rows(rows.codes, SUMMARY_ROWS)
    return Summary(rows.X[kept], rows.weight[kept], class_shares(rows.codes, rows.weight, rows.n_classes))


@dataclass(frozen=True)
class Model:
    """A fitted network."""

    concepts: Concepts
    network: Network
    readout: Readout

    def raw(self, X: Array) -> Array:
        """Return the raw class scores of rows, on the scale of f⁻¹ of the one-hot; shape (n, N)."""
        return in_blocks(lambda initial: self.readout.scores(self.network, initial), self.concepts(X))

    def states(self, X: Array, n_iter: int) -> Array:
        """Return the states of rows, shape (n, n_iter + 1, M)."""
        return in_blocks(lambda initial: trajectory(self.network, initial, n_iter), self.concepts(X))

    @property
    def scale(self) -> Array:
        """f⁻¹ of 0 and of 1: what the readout aims at for other classes and for the row's own."""
        return self.network.activation.inverse(np.array([0.0, 1.0]))

    def one_hot_scale(self, raw: Array) -> Array:
        """Take raw scores from the scale of f⁻¹ of the one-hot to that of the one-hot."""
        zero, one = self.scale
        scaled: Array = (raw - zero) / (one - zero)
        return scaled


def fit_network(rows: Rows, settings: Settings) -> tuple[Concepts, Network, Array]:
    """Learn concepts and inner weights from the rows; also return their initial states."""
    activation = ACTIVATIONS[settings.activation]
    bounds = (activation.low, activation.high)
    concepts = fit_concepts(rows.X, rows.weight, settings.scaling, settings.terms, bounds)
    initial = concepts(rows.X)
    W, b = _inner_weights(concepts, settings, initial, rows.weight)
    return concepts, Network.from_rule(settings.rule, W, b, float(settings.phi), activation), initial


def fit_model(rows: Rows, settings: Settings) -> tuple[Model, Learned]:
    """Learn concepts and inner weights from the rows, then the readout from their states and classes."""
    concepts, network, initial = fit_network(rows, settings)
    learned = learn(
        network,
        initial,
        inverse_one_hot(rows.codes, rows.n_classes, network.activation),
        rows.weight,
        rows.unit,
        alpha=settings.alpha,
        cases=settings.cases,
        final=settings.readout == "final",
        max_iter=settings.max_iter,
        tol=settings.tol,
        keys=content_keys(rows.X if concepts.varies.all() else rows.X[:, concepts.varies]),
    )
    return Model(concepts, network, learned.readout), learned


def remember(model: Model, learned: Learned, rows: Rows) -> tuple[Model, Learned]:
    """Read the same network again together with cases, from the innovations that are known already."""
    target = inverse_one_hot(rows.codes, rows.n_classes, model.network.activation)
    found = learn_with_cases(learned, model.concepts(rows.X), target, rows.weight, rows.unit)
    return replace(model, readout=found.readout), found


def _inner_weights(concepts: Concepts, settings: Settings, initial: Array, weight: Array) -> tuple[Array, Array]:
    regresses = isinstance(settings.inner, str) and settings.inner in REGRESSIONS
    if not regresses:
        return inner_weights(concepts, settings, centre(initial, weight)[1], None)
    given = Regressors.from_rows(initial, weight, ACTIVATIONS[settings.activation])
    return inner_weights(concepts, settings, given.X, given)


REGRESSIONS = ("regression", "stable-regression")
"""Inner weights that need f⁻¹ of the concepts too."""


def inner_weights(
    concepts: Concepts, settings: Settings, centred: Array, regressors: Regressors | None
) -> tuple[Array, Array]:
    """Return W and b from centred concepts times √w, or a factor of them; regressions need `regressors`."""
    inner = settings.inner
    bounds = None if settings.bounds is None else settings.bounds(concepts)
    if regressors is not None:
        if inner == "regression":
            return regression(regressors) if bounds is None else bounded_regression(regressors, bounds)
        return stable_regression(regressors) if bounds is None else bounded_stable_regression(regressors, bounds)
    if not isinstance(inner, str):
        # Weights between features hold for all their terms.
        W, b = inner[np.ix_(concepts.feature, concepts.feature)], np.zeros(centred.shape[1])
    else:
        W, b = (correlations if inner == "correlation" else slopes)(centred)
    return (W if bounds is None else bounds.clip(W)), b
