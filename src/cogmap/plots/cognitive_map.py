"""The learned map: concepts as nodes, their strongest inner weights as signed arrows.

Easy to get wrong: `weights[j, i]` leads from concept j to concept i, and a concept's weight on itself is no edge
between concepts. Classes are no nodes: each has T + 1 outer weights for every concept, which one arrow could not show.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core.types import Array
from ..estimators.base import NetworkClassifier
from ..estimators.tabular import TabularClassifier
from .concepts import feature_relevance, names_and_blocks, network_of
from .drawing import DASHES, NEGATIVE, NEUTRAL, POSITIVE, data_frame, new_axes, short_names
from .ring import MOST_COLUMNS, Rings, n_readable


class CognitiveMapDisplay:
    """The cognitive map of a fitted network.

    Each block of a stack is a ring of its own. An arrow leads from a concept to one that it raises (solid) or lowers
    (dashed); it is as wide as its weight, and the area of a node grows with its relevance.

    Parameters
    ----------
    weights : array of shape (M, M)
        Inner weights; entry [j, i] leads from concept j to concept i.
    relevance : array of shape (M,)
        Relevance of each concept, or of its feature; sets the size of its node.
    names : array of shape (M,)
        Names of the concepts.
    blocks : array of shape (M,), default=None
        Name of the block of each concept; None for a single network.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import numpy as np
    >>> from cogmap.plots import CognitiveMapDisplay
    >>> weights = np.array([[0.0, 0.8], [-0.3, 0.0]])
    >>> display = CognitiveMapDisplay(weights, np.array([2.0, 1.0]), np.array(["rain", "sun"]))
    >>> display.frame()[["source", "target", "weight"]]
      source target  weight
    0   rain    sun     0.8
    1    sun   rain    -0.3
    """

    def __init__(
        self, weights: Array, relevance: Array, names: NDArray[Any], blocks: NDArray[Any] | None = None
    ) -> None:
        self.weights = weights
        self.relevance = relevance
        self.names = names
        self.blocks = blocks

    @classmethod
    def from_estimator(
        cls, estimator: NetworkClassifier | TabularClassifier, *, n_edges: int | None = None, ax: Any = None
    ) -> Self:
        """Draw the map of a fitted classifier; a node shows the relevance of its feature, `n_edges` is as in `plot`."""
        network = network_of(estimator)
        names, blocks = names_and_blocks(network)
        display = cls(network.inner_weights_, feature_relevance(network), names, blocks)
        return display.plot(n_edges=n_edges, ax=ax)

    def plot(self, ax: Any = None, *, n_edges: int | None = None) -> Self:
        """Draw the concepts and the `n_edges` strongest edges of each block.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        n_edges : int, default=None
            Number of edges drawn in each block of M concepts; None for the smaller of 2 M and 20 + M / 2.

        Returns
        -------
        CognitiveMapDisplay
            This display.
        """
        edges, block = self.edges(n_edges), self._block_codes()
        rings = Rings.arrange(block, self._node_radius(block), self._drawn(edges))
        ax = new_axes(figsize=_figure_size(block)) if ax is None else ax
        footer = self._explain(ax, edges)
        position, headings = rings.fit(ax, short_names(self.names), footer)
        self._draw_edges(ax, edges, position, rings)
        ax.scatter(*position.T, s=(2 * rings.node) ** 2, color=NEUTRAL, edgecolor="white", linewidth=1, zorder=3)
        if self.blocks is not None:
            for (x, y), name in zip(headings, dict.fromkeys(self.blocks.tolist()), strict=True):
                ax.text(x, y, f"block: {name}", ha="center", va="top", fontsize=11, weight="bold")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def edges(self, n_edges: int | None = None) -> list[tuple[int, int, float]]:
        """Return the strongest edges of each block as (source, target, weight), strongest first; see `plot`."""
        block, edges = self._block_codes(), []
        for b in range(int(block.max(initial=0)) + 1):
            inside = np.flatnonzero(block == b)
            between = np.where(np.eye(len(inside), dtype=bool), 0.0, self.weights[np.ix_(inside, inside)])
            most = n_readable(len(inside)) if n_edges is None else n_edges
            strongest = np.argsort(-np.abs(between), axis=None, kind="stable")[:most]
            for j, i in zip(*np.unravel_index(strongest, between.shape), strict=True):
                edges.append((int(inside[j]), int(inside[i]), float(between[j, i])))
        return sorted((edge for edge in edges if edge[2] != 0), key=lambda edge: -abs(edge[2]))

    def frame(self, *, n_edges: int | None = None) -> Any:
        """Return a pandas DataFrame with a row for each edge drawn, strongest first; `n_edges` as in `plot`."""
        edges = self.edges(n_edges)
        source, target = [j for j, _, _ in edges], [i for _, i, _ in edges]
        columns = {"block": self.blocks[source]} if self.blocks is not None else {}
        columns |= {"source": self.names[source], "target": self.names[target]}
        columns |= {"weight": np.array([weight for _, _, weight in edges], dtype=np.float64)}
        columns |= {"source_relevance": self.relevance[source], "target_relevance": self.relevance[target]}
        return data_frame(columns)

    def _block_codes(self) -> NDArray[np.intp]:
        if self.blocks is None:
            return np.zeros(len(self.names), dtype=np.intp)
        number = {name: b for b, name in enumerate(dict.fromkeys(self.blocks.tolist()))}
        return np.array([number[name] for name in self.blocks.tolist()], dtype=np.intp)

    def _node_radius(self, block: NDArray[np.intp]) -> Array:
        """Return the radius of each node in points: its area grows with relevance, less so on a full ring."""
        largest = np.clip(350 / max(1, np.bincount(block).max(initial=1)), 4, 13)
        share = np.asarray(self.relevance / (self.relevance.max(initial=0.0) or 1.0))
        radius: Array = 2.5 + (largest - 2.5) * np.sqrt(share)
        return radius

    def _drawn(self, edges: list[tuple[int, int, float]]) -> Array:
        drawn = np.zeros_like(self.weights, dtype=np.float64)
        for j, i, weight in edges:
            drawn[j, i] = weight
        return drawn

    def _draw_edges(self, ax: Any, edges: list[tuple[int, int, float]], position: Array, rings: Rings) -> None:
        from matplotlib.patches import FancyArrowPatch

        pairs = {(j, i) for j, i, _ in edges}
        for j, i, weight in reversed(edges):
            share = abs(weight) / abs(edges[0][2])
            turn = _between(rings.angle[j], rings.angle[i])
            # Bend towards the centre, short edges more; of a two-way pair, one way more than the other.
            bend = 0.12 + 0.2 * (1 - np.sin(abs(turn) / 2))
            bend += 0.16 * ((i, j) in pairs and j < i)
            arrow = FancyArrowPatch(
                tuple(position[j]),
                tuple(position[i]),
                arrowstyle="-|>",
                mutation_scale=8 + 5 * share,
                color=POSITIVE if weight > 0 else NEGATIVE,
                linestyle="solid" if weight > 0 else DASHES,
                linewidth=0.8 + 2.4 * share,
                alpha=0.6 + 0.35 * share,
                connectionstyle=f"arc3,rad={-bend if turn > 0 else bend}",
                shrinkA=rings.node[j] + 1,
                shrinkB=rings.node[i] + 1,
            )
            ax.add_patch(arrow)

    def _explain(self, ax: Any, edges: list[tuple[int, int, float]]) -> float:
        """Write title and legend; return the height of the legend in points."""
        n_all = len(self.edges(self.weights.size))
        ax.set_title(f"Cognitive map: the {len(edges)} strongest of {n_all} edges between concepts")
        ax.axis("off")
        # What follows is measured, so the layout must be settled: the title takes its room first.
        ax.figure.canvas.figure.draw_without_rendering()
        for columns in (4, 2, 1):
            legend = ax.legend(handles=_keys(edges), loc="lower center", ncols=columns, frameon=False, borderpad=0)
            box = legend.get_window_extent()
            if box.width <= 0.95 * ax.bbox.width:
                break
        return float(box.height * 72 / ax.figure.dpi + 12)


def _keys(edges: list[tuple[int, int, float]]) -> list[Any]:
    from matplotlib.lines import Line2D

    strongest = f", {abs(edges[0][2]):.2g} at most" if edges else ""
    return [
        Line2D([], [], color=POSITIVE, linewidth=2, label="raises its target"),
        Line2D([], [], color=NEGATIVE, linewidth=2, linestyle=DASHES, label="lowers its target"),
        Line2D([], [], color=NEUTRAL, linewidth=3, label=f"width: weight{strongest}"),
        Line2D([], [], color=NEUTRAL, marker="o", linestyle="none", label="size: relevance of its feature"),
    ]


def _figure_size(block: NDArray[np.intp]) -> tuple[float, float]:
    """Return the size in inches: larger for each ring where there are more concepts, and wider, for names are level."""
    concepts = np.bincount(block, minlength=1)
    side = min(5.4 + 0.05 * concepts.max(), 9.0)
    columns = min(MOST_COLUMNS, len(concepts))
    return (side + 1.6) * columns, side * -(-len(concepts) // columns) + 0.6


def _between(start: float, end: float) -> float:
    """Return the angle from start to end, from −π to π."""
    return float((end - start + np.pi) % (2 * np.pi) - np.pi)
