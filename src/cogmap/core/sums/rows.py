"""Training rows: those of positive weight, with their classes; copies may be merged into one."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from ..types import Array, Codes
from .space import NUMPY, Space

MOST_ROWS = 30_000
"""Most rows that are fitted at once, in an order of their own; more are fitted block by block in the order given."""


COMPARED_ROWS = 1024
"""Rows that are compared with their neighbours at once."""


@dataclass(frozen=True)
class Rows:
    """Training rows of positive weight, their class codes, weights, and the weight of one copy of each.

    Arrays may be those of any space. `even` says that all weights are known to be 1.
    """

    X: Array
    codes: Codes
    weight: Array
    unit: Array
    n_classes: int
    even: bool = False

    @property
    def mass(self) -> Array:
        """Weight of each class."""
        return np.bincount(self.codes, self.weight, self.n_classes).astype(np.float64)

    def __getitem__(self, part: slice) -> Self:
        """Return some consecutive rows, without copying them."""
        arrays = (self.X[part, :], self.codes[part], self.weight[part], self.unit[part])
        return type(self)(*arrays, self.n_classes, self.even)


def weighted_rows(X: Array, codes: Codes, frequency: Array, share: Array, space: Space = NUMPY) -> Rows:
    """Return rows that count as often as their frequency says, times the weight of their class."""
    xp, own = space.xp, space.take(space.put(share), codes)
    weight, unit = frequency * own, xp.clip(frequency, None, 1.0) * own
    return Rows(X, codes, weight, unit, len(share), bool(xp.all(weight == 1)))


@dataclass(frozen=True)
class States:
    """Training rows as initial states A⁰, with the keys that say which rows are copies; else as `Rows`."""

    initial: Array
    keys: NDArray[np.uint64]
    codes: Codes
    weight: Array
    unit: Array
    n_classes: int
    even: bool = False

    def __getitem__(self, part: slice) -> Self:
        """Return some consecutive rows, without copying them."""
        arrays = (self.initial[part, :], self.keys[part], self.codes[part], self.weight[part], self.unit[part])
        return type(self)(*arrays, self.n_classes, self.even)


def merge_copies(X: Array, codes: Codes, frequency: Array) -> tuple[Array, Codes, Array]:
    """Return each different (row, class) once, with the sum of its frequencies, in an order of their own.

    A row of weight 2 and a repeated row are then the same to the last bit, and so are all orders of the rows.
    """
    # Adding 0 turns −0 into 0, which compare equal but differ in their bytes.
    table = np.ascontiguousarray(np.column_stack([codes, X]))
    table += 0.0
    packed = table.view(np.dtype((np.void, table.shape[1] * table.itemsize))).ravel()
    order = packed.argsort(kind="stable")
    new = np.ones(len(order), dtype=bool)
    for start in range(1, len(order), COMPARED_ROWS):
        part = slice(start, start + COMPARED_ROWS)
        before = order[start - 1 : start - 1 + len(order[part])]
        new[part] = (table[order[part]] != table[before]).any(axis=1)
    del table, packed
    first, copy_of = order[new], np.empty(len(order), dtype=np.intp)
    copy_of[order] = np.cumsum(new) - 1
    return X[first], codes[first], np.bincount(copy_of, frequency, len(first)).astype(np.float64)


class JudgeScores(NamedTuple):
    """Scores of rows that judge the decision, on the scale of the one-hot, with their classes and weights."""

    raw: Array
    codes: Codes
    weight: Array

    def merge(self, other: Self) -> "JudgeScores":
        """Join two runs of rows."""
        return JudgeScores(*(np.concatenate(pair) for pair in zip(self, other, strict=True)))
