"""What features add to the evidence for classes, for single rows and for relevance alike.

Evidence for a class is its log-odds, a linear function of the scores (`core.decision.decision`). Features
get their parts of it as Shapley values (`shapley`) against *other rows*: training rows that the model kept, taken so
that they stand for all of them, or one row that was given.

Easy to get wrong: a network and the table over it must compare with the same rows in the same orders. Features that are
constant in training are therefore left out before orders are drawn, and the number of rows follows from what is left.
"""

from collections.abc import Callable, Hashable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.explain.relevance import correlated_groups
from ..core.fit.fitted import Fitted
from ..core.sums.space import NUMPY
from ..core.types import Array
from .shapley import shapley_values

Groups = Sequence[NDArray[np.intp]]

BACKGROUND, LEAST_BACKGROUND = 32, 4
"""Most and fewest training rows with which a row is compared."""

EVALUATIONS = 4096
"""Scores that the evidence of one row may take, as long as the fewest rows do with it."""

BOUND, MOST_BOUND = 0.9, 1024
"""Absolute correlation from which on features are bound to each other; with more features none are."""


def single_features(fitted: Fitted) -> Groups:
    """Return each feature as a group of its own."""
    return list(np.arange(fitted.n_features)[:, None])


def by_size(values: Array, count: int) -> tuple[list[int], list[int]]:
    """Return the positions of the `count` largest values by their size, and of the others; what is 0 is neither."""
    order = [int(j) for j in np.argsort(-np.abs(values), kind="stable") if values[j]]
    return order[:count], order[count:]


def spread_rows(fitted: Fitted, count: int) -> Array:
    """Return `count` of the training rows that the model kept, so that they stand for all of them.

    They are spread evenly over the weight of these rows, predicted class by predicted class: a row of twice the weight
    comes twice as often, and classes have their shares.
    """
    kept, weight = fitted.summary.rows, fitted.summary.weight
    order = np.argsort(fitted.scores(kept).argmax(axis=1), kind="stable")
    reached = np.cumsum(weight[order] / weight.sum())
    chosen = np.searchsorted(reached, (np.arange(count) + 0.5) / count)
    spread: Array = kept[order[np.minimum(chosen, len(kept) - 1)]]
    return spread


def n_other_rows(n_groups: int) -> int:
    """Return how many training rows a row is compared with: fewer where many features share the work."""
    return min(max(EVALUATIONS // (2 * max(n_groups, 1)), LEAST_BACKGROUND), BACKGROUND)


def scaled_features(fitted: Fitted, rows: Array) -> Array:
    """Return the features as the first network scales them; constant ones are 0."""
    concepts = fitted.networks[0].concepts
    scaled = np.zeros_like(rows)
    for j, line in zip(np.flatnonzero(concepts.varies), concepts.scaling.lines(NUMPY), strict=True):
        scaled[:, j] = line(rows[:, j])
    return scaled


def bonds(fitted: Fitted, groups: Groups) -> Groups:
    """Return the groups that are nearly collinear in the kept rows, together; most are alone.

    Two groups are as correlated as the two features of theirs that are most.
    """
    if len(groups) > MOST_BOUND:
        return list(np.arange(len(groups))[:, None])
    features = np.concatenate([np.asarray(group) for group in groups]) if groups else np.array([], dtype=np.intp)
    scaled = scaled_features(fitted, fitted.summary.rows)[:, features]
    scaled = scaled - scaled.mean(axis=0)
    spread = np.sqrt((scaled**2).sum(axis=0))
    scaled = np.divide(scaled, spread, out=np.zeros_like(scaled), where=spread > 0)
    first = np.cumsum([0, *map(len, groups)])[:-1]
    correlation = np.abs(scaled.T @ scaled)
    for axis in (0, 1):
        correlation = np.maximum.reduceat(correlation, first, axis=axis) if len(groups) else correlation
    return correlated_groups(correlation, BOUND)


def attribute(
    fitted: Fitted, rows: Array, scores: Array, directions: Array, groups: Groups, baseline: Array | None
) -> tuple[Array, Array]:
    """Return what groups of features add to scores · `directions` of rows.

    Parameters
    ----------
    fitted : Fitted
        The classifier.
    rows, scores : arrays of shape (n, F) and (n, N)
        Checked rows and their scores.
    directions : array of shape (N, K)
        What is explained, as linear functions of the scores.
    groups : sequence of G int arrays
        Features that change together.
    baseline : array of shape (F,) or None
        The row with which rows are compared; None for training rows.

    Returns
    -------
    values : array of shape (n, G, K)
        What each group adds; exactly 0 for one that is constant in training.
    start : array of shape (K,)
        What the rows that are compared with have in the mean.
    """
    varies = fitted.networks[0].concepts.varies
    used = [g for g, group in enumerate(groups) if varies[group].any()]
    count = n_other_rows(len(used))
    players = [groups[g] for g in used]
    # Neither depends on the rows; together they take a fifth of the time of one row.
    bound = _kept(fitted, ("bonds", *(tuple(group) for group in players)), lambda: bonds(fitted, players))
    if baseline is None:
        background = _kept(fitted, ("background", count), lambda: spread_rows(fitted, count))
    else:
        background = np.tile(baseline, (count, 1))
    values = np.zeros((len(rows), len(groups), directions.shape[1]))
    values[:, used], start = shapley_values(
        lambda mixed: fitted.scores(mixed) @ directions,
        rows,
        background,
        players,
        known=scores @ directions,
        bonds=bound,
    )
    return values, start


def _kept(fitted: Fitted, key: Hashable, compute: Callable[[], Any]) -> Any:
    """Return what is computed once for each fit."""
    if key not in fitted.memory:
        fitted.memory[key] = compute()
    return fitted.memory[key]
