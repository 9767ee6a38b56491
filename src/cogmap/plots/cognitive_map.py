"""The learned map: concepts as nodes, their strongest inner weights as signed arrows."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core.activation import Array
from ..core.relevance import paper_relevance
from ..estimator import NetworkClassifier
from .drawing import NEGATIVE, NEUTRAL, POSITIVE, new_axes, shortened


class CognitiveMapDisplay:
    """The cognitive map of a fitted network.

    Parameters
    ----------
    weights : array of shape (M, M)
        Inner weights; entry [j, i] leads from concept j to concept i.
    relevance : array of shape (M,)
        Relevance of each concept; sets the size of its node.
    names : array of shape (M,)
        Names of the concepts.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.
    """

    def __init__(self, weights: Array, relevance: Array, names: NDArray[Any]) -> None:
        self.weights = weights
        self.relevance = relevance
        self.names = names

    @classmethod
    def from_estimator(cls, estimator: NetworkClassifier, *, n_edges: int | None = None, ax: Any = None) -> Self:
        """Draw the map of a fitted classifier; `n_edges` as in `plot`."""
        relevance = paper_relevance(estimator.inner_weights_, estimator.outer_weights_)
        display = cls(estimator.inner_weights_, relevance, estimator.concept_names_)
        return display.plot(n_edges=n_edges, ax=ax)

    def plot(self, *, n_edges: int | None = None, ax: Any = None) -> Self:
        """Draw the concepts on a circle and the `n_edges` strongest edges (default: two for each concept)."""
        ax = new_axes(figsize=(8, 7)) if ax is None else ax
        angle = 2 * np.pi * np.arange(len(self.names)) / max(1, len(self.names)) + np.pi / 2
        position = np.c_[np.cos(angle), np.sin(angle)]
        edges = self.edges(2 * len(self.names) if n_edges is None else n_edges)
        self._draw_edges(ax, edges, position)
        self._draw_nodes(ax, position, angle)
        ax.set(xlim=(-1.7, 1.7), ylim=(-1.35, 1.35), aspect="equal")
        n_all = len(self.edges(self.weights.size))
        ax.set_title(f"Cognitive map: the {len(edges)} strongest of {n_all} edges between concepts")
        ax.axis("off")
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def edges(self, n_edges: int) -> list[tuple[int, int, float]]:
        """Return the strongest edges between different concepts as (source, target, weight), strongest first."""
        between = np.where(np.eye(len(self.weights), dtype=bool), 0.0, self.weights)
        order = np.argsort(-np.abs(between), axis=None, kind="stable")[:n_edges]
        pairs = [
            (int(j), int(i), float(between[j, i])) for j, i in zip(*np.unravel_index(order, between.shape), strict=True)
        ]
        return [edge for edge in pairs if edge[2] != 0]

    def _draw_edges(self, ax: Any, edges: list[tuple[int, int, float]], position: Array) -> None:
        from matplotlib.lines import Line2D

        strongest = abs(edges[0][2]) if edges else 1.0
        for j, i, weight in reversed(edges):
            share = abs(weight) / strongest
            ax.annotate(
                "",
                xy=position[i],
                xytext=position[j],
                arrowprops={
                    "arrowstyle": "-|>",
                    "color": POSITIVE if weight > 0 else NEGATIVE,
                    "linestyle": "solid" if weight > 0 else (0, (4, 2)),
                    "linewidth": 0.5 + 2.5 * share,
                    "alpha": 0.35 + 0.6 * share,
                    "connectionstyle": "arc3,rad=0.12",
                    "shrinkA": 14,
                    "shrinkB": 14,
                },
            )
        keys = [
            Line2D([], [], color=POSITIVE, label="raises its target"),
            Line2D([], [], color=NEGATIVE, linestyle=(0, (4, 2)), label="lowers its target"),
            Line2D([], [], color=NEUTRAL, marker="o", linestyle="none", label="size: relevance"),
        ]
        ax.legend(handles=keys, loc="lower center", bbox_to_anchor=(0.5, -0.06), ncols=3, frameon=False)

    def _draw_nodes(self, ax: Any, position: Array, angle: Array) -> None:
        share = self.relevance / (self.relevance.max(initial=0.0) or 1.0)
        ax.scatter(*position.T, s=60 + 440 * share, color=NEUTRAL, edgecolor="white", linewidth=1.5, zorder=3)
        for (x, y), name, a in zip(1.13 * position, self.names, angle, strict=True):
            side = "center" if abs(np.cos(a)) < 0.1 else "left" if x > 0 else "right"
            ax.text(x, y, shortened(str(name)), ha=side, va="center", fontsize=9)
