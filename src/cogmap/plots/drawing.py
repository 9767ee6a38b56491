"""What the displays share: axes, colours that colour-blind readers can tell apart, short names, frames.

Easy to get wrong: a long name loses its middle and not its end, because ends tell concepts apart ("… is low").
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..explain import words as evidence_words
from ..explain.words import odds_factor, times

POSITIVE, NEGATIVE, NEUTRAL = "#0072b2", "#d55e00", "#666666"
DASHES = (0, (4, 2))
"""Line style of what is negative, so that the sign survives a print in grey."""

HATCH = "////"
"""The same for bars."""

CLASS_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#8c6d1f")
CLASS_DASHES: tuple[Any, ...] = ("-", (0, (5, 1.5)), (0, (1, 1)), (0, (5, 1, 1, 1)))
LEAST_WIDTH = 6.5
"""Width of a new figure in inches, for its title."""

MOST_CLASSES = len(CLASS_COLOURS)
"""More classes than this cannot be told apart by colour."""


def new_axes(**options: Any) -> Any:
    """Return the axes of a new figure, or say which extra brings matplotlib."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError('Drawing needs matplotlib: pip install "cogmap[plot]".') from error
    return plt.subplots(layout="constrained", **options)[1]


def panels(ax: Any, n_panels: int, columns: int, size: tuple[float, float], **options: Any) -> NDArray[Any]:
    """Return `n_panels` axes: the given ones, or those of a new figure with panels of `size` inches.

    Panels of the new figure's last row that are not needed are hidden.
    """
    if ax is not None:
        given = np.array([ax] if np.ndim(ax) == 0 else ax, dtype=object).ravel()
        if len(given) < n_panels:
            raise ValueError(f"{n_panels} panels need as many axes, but ax has {len(given)}: give more, or ax=None.")
        return given[:n_panels]
    rows = -(-n_panels // columns)
    figsize = (max(size[0] * columns, LEAST_WIDTH), size[1] * rows + 0.6)
    axes: NDArray[Any] = new_axes(nrows=rows, ncols=columns, figsize=figsize, squeeze=False, **options).ravel()
    for unused in axes[n_panels:]:
        unused.set_visible(False)
    return axes[:n_panels]


def class_style(k: int) -> dict[str, Any]:
    """Return colour and line style of the k-th class drawn."""
    return {"color": CLASS_COLOURS[k % MOST_CLASSES], "linestyle": CLASS_DASHES[k % len(CLASS_DASHES)]}


def plain(ax: Any) -> None:
    """Leave out the frame's sides that carry no scale."""
    ax.spines[["top", "right"]].set_visible(False)


def shortened(name: str, width: int = 24) -> str:
    """Return a name of at most `width` characters, without its middle where it is longer."""
    tail = (width - 1) * 2 // 5
    return name if len(name) <= width else name[: width - 1 - tail] + "…" + name[len(name) - tail :]


def short_names(names: Sequence[Any] | NDArray[Any], width: int = 24) -> list[str]:
    """Shorten names to a common width, `width` or the least at which different names stay different."""
    texts = [str(name) for name in names]
    for wider in range(width, max(map(len, texts), default=0)):
        short = [shortened(text, wider) for text in texts]
        if len(set(short)) == len(set(texts)):
            return short
    return texts


def signed(value: float) -> str:
    """Write a number with its sign, three digits, and a true minus."""
    return f"{value:+.3g}".replace("-", "−")


def evidence_text(evidence: float) -> str:
    """Write evidence to two decimals, with its sign and a true minus."""
    return evidence_words.signed(evidence).replace("-", "−")


def odds_mark(evidence: float) -> str:
    """Write what evidence multiplies (×) or divides (÷) the odds of its class by."""
    factor = float(odds_factor(abs(evidence)))
    number = "1000+" if factor > 1000 else times(factor)
    return f"{'×' if evidence >= 0 else '÷'}\u00a0{number}"


def data_frame(columns: dict[str, Any]) -> Any:
    """Return a pandas DataFrame, or say which extra brings pandas."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError('A frame needs pandas: pip install "cogmap[plot]".') from error
    return pd.DataFrame(columns)
