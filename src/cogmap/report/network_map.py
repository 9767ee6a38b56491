"""The cognitive map as nodes and edges, one for each network of the model.

Easy to get wrong: `weights[j, i]` leads from concept j to concept i, and a concept's weight on itself is no edge
between concepts. A large map keeps its most relevant concepts, and the report says that it left some out.
"""

from typing import Any

import numpy as np

from ..core.types import Array
from ..plots.concepts import feature_relevance, names_and_blocks
from .importance import quietly
from .subject import Subject

MOST_CONCEPTS = 24
"""Concepts of one map: more cannot be read around one ring."""


def network_maps(subject: Subject) -> list[dict[str, Any]]:
    """Return for each network its concepts, by falling relevance of their features, and the edges between them."""
    network = subject.network
    names, _ = names_and_blocks(network)
    relevance, _ = quietly(lambda: feature_relevance(network))
    maps, start = [], 0
    fitted = network.fitted_
    for name, model in zip(fitted.network_names, fitted.networks, strict=True):
        own = slice(start, start + len(model.network.bias))
        maps.append(_network_map(name, names[own].tolist(), relevance[own], network.inner_weights_[own, own]))
        start = own.stop
    return maps


def _network_map(name: str, names: list[str], relevance: Array, weights: Array) -> dict[str, Any]:
    chosen = np.argsort(-relevance, kind="stable")[:MOST_CONCEPTS]
    total = float(relevance.sum()) or 1.0
    between = weights[np.ix_(chosen, chosen)]
    places = [(j, i) for j in range(len(chosen)) for i in range(len(chosen)) if i != j and between[j, i] != 0]
    edges = [{"source": j, "target": i, "weight": float(between[j, i])} for j, i in places]
    return {
        "name": name,
        "n_concepts": len(names),
        "concepts": [{"name": names[j], "share": float(relevance[j]) / total} for j in chosen],
        "edges": sorted(edges, key=lambda edge: -abs(edge["weight"])),
    }
