"""The paper's figures, drawn from frames that `sweeps`, `tables` and `comparison` compute, for either network."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from ..plots.drawing import NEGATIVE, NEUTRAL, POSITIVE, new_axes
from ..writing import whole
from .comparison import average_ranks, cliques, complete, critical_difference
from .datasets import PAPER
from .diagrams import decisions_diagram, rules_diagram
from .sweeps import SELECTED, classic_kappas, phi_iteration_map, readout_curves, swept
from .tables import comparable_kappas, select
from .verdict import MissingResultsError

LABELS = {"LTCN": "Inner weights as printed (regression)", "LTCN slopes": "Inner weights of the authors' code (slopes)"}


def readout_figure(results: pd.DataFrame, network: str) -> Any:
    """Draw kappa of both readouts against φ at T = 20: each dataset thin, the mean thick; the other cut-off dashed."""
    curves = readout_curves(swept(results, network))
    if not {"final", "trajectory"} <= set(curves.columns):
        raise MissingResultsError("There is no sweep of φ with both readouts: run `cogmap study sweep readouts` first.")
    axes = new_axes(figsize=(9, 4), ncols=2, sharey=True)
    titles = {"final": "final state (classic), cut-off 1e-6", "trajectory": "recurrence-aware"}
    for ax, (readout, colour) in zip(axes, (("final", NEGATIVE), ("trajectory", POSITIVE)), strict=True):
        table = curves[readout].unstack("phi").dropna(axis=1)
        ax.plot(table.columns, table.T.to_numpy(), color=NEUTRAL, alpha=0.35, linewidth=0.8)
        ax.plot(table.columns, table.mean(), color=colour, linewidth=2.5, label=f"mean of {len(table)} datasets")
        ax.set(title=titles[readout], xlabel="nonlinearity φ")
        ax.spines[["top", "right"]].set_visible(False)
    loose = classic_kappas(results, network)
    if len(loose):
        label = f"the same, cut-off 1e-15 ({len(loose)} datasets)"
        axes[0].plot(loose.columns, loose.mean(), color="black", linestyle="--", linewidth=1.5, label=label)
    for ax in axes:
        ax.legend(loc="lower left", frameon=False)
    axes[0].set_ylabel("kappa")
    axes[0].figure.suptitle(LABELS.get(network, network))
    return axes[0].figure


def maps_figure(results: pd.DataFrame, network: str) -> Any:
    """Draw kappa by φ and T of the recurrence-aware readout, one panel a dataset, each with its own scale."""
    sweep = swept(results, network)
    tables = {name: phi_iteration_map(sweep, name) for name in SELECTED}
    tables = {name: table for name, table in tables.items() if min(table.shape, default=0) > 1}
    if not tables:
        raise MissingResultsError("There is no sweep of φ and T: run `cogmap study sweep maps` first.")
    columns = min(3, len(tables))
    rows = -(-len(tables) // columns)
    axes = np.ravel(new_axes(figsize=(4.2 * columns, 2.7 * rows), nrows=rows, ncols=columns, squeeze=False))
    for ax, (name, table) in zip(axes, tables.items(), strict=False):
        image = ax.imshow(table.to_numpy(), origin="lower", aspect="auto", cmap="viridis")
        ax.set_xticks(range(table.shape[1]), [str(T) for T in table.columns])
        ax.set_yticks(range(0, len(table), 2), [f"{phi:g}" for phi in table.index[::2]])
        ax.set(title=f"D{PAPER.index(name) + 1} {name}", xlabel="iterations T", ylabel="φ")
        ax.figure.colorbar(image, ax=ax, label="kappa")
    for ax in axes[len(tables) :]:
        ax.set_visible(False)
    axes[0].figure.suptitle(LABELS.get(network, network))
    return axes[0].figure


def ranks_figure(results: pd.DataFrame, network: str) -> Any:
    """Draw the critical-difference diagram: average ranks on a line, bars over those that Nemenyi cannot tell apart."""
    kappa, _ = complete(comparable_kappas(select(results)))
    if kappa.shape[1] < 2 or len(kappa) < 2:
        raise MissingResultsError("Ranks need two classifiers finished on two datasets: run `cogmap study run` first.")
    ranks = average_ranks(kappa)
    difference = critical_difference(len(ranks), len(kappa))
    ax = new_axes(figsize=(9, 1.6 + 0.16 * len(ranks)))
    _draw_ranks(ax, ranks)
    for level, (low, high) in enumerate(cliques(ranks, difference)):
        ax.plot(
            [low - 0.04, high + 0.04], [-0.35 - 0.25 * level] * 2, color="black", linewidth=3, solid_capstyle="butt"
        )
    ax.plot([1, 1 + difference], [1.25, 1.25], color=NEUTRAL, linewidth=1.5, marker="|")
    ax.text(1 + difference / 2, 1.4, f"critical difference {difference:.2f}", ha="center", va="bottom", fontsize=9)
    ax.set_title(f"Average rank by kappa over {len(kappa)} datasets (1 is best)", pad=14)
    return ax.figure


def _draw_ranks(ax: Any, ranks: pd.Series) -> None:
    n, half = len(ranks), -(-len(ranks) // 2)
    ax.plot([1, n], [0, 0], color="black", linewidth=1)
    for tick in range(1, n + 1):
        ax.plot([tick, tick], [0, 0.12], color="black", linewidth=1)
        ax.text(tick, 0.2, str(tick), ha="center", va="bottom", fontsize=9)
    depth = -1.0 - 0.25 * n / 4
    for i, (name, rank) in enumerate(ranks.items()):
        left = i < half
        y = depth - 0.5 * (i if left else n - 1 - i)
        edge = 0.7 if left else n + 0.3
        ax.plot([rank, rank, edge], [0, y, y], color=NEUTRAL, linewidth=0.9)
        ax.text(edge, y, f" {name} ({rank:.2f}) ", ha="right" if left else "left", va="center", fontsize=9)
    ax.set_xlim(-n * 0.22, n * 1.25)
    ax.axis("off")


FIGURES: dict[str, Callable[[pd.DataFrame, str], Any]] = {
    "readouts": readout_figure,
    "maps": maps_figure,
    "ranks": ranks_figure,
}
DIAGRAMS: dict[str, Callable[[], Any]] = {"rules": rules_diagram, "decisions": decisions_diagram}
"""Drawings that need no results."""


def save(figure: Any, name: str, folder: Path) -> list[Path]:
    """Write a figure as PNG and as SVG, each under another name first."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for suffix in ("png", "svg"):
        path = folder / f"{name}.{suffix}"
        with whole(path) as unfinished:
            figure.savefig(unfinished, dpi=120)
        paths.append(path)
    return paths
