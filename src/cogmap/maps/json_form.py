"""Maps as JSON: the concepts in their order, edges with all digits, and how the map reasons where that is known."""

import json
from typing import Any

from ..knowledge.text import json_values
from .cognitive_map import CognitiveMap

REASONING = ("rule", "activation", "phi", "slope")
"""How a map reasons: fields that may be left out."""


def to_json(cognitive_map: CognitiveMap) -> str:
    """Return a map as JSON."""
    held: dict[str, Any] = {
        "concepts": list(cognitive_map.names),
        "edges": [edge._asdict() for edge in cognitive_map.edges],
    }
    if cognitive_map.bias.any():
        held["bias"] = {name: float(b) for name, b in zip(cognitive_map.names, cognitive_map.bias, strict=True) if b}
    held |= reasoning_of(cognitive_map)
    return json.dumps(held, indent=2, ensure_ascii=False) + "\n"


def reasoning_of(cognitive_map: CognitiveMap) -> dict[str, Any]:
    """Return what is known of how a map reasons."""
    return {key: getattr(cognitive_map, key) for key in REASONING if getattr(cognitive_map, key) is not None}


def from_json(content: str) -> CognitiveMap:
    """Read a map from JSON."""
    held = json_values(content)
    if not isinstance(held, dict) or not isinstance(held.get("edges"), list):
        raise ValueError("this is no map: write a list named 'edges', each with 'source', 'target' and 'weight'.")
    unknown = held.keys() - {"concepts", "edges", "bias", *REASONING}
    if unknown:
        raise ValueError(f"{min(unknown)!r} is not known here: leave it out.")
    names, bias = held.get("concepts", []), held.get("bias", {})
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise ValueError("'concepts' is no list of names: write their names as text.")
    if not isinstance(bias, dict):
        raise ValueError("'bias' does not name concepts: write a name and a number for each.")
    edges = [_edge(number, entry) for number, entry in enumerate(held["edges"], start=1)]
    cognitive_map = CognitiveMap.from_edges(edges, [*names, *bias])
    by_name = {name.strip(): _number(f"the bias of {name!r}", value) for name, value in bias.items()}
    reasoning = {key: held[key] for key in REASONING if key in held}
    for key in ("phi", "slope"):
        if reasoning.get(key) is not None:
            reasoning[key] = _number(f"{key!r}", reasoning[key])
    return CognitiveMap(
        cognitive_map.names,
        cognitive_map.weights,
        [by_name.get(name, 0.0) for name in cognitive_map.names],
        **reasoning,
    )


def _edge(number: int, entry: Any) -> tuple[str, str, float]:
    if not isinstance(entry, dict) or entry.keys() != {"source", "target", "weight"}:
        raise ValueError(f"edge {number} must have 'source', 'target' and 'weight', and nothing else.")
    for end in ("source", "target"):
        if not isinstance(entry[end], str):
            raise ValueError(f"the {end} of edge {number} is {entry[end]!r}: give the name of a concept, as text.")
    return entry["source"], entry["target"], _number(f"the weight of edge {number}", entry["weight"])


def _number(what: str, value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueError(f"{what} is {value!r}: give a number.")
    return float(value)
