"""Small tables with bars as HTML, for notebooks: inline styles only, nothing from outside, every text escaped."""

from collections.abc import Sequence
from html import escape

import numpy as np

from ..core.types import Array

FOR, AGAINST = "#0072b2", "#d55e00"
CELL = "padding:1px 8px;text-align:"


def bar(value: float, largest: float) -> str:
    """Return a bar to the right for values above 0 and to the left for those below, as a cell's content."""
    width = 100 * min(abs(value) / largest, 1.0) if largest > 0 else 0.0
    half = '<div style="width:70px;display:flex;justify-content:{}">{}</div>'
    drawn = f'<div style="width:{width:.1f}%;height:10px;background:{FOR if value > 0 else AGAINST}"></div>'
    left, right = (drawn if side else "" for side in (value < 0, value > 0))
    return f'<div style="display:flex">{half.format("flex-end", left)}{half.format("flex-start", right)}</div>'


def length(value: float, largest: float) -> str:
    """Return a bar for a value that is at least 0."""
    width = 140 * min(value / largest, 1.0) if largest > 0 else 0.0
    return f'<div style="width:{width:.0f}px;height:10px;background:{FOR}"></div>'


def table(caption: str, header: Sequence[str], lines: Sequence[Sequence[str]], drawn: Sequence[str]) -> str:
    """Return a table; `drawn` has the bar of each line, made here, which comes after the text of its cells.

    >>> "&lt;b&gt;" in table("a", ["name"], [["<b>"]], [""])
    True
    """
    title = f'<caption style="text-align:left;caption-side:top">{escape(caption)}</caption>'
    head = "".join(f'<th style="{CELL}left">{escape(name)}</th>' for name in [*header, ""])
    rows = [
        "".join(f'<td style="{CELL}left">{escape(cell)}</td>' for cell in cells) + f'<td style="{CELL}left">{bar}</td>'
        for cells, bar in zip(lines, drawn, strict=True)
    ]
    body = "".join(f"<tr>{row}</tr>" for row in rows)
    return f'<table style="margin:0 0 1em 0">{title}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def largest(values: Array) -> float:
    """Return the size of the largest value, 0 for none."""
    return float(np.abs(values).max(initial=0.0))
