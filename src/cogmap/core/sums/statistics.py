"""Sums over blocks of rows: all that training needs to know of rows that it does not hold.

Each statistic is a monoid: `from_block` computes it for one block, `merge` joins those of two neighbouring runs of
blocks, and its properties finalise it. Rows in memory, on disk and on a cluster differ only in who calls.

Easy to get wrong: floating-point sums depend on their order. Blocks are therefore joined along one binary tree over
their indices. A `Run` holds what a part of the blocks contributes to it, as few nodes as the logarithm of their number,
so that the same blocks give the same bits however they are handed out. A block without rows is no leaf of the tree.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Generic, NamedTuple, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..types import Array


class Statistic(Protocol):
    """What `merged` can join."""

    def merge(self, other: Self, /) -> Self:
        """Return the statistic of both runs of blocks; `other` comes after this one."""


S = TypeVar("S", bound=Statistic)
B_co = TypeVar("B_co", covariant=True)
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")


class Source(Protocol[B_co]):
    """Blocks of rows that can be passed over again and again."""

    def reduce(self, from_block: Callable[[B_co], S]) -> S:
        """Return the statistic of all blocks."""

    def map(self, function: Callable[[B_co], C], width: int) -> "Source[C]":
        """Return the function of every block as a source; it may be kept, or computed anew in each pass.

        `width` is how many numbers the function returns for each row.
        """

    def through(self, function: Callable[[B_co], C]) -> "Source[C]":
        """Return the same for a function of many numbers for each row, computed anew in each pass."""
        return Through(self, function)

    def beside(self, blocks: Sequence[Any]) -> "Source[Any]":
        """Return some blocks in memory as a source for the same functions."""
        return Held(tuple(blocks))


@dataclass(frozen=True)
class Held(Source[B]):
    """A few blocks in memory."""

    blocks: tuple[B, ...]

    def reduce(self, from_block: Callable[[B], S]) -> S:
        """Return the statistic of all blocks."""
        return merged(map(from_block, self.blocks))

    def map(self, function: Callable[[B], D], width: int) -> "Held[D]":
        """Return the function of every block as a source."""
        return Held(tuple(map(function, self.blocks)))


@dataclass(frozen=True)
class Through(Source[C], Generic[B, C]):
    """A function of the blocks of a source, in every pass the first part of what is done with them."""

    source: Source[B]
    function: Callable[[B], C]

    def reduce(self, from_block: Callable[[C], S]) -> S:
        """Return the statistic of all blocks."""
        return self.source.reduce(partial(_composed, self.function, from_block))

    def map(self, function: Callable[[C], D], width: int) -> Source[D]:
        """Return the function of every block as a source."""
        return self.source.map(partial(_composed, self.function, function), width)


def _composed(first: Callable[[B], C], then: Callable[[C], D], block: B) -> D:
    return then(first(block))


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
        found = self.nodes[-1][2]
        for _, _, before in reversed(self.nodes[:-1]):
            found = before.merge(found)
        return found


def _push(nodes: list[tuple[int, int, S]], node: tuple[int, int, S]) -> None:
    """Add a node on the right, joined with its left neighbour for as long as both are halves of one node."""
    level, index, found = node
    while index % 2 == 1 and nodes and nodes[-1][:2] == (level, index - 1):
        found = nodes.pop()[2].merge(found)
        level, index = level + 1, index // 2
    nodes.append((level, index, found))


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


def triangle(X: Array) -> Array:
    """Return the R-factor of rows."""
    R: Array = np.linalg.qr(X, mode="r")  # type: ignore[assignment] # the stubs know no mode that returns one array
    return R


@dataclass(frozen=True)
class Factor:
    """The R-factor of (1 | X | …), rows times √w: means, scatter and regressions without the rows.

    Householder reflections never square the condition, so small singular values keep their digits. `size` is
    Σ w ‖x‖² of X alone, before anything is taken away.
    """

    R: Array
    n_rows: int
    size: float

    @classmethod
    def from_block(cls, X: Array, weight: Array, *others: Array) -> Self:
        """Factorise (1 | X | others)."""
        root = np.sqrt(weight)[:, None]
        weighted = X * root
        size = float(np.einsum("ij,ij->", weighted, weighted))
        R = triangle(np.hstack([root, weighted, *(other * root for other in others)]))
        return cls(R, len(X), size)

    def merge(self, other: Self) -> Self:
        """Join two."""
        R = triangle(np.vstack([self.R, other.R]))
        return type(self)(R, self.n_rows + other.n_rows, self.size + other.size)

    @property
    def total(self) -> float:
        """Σ w."""
        return float(self.R[0, 0] ** 2)

    @property
    def mean(self) -> Array:
        """Weighted mean of the rows."""
        mean: Array = self.R[0, 1:] / self.R[0, 0]
        return mean

    @property
    def centred(self) -> Array:
        """A triangle whose Gram matrix is that of the centred rows times √w."""
        return self.R[1:, 1:]


class Scatter(NamedTuple):
    """Mean of weighted columns and their Gram matrix about it; `total` is Σ w."""

    total: float
    mean: Array
    gram: Array

    @classmethod
    def of(cls, total: float, centre: Array, sums: Array, upper: Array) -> "Scatter":
        """Take sums and Gram matrix about a provisional centre to the mean."""
        shift = sums / total
        found = np.triu(upper) + np.triu(upper, 1).T - total * np.outer(shift, shift)
        return cls(total, centre + shift, found)


@dataclass(frozen=True)
class Gram:
    """Gram matrix of mapped features, their class sums, and how far any activation moves at each iteration.

    Attributes
    ----------
    gram : array of shape (p + 1, p + 1)
        Σ w f fᵀ; its upper triangle is set.
    sums : array of shape (p + 1, N)
        Σ w f over the rows of each class.
    changes : array of shape (T + 1,)
        Largest change of any activation.
    """

    gram: Array
    sums: Array
    changes: Array

    def merge(self, other: Self) -> Self:
        """Join two."""
        changes = np.maximum(self.changes, other.changes)
        return type(self)(self.gram + other.gram, self.sums + other.sums, changes)


@dataclass(frozen=True)
class Gains:
    """What shrink factors are chosen from.

    Attributes
    ----------
    gram : array of shape (T + 2, T + 2)
        Gram matrix of the leave-one-out gains of the iterations, and of what the mean leaves.
    active : array of shape (T + 1,)
        Weight of the rows that still reason at each iteration.
    """

    gram: Array
    active: Array

    def merge(self, other: Self) -> Self:
        """Join two."""
        return type(self)(self.gram + other.gram, self.active + other.active)
