"""The paper's tables from the results, each beside what the paper prints.

Easy to get wrong: a mean over datasets is comparable only if all of them are there. A dataset counts for a method when
every fold has a result, and the column ``sets`` says how many count. Training time is that of one fit on the whole
dataset, in seconds of the processor.
"""

from collections.abc import Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from ..core.types import Array
from ..writing import whole
from .comparison import against, average_ranks, complete, friedman
from .datasets import BINARY, CLEAN, LEAKING, PAPER, load
from .protocol import N_FOLDS, WHOLE
from .registry import ENTRIES, GRIDS, REGISTRY

SWAPPED = {"random outer weights": "random inner weights", "random inner weights": "random outer weights"}
"""The paper prints the two pairs of its ablation the wrong way round: a random readout cannot reach kappa .73."""

BESIDE = ("paper kappa", "Δ kappa", "paper accuracy", "Δ accuracy", "paper seconds")
"""Columns of what the paper prints, and of differences to it."""


@cache
def paper_numbers(table: str) -> pd.DataFrame:
    """Return what the paper prints in one of its tables, name × quantity, as text."""
    with files(__package__).joinpath("paper.csv").open(encoding="utf-8") as file:
        printed = pd.read_csv(file, dtype=str)
    return printed[printed["table"] == table].pivot(index="name", columns="quantity", values="value")


def method_names(results: pd.DataFrame) -> pd.Series:
    """Name a method after its classifier, after its grid where that is not the small one, after inner folds but 3.

    The authors' grid has five inner folds, and only another number is said.
    """
    name = results["classifier"].where(
        results["grid"] == "small", results["classifier"] + " (" + results["grid"] + " grid)"
    )
    usual = results["inner"] == np.where(results["grid"] == "authors", 5, 3)
    return name.where(usual, name + ", " + results["inner"].astype(int).astype(str) + " inner folds")


def select(results: pd.DataFrame, *, scale: str = "fold", seed: int = 42, inner: int | None = None) -> pd.DataFrame:
    """Keep searched results of one protocol, with their method's name; the authors' always scales the file."""
    scaled = (results["scale"] == scale) | (results["grid"] == "authors")
    kept = results["grid"].isin(GRIDS) & scaled & (results["seed"] == seed)
    if inner is not None:
        kept &= results["inner"] == inner
    rows = results[kept]
    return rows.assign(method=method_names(rows))


def by_dataset(results: pd.DataFrame, value: str = "kappa") -> pd.DataFrame:
    """Return the mean over folds, dataset × method; empty where a fold is missing or failed."""
    folds = results[(results["fold"] != WHOLE) & (results["error"] == "")]
    grouped = folds.groupby(["dataset", "method"])[value]
    table = grouped.mean().where(grouped.count() == N_FOLDS).unstack()
    return table.reindex(columns=sorted(table.columns, key=_registry_order))


def whole_times(results: pd.DataFrame) -> pd.DataFrame:
    """Return processor seconds of one fit on the whole dataset, dataset × method."""
    rows = results[(results["fold"] == WHOLE) & (results["error"] == "")]
    return rows.pivot_table(index="dataset", columns="method", values="cpu_seconds", aggfunc="mean")


def _registry_order(method: str) -> tuple[int, str]:
    names = list(REGISTRY)
    base = method.partition(" (")[0]
    return (names.index(base) if base in names else len(names)), method


def scores_table(
    results: pd.DataFrame,
    table: str,
    groups: tuple[str, ...],
    extra: tuple[str, ...] = (),
    sets: tuple[str, ...] = PAPER,
) -> pd.DataFrame:
    """Return kappa, accuracy and training time of the methods of some groups beside the paper's table.

    The paper's means are over `sets`: only a method that is finished on each of them is set beside them. A ~ marks
    methods of which rounding decides some classes: another machine need not find the same.
    """
    kappa, accuracy = by_dataset(results), by_dataset(results, "accuracy")
    seconds, printed = whole_times(results), paper_numbers(table)
    wanted = [entry.name for entry in ENTRIES if entry.group in groups or entry.name in extra]
    rows = []
    for method in kappa.columns:
        base = method.partition(" (")[0]
        known = kappa[method].dropna()
        if base not in wanted or known.empty:
            continue
        row: dict[str, Any] = {
            "method": method,
            "sets": len(known),
            "kappa": known.mean(),
            "accuracy": accuracy[method].mean(),
            "seconds": seconds[method].mean() if method in seconds else np.nan,
            "rounding": "~" if REGISTRY[base].rounding else "",
        }
        theirs = "LTCN" if base == "LTCN slopes" else base
        same = set(known.index) == set(sets) and theirs in printed.index
        rows.append(row | (_beside(row, printed.loc[theirs]) if same else dict.fromkeys(BESIDE, np.nan)))
    found = pd.DataFrame(rows, columns=["method", "sets", "kappa", "accuracy", "seconds", *BESIDE, "rounding"])
    shown = found.drop(columns=[name for name in BESIDE if found[name].isna().all()])
    # A mean over fewer datasets has no place among the others.
    return shown.sort_values(["sets", "kappa"], ascending=False, kind="stable").reset_index(drop=True)


def _beside(row: dict[str, Any], printed: pd.Series) -> dict[str, float]:
    """Return the paper's kappa, accuracy and seconds, and the differences of ours to the first two."""
    kappa, accuracy, seconds = (float(printed.get(key, "nan")) for key in ("kappa", "accuracy", "seconds"))
    values = (kappa, row["kappa"] - kappa, accuracy, row["accuracy"] - accuracy, seconds)
    return dict(zip(BESIDE, values, strict=True))


def all_table(results: pd.DataFrame) -> pd.DataFrame:
    """Return the results of all classifiers: the paper's ten and those beyond it, over its 30 datasets."""
    return scores_table(_without_clean(results), "results", ("paper", "beyond"))


def binary_table(results: pd.DataFrame) -> pd.DataFrame:
    """Return the results on binary problems, with those classifiers that take no others."""
    only_two = [entry.name for entry in ENTRIES if entry.binary]
    two = results[results["classifier"].isin(only_two)]["dataset"].unique()
    kept = results[results["dataset"].isin(two)]
    return scores_table(kept, "binary", ("paper", "binary", "beyond"), sets=BINARY)


def _without_clean(results: pd.DataFrame) -> pd.DataFrame:
    return results[~results["dataset"].str.endswith(CLEAN)]


def dataset_table(data_dir: str | None = None, names: tuple[str, ...] = PAPER) -> pd.DataFrame:
    """Return what each dataset holds beside the paper's table; `differs` names what the paper prints otherwise."""
    printed, rows = paper_numbers("datasets"), []
    for name in names:
        data = load(name, data_dir)
        counts = np.bincount(data.y)
        ours = {"rows": len(data.y), "features": data.X.shape[1], "classes": len(data.classes)}
        theirs = {key: int(printed.loc[name, key]) for key in ours} if name in printed.index else dict(ours)
        pure = leaking_columns(data.X, data.y) if name.removesuffix(CLEAN) in LEAKING else 0
        rows.append(
            {
                "dataset": name,
                **ours,
                "imbalance": f"{counts.max() / counts.min():.1f} : 1",
                **{f"paper {key}": value for key, value in theirs.items()},
                "paper imbalance": printed.loc[name, "imbalance"] if name in printed.index else "",
                "differs": ", ".join(key for key in ours if ours[key] != theirs[key]),
                "target leak": f"{pure} columns" if pure else "",
            }
        )
    return pd.DataFrame(rows)


def leaking_columns(X: Array, y: NDArray[np.intp]) -> int:
    """Count the columns with two values, the rarer of which occurs in one class only: a piece of the answer."""
    binary = [column for column in X.T if len(np.unique(column)) == 2]
    rarer = [column == min(np.unique(column), key=lambda value: np.sum(column == value)) for column in binary]
    return sum(len(np.unique(y[rows])) == 1 for rows in rarer)


def leak_table(results: pd.DataFrame) -> pd.DataFrame:
    """Return kappa with and without the columns that hold the class, and what these add to a mean over 30 datasets.

    Methods take part that are finished on both kinds.
    """
    kappa = by_dataset(results)
    pairs = [(name, name + CLEAN) for name in LEAKING if name + CLEAN in kappa.index]
    if not pairs:
        return pd.DataFrame(columns=["method"])
    table = kappa.reindex([name for pair in pairs for name in pair]).T.dropna()
    gain = sum(table[name] - table[clean] for name, clean in pairs) / len(PAPER)
    return table.assign(**{"Δ of the mean": gain}).rename_axis("method").rename_axis(None, axis=1).reset_index()


def ablation_table(results: pd.DataFrame) -> pd.DataFrame:
    """Return the ablation beside the paper's two pairs of numbers, put right."""
    table = scores_table(_without_clean(results), "ablation", ("ablation",), extra=("LTCN", "LTCN slopes"))
    printed, full = paper_numbers("ablation"), paper_numbers("results")
    for i, row in table.iterrows():
        base = str(row["method"]).partition(" (")[0]
        if row["sets"] == len(PAPER):
            source = printed.loc[SWAPPED[base]] if base in SWAPPED else full.loc["LTCN"]
            for key in ("kappa", "accuracy"):
                table.loc[i, f"paper {key}"] = float(source[key])
                table.loc[i, f"Δ {key}"] = row[key] - float(source[key])
    return table.drop(columns=["paper seconds"], errors="ignore")


def ranks_table(results: pd.DataFrame, control: str = "LTCN") -> pd.DataFrame:
    """Return average ranks by kappa, and Wilcoxon's tests against the control after Holm."""
    kappa, _ = complete(comparable_kappas(results))
    ranks = average_ranks(kappa).rename("rank").rename_axis("classifier").reset_index()
    if control not in kappa:
        return ranks
    joined = ranks.merge(against(kappa, control), on="classifier", how="left")
    return joined.astype({"wins": "Int64", "losses": "Int64"})


def ranks_note(results: pd.DataFrame) -> str:
    """Say what Friedman's test finds, and which methods are left out because a dataset is missing."""
    kappa, incomplete = complete(comparable_kappas(results))
    statistic, p = friedman(kappa)
    text = f"Friedman over {len(kappa)} datasets and {kappa.shape[1]} classifiers: χ² = {statistic:.1f}, p = {p:.1e}."
    return text + (f" Left out, because not finished on every dataset: {', '.join(incomplete)}." if incomplete else "")


def comparable_kappas(results: pd.DataFrame) -> pd.DataFrame:
    """Return kappas, dataset × classifier, of the small grid and of classifiers that take every problem."""
    groups = {entry.name: entry.group for entry in ENTRIES}
    kappa = by_dataset(_without_clean(results[results["grid"] == "small"]))
    return kappa[[name for name in kappa if groups.get(str(name), "beyond") in ("paper", "beyond")]].dropna(how="all")


TABLES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "all": all_table,
    "binary": binary_table,
    "ablation": ablation_table,
    "leak": leak_table,
    "ranks": ranks_table,
}
TITLES = {
    "all": "All classifiers: means over datasets, beside the paper's",
    "binary": "Binary problems",
    "ablation": "Ablation (the paper's two pairs of numbers are swapped there, and put right here)",
    "leak": "Kappa with and without the columns that hold the class",
    "ranks": "Average ranks by kappa; Wilcoxon against LTCN, corrected by Holm",
    "datasets": "Datasets: the files beside the paper's table",
}


def markdown(table: pd.DataFrame) -> str:
    """Return a table as Markdown, numbers with four digits or fewer, gaps empty."""
    lines = ["| " + " | ".join(map(str, table.columns)) + " |", "|---" * table.shape[1] + "|"]
    lines += [
        "| " + " | ".join(_cell(value, str(name)) for name, value in row.items()) + " |" for _, row in table.iterrows()
    ]
    return "\n".join(lines)


def _cell(value: Any, name: str) -> str:
    if value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return ""
    if not isinstance(value, float):
        return str(value)
    if name in ("p", "holm"):
        return f"{value:.1e}"
    return f"{value:+.4f}" if name.startswith("Δ") or name == "difference" else f"{value:.4f}"


def save(table: pd.DataFrame, name: str, folder: Path) -> list[Path]:
    """Write a table as Markdown and as CSV, each under another name first."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {".md": f"## {TITLES[name]}\n\n{markdown(table)}\n", ".csv": table.to_csv(index=False)}
    paths = []
    for suffix, text in texts.items():
        path = folder / f"{name}{suffix}"
        with whole(path) as unfinished:
            unfinished.write_text(text, encoding="utf-8")
        paths.append(path)
    return paths
