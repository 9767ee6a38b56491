"""The paper's claim on relevance, from runs in which features of test rows were shuffled (`protocol.evaluate`)."""

import pandas as pd

from .protocol import WHOLE
from .sweeps import MAX_ITER, relevance_grid
from .verdict import LEVEL, MissingResultsError, Verdict, enough, wilcoxon


def relevance(results: pd.DataFrame, network: str = "LTCN") -> Verdict:
    """Test that Ω, which is read from the weights alone, matters.

    In test rows, shuffling the quarter of the features with the largest Ω must cost more kappa than shuffling the
    quarter with the smallest, by Wilcoxon's one-sided test over datasets, for the network with φ = .8 and T = 20.
    """
    kinds = {
        f"Ω, T = {MAX_ITER}": (network, MAX_ITER, "paper"),
        "Ω, T = 5": (network, 5, "paper"),
        "relevance() of LTCNClassifier()": ("LTCNClassifier", None, "model"),
    }
    gains = {label: _gain(results, *kind) for label, kind in kinds.items()}
    first = gains[f"Ω, T = {MAX_ITER}"]
    if first.empty:
        raise MissingResultsError(
            f"No features were shuffled: run `cogmap study sweep relevance --classifier '{network}'`."
        )
    enough(first.to_frame())
    shown = "; ".join(
        f"{label}: {gain.mean():+.3f} ({int((gain > 0).sum())} of {len(gain)}, p = {wilcoxon(gain, 'greater'):.2g})"
        for label, gain in gains.items()
        if len(gain)
    )
    p = wilcoxon(first, "greater")
    return Verdict(
        "the relevance Ω says which features matter",
        p < LEVEL,
        f"{first.mean():+.3f} of kappa",
        p,
        f"Kappa that shuffling the most relevant quarter costs beyond the least relevant one: {shown}.",
    )


def _gain(results: pd.DataFrame, classifier: str, max_iter: int | None, kind: str) -> pd.Series:
    """Return, by dataset, kappa with the least relevant features shuffled less that with the most relevant ones."""
    rows = results[(results["classifier"] == classifier) & (results["fold"] != WHOLE) & (results["error"] == "")]
    kappa = [
        rows[rows["grid"] == relevance_grid(max_iter, kind, which)].groupby("dataset")["kappa"].mean()
        for which in ("least", "most")
    ]
    return (kappa[0] - kappa[1]).dropna()
