"""Where the concepts of a map stand: each block on a ring of its own, with the names outside it, all level.

No edge can cross a name there. Around the ring, concepts stand in the order of their angles in networkx's
Kamada–Kawai layout of the drawn edges, one connected part after another, so that edges are short and cross seldom. The
fuller a ring, the more they stand at equal heights and not at equal angles, so that each name has a line of its own.

Easy to get wrong: names have a size in points and rings in data units. Limits are therefore set last, from the measured
names, so that everything fits whatever the size of the axes.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.types import Array
from .drawing import NEUTRAL

FONT_SIZES = (9.0, 8.0, 7.0, 6.0, 5.0, 4.0)
LINE = 1.25
"""Height of a line of text in font sizes."""

HEADING = 28.0
"""Points kept above each ring for the name of its block."""

GAP = 4.0
"""Points between a node and its name, and around each ring."""

MOST_COLUMNS = 3
"""Rings beside each other."""

LEAST_RING = 0.3
"""Radius of a ring, as a share of that without names, below which the font gets smaller."""

SMALL_RING, FULL_RING = 12, 60
"""Numbers of concepts up to which they stand at equal angles, and from which on at equal heights."""


def ring_angles(count: int) -> Array:
    """Return angles clockwise from the top; on a larger ring the first stands beside the top and not there."""
    if count <= SMALL_RING:
        equal: Array = np.pi / 2 - 2 * np.pi * np.arange(count) / max(count, 1)
        return equal
    right, left = (_down(n, (count - SMALL_RING) / (FULL_RING - SMALL_RING)) for n in (count - count // 2, count // 2))
    return np.pi / 2 - np.concatenate([right, 2 * np.pi - left[::-1]])


def _down(count: int, full: float) -> Array:
    """Return angles from the top down one side: at equal angles where `full` is 0, at equal heights where it is 1."""
    middle: Array = (np.arange(count) + 0.5) / count
    share = min(full, 1.0)
    return (1 - share) * np.pi * middle + share * np.arccos(1 - 2 * middle)


def ring_order(edges: Array) -> list[int]:
    """Return the concepts in their order around a ring; `edges` (M, M) is 0 where none is drawn.

    Connected parts follow each other, the largest first; concepts without an edge come last.
    """
    try:
        import networkx as nx
    except ImportError as error:
        raise ImportError('Laying out a map needs networkx: pip install "cogmap[plot]".') from error
    graph = nx.Graph()
    graph.add_nodes_from(range(len(edges)))
    graph.add_edges_from(np.argwhere((edges != 0) & ~np.eye(len(edges), dtype=bool)).tolist())
    parts = sorted((sorted(part) for part in nx.connected_components(graph)), key=lambda part: (-len(part), part[0]))
    return [concept for part in parts for concept in _by_angle(nx, graph.subgraph(part), part)]


def _by_angle(nx: Any, graph: Any, part: list[int]) -> list[int]:
    if len(part) < 4:  # every order of three is the same ring
        return part
    layout = nx.kamada_kawai_layout(graph, weight=None)
    position = np.array([layout[concept] for concept in part])
    x, y = (position - position.mean(axis=0)).T
    return [part[k] for k in np.argsort(np.arctan2(y, x), kind="stable")]


def placed(edges: Array) -> Array:
    """Return the angle of each concept of one ring; `edges` as for `ring_order`."""
    angle = np.empty(len(edges))
    angle[ring_order(edges)] = ring_angles(len(edges))
    return angle


def n_readable(n_concepts: int) -> int:
    """Return about how many edges between so many concepts on one ring can be told apart."""
    return min(2 * n_concepts, 20 + n_concepts // 2)


@dataclass(frozen=True)
class Rings:
    """The concepts on their rings.

    Attributes
    ----------
    block : int array of shape (M,)
        Ring of each concept, 0, 1, …
    linked : bool array of shape (M,)
        Concepts with an edge. The names of the others are grey.
    angle : array of shape (M,)
        Angle of each concept.
    node : array of shape (M,)
        Radius of its node in points.
    """

    block: NDArray[np.intp]
    linked: NDArray[np.bool_]
    angle: Array
    node: Array

    @classmethod
    def arrange(cls, block: NDArray[np.intp], node: Array, edges: Array) -> "Rings":
        """Spread the concepts of each block clockwise from the top; `edges` as for `ring_order`."""
        linked = np.array(edges.any(axis=0) | edges.any(axis=1), dtype=np.bool_)
        angle = np.empty(len(block))
        for b in np.unique(block):
            inside = np.flatnonzero(block == b)
            angle[inside] = placed(edges[np.ix_(inside, inside)])
        return cls(block, linked, angle, node)

    @property
    def direction(self) -> Array:
        """Unit vectors from the centre of its ring to each concept, shape (M, 2)."""
        unit: Array = np.c_[np.cos(self.angle), np.sin(self.angle)]
        return unit

    @property
    def n_blocks(self) -> int:
        """Number of rings."""
        return int(self.block.max(initial=0)) + 1

    @property
    def reach(self) -> Array:
        """Distance of each name from its node's centre in points; the same for all on a full ring, to keep lines."""
        full = np.bincount(self.block, minlength=1)[self.block] > SMALL_RING
        return np.where(full, self.node.max(initial=0.0), self.node) + GAP

    def line_room(self, radius: float) -> float:
        """Return the least distance in points between the lines of two names on one side of a ring of that radius."""
        x, y = self.direction.T
        gaps = [np.inf]
        for b in range(self.n_blocks):
            for side in (x > -1e-9, x < 1e-9):
                heights = np.sort((y * (radius + self.reach))[side & (self.block == b)])
                gaps.extend(np.diff(heights))
        return float(min(gaps))

    def fit(self, ax: Any, names: list[str], footer: float) -> tuple[Array, Array]:
        """Write the names, set the limits, and return positions of concepts (M, 2) and of headings (n_blocks, 2).

        Names are in the largest font at which neighbours stay apart. `footer` is the height in points to leave free at
        the bottom.
        """
        texts = [ax.annotate(n, (0, 0), (0, 0), textcoords="offset points", annotation_clip=False) for n in names]
        for size in FONT_SIZES:
            self._place(texts, size)
            radius, most = self._radius(ax, texts, footer)
            if self.line_room(radius) >= LINE * size and radius >= LEAST_RING * most:
                break
        centres, headings = self._centres(ax, radius, footer)
        position = centres[self.block] + self.direction
        for text, xy in zip(texts, position, strict=True):
            text.xy = tuple(xy)
        return position, headings

    def _place(self, texts: list[Any], size: float) -> None:
        for k, (text, (x, y)) in enumerate(zip(texts, self.direction, strict=True)):
            text.set_position(self.reach[k] * np.array([x, y]))
            text.set(ha="left" if x > -1e-9 else "right", va="center", fontsize=size)
            text.set_color("black" if self.linked[k] else NEUTRAL)
            if abs(y) > np.sqrt(0.5):  # a name beside such a node would touch it
                text.set_va("bottom" if y > 0 else "top")
            if abs(x) < 0.1:
                text.set_ha("center")

    def _cell(self, ax: Any, footer: float) -> tuple[Array, int]:
        """Return width and height that each ring has, in points, and the number of rings in a row."""
        columns = min(MOST_COLUMNS, self.n_blocks)
        whole = np.array([ax.bbox.width, ax.bbox.height]) * 72 / ax.figure.dpi - [0, footer]
        return whole / [columns, -(-self.n_blocks // columns)], columns

    def _heading(self) -> float:
        return HEADING if self.n_blocks > 1 else 0.0

    def _radius(self, ax: Any, texts: list[Any], footer: float) -> tuple[float, float]:
        """Return the largest radius in points with every name in the cell of its ring, and that without names."""
        half = (self._cell(ax, footer)[0] - [0, self._heading()]) / 2 - GAP
        most = radius = half.min()
        for text, direction, node in zip(texts, self.direction, self.node, strict=True):
            box, anchor = text.get_window_extent(), ax.transData.transform(text.xy)
            reach = np.where(direction > 0, box.max - anchor, anchor - box.min) * 72 / ax.figure.dpi
            along = np.maximum(np.abs(direction), 1e-9)
            radius = min(radius, ((half - np.maximum(reach, node)) / along).min())
        return float(max(radius, 0.1 * most)), float(most)

    def _centres(self, ax: Any, radius: float, footer: float) -> tuple[Array, Array]:
        """Set the limits so that rings have radius 1; return their centres and the places of their headings."""
        cell, columns = self._cell(ax, footer)
        (width, height), rows = cell / radius, -(-self.n_blocks // columns)
        ax.set(xlim=(0, width * columns), ylim=(-height * rows - footer / radius, 0))
        b = np.arange(self.n_blocks)
        middle, top = width * (b % columns + 0.5), -height * (b // columns)
        return np.c_[middle, top - (height + self._heading() / radius) / 2], np.c_[middle, top - GAP / radius]
