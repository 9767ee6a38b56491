"""What remembered rows add to scores, in numpy: each row is compared with the cases of its own region alone.

Rows of a region go through in tiles, so that a row has the same bits in any batch. Of a tile that is not full, only the
rows that are there are taken from squared distances to resemblance: roots and exponentials are most of the work.
"""

from collections.abc import Callable, Iterable

import numpy as np
from scipy.spatial.distance import cdist

from ..sums.tiles import TILE, over_tiles, tiled
from ..types import Array, Codes
from .distance import Metric


class Remembered:
    """The cases of a readout, with what is computed once.

    `regions` are the cases of each region, their coefficients and a constant; `codes` gives the region of every row,
    where there may be several.
    """

    def __init__(
        self,
        metric: Metric,
        regions: Iterable[tuple[Array, Array, Array]],
        codes: Callable[[Array], Codes] | None = None,
    ) -> None:
        self.metric, self.codes = metric, codes
        self.regions = [(self._prepared(cases), coefficients, constant) for cases, coefficients, constant in regions]
        self.n_classes = len(self.regions[0][2])

    def __call__(self, initial: Array) -> Array:
        """Return what the cases add to the raw scores of rows with these initial states, shape (n, N)."""
        rows = over_tiles(self.metric, initial)
        if self.codes is None:
            return self._of_region(0, rows)
        codes, scores = self.codes(initial), np.empty((len(rows), self.n_classes))
        for k in np.unique(codes).tolist():
            scores[codes == k] = self._of_region(k, rows[codes == k])
        return scores

    def tiles(self, rows: Array, n_rows: int) -> Array:
        """Return the same for a multiple of `TILE` rows, of which `n_rows` count; shape (tiles, N, TILE)."""
        added = np.zeros((len(rows), self.n_classes))
        added[:n_rows] = self(rows[:n_rows])
        return tiled(added)

    def _prepared(self, cases: Array) -> Array:
        return cases if self.metric.distance == "axes" else _to_squared(cases)

    def _of_region(self, k: int, rows: Array) -> Array:
        cases, coefficients, constant = self.regions[k]
        fill = self._along_axes if self.metric.distance == "axes" else self._straight
        scores, alike = np.empty((len(rows), self.n_classes)), np.zeros((TILE, len(coefficients)))
        for begin in range(0, len(rows), TILE):
            own = rows[begin : begin + TILE]
            there = fill(own, cases, alike)
            np.exp(np.negative(there, out=there), out=there)
            scores[begin : begin + TILE] = (alike @ coefficients)[: len(own)] + constant
        return scores

    @staticmethod
    def _along_axes(rows: Array, cases: Array, apart: Array) -> Array:
        """Fill the first lines of `apart` with distances along the axes, and return these lines."""
        there = apart[: len(rows)]
        cdist(rows, cases, "cityblock", out=there)
        return there

    @staticmethod
    def _straight(rows: Array, to_squared: Array, apart: Array) -> Array:
        """Fill the first lines of `apart` with straight distances, and return these lines."""
        tile = np.zeros((TILE, len(to_squared)))
        own = tile[: len(rows)]
        own[:, :-2], own[:, -2], own[:, -1] = rows, 1, (rows * rows).sum(axis=1)
        np.matmul(tile, to_squared, out=apart)
        there = apart[: len(rows)]
        np.sqrt(np.maximum(there, 0.0, out=there), out=there)
        return there


def _to_squared(cases: Array) -> Array:
    """Return the matrix that takes (x, 1, ‖x‖²) to ‖x − v‖² for every case v, shape (M + 2, n_cases)."""
    return np.vstack([-2 * cases.T, (cases**2).sum(axis=1), np.ones(len(cases))])
