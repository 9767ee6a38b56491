"""How the states of a network move while it reasons, one panel a concept."""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.activation import Array
from ..core.relevance import paper_relevance
from ..estimator import NetworkClassifier
from .drawing import CLASS_COLOURS, new_axes, shortened


class TrajectoryDisplay:
    """State against iteration: the mean of each class, and a band that holds its middle 80 %.

    Parameters
    ----------
    trajectory : array of shape (n, T + 1, M)
        States A⁰ … Aᵀ of some rows.
    labels : array of shape (n,)
        Class of each row.
    names : array of shape (M,)
        Names of the concepts.
    order : int array
        Concepts to draw, most relevant first.

    Attributes
    ----------
    axes_ : array of matplotlib Axes
        The panels, one a concept.
    figure_ : matplotlib Figure
        Their figure.
    """

    def __init__(self, trajectory: Array, labels: NDArray[Any], names: NDArray[Any], order: NDArray[np.intp]) -> None:
        self.trajectory = trajectory
        self.labels = labels
        self.names = names
        self.order = order

    @classmethod
    def from_estimator(
        cls, estimator: NetworkClassifier, X: ArrayLike, y: ArrayLike | None = None, *, n_concepts: int = 6
    ) -> Self:
        """Draw the `n_concepts` most relevant concepts for rows X, by class y, or by predicted class without y."""
        labels = estimator.predict(X) if y is None else np.asarray(y)
        relevance = paper_relevance(estimator.inner_weights_, estimator.outer_weights_)
        order = np.argsort(-relevance, kind="stable")[:n_concepts]
        return cls(estimator.trajectory(X), labels, estimator.concept_names_, order).plot()

    def plot(self) -> Self:
        """Draw one panel for each concept on a new figure."""
        columns = min(3, len(self.order))
        rows = -(-len(self.order) // columns)
        grid = {"nrows": rows, "ncols": columns, "sharex": True, "sharey": True, "squeeze": False}
        self.axes_ = new_axes(figsize=(3.2 * columns, 2.4 * rows + 0.6), **grid).ravel()
        self.figure_ = self.axes_[0].figure
        for ax, concept in zip(self.axes_, self.order, strict=False):
            self._draw_concept(ax, int(concept))
        for ax in self.axes_[len(self.order) :]:
            ax.set_visible(False)
        handles, texts = self.axes_[0].get_legend_handles_labels()
        self.figure_.legend(handles, texts, loc="outside lower center", ncols=4, frameon=False)
        self.figure_.suptitle("States while the network reasons: class mean, and the middle 80 % of its rows")
        for ax in self.axes_[len(self.order) - columns : len(self.order)]:
            ax.set_xlabel("iteration")
            ax.tick_params(labelbottom=True)
        for ax in self.axes_[::columns]:
            ax.set_ylabel("activation")
        return self

    def _draw_concept(self, ax: Any, concept: int) -> None:
        from matplotlib.ticker import MaxNLocator

        time = np.arange(self.trajectory.shape[1])
        for k, label in enumerate(np.unique(self.labels)):
            states = self.trajectory[self.labels == label, :, concept]
            low, high = np.quantile(states, [0.1, 0.9], axis=0)
            colour = CLASS_COLOURS[k % len(CLASS_COLOURS)]
            ax.fill_between(time, low, high, color=colour, alpha=0.15, linewidth=0)
            ax.plot(time, states.mean(axis=0), color=colour, label=shortened(str(label)))
        ax.set_title(shortened(str(self.names[concept]), 30), fontsize=10)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        ax.spines[["top", "right"]].set_visible(False)
