"""The cognitive map as a drawing: concepts on a ring, edges as curves between them.

Easy to get wrong: two edges between the same concepts lie on one line unless each bends to its own right.
"""

from typing import Any, NamedTuple

import numpy as np

from ..core.types import Array
from ..plots.drawing import short_names, shortened
from ..plots.ring import n_readable, placed


class Frame(NamedTuple):
    """Size of a drawing, radius of its ring, and the most characters of a name beside a node."""

    width: float
    height: float
    radius: float
    name: int


HALF, WHOLE = Frame(820.0, 540.0, 205.0, 18), Frame(1080.0, 660.0, 265.0, 26)
"""Drawings of half the page's width, beside another, and of all of it."""

LEAST_NODE, LARGEST_NODE = 12.0, 20.0
GAP = 7.0
INWARDS, LEAST_BEND = 0.3, 16.0
"""How far a curve bends to the centre, as a share of the way, and to its right at least."""

STEPS = 100
"""Positions of the slider, from all edges to the strongest."""


def ring(one: dict[str, Any], frame: Frame) -> dict[str, Any]:
    """Return positions of concepts, curves of edges, and the slider's start, for a map of `network_maps`."""
    concepts, edges = one["concepts"], one["edges"]
    largest = max((abs(edge["weight"]) for edge in edges), default=0.0)
    start = _first_threshold(edges, len(concepts), largest)
    shown = [edge for edge in edges if abs(edge["weight"]) >= start / STEPS * largest]
    angle = _angles(len(concepts), shown)
    node = _node_radii([concept["share"] for concept in concepts])
    centre = np.array([frame.width, frame.height]) / 2
    position = centre + frame.radius * np.c_[np.cos(angle), -np.sin(angle)]
    return {
        "width": frame.width,
        "height": frame.height,
        "largest": largest,
        "start": start,
        "steps": STEPS,
        "n_shown": len(shown),
        "nodes": _nodes(concepts, position, node, angle, frame.name),
        "edges": [
            {
                **edge,
                "path": _curve(position, node, centre, edge["source"], edge["target"]),
                "stroke": round(1.2 + 3.8 * abs(edge["weight"]) / largest, 2),
                "shown": abs(edge["weight"]) >= start / STEPS * largest,
            }
            # The strongest come last and lie on top.
            for edge in reversed(edges)
        ],
    }


def _first_threshold(edges: list[dict[str, Any]], n_concepts: int, largest: float) -> int:
    """Return the slider's first position, at which about as many edges are shown as can be told apart."""
    n_shown = n_readable(n_concepts)
    if len(edges) <= n_shown or largest == 0:
        return 0
    return int(np.floor(STEPS * abs(edges[n_shown - 1]["weight"]) / largest))


def _angles(count: int, shown: list[dict[str, Any]]) -> Array:
    """Return the angle of each concept, clockwise from the top in an order that keeps the edges short."""
    linked = np.zeros((count, count))
    for edge in shown:
        linked[edge["source"], edge["target"]] = 1
    return placed(linked)


def _node_radii(shares: list[float]) -> Array:
    """Return the radius of each node; its area beyond the least grows with the relevance."""
    relative = np.asarray(shares) / (max(shares, default=0.0) or 1.0)
    radii: Array = LEAST_NODE + (LARGEST_NODE - LEAST_NODE) * np.sqrt(np.maximum(relative, 0.0))
    return radii


def _nodes(
    concepts: list[dict[str, Any]], position: Array, node: Array, angle: Array, width: int
) -> list[dict[str, Any]]:
    names = [shortened(name, width) for name in short_names([concept["name"] for concept in concepts], width)]
    # All names are equally far out, so that neighbours keep to their lines.
    reach = LARGEST_NODE + GAP
    nodes = []
    for k, concept in enumerate(concepts):
        right, up = np.cos(angle[k]), np.sin(angle[k])
        x, y = position[k] + reach * np.array([right, -up])
        middle = abs(right) < 0.1
        nodes.append(
            {
                **concept,
                "number": k + 1,
                "short": names[k],
                "x": round(float(position[k, 0]), 1),
                "y": round(float(position[k, 1]), 1),
                "radius": round(float(node[k]), 1),
                "text_x": round(float(x), 1),
                "text_y": round(float(y - (6 * up if middle else 0)), 1),
                "anchor": "middle" if middle else "start" if right > 0 else "end",
            }
        )
    return nodes


def _curve(position: Array, node: Array, centre: Array, source: int, target: int) -> str:
    """Return the path from the rim of one node to just before that of another, bent inwards and to its right."""
    start, end = position[source], position[target]
    along = end - start
    across = _unit(np.array([-along[1], along[0]]))
    middle = (start + end) / 2
    control = middle + INWARDS * (centre - middle) + max(LEAST_BEND, 0.16 * float(np.hypot(*along))) * across
    first = start + node[source] * _unit(control - start)
    last = end - (node[target] + 6) * _unit(end - control)
    return f"M{first[0]:.1f} {first[1]:.1f}Q{control[0]:.1f} {control[1]:.1f} {last[0]:.1f} {last[1]:.1f}"


def _unit(vector: Array) -> Array:
    length = float(np.hypot(*vector))
    unit: Array = vector / length if length else vector
    return unit
