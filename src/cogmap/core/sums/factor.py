"""Factors of rows: means, scatter and regressions of many columns without the rows.

The factor R of (1 | X | …), rows times √w, comes from Householder reflections, which never square the condition, so
that small singular values keep their digits. A tall QR is slow on a GPU, and a product is fast: there it comes from a
Gram matrix, taken twice where small singular values count. With G₁ = V Λ Vᵀ of the columns Z and P = V (Λ + shift)^(−½)
the columns of Z P are nearly orthonormal; with G₂ = R₂ᵀ R₂ of these, the factor is R₂ P⁻¹ (shifted CholeskyQR, with
eigenvectors in the place of Cholesky factors because columns may be dependent).

Easy to get wrong: means must be taken away before the Gram matrix, not after it; what is left of a column that hardly
varies would be rounding. A provisional centre, of a few rows, serves.
"""

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, Self

import numpy as np

from ..types import Array
from .sources import Source
from .space import DeviceArray, Space, gram
from .statistics import Totals

CENTRE_ROWS = 4096
"""Rows whose mean is the provisional centre."""

SHIFT = 1e-13
"""Added to the eigenvalues of a Gram matrix whose diagonal is 1, for each of its columns: smaller ones are rounding."""

Columns = Callable[[Space], Callable[[Any], tuple[DeviceArray, ...]]]
"""A pass to the columns of a block, as matrices side by side; the block has `weight` and `even`."""


def triangle(X: Array) -> Array:
    """Return the R-factor of rows."""
    R: Array = np.linalg.qr(X, mode="r")  # type: ignore[assignment] # the stubs know no mode that returns one array
    return R


@dataclass(frozen=True)
class Factor:
    """The R-factor of (1 | X | …), rows times √w: means, scatter and regressions without the rows.

    `size` is Σ w ‖x‖² of X alone, before anything is taken away.
    """

    R: Array
    n_rows: int
    size: float

    @classmethod
    def from_block(cls, weight: Array, X: Array, *others: Array) -> Self:
        """Factorise (1 | X | others)."""
        root = np.sqrt(weight)[:, None]
        weighted = X * root
        size = float(np.einsum("ij,ij->", weighted, weighted))
        R = triangle(np.hstack([root, weighted, *(other * root for other in others)]))
        return cls(R, len(X), size)

    def merge(self, other: Self) -> Self:
        """Join two."""
        R = triangle(np.vstack([self.R, other.R]))
        return type(self)(R, self.n_rows + other.n_rows, self.size + other.size)

    @property
    def total(self) -> float:
        """Σ w."""
        return float(self.R[0, 0] ** 2)

    @property
    def mean(self) -> Array:
        """Weighted mean of the rows."""
        # A reflection may turn the sign of the line, which the quotient takes away.
        mean: Array = self.R[0, 1:] / self.R[0, 0]
        return mean

    @property
    def centred(self) -> Array:
        """A triangle whose Gram matrix is that of the centred rows times √w."""
        # The orthogonal factor begins with √w, scaled; its other columns are orthogonal to that, and so about the mean.
        return self.R[1:, 1:]


class Scatter(NamedTuple):
    """Mean of weighted columns and their Gram matrix about it; `total` is Σ w."""

    total: float
    mean: Array
    gram: Array

    @classmethod
    def of(cls, total: float, centre: Array, sums: Array, upper: Array) -> "Scatter":
        """Take sums and Gram matrix about a provisional centre to the mean."""
        shift = sums / total
        gram = np.triu(upper) + np.triu(upper, 1).T - total * np.outer(shift, shift)
        return cls(total, centre + shift, gram)


def fit_factor(source: Source[Any], columns: Columns, n_own: int, *, exact: bool) -> Factor:
    """Return the factor of (1 | columns) of all rows, of which the first `n_own` columns are X.

    Where small singular values need no digits, `exact` is False, and one Gram matrix may serve.
    """
    if source.space.numpy:
        return source.reduce(partial(_reflected, columns))
    centre: list[DeviceArray] = []
    total, sums, upper = source.reduce(partial(_about_first_rows, columns, centre)).host
    scatter = Scatter.of(float(total), source.space.host(centre[0]), sums, upper)
    centred = refined(source, columns, scatter) if exact else root(scatter.gram)
    return factor_of(source.n_rows, scatter, centred, n_own)


def refine_factor(source: Source[Any], columns: Columns, n_own: int, scatter: Scatter) -> Factor:
    """Return the same, where the scatter matrix of all rows is known already; exact."""
    if source.space.numpy:
        return source.reduce(partial(_reflected, columns))
    return factor_of(source.n_rows, scatter, refined(source, columns, scatter), n_own)


def _reflected(columns: Columns, space: Space) -> Callable[[Any], Factor]:
    of_block = columns(space)
    return lambda block: Factor.from_block(block.weight, *of_block(block))


def _about_first_rows(columns: Columns, centre: list[DeviceArray], space: Space) -> Callable[[Any], Totals]:
    """Sum about the mean of the first rows of all, which is left in `centre`; a device takes blocks in turn."""
    of_columns = columns(space)

    def of_block(block: Any) -> Totals:
        Z = space.hstack(of_columns(block))
        if not centre:
            centre.append(space.xp.mean(Z[: min(CENTRE_ROWS, Z.shape[0]), :], axis=0))
        return Totals(space, (space.xp.sum(block.weight), *_about(space, Z - centre[0], block)))

    return of_block


def _about(space: Space, Z: DeviceArray, block: Any) -> tuple[DeviceArray, DeviceArray]:
    """Return the weighted sums of columns, and their weighted Gram matrix."""
    sums = space.xp.sum(Z, axis=0) if block.even else block.weight @ Z
    return sums, weighted_gram(space, Z, block)


def weighted_gram(space: Space, Z: DeviceArray, block: Any) -> DeviceArray:
    """Return Σ w z zᵀ over the rows of a block; its upper triangle is set."""
    return gram(space, Z if block.even else Z * space.xp.sqrt(block.weight)[:, None])


def refined(source: Source[Any], columns: Columns, scatter: Scatter) -> Array:
    """Return a triangle of the columns about their mean that keeps small singular values, from one Gram matrix more."""
    P, inverse = preconditioner(scatter.gram)
    sums, upper = source.reduce(partial(_preconditioned, columns, scatter.mean, P)).host
    # About their mean, columns sum to rounding, which P magnifies: it is taken away too.
    again = Scatter.of(scatter.total, np.zeros(len(sums)), sums, upper)
    triangle: Array = root(again.gram) @ inverse
    return triangle


def _preconditioned(columns: Columns, mean: Array, P: Array, space: Space) -> Callable[[Any], Totals]:
    of_columns, device_mean, device_P = columns(space), space.put(mean), space.put(P)

    def of_block(block: Any) -> Totals:
        Z = space.hstack(of_columns(block)) - device_mean
        return Totals(space, _about(space, Z @ device_P, block))

    return of_block


def root(gram: Array) -> Array:
    """Return R whose Gram matrix RᵀR is given; columns are scaled to 1 first, so that small ones keep their digits."""
    size = _sizes(gram)
    value, vector = np.linalg.eigh(gram / np.outer(size, size))
    triangle: Array = np.sqrt(np.maximum(value, 0.0))[:, None] * vector.T * size
    return triangle


def _sizes(gram: Array) -> Array:
    diagonal = np.maximum(np.diagonal(gram), 0.0)
    return np.sqrt(np.where(diagonal > 0, diagonal, 1.0))


def preconditioner(gram: Array) -> tuple[Array, Array]:
    """Return P, with which columns of this Gram matrix are nearly orthonormal, and P⁻¹."""
    size = _sizes(gram)
    value, vector = np.linalg.eigh(gram / np.outer(size, size))
    shifted = np.sqrt(np.maximum(value, 0.0) + SHIFT * len(value))
    return vector / size[:, None] / shifted, shifted[:, None] * vector.T * size


def factor_of(n_rows: int, scatter: Scatter, centred: Array, n_own: int) -> Factor:
    """Put a factor together from means and a triangle of the centred columns; its size is that of the first columns."""
    top = np.sqrt(scatter.total) * np.r_[1.0, scatter.mean]
    R = np.vstack([top, np.hstack([np.zeros((len(centred), 1)), centred])])
    own = slice(0, n_own)
    size = np.diagonal(scatter.gram)[own].sum() + scatter.total * (scatter.mean[own] ** 2).sum()
    return Factor(R, n_rows, float(size))
