"""A few rows that stand for all: those of least rank, where the rank of a row depends on its content alone.

Neither the order of the rows nor the blocks that they come in decide who is chosen: a hash of the row's bytes does, or
a distance with the hash to break ties. Copies of a row count as one row with the sum of their weights.

numpy holds hashes as uint64. Other libraries have no such numbers: there they are int64 of the same order, with the
highest bit flipped.

Easy to get wrong: a row that is among the k least of all is among the k least of every block that holds it, so the
weights of the chosen rows are complete although each block forgets all others.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..types import Array
from .kernels import Kernel
from .space import NUMPY, DeviceArray, Space

Keys = NDArray[np.uint64]

LAST_KEY = np.uint64(2**64 - 1)
"""The largest key: all rows are within it."""

DIGITS = 30
"""Binary digits of a distance that count: rounding of sums over blocks must not change an order."""

BEGIN, FIRST_FACTOR, SECOND_FACTOR = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
"""Numbers of SplitMix64's finaliser, which mixes each value into the hash."""

SIGN = -(2**63)

MIX = Kernel(
    "cogmap_mix",
    "int64",
    inputs=("key", "bits"),
    outputs=("mixed",),
    code=f"""
    unsigned long long x = (unsigned long long) key ^ (unsigned long long) bits;
    x += {BEGIN:#x}ULL;
    x ^= x >> 30;
    x *= {FIRST_FACTOR:#x}ULL;
    x ^= x >> 27;
    x *= {SECOND_FACTOR:#x}ULL;
    x ^= x >> 31;
    mixed = (long long) x;
""",
)
"""One more column of one row's key."""


def content_keys(space: Space, columns: Iterable[DeviceArray]) -> DeviceArray:
    """Return a hash of each row's bytes, given the columns of the rows; −0 counts as 0."""
    if space.numpy:
        return _numpy_keys(columns)
    if not space.sees_bits:
        host = _numpy_keys(space.host(column) for column in columns)
        return space.put(in_order_of_int64(host))
    keys: DeviceArray = None
    for column in columns:
        bits = (column + 0.0).view(space.xp.int64)
        keys = space.xp.full_like(bits, _signed(BEGIN)) if keys is None else keys
        keys = mixed(space, keys, bits)
    return keys ^ SIGN


def _numpy_keys(columns: Iterable[Array]) -> Keys:
    keys: Keys | None = None
    for column in columns:
        bits = (column + 0.0).view(np.uint64)
        keys = np.full(len(bits), BEGIN, dtype=np.uint64) if keys is None else keys
        keys ^= bits
        keys += np.uint64(BEGIN)
        keys ^= keys >> np.uint64(30)
        keys *= np.uint64(FIRST_FACTOR)
        keys ^= keys >> np.uint64(27)
        keys *= np.uint64(SECOND_FACTOR)
        keys ^= keys >> np.uint64(31)
    assert keys is not None
    return keys


def mixed(space: Space, keys: DeviceArray, bits: DeviceArray) -> DeviceArray:
    """Mix the bits of one more column into keys of int64."""
    compiled = MIX(space, keys, bits)
    if compiled is not None:
        return compiled[0]
    mixed = keys ^ bits
    mixed += _signed(BEGIN)
    mixed ^= _shifted(mixed, 30)
    mixed *= _signed(FIRST_FACTOR)
    mixed ^= _shifted(mixed, 27)
    mixed *= _signed(SECOND_FACTOR)
    mixed ^= _shifted(mixed, 31)
    return mixed


def _signed(bits: int) -> int:
    return bits - 2**64 if bits >= 2**63 else bits


def _shifted(x: DeviceArray, n: int) -> DeviceArray:
    """Shift to the right without copies of the sign."""
    return (x >> n) & (2 ** (64 - n) - 1)


def in_order_of_int64(keys: Keys) -> NDArray[np.int64]:
    """Return keys of numpy as other libraries hold them."""
    return (keys ^ np.uint64(2**63)).view(np.int64)


def limits_in(space: Space, limits: Keys) -> list[int]:
    """Return keys of numpy as numbers to compare keys of a space with."""
    return [int(key) for key in (limits if space.numpy else in_order_of_int64(limits))]


def key_limits(mass: Array, sizes: NDArray[np.intp]) -> Keys:
    """Return for groups of rows of each weight a key below which `sizes` rows lie; only few more lie below it.

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
    def from_block(
        cls,
        space: Space,
        rank: DeviceArray | None,
        keys: DeviceArray,
        rows: Sequence[DeviceArray],
        weight: DeviceArray,
        size: int,
        among: DeviceArray | None = None,
    ) -> Self:
        """Choose among rows of any space; copies have one key and one rank, and rank None is 0 for all.

        The features of a row are those of the matrices `rows` side by side. `among` are the rows to choose from.
        """
        xp = space.xp
        if among is not None:
            keys, weight = space.take(keys, among), space.take(weight, among)
        n = keys.shape[0]
        if n == 0:
            width = sum(part.shape[1] for part in rows)
            return cls(np.empty(0), np.empty(0, np.uint64), np.empty((0, width)), np.empty(0), size)
        # Sorted by key, then stably by rank: copies stand side by side, and their weights are differences of a sum.
        order = xp.argsort(keys, stable=True)
        if rank is not None:
            order = space.take(order, xp.argsort(space.take(rank, order), stable=True))
        in_order = space.take(keys, order)
        one = xp.ones((1,), dtype=xp.bool, device=space.device)
        starts = xp.nonzero(xp.concat([one, in_order[1:] != in_order[:-1]]))[0]
        starts = starts[: min(size + 1, starts.shape[0])]
        bounds = space.host(starts)
        bounds = bounds if len(bounds) > size else np.append(bounds, n)
        upto = xp.cumulative_sum(space.take(weight, order[: int(bounds[-1])]))
        ends = space.host(space.take(upto, xp.asarray(bounds[1:] - 1, device=space.device)))
        first = space.take(order, starts[: min(size, starts.shape[0])])
        chosen_keys = space.host(space.take(keys, first))
        if not space.numpy:
            chosen_keys = chosen_keys.astype(np.int64).view(np.uint64) ^ np.uint64(2**63)
        ranks = np.zeros(len(chosen_keys)) if rank is None else space.host(space.take(rank, first))
        where = first if among is None else space.take(among, first)
        chosen = np.hstack([space.host(space.double(space.take(part, where))) for part in rows])
        return cls(ranks, chosen_keys, chosen, np.diff(ends, prepend=0.0), size)

    def merge(self, other: Self) -> Self:
        """Choose among the rows of both."""
        pairs = zip(
            (self.rank, self.keys, self.rows, self.weight),
            (other.rank, other.keys, other.rows, other.weight),
            strict=True,
        )
        rank, keys, rows, weight = (np.concatenate(pair) for pair in pairs)
        return self.from_block(NUMPY, rank, keys, (rows,), weight, self.size)


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

    def __call__(self, space: Space, initial: DeviceArray) -> DeviceArray:
        """Return the squared distance of each row, to `DIGITS` binary digits (Veltkamp's splitting)."""
        coordinates = (initial - space.put(self.mean)) @ space.put(self.map)
        distance = space.xp.sum(coordinates * coordinates, axis=1)
        large = distance * float(2 ** (53 - DIGITS) + 1)
        return large - (large - distance)


def spanning_samples(
    space: Space,
    outlyingness: Outlyingness,
    initial: DeviceArray,
    keys: DeviceArray,
    weight: DeviceArray,
    sizes: tuple[int, int],
) -> Samples:
    """Return rows spread over all by their keys, and the most outlying ones.

    Late innovations are largest on outliers; on a map that never saw these, they would be all that counts.
    """
    spread, outlying = sizes
    far = -outlyingness(space, initial) if outlying else None
    return Samples(
        (
            Sample.from_block(space, None, keys, (initial,), weight, spread),
            Sample.from_block(space, far, keys, (initial,), weight, outlying),
        )
    )


def union(samples: Samples) -> tuple[Array, Array]:
    """Return the rows of several samples once, with their weights, in the order of their keys."""
    keys = np.concatenate([part.keys for part in samples.parts])
    _, first = np.unique(keys, return_index=True)
    rows, weight = (np.concatenate([getattr(part, name) for part in samples.parts]) for name in ("rows", "weight"))
    return rows[first], weight[first]
