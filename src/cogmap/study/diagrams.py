"""Drawings of the method: the three reasoning rules, and what is read of the states (the paper's first two figures).

The last panel of `decisions_diagram` is what `LTCNClassifier()` does instead of the paper's pseudoinverse.
"""

from typing import Any

from ..plots.drawing import NEGATIVE, NEUTRAL, POSITIVE, new_axes

NODE, BOX = "circle,pad=0.3", "round,pad=0.35"


def _node(ax: Any, x: float, y: float, text: str, colour: str = POSITIVE, shape: str = NODE) -> None:
    style = {"boxstyle": shape, "facecolor": "white", "edgecolor": colour, "linewidth": 1.6}
    ax.text(x, y, text, ha="center", va="center", fontsize=11, bbox=style, zorder=3)


def _arrow(
    ax: Any, start: tuple[float, float], end: tuple[float, float], text: str = "", bend: float = 0.0, at: float = 0.5
) -> None:
    """Draw an arrow between centres, shortened at both ends; its text stands at a share of the way."""
    ax.annotate(
        "",
        xy=end,
        xytext=start,
        arrowprops={
            "arrowstyle": "-|>",
            "color": NEUTRAL,
            "shrinkA": 20,
            "shrinkB": 20,
            "connectionstyle": f"arc3,rad={bend}",
        },
    )
    across = (end[1] - start[1], start[0] - end[0])
    x = start[0] + at * (end[0] - start[0]) + 0.5 * bend * across[0]
    y = start[1] + at * (end[1] - start[1]) + 0.5 * bend * across[1]
    if text:
        ax.text(x, y, text, ha="center", va="center", fontsize=10, zorder=4, bbox=_BARE)


_BARE = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}


def _blank(ax: Any, title: str, width: tuple[float, float], height: tuple[float, float]) -> None:
    ax.set(xlim=width, ylim=height, title=title)
    ax.axis("off")


def rules_diagram() -> Any:
    """Draw the three rules: f(AW), f(AW + A), and φ f(AW + B) + (1 − φ) A⁰."""
    axes = new_axes(figsize=(13, 4), ncols=3)
    titles = (
        "1  $A^{(t)} = f(A^{(t-1)} W)$",
        "2  $A^{(t)} = f(A^{(t-1)} W + A^{(t-1)})$",
        "3  $A^{(t)} = \\varphi f(A^{(t-1)} W + B) + (1-\\varphi) A^{(0)}$",
    )
    for rule, (ax, title) in enumerate(zip(axes, titles, strict=True), 1):
        _blank(ax, title, (-0.6, 6.6), (-2.9, 2.2))
        for y, name in ((1.6, "1"), (0.0, "2"), (-2.1, "M")):
            _node(ax, 0, y, f"$a_{{{name}}}^{{(t-1)}}$")
            _arrow(ax, (0, y), (2.2, 0), f"$w_{{{name}i}}$", at=0.45)
        ax.text(0, -1.05, "⋮", ha="center", va="center", fontsize=14)
        _node(ax, 2.2, 0, "Σ", NEUTRAL)
        _node(ax, 4.0, 0, "f", NEUTRAL, "square,pad=0.5")
        _node(ax, 6.0, 0, "$a_i^{(t)}$")
        _arrow(ax, (2.2, 0), (4.0, 0))
        _arrow(ax, (4.0, 0), (6.0, 0), "φ" if rule == 3 else "")
        if rule == 2:
            _node(ax, 2.2, -2.1, "$a_i^{(t-1)}$")
            _arrow(ax, (2.2, -2.1), (2.2, 0))
        if rule == 3:
            _node(ax, 2.2, -2.1, "1")
            _arrow(ax, (2.2, -2.1), (2.2, 0), "$b_i$")
            _node(ax, 6.0, -2.1, "$a_i^{(0)}$")
            _arrow(ax, (6.0, -2.1), (6.0, 0), "1 − φ")
    return axes[0].figure


def decisions_diagram() -> Any:
    """Draw what is read: the last state, all states, and increments of the states as `LTCNClassifier()` reads them."""
    panels = (
        ("Classic: the final state decides", -0.7, 0.8),
        ("Recurrence-aware (the paper): all states decide, $[R; Q] = (H | 1)^{+} f^{-1}(Y)$", -0.7, 1.8),
        ("cogmap's default: what each state adds beyond earlier ones decides, the later the less", -3.6, 0.8),
    )
    axes = new_axes(figsize=(10, 8), nrows=3, gridspec_kw={"height_ratios": [top - low for _, low, top in panels]})
    for ax, (title, low, top) in zip(axes, panels, strict=True):
        _blank(ax, title, (-0.7, 11.6), (low, top))
        ax.set_aspect("equal")
        for x, name in ((0.0, "0"), (2.4, "1"), (7.2, "T")):
            _node(ax, x, 0, f"$A^{{({name})}}$", POSITIVE, BOX)
        ax.text(4.8, 0, "…", ha="center", va="center", fontsize=14)
        for x in (0.0, 2.4, 4.8):
            _arrow(ax, (x, 0), (x + 2.4, 0), "W, B")
    for ax in axes[:2]:
        _node(ax, 10.6, 0, "classes", NEGATIVE, BOX)
    _arrow(axes[0], (7.2, 0), (10.4, 0), "R, Q")
    for x, bend, name in ((0.0, -0.28, "0"), (2.4, -0.22, "1"), (7.2, 0.0, "T")):
        _arrow(axes[1], (x, 0), (10.4 if x > 7 else 10.6, 0), f"$R^{{({name})}}$", bend)
    _innovations(axes[2])
    return axes[0].figure


def _innovations(ax: Any) -> None:
    for x, name, bend in ((0.0, "0", 0.24), (2.4, "1", 0.2), (7.2, "T", 0.0)):
        _node(ax, x, -1.4, f"$\\Delta_{{{name}}}$", NEUTRAL, BOX)
        _arrow(ax, (x, 0), (x, -1.4))
        _arrow(ax, (x, -1.4), (10.35 if x > 7 else 10.6, -1.4), f"$s_{{{name}}}$", bend)
    _node(ax, 10.6, -1.4, "log-odds", NEGATIVE, BOX)
    text = "$\\Delta_t$: the part of $A^{(t)} - A^{(t-1)}$ that no earlier state explains.   "
    text += "$1 \\geq s_0 \\geq s_1 \\geq \\dots \\geq s_T \\geq 0$: by exact leave-one-out."
    ax.text(5.4, -3.4, text, ha="center", fontsize=10)
