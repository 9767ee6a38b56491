"""Inner weights under bounds on single edges: what experts state, and otherwise what the data says.

A column of W is a regression of its own, so only the columns whose solution breaks a bound are solved again:

- `bounded_regression`: min ‖f⁻¹(X_i) − b_i − Σ_j X_j w_ji‖² within the bounds of column i, exactly.
- `bounded_stable_regression`: the same with the ridge. The cap on the spectral norm then acts on what was learned,
  not on what was stated.
- `Bounds.clip`: for slopes and correlations every weight is a regression of its own, and a given weight is none; the
  bounds replace or clip it, after the normalisation.

A stated bias β takes the intercept out of its column's regression, which is then not about the means: beside the
centred rows, it must explain t̄ − β by x̄, with the weight of all rows.

Easy to get wrong: no regression learns a self-edge, since a concept would explain itself. It is 0 unless its bounds
exclude 0; then it is the bound nearest to 0, and the others explain what it leaves.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from ..constants import INNER_NORM, INNER_RIDGE
from ..types import Array
from .bounded import bounded_least_squares
from .inner import Regressors, regression, ridge, spectral_norm


@dataclass(frozen=True)
class Bounds:
    """Least and largest weight of every edge, each of shape (M, M); −inf and inf where nothing is stated.

    Entry [j, i] is the edge from concept j to concept i. Equal bounds fix a weight. `bias` is what is stated of the
    bias, shape (M,), and NaN where nothing is.
    """

    lower: Array
    upper: Array
    bias: Array

    @property
    def least(self) -> Array:
        """The weight nearest to 0 that is allowed: 0 where nothing is stated."""
        return self.clip(np.zeros_like(self.lower))

    def clip(self, W: Array) -> Array:
        """Return the weights, each moved to its nearest bound where it breaks one."""
        return np.clip(W, self.lower, self.upper)

    def stated_bias(self, b: Array) -> Array:
        """Return the bias, with what is stated of it."""
        return np.where(np.isnan(self.bias), b, self.bias)

    def broken(self, W: Array) -> NDArray[np.intp]:
        """Return the columns of W in which a bound is broken, or whose bias is not free."""
        return np.flatnonzero(((self.lower > W) | (self.upper < W)).any(axis=0) | ~np.isnan(self.bias))

    def column(self, i: int) -> tuple[Array, Array]:
        """Return the bounds of the regression of concept i, whose self-edge is not learned."""
        lower, upper = self.lower[:, i].copy(), self.upper[:, i].copy()
        lower[i] = upper[i] = np.clip(0.0, lower[i], upper[i])
        return lower, upper

    def solve(self, i: int, A: Array, c: Array, means: tuple[Array, float], noise: float = 0.0) -> Array:
        """Return the weights of column i, from its centred least squares and the means of concepts and target.

        The means are times the square root of the weight that the rows have in A.
        """
        if not np.isnan(self.bias[i]):
            x_mean, gap = means
            A, c = np.vstack([A, x_mean]), np.append(c, gap)
        return bounded_least_squares(A, c, *self.column(i), noise)


def bounded_regression(given: Regressors, bounds: Bounds) -> tuple[Array, Array]:
    """Return the regression weights and bias within bounds; columns that keep to them anyway are those without.

    Where concepts depend on each other, the solution of a column is the shortest one.
    """
    W, b = regression(given)
    broken = bounds.broken(W)
    Q, R = np.linalg.qr(given.X)
    for i, c in zip(broken, (Q.T @ given.target[:, broken]).T, strict=True):
        means = np.sqrt(given.total) * given.x_mean, np.sqrt(given.total) * (given.t_mean[i] - bounds.bias[i])
        W[:, i] = bounds.solve(i, R, c, means, given.rounding)
    b[broken] = given.t_mean[broken] - given.x_mean @ W[:, broken]
    return W, bounds.stated_bias(b)


def bounded_stable_regression(given: Regressors, bounds: Bounds) -> tuple[Array, Array]:
    """Return the stable regression weights and bias within bounds.

    With XᵀX / n + λ I = LLᵀ, the ridge regression of column i is the least squares of L⁻¹Xᵀf⁻¹(X_i) / n on Lᵀ. Above
    the cap, weights shrink towards the least that the bounds allow: W(s) = least + s (W − least), s ∈ [0, 1].
    """
    W, b = ridge(given)
    broken = bounds.broken(W)
    X, x_mean, total = given.X, given.x_mean, given.total
    L = np.asarray(np.linalg.cholesky(X.T @ X / total + INNER_RIDGE * np.eye(X.shape[1])), dtype=np.float64)
    for i, c in zip(broken, np.linalg.solve(L, X.T @ given.target[:, broken] / total).T, strict=True):
        W[:, i] = bounds.solve(i, L.T, c, (x_mean, given.t_mean[i] - bounds.bias[i]))
    b[broken] = given.t_mean[broken] - x_mean @ W[:, broken]
    least = bounds.least
    factor = cap_factor(least, W - least)
    # The target shrinks with the weights, so that the mean row still maps to a shrunk mean.
    shrunk = np.where(least == 0, factor * W, least + factor * (W - least))
    return bounds.clip(shrunk), bounds.stated_bias(factor * b - (1 - factor) * (x_mean @ least))


def cap_factor(least: Array, learned: Array) -> float:
    """Return the largest s ≤ 1 for which the spectral norm of least + s · learned is at most `INNER_NORM`.

    The norm is convex in s, so there is one where the least weights keep to the cap. Where these alone exceed it, s
    caps the learned part by itself.
    """
    alone = max(spectral_norm(learned), float(np.finfo(np.float64).tiny))
    if not least.any() or exceeds_cap(least):
        return min(1.0, INNER_NORM / alone)

    def excess(s: float) -> float:
        return spectral_norm(least + s * learned) - INNER_NORM

    if excess(1.0) <= 0:
        return 1.0
    return float(brentq(excess, 0.0, 1.0, xtol=1e-12)) if excess(0.0) < 0 else 0.0


def exceeds_cap(least: Array) -> bool:
    """Whether the least weights that bounds allow have a spectral norm above `INNER_NORM` already."""
    return spectral_norm(least) > INNER_NORM
