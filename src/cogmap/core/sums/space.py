"""Where arrays are: their namespace and device, the way to numpy and back, and how much fits there at once.

Functions of the array API standard serve all libraries; numpy is one of them. numpy, torch and CuPy offer a little
more, which is asked for here and nowhere else: products into given memory, symmetric products, the memory that is free.

Easy to get wrong: the memory order. numpy works on strips of rows that stay in the cache, and there a column's rows lie
side by side (order F), so that what they share with a reference row is one number for all of them. A device works on as
many rows as it can hold, row by row. And no library but numpy may be imported by the core: whoever has an array of one
has imported it.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import reduce
from importlib import import_module
from itertools import groupby, pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..types import Array
from .threads import one_blas_thread, side_by_side

DeviceArray = Any
"""An array of any library that follows the array API standard."""

R = TypeVar("R")

STRIP, MANY_STRIPS = 192, 8
"""Rows that numpy takes through all iterations while they are in the cache, and strips from which on threads help.

A multiple of the heights of BLAS micro-kernels (4, 8, 12, 16), and small enough for one row alone. With 256 rows,
OpenBLAS's kernel of height 12 rounds the last four otherwise (`benchmarks/contract.py`).
"""

STRIP_NUMBERS = 60_000
"""Numbers of a strip that training works on: fewer, and threads wait for each other between operations; more, and they
leave the cache.
"""

UNKNOWN_MEMORY = 2**30
"""Bytes that count as free where the library does not say, as on a CPU."""

BLOCK_SHARE, KEPT_SHARE = 0.1, 0.25
"""Share of the free memory that the work on one block may take, and that one pass may keep for later ones."""

NEIGHBOURS, CACHED = 8, 2**21
"""Columns that are copied together, and numbers that are transposed at a time: a device reads whole lines of memory."""

FEWEST_ROWS = 1024
"""Rows of a block at least."""

ALIGNED, PIECE = 16, 256
"""Numbers to which rows of large matrices are aligned, and columns of the pieces of symmetric and triangular products.

Multiples of what the kernels of GPU libraries take at a time.
"""

CHUNKS = 128
"""Chunks of rows over which a Gram matrix of few columns is summed; about the processors of a GPU."""


@dataclass(frozen=True)
class Space:
    """A namespace and one of its devices."""

    xp: Any
    device: Any

    def __reduce__(self) -> tuple[Any, ...]:
        """Send a space to another process: by the name of its library, since a module is no data."""
        return _named, (self.xp.__name__, self.device)

    @property
    def library(self) -> str:
        """The name of the library, as ``"torch"`` or ``"cupy"``."""
        return str(self.xp.__name__).rsplit(".", maxsplit=1)[-1]

    @property
    def numpy(self) -> bool:
        """Whether arrays are numpy's."""
        return self.xp is np

    @property
    def sees_bits(self) -> bool:
        """Whether the library shows the bits of a number."""
        return self.library in ("torch", "cupy", "numpy")

    @property
    def cuda(self) -> bool:
        """Whether the device runs CUDA kernels."""
        return self.library == "cupy" or (self.library == "torch" and self.device.type == "cuda")

    def put(self, array: Any) -> DeviceArray:
        """Copy a numpy array to the device; numpy has it already."""
        return np.asarray(array) if self.numpy else self.xp.asarray(np.array(array), device=self.device)

    def host(self, array: DeviceArray) -> NDArray[Any]:
        """Copy an array to numpy."""
        if self.numpy:
            return np.asarray(array)
        if self.library == "torch":
            return np.asarray(array.detach().cpu())
        if self.library == "cupy":
            return np.asarray(array.get())
        if self.library == "array_api_strict":
            return np.asarray(self.xp.asarray(array, device=self.xp.Device("CPU_DEVICE")))
        return np.asarray(np.from_dlpack(array) if hasattr(array, "__dlpack__") else array)

    def empty(self, *shape: int) -> DeviceArray:
        """Return memory for float64 numbers."""
        return self.xp.empty(shape, dtype=self.xp.float64, device=self.device)

    def matrix(self, n: int, p: int) -> DeviceArray:
        """Return memory for a matrix, in order F, or with rows that begin where devices read faster."""
        if self.numpy:
            return np.empty((n, p), order="F")
        return self.empty(n, -(-p // ALIGNED) * ALIGNED)[:, :p]

    def zeros(self, *shape: int) -> DeviceArray:
        """Return zeros."""
        return self.xp.zeros(shape, dtype=self.xp.float64, device=self.device)

    def double(self, array: DeviceArray) -> DeviceArray:
        """Return an array as float64."""
        return array if array.dtype == self.xp.float64 else self.xp.astype(array, self.xp.float64)

    def columns(self, X: DeviceArray, features: Sequence[int]) -> Iterator[DeviceArray]:
        """Yield copies of columns, in increasing order, as float64 and without gaps in memory: far faster to work on.

        Neighbours are copied together.
        """
        for _, neighbours in groupby(features, lambda j: j // NEIGHBOURS):
            wanted = list(neighbours)
            several = X[:, wanted[0] : wanted[-1] + 1]
            copies = self.empty(several.shape[1], several.shape[0])
            self.transpose_into(copies, several)
            yield from (copies[j - wanted[0], :] for j in wanted)

    def side_by_side(self, columns: Sequence[DeviceArray], n_rows: int) -> DeviceArray:
        """Return columns as a matrix: in order F, or row by row where they are."""
        if self.numpy:
            matrix = np.empty((n_rows, len(columns)), order="F")
            for j, column in enumerate(columns):
                matrix[:, j] = column
            return matrix
        matrix, transposed = self.empty(n_rows, len(columns)), self.empty(len(columns), n_rows)
        for j, column in enumerate(columns):
            transposed[j, :] = column
        self.transpose_into(matrix.T, transposed.T)
        return matrix

    def transpose_into(self, out: DeviceArray, given: DeviceArray) -> None:
        """Write the transpose of a tall matrix into another, in parts that a device's cache holds."""
        for part in slices(given.shape[0], max(CACHED // max(given.shape[1], 1), 1)):
            out[:, part] = self.double(given[part, :]).T

    def take(self, x: DeviceArray, at: DeviceArray, axis: int = 0) -> DeviceArray:
        """Return the entries at places that are not negative: to allow for those costs torch three more kernels."""
        if self.numpy and axis == 1:
            return x[:, at]  # keeps the memory order
        if self.library == "torch":
            return self.module.index_select(x, axis, at)
        return self.xp.take(x, at, axis=axis)

    def one_hot(self, codes: DeviceArray, n_classes: int) -> DeviceArray:
        """Return the one-hot matrix of class codes, (n, N)."""
        classes = self.xp.arange(n_classes, dtype=codes.dtype, device=self.device)
        return self.double(codes[:, None] == classes[None, :])

    def multiply_into(self, out: DeviceArray, one: DeviceArray, other: DeviceArray) -> None:
        """Write the product of two arrays into part of a third."""
        if self.library in ("torch", "cupy"):
            self.module.multiply(one, other, out=out)
        else:
            out[...] = one * other

    def product_into(self, out: DeviceArray, one: DeviceArray, other: DeviceArray) -> None:
        """Write the product of two matrices into part of a third."""
        if self.numpy:
            np.matmul(other.T, one.T, out=out.T)
            return
        if self.library in ("torch", "cupy"):
            self.module.matmul(one, other, out=out)
        else:
            out[...] = one @ other

    def affine_into(self, out: DeviceArray, x: DeviceArray, factor: DeviceArray, shift: DeviceArray) -> None:
        """Write x · factor + shift into part of another array."""
        if self.library == "torch":
            self.module.addcmul(shift, x, factor, out=out)
        else:
            self.multiply_into(out, x, factor)
            out += shift

    def product(self, X: DeviceArray, W: DeviceArray) -> DeviceArray:
        """Return X W in the memory order that steps are taken in."""
        return (W.T @ X.T).T if self.numpy else X @ W

    def ones(self, like: DeviceArray) -> DeviceArray:
        """Return a column of ones with as many rows as a matrix has."""
        return self.xp.ones((like.shape[0], 1), dtype=self.xp.float64, device=self.device)

    def times_triangle(self, F: DeviceArray, T: DeviceArray, room: int = 0) -> DeviceArray:
        """Return F T for an upper triangular T, without the pieces that are 0; and `room` more columns, not set."""
        product = self.matrix(F.shape[0], T.shape[1] + room)
        for a, b in pieces(T.shape[1]):
            self.product_into(product[:, a:b], F[:, :b], T[:b, a:b])
        return product

    def hstack(self, parts: Sequence[DeviceArray]) -> DeviceArray:
        """Return matrices side by side."""
        return self.xp.concat(parts, axis=1)

    def extremes(self, x: DeviceArray) -> tuple[DeviceArray, DeviceArray]:
        """Return the smallest and the largest value of each column."""
        if self.library == "torch":
            return tuple(self.module.aminmax(x, dim=0))
        return self.xp.min(x, axis=0), self.xp.max(x, axis=0)

    def largest(self, x: DeviceArray) -> DeviceArray:
        """Return the largest absolute value, without an array of absolute values."""
        low, high = self.module.aminmax(x) if self.library == "torch" else (self.xp.min(x), self.xp.max(x))
        return self.xp.maximum(high, -low)

    def most(self, arrays: Sequence[DeviceArray]) -> DeviceArray:
        """Return the elementwise maximum of arrays."""
        return reduce(self.xp.maximum, arrays)

    @property
    def module(self) -> Any:
        """The library itself, beyond the standard."""
        return sys.modules[self.library]

    @property
    def free_memory(self) -> int:
        """Bytes that are free on the device, as far as the library says."""
        if not self.cuda:
            return UNKNOWN_MEMORY
        if self.library == "cupy":
            pool = self.module.get_default_memory_pool()
            return int(self.module.cuda.Device().mem_info[0] + pool.free_bytes())
        memory = self.module.cuda
        idle = memory.memory_reserved(self.device) - memory.memory_allocated(self.device)
        return int(memory.mem_get_info(self.device)[0] + idle)

    def over_strips(self, function: Callable[[slice], R], n_rows: int, width: int) -> list[R]:
        """Return the function of strips of rows: numpy's go through a cache, side by side; on a device all are one.

        `width` is how many numbers a row has.
        """
        if not self.numpy:
            return [function(slice(0, n_rows))]
        rows_of_strip = STRIP * max(1, STRIP_NUMBERS // (STRIP * max(width, 1)))
        strips = list(slices(n_rows, rows_of_strip))
        return list(side_by_side(function, strips) if n_rows >= MANY_STRIPS * STRIP else map(function, strips))

    def block_rows(self, width: int) -> int:
        """Return how many rows a block may have, if the work on a row takes `width` numbers."""
        return max(FEWEST_ROWS, int(BLOCK_SHARE * self.free_memory / (8 * width)))

    def keeps(self, n_bytes: int) -> bool:
        """Say whether a pass may keep so much for later ones."""
        return n_bytes <= KEPT_SHARE * self.free_memory


def _named(library: str, device: Any) -> Space:
    return Space(import_module(library), device)


NUMPY = Space(np, "cpu")
"""The space of numpy's arrays."""


def working_width(n_concepts: int, n_iter: int) -> int:
    """Return how many numbers the work on a row takes: its features three times over, and an iteration's arrays."""
    return (3 * (n_iter + 1) + 14) * max(n_concepts, 1)


def slices(n_rows: int, block_rows: int) -> Iterator[slice]:
    """Yield slices of consecutive rows, `block_rows` of them but for the last; one at least."""
    for begin in range(0, max(n_rows, 1), block_rows):
        yield slice(begin, min(begin + block_rows, n_rows))


def pieces(p: int) -> Iterator[tuple[int, int]]:
    """Yield bounds of consecutive columns, `PIECE` of them but for the last."""
    yield from pairwise([*range(0, p, PIECE), p])


def gram(space: Space, F: DeviceArray) -> DeviceArray:
    """Return the upper triangle of FᵀF; what is below it is not to be read.

    numpy sees that the product is symmetric. Other libraries do not; leaving out pieces saves up to half of the work.
    """
    n, p = F.shape
    if space.numpy:
        return F.T @ F
    if p <= PIECE and n >= CHUNKS * PIECE:
        return _narrow_gram(space, F)
    upper = space.zeros(p, p)
    for a, b in pieces(p):
        upper[:b, a:b] = F[:, :b].T @ F[:, a:b]
    return upper


def _narrow_gram(space: Space, F: DeviceArray) -> DeviceArray:
    """Return FᵀF of few columns, as a sum over chunks of rows: one small result would keep few processors busy."""
    xp, (n, p) = space.xp, F.shape
    size = n // CHUNKS
    chunks = xp.reshape(F[: CHUNKS * size, :], (CHUNKS, size, p))
    product = xp.sum(xp.matmul(xp.permute_dims(chunks, (0, 2, 1)), chunks), axis=0)
    rest = F[CHUNKS * size :, :]
    return product + rest.T @ rest


def in_blocks(function: Callable[[Array], Array], X: Array) -> Array:
    """Return `function` of all rows, computed in blocks of exactly `STRIP` rows; many are computed side by side.

    A matrix product rounds differently for other shapes, and an ill-conditioned readout multiplies that. In blocks of
    one fixed shape, the result for a row does not depend on which rows came with it.
    """
    if len(X) > MANY_STRIPS * STRIP:
        return np.concatenate(list(side_by_side(function, blocks(X))))[: len(X)]
    with one_blas_thread():  # as where they are many
        return np.concatenate([function(block) for block in blocks(X)])[: len(X)]


def blocks(X: Array) -> Iterator[Array]:
    """Yield the rows in blocks of exactly `STRIP`, the last one padded with zeros; all in one memory order."""
    for rows in slices(len(X), STRIP) if len(X) else ():
        block = np.zeros((STRIP, X.shape[1]), order="F")
        block[: rows.stop - rows.start] = X[rows]
        yield block
