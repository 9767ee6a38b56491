"""The unsupervised step: concepts and inner weights from blocks of rows; a network whose readout is still missing."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..concepts.concepts import Concepts, fit_concepts, with_terms
from ..network.activation import ACTIVATIONS
from ..network.constraints import bounded_regression, bounded_stable_regression
from ..network.inner import Regressors, correlations, regression, slopes, stable_regression
from ..network.reasoning import Network
from ..sums.factor import fit_factor
from ..sums.rows import Rows, States
from ..sums.sampling import content_keys
from ..sums.sources import Source
from ..sums.space import DeviceArray, Space
from ..sums.statistics import Range
from ..types import Array
from .model import Settings

REGRESSIONS = ("regression", "stable-regression")
"""Inner weights that need f⁻¹ of the concepts too."""


@dataclass(frozen=True)
class Draft:
    """A network whose readout is still missing, and the rows to learn it from.

    Attributes
    ----------
    source : Source of Rows
        Training rows.
    states : Source of States
        Their initial states.
    census : Range
        Range of the features, and weight of the classes.
    settings : Settings
        What a user decided.
    concepts : Concepts
        From rows to initial states.
    network : Network
        The network.
    reference : array of shape (M,)
        Mean initial state, about which increments are linearised.
    scatter : array of shape (M, M)
        Scatter matrix of the initial states about it.
    """

    source: Source[Rows]
    states: Source[States]
    census: Range
    settings: Settings
    concepts: Concepts
    network: Network
    reference: Array
    scatter: Array

    @property
    def few(self) -> bool:
        """Whether the rows are one block in memory, and all of them judge."""
        return self.source.single


def draft(source: Source[Rows], census: Range, settings: Settings, concepts: Concepts | None = None) -> Draft:
    """Learn concepts, where they are not known, and inner weights."""
    f = ACTIVATIONS[settings.activation]
    if concepts is None:
        concepts = concepts_of(source, census, settings)
    n_concepts = len(concepts.feature)
    states = source.map(partial(initial_states, concepts), n_concepts + 4)
    regresses = isinstance(settings.inner, str) and settings.inner in REGRESSIONS
    factor = fit_factor(states, partial(_columns, f.name if regresses else None), n_concepts, exact=regresses)
    centred = factor.centred[:, :n_concepts]
    regressors = Regressors.from_factor(factor, n_concepts) if regresses else None
    W, b = inner_weights(concepts, settings, centred, regressors)
    network = Network.from_rule(settings.rule, W, b, float(settings.phi), f)
    reference = factor.mean[:n_concepts]
    return Draft(source, states, census, settings, concepts, network, reference, centred.T @ centred)


def concepts_of(source: Source[Rows], census: Range, settings: Settings, plain: Concepts | None = None) -> Concepts:
    """Learn the concepts that the settings name; those without terms may be given."""
    if plain is not None:
        return with_terms(source, census, plain, settings.terms)
    f = ACTIVATIONS[settings.activation]
    return fit_concepts(source, census, settings.scaling, settings.terms, (f.low, f.high))


def initial_states(concepts: Concepts, space: Space) -> Callable[[Rows], States]:
    """Scale rows, and hash them."""
    scaler = concepts.on(space)

    def of_block(block: Rows) -> States:
        columns = scaler.columns(block.X)
        keys = content_keys(space, columns) if columns else space.xp.zeros_like(block.codes)
        initial = scaler(columns, block.X.shape[0])
        return States(initial, keys, block.codes, block.weight, block.unit, block.n_classes, block.even)

    return of_block


def _columns(activation: str | None, space: Space) -> Callable[[States], tuple[DeviceArray, ...]]:
    """Give the initial states, and f⁻¹ of them where an activation is named."""
    f = None if activation is None else ACTIVATIONS[activation]

    def of_block(block: States) -> tuple[DeviceArray, ...]:
        return (block.initial,) if f is None else (block.initial, f.inverse(block.initial, space.xp))

    return of_block


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
    return (W, b) if bounds is None else (bounds.clip(W), bounds.stated_bias(b))
