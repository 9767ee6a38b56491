"""The outer weights R by iteration, and their distribution (the paper's two figures of its case study).

Easy to get wrong: the classes' outer weights on a state add up to 0, because the one-hot adds up to 1. Over all classes
together their mean is 0 and their histogram balanced whatever was learned, and for two classes it is symmetric; so
lines are drawn by class. And weights on states that resemble each other cancel: single ones reach 1e18 where the score
is 3. Their size then says nothing, so they are drawn over their root mean square, and the picture says so.
"""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from ..core.explain.relevance import weights_cancel
from ..core.types import Array
from ..estimators.base import NetworkClassifier
from ..estimators.tabular import TabularClassifier
from .concepts import network_of
from .drawing import MOST_CLASSES, NEGATIVE, NEUTRAL, class_style, data_frame, panels, plain, shortened

EDGES = np.linspace(-4, 4, 41)
"""Bins of the histogram; normalised weights have root mean square 1."""

MOST_GROWTH = 1000.0
"""Growth of the weights over the iterations beyond which their axis is logarithmic."""

MOST_PEAK = 3.0
"""Peak of the histogram over that of the normal curve beyond which the density's axis is logarithmic."""


class OuterWeightsDisplay:
    """Outer weights by iteration, with the 95 % confidence band of their mean, and the histogram of all.

    Weights that cancel each other are drawn over their root mean square: what is left of them is what counts, and
    `WaterfallDisplay` and `relevance` show it. Of more than eight classes, lines are drawn for the first eight.

    Parameters
    ----------
    weights : array of shape (T + 1, M, N)
        Outer weights of each state, concept and class.
    classes : array of shape (N,)
        Class labels.

    Attributes
    ----------
    ax_ : array of two matplotlib Axes
        The lines and the histogram.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import numpy as np
    >>> from cogmap.plots import OuterWeightsDisplay
    >>> weights = np.array([[[1.0], [3.0]], [[-2.0], [-2.0]]])
    >>> OuterWeightsDisplay(weights, np.array(["wet"])).frame()[["class", "iteration", "mean"]]
      class  iteration  mean
    0   wet          0   2.0
    1   wet          1  -2.0
    """

    def __init__(self, weights: Array, classes: NDArray[Any]) -> None:
        self.weights = weights
        self.classes = classes

    @classmethod
    def from_estimator(cls, estimator: NetworkClassifier | TabularClassifier, *, ax: Any = None) -> Self:
        """Draw the `outer_weights_` of a fitted classifier; `ax` as in `plot`."""
        return cls(network_of(estimator).outer_weights_, estimator.classes_).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw both panels.

        Parameters
        ----------
        ax : array of two matplotlib Axes, default=None
            Where to draw lines and histogram; None for a new figure.

        Returns
        -------
        OuterWeightsDisplay
            This display.
        """
        self.ax_ = panels(ax, 2, 2, (5.0, 3.6))
        self.figure_ = self.ax_[0].figure
        self._draw_lines(self.ax_[0])
        self._draw_histogram(self.ax_[1])
        return self

    @property
    def normalised(self) -> Array:
        """All outer weights over their root mean square: their mean stays where it is; shape (T + 1, M, N)."""
        largest = float(np.abs(self.weights).max(initial=0.0)) or 1.0  # so that no square overflows
        scaled: Array = self.weights / largest
        return scaled / (np.sqrt(np.mean(scaled**2)) or 1.0)

    @property
    def cancel(self) -> bool:
        """Whether the weights cancel each other, so that the size of a single one says nothing."""
        return weights_cancel(self.weights)

    def band(self) -> tuple[Array, Array]:
        """Return mean and half the width of its 95 % confidence interval over concepts, as drawn; both (T + 1, N)."""
        drawn = self.normalised if self.cancel else self.weights
        n = drawn.shape[1]
        error = drawn.std(axis=1, ddof=1) / np.sqrt(n) if n > 1 else np.zeros_like(drawn[:, 0])
        return drawn.mean(axis=1), stats.t.ppf(0.975, max(1, n - 1)) * error

    def frame(self) -> Any:
        """Return a pandas DataFrame with mean, low and high by class and iteration, as drawn."""
        mean, half = (part[:, :MOST_CLASSES] for part in self.band())
        T, N = mean.shape
        return data_frame(
            {
                "class": np.repeat(self.classes[:N], T),
                "iteration": np.tile(np.arange(T), N),
                "mean": mean.T.ravel(),
                "low": (mean - half).T.ravel(),
                "high": (mean + half).T.ravel(),
            }
        )

    def histogram_frame(self) -> Any:
        """Return a pandas DataFrame with the bins drawn: their ends, their density, and the normal curve's there."""
        values = self.normalised
        middle = (EDGES[1:] + EDGES[:-1]) / 2
        return data_frame(
            {
                "low": EDGES[:-1],
                "high": EDGES[1:],
                "density": self._density(),
                "normal": stats.norm.pdf(middle, values.mean(), values.std() or 1.0),
            }
        )

    def _density(self) -> Array:
        """Return the density in each bin, of all weights: those beyond the bins count too."""
        return np.histogram(self.normalised, EDGES)[0] / self.weights.size / np.diff(EDGES)

    def _draw_lines(self, ax: Any) -> None:
        from matplotlib.ticker import MaxNLocator

        mean, half = self.band()
        time = np.arange(len(mean))
        marker = "." if len(mean) < 60 else ""
        for k, label in enumerate(self.classes[:MOST_CLASSES]):
            style = class_style(k)
            ax.fill_between(
                time, mean[:, k] - half[:, k], mean[:, k] + half[:, k], color=style["color"], alpha=0.2, linewidth=0
            )
            ax.plot(time, mean[:, k], marker=marker, label=shortened(str(label)), **style)
        ax.axhline(0, color=NEUTRAL, linewidth=0.8)
        ax.xaxis.set_major_locator(MaxNLocator(integer=True))
        n_classes = len(self.classes)
        which = f", first {MOST_CLASSES} of {n_classes} classes" if n_classes > MOST_CLASSES else ""
        note = "\nthey cancel each other, so that single ones say little" * self.cancel
        ax.set_title(f"Outer weights: mean over concepts, 95 % band{which}{note}", fontsize=10)
        ax.set(xlabel="iteration", ylabel="normalised outer weight" if self.cancel else "outer weight")
        size = (np.abs(mean) + half).max(axis=1)
        if (least := size[size > 0].min(initial=np.inf)) * MOST_GROWTH < size.max():
            _symmetric_log(ax, float(least), float(size.max()))
        ax.legend(title="class", fontsize=8, frameon=False, loc="upper left")
        plain(ax)

    def _draw_histogram(self, ax: Any) -> None:
        values = self.normalised
        mean, spread = float(values.mean()), float(values.std()) or 1.0
        ax.bar(
            EDGES[:-1], self._density(), np.diff(EDGES), align="edge", color=NEUTRAL, edgecolor="white", linewidth=0.5
        )
        grid = np.linspace(EDGES[0], EDGES[-1], 200)
        ax.plot(grid, stats.norm.pdf(grid, mean, spread), color=NEGATIVE, label="normal curve, same mean and deviation")
        beyond = int((np.abs(values) > EDGES[-1]).sum())
        note = f"\n{beyond} of {values.size} lie beyond ±{EDGES[-1]:g}" if beyond else ""
        ax.set_title(f"Outer weights over their root mean square{note}", fontsize=10)
        ax.set(xlabel="normalised outer weight", ylabel="density")
        if self._density().max() > MOST_PEAK * stats.norm.pdf(0, 0, spread):
            ax.set_yscale("log")
            ax.set_ylim(0.5 / values.size / np.diff(EDGES)[0], 20 * self._density().max())
            ax.set_ylabel("density (logarithmic)")
        else:
            ax.margins(y=0.2)
        ax.legend(loc="upper left", fontsize=8, frameon=False)
        plain(ax)


def _symmetric_log(ax: Any, least: float, largest: float) -> None:
    """Make the vertical axis logarithmic beyond ±least, with a few powers of ten as ticks."""
    from matplotlib.ticker import NullLocator

    first, last = np.log10(least), np.log10(largest)
    ax.set_yscale("symlog", linthresh=least, linscale=(last - first) / 6)
    powers = 10.0 ** np.unique(np.linspace(np.ceil(first), np.floor(last), 4).round())
    ax.set_yticks([*-powers[::-1], 0, *powers])
    ax.yaxis.set_minor_locator(NullLocator())
    ax.set_ylabel(f"{ax.get_ylabel()} (logarithmic away from 0)")
