"""What features add to the evidence for classes, for single rows and for relevance alike.

Evidence for a class is its log-odds, a linear function of the scores (`core.decision.evidence_directions`). Features get
their parts of it as Shapley values (`shapley`) against *other rows*: training rows that the model kept, taken so that
they stand for all of them, or one row that was given.

Easy to get wrong: a network and the table over it must compare with the same rows in the same orders. Features that are
constant in training are therefore left out before orders are drawn, and the number of rows follows from what is left.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from .core.activation import Array
from .estimator import NetworkClassifier
from .shapley import shapley_values

Groups = Sequence[NDArray[np.intp]]

BACKGROUND, LEAST_BACKGROUND = 32, 4
"""Most and fewest training rows with which a row is compared."""

EVALUATIONS = 4096
"""Scores that the evidence of one row may take, as long as the fewest rows do with it."""


def scores_of(estimator: NetworkClassifier, rows: Array) -> Array:
    """Return the scores of checked rows, shape (n, n_classes)."""
    return estimator._decision(estimator._raw(rows))


def single_features(estimator: NetworkClassifier) -> Groups:
    """Return each feature as a group of its own."""
    return list(np.arange(estimator.n_features_in_)[:, None])


def other_rows(estimator: NetworkClassifier, n_groups: int) -> Array:
    """Return the training rows with which rows are compared, fewer where many features share the work.

    They are spread evenly over the weight of the rows that the model kept, predicted class by predicted class, so that
    classes have their shares.
    """
    kept, weight = estimator._summary.rows, estimator._summary.weight
    count = int(np.clip(EVALUATIONS // (2 * max(n_groups, 1)), LEAST_BACKGROUND, BACKGROUND))
    order = np.argsort(scores_of(estimator, kept).argmax(axis=1), kind="stable")
    reached = np.cumsum(weight[order] / weight.sum())
    chosen = np.searchsorted(reached, (np.arange(count) + 0.5) / count)
    found: Array = kept[order[np.minimum(chosen, len(kept) - 1)]]
    return found


def attribute(
    estimator: NetworkClassifier, rows: Array, scores: Array, directions: Array, groups: Groups, baseline: Array | None
) -> tuple[Array, Array]:
    """Return what groups of features add to scores · `directions` of rows.

    Parameters
    ----------
    estimator : fitted classifier
        The network.
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
    varies = estimator._networks[0].concepts.varies
    used = [g for g, group in enumerate(groups) if varies[group].any()]
    background = other_rows(estimator, len(used))
    if baseline is not None:
        background = np.tile(baseline, (len(background), 1))
    values = np.zeros((len(rows), len(groups), directions.shape[1]))
    values[:, used], start = shapley_values(
        lambda mixed: scores_of(estimator, mixed) @ directions,
        rows,
        background,
        [groups[g] for g in used],
        known=scores @ directions,
    )
    return values, start
