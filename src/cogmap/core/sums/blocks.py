"""Row by row the same bits, whatever the batch.

A matrix product rounds differently for other shapes, and an ill-conditioned readout multiplies that. Rows are
therefore always processed in blocks of one fixed shape, the last one padded, so that the result for a row does
not depend on which rows came with it.
"""

from collections.abc import Callable, Iterator

import numpy as np

from ..types import Array

ROWS = 192
"""Rows of a block: a multiple of the heights of BLAS micro-kernels (4, 8, 12, 16), and small enough for one row alone.

With 256 rows, OpenBLAS's kernel of height 12 rounds the last four otherwise (`benchmarks/contract.py`).
"""


def in_blocks(function: Callable[[Array], Array], X: Array) -> Array:
    """Return `function` of all rows, computed in blocks of exactly `ROWS` rows."""
    return np.concatenate([function(block) for block in blocks(X)])[: len(X)]


def blocks(X: Array) -> Iterator[Array]:
    """Yield the rows in blocks of exactly `ROWS`, the last one padded with zeros."""
    padded = np.concatenate([X, np.zeros((-len(X) % ROWS, X.shape[1]))])
    for start in range(0, len(padded), ROWS):
        yield padded[start : start + ROWS]
