"""How the states of a network move while it reasons, one panel a concept.

Easy to get wrong: a band of a class holds the middle 80 % of its rows, iteration by iteration; it is no error of the
mean.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.types import Array
from ..estimators.base import NetworkClassifier
from ..estimators.tabular import TabularClassifier
from ..intake.arrays import on_host
from .concepts import feature_relevance, network_of
from .drawing import MOST_CLASSES, class_style, data_frame, panels, plain, short_names, shortened


class TrajectoryDisplay:
    """State against iteration: the mean of each class, and a band that holds its middle 80 %.

    Of more than eight classes, the eight with the most rows are drawn.

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
    ax_ : array of matplotlib Axes
        The panels, one a concept.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import numpy as np
    >>> from cogmap.plots import TrajectoryDisplay
    >>> states = np.array([[[0.2], [0.4]], [[0.2], [0.6]]])
    >>> display = TrajectoryDisplay(states, np.array(["wet", "wet"]), np.array(["rain"]), np.array([0]))
    >>> display.frame()[["concept", "class", "iteration", "mean"]]
      concept class  iteration  mean
    0    rain   wet          0   0.2
    1    rain   wet          1   0.5
    """

    def __init__(self, trajectory: Array, labels: NDArray[Any], names: NDArray[Any], order: NDArray[np.intp]) -> None:
        self.trajectory = trajectory
        self.labels = labels
        self.names = names
        self.order = order

    @classmethod
    def from_estimator(
        cls,
        estimator: NetworkClassifier | TabularClassifier,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        n_concepts: int = 6,
        ax: Any = None,
    ) -> Self:
        """Draw `n_concepts` concepts of the most relevant features for rows X, by class y, or by predicted class."""
        labels = estimator.predict(on_host(X)) if y is None else np.asarray(on_host(y))
        network = network_of(estimator)
        order = np.argsort(-feature_relevance(network), kind="stable")[:n_concepts]
        return cls(estimator.trajectory(X), labels, network.concept_names_, order).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw one panel for each concept.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, default=None
            One for each concept; None for a new figure.

        Returns
        -------
        TrajectoryDisplay
            This display.
        """
        n_panels = max(1, len(self.order))
        columns = 2 if n_panels == 4 else min(3, n_panels)
        self.ax_ = panels(ax, n_panels, columns, (3.4, 2.5), sharex=True, sharey=True)
        self.figure_ = self.ax_[0].figure
        classes = self.classes()
        for panel, concept, title in zip(self.ax_, self.order, short_names(self.names[self.order], 36), strict=False):
            self._draw_concept(panel, int(concept), classes)
            panel.set_title(title, fontsize=9)
        if ax is None:
            self._explain(columns, classes)
        else:
            self.ax_[0].legend(fontsize=8, frameon=False)
        return self

    def classes(self) -> NDArray[Any]:
        """Return the classes drawn, in their own order."""
        classes, count = np.unique(self.labels, return_counts=True)
        return classes[np.sort(np.argsort(-count, kind="stable")[:MOST_CLASSES])]

    def frame(self) -> Any:
        """Return a pandas DataFrame with mean, low and high state by concept, class and iteration."""
        T, classes = self.trajectory.shape[1], self.classes()
        shown = [self._summary(int(concept), label) for concept in self.order for label in classes]
        mean, low, high = np.concatenate(shown, axis=1) if shown else np.empty((3, 0))
        n_concepts, n_classes = len(self.order), len(classes)
        return data_frame(
            {
                "concept": np.repeat(self.names[self.order], T * n_classes),
                "class": np.tile(np.repeat(classes, T), n_concepts),
                "iteration": np.tile(np.arange(T), n_concepts * n_classes),
                "mean": mean,
                "low": low,
                "high": high,
            }
        )

    def _shown(self, classes: NDArray[Any]) -> str:
        """Say what lines and bands are: of a single row there is no mean."""
        if len(self.labels) == 1:
            return f"one row, of class {shortened(str(self.labels[0]))}"
        n_all = len(np.unique(self.labels))
        which = f"the largest {len(classes)} of {n_all} classes" if n_all > len(classes) else "each class"
        return f"mean of {which}, and the middle 80 % of its rows"

    def _summary(self, concept: int, label: Any) -> Array:
        """Return mean and the ends of the middle 80 % of a class's rows, shape (3, T + 1)."""
        states = self.trajectory[self.labels == label, :, concept]
        return np.vstack([states.mean(axis=0), np.quantile(states, [0.1, 0.9], axis=0)])

    def _draw_concept(self, ax: Any, concept: int, classes: NDArray[Any]) -> None:
        from matplotlib.ticker import MaxNLocator

        time = np.arange(self.trajectory.shape[1])
        for k, label in enumerate(classes):
            mean, low, high = self._summary(concept, label)
            style = class_style(k)
            ax.fill_between(time, low, high, color=style["color"], alpha=0.15, linewidth=0)
            ax.plot(time, mean, label=shortened(str(label)), **style)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        plain(ax)

    def _explain(self, columns: int, classes: NDArray[Any]) -> None:
        """Write title, legend and the labels of the outer axes on a new figure; one row has its class in the title."""
        if len(self.labels) > 1:
            handles, texts = self.ax_[0].get_legend_handles_labels()
            # A key takes about 0.7 inches, and each letter of its text 0.1.
            fit = int(self.figure_.get_figwidth() / (0.7 + 0.1 * max(map(len, texts), default=0)))
            options: dict[str, Any] = {"loc": "outside lower center", "ncols": np.clip(len(texts), 1, fit)}
            self.figure_.legend(handles, texts, title="class", frameon=False, **options)
        self.figure_.suptitle(f"States while the network reasons\n{self._shown(classes)}")
        for panel in self.ax_[-columns:]:
            panel.set_xlabel("iteration")
            panel.tick_params(labelbottom=True)
        for panel in self.ax_[::columns]:
            panel.set_ylabel("activation")
