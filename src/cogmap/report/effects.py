"""How each feature acts, for a report: effects of the most relevant columns, in words and as small charts.

Easy to get wrong: an accumulated effect is no probability of any row, and may leave the range from 0 to 1 where columns
go along with each other. The numbers are kept as they are; words and pictures end at 0 and 1.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from ..effects.effects import feature_effect, most_relevant
from ..effects.results import FeatureEffect
from ..plots.drawing import short_names
from .importance import quietly
from .pictures import MOST_LINES, nice_ticks
from .subject import Subject, spread
from .words import percent

WIDTH, HEIGHT = 400.0, 230.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 386.0, 26.0, 190.0
BESIDE = 46.0
"""Room for a missing value beside a curve."""

NAMES = 150.0
"""Where bars begin: room for the names of categories."""

MOST_BARS, MOST_MARKS = 10, 200
"""Categories with most rows, and marks of a rug, that are drawn."""

COLOURS = ("#0b6aa8", "#b34700", "#00795a", "#a0457f", "#7a5f00", "#1c2330")
"""Those of the lines in the style sheet, for what is filled."""


def effects(subject: Subject) -> dict[str, Any]:
    """Return the effects of the most relevant columns on the probability of each class; of two, of the second."""
    names, _ = quietly(lambda: most_relevant(subject.model))
    count = np.bincount(subject.codes, minlength=len(subject.classes))
    shown = [1] if len(count) == 2 else sorted(np.argsort(-count, kind="stable")[:MOST_LINES].tolist())
    labels = subject.model.classes_[shown]
    effects = [feature_effect(subject.model, subject.inputs, name, classes=labels) for name in names]
    classes = [subject.classes[k] for k in shown]
    return {"classes": classes, "columns": [_plain(effect, classes) for effect in effects]}


def _plain(effect: FeatureEffect, classes: list[str]) -> dict[str, Any]:
    absent = effect.is_number and effect.has_missing
    values = effect.numbers[: len(effect.values) - absent].tolist() if effect.is_number else effect.labels
    return {
        "name": effect.feature,
        "is_number": effect.is_number,
        "is_date": effect.is_date,
        "values": values,
        "labels": effect.labels,
        "missing": absent,
        "effect": effect.effect.T.tolist(),
        "low": effect.low.T.tolist(),
        "high": effect.high.T.tolist(),
        "rows": effect.rows.tolist(),
        "rug": effect.rug[spread(len(effect.rug), MOST_MARKS)].tolist() if len(effect.rug) else [],
        "words": _words(effect, classes),
    }


def _words(effect: FeatureEffect, classes: list[str]) -> str:
    """Say where the class that moves most is least and most likely."""
    curve = effect.effect.clip(0, 1)
    k = int(np.ptp(curve, axis=0).argmax())
    least, most = int(curve[:, k].argmin()), int(curve[:, k].argmax())
    if percent(curve[least, k]) == percent(curve[most, k]):
        return f"It hardly moves the probability of any class: {classes[k]} stays at {percent(curve[most, k])}."
    ends = [f"{percent(curve[at, k])} {_where(effect, at)}" for at in (least, most)]
    return f"The average probability of {classes[k]} goes from {ends[0]} to {ends[1]}."


def _where(effect: FeatureEffect, at: int) -> str:
    if effect.has_missing and at == len(effect.values) - 1:
        return "where it is missing"
    if not effect.is_number:
        return f"for {effect.labels[at]}"
    return f"at {effect.labels[at] if effect.is_date else f'{effect.values[at]:.4g}'.replace('-', '−')}"


def effect_chart(one: dict[str, Any]) -> dict[str, Any]:
    """Return the drawing of an effect: lines, bands and a rug for a number, bars for a category."""
    return _curves(one) if one["is_number"] and one["values"] else _bars(one)


def _curves(one: dict[str, Any]) -> dict[str, Any]:
    values, n = one["values"], len(one["values"])
    right = RIGHT - BESIDE * one["missing"]

    def across(value: float) -> float:
        place: float = round(LEFT + (value - values[0]) / ((values[-1] - values[0]) or 1.0) * (right - LEFT), 1)
        return place

    lines = []
    for k, (mean, low, high) in enumerate(zip(one["effect"], one["low"], one["high"], strict=True)):
        there = [(across(x), _down(y)) for x, y in zip(values, high[:n], strict=True)]
        back = [(across(x), _down(y)) for x, y in zip(values, low[:n], strict=True)]
        points = [(across(x), _down(y)) for x, y in zip(values, mean[:n], strict=True)]
        beside = (_down(mean[n]), _down(low[n]), _down(high[n])) if one["missing"] else None
        lines.append({"points": points, "band": there + back[::-1], "beside": beside, "colour": COLOURS[k]})
    # A number that ends where "missing" begins gives way to it.
    marks = [mark for mark in _marks(one, across) if not one["missing"] or mark["at"] < right - 12]
    return {
        "kind": "curves",
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": RIGHT,
        "bottom": BOTTOM,
        "lines": lines,
        "rug": [across(value) for value in one["rug"]],
        "beside": RIGHT - BESIDE / 3 if one["missing"] else None,
        "x": marks + [{"at": RIGHT - BESIDE / 3, "text": "missing"}] * one["missing"],
        "y": [{"at": _down(t), "text": percent(t), "zero": t == 0.0} for t in (0.0, 0.25, 0.5, 0.75, 1.0)],
    }


def _marks(one: dict[str, Any], across: Callable[[float], float]) -> list[dict[str, Any]]:
    """Return round numbers below a curve; of dates the first, the middle and the last point."""
    values = one["values"]
    if one["is_date"]:
        some = sorted({0, len(values) // 2, len(values) - 1})
        return [{"at": across(values[k]), "text": one["labels"][k][:10]} for k in some]
    ticks = [tick for tick in nice_ticks(values[0], values[-1], 4) if values[0] <= tick <= values[-1]]
    return [{"at": across(tick), "text": f"{tick:g}".replace("-", "−")} for tick in ticks or values[:1]]


def _down(share: float) -> float:
    return round(BOTTOM - min(max(share, 0.0), 1.0) * (BOTTOM - TOP), 1)


def _bars(one: dict[str, Any]) -> dict[str, Any]:
    rows = np.array(one["rows"])
    shown = np.sort(np.argsort(-rows, kind="stable")[:MOST_BARS])
    labels = one["labels"]
    thick = 18.0 if len(one["effect"]) == 1 else 9.0
    apart = thick * len(one["effect"]) + 12
    bars = []
    for place, (j, name) in enumerate(zip(shown, short_names([labels[j] for j in shown], 18), strict=True)):
        top = TOP + place * apart
        parts = [
            {
                "top": round(top + k * thick, 1),
                "width": round(_right(mean[j]) - NAMES, 1),
                "low": _right(low[j]),
                "high": _right(high[j]),
                "middle": round(top + (k + 0.5) * thick, 1),
                "colour": COLOURS[k],
            }
            for k, (mean, low, high) in enumerate(zip(one["effect"], one["low"], one["high"], strict=True))
        ]
        middle = round(top + thick * len(parts) / 2 + 4, 1)
        bars.append({"name": name, "whole": labels[j], "rows": f"{rows[j]:g}", "middle": middle, "parts": parts})
    bottom = round(TOP + len(bars) * apart, 1)
    return {
        "kind": "bars",
        "width": WIDTH,
        "height": bottom + 40,
        "left": NAMES,
        "right": RIGHT,
        "top": TOP,
        "bottom": bottom,
        "thick": thick - 1,
        "bars": bars,
        "n_values": len(rows),
        "x": [{"at": _right(t), "text": percent(t)} for t in (0.0, 0.25, 0.5, 0.75, 1.0)],
        "y": [],
    }


def _right(share: float) -> float:
    return round(NAMES + min(max(share, 0.0), 1.0) * (RIGHT - NAMES), 1)
