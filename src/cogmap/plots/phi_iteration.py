"""A cross-validated score for every nonlinearity φ and number of iterations T, as a heat map (a figure of the paper).

Easy to get wrong: T is the largest number of iterations allowed, `max_iter`; reasoning that reaches its fixed point, or
a readout that shrinks late iterations away, makes neighbouring columns equal.
"""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.metrics import cohen_kappa_score, make_scorer
from sklearn.model_selection import check_cv, cross_val_score

from ..core.types import Array
from ..errors import IllConditionedWarning
from ..estimators.base import NetworkClassifier
from ..estimators.tabular import TabularClassifier
from .drawing import data_frame, new_axes

PHIS = (0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
ITERATIONS = (1, 2, 3, 5, 10, 15, 20)
MOST_NUMBERS = 240
"""Cells up to which each shows its number."""


class PhiIterationDisplay:
    """Heat map of a score; the best cell has a frame.

    Parameters
    ----------
    phis : array of shape (n_phis,)
        Values of the nonlinearity φ, the rows.
    iterations : int array of shape (n_iterations,)
        Largest numbers of iterations T, the columns.
    scores : array of shape (n_phis, n_iterations)
        The score of each pair; larger is better.
    scoring : str, default="kappa"
        Name of the score.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import numpy as np
    >>> from cogmap.plots import PhiIterationDisplay
    >>> PhiIterationDisplay(np.array([0.8]), np.array([1, 20]), np.array([[0.7, 0.9]])).frame()
       phi  iterations  score
    0  0.8           1    0.7
    1  0.8          20    0.9
    """

    def __init__(self, phis: Array, iterations: Any, scores: Array, *, scoring: str = "kappa") -> None:
        self.phis = phis
        self.iterations = iterations
        self.scores = scores
        self.scoring = scoring

    @classmethod
    def from_estimator(
        cls,
        estimator: NetworkClassifier | TabularClassifier,
        X: ArrayLike,
        y: ArrayLike,
        *,
        phis: Sequence[float] = PHIS,
        iterations: Sequence[int] = ITERATIONS,
        cv: Any = 5,
        scoring: str | Callable[..., float] = "kappa",
        ax: Any = None,
    ) -> Self:
        """Cross-validate clones of an estimator and draw their mean scores.

        Parameters
        ----------
        estimator : classifier
            Fitted or not; its clones get other `phi` and `max_iter`.
        X : array-like of shape (n_samples, n_features)
            Rows.
        y : array-like of shape (n_samples,)
            Classes.
        phis : sequence of float, default=(0.0, 0.2, 0.4, 0.6, 0.8, 1.0)
            Values of `phi`.
        iterations : sequence of int, default=(1, 2, 3, 5, 10, 15, 20)
            Values of `max_iter`.
        cv : int, splitter or iterable, default=5
            As for scikit-learn's `cross_val_score`; all pairs see the same folds.
        scoring : str or callable, default="kappa"
            "kappa", or whatever scikit-learn's `cross_val_score` takes.
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.

        Returns
        -------
        PhiIterationDisplay
            The display, drawn.
        """
        # A splitter that shuffles anew, or an iterator, would give each pair other folds, or none.
        folds = list(check_cv(cv, y, classifier=True).split(X, y))
        scorer = make_scorer(cohen_kappa_score) if scoring == "kappa" else scoring
        scores = np.empty((len(phis), len(iterations)))
        prefix = "classifier__" if isinstance(estimator, TabularClassifier) else ""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", IllConditionedWarning)
            for i, phi in enumerate(phis):
                for j, T in enumerate(iterations):
                    model = clone(estimator).set_params(**{f"{prefix}phi": phi, f"{prefix}max_iter": T})
                    scores[i, j] = cross_val_score(model, X, y, cv=folds, scoring=scorer, error_score="raise").mean()
        _warn_once(caught, scores.size * len(folds))
        name = scoring if isinstance(scoring, str) else "score"
        return cls(np.array(phis, dtype=np.float64), np.array(iterations), scores, scoring=name).plot(ax=ax)

    def plot(self, ax: Any = None, *, cmap: str = "cividis") -> Self:
        """Draw the heat map.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        cmap : str, default="cividis"
            A matplotlib colour map.

        Returns
        -------
        PhiIterationDisplay
            This display.
        """
        from matplotlib.patches import Rectangle

        n_rows, n_columns = self.scores.shape
        ax = new_axes(figsize=(2.2 + 0.62 * n_columns, 1.7 + 0.42 * n_rows)) if ax is None else ax
        picture = ax.imshow(self.scores, origin="lower", aspect="auto", cmap=cmap)
        ax.set_xticks(range(n_columns), [str(T) for T in self.iterations])
        ax.set_yticks(range(n_rows), [f"{phi:g}" for phi in self.phis])
        ax.set(xlabel="iterations T (max_iter)", ylabel="nonlinearity φ")
        if self.scores.size <= MOST_NUMBERS:
            self._write(ax, picture)
        best = np.unravel_index(np.nanargmax(self.scores), self.scores.shape)
        ax.add_patch(
            Rectangle((best[1] - 0.46, best[0] - 0.44), 0.92, 0.88, fill=False, edgecolor="#d55e00", linewidth=2.5)
        )
        ax.set_title(
            f"Cross-validated {self.scoring}: best {self.scores[best]:.3f}\n"
            f"at φ = {self.phis[best[0]]:g}, T = {self.iterations[best[1]]}",
            fontsize=10,
        )
        ax.figure.colorbar(picture, ax=ax, label=self.scoring)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def frame(self) -> Any:
        """Return a pandas DataFrame with the score of each φ and number of iterations."""
        return data_frame(
            {
                "phi": np.repeat(self.phis, len(self.iterations)),
                "iterations": np.tile(self.iterations, len(self.phis)),
                "score": self.scores.ravel(),
            }
        )

    def _write(self, ax: Any, picture: Any) -> None:
        """Write each score in its cell, dark on light and light on dark."""
        digits = 2 if np.ptp(self.scores[np.isfinite(self.scores)]) >= 0.05 else 3
        for (i, j), score in np.ndenumerate(self.scores):
            red, green, blue, _ = picture.cmap(picture.norm(score))
            light = 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.45
            text = f"{score:.{digits}f}".replace("-", "−")
            ax.text(j, i, text, ha="center", va="center", fontsize=8, color="black" if light else "white")


def _warn_once(caught: list[warnings.WarningMessage], n_fits: int) -> None:
    """Pass on what the fits warned of; for ill-conditioned readouts, one warning for all."""
    conditions = [warning for warning in caught if issubclass(warning.category, IllConditionedWarning)]
    for other in (warning for warning in caught if warning not in conditions):
        warnings.warn_explicit(other.message, other.category, other.filename, other.lineno)
    if conditions:
        warnings.warn(
            f"{len(conditions)} of {n_fits} fits have an ill-conditioned readout: rounding decides part of their "
            "scores. Use alpha='loo', or fewer iterations.",
            IllConditionedWarning,
            stacklevel=3,
        )
