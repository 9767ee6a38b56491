"""The map that a fitted classifier has learned: concepts, inner weights and bias, and how its network reasons.

Easy to get wrong: a stack has several networks, whose concepts bear the same names. Each is a map of its own.
"""

from typing import Any

import numpy as np

from ..core.fit.fitted import Fitted
from ..core.fit.model import Model
from ..core.types import Array
from ..knowledge.names import did_you_mean
from .cognitive_map import CognitiveMap


def map_of(classifier: Any, *, network: str | None = None) -> CognitiveMap:
    """Return the cognitive map that a fitted classifier has learned.

    The rules of the classifiers are one map, φ f(A W + b) + (1 − φ) A⁰, so the rule is always "quasi-nonlinear"; the
    memory of ``"kosko-memory"`` is a weight of 1 from each concept to itself.

    Parameters
    ----------
    classifier : LTCNClassifier, LTCNClassifierCV or TabularClassifier
        A fitted classifier.
    network : str, default=None
        Of a stack, the name of the network, as `map_names` has them; by default the one with the largest weight.

    Returns
    -------
    CognitiveMap
        The map; classes are no concepts of it.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from cogmap import LTCNClassifier, map_of
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> map_of(LTCNClassifier().fit(X, y))
    <CognitiveMap: 13 concepts, 169 edges>
    """
    names, model = _network(fitted_of(classifier), network)
    held = model.network
    return CognitiveMap(
        names,
        held.weights,
        held.bias,
        rule="quasi-nonlinear",
        activation=held.activation.name,
        phi=held.phi,
        slope=1.0,
    )


def map_names(classifier: Any) -> tuple[str, ...]:
    """Return the names of the networks of a fitted classifier; that of a single network is empty.

    Parameters
    ----------
    classifier : LTCNClassifier, LTCNClassifierCV or TabularClassifier
        A fitted classifier.

    Returns
    -------
    tuple of str
        The names, each of which `map_of` takes.
    """
    return fitted_of(classifier).network_names


def typical_state(classifier: Any, *, network: str | None = None) -> Array:
    """Return the mean initial state of the training rows that a classifier keeps, shape (M,); see `map_of`."""
    fitted = fitted_of(classifier)
    _, model = _network(fitted, network)
    mean: Array = np.average(model.concepts(fitted.summary.rows), axis=0, weights=fitted.summary.weight)
    return mean


def fitted_of(classifier: Any) -> Fitted:
    """Return the fitted value of a classifier; refuse what has none."""
    fitted = getattr(classifier, "fitted_", None)
    if not isinstance(fitted, Fitted):
        raise ValueError(f"{type(classifier).__name__} has no learned map: give a fitted classifier of cogmap.")
    return fitted


def _network(fitted: Fitted, name: str | None) -> tuple[list[str], Model]:
    """Return the names of the concepts of a network, and a member that has it."""
    if name is None:
        weight = {id(model.network): 0.0 for model in fitted.networks}
        for model, share in fitted.members:
            weight[id(model.network)] += share
        place = int(np.argmax([weight[id(model.network)] for model in fitted.networks]))
    elif name in fitted.network_names:
        place = fitted.network_names.index(name)
    else:
        known = ", ".join(map(repr, fitted.network_names))
        raise ValueError(f"There is no network {name!r}{did_you_mean(name, fitted.network_names)}: there are {known}.")
    model = fitted.networks[place]
    if not len(model.network.bias):
        raise ValueError("The network has no concepts, since no feature varies or all are irrelevant: there is no map.")
    return fitted.own_names[place], model
