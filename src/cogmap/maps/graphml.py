"""Maps as GraphML, the XML that Gephi, yEd, Cytoscape and networkx read and write.

A written file holds each name and weight twice: as data, for programs, and as labels on a ring, which yEd shows.

Easy to get wrong: who edits a map in yEd edits the labels, and the data beside them stays as it was. So a label counts
before the data, unless it is the number in the data, rounded.
"""

import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from typing import Any

from .cognitive_map import CognitiveMap, checked_names
from .json_form import REASONING, reasoning_of

GRAPHML, YED = "http://graphml.graphdrawing.org/xmlns", "http://www.yworks.com/xml/graphml"
UNWRITABLE = re.compile("[^\t\n\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Characters that XML does not hold, or changes."""
DOUBLES = ("phi", "slope", "bias", "weight")
NODE_WIDTH, NODE_HEIGHT = 120.0, 30.0
SIGN_COLOURS = {True: "#1b6ca8", False: "#b5452c"}


def to_graphml(cognitive_map: CognitiveMap) -> str:
    """Return a map as GraphML."""
    for name in cognitive_map.names:
        if UNWRITABLE.search(name):
            raise ValueError(
                f"The concept {name!r} has a character that GraphML cannot hold: rename it, or write JSON."
            )
    # Prefixes by hand: ElementTree keeps its own for the whole process.
    root = ET.Element("graphml", {"xmlns": GRAPHML, "xmlns:y": YED})
    for owner, keys in {"graph": REASONING, "node": ("label", "bias"), "edge": ("weight",)}.items():
        for key in keys:
            kind = "double" if key in DOUBLES else "string"
            ET.SubElement(root, "key", {"id": key, "for": owner, "attr.name": key, "attr.type": kind})
    for owner in ("node", "edge"):
        ET.SubElement(root, "key", {"id": f"{owner}look", "for": owner, "yfiles.type": f"{owner}graphics"})
    graph = ET.SubElement(root, "graph", {"id": "map", "edgedefault": "directed"})
    for key, value in reasoning_of(cognitive_map).items():
        _data(graph, key, value)
    for k, name in enumerate(cognitive_map.names):
        _write_node(graph, k, name, float(cognitive_map.bias[k]), len(cognitive_map.names))
    place = {name: k for k, name in enumerate(cognitive_map.names)}
    for number, (source, target, weight) in enumerate(cognitive_map.edges):
        ends = {"source": f"n{place[source]}", "target": f"n{place[target]}"}
        _write_edge(ET.SubElement(graph, "edge", {"id": f"e{number}", **ends}), weight)
    ET.indent(root)
    return f'<?xml version="1.0" encoding="UTF-8"?>\n{ET.tostring(root, encoding="unicode")}\n'


def _write_node(graph: ET.Element, k: int, name: str, bias: float, n: int) -> None:
    node = ET.SubElement(graph, "node", {"id": f"n{k}"})
    _data(node, "label", name)
    if bias:
        _data(node, "bias", bias)
    look = ET.SubElement(ET.SubElement(node, "data", {"key": "nodelook"}), "y:ShapeNode")
    radius = max(2 * NODE_WIDTH, n * 1.5 * NODE_WIDTH / (2 * math.pi))
    x, y = radius * math.sin(2 * math.pi * k / n), -radius * math.cos(2 * math.pi * k / n)
    size = {"x": x, "y": y, "width": NODE_WIDTH, "height": NODE_HEIGHT}
    ET.SubElement(look, "y:Geometry", {key: f"{value:.1f}" for key, value in size.items()})
    ET.SubElement(look, "y:NodeLabel").text = name


def _write_edge(edge: ET.Element, weight: float) -> None:
    _data(edge, "weight", weight)
    look = ET.SubElement(ET.SubElement(edge, "data", {"key": "edgelook"}), "y:ArcEdge")
    style = {"color": SIGN_COLOURS[weight > 0], "type": "line" if weight > 0 else "dashed", "width": "1.0"}
    ET.SubElement(look, "y:LineStyle", style)
    ET.SubElement(look, "y:Arrows", {"source": "none", "target": "standard"})
    ET.SubElement(look, "y:EdgeLabel").text = _rounded(weight)


def _rounded(weight: float) -> str:
    return f"{weight:.3g}"


def _data(owner: ET.Element, key: str, value: object) -> None:
    ET.SubElement(owner, "data", {"key": key}).text = str(value)


class _NoDoctype(ET.TreeBuilder):
    """Refuses a document type: entities, which it may define, can grow without end or read other files."""

    def doctype(self, name: str, pubid: str | None, system: str | None) -> None:
        """Refuse."""
        raise ValueError("GraphML has no document type: remove the line that begins with <!DOCTYPE.")


def from_graphml(content: bytes) -> CognitiveMap:
    """Read a map from GraphML."""
    parser = ET.XMLParser(target=_NoDoctype())
    try:
        parser.feed(content)
        root: ET.Element = parser.close()
    except ET.ParseError as error:
        raise ValueError(f"this is not valid XML, {error}: correct it there.") from error
    graphs = list(_inside(root, "graph"))
    if not graphs:
        raise ValueError("this is XML without a graph: export it as GraphML.")
    keys = {key.get("id"): (key.get("attr.name") or "").casefold() for key in _inside(root, "key")}
    names: dict[str, str] = {}
    bias: list[float] = []
    for node in _inside(graphs[0], "node"):
        held, own = _held(node, keys), str(node.get("id", ""))
        if own in names:
            raise ValueError(f"two nodes have the id {own!r}: give each its own.")
        name = _label(node, "NodeLabel") or held.get("label") or held.get("name") or own
        names[own] = name.strip()
        bias.append(_number(held["bias"], f"the bias of {name!r}") if held.get("bias") else 0.0)
    edges = [_edge(edge, names, keys, graphs[0].get("edgedefault")) for edge in _inside(graphs[0], "edge")]
    # Nodes with one name are refused here: as ends of edges they would become one.
    cognitive_map = CognitiveMap.from_edges(edges, checked_names(list(names.values())))
    held = _held(graphs[0], keys)
    reasoning: dict[str, Any] = {key: held[key] for key in REASONING if held.get(key)}
    reasoning |= {key: _number(text, key) for key, text in reasoning.items() if key in DOUBLES}
    return CognitiveMap(cognitive_map.names, cognitive_map.weights, bias, **reasoning)


def _edge(
    edge: ET.Element, names: dict[str, str], keys: dict[str | None, str], default: str | None
) -> tuple[str, str, float]:
    ends = [edge.get(end, "") for end in ("source", "target")]
    for end in ends:
        if end not in names:
            raise ValueError(f"an edge leads from or to {end!r}, which is no node: correct it.")
    source, target = (names[end] for end in ends)
    if edge.get("directed", "true" if default == "directed" else "false") != "true":
        raise ValueError(f"the edge between {source} and {target} has no direction: export a directed graph.")
    label, held = _label(edge, "EdgeLabel"), _held(edge, keys).get("weight")
    what = f"the weight of {source} → {target}"
    if not label and not held:
        raise ValueError(f"{what} is missing: label the edge with a number, or give it an attribute 'weight'.")
    weight = _number(held, what) if held else None
    if label and (weight is None or (label != _rounded(weight) and _is_number(label))):
        weight = _number(label, what)
    assert weight is not None
    return source, target, weight


def _tag(name: str, space: str = GRAPHML) -> str:
    return f"{{{space}}}{name}"


def _inside(element: ET.Element, tag: str) -> Iterator[ET.Element]:
    """Yield the elements of this name, however deep, with or without the namespace of GraphML."""
    return (inner for inner in element.iter() if inner.tag in (tag, _tag(tag)))


def _held(element: ET.Element, keys: dict[str | None, str]) -> dict[str, str]:
    """Return the data of an element by the names of its attributes."""
    data = (inner for inner in element if inner.tag in ("data", _tag("data")))
    return {keys.get(inner.get("key"), ""): (inner.text or "").strip() for inner in data}


def _label(element: ET.Element, tag: str) -> str:
    """Return the first label that yEd shows; empty where there is none."""
    data = (inner for inner in element if inner.tag in ("data", _tag("data")))
    texts = ((label.text or "").strip() for inner in data for label in inner.iter(_tag(tag, YED)))
    return next((text for text in texts if text), "")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text.replace(",", ".")))
    except ValueError:
        return False


def _number(text: str, what: str) -> float:
    if not _is_number(text):
        raise ValueError(f"{what} is {text!r}: give a finite number.")
    return float(text.replace(",", "."))
