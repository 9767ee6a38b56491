"""What the displays share: matplotlib when it is there, colours that colour-blind readers can tell apart."""

from typing import Any

POSITIVE, NEGATIVE, NEUTRAL = "#0072b2", "#d55e00", "#666666"
CLASS_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000", "#f0e442")


def new_axes(**size: Any) -> Any:
    """Return the axes of a new figure, or say which extra brings matplotlib."""
    try:
        from matplotlib import pyplot as plt
    except ImportError as error:
        raise ImportError('Drawing needs matplotlib: pip install "cogmap[plot]".') from error
    return plt.subplots(layout="constrained", **size)[1]


def shortened(name: str, width: int = 18) -> str:
    """Return a name that fits beside a node or a curve."""
    return name if len(name) <= width else name[: width - 1] + "…"
