"""Curves and surfaces of two classes by logistic regression: one Newton step from the fit of least squares.

With p what least squares say of the second class, never nearer to certainty than `DOUBT`, the step is a ridge again,

    minimise Σ_i w_i v_i (η_i + (y_i − p_i) / v_i − q − z_i β)² + Σ_k λ_k β_k²,   η = log(p / (1 − p)), v = p (1 − p),

and q + z β are log-odds. Rows that are nearly certain count less, as they should where a class is rare; a sum of curves
is then nearer to the truth than one of probabilities, which ends at 0 and 1. Further steps gain nothing.

Easy to get wrong: members of a stack are on one scale, that of the one-hot. Log-odds enter it as ½ ± η / 4, by the
tangent of the logistic curve at even odds.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..constants import DOUBT
from ..sums.factor import weighted_gram
from ..sums.rows import States
from ..sums.space import DeviceArray, Space
from ..sums.statistics import Totals
from ..types import Array, Codes
from .halves import Ridge
from .pairs import Pieces
from .search import in_parts


class Start(NamedTuple):
    """What least squares say of the second class: columns, their coefficients, shape (p,), and a constant."""

    pieces: Pieces
    slope: Array
    offset: float

    @classmethod
    def of(cls, pieces: Pieces, ridge: Ridge) -> "Start":
        """Take it from a fit of both classes."""
        return cls(pieces, ridge.slope[:, 1], float(ridge.offset[1]))

    def asked(self, space: Space, own: States) -> tuple[DeviceArray, DeviceArray]:
        """Return what the step aims at for rows, on the scale of the one-hot, and how far each counts; shape (n,)."""
        return _asked(space, self.pieces.fill(space, own.initial, 0) @ space.put(self.slope) + self.offset, own)


def _asked(space: Space, fitted: DeviceArray, own: States) -> tuple[DeviceArray, DeviceArray]:
    xp = space.xp
    p = xp.clip(fitted, DOUBT, 1 - DOUBT)
    counts = p * (1 - p)
    response = xp.log(p / (1 - p)) + (space.double(own.codes == 1) - p) / counts
    return 0.5 + response / 4, counts


def step_summed(start: Start, pieces: Pieces, columns: Codes, space: Space) -> Callable[[States], Totals]:
    """Sum over a block the Gram matrix of (Z | aim | 1), rows weighted as the step does.

    Columns are those of `pieces`; the start has some of them, `columns`.
    """
    slope = np.zeros(len(pieces.owners))
    slope[columns] = start.slope
    there = space.put(slope)

    def of_part(block: States) -> Totals:
        Z = pieces.fill(space, block.initial, 2)
        Z[:, -2], counts = _asked(space, Z[:, :-2] @ there + start.offset, block)
        Z[:, -1] = 1.0
        return Totals(space, (weighted_gram(space, Z, replace(block, weight=block.weight * counts, even=False)),))

    return in_parts(space, 4 * len(pieces.owners), of_part)
