"""How the evidence for one class of one row comes about: by feature, or iteration by iteration.

By feature, evidence = start + Σ_j attribution[j], where the start is the evidence for the rows with which the row is
compared. By iteration, evidence = start + Σ_t Σ_i contribution[t, i] + cases, where the start is what every row gets.
Bars start where the one before ends, and the last ends at the evidence.

Easy to get wrong: a bar of an iteration is the sum over its concepts. Concepts of both signs can hide in a short bar,
so the largest are named beside it, each with its own sign.
"""

from dataclasses import dataclass
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.types import Array
from ..estimators.base import NetworkClassifier
from ..estimators.tabular import TabularClassifier
from ..explain.evidence import by_size
from ..explain.explanation import Explanation
from .drawing import (
    HATCH,
    NEGATIVE,
    NEUTRAL,
    POSITIVE,
    data_frame,
    evidence_text,
    new_axes,
    odds_mark,
    plain,
    short_names,
    shortened,
    signed,
)

By = Literal["feature", "iteration"]


@dataclass(frozen=True)
class Bar:
    """One bar: label, first iteration or feature, start and end, and each concept's part (none but by iteration)."""

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
    step: Bar | None = None


class WaterfallDisplay:
    """The evidence for one class of one row as a waterfall, by feature or through the iterations.

    Parameters
    ----------
    start : float
        Evidence before any feature, or before any state is read.
    contributions : array of shape (n_features,) or (T + 1, M)
        What each feature adds, or what each concept adds at each iteration.
    names : array of shape (n_features,) or (M,)
        Names of the features, with their values where these are to be read, or of the concepts.
    evidence : float
        The evidence: start, contributions and cases together.
    cases : float, default=0.0
        What the remembered training rows add to it, by iteration.
    stopped_at : int, default=None
        Iteration before which the gate ended the reasoning of the row; None where it did not. In a stack, later
        iterations of other members may still contribute.
    class_name : str, default=None
        Class that the evidence is for.
    unit : str, default="evidence"
        What the numbers are, for the axis.
    compared : str, default="start"
        Name of the start by feature: what the row is compared with.

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
    >>> display = WaterfallDisplay(0.5, np.array([-1.0, 2.0]), np.array(["sun = 3", "rain = 7"]), 1.5)
    >>> display.frame()
           step  start  end  change
    0  rain = 7    0.5  2.5     2.0
    1   sun = 3    2.5  1.5    -1.0
    >>> display = WaterfallDisplay(0.5, np.array([[2.0, -1.0], [0.0, 0.5]]), np.array(["rain", "sun"]), 2.0)
    >>> display.frame()
      step  start  end  change largest_concept
    0    0    0.5  1.5     1.0            rain
    1    1    1.5  2.0     0.5             sun
    """

    def __init__(
        self,
        start: float,
        contributions: Array,
        names: NDArray[Any],
        evidence: float,
        *,
        cases: float = 0.0,
        stopped_at: int | None = None,
        class_name: str | None = None,
        unit: str = "evidence",
        compared: str = "start",
    ) -> None:
        self.start = start
        self.contributions = contributions
        self.names = names
        self.evidence = evidence
        self.cases = cases
        self.stopped_at = stopped_at
        self.class_name = class_name
        self.unit = unit
        self.compared = compared

    @classmethod
    def from_estimator(
        cls,
        estimator: NetworkClassifier | TabularClassifier,
        X: ArrayLike,
        *,
        row: int = 0,
        label: Any = None,
        by: By = "feature",
        **options: Any,
    ) -> Self:
        """Draw why the row at a position of X got its class, or what there is for another; `options` as in `plot`."""
        chosen = X.iloc[[row]] if hasattr(X, "iloc") else np.asarray(X)[[row]]
        explanation = estimator.explain(chosen)
        shown = explanation.predicted[0] if label is None else label
        return cls.from_explanation(explanation, 0, shown, by=by, **options)

    @classmethod
    def from_explanation(
        cls, explanation: Explanation, row: int, label: Any, *, by: By = "feature", **options: Any
    ) -> Self:
        """Draw how the evidence for one class came about for the row at a position.

        Parameters
        ----------
        explanation : Explanation
            What an estimator's `explain` returned.
        row : int
            Position of the row in it.
        label : class label
            A class that it explains.
        by : {"feature", "iteration"}, default="feature"
            One bar for each feature, beginning with the rows that it is compared with; or for each iteration of the
            reasoning, beginning with what every row gets.
        **options
            As in `plot`.

        Returns
        -------
        WaterfallDisplay
            The display, drawn.
        """
        if by not in ("feature", "iteration"):
            raise ValueError(f"by={by!r} is unknown: use 'feature' or 'iteration'.")
        places = np.flatnonzero(explanation.classes == label)
        if len(places) == 0:
            raise ValueError(f"Class {label!r} is not explained here: choose one of {explanation.classes.tolist()}.")
        make = cls._by_feature if by == "feature" else cls._by_iteration
        return make(explanation, row, label, int(places[0])).plot(**options)

    @classmethod
    def _by_feature(cls, explanation: Explanation, row: int, label: Any, code: int) -> Self:
        values = explanation.values[row]
        names = [f"{name} = {_value(value)}" for name, value in zip(explanation.feature_names, values, strict=True)]
        return cls(
            float(explanation.baseline_scores[row, code]),
            explanation.attributions[row, :, code],
            np.array(names, dtype=object),
            float(explanation.evidence[row, code]),
            class_name=str(label),
            unit=explanation.unit(label),
            compared=compared_with(explanation),
        )

    @classmethod
    def _by_iteration(cls, explanation: Explanation, row: int, label: Any, code: int) -> Self:
        stops = explanation.stopped_at[row]
        return cls(
            float(explanation.base[code]),
            explanation.contributions(label)[row],
            explanation.fitted.concept_names,
            float(explanation.evidence[row, code]),
            cases=float(explanation.cases[row, code]),
            # In a stack, the member that stops first.
            stopped_at=int(stops[stops >= 0].min()) if (stops >= 0).any() else None,
            class_name=str(label),
            unit=explanation.unit(label),
        )

    @property
    def by(self) -> By:
        """What the bars are."""
        return "feature" if self.contributions.ndim == 1 else "iteration"

    def plot(self, ax: Any = None, *, n_concepts: int = 2, n_bars: int = 12) -> Self:
        """Draw the bars.

        Parameters
        ----------
        ax : matplotlib Axes, default=None
            Axes to draw on; None for a new figure.
        n_concepts : int, default=2
            Number of concepts named beside the bar of an iteration, the largest.
        n_bars : int, default=12
            Largest number of bars for features or iterations; where there are more, the last bar holds the rest.

        Returns
        -------
        WaterfallDisplay
            This display.
        """
        rows = self._rows(n_bars, n_concepts)
        if ax is None:
            # A letter of a detail takes about 0.07 inches, one of a label 0.08.
            width = 4 + 0.07 * max(len(row.detail) for row in rows) + 0.08 * max(len(row.label) for row in rows)
            ax = new_axes(figsize=(max(8.0, width), 1.9 + 0.3 * len(rows)))
        for y, row in enumerate(rows):
            if row.step is not None:
                self._draw_step(ax, y, row.step)
        for y, value in ((0, self.start), (len(rows) - 1, self.evidence)):
            ax.plot([value], [y], marker="D", color="black", markersize=6, linestyle="none", zorder=3)
        self._explain(ax, rows)
        self.ax_, self.figure_ = ax, ax.figure
        return self

    def steps(self, n_bars: int = 12) -> list[Bar]:
        """Return the bars in order: features by size, or iterations, without the last ones that add nothing."""
        parts = self._feature_parts(n_bars) if self.by == "feature" else self._iteration_parts(n_bars)
        if self.cases:
            parts.append(("cases", len(self.contributions), self.cases, np.array([])))
        bars, total = [], self.start
        for label, first, change, part in parts:
            bars.append(Bar(label, first, total, total + change, part))
            total = total + change
        return bars

    def frame(self, *, n_bars: int = 12) -> Any:
        """Return a pandas DataFrame with a row for each bar: step, start, end, change; its largest concept, if any."""
        steps = self.steps(n_bars)
        columns: dict[str, Any] = {
            "step": [s.label for s in steps],
            "start": [s.start for s in steps],
            "end": [s.end for s in steps],
            "change": [s.end - s.start for s in steps],
        }
        if self.by == "iteration":
            largest = [str(self.names[np.abs(s.parts).argmax()]) if s.parts.any() else "" for s in steps]
            columns["largest_concept"] = largest
        return data_frame(columns)

    def _feature_parts(self, n_bars: int) -> list[tuple[str, int, float, Array]]:
        """Return label, number, change and no concepts of the largest features, and of the others together."""
        many = np.count_nonzero(self.contributions) > n_bars
        alone, rest = by_size(self.contributions, n_bars - 1 if many else n_bars)
        names, none = short_names(self.names, 40), np.array([])
        parts = [(names[j], j, float(self.contributions[j]), none) for j in alone]
        if rest:
            parts.append((f"{len(rest)} others", rest[0], float(self.contributions[rest].sum()), none))
        return parts

    def _iteration_parts(self, n_bars: int) -> list[tuple[str, int, float, Array]]:
        """Return label, number, change and concepts of the iterations, the last ones together."""
        used = np.flatnonzero(self.contributions.any(axis=1))
        last = int(max(used.max(initial=-1), 0 if self.stopped_at is None else self.stopped_at - 1))
        alone = n_bars - 1 if last >= n_bars else last + 1
        parts = [(str(t), t, self.contributions[t]) for t in range(alone)]
        if alone <= last:
            label = str(last) if alone == last else f"{alone}–{last}"
            parts.append((label, alone, self.contributions[alone : last + 1].sum(axis=0)))
        return [(label, t, float(part.sum()), part) for label, t, part in parts]

    def _rows(self, n_bars: int, n_concepts: int) -> list[Row]:
        """Return the rows of the picture from top to bottom."""
        steps, names = self.steps(n_bars), short_names(self.names, 28)
        rows = [Row(step.label, _detail(step, names, n_concepts), step) for step in steps]
        if self.stopped_at is not None:
            before = sum(step.first < self.stopped_at and len(step.parts) > 0 for step in steps)
            what = "part of the reasoning" if self.contributions[self.stopped_at :].any() else "the reasoning"
            rows.insert(before, Row("gate", f"ended {what} before iteration {self.stopped_at}"))
        first = self.compared if self.by == "feature" else "every row"
        return [Row(first, evidence_text(self.start)), *rows, Row("this row", evidence_text(self.evidence))]

    def _draw_step(self, ax: Any, y: int, step: Bar) -> None:
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
        ax.axvline(self.start, color=NEUTRAL, linewidth=0.8, linestyle=":", zorder=0)
        ax.xaxis.set_major_formatter("{x:g}")
        ax.locator_params(axis="x", nbins=5)
        ax.set(xlabel=self.unit, ylabel="iteration" if self.by == "iteration" else None)
        ax.set_title(self._title(), fontsize=11)
        keys = [
            Patch(facecolor=POSITIVE, label="speaks for the class"),
            Patch(facecolor=NEGATIVE, hatch=HATCH, edgecolor="white", label="speaks against it"),
        ]
        ax.legend(handles=keys, loc="upper left", bbox_to_anchor=(1.02, -0.02), ncols=1, fontsize=8, frameon=False)
        ax.use_sticky_edges = False
        ax.margins(x=0.05)
        plain(ax)

    def _title(self) -> str:
        of_class = "" if self.class_name is None else f" for class {shortened(self.class_name)}"
        if self.by == "feature":
            return f"What speaks{of_class}, and what against it\nbeside: evidence, and what it does to the odds"
        return f"How the evidence{of_class} forms\nnamed: the largest concepts of each iteration"


def compared_with(explanation: Explanation) -> str:
    """Say with what the rows of an explanation are compared."""
    return "other rows" if explanation.baseline_values is None else "the baseline"


def _detail(step: Bar, names: list[str], n_concepts: int) -> str:
    """Return the change, and the odds or the largest concepts behind it."""
    if not len(step.parts):
        return f"{evidence_text(step.end - step.start)}   {odds_mark(step.end - step.start)}"
    largest = np.argsort(-np.abs(step.parts), kind="stable")[:n_concepts]
    named = [f"{names[i]} {signed(step.parts[i])}" for i in largest if step.parts[i] != 0]
    total = signed(step.end - step.start)
    return f"{total} :  {', '.join(named)}" if named else total


def _value(value: Any) -> str:
    """Return a feature's value as text."""
    if value is None:
        return "missing"
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)
