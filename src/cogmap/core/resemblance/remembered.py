"""What remembered rows add to scores, in numpy: each row is compared with the cases of its own region alone.

Rows of a region go through in tiles, so that a row has the same bits in any batch. Of a tile that is not full, only the
rows that are there are taken from squared distances to resemblance: roots and exponentials are most of the work.
"""

from collections.abc import Callable, Iterable
from typing import NamedTuple

import numpy as np
from scipy.spatial.distance import cdist

from ..sums.tiles import TILE, over_tiles, tiled
from ..types import Array, Codes
from .distance import Distance, Metric


class Remembered:
    """The cases of a readout, with what is computed once.

    `regions` are the metric of each region, its cases, their coefficients and a constant; `codes` gives the region of
    every row, where there may be several.
    """

    def __init__(
        self,
        regions: Iterable[tuple[Metric, Array, Array, Array]],
        codes: Callable[[Array], Codes] | None = None,
    ) -> None:
        self.codes, self.regions = codes, [Region.of(*own) for own in regions]
        self.n_classes = len(self.regions[0].constant)

    def __call__(self, initial: Array) -> Array:
        """Return what the cases add to the raw scores of rows with these initial states, shape (n, N)."""
        if self.codes is None:
            return self.regions[0](initial)
        codes, scores = self.codes(initial), np.empty((len(initial), self.n_classes))
        for k in np.unique(codes).tolist():
            scores[codes == k] = self.regions[k](initial[codes == k])
        return scores

    def tiles(self, rows: Array, n_rows: int) -> Array:
        """Return the same for a multiple of `TILE` rows, of which `n_rows` count; shape (tiles, N, TILE)."""
        added = np.zeros((len(rows), self.n_classes))
        added[:n_rows] = self(rows[:n_rows])
        return tiled(added)


class Region(NamedTuple):
    """A metric, cases in the form in which rows are compared with them, their coefficients and a constant."""

    metric: Metric
    compared: Array
    coefficients: Array
    constant: Array

    @classmethod
    def of(cls, metric: Metric, cases: Array, coefficients: Array, constant: Array) -> "Region":
        """Prepare cases."""
        return cls(metric, cases if metric.distance == "axes" else _to_squared(cases), coefficients, constant)

    def __call__(self, initial: Array) -> Array:
        """Return what the cases add to the scores of rows of this region, with these initial states."""
        rows, fill = over_tiles(self.metric, initial), FILLS[self.metric.distance]
        scores, alike = np.empty((len(rows), len(self.constant))), np.zeros((TILE, len(self.coefficients)))
        for begin in range(0, len(rows), TILE):
            own = rows[begin : begin + TILE]
            there = fill(own, self.compared, alike)
            np.exp(np.negative(there, out=there), out=there)
            scores[begin : begin + TILE] = (alike @ self.coefficients)[: len(own)] + self.constant
        return scores


def _along_axes(rows: Array, cases: Array, apart: Array) -> Array:
    """Fill the first lines of `apart` with distances along the axes, and return these lines."""
    there = apart[: len(rows)]
    cdist(rows, cases, "cityblock", out=there)
    return there


def _squared(rows: Array, to_squared: Array, apart: Array) -> Array:
    """Fill the first lines of `apart` with squared distances, and return these lines."""
    tile = np.zeros((TILE, len(to_squared)))
    own = tile[: len(rows)]
    own[:, :-2], own[:, -2], own[:, -1] = rows, 1, (rows * rows).sum(axis=1)
    np.matmul(tile, to_squared, out=apart)
    there = apart[: len(rows)]
    return np.maximum(there, 0.0, out=there)


def _straight(rows: Array, to_squared: Array, apart: Array) -> Array:
    """Fill the first lines of `apart` with straight distances, and return these lines."""
    there = _squared(rows, to_squared, apart)
    return np.sqrt(there, out=there)


FILLS: dict[Distance, Callable[[Array, Array, Array], Array]] = {
    "straight": _straight,
    "squared": _squared,
    "axes": _along_axes,
}


def _to_squared(cases: Array) -> Array:
    """Return the matrix that takes (x, 1, ‖x‖²) to ‖x − v‖² for every case v, shape (M + 2, n_cases)."""
    return np.vstack([-2 * cases.T, (cases**2).sum(axis=1), np.ones(len(cases))])
