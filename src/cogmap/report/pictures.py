"""Geometry of the charts, in the units of their drawings: lines, calibration, waterfalls, shades.

Easy to get wrong: a chart is drawn at the width of a telephone, and its text with it. Drawings are therefore 400 units
wide, so that a unit is about a pixel there.
"""

import math
from itertools import pairwise
from typing import Any

WIDTH, HEIGHT = 400.0, 260.0
LEFT, RIGHT, TOP, BOTTOM = 46.0, 14.0, 26.0, 40.0
MOST_LINES = 6
NUMBER_ROOM, WORD_ROOM = 26.0, 34.0
"""Distance of a label from the next one: of two numbers, and of a number from a word."""


def _across(value: float, low: float, high: float) -> float:
    return round(LEFT + (value - low) / ((high - low) or 1.0) * (WIDTH - LEFT - RIGHT), 1)


def _down(value: float, low: float, high: float) -> float:
    return round(HEIGHT - BOTTOM - (value - low) / ((high - low) or 1.0) * (HEIGHT - TOP - BOTTOM), 1)


def nice_ticks(low: float, high: float, count: int = 5) -> list[float]:
    """Return about `count` round numbers from below `low` to above `high`."""
    size = max(abs(low), abs(high))
    # Numbers that differ by rounding only have no room for ticks between them.
    span = high - low if high - low > 1e-9 * size else size or 1.0
    raw = span / count
    power = 10.0 ** math.floor(math.log10(raw))
    step = power * min((m for m in (1, 2, 5, 10) if m * power >= raw), default=10)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [round(k * step, 12) for k in range(first, max(last, first + 1) + 1)]


def formation_chart(formed: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the evidence for the classes with most rows, summed up over the steps of the reasoning."""
    drawn = largest(formed, MOST_LINES)
    with_cases = any(one["cases"] for one in formed)
    lines = [cumulated(one, with_cases) for one in drawn]
    labels = ["start", *(str(t) for t in range(len(formed[0]["steps"])))] + ["cases"] * with_cases
    values = [value for line in lines for value in line] + [0.0]
    ticks = nice_ticks(min(values), max(values))
    names = [one["name"] for one in drawn]
    return _lines(list(zip(names, lines, strict=True)), labels, ticks, [f"{tick:g}" for tick in ticks])


def largest(classes: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return the `count` classes with most rows, in their own order."""
    order = sorted(range(len(classes)), key=lambda k: (-classes[k]["n_rows"], k))
    return [classes[k] for k in sorted(order[:count])]


def cumulated(one: dict[str, Any], with_cases: bool) -> list[float]:
    """Return the mean evidence for a class at the start, after features and iterations, and with the cases."""
    totals = [one["base"]]
    for step in [*one["steps"], *([one["cases"]] if with_cases else [])]:
        totals.append(totals[-1] + step)
    return totals


def settling_chart(moves: list[float]) -> dict[str, Any] | None:
    """Return the largest move of any state at each iteration, on a scale of powers of ten; None if none moves."""
    logs = [math.log10(max(move, 1e-16)) for move in moves]
    if not any(moves):
        return None
    low, high = math.floor(min(logs)), max(math.ceil(max(logs)), math.floor(min(logs)) + 1)
    every = max(1, -(-(high - low) // 6))
    ticks = [float(power) for power in range(low, high + 1, every)]
    labels = [str(t) for t in range(1, len(moves) + 1)]
    return _lines([("", logs)], labels, ticks, [f"1e{power:.0f}" if power else "1" for power in ticks])


def _lines(
    series: list[tuple[str, list[float]]], labels: list[str], ticks: list[float], texts: list[str]
) -> dict[str, Any]:
    last = max(len(labels) - 1, 1)
    low, high = ticks[0], max(ticks[-1], max(max(values) for _, values in series))
    shown = _side_by_side(labels, (WIDTH - LEFT - RIGHT) / last)
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "bottom": HEIGHT - BOTTOM,
        "lines": [
            {
                "name": name,
                "points": [(_across(k, 0, last), _down(v, low, high)) for k, v in enumerate(values)],
            }
            for name, values in series
        ],
        "x": [{"at": _across(k, 0, last), "text": labels[k]} for k in sorted(shown)],
        "y": [
            {"at": _down(tick, low, high), "text": text, "zero": tick == 0.0}
            for tick, text in zip(ticks, texts, strict=True)
        ],
    }


def _side_by_side(labels: list[str], apart: float) -> set[int]:
    """Return which labels have room beside each other, `apart` units from one to the next: all words, some numbers."""
    words = [k for k, label in enumerate(labels) if not label.isdigit()]
    every = math.ceil(NUMBER_ROOM / apart)
    numbers = range(words[0] + 1 if words else 0, len(labels), every)
    return set(words) | {k for k in numbers if all(abs(k - w) * apart >= WORD_ROOM for w in words)}


def calibration_chart(bins: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the bins as circles, whose area grows with their rows, and the line of perfect calibration."""
    most = max(one["n_rows"] for one in bins)
    ticks = [0.0, 0.25, 0.5, 0.75, 1.0]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "left": LEFT,
        "right": WIDTH - RIGHT,
        "bottom": HEIGHT - BOTTOM,
        "diagonal": [(_across(v, 0, 1), _down(v, 0, 1)) for v in (0.0, 1.0)],
        "circles": [
            {
                "x": _across(one["mean_probability"], 0, 1),
                "y": _down(one["accuracy"], 0, 1),
                "radius": round(3 + 9 * math.sqrt(one["n_rows"] / most), 1),
                **one,
            }
            for one in bins
        ],
        "x": [{"at": _across(tick, 0, 1), "text": f"{100 * tick:.0f} %"} for tick in ticks],
        "y": [{"at": _down(tick, 0, 1), "text": f"{100 * tick:.0f} %", "zero": False} for tick in ticks],
    }


def waterfall(row: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the bars from the start to the evidence, each where the one before ends, in percent of the width."""
    steps = [(reason["name"], reason["value"], reason["adds"]) for reason in row["reasons"]]
    if row["n_others"] > 0:
        steps.append((f"{row['n_others']} others", "", row["others"]))
    ends = [row["start"]]
    for _, _, adds in steps:
        ends.append(ends[-1] + adds)
    low, high = min(0.0, *ends), max(0.0, *ends)
    bars = [_bar(row["compared"], "", (0.0, row["start"]), low, high)]
    bars += [_bar(*step[:2], pair, low, high) for step, pair in zip(steps, pairwise(ends), strict=True)]
    last = _bar("all together", "", (0.0, row["evidence"]), low, high)
    return [bars[0] | {"kind": "total"}, *bars[1:], last | {"kind": "total"}]


def _bar(name: str, value: str, ends: tuple[float, float], low: float, high: float) -> dict[str, Any]:
    left, right = sorted(100 * (end - low) / ((high - low) or 1.0) for end in ends)
    adds = ends[1] - ends[0]
    return {
        "name": name,
        "value": value,
        "adds": adds,
        "left": round(left, 2),
        "width": round(max(right - left, 0.4), 2),
        "kind": "raises" if adds >= 0 else "lowers",
    }


def shades(confusion: list[list[int]]) -> list[list[dict[str, Any]]]:
    """Return the cells of a confusion matrix with their share of the row, which shades them."""
    return [
        [{"count": count, "share": count / (sum(line) or 1), "right": i == j} for j, count in enumerate(line)]
        for i, line in enumerate(confusion)
    ]


def mistakes(confusion: list[list[int]]) -> list[dict[str, Any]]:
    """Return the cells beside the diagonal that hold rows, the most frequent first, with their share of the class."""
    cells = (
        {"true": i, "predicted": j, "count": count, "share": count / sum(line)}
        for i, line in enumerate(confusion)
        for j, count in enumerate(line)
        if i != j and count
    )
    return sorted(cells, key=lambda cell: (-cell["count"], -cell["share"]))
