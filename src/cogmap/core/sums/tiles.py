"""Rows in tiles: numpy's way to score any number of them fast, each with the same bits in any batch.

A matrix product rounds differently for other shapes, and an ill-conditioned readout multiplies that. So products are of
one tile at a time, `TILE` rows, the last one filled up with zeros. All else goes over many tiles at once, as many as
stay in a cache, in arrays of shape (tiles, columns, TILE), which numpy multiplies by a matrix tile by tile.
"""

from collections.abc import Callable

import numpy as np

from ..types import Array
from .space import slices
from .threads import one_blas_thread, side_by_side

TILE = 48
"""Rows of a tile: few, because one row alone takes a whole one, and a multiple of the heights of BLAS micro-kernels (4,
8, 12, 16), because these round rows beyond a multiple otherwise (`benchmarks/contract.py`).
"""

TILES = 16
"""Tiles that go through all iterations together: with fewer threads wait for each other, and more leave the cache."""


def in_tiles(function: Callable[[Array, int], Array], X: Array) -> Array:
    """Return a function of all rows, shape (n, N); many are computed side by side.

    It takes rows, a multiple of `TILE`, and how many of them are there, and returns an array of shape (tiles, N, TILE).
    """

    def part(rows: slice) -> Array:
        block = X[rows]
        n, missing = len(block), -len(block) % TILE
        if missing:
            block = np.concatenate([block, np.zeros((missing, X.shape[1]))])
        return rows_of(function(block, n))[:n]

    parts = list(slices(len(X), TILE * TILES))
    if len(parts) > 1:
        return np.concatenate(list(side_by_side(part, parts)))
    with one_blas_thread():  # as where they are many
        return part(parts[0])


def rows_of(tiles: Array) -> Array:
    """Return the rows of an array of shape (tiles, columns, TILE)."""
    return tiles.transpose(0, 2, 1).reshape(-1, tiles.shape[1])


def tiled(rows: Array) -> Array:
    """Return rows, a multiple of `TILE`, as an array of shape (tiles, columns, TILE)."""
    return np.ascontiguousarray(rows.reshape(-1, TILE, rows.shape[1]).transpose(0, 2, 1))


def over_tiles(function: Callable[[Array], Array], rows: Array) -> Array:
    """Return a function of few rows, which are filled up to tiles for it, one tile after another."""
    padded = np.zeros((-(-len(rows) // TILE) * TILE, rows.shape[1]))
    padded[: len(rows)] = rows
    return np.concatenate([function(padded[part]) for part in slices(len(padded), TILE)])[: len(rows)]
