"""The same rows stand for all as in `core.sampling`: their hashes on a device, and those of least rank.

Keys are held as int64 in the order of the unsigned ones: the highest bit is flipped.

Easy to get wrong: the array API has no way to see the bits of a number. Torch and CuPy have; for other libraries the
hashes are computed by numpy.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from ..sums.sampling import DIGITS, Keys, Outlyingness, Sample, content_keys
from ..types import Array
from .kernels import Kernel
from .space import DeviceArray, Space

SIGN = -(2**63)

MIX = Kernel(
    "cogmap_mix",
    "int64",
    inputs=("key", "bits"),
    outputs=("mixed",),
    code="""
    unsigned long long x = (unsigned long long) key ^ (unsigned long long) bits;
    x += 0x9E3779B97F4A7C15ULL;
    x ^= x >> 30;
    x *= 0xBF58476D1CE4E5B9ULL;
    x ^= x >> 27;
    x *= 0x94D049BB133111EBULL;
    x ^= x >> 31;
    mixed = (long long) x;
""",
)
"""One more column of one row's key."""


def device_keys(space: Space, columns: Iterable[DeviceArray]) -> DeviceArray:
    """Return `content_keys` of rows, given by their columns, in the order of int64."""
    if not space.sees_bits:
        keys = content_keys(space.host(space.xp.stack(list(columns), axis=1)))
        return space.put(in_order_of_int64(keys))
    found: DeviceArray = None
    for column in columns:
        bits = (column + 0.0).view(space.xp.int64)
        key = space.xp.full_like(bits, _signed(0x9E3779B97F4A7C15)) if found is None else found
        found = mixed(space, key, bits)
    return found ^ SIGN


def in_order_of_int64(keys: Keys) -> NDArray[np.int64]:
    """Return keys of numpy as a device holds them."""
    return (keys ^ np.uint64(2**63)).view(np.int64)


def mixed(space: Space, keys: DeviceArray, bits: DeviceArray) -> DeviceArray:
    """Mix the bits of one more column into the keys (SplitMix64's finaliser)."""
    compiled = MIX(space, keys, bits)
    if compiled is not None:
        return compiled[0]
    found = keys ^ bits
    found += _signed(0x9E3779B97F4A7C15)
    found ^= _shifted(found, 30)
    found *= _signed(0xBF58476D1CE4E5B9)
    found ^= _shifted(found, 27)
    found *= _signed(0x94D049BB133111EB)
    found ^= _shifted(found, 31)
    return found


def _signed(bits: int) -> int:
    return bits - 2**64 if bits >= 2**63 else bits


def _shifted(x: DeviceArray, n: int) -> DeviceArray:
    """Shift to the right without copies of the sign."""
    return (x >> n) & (2 ** (64 - n) - 1)


class DeviceOutlyingness:
    """`core.sampling.Outlyingness` on a device."""

    def __init__(self, space: Space, given: Outlyingness) -> None:
        self.mean, self.map, self.xp = space.put(given.mean), space.put(given.map), space.xp

    def __call__(self, initial: DeviceArray) -> DeviceArray:
        """Return the squared distance of each row, to `DIGITS` binary digits (Veltkamp's splitting)."""
        coordinates = (initial - self.mean) @ self.map
        distance = self.xp.sum(coordinates * coordinates, axis=1)
        large = distance * float(2 ** (53 - DIGITS) + 1)
        return large - (large - distance)


def sample(
    space: Space,
    rank: DeviceArray | None,
    keys: DeviceArray,
    rows: Sequence[DeviceArray],
    weight: DeviceArray,
    size: int,
    among: DeviceArray | None = None,
) -> Sample:
    """Return `Sample.from_block` of rows on a device; rank None is 0 for all.

    The features of a row are those of the matrices `rows` side by side. `among` are the rows to choose from.
    """
    xp = space.xp
    if among is not None:
        keys, weight = space.take(keys, among), space.take(weight, among)
    n = keys.shape[0]
    if n == 0:
        return Sample(
            np.empty(0), np.empty(0, np.uint64), np.empty((0, sum(r.shape[1] for r in rows))), np.empty(0), size
        )
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
    host_keys = space.host(space.take(keys, first)).astype(np.int64).view(np.uint64) ^ np.uint64(2**63)
    ranks: Array = np.zeros(len(host_keys)) if rank is None else space.host(space.take(rank, first))
    where = first if among is None else space.take(among, first)
    chosen = np.hstack([space.host(space.double(space.take(part, where, axis=0))) for part in rows])
    return Sample(ranks, host_keys, chosen, np.diff(ends, prepend=0.0), size)
