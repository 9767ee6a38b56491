"""Row by row the same bits, whatever the batch.

A matrix product rounds differently for other shapes, and an ill-conditioned readout multiplies that. Rows are
therefore always processed in blocks of one fixed shape, the last one padded, so that the result for a row does
not depend on which rows came with it.
"""

from collections.abc import Callable, Iterator

import numpy as np

from ..types import Array
from .space import MANY_STRIPS, STRIP
from .threads import side_by_side


def in_blocks(function: Callable[[Array], Array], X: Array) -> Array:
    """Return `function` of all rows, computed in blocks of exactly `STRIP` rows; many are computed side by side."""
    each = side_by_side if len(X) > MANY_STRIPS * STRIP else map
    return np.concatenate(list(each(function, blocks(X))))[: len(X)]


def blocks(X: Array) -> Iterator[Array]:
    """Yield the rows in blocks of exactly `STRIP`, the last one padded with zeros."""
    padded = np.concatenate([X, np.zeros((-len(X) % STRIP, X.shape[1]))])
    for start in range(0, len(padded), STRIP):
        yield padded[start : start + STRIP]
