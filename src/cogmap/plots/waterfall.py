"""How the score of one row and class forms, iteration by iteration, from the base to the score.

score = base + Σ_t Σ_i contribution[t, i] + cases: the bars start where the one before ends, and the last ends at the
score.

Easy to get wrong: a bar is the sum over the concepts of one iteration. Concepts of both signs can hide in a short bar,
so the largest are named beside it, each with its own sign.
"""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from ..core.activation import Array
from ..explain import Explanation
from .drawing import HATCH, NEGATIVE, NEUTRAL, POSITIVE, data_frame, new_axes, plain, short_names, signed


@dataclass(frozen=True)
class Step:
    """One bar: label, first iteration, start and end, and each concept's part in it (none for the cases)."""

    label: str
    first: int
    start: float
    end: float
    parts: Array


@dataclass(frozen=True)
class Row:
    """One row of the picture: its label, the text beside it, and its bar where it has one."""

    label: str
    detail: str
    step: Step | None = None


class WaterfallDisplay:
    """The score of one row and class as a waterfall through the iterations.

    Parameters
    ----------
    base : float
        Score before any state is read.
    contributions : array of shape (T + 1, M)
        What each concept adds to the score at each iteration.
    names : array of shape (M,)
        Names of the concepts.
    score : float
        The score: base, contributions and cases together.
    cases : float, default=0.0
        What the remembered training rows add to it.
    stopped_at : int, default=None
        Iteration before which the gate ended the reasoning of the row; None where it did not. In a stack, later
        iterations of other members may still contribute.
    class_name : str, default=None
        Class that the score belongs to.

    Attributes
    ----------
    ax_ : matplotlib Axes
        The axes drawn on.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> import numpy as np
    >>> from cogmap.plots import WaterfallDisplay
    >>> display = WaterfallDisplay(0.5, np.array([[2.0, -1.0], [0.0, 0.5]]), np.array(["rain", "sun"]), 2.0)
    >>> display.frame()
      step  start  end  change largest_concept
    0    0    0.5  1.5     1.0            rain
    1    1    1.5  2.0     0.5             sun
    """

    def __init__(
        self,
        base: float,
        contributions: Array,
        names: NDArray[Any],
        score: float,
        *,
        cases: float = 0.0,
        stopped_at: int | None = None,
        class_name: str | None = None,
    ) -> None:
        self.base = base
        self.contributions = contributions
        self.names = names
        self.score = score
        self.cases = cases
        self.stopped_at = stopped_at
        self.class_name = class_name

    @classmethod
    def from_explanation(cls, explanation: Explanation, row: int, label: Any, **options: Any) -> Self:
        """Draw how the score of one class came about for the row at a position; `options` as in `plot`."""
        found = np.flatnonzero(explanation.classes == label)
        if len(found) == 0:
            raise ValueError(f"Class {label!r} is not explained here: choose one of {explanation.classes.tolist()}.")
        stops = explanation.stopped_at[row]
        display = cls(
            explanation.base[found[0]],
            explanation.contributions(label)[row],
            explanation.estimator.concept_names_,
            explanation.scores[row, explanation.estimator.classes_ == label][0],
            cases=explanation.cases[row, found[0]],
            # In a stack, the member that stops first.
            stopped_at=int(stops[stops >= 0].min()) if (stops >= 0).any() else None,
            class_name=str(label),
        )
        return display.plot(**options)

    def plot(self, ax: Any = None, *, n_concepts: int = 2, n_iterations: int = 12) -> Self:
        """Draw a bar for each iteration, then for the cases.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        n_concepts : int, default=2
            Number of concepts named beside each bar, the largest.
        n_iterations : int, default=12
            Largest number of bars for iterations; where there are more iterations, the last bar holds the rest.

        Returns
        -------
        WaterfallDisplay
            This display.
        """
        rows = self._rows(n_iterations, n_concepts)
        if ax is None:
            # A letter of a detail takes about 0.07 inches.
            width = 5 + 0.07 * max(len(row.detail) for row in rows)
            ax = new_axes(figsize=(max(8.0, width), 1.9 + 0.3 * len(rows)))
        for y, row in enumerate(rows):
            if row.step is not None:
                self._draw_step(ax, y, row.step)
        for y, value in ((0, self.base), (len(rows) - 1, self.score)):
            ax.plot([value], [y], marker="D", color="black", markersize=6, linestyle="none", zorder=3)
        self._explain(ax, rows)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def steps(self, n_iterations: int = 12) -> list[Step]:
        """Return the bars in order; trailing iterations that add nothing are left out."""
        used = np.flatnonzero(self.contributions.any(axis=1))
        last = int(max(used.max(initial=-1), 0 if self.stopped_at is None else self.stopped_at - 1))
        alone = n_iterations - 1 if last >= n_iterations else last + 1
        parts = [(str(t), t, self.contributions[t]) for t in range(alone)]
        if alone <= last:
            label = str(last) if alone == last else f"{alone}–{last}"
            parts.append((label, alone, self.contributions[alone : last + 1].sum(axis=0)))
        if self.cases:
            parts.append(("cases", last + 1, np.array([])))
        found, total = [], self.base
        for label, first, part in parts:
            end = total + float(part.sum() if len(part) else self.cases)
            found.append(Step(label, first, total, end, part))
            total = end
        return found

    def frame(self, *, n_iterations: int = 12) -> Any:
        """Return a pandas DataFrame with a row for each bar: iteration, start, end, change, and its largest concept."""
        steps = self.steps(n_iterations)
        largest = [str(self.names[np.abs(s.parts).argmax()]) if s.parts.any() else "" for s in steps]
        return data_frame(
            {
                "step": [s.label for s in steps],
                "start": [s.start for s in steps],
                "end": [s.end for s in steps],
                "change": [s.end - s.start for s in steps],
                "largest_concept": largest,
            }
        )

    def _rows(self, n_iterations: int, n_concepts: int) -> list[Row]:
        """Return the rows of the picture from top to bottom."""
        steps, names = self.steps(n_iterations), short_names(self.names, 28)
        rows = [Row(step.label, _detail(step, names, n_concepts), step) for step in steps]
        if self.stopped_at is not None:
            before = sum(step.first < self.stopped_at and len(step.parts) > 0 for step in steps)
            what = "part of the reasoning" if self.contributions[self.stopped_at :].any() else "the reasoning"
            rows.insert(before, Row("gate", f"ended {what} before iteration {self.stopped_at}"))
        return [Row("base", _number(self.base)), *rows, Row("score", _number(self.score))]

    def _draw_step(self, ax: Any, y: int, step: Step) -> None:
        rises = step.end >= step.start
        bar = ax.barh(y, step.end - step.start, 0.62, left=step.start, color=POSITIVE if rises else NEGATIVE)
        bar[0].set(hatch="" if rises else HATCH, edgecolor="white", linewidth=0.5)
        ax.plot([step.end, step.end], [y, y + 1], color=NEUTRAL, linewidth=0.8, zorder=0)

    def _explain(self, ax: Any, rows: list[Row]) -> None:
        """Write title, legend, the labels on the left and the details on the right."""
        from matplotlib.patches import Patch

        ax.set_yticks(range(len(rows)), [row.label for row in rows])
        for y, row in enumerate(rows):
            ax.text(1.02, y, row.detail, transform=ax.get_yaxis_transform(), va="center", fontsize=8)
        ax.set_ylim(len(rows) - 0.4, -0.6)
        ax.axvline(self.base, color=NEUTRAL, linewidth=0.8, linestyle=":", zorder=0)
        of_class = "" if self.class_name is None else f" of class {self.class_name}"
        ax.xaxis.set_major_formatter("{x:g}")
        ax.locator_params(axis="x", nbins=5)
        ax.set(xlabel=f"score{of_class}", ylabel="iteration")
        ax.set_title(f"How the score{of_class} forms\nnamed: the largest concepts of each iteration", fontsize=11)
        keys = [
            Patch(facecolor=POSITIVE, label="raises the score"),
            Patch(facecolor=NEGATIVE, hatch=HATCH, edgecolor="white", label="lowers the score"),
        ]
        ax.legend(handles=keys, loc="upper left", bbox_to_anchor=(1.02, -0.02), ncols=1, fontsize=8, frameon=False)
        ax.use_sticky_edges = False
        ax.margins(x=0.05)
        plain(ax)


def _detail(step: Step, names: list[str], n_concepts: int) -> str:
    largest = np.argsort(-np.abs(step.parts), kind="stable")[:n_concepts]
    named = [f"{names[i]} {signed(step.parts[i])}" for i in largest if step.parts[i] != 0]
    total = signed(step.end - step.start)
    return f"{total} :  {', '.join(named)}" if named else total


def _number(value: float) -> str:
    return f"{value:.3g}".replace("-", "−")
