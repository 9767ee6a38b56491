"""How features act: curves for numbers, bars for categories, maps for two features.

Easy to get wrong: curves are accumulated from small moves of rows (`cogmap.effects.effects`). Their level is the mean
prediction of all rows, and their differences are what the feature does; with features that go along with each other, a
curve of probabilities may leave the range from 0 to 1.
"""

from collections.abc import Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.types import Array
from ..effects.effects import effects_of
from ..effects.results import MISSING, UNITS, FeatureEffect, Kind, PairEffect, axis_numbers
from .drawing import CLASS_COLOURS, MOST_CLASSES, NEUTRAL, class_style, panels, plain, short_names, shortened

MOST_BARS = 24
"""Values of a category that are drawn, those with most rows."""

FEW = 4
"""Points that are few enough to have a tick each."""

BAND = "band and thin lines: the middle 80 % of single rows around their mean; marks at the edge: rows"
RUG = "thin lines: the middle 80 % of single rows around their mean; marks at the edge: rows"
TILES = "dots: rows; grey: no row is near"


class EffectDisplay:
    """How the predictions of a classifier move with features.

    Of more than eight classes, the first eight are drawn. The spread of single rows is drawn as a band where there is
    one class, since bands of several hide each other; `frame` has it for each.

    Parameters
    ----------
    effects : sequence of FeatureEffect and PairEffect
        What `cogmap.effects.feature_effect` and `pair_effect` return. Each feature has a panel, each pair one for each
        class.

    Attributes
    ----------
    ax_ : array of matplotlib Axes
        The axes drawn on, one for each panel.
    figure_ : matplotlib Figure
        Their figure.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cogmap import LTCNClassifier
    >>> from cogmap.effects.effects import feature_effect
    >>> from cogmap.plots import EffectDisplay
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LTCNClassifier().fit(X, y)
    >>> EffectDisplay([feature_effect(clf, X, "petal width (cm)", bins=2)]).frame()[["class", "value", "rows"]].head(3)
       class  value  rows
    0      0    0.1  50.0
    1      0    1.3  71.0
    2      0    2.5  29.0
    """

    def __init__(self, effects: Sequence[FeatureEffect | PairEffect]) -> None:
        self.effects = effects

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any = None,
        *,
        features: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None = None,
        classes: ArrayLike | None = None,
        kind: Kind = "probability",
        max_rows: int = 1000,
        sample_weight: ArrayLike | None = None,
        ax: Any = None,
    ) -> Self:
        """Draw how features of a fitted classifier act.

        Parameters
        ----------
        estimator : LTCNClassifier, LTCNClassifierCV, TabularClassifier or classifier of numbers
            Fitted classifier.
        X : DataFrame or array-like of shape (n_samples, n_features), default=None
            Rows, as for `predict`. None for the training rows that the model kept.
        features : str, tuple of two str, or list of these, default=None
            A name for a panel, two names as a tuple for a map of both, a list for several panels. By default the six
            most relevant features of a network.
        classes, kind, max_rows, sample_weight
            As for `cogmap.effects.feature_effect`.
        ax : matplotlib Axes or array of them, default=None
            One for each panel; None for a new figure.

        Returns
        -------
        EffectDisplay
            The display, drawn.
        """
        options: dict[str, Any] = {"classes": classes, "kind": kind, "max_rows": max_rows}
        return cls(effects_of(estimator, X, features, sample_weight=sample_weight, **options)).plot(ax=ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw a panel for each feature, and one for each pair and class.

        Parameters
        ----------
        ax : matplotlib Axes or array of them, default=None
            One for each panel; None for a new figure.

        Returns
        -------
        EffectDisplay
            This display.
        """
        drawn = [(effect, k) for effect in self.effects for k in _panels_of(effect)]
        columns = 2 if len(drawn) == 4 else min(3, len(drawn))
        bars = max(
            [len(one.rows) for one in self.effects if isinstance(one, FeatureEffect) and not one.is_number] + [0]
        )
        self.ax_ = panels(ax, len(drawn), columns, (3.7, max(3.0, 1.2 + 0.16 * min(bars, MOST_BARS))))
        self.figure_ = self.ax_[0].figure
        for panel, (effect, k) in zip(self.ax_, drawn, strict=True):
            if isinstance(effect, PairEffect):
                _draw_map(panel, effect, k)
            elif effect.is_number:
                _draw_curves(panel, effect)
            else:
                _draw_bars(panel, effect)
        self._explain(ax is None, columns)
        return self

    def frame(self) -> Any:
        """Return a pandas DataFrame with what is drawn: the frames of all effects, one after the other."""
        import pandas as pd

        return pd.concat([effect.frame() for effect in self.effects], ignore_index=True)

    def _explain(self, new_figure: bool, columns: int) -> None:
        """Write the legend of the classes, and in a figure of our own what is drawn."""
        curves = [effect for effect in self.effects if isinstance(effect, FeatureEffect)]
        if new_figure:
            mixed = 0 < len(curves) < len(self.effects)
            moves = "one or two features move" if mixed else "one feature moves" if curves else "two features move"
            how = TILES if not curves else BAND if len(curves[0].classes) == 1 else RUG
            text = f"{UNITS[self.effects[0].kind].capitalize()} as {moves}\n{how}"
            self.figure_.suptitle(text if columns > 1 else text.replace("; ", "\n"), fontsize=9)
        if curves and len(curves[0].classes) > 1:
            _legend(self.figure_ if new_figure else self.ax_[0], curves[0].classes, new_figure)


def _panels_of(effect: FeatureEffect | PairEffect) -> range:
    return range(min(len(effect.classes), MOST_CLASSES) if isinstance(effect, PairEffect) else 1)


def _legend(where: Any, classes: NDArray[Any], below: bool) -> None:
    from matplotlib.lines import Line2D

    shown = classes[:MOST_CLASSES]
    names = short_names(shown)
    if len(shown) < len(classes):
        names[-1] += f" (the first {len(shown)} of {len(classes)})"
    keys = [Line2D([], [], label=name, **class_style(k)) for k, name in enumerate(names)]
    place: dict[str, Any] = {"loc": "outside lower center", "ncols": 4} if below else {"loc": "best"}
    where.legend(handles=keys, title="class", fontsize=8, title_fontsize=8, frameon=False, **place)


def _unit(effect: FeatureEffect | PairEffect, k: int | None = None) -> str:
    """Return the unit for an axis; with the class where one is drawn."""
    of = effect.classes[k] if k is not None else effect.classes[0] if len(effect.classes) == 1 else None
    word = {"probability": "probability of", "evidence": "evidence for"}[effect.kind]
    if of is None:
        return UNITS[effect.kind].removeprefix("average ").removeprefix("predicted ")
    return f"{word} {shortened(str(of), 20)}" + (" (log-odds)" if effect.kind == "evidence" else "")


def _draw_curves(ax: Any, effect: FeatureEffect) -> None:
    """Draw a line for each class, a band for a single one, a missing value beside them, and a rug."""
    present = ~np.isnan(effect.numbers)
    points = effect.numbers[present]
    beside = _beside(points)
    for k in range(min(len(effect.classes), MOST_CLASSES)):
        style = class_style(k)
        if len(effect.classes) == 1:
            ends = effect.low[present, k], effect.high[present, k]
            ax.fill_between(points, *ends, color=style["color"], alpha=0.13, linewidth=0)
        marker = {"marker": "o", "markersize": 3} if len(points) <= 10 else {}
        ax.plot(points, effect.effect[present, k], linewidth=1.8, **marker, **style)
        if not present.all():
            ax.vlines(beside, effect.low[-1, k], effect.high[-1, k], color=style["color"], linewidth=1, alpha=0.6)
            ax.plot(beside, effect.effect[-1, k], marker="D", markersize=5, color=style["color"])
    ax.plot(
        effect.rug,
        np.zeros(len(effect.rug)),
        "|",
        transform=ax.get_xaxis_transform(),
        color=NEUTRAL,
        alpha=0.5,
        markersize=7,
        clip_on=False,
    )
    _number_ticks(ax, effect, points, None if present.all() else beside)
    ax.set_title(shortened(effect.feature, 36), fontsize=9)
    ax.set_ylabel(_unit(effect), fontsize=8)
    plain(ax)


def _beside(points: Array) -> float:
    """Return where a missing value is drawn: to the right of the numbers."""
    return float(points[-1] + 0.2 * ((points[-1] - points[0]) or 1.0)) if len(points) else 0.0


def _number_ticks(ax: Any, effect: FeatureEffect, points: Array, beside: float | None) -> None:
    """Write round numbers below the curve, or some dates, and "missing" below the point beside it."""
    from matplotlib.ticker import MaxNLocator

    ax.tick_params(labelsize=8)
    ticks = points
    if len(points) > FEW and not effect.is_date:
        end = points[-1] - (0.06 * (points[-1] - points[0]) if beside is not None else 0.0)
        ticks = np.array([t for t in MaxNLocator(4).tick_values(*points[[0, -1]]) if points[0] <= t <= end])
    texts = [f"{tick:g}" for tick in ticks]
    if effect.is_date:
        chosen = sorted({0, len(points) // 2} | ({len(points) - 1} if beside is None else set()))
        ticks, texts = points[chosen], [effect.labels[k] for k in chosen]
    extra = [] if beside is None else [beside]
    ax.set_xticks([*ticks, *extra], texts + [MISSING] * len(extra))


def _draw_bars(ax: Any, effect: FeatureEffect) -> None:
    """Draw a bar for each value and class, with the spread of the rows as a line, and the number of rows."""
    shown = np.sort(np.argsort(-effect.rows, kind="stable")[:MOST_BARS])
    n_classes = min(len(effect.classes), MOST_CLASSES)
    height = 0.8 / n_classes
    for k in range(n_classes):
        middle = np.arange(len(shown)) + (k - (n_classes - 1) / 2) * height
        ax.barh(middle, effect.effect[shown, k], 0.92 * height, color=CLASS_COLOURS[k], alpha=0.75)
        ax.hlines(middle, effect.low[shown, k], effect.high[shown, k], color="black", linewidth=0.9)
    names = short_names([effect.labels[j] for j in shown], 18)
    labels = [f"{name} ({effect.rows[j]:g})" for name, j in zip(names, shown, strict=True)]
    ax.set_yticks(np.arange(len(shown)), labels, fontsize=8 if len(shown) <= 12 else 7)
    ax.set_ylim(len(shown) - 0.4, -0.6)
    ax.axvline(0, color="black", linewidth=0.8)
    ax.tick_params(axis="x", labelsize=8)
    ax.locator_params(axis="x", nbins=4)
    title = shortened(effect.feature, 36)
    if len(shown) < len(effect.rows):
        title += f"\nthe {len(shown)} of {len(effect.rows)} values with most rows"
    ax.set_title(title, fontsize=9)
    ax.set_xlabel(_unit(effect), fontsize=8)
    plain(ax)


def _draw_map(ax: Any, effect: PairEffect, k: int) -> None:
    """Draw a tile around each pair of points near which there are rows, and the rows."""
    edges = [_edges(values, number) for values, number in zip(effect.values, effect.are_numbers, strict=True)]
    surface = effect.effect[..., k]
    limits: dict[str, Any] = {"cmap": "cividis"}
    if effect.kind == "evidence":
        largest = float(np.nanmax(np.abs(surface))) or 1.0
        limits = {"cmap": "PuOr", "vmin": -largest, "vmax": largest}
    mesh = ax.pcolormesh(*edges, np.ma.masked_invalid(surface.T), **limits)
    ax.set_facecolor("#eeeeee")
    rug = [_scattered(*part, seed) for seed, part in enumerate(zip(effect.rug, effect.are_numbers, strict=True))]
    ax.plot(*rug, ".", color="black", markersize=2, alpha=0.45)
    bar = ax.figure.colorbar(mesh, ax=ax)
    bar.set_label(_unit(effect, k), fontsize=8)
    bar.ax.tick_params(labelsize=8)
    ax.tick_params(labelsize=8)
    parts = zip((ax.xaxis, ax.yaxis), effect.labels, effect.values, effect.are_numbers, strict=True)
    for axis, labels, values, number in parts:
        if not number:
            axis.set_ticks(np.arange(len(labels)), short_names(labels, 14))
        elif values.dtype.kind == "M":
            ends = sorted({0, len(labels) - 1})
            axis.set_ticks(axis_numbers(values)[ends], [labels[k] for k in ends])
        else:
            axis.get_major_locator().set_params(nbins=4)
    if not effect.are_numbers[0] and sum(map(len, effect.labels[0])) > 24:
        ax.tick_params(axis="x", rotation=90)
    for write, name in zip((ax.set_xlabel, ax.set_ylabel), effect.features, strict=True):
        write(shortened(name, 32), fontsize=8)
    ax.set_title(f"{shortened(effect.features[0], 20)} and {shortened(effect.features[1], 20)}", fontsize=9)


def _scattered(places: Array, number: bool, seed: int) -> Array:
    """Return where dots are drawn: numbers where they are, rows of a category beside each other, the same each time."""
    return places if number else places + np.random.default_rng(seed).uniform(-0.35, 0.35, len(places))


def _edges(values: NDArray[Any], number: bool) -> Array:
    """Return where tiles begin and end: half-way between numbers, and around each category."""
    points = axis_numbers(values) if number else np.arange(len(values), dtype=np.float64)
    if not number or len(values) == 1:
        return np.append(points, points[-1] + 1) - 0.5
    return np.concatenate([points[:1], (points[1:] + points[:-1]) / 2, points[-1:]])
