"""Factors of rows on a device: `core.statistics.Factor` from Gram matrices instead of Householder reflections.

A tall QR is slow on a GPU, a product is fast. A Gram matrix squares the condition, so where small singular values count
it is taken twice: G₁ = V Λ Vᵀ of the columns Z, then G₂ of Z P with P = V (Λ + shift)^(−1/2), whose columns are nearly
orthonormal. With G₂ = R₂ᵀ R₂, the factor is R₂ P⁻¹ (shifted CholeskyQR, with eigenvectors in the place of Cholesky
factors because columns may be dependent).

Easy to get wrong: means must be taken away before the Gram matrix, not after it; what is left of a column that hardly
varies would be rounding. A provisional centre, of a few rows, serves.
"""

from collections.abc import Callable

import numpy as np

from ..network.activation import ACTIVATIONS, Activation
from ..sums.rows import Started
from ..sums.statistics import Factor, Scatter
from ..types import Array
from .source import B, DeviceSource, Pending
from .space import DeviceArray, Space, gram

CENTRE_ROWS = 4096
"""Rows whose mean is the provisional centre."""

SHIFT = 1e-13
"""Added to the eigenvalues of a Gram matrix whose diagonal is 1, for each of its columns: smaller ones are rounding."""


def root(given: Array) -> Array:
    """Return R whose Gram matrix RᵀR is given; columns are scaled to 1 first, so that small ones keep their digits."""
    size = _sizes(given)
    value, vector = np.linalg.eigh(given / np.outer(size, size))
    found: Array = np.sqrt(np.maximum(value, 0.0))[:, None] * vector.T * size
    return found


def _sizes(given: Array) -> Array:
    diagonal = np.maximum(np.diagonal(given), 0.0)
    return np.sqrt(np.where(diagonal > 0, diagonal, 1.0))


def preconditioner(given: Array) -> tuple[Array, Array]:
    """Return P, with which columns of this Gram matrix are nearly orthonormal, and P⁻¹."""
    size = _sizes(given)
    value, vector = np.linalg.eigh(given / np.outer(size, size))
    shifted = np.sqrt(np.maximum(value, 0.0) + SHIFT * len(value))
    return vector / size[:, None] / shifted, shifted[:, None] * vector.T * size


def about(space: Space, Z: DeviceArray, weight: DeviceArray, even: bool) -> tuple[DeviceArray, DeviceArray]:
    """Return the weighted sums of columns, and their weighted Gram matrix."""
    return space.xp.sum(Z, axis=0) if even else weight @ Z, weighted_gram(space, Z, weight, even)


def weighted_gram(space: Space, Z: DeviceArray, weight: DeviceArray, even: bool) -> DeviceArray:
    """Return Σ w z zᵀ; its upper triangle is set."""
    return gram(space, Z if even else Z * space.xp.sqrt(weight)[:, None])


def refined(source: DeviceSource[B], centred: Callable[[B], tuple[DeviceArray, DeviceArray]], known: Scatter) -> Array:
    """Return a factor of the columns that keeps small singular values; `centred` gives them about the mean, and w."""
    space, (P, inverse) = source.space, preconditioner(known.gram)
    device_P = space.put(P)

    def of_block(block: B) -> Pending:
        Z, weight = centred(block)
        return Pending(space, about(space, Z @ device_P, weight, source.even))

    sums, upper = source.fold(of_block).host
    found: Array = root(Scatter.of(known.total, np.zeros(len(sums)), sums, upper).gram) @ inverse
    return found


def states_factor(source: DeviceSource[Started], activation: str | None) -> Factor:
    """Return the factor of (1 | A⁰), or of (1 | A⁰ | f⁻¹(A⁰)) where an activation is named."""
    space, f = source.space, None if activation is None else ACTIVATIONS[activation]

    def columns(states: DeviceArray) -> DeviceArray:
        return states if f is None else space.xp.concat([states, inverse(space, f, states)], axis=1)

    centre: list[DeviceArray] = []

    def of_block(block: Started) -> Pending:
        states = columns(block.initial)
        if not centre:
            centre.append(space.xp.mean(states[: min(CENTRE_ROWS, states.shape[0]), :], axis=0))
        sums, upper = about(space, states - centre[0], block.weight, source.even)
        return Pending(space, (space.xp.sum(block.weight), sums, upper))

    total, sums, upper = source.light.fold(of_block).host
    known = Scatter.of(float(total), space.host(centre[0]), sums, upper)
    if f is None:
        return factor(source.n_rows, known, root(known.gram), len(sums))
    mean = space.put(known.mean)
    found = refined(source.light, lambda block: (columns(block.initial) - mean, block.weight), known)
    return factor(source.n_rows, known, found, len(sums) // 2)


def factor(n_rows: int, known: Scatter, centred: Array, n_columns: int) -> Factor:
    """Put a factor together; its size is that of the first columns."""
    top = np.sqrt(known.total) * np.r_[1.0, known.mean]
    R = np.vstack([top, np.hstack([np.zeros((len(centred), 1)), centred])])
    own = slice(0, n_columns)
    size = np.diagonal(known.gram)[own].sum() + known.total * (known.mean[own] ** 2).sum()
    return Factor(R, n_rows, float(size))


def inverse(space: Space, f: Activation, y: DeviceArray) -> DeviceArray:
    """Return f⁻¹ of states, clipped to the inside of the range first."""
    low, high = f(f.inverse(np.array([f.low, f.high]))).tolist()
    return space.xp.atanh((space.xp.clip(y, low, high) - f.offset) / f.scale) / f.slope
