"""The paper's claims, each with a verdict computed from data.

A claim states beforehand what would count as support; the verdict is "holds", "does not hold", or an error that names
the run which is missing. Easy to get wrong: choosing the best φ on the very folds that judge it always finds a gain, so
φ is chosen on four folds and judged on the fifth.

Each can be put to ``LTCN``, with inner weights as printed, and to ``LTCN slopes``, with those of the authors' code.
"""

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats
from sklearn.base import clone
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import train_test_split

from ..errors import IllConditionedWarning
from ..estimators.classifier import LTCNClassifier
from .comparison import against, complete
from .datasets import load
from .figures import MissingResultsError
from .registry import Shape, find
from .sweeps import MAX_ITER, readout_curves, swept
from .tables import by_dataset, comparable_kappas, select, whole_times

BLACK_BOXES = ("SVM", "RF", "MLP", "LightGBM")
PAPERS_NINE = ("SVM", "LR", "DT", "RF", "MLP", "RIPPER", "SOM", "FRCN", "LightGBM")
LEVEL = 0.05
FEWEST = 10
"""Fewest datasets of a test whose failure to find a difference says something."""
NOTABLE = 0.01
"""Smallest difference of kappa that is called one."""
CLOSE = 0.02
"""Methods within this kappa of the best are the most accurate ones."""
RELEVANCE_SETS = (
    *("bank", "cardiotocography-10-clean", "cardiotocography-3-clean", "mfeat-fourier", "mfeat-karhunen"),
    *("mfeat-morphological", "mfeat-zernike", "optdigits", "page-blocks", "pendigits", "plant-margin", "plant-shape"),
    *("plant-texture", "segment", "spambase", "vehicle", "waveform", "winequality-red", "winequality-white", "yeast"),
)
"""The paper's problems with 4 to 100 features, without the leak, and each file once."""


@dataclass(frozen=True)
class Verdict:
    """A claim, whether the data support it, and the numbers that decided."""

    claim: str
    holds: bool
    evidence: str

    def __str__(self) -> str:
        return f"{'holds' if self.holds else 'does not hold'}: {self.claim}\n  {self.evidence}"


def fixed_point(results: pd.DataFrame, data_dir: str | None = None, network: str = "LTCN") -> Verdict:
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
    return Verdict("recurrence-aware is unharmed by the unique fixed point", bool(gain.mean() >= -NOTABLE), text)


def linearity(results: pd.DataFrame, data_dir: str | None = None, network: str = "LTCN") -> Verdict:
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
    return Verdict("some problems gain from φ < 1", bool(winners), text)


def _honest_gain(part: pd.DataFrame) -> float:
    """Return the mean over folds of kappa at the φ < 1 that is best on the other folds, less kappa at φ = 1."""
    table = part.pivot_table(index="fold", columns="phi", values="kappa")
    partly = table.drop(columns=1.0)
    picked = [partly.drop(index=fold).mean().idxmax() for fold in table.index]
    return float(np.mean([table.loc[f, phi] - table.loc[f, 1.0] for f, phi in zip(table.index, picked, strict=True)]))


def five_iterations(results: pd.DataFrame, data_dir: str | None = None, network: str = "LTCN") -> Verdict:
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
    return Verdict("there is little gain after five iterations", bool(gain.mean() < CLOSE), text)


def black_boxes(results: pd.DataFrame, data_dir: str | None = None, network: str = "LTCN") -> Verdict:
    """Test that the network is comparable to black boxes: none is better by Wilcoxon's test after Holm at `LEVEL`.

    Those take part that are finished wherever the network is.
    """
    kappa = _kappas(results)
    kappa = kappa[kappa[network].notna()] if network in kappa else kappa[:0]
    rivals = [name for name in BLACK_BOXES if name in kappa and kappa[name].notna().all()]
    if kappa.empty or not rivals:
        raise MissingResultsError(f"{network} and a black box must be finished: run `cogmap study run` first.")
    kappa = _enough(kappa[[network, *rivals]])
    table = against(kappa, network)
    better = table[(table["difference"] > 0) & (table["holm"] < LEVEL)]["classifier"].tolist()
    shown = ", ".join(f"{r.classifier} {r.difference:+.3f} (p = {r.holm:.2g})" for r in table.itertuples())
    text = f"Kappa of each less that of {network} over {len(kappa)} datasets: {shown}."
    return Verdict(f"{network} is comparable to black boxes", not better, text)


def fastest(results: pd.DataFrame, data_dir: str | None = None, network: str = "LTCN") -> Verdict:
    """Test that the network trains fastest among the most accurate of the ten: those within `CLOSE` of the best."""
    ten = (*PAPERS_NINE, network)
    kappa, _ = complete(_kappas(results)[lambda table: [name for name in ten if name in table]])
    seconds = whole_times(select(results)).reindex(kappa.index).mean()
    if network not in kappa or network not in seconds:
        raise MissingResultsError(f"{network} must be finished and timed: run `cogmap study run` first.")
    mean = kappa.mean()
    accurate = [name for name in mean.index if mean[name] >= mean.max() - CLOSE]
    shown = ", ".join(f"{name} {mean[name]:.3f} in {seconds[name]:.2f} s" for name in accurate)
    holds = network in accurate and bool(seconds[accurate].idxmin() == network)
    return Verdict(f"{network} is the fastest among the most accurate", holds, f"Within {CLOSE} of the best: {shown}.")


def both_steps(results: pd.DataFrame, data_dir: str | None = None, network: str = "LTCN") -> Verdict:
    """Test that both learning steps contribute: the network beats both kinds of random weights, Wilcoxon after Holm."""
    names = [network, "random inner weights", "random outer weights"]
    kappa = by_dataset(select(results))
    if not set(names) <= set(kappa):
        raise MissingResultsError(
            f"The ablation is not finished: run `cogmap study run --classifiers '{network},ablation'`."
        )
    kappa = _enough(kappa[names].dropna())
    table = against(kappa, network)
    holds = bool(((table["difference"] < 0) & (table["holm"] < LEVEL)).all())
    shown = ", ".join(f"{r.classifier} {kappa[r.classifier].mean():.3f} (p = {r.holm:.2g})" for r in table.itertuples())
    text = f"Mean kappa over {len(kappa)} datasets: {network} {kappa[network].mean():.3f}, {shown}."
    return Verdict("both learning steps contribute", holds, text)


def relevance(results: pd.DataFrame, data_dir: str | None = None, network: str = "LTCN") -> Verdict:
    """Test that relevance, which is read from the weights alone, matters.

    In test rows, shuffling the quarter of the features with the largest relevance must cost more kappa than shuffling
    the quarter with the smallest, by Wilcoxon's one-sided test over datasets, for the network with T = 20.
    """
    costs_of = {}
    inner = find(network).make(Shape(2, 2, 2)).inner
    models = {
        network: LTCNClassifier.paper(inner=inner),
        f"{network} but T = 5": LTCNClassifier.paper(inner=inner, max_iter=5),
        "LTCNClassifier()": LTCNClassifier(),
    }
    for label, model in models.items():
        costs = np.array([shuffling_costs(model, name, data_dir) for name in RELEVANCE_SETS])
        p = float(stats.wilcoxon(costs[:, 0] - costs[:, 1], alternative="greater").pvalue)
        costs_of[label] = p, *costs.mean(axis=0), int((costs[:, 0] > costs[:, 1]).sum())
    text = f"Kappa lost by shuffling the most and the least relevant quarter, mean of {len(RELEVANCE_SETS)} datasets. "
    text += "; ".join(
        f"{label}: {top:.3f} and {bottom:.3f} (more on {wins}, p = {p:.2g})"
        for label, (p, top, bottom, wins) in costs_of.items()
    )
    return Verdict("relevance needs no post-hoc method", costs_of[network][0] < LEVEL, text + ".")


def shuffling_costs(model: Any, name: str, data_dir: str | None = None) -> tuple[float, float]:
    """Return how much test kappa falls when the most, and the least, relevant quarter of the features is shuffled."""
    data = load(name, data_dir).without_rare(2)
    X, X_test, y, y_test = train_test_split(data.X, data.y, test_size=0.3, random_state=0, stratify=data.y)
    with warnings.catch_warnings():
        # The paper's readout is ill-conditioned; what it says of itself here is what is judged.
        warnings.simplefilter("ignore", IllConditionedWarning)
        model = clone(model).fit(X, y)
    order = np.argsort(-model.relevance(), kind="stable")
    n = max(1, len(order) // 4)
    whole = cohen_kappa_score(y_test, model.predict(X_test))
    costs = []
    for features in (order[:n], order[-n:]):
        kappas = []
        for seed in range(5):
            shuffled = X_test.copy()
            shuffled[:, features] = np.random.default_rng(seed).permutation(X_test[:, features])
            kappas.append(cohen_kappa_score(y_test, model.predict(shuffled)))
        costs.append(float(whole - np.mean(kappas)))
    return costs[0], costs[1]


def _curves(results: pd.DataFrame, network: str) -> pd.DataFrame:
    curves = readout_curves(swept(results, network))
    if not {"final", "trajectory"} <= set(curves.columns) or 0.0 not in curves.index.get_level_values("phi"):
        raise MissingResultsError("There is no sweep of φ with both readouts: run `cogmap study sweep readouts` first.")
    return curves.dropna()


def _enough(kappa: pd.DataFrame) -> pd.DataFrame:
    if len(kappa) < FEWEST:
        raise MissingResultsError(
            f"Only {len(kappa)} datasets are finished, and the test needs {FEWEST}: run `cogmap study run` on more."
        )
    return kappa


def _kappas(results: pd.DataFrame) -> pd.DataFrame:
    return comparable_kappas(select(results))


CLAIMS: dict[str, Callable[[pd.DataFrame, str | None, str], Verdict]] = {
    "fixed-point": fixed_point,
    "linearity": linearity,
    "five-iterations": five_iterations,
    "black-boxes": black_boxes,
    "fastest": fastest,
    "both-steps": both_steps,
    "relevance": relevance,
}
