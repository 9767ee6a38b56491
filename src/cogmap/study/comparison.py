"""Statistics over datasets: average ranks, Friedman's test, Wilcoxon's tests after Holm, the critical difference.

Easy to get wrong: every test here needs complete blocks, a number for each classifier on each dataset. And Holm's
step-down p-values must not decrease along the ordered hypotheses.
"""

from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

from ..core.types import Array


def complete(scores: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return the columns without a gap of a dataset × classifier table, and the names of the others."""
    whole = scores.dropna(axis=1)
    return whole, [str(name) for name in scores.columns if name not in whole.columns]


def average_ranks(scores: pd.DataFrame) -> pd.Series:
    """Return the mean rank of each column, 1 for the largest score in every row, ties shared; best first."""
    return scores.rank(axis=1, ascending=False).mean().sort_values(kind="stable")


def friedman(scores: pd.DataFrame) -> tuple[float, float]:
    """Return Friedman's statistic and its p-value that all columns rank alike; needs three columns."""
    if scores.shape[1] < 3 or len(scores) < 2:
        return float("nan"), float("nan")
    statistic, p = stats.friedmanchisquare(*(scores[name] for name in scores))
    return float(statistic), float(p)


def holm(p_values: Array) -> Array:
    """Return p-values after Holm's correction: the k-th smallest times (m − k + 1), made monotone, at most 1."""
    order = np.argsort(p_values, kind="stable")
    scaled = p_values[order] * np.arange(len(p_values), 0, -1)
    corrected = np.empty(len(p_values))
    corrected[order] = np.minimum(np.maximum.accumulate(scaled), 1.0)
    return corrected


def against(scores: pd.DataFrame, control: str) -> pd.DataFrame:
    """Compare every other column with the control by Wilcoxon's signed-rank test, corrected by Holm.

    Returns
    -------
    DataFrame
        For each column its mean difference to the control (positive: better than the control), wins and losses, p and
        Holm's p.
    """
    rows: list[dict[str, Any]] = []
    for name in scores.columns.drop(control):
        difference = scores[name] - scores[control]
        p = 1.0 if not difference.any() else float(stats.wilcoxon(difference).pvalue)
        wins, losses = int((difference > 0).sum()), int((difference < 0).sum())
        rows.append({"classifier": name, "difference": difference.mean(), "wins": wins, "losses": losses, "p": p})
    table = pd.DataFrame(rows, columns=["classifier", "difference", "wins", "losses", "p"])
    return table.assign(holm=holm(table["p"].to_numpy(np.float64)))


def critical_difference(n_classifiers: int, n_datasets: int, level: float = 0.05) -> float:
    """Return Nemenyi's critical difference q √(k (k + 1) / 6n), q the studentised range over √2."""
    q = stats.studentized_range.ppf(1 - level, n_classifiers, np.inf) / np.sqrt(2)
    return float(q * np.sqrt(n_classifiers * (n_classifiers + 1) / (6 * n_datasets)))


def cliques(ranks: pd.Series, difference: float) -> list[tuple[float, float]]:
    """Return the longest runs of sorted ranks that lie within the difference, as their ends; single ranks are none."""
    values = np.sort(ranks.to_numpy(np.float64))
    last = [int(np.searchsorted(values, v + difference, side="right")) - 1 for v in values]
    ends = [(i, j) for i, j in enumerate(last) if j > i and (i == 0 or last[i - 1] < j)]
    return [(float(values[i]), float(values[j])) for i, j in ends]
