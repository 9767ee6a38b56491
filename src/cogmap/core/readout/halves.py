"""Ridges on columns that were chosen by the classes: two halves of the rows, each of which judges the other's choice.

Minimise Σ_i w_i ‖y_i − q − z_i β‖² + Σ_k α_k ‖β_k‖², from Gram matrices of (Z | Y), Y the one-hot. What one half chose
and fitted predicts the other with the error

    Σ_i w_i ‖y_i − q − z_i β‖² = tr(S_yy − 2 βᵀ S_zy + βᵀ S_zz β) + n ‖ȳ − q − z̄ β‖²,

S being the other half's scatter matrices: no row is looked at again, whatever the number of columns and the penalty.

Easy to get wrong: of a Gram matrix the upper triangle alone is set. Columns are taken in increasing order.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.linalg import lapack

from ..constants import PAIR_PENALTIES, PAIR_RATIOS, PAIR_SHARES
from ..sums.factor import Scatter
from ..types import Array, Codes
from .dual import descend

START = 3, 1
"""Places of the penalty and of the ratio that the search begins with."""


class Size(NamedTuple):
    """Which share of the columns surfaces may have, and the penalties of curves and of surfaces."""

    share: float
    curve: float
    surface: float


@dataclass(frozen=True)
class Ridge:
    """A solution: scores on the scale of the one-hot are `offset` + Z[:, columns] `slope`.

    With S + diag(α) = RᵀR, `spread` is R⁻¹: leverages are squared lengths of centred rows times it, plus 1 / n.
    """

    columns: Codes
    slope: Array
    offset: Array
    spread: Array
    penalty: Array
    known: Scatter

    @property
    def mean(self) -> Array:
        """Mean of the columns."""
        return self.known.mean[: len(self.columns)]

    @property
    def between(self) -> Array:
        """Covariance of the one-hot with the fitted scores."""
        p = len(self.columns)
        between: Array = self.known.gram[:p, p:].T @ self.slope / self.known.total
        return between

    @property
    def degrees_of_freedom(self) -> float:
        """The trace of the smoother."""
        return float(1 + len(self.columns) - self.penalty @ (self.spread**2).sum(axis=1))

    @property
    def condition(self) -> float:
        """A bound: the largest eigenvalue is below the trace, the smallest above the least penalty."""
        trace = np.diagonal(self.known.gram)[: len(self.columns)].sum()
        return float(np.sqrt((trace + self.penalty.max()) / self.penalty.min()))


@dataclass(frozen=True)
class Halves:
    """Gram matrices of (Z | Y) of both halves of the rows; the first `n_curves` columns of Z are those of curves."""

    grams: tuple[Array, Array]
    n_classes: int
    n_curves: int

    def scatter(self, halves: tuple[int, ...], columns: Codes) -> Scatter:
        """Return means and scatter of some columns and of the one-hot, over the halves that are named."""
        p, end = len(columns), len(self.grams[0]) - self.n_classes
        kept = np.r_[columns, end : len(self.grams[0])]
        gram = sum((self.grams[h][np.ix_(kept, kept)] for h in halves), start=np.zeros((len(kept), len(kept))))
        mass = np.diagonal(gram)[p:]
        # Every row has one class: what a column sums to over the classes is what it sums to.
        return Scatter.of(float(mass.sum()), np.zeros(len(kept)), np.r_[gram[:p, p:].sum(axis=1), mass], gram)

    def penalty(self, columns: Codes, size: Size) -> Array:
        """Return the penalty of each column."""
        return np.where(columns < self.n_curves, size.curve, size.surface)

    def solved(self, columns: Codes, size: Size) -> Ridge:
        """Solve for all rows."""
        known, penalty = self.scatter((0, 1), columns), self.penalty(columns, size)
        slope, offset, triangle = _solved(known, penalty)
        return Ridge(columns, slope, offset, np.triu(lapack.dtrtri(triangle)[0]), penalty, known)

    def choose(self, columns: Callable[[int, float], Codes]) -> Size:
        """Return the size with the least two-fold error; `columns` gives what a half chose, for a share of the most."""
        best, found = (START, np.inf), Size(0.0, 1.0, 1.0)
        for share in PAIR_SHARES:
            error = self._two_fold([columns(half, share) for half in (0, 1)])
            place = _valley(error, best[0] if found.share else START)
            if error(*place) < best[1]:
                best, found = (place, error(*place)), Size(share, *_penalties(*place))
        return found

    def _two_fold(self, chosen: list[Codes]) -> Callable[[int, int], float]:
        """Return the two-fold error as a function of the places of penalty and ratio."""
        folds = [(self.scatter((h,), own), self.scatter((1 - h,), own), own) for h, own in enumerate(chosen)]

        @cache
        def error(penalty: int, ratio: int) -> float:
            size = Size(0.0, *_penalties(penalty, ratio))
            return sum(_error(other, *_solved(own, self.penalty(columns, size))[:2]) for own, other, columns in folds)

        return error


def _penalties(penalty: int, ratio: int) -> tuple[float, float]:
    return float(PAIR_PENALTIES[penalty]), float(PAIR_PENALTIES[penalty] * PAIR_RATIOS[ratio])


def _valley(error: Callable[[int, int], float], start: tuple[int, int]) -> tuple[int, int]:
    """Walk downhill along the one axis, then along the other, until neither leads on."""
    penalty, ratio = start
    while True:
        along = descend(lambda place: error(place, ratio), len(PAIR_PENALTIES), penalty)  # noqa: B023
        across = descend(lambda place: error(along, place), len(PAIR_RATIOS), ratio)  # noqa: B023
        if (along, across) == (penalty, ratio):
            return penalty, ratio
        penalty, ratio = along, across


def _solved(known: Scatter, penalty: Array) -> tuple[Array, Array, Array]:
    """Return slope, offset and the triangle R of S + diag(α)."""
    p = len(penalty)
    triangle, _ = lapack.dpotrf(known.gram[:p, :p] + np.diag(penalty))
    # In the order of memory that a file is read back in: products round otherwise in another.
    slope = np.ascontiguousarray(lapack.dpotrs(triangle, known.gram[:p, p:])[0])
    return slope, known.mean[p:] - known.mean[:p] @ slope, triangle


def _error(other: Scatter, slope: Array, offset: Array) -> float:
    p = len(slope)
    S, cross = other.gram[:p, :p], other.gram[:p, p:]
    within = np.trace(other.gram[p:, p:]) - 2 * (slope * cross).sum() + (slope * (S @ slope)).sum()
    apart = other.mean[p:] - offset - other.mean[:p] @ slope
    return float(within + other.total * (apart @ apart))
