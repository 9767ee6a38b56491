"""What each column adds to the scores of a row: Shapley values over columns, from rows that mix whole values only.

Columns of a background row are replaced by those of the row, one after the other; a column adds what the score changes
by when it is its turn. Shapley's value is the mean over all orders, and over the background. Here each background row
has one random order, taken forwards and backwards. Values add up to f(row) − mean f(background) exactly; for one or two
columns, and for scores that are sums over columns, they are Shapley's exactly.

Easy to get wrong: a straight line from an average row to this one passes between the values of a category, where no row
lies. Nothing keeps the late iterations small there, so that integrals along the line can exceed the scores by far.
"""

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from .core.activation import Array

Scores = Callable[[Array], Array]


def shapley_values(
    scores: Scores, rows: Array, background: Array, groups: Sequence[NDArray[np.intp]], seed: int = 0
) -> tuple[Array, Array]:
    """Return what each group of features adds to the scores of rows, and the mean scores of the background.

    Parameters
    ----------
    scores : callable
        Takes rows of shape (m, F) to scores of shape (m, N).
    rows : array of shape (n, F)
        Rows to explain.
    background : array of shape (B, F)
        Rows to compare them with.
    groups : sequence of G int arrays
        Features that change together; every feature is in one group.
    seed : int, default=0
        Seed of the orders.

    Returns
    -------
    values : array of shape (n, G, N)
        What each group adds.
    start : array of shape (N,)
        Mean scores of the background.
    """
    turn = _turns(len(background), len(groups), seed)
    own = np.empty(background.shape[1], dtype=np.intp)
    for g, group in enumerate(groups):
        own[group] = g
    # A feature is the row's own once its group has had its turn; steps 0 … G, shape (2B, G + 1, F).
    replaced = turn[:, None, own] < np.arange(len(groups) + 1)[None, :, None]
    start = np.concatenate([background, background])[:, None]
    values = []
    for row in rows:
        mixed = np.where(replaced, row, start)
        found = scores(mixed.reshape(-1, mixed.shape[2])).reshape(*mixed.shape[:2], -1)
        gains = np.diff(found, axis=1)
        values.append(np.take_along_axis(gains, turn[:, :, None], axis=1).mean(axis=0))
    return np.array(values), scores(background).mean(axis=0)


def _turns(n_background: int, n_groups: int, seed: int) -> NDArray[np.intp]:
    """Return when each group has its turn, shape (2B, G): random orders, then the same backwards."""
    orders = np.tile(np.arange(n_groups), (n_background, 1))
    forwards = np.random.default_rng(seed).permuted(orders, axis=1)
    return np.concatenate([forwards, n_groups - 1 - forwards])
