"""What each feature adds to the scores of a row: Shapley values, from rows that mix whole values only.

Features of a background row are replaced by those of the row, one after the other; a feature adds what the score
changes by when it is its turn. Shapley's value is the mean over all orders, and over the background. Here each
background row has one random order, taken forwards and backwards. Values add up to f(row) − mean f(background); for one
or two features, and for scores that are sums over features, they are Shapley's exactly. Nothing but scores is asked
for, so every readout has them. What belongs together, such as the concepts of one column, takes its turn together.

Features that are bound to each other, as collinear ones are, take their turns one right after the other (Owen's value).
In any other order most of the mixed rows would break the bond, and what the model says about rows that cannot be would
be counted for all features alike.

Easy to get wrong: a straight line from an average row to this one passes between the values of a category, where no row
lies. Nothing keeps the late iterations small there, so that integrals along the line can exceed the scores by far.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..core.types import Array

Scores = Callable[[Array], Array]
Codes = NDArray[np.intp]

CELLS = 2**21
"""Numbers in the mixed rows that are scored at once."""


def shapley_values(
    scores: Scores,
    rows: Array,
    background: Array,
    groups: Sequence[Codes],
    *,
    known: Array | None = None,
    bonds: Sequence[Codes] | None = None,
    seed: int = 0,
) -> tuple[Array, Array]:
    """Return what each group of features adds to the scores of rows, and the mean scores of the background.

    One row takes at most 2 B (G − 1) scores, fewer where it has values in common with the background.

    Parameters
    ----------
    scores : callable
        Takes rows of shape (m, F) to scores of shape (m, K).
    rows : array of shape (n, F)
        Rows to explain.
    background : array of shape (B, F)
        Rows to compare them with.
    groups : sequence of G int arrays
        Features that change together; one that is in no group must not matter for the scores.
    known : array of shape (n, K), default=None
        Scores of the rows, where they are known.
    bonds : sequence of int arrays, default=None
        Groups that are bound to each other; each group is in one of them. None for no bond.
    seed : int, default=0
        Seed of the orders.

    Returns
    -------
    values : array of shape (n, G, K)
        What each group adds.
    start : array of shape (K,)
        Mean scores of the background.
    """
    start = scores(background)
    bond = np.arange(len(groups)) if bonds is None else _labels(bonds, len(groups))
    turn = _turns(len(background), bond, seed)
    walks = Walks(scores, background, start, turn, _labels(groups, background.shape[1]))
    ends = scores(rows) if known is None else known
    size = max(1, CELLS // max(1, turn.size * max(rows.shape[1], start.shape[1])))
    values = [np.empty((0, len(groups), start.shape[1]))]
    values += [walks.gains(rows[i : i + size], ends[i : i + size]) for i in range(0, len(rows), size)]
    return np.concatenate(values), start.mean(axis=0)


def _labels(parts: Sequence[Codes], size: int) -> Codes:
    """Return the part in which each of `size` things is; the number of parts for one that is in none."""
    label = np.full(size, len(parts))
    for k, part in enumerate(parts):
        label[part] = k
    return label


def _turns(n_background: int, bond: Codes, seed: int) -> Codes:
    """Return when each group has its turn, shape (2B, G): random orders of the bonds and within, then backwards."""
    rng = np.random.default_rng(seed)
    orders = np.tile(np.arange(bond.max(initial=-1) + 1), (n_background, 1))
    key = rng.permuted(orders, axis=1)[:, bond] + rng.random((n_background, len(bond)))
    forwards = key.argsort(axis=1).argsort(axis=1)
    return np.concatenate([forwards, len(bond) - 1 - forwards])


@dataclass(frozen=True)
class Walks:
    """Ways from each background row to any row.

    Attributes
    ----------
    scores : callable
        Takes rows to scores.
    background, start : arrays of shape (B, F) and (B, K)
        Where the walks begin, and the scores there.
    turn : int array of shape (2B, G)
        When each group has its turn: random orders, then the same backwards.
    group : int array of shape (F,)
        The group of each feature; G for one that is in none.
    """

    scores: Scores
    background: Array
    start: Array
    turn: Codes
    group: Codes

    def gains(self, rows: Array, ends: Array) -> Array:
        """Return what each group adds on the way to rows whose scores are `ends`, shape (n, G, K)."""
        n_walks, n_groups = self.turn.shape
        belongs = self.group[:, None] == np.arange(n_groups)
        differs = ((self.background != rows[:, None]).astype(np.float64) @ belongs) > 0
        moves = np.take_along_axis(np.tile(differs, (1, 2, 1)), self.turn.argsort(axis=1)[None], axis=2)
        # A step that changes nothing needs no score, and the last one that does leads to the row itself.
        to_come = moves.sum(axis=2, keepdims=True) - moves.cumsum(axis=2)
        between, last = moves & (to_come > 0), moves & (to_come == 0)
        known = np.concatenate([self.start, self._mixed(rows, *np.nonzero(between)), ends])
        place = np.zeros((len(rows), n_walks, n_groups + 1), dtype=np.intp)
        place[:, :, 0] = np.arange(n_walks) % len(self.background)
        place[:, :, 1:][between] = len(self.start) + np.arange(between.sum())
        place[:, :, 1:][last] = len(known) - len(rows) + np.nonzero(last)[0]
        steps = np.diff(known[np.maximum.accumulate(place, axis=2)], axis=2)
        gains: Array = np.take_along_axis(steps, self.turn[None, :, :, None], axis=2).mean(axis=1)
        return gains

    def _mixed(self, rows: Array, row: Codes, walk: Codes, step: Codes) -> Array:
        """Return the scores after steps of walks: features are the row's own once their group had its turn."""
        turn = np.pad(self.turn, ((0, 0), (0, 1)), constant_values=self.turn.shape[1])
        size = max(1, CELLS // rows.shape[1])
        parts = [np.empty((0, self.start.shape[1]))]
        for first in range(0, len(walk), size):
            r, w, s = (each[first : first + size] for each in (row, walk, step))
            own = turn[w][:, self.group] <= s[:, None]
            parts.append(self.scores(np.where(own, rows[r], self.background[w % len(self.background)])))
        return np.concatenate(parts)
