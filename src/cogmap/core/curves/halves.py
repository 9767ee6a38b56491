"""Ridges on columns that were chosen by the classes: two halves of the rows, each of which judges the other's choice.

Minimise Σ_i w_i ‖y_i − q − z_i β‖² + Σ_k α_k ‖β_k‖², from Gram matrices of (Z | Y), Y the one-hot. What one half chose
and fitted predicts the other with the error

    Σ_i w_i ‖y_i − q − z_i β‖² = tr(S_yy − 2 βᵀ S_zy + βᵀ S_zz β) + n ‖ȳ − q − z̄ β‖²,

S being the other half's scatter matrices: no row is looked at again, whatever the number of columns and the penalty.

Easy to get wrong: of S_zz the upper triangle alone is set. A matrix in numpy's order is to BLAS its transpose, so that
it reads the lower one there, and columns are taken in increasing order.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

from ..constants import PAIR_PENALTIES, PAIR_RATIOS, PAIR_SHARES, RIDGE_WORTH
from ..readout.dual import follow
from ..sums.lapack import dpotrf, dpotrs, dtrtri
from ..sums.threads import side_by_side
from ..types import Array, Codes

ROUNDING = 1e-11
"""Least penalty as a share of the largest entry of S_zz: 1e9 rows have one of 1e-3, which is far below all others."""

START = 3, 1
"""Places of the penalty and of the ratio that the search begins with."""

STEP = float(np.log(10.0)) / 2
"""From one candidate of either to the next, in its logarithm."""


class Size(NamedTuple):
    """Which share of the columns surfaces may have, and the penalties of curves and of surfaces."""

    share: float
    curve: float
    surface: float


class Moments(NamedTuple):
    """Weight of rows, means of Z and Y, S_zz (its upper triangle), S_zy, and the trace of S_yy."""

    total: float
    mean: Array
    prior: Array
    gram: Array
    cross: Array
    trace: float

    @classmethod
    def of(cls, gram: Array, n_columns: int) -> "Moments":
        """Take a Gram matrix of (Z | Y) to scatter about the means."""
        mass, cross = np.diagonal(gram)[n_columns:], gram[:n_columns, n_columns:]
        total = float(mass.sum())
        # Every row has one class: what a column sums to over the classes is what it sums to.
        mean, prior = cross.sum(axis=1) / total, mass / total
        about = _about(gram[:n_columns, :n_columns], total, mean)
        # The one-hot's scatter is needed as a trace only: Σ_k n p_k (1 − p_k), p the prior.
        return cls(total, mean, prior, about, cross - np.outer(mean, mass), total * float(1 - prior @ prior))

    @classmethod
    def of_aims(cls, gram: Array) -> "Moments":
        """Take a Gram matrix of (Z | aim | 1) to the same, where Y is (1 − aim, aim)."""
        total, sums, crossed = float(gram[-1, -1]), gram[:-1, -1], gram[:-1, -2]
        mean, aim = sums[:-1] / total, float(sums[-1] / total)
        about, cross = _about(gram[:-2, :-2], total, mean), crossed[:-1] - total * aim * mean
        prior = np.array([1 - aim, aim])
        return cls(
            total, mean, prior, about, np.stack([-cross, cross], axis=1), 2 * float(crossed[-1] - total * aim**2)
        )

    def some(self, columns: Codes) -> "Moments":
        """Return those of some columns."""
        return self._replace(
            mean=self.mean[columns], gram=self.gram[np.ix_(columns, columns)], cross=self.cross[columns]
        )

    def solve(self, penalty: Array) -> tuple[Array, Array, Array]:
        """Return slope, offset, and L with S_zz + diag(α) = L Lᵀ."""
        known = self.gram.copy()
        known[np.diag_indices_from(known)] += penalty
        triangle, _ = dpotrf(known.T, lower=1, overwrite_a=1)
        # In the order of memory that a file is read back in: products round otherwise in another.
        slope = np.ascontiguousarray(dpotrs(triangle, self.cross, lower=1)[0])
        return slope, self.prior - self.mean @ slope, triangle

    def error(self, slope: Array, offset: Array) -> tuple[float, Array, Array]:
        """Return Σ w ‖y − q − z β‖² over these rows, and its gradients with respect to β and to q."""
        apart = self.prior - offset - self.mean @ slope
        fitted = blas.dsymm(1.0, self.gram.T, slope, lower=1)
        error = self.trace + float(((fitted - 2 * self.cross) * slope).sum() + self.total * (apart @ apart))
        pull = -2 * self.total * apart
        return error, 2 * (fitted - self.cross) + np.outer(self.mean, pull), pull

    def judged(self, other: "Moments", penalty: Array, curves: NDArray[np.bool_]) -> Array:
        """Return the error on other rows of what these say, and its slopes along the logarithms of both penalties.

        `curves` says which columns are of curves. Along log α of some columns, (S_zz + diag(α)) β = S_zy moves β by
        −(S_zz + diag(α))⁻¹ α β, of these columns.
        """
        slope, offset, triangle = self.solve(penalty)
        error, along, pull = other.error(slope, offset)
        # The offset is what the means leave: it moves with β.
        along = along - np.outer(self.mean, pull)
        moved = -penalty * (slope * dpotrs(triangle, along, lower=1)[0]).sum(axis=1)
        return np.array([error, moved[curves].sum(), moved[~curves].sum()])


def _about(gram: Array, total: float, mean: Array) -> Array:
    """Return the upper triangle of a Gram matrix about the mean."""
    about: Array = blas.dsyr(-total, mean, lower=1, a=gram.copy().T, overwrite_a=1).T
    return about


class Ridge(NamedTuple):
    """A solution for all rows: scores on the scale of the one-hot are `offset` + Z `slope`.

    With S_zz + diag(α) = RᵀR, `spread` is R⁻¹: leverages are squared lengths of centred rows times it, plus 1 / n.
    """

    slope: Array
    offset: Array
    spread: Array
    penalty: Array
    known: Moments

    @classmethod
    def of(cls, known: Moments, penalty: Array) -> "Ridge":
        """Solve for a penalty of each column."""
        slope, offset, triangle = known.solve(penalty)
        return cls(slope, offset, dtrtri(triangle, lower=1)[0].T, penalty, known)

    @property
    def degrees_of_freedom(self) -> float:
        """The trace of the smoother."""
        # tr S (S + A)⁻¹ = p − tr A (S + A)⁻¹ with A = diag(α): the diagonal of the inverse suffices, S is not needed.
        return float(1 + len(self.slope) - self.penalty @ (self.spread**2).sum(axis=1))

    @property
    def condition(self) -> float:
        """A bound: the largest eigenvalue is below the trace, the smallest above the least penalty."""
        return float(np.sqrt((np.trace(self.known.gram) + self.penalty.max()) / self.penalty.min()))


@dataclass(frozen=True)
class Halves:
    """What is known of each half of the rows and of all; the first `n_curves` columns are those of curves."""

    known: tuple[Moments, Moments, Moments]
    n_curves: int

    @classmethod
    def of(cls, grams: Sequence[Array], n_columns: int, n_curves: int) -> "Halves | None":
        """Take Gram matrices of (Z | Y) of both halves; None where one has no rows."""
        if not all(np.diagonal(gram)[n_columns:].any() for gram in grams):
            return None
        one, other = grams
        return cls(
            (Moments.of(one, n_columns), Moments.of(other, n_columns), Moments.of(one + other, n_columns)), n_curves
        )

    def solved(self, columns: Codes, size: Size) -> Ridge:
        """Solve for all rows."""
        return Ridge.of(self.known[2].some(columns), self.penalty(columns, size))

    def between(self, columns: Codes, slope: Array) -> Array:
        """Return the covariance of the one-hot with scores of these slopes."""
        known = self.known[2]
        between: Array = known.cross[columns].T @ slope / known.total
        return between

    def choose(self, columns: Callable[[int, float], Codes]) -> Size:
        """Return the size with the least two-fold error; `columns` gives what a half chose, for a share of the most."""
        place: tuple[int, ...] = START
        least, found = np.inf, Size(0.0, 1.0, 1.0)
        for share in PAIR_SHARES:
            judge = self._two_fold([columns(half, share) for half in (0, 1)])
            # A walk begins where the last one ended: it takes few steps if the best penalties are near each other.
            place = follow(judge, (len(PAIR_PENALTIES), len(PAIR_RATIOS)), place, RIDGE_WORTH)
            error = judge(place)[0]
            # Shares increase: of equal errors that with fewer columns stays, and none is tried where one was worse.
            if error > least:
                break
            if error < least:
                least, found = error, Size(share, *_penalties(*place))
        return found

    def penalty(self, columns: Codes, size: Size) -> Array:
        """Return the penalty of each of these columns."""
        rounding = ROUNDING * float(np.diagonal(self.known[2].gram).max(initial=0.0))
        return np.where(columns < self.n_curves, size.curve, size.surface) + rounding

    def _two_fold(self, chosen: Sequence[Codes]) -> Callable[[tuple[int, ...]], tuple[float, list[float]]]:
        """Return the two-fold error, and its slopes, as a function of the places of penalty and ratio."""
        folds = [(self.known[half].some(own), self.known[1 - half].some(own), own) for half, own in enumerate(chosen)]

        @cache
        def judge(place: tuple[int, ...]) -> tuple[float, list[float]]:
            size = Size(0.0, *_penalties(*place))

            def of_fold(fold: tuple[Moments, Moments, Codes]) -> Array:
                own, other, columns = fold
                return own.judged(other, self.penalty(columns, size), columns < self.n_curves)

            error, curve, surface = np.sum(list(side_by_side(of_fold, folds)), axis=0)
            # The ratio moves the penalty of surfaces alone.
            return float(error), [float(curve + surface) * STEP, float(surface) * STEP]

        return judge


def _penalties(penalty: int, ratio: int) -> tuple[float, float]:
    return float(PAIR_PENALTIES[penalty]), float(PAIR_PENALTIES[penalty] * PAIR_RATIOS[ratio])
