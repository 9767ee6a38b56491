"""The paper's claims on predictive power and on speed, from the tuned runs with the small grid."""

import numpy as np
import pandas as pd

from .comparison import against, complete, holm
from .datasets import CLEAN
from .tables import by_dataset, comparable_kappas, paper_numbers, select, whole_times
from .verdict import CLOSE, FAR, LEVEL, MissingResultsError, Verdict, enough, wilcoxon

BLACK_BOXES = ("SVM", "RF", "MLP", "LightGBM")
WHITE_BOXES = ("LR", "DT", "GAM", "HyRS")
"""The paper's white boxes but RIPPER, which it excepts; GAM and HyRS take binary problems only."""
PAPERS_NINE = ("SVM", "LR", "DT", "RF", "MLP", "RIPPER", "SOM", "FRCN", "LightGBM")


def black_boxes(results: pd.DataFrame, network: str = "LTCN") -> Verdict:
    """Test that the network is comparable to black boxes: none is better by Wilcoxon's test after Holm at `LEVEL`.

    Those take part that are finished wherever the network is.
    """
    kappa = comparable_kappas(select(results))
    kappa = kappa[kappa[network].notna()] if network in kappa else kappa[:0]
    rivals = [name for name in BLACK_BOXES if name in kappa and kappa[name].notna().all()]
    if kappa.empty or not rivals:
        raise MissingResultsError(f"{network} and a black box must be finished: run `cogmap study run` first.")
    kappa = enough(kappa[[network, *rivals]])
    table = against(kappa, network)
    better = table[(table["difference"] > 0) & (table["holm"] < LEVEL)]
    most = table.loc[table["difference"].idxmax()]
    shown = ", ".join(f"{r.classifier} {r.difference:+.3f} (p = {r.holm:.2g})" for r in table.itertuples())
    return Verdict(
        f"{network} is comparable to black boxes",
        better.empty,
        f"{most['classifier']} {most['difference']:+.3f}",
        float(most["holm"]),
        f"Kappa of each less that of {network} over {len(kappa)} datasets: {shown}.",
    )


def white_boxes(results: pd.DataFrame, network: str = "LTCN") -> Verdict:
    """Test that the network is far superior to white boxes but RIPPER: by `FAR` of kappa, Wilcoxon's p after Holm.

    Each is compared on the datasets that it is finished on: two of them take binary problems only.
    """
    kappa = by_dataset(small(results))
    if network not in kappa or not set(WHITE_BOXES[:2]) <= set(kappa):
        raise MissingResultsError(f"{network} and white boxes must be finished: run `cogmap study run` first.")
    names = [name for name in (*WHITE_BOXES, "RIPPER") if name in kappa]
    gains = {name: (kappa[network] - kappa[name]).dropna() for name in names}
    enough(gains["LR"].to_frame())
    judged = [name for name in names if name != "RIPPER"]
    p = dict(zip(judged, holm(np.array([wilcoxon(gains[name]) for name in judged])), strict=True))
    least = min(judged, key=lambda name: gains[name].mean())
    shown = ", ".join(f"{name} {gain.mean():+.3f} on {len(gain)} sets" for name, gain in gains.items())
    return Verdict(
        f"{network} is far superior to white boxes but RIPPER",
        all(gains[name].mean() > FAR and p[name] < LEVEL for name in judged),
        f"{gains[least].mean():+.3f} against {least}",
        float(max(p.values())),
        f"Kappa of {network} less that of each: {shown}. The figure is the smallest, p the largest after Holm.",
    )


def small(results: pd.DataFrame) -> pd.DataFrame:
    """Return the runs with the small grid on the paper's datasets as they are."""
    runs = select(results)
    return runs[(runs["grid"] == "small") & ~runs["dataset"].str.endswith(CLEAN)]


def ripper(results: pd.DataFrame, network: str = "LTCN") -> Verdict:
    """Test that RIPPER has the higher accuracy, and the network the higher kappa, by the signs of both means."""
    runs = small(results)
    kappa, accuracy = by_dataset(runs), by_dataset(runs, "accuracy")
    if not {network, "RIPPER"} <= set(kappa):
        raise MissingResultsError(f"{network} and RIPPER must be finished: run `cogmap study run` first.")
    gains = [enough(table[[network, "RIPPER"]].dropna()).diff(axis=1)["RIPPER"] for table in (accuracy, kappa)]
    printed = paper_numbers("results").astype(float)
    return Verdict(
        f"RIPPER has a higher accuracy than {network}, and a lower kappa",
        bool(gains[0].mean() > 0 > gains[1].mean()),
        f"accuracy {gains[0].mean():+.3f}, kappa {gains[1].mean():+.3f}",
        wilcoxon(gains[0]),
        f"RIPPER: accuracy {accuracy['RIPPER'].mean():.4f}, kappa {kappa['RIPPER'].mean():.4f}; the paper prints "
        f"{printed.loc['RIPPER', 'accuracy']:.4f} and {printed.loc['RIPPER', 'kappa']:.4f}. p is of the accuracies.",
    )


def fastest(results: pd.DataFrame, network: str = "LTCN") -> Verdict:
    """Test that the network trains fastest among the most accurate of the ten: those within `CLOSE` of the best."""
    ten = (*PAPERS_NINE, network)
    kappa, _ = complete(comparable_kappas(select(results))[lambda table: [name for name in ten if name in table]])
    times = whole_times(select(results)).reindex(kappa.index)
    if network not in kappa or network not in times:
        raise MissingResultsError(f"{network} must be finished and timed: run `cogmap study run` first.")
    mean, seconds = kappa.mean(), times.mean()
    accurate = [name for name in mean.index if mean[name] >= mean.max() - CLOSE and name in times]
    shown = ", ".join(f"{name} {mean[name]:.3f} in {seconds[name]:.2f} s" for name in accurate)
    quickest = seconds[[name for name in accurate if name != network] or [network]].idxmin()
    return Verdict(
        f"{network} is the fastest among the most accurate",
        network in accurate and bool(seconds[accurate].idxmin() == network),
        f"kappa {mean[network] - mean.max():+.3f}, {seconds[network]:.2f} s ({quickest}: {seconds[quickest]:.2f} s)",
        wilcoxon((times[network] - times[quickest]).dropna()),
        f"Within {CLOSE} of the best: {shown}. p is of the times.",
    )


def both_steps(results: pd.DataFrame, network: str = "LTCN") -> Verdict:
    """Test that both learning steps contribute: the network beats both kinds of random weights, Wilcoxon after Holm."""
    names = [network, "random inner weights", "random outer weights"]
    kappa = by_dataset(select(results))
    if not set(names) <= set(kappa):
        raise MissingResultsError(
            f"The ablation is not finished: run `cogmap study run --classifiers '{network},ablation'`."
        )
    kappa = enough(kappa[names].dropna())
    table = against(kappa, network)
    holds = bool(((table["difference"] < 0) & (table["holm"] < LEVEL)).all())
    shown = ", ".join(f"{r.classifier} {kappa[r.classifier].mean():.3f} (p = {r.holm:.2g})" for r in table.itertuples())
    least = table.loc[table["difference"].idxmax()]
    return Verdict(
        "both learning steps contribute",
        holds,
        f"{-least['difference']:+.3f} against {least['classifier']}",
        float(least["holm"]),
        f"Mean kappa over {len(kappa)} datasets: {network} {kappa[network].mean():.3f}, {shown}.",
    )
