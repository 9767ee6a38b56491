"""What the resemblance to remembered rows owes to each concept, integrated along a line without its kink.

With coordinates u = (a − mean) · map, the line u(s) = u_b + s q and a case c, the distance is
r(s) = √(α (s − s₀)² + d²), α = ‖q‖². The attribution of exp(−r) to concept i is −(a_i − b_i) times

    ∫ e⁻ʳ / r [map (u(s) − c)]_i ds = J [map q]_i + I [map p₀]_i,      p₀ = u(s₀) − c,

where J = ∫ (s − s₀) e⁻ʳ / r ds = (e⁻ʳ⁽⁰⁾ − e⁻ʳ⁽¹⁾) / α is exact, and I = ∫ e⁻ʳ / r ds = α^−½ ∫ exp(−d cosh θ) dθ by
s − s₀ = d α^−½ sinh θ is smooth. p₀ is orthogonal to q, so the attributions add up to e⁻ʳ⁽¹⁾ − e⁻ʳ⁽⁰⁾ whatever the
quadrature of I.

Easy to get wrong: exp(−r) has a kink at the case itself, which is where training rows end: no quadrature along s
converges there. I grows without bound as the line passes nearer to a case, but d I vanishes.
"""

import numpy as np

from .activation import Array
from .blocks import in_blocks
from .cases import CaseReadout

NODES = 16
"""Nodes of the quadrature of I in θ."""

NEAREST = 1e-12
"""Distances below it, where the unit is that of two average rows, are taken as this one."""

PAIRS = 2**16
"""Pairs of a row and a case in one block."""


def cases_gradient(readout: CaseReadout, initial: Array, baseline: Array, decode: Array) -> tuple[Array, Array]:
    """Return the mean gradient of what cases add to raw scores · `decode`.

    Returns
    -------
    gradient : array of shape (n, M, K)
        Mean gradient along the lines from the baseline to the rows.
    start : array of shape (n, K)
        What cases add for the baseline.
    """
    coefficients = readout.coefficients @ decode
    at_row, at_baseline = in_blocks(readout.resemblance, initial), in_blocks(readout.resemblance, baseline)
    u, u_baseline = readout.metric(initial), readout.metric(baseline)
    gradient = np.empty((*initial.shape, decode.shape[1]))
    size = max(1, PAIRS // max(len(readout.cases), 1))
    for begin in range(0, len(initial), size):
        rows = slice(begin, begin + size)
        gained = at_row[rows] - at_baseline[rows]
        gradient[rows] = _mean_gradient(readout, u[rows] - u_baseline[rows], u_baseline[rows], gained, coefficients)
    return gradient, at_baseline @ coefficients


def _mean_gradient(readout: CaseReadout, q: Array, u_baseline: Array, gained: Array, coefficients: Array) -> Array:
    """Return the mean derivative along the lines with directions q, shape (n, M, K)."""
    squared, cases = (q**2).sum(axis=1), readout.cases
    moves = squared > 0
    length = np.where(moves, squared, 1.0)[:, None]
    nearest = (q @ cases.T - (q * u_baseline).sum(axis=1)[:, None]) / length
    distance = (u_baseline**2).sum(axis=1)[:, None] - 2 * u_baseline @ cases.T + (cases**2).sum(axis=1)
    distance = np.sqrt(np.maximum(distance - nearest**2 * length, NEAREST**2))
    integral = _inverse_distance(nearest, distance, np.sqrt(length))
    along = gained @ coefficients / length
    found = q[:, :, None] * along[:, None]
    for k, coefficient in enumerate(coefficients.T):
        # Σ_j weight_j p₀_j with p₀_j = u_baseline − c_j + s₀_j q, for all rows at once.
        weighted = integral * coefficient
        found[:, :, k] -= u_baseline * weighted.sum(axis=1)[:, None] - weighted @ cases
        found[:, :, k] -= q * (weighted * nearest).sum(axis=1)[:, None]
    gradient: Array = np.matmul(readout.metric.map, found) * moves[:, None, None]
    return gradient


def _inverse_distance(nearest: Array, distance: Array, length: Array) -> Array:
    """Return I = ∫₀¹ e⁻ʳ / r ds, with r the distance from a line to a case."""
    position, weight = np.polynomial.legendre.leggauss(NODES)
    first = np.arcsinh(-nearest * length / distance)
    half = (np.arcsinh((1 - nearest) * length / distance) - first) / 2
    total = np.zeros(distance.shape)
    for x, w in zip(position, weight, strict=True):
        total += w * np.exp(-distance * np.cosh(first + half * (1 + x)))
    inverse: Array = total * half / length
    return inverse
