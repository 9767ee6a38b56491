"""The paper's claims on reasoning: what becomes of kappa as φ and T change, for both readouts. From the sweeps.

Easy to get wrong: choosing the best φ on the very folds that judge it always finds a gain, so φ is chosen on four folds
and judged on the fifth.
"""

import numpy as np
import pandas as pd
from scipy import stats

from .sweeps import MAX_ITER, classic_kappas, readout_curves, swept
from .verdict import CLOSE, LEVEL, NOTABLE, MissingResultsError, Verdict, wilcoxon


def fixed_point(results: pd.DataFrame, network: str = "LTCN") -> Verdict:
    """Test that recurrence-aware reading is unharmed by the unique fixed point.

    Where the final state has collapsed (kappa below half of linear regression's, which is φ = 0), the recurrence-aware
    kappa must on average be no worse than linear regression's by more than `NOTABLE`.
    """
    curves = _curves(results, network)
    linear = curves["trajectory"].xs(0.0, level="phi").rename("linear")
    joined = curves.reset_index().merge(linear, left_on="dataset", right_index=True)
    bent = joined[joined["phi"] > 0]
    collapsed = bent[bent["final"] < bent["linear"] / 2]
    gain = collapsed["trajectory"] - collapsed["linear"]
    text = (
        f"The final state collapsed in {len(collapsed)} of {len(bent)} pairs of dataset and φ > 0; there its mean "
        f"kappa is {collapsed['final'].mean():.3f}, the recurrence-aware one {collapsed['trajectory'].mean():.3f}, "
        f"linear regression {collapsed['linear'].mean():.3f}; worse than linear by more than {CLOSE} in "
        f"{int((gain < -CLOSE).sum())}."
    )
    p = wilcoxon(gain.groupby(collapsed["dataset"]).mean()) if len(gain) else 1.0
    return Verdict(
        "recurrence-aware is unharmed by the unique fixed point",
        bool(gain.mean() >= -NOTABLE),
        f"{gain.mean():+.3f} against linear regression where the final state collapsed",
        p,
        text,
    )


def classic_worse(results: pd.DataFrame, network: str = "LTCN") -> Verdict:
    """Test that the classic readout is worse than linear regression: its mean kappa over 0 < φ < 1, by Wilcoxon's test.

    At φ = 1 nobody doubts it.
    """
    kappa = _curves(results, network)["final"].unstack("phi")
    linear, inside = kappa[0.0], kappa.drop(columns=[0.0, 1.0], errors="ignore").mean(axis=1)
    gain, p = (inside - linear).mean(), wilcoxon(inside - linear)
    loose = classic_kappas(results, network)
    text = f"Mean kappa of {len(kappa)} datasets by φ, cut-off 1e-6: {_by_phi(kappa)}; cut-off 1e-15: "
    return Verdict(
        "the classic readout is worse than linear regression",
        bool(gain < 0 and p < LEVEL),
        f"{gain:+.3f} for 0 < φ < 1, {(kappa.iloc[:, -1] - linear).mean():+.3f} at φ = {kappa.columns[-1]:g}",
        p,
        f"{text}{_by_phi(loose) if len(loose) else 'not run'}.",
    )


def _by_phi(kappa: pd.DataFrame) -> str:
    return ", ".join(f"{phi:g} {value:.3f}" for phi, value in kappa.mean().items())


def larger_phi(results: pd.DataFrame, network: str = "LTCN") -> Verdict:
    """Test that larger φ is better: kappa rises along φ > 0, by Page's test, and φ = 1 is best but for `NOTABLE`."""
    table = _curves(results, network)["trajectory"].unstack("phi").drop(columns=0.0)
    mean = table.mean()
    p = float(stats.page_trend_test(table.to_numpy()).pvalue) if table.shape[1] > 2 and len(table) > 1 else 1.0
    shown = dict.fromkeys([mean.index[0], mean.idxmax(), mean.index[-1]])
    return Verdict(
        "larger φ is better",
        bool(p < LEVEL and mean.iloc[-1] >= mean.max() - NOTABLE),
        ", ".join(f"{mean[phi]:.3f} at φ = {phi:g}" for phi in shown),
        p,
        f"Mean recurrence-aware kappa of {len(table)} datasets by φ: {_by_phi(table)}. p is Page's, for a steady rise.",
    )


def linearity(results: pd.DataFrame, network: str = "LTCN") -> Verdict:
    """Test that some problems gain from φ < 1: φ chosen on the other folds gains `NOTABLE` of kappa somewhere."""
    sweep = swept(results, network)
    rows = sweep[(sweep["max_iter"] == MAX_ITER) & (sweep["readout"] == "trajectory") & (sweep["phi"] > 0)]
    if rows.empty or 1.0 not in set(rows["phi"]):
        raise MissingResultsError("There is no sweep of φ: run `cogmap study sweep readouts` first.")
    whole = {name: part for name, part in rows.groupby("dataset") if set(part["phi"]) == set(rows["phi"])}
    gains = {str(name): _honest_gain(part) for name, part in whole.items()}
    winners = sorted((name for name, gain in gains.items() if gain > NOTABLE), key=lambda name: -gains[name])
    shown = ", ".join(f"{name} {gains[name]:+.3f}" for name in winners[:5]) or "none"
    text = f"{len(winners)} of {len(gains)} datasets gain more than {NOTABLE} of kappa over φ = 1; the most: {shown}."
    mean = float(np.mean(list(gains.values())))
    return Verdict(
        "some problems gain from φ < 1",
        bool(winners),
        f"{len(winners)} of {len(gains)} datasets, {mean:+.3f} on average",
        wilcoxon(np.array(list(gains.values()))),
        text,
    )


def _honest_gain(part: pd.DataFrame) -> float:
    """Return the mean over folds of kappa at the φ < 1 that is best on the other folds, less kappa at φ = 1."""
    table = part.pivot_table(index="fold", columns="phi", values="kappa")
    partly = table.drop(columns=1.0)
    picked = [partly.drop(index=fold).mean().idxmax() for fold in table.index]
    return float(np.mean([table.loc[f, phi] - table.loc[f, 1.0] for f, phi in zip(table.index, picked, strict=True)]))


def five_iterations(results: pd.DataFrame, network: str = "LTCN") -> Verdict:
    """Test that little is gained after five iterations: the mean kappa at T = 20 is larger by less than `CLOSE`."""
    sweep = swept(results, network)
    table = sweep[(sweep["readout"] == "trajectory") & (sweep["phi"] > 0)].pivot_table(
        index=["dataset", "phi"], columns="max_iter", values="kappa"
    )
    if not {5, MAX_ITER} <= set(table.columns):
        raise MissingResultsError("There is no sweep of φ and T: run `cogmap study sweep maps` first.")
    table = table.dropna(subset=[5, MAX_ITER])
    gain = (table[MAX_ITER] - table[5]).groupby("dataset").mean()
    largest = ", ".join(f"{name} {value:+.3f}" for name, value in gain.sort_values(ascending=False).head(3).items())
    text = f"Mean gain from T = 5 to T = {MAX_ITER}: {gain.mean():+.4f} over {len(gain)} datasets; the most: {largest}."
    return Verdict(
        "there is little gain after five iterations",
        bool(gain.mean() < CLOSE),
        f"{gain.mean():+.3f} from T = 5 to {MAX_ITER}",
        wilcoxon(gain),
        text,
    )


def _curves(results: pd.DataFrame, network: str) -> pd.DataFrame:
    curves = readout_curves(swept(results, network))
    if not {"final", "trajectory"} <= set(curves.columns) or 0.0 not in curves.index.get_level_values("phi"):
        raise MissingResultsError("There is no sweep of φ with both readouts: run `cogmap study sweep readouts` first.")
    return curves.dropna()
