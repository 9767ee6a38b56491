"""Sums over blocks of rows: all that training needs to know of rows that it does not hold.

Each statistic is a monoid: `from_block` computes it for one block, `merge` joins those of two neighbouring runs of
blocks, and its properties finalise it. Rows in memory, on disk and on a cluster differ only in who calls.

Easy to get wrong: floating-point sums depend on their order. Blocks are therefore joined along one binary tree over
their indices. A `Run` holds what a part of the blocks contributes to it, as few nodes as the logarithm of their number,
so that the same blocks give the same bits however they are handed out. A block without rows is no leaf of the tree.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Generic, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..types import Array
from .space import DeviceArray, Space


class Statistic(Protocol):
    """What `merged` can join."""

    def merge(self, other: Self, /) -> Self:
        """Return the statistic of both runs of blocks; `other` comes after this one."""


S = TypeVar("S", bound=Statistic)


@dataclass(frozen=True)
class Run(Generic[S]):
    """The statistics of consecutive blocks, as the largest nodes of the tree that lie within the run.

    A node (level, index) covers the blocks index · 2^level … (index + 1) · 2^level − 1.
    """

    nodes: tuple[tuple[int, int, S], ...]

    @classmethod
    def from_parts(cls, parts: Iterable[S], start: int = 0) -> Self:
        """Join the statistics of consecutive blocks, the first of which has the index `start`."""
        nodes: list[tuple[int, int, S]] = []
        for index, part in enumerate(parts, start):
            _push(nodes, (0, index, part))
        return cls(tuple(nodes))

    def merge(self, other: "Run[S]") -> "Run[S]":
        """Join two; `other` starts where this one ends."""
        nodes = list(self.nodes)
        for node in other.nodes:
            _push(nodes, node)
        return Run(tuple(nodes))

    @property
    def total(self) -> S:
        """The statistic of all blocks, once the run has them all."""
        if not self.nodes:
            raise ValueError("There are no rows to learn from.")
        total = self.nodes[-1][2]
        for _, _, before in reversed(self.nodes[:-1]):
            total = before.merge(total)
        return total


def _push(nodes: list[tuple[int, int, S]], node: tuple[int, int, S]) -> None:
    """Add a node on the right, joined with its left neighbour for as long as both are halves of one node."""
    level, index, statistic = node
    while index % 2 == 1 and nodes and nodes[-1][:2] == (level, index - 1):
        statistic = nodes.pop()[2].merge(statistic)
        level, index = level + 1, index // 2
    nodes.append((level, index, statistic))


def merged(parts: Iterable[S]) -> S:
    """Join the statistics of all blocks, in their order."""
    return Run.from_parts(parts).total


@dataclass(frozen=True)
class Census:
    """Who is there: rows, the different labels with their weights, and the range of every feature.

    Attributes
    ----------
    n_rows : int
        Number of rows of positive weight.
    labels : array of shape (N,)
        Different labels in increasing order.
    mass : array of shape (N,)
        Weight of each label.
    low, high : arrays of shape (n_features,)
        Smallest and largest values.
    """

    n_rows: int
    labels: NDArray[Any]
    mass: Array
    low: Array
    high: Array

    @classmethod
    def from_block(cls, X: Array, labels: NDArray[Any], weight: Array) -> Self:
        """Look at rows of positive weight; there must be one."""
        different, codes = np.unique(labels, return_inverse=True)
        mass = np.bincount(codes.ravel(), weight, len(different)).astype(np.float64)
        return cls(len(X), different, mass, X.min(axis=0), X.max(axis=0))

    def merge(self, other: Self) -> Self:
        """Join two."""
        labels, codes = np.unique(np.concatenate([self.labels, other.labels]), return_inverse=True)
        mass = np.bincount(codes.ravel(), np.concatenate([self.mass, other.mass]), len(labels)).astype(np.float64)
        low, high = np.minimum(self.low, other.low), np.maximum(self.high, other.high)
        return type(self)(self.n_rows + other.n_rows, labels, mass, low, high)


@dataclass(frozen=True)
class Totals:
    """Sums, smallest and largest values over blocks, where the blocks are.

    Reading a number from a device waits for all work on it, so they stay there until a pass is through.
    """

    space: Space
    sums: tuple[DeviceArray, ...]
    least: tuple[DeviceArray, ...] = ()
    most: tuple[DeviceArray, ...] = ()

    def merge(self, other: Self) -> Self:
        """Join two."""
        xp = self.space.xp
        return type(self)(
            self.space,
            tuple(a + b for a, b in zip(self.sums, other.sums, strict=True)),
            tuple(xp.minimum(a, b) for a, b in zip(self.least, other.least, strict=True)),
            tuple(xp.maximum(a, b) for a, b in zip(self.most, other.most, strict=True)),
        )

    @property
    def host(self) -> list[Any]:
        """All of them in numpy, in this order."""
        return [self.space.host(array) for array in (*self.sums, *self.least, *self.most)]


LEAST_SPAN = np.finfo(np.float64).tiny
"""Span below which a feature is constant: one divided by it would be infinite."""


def differ(low: Array, high: Array) -> NDArray[np.bool_]:
    """Say for each feature whether its values differ, given the least and the largest."""
    with np.errstate(over="ignore"):
        differs: NDArray[np.bool_] = high - low >= LEAST_SPAN
    return differs


@dataclass(frozen=True)
class Range:
    """What a fit needs of the census: smallest and largest value of every feature, and the weight of every class."""

    low: Array
    high: Array
    mass: Array

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Which features have two different values, not nearer to each other than `LEAST_SPAN`."""
        return differ(self.low, self.high)

    @property
    def total(self) -> float:
        """Σ w."""
        return float(self.mass.sum())
