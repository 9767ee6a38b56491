"""Relevance of the features as bars, with intervals, and by class where it is given by class.

Easy to get wrong: features are ordered by the size of their relevance; a relevance with a sign keeps it in the picture.
"""

from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.types import Array
from ..estimators.base import NetworkClassifier
from ..estimators.tabular import TabularClassifier
from ..intake.checks import feature_names
from .drawing import CLASS_COLOURS, HATCH, MOST_CLASSES, NEGATIVE, POSITIVE, data_frame, new_axes, plain, short_names

CAPTIONS = {
    "model": "how much the decision moves with it",
    "paper": "absolute weights that leave it",
    "data": "how much it carries of the decision in the data",
}


class RelevanceDisplay:
    """Relevance of each feature.

    Of more than eight classes, the first eight are drawn.

    Parameters
    ----------
    relevance : array of shape (n_features,) or (n_classes, n_features)
        Relevance, for all classes together or for each.
    names : array of shape (n_features,)
        Names of the features.
    low, high : arrays of the shape of `relevance`, default=None
        Ends of its intervals; None where there are none.
    classes : array of shape (n_classes,), default=None
        Class labels, where relevance is by class.
    kind : {"model", "paper", "data"}, default="model"
        Kind of relevance, for the label of its axis.
    level : float, default=0.95
        Level of the intervals, for the title.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import numpy as np
    >>> from cogmap.plots import RelevanceDisplay
    >>> RelevanceDisplay(np.array([0.2, 0.7]), np.array(["rain", "sun"])).frame()
      feature  relevance
    0     sun        0.7
    1    rain        0.2
    """

    def __init__(
        self,
        relevance: Array,
        names: NDArray[Any],
        *,
        low: Array | None = None,
        high: Array | None = None,
        classes: NDArray[Any] | None = None,
        kind: Literal["model", "paper", "data"] = "model",
        level: float = 0.95,
    ) -> None:
        self.relevance = relevance
        self.names = names
        self.low = low
        self.high = high
        self.classes = classes
        self.kind = kind
        self.level = level

    @classmethod
    def from_estimator(
        cls,
        estimator: NetworkClassifier | TabularClassifier,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        *,
        kind: Literal["model", "paper", "data"] = "model",
        per_class: bool = False,
        n_bootstrap: int = 200,
        level: float = 0.95,
        random_state: int = 0,
        n_features: int | None = 20,
        ax: Any = None,
    ) -> Self:
        """Draw the relevance of a fitted classifier.

        Parameters
        ----------
        estimator : LTCNClassifier, LTCNClassifierCV or TabularClassifier
            Fitted classifier; of a TabularClassifier the columns are drawn, without intervals.
        X : array-like of shape (n_samples, n_features), default=None
            Rows; None for the summary of the training rows that the model keeps, without intervals.
        y : array-like of shape (n_samples,), default=None
            Their classes, passed on to the bootstrap.
        kind : {"model", "paper", "data"}, default="model"
            Kind of relevance.
        per_class : bool, default=False
            Relevance for each class.
        n_bootstrap : int, default=200
            Number of resamples for the intervals; 0 for none.
        level : float, default=0.95
            Level of the intervals.
        random_state : int, default=0
            Seed of the resamples.
        n_features : int or None, default=20
            Number of features drawn; None for all.
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.

        Returns
        -------
        RelevanceDisplay
            The display, drawn.
        """
        low = high = None
        if X is None or n_bootstrap == 0 or not hasattr(estimator, "relevance_intervals"):
            estimate = estimator.relevance(X, kind=kind, per_class=per_class)
        else:
            options: dict[str, Any] = {"n_bootstrap": n_bootstrap, "level": level, "random_state": random_state}
            estimate, low, high = estimator.relevance_intervals(X, y, kind=kind, per_class=per_class, **options)
        names = np.array(feature_names(estimator), dtype=object)
        classes = estimator.classes_ if per_class else None
        display = cls(estimate, names, low=low, high=high, classes=classes, kind=kind, level=level)
        return display.plot(n_features=n_features, ax=ax)

    def plot(self, ax: Any = None, *, n_features: int | None = 20) -> Self:
        """Draw a bar for each of the `n_features` most relevant features, or for each of their classes.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        n_features : int or None, default=20
            Number of features drawn; None for all.

        Returns
        -------
        RelevanceDisplay
            This display.
        """
        order, n_groups = self.order(n_features), len(self._groups())
        if ax is None:
            ax = new_axes(figsize=(7.5, 1.6 + len(order) * max(0.28, 0.13 * n_groups)))
        height = 0.8 / n_groups
        for k in range(n_groups):
            middle: Array = np.arange(len(order), dtype=np.float64) + (k - (n_groups - 1) / 2) * height
            self._draw_group(ax, k, order, middle, height)
        ax.set_yticks(np.arange(len(order)), short_names(self.names[order], 36))
        ax.set_ylim(len(order) - 0.4, -0.6)
        ax.axvline(0, color="black", linewidth=0.8)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.locator_params(axis="x", nbins=5)
        ax.set_xlabel(f"relevance ({self.kind}): {CAPTIONS[self.kind]}")
        self._explain(ax, len(order))
        plain(ax)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def order(self, n_features: int | None = None) -> NDArray[np.intp]:
        """Return the features drawn, the most relevant first: by size, over all classes."""
        size = np.abs(np.atleast_2d(self.relevance)).mean(axis=0)
        return np.argsort(-size, kind="stable")[:n_features]

    def frame(self, *, n_features: int | None = None) -> Any:
        """Return a pandas DataFrame with a row for each bar, the most relevant feature first."""
        order = self.order(n_features)
        groups = self._groups()
        columns: dict[str, Any] = {"feature": np.repeat(self.names[order], len(groups))}
        if self.classes is not None:
            columns["class"] = np.tile(self.classes[groups], len(order))
        values = {"relevance": self.relevance, "low": self.low, "high": self.high}
        for name, value in values.items():
            if value is not None:
                columns[name] = np.atleast_2d(value)[groups][:, order].T.ravel()
        return data_frame(columns)

    def _groups(self) -> NDArray[np.intp]:
        """Return the classes drawn, by number."""
        return np.arange(min(MOST_CLASSES, len(np.atleast_2d(self.relevance))))

    def _draw_group(self, ax: Any, k: int, order: NDArray[np.intp], middle: Array, height: float) -> None:
        value = np.atleast_2d(self.relevance)[k, order]
        one = self.classes is None
        colours = [NEGATIVE if v < 0 else POSITIVE for v in value] if one else CLASS_COLOURS[k]
        bars = ax.barh(middle, value, height, color=colours, edgecolor="white", linewidth=0.5)
        for bar in bars if one else []:
            bar.set_hatch(HATCH if bar.get_width() < 0 else "")
        if self.low is not None and self.high is not None:
            low, high = (np.atleast_2d(end)[k, order] for end in (self.low, self.high))
            # Lines and not error bars: a bootstrap interval need not hold the estimate.
            ax.hlines(middle, low, high, color="black", linewidth=1.2)

    def _explain(self, ax: Any, n_shown: int) -> None:
        """Write title and legend."""
        from matplotlib.patches import Patch

        n_all = len(self.names)
        title = f"The {n_shown} most relevant of {n_all} features" if n_shown < n_all else "Relevance of the features"
        if self.low is not None:
            title += f"\nlines: {100 * self.level:g} % intervals"
        keys: list[Any] = []
        if self.classes is not None:
            groups = self._groups()
            keys = [Patch(color=CLASS_COLOURS[k], label=str(self.classes[k])) for k in groups]
            if len(groups) < len(self.classes):
                title += f"\nthe first {len(groups)} of {len(self.classes)} classes"
        elif (self.relevance < 0).any():
            keys = [
                Patch(facecolor=POSITIVE, label="raises"),
                Patch(facecolor=NEGATIVE, hatch=HATCH, edgecolor="white", label="lowers"),
            ]
        if keys:
            heading = "class" if self.classes is not None else None
            ax.legend(handles=keys, title=heading, loc="upper left", bbox_to_anchor=(1.01, 1), frameon=False)
        ax.set_title(title, fontsize=11)
