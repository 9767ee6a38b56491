"""A few rows that stand for all: those of least rank, where the rank of a row depends on its content alone.

Neither the order of the rows nor the blocks that they come in decide who is chosen: a hash of the row's bytes does, or
a distance with the hash to break ties. Copies of a row count as one row with the sum of their weights.

Easy to get wrong: a row that is among the k least of all is among the k least of every block that holds it, so the
weights of the chosen rows are complete although each block forgets all others.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..types import Array

Keys = NDArray[np.uint64]

LAST_KEY = np.uint64(2**64 - 1)
"""The largest key: all rows are within it."""

DIGITS = 30
"""Binary digits of a distance that count: rounding of sums over blocks must not change an order."""


def content_keys(rows: Array) -> Keys:
    """Return a hash of each row's bytes; −0 counts as 0.

    Each value is mixed in by the finaliser of SplitMix64.
    """
    found = np.full(len(rows), 0x9E3779B97F4A7C15, dtype=np.uint64)
    for column in rows.T:
        found ^= (column + 0.0).view(np.uint64)
        found += np.uint64(0x9E3779B97F4A7C15)
        found ^= found >> np.uint64(30)
        found *= np.uint64(0xBF58476D1CE4E5B9)
        found ^= found >> np.uint64(27)
        found *= np.uint64(0x94D049BB133111EB)
        found ^= found >> np.uint64(31)
    return found


def key_limits(mass: Array, sizes: NDArray[np.intp]) -> Keys:
    """Return a key below which so many rows lie, and few more, for rows of each weight: others need no look.

    Keys are even, and six standard deviations are added. That can be too few only where rows have copies, or weights
    other than 1.
    """
    share = (sizes + 6 * np.sqrt(sizes) + 20) / mass
    limits = np.full(len(share), LAST_KEY)
    limits[share < 1] = (share[share < 1] * 2.0**64).astype(np.uint64)
    return limits


@dataclass(frozen=True)
class Sample:
    """At most `size` different rows of least (rank, key), in that order, with the weight of all their copies."""

    rank: Array
    keys: Keys
    rows: Array
    weight: Array
    size: int

    @classmethod
    def from_block(cls, rank: Array, keys: Keys, rows: Array, weight: Array, size: int) -> Self:
        """Choose among rows; copies have one key and one rank."""
        order = np.lexsort((keys, rank))
        sorted_keys = keys[order]
        new = np.r_[[True] * bool(len(keys)), sorted_keys[1:] != sorted_keys[:-1]].astype(bool)
        first = order[new][:size]
        mass = np.bincount(np.cumsum(new) - 1, weight[order])[:size].astype(np.float64)
        return cls(rank[first], keys[first], rows[first], mass, size)

    def merge(self, other: Self) -> Self:
        """Choose among the rows of both."""
        pairs = zip(
            (self.rank, self.keys, self.rows, self.weight),
            (other.rank, other.keys, other.rows, other.weight),
            strict=True,
        )
        rank, keys, rows, weight = (np.concatenate(pair) for pair in pairs)
        return self.from_block(rank, keys, rows, weight, self.size)


@dataclass(frozen=True)
class Samples:
    """Several samples of the same rows."""

    parts: tuple[Sample, ...]

    def merge(self, other: Self) -> Self:
        """Join two."""
        return type(self)(tuple(mine.merge(theirs) for mine, theirs in zip(self.parts, other.parts, strict=True)))


@dataclass(frozen=True)
class Outlyingness:
    """How far a row lies from the mean, in units of the covariance plus a little of the mean variance."""

    mean: Array
    map: Array

    @classmethod
    def from_scatter(cls, mean: Array, scatter: Array) -> Self:
        """Divide by the square root of the scatter matrix."""
        value, vector = np.linalg.eigh(scatter)
        return cls(mean, vector / np.sqrt(np.maximum(value, 0.0) + 1e-6 * value.mean()))

    def __call__(self, initial: Array) -> Array:
        """Return the squared distance of each row, to `DIGITS` binary digits."""
        coordinates = (initial - self.mean) @ self.map
        mantissa, exponent = np.frexp(np.einsum("ij,ij->i", coordinates, coordinates))
        rounded: Array = np.ldexp(np.rint(np.ldexp(mantissa, DIGITS)), exponent - DIGITS)
        return rounded


def spanning_samples(
    outlyingness: Outlyingness, initial: Array, keys: Keys, weight: Array, sizes: tuple[int, int]
) -> Samples:
    """Return rows spread over all by their keys, and the most outlying ones.

    Late innovations are largest on outliers; on a map that never saw these, they would be all that counts.
    """
    spread, outlying = sizes
    return Samples(
        (
            Sample.from_block(np.zeros(len(keys)), keys, initial, weight, spread),
            Sample.from_block(-outlyingness(initial), keys, initial, weight, outlying),
        )
    )


def union(samples: Samples) -> tuple[Array, Array]:
    """Return the rows of several samples once, with their weights, in the order of their keys."""
    keys = np.concatenate([part.keys for part in samples.parts])
    _, first = np.unique(keys, return_index=True)
    rows, weight = (np.concatenate([getattr(part, name) for part in samples.parts]) for name in ("rows", "weight"))
    return rows[first], weight[first]
