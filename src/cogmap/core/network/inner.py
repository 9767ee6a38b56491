"""Inner weights: what each concept owes to the others, learned without the class.

Four ways, all from a factor of centred, weighted concepts, so that the rows need not be there:

- `regression`, the paper's equation 4: f⁻¹(X_i) ≈ b_i + Σ_{j≠i} X_j w_ji.
- `stable_regression`, the same with a ridge and a bounded spectral norm, which keeps the reasoning from chaos.
- `slopes`, the authors' released code: w_ij = cov(i, j) / var(i), divided by the Frobenius norm.
- `correlations`, the correlations, divided by the Frobenius norm.

Easy to get wrong: the paper zeroes column i before it inverts LᵀL, which is then singular. The column is
deleted here, and all M regressions come from one factorisation of X.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy import linalg
from scipy.sparse.linalg import svds

from ..constants import INNER_NORM, INNER_RIDGE
from ..sums.factor import Factor
from ..types import Array

NULL = 10.0
"""Length of a null vector, in units of its rounding, from which on a column depends on others."""

WEIGHT_COLUMNS = 2048
"""Columns of the weights that are worked on at once, so that few arrays of the size of W are held."""


@dataclass(frozen=True)
class Regressors:
    """A factor of centred concepts X and of their targets f⁻¹(X), with the Gram matrix of their rows times √w.

    Attributes
    ----------
    X, target : arrays of shape (k, M)
        Rows of a triangle.
    x_mean, t_mean : arrays of shape (M,)
        Weighted means.
    total : float
        Σ w.
    rounding : float
        Largest singular value of X that may be a rounding error: centring leaves errors of the size of the concepts,
        not of what is left of them.
    precision : float
        The machine's precision times the longer side of X.
    """

    X: Array
    target: Array
    x_mean: Array
    t_mean: Array
    total: float
    rounding: float
    precision: float

    @classmethod
    def from_factor(cls, factor: Factor, n_concepts: int) -> Self:
        """Take the factor of (1 | X | f⁻¹(X))."""
        precision = float(max(factor.n_rows, n_concepts) * np.finfo(np.float64).eps)
        return cls(
            factor.centred[:, :n_concepts],
            factor.centred[:, n_concepts:],
            factor.mean[:n_concepts],
            factor.mean[n_concepts:],
            factor.total,
            precision * float(np.sqrt(factor.size)),
            precision,
        )


def regression(given: Regressors) -> tuple[Array, Array]:
    """Return the regression weights and their bias.

    With X = U S Vᵀ (centred, rank r), let B = V S⁻¹ Uᵀ f⁻¹(X) be the minimum-norm solution with no column
    deleted. Deleting column i asks for the coefficient i to be 0:

    - where e_i has a part in the null space of X (column i is a combination of others), move along it:
      B_·i − N_·i B_ii / N_ii, N = I − V Vᵀ. The fit stays as good and the norm minimal.
    - otherwise pay as little as possible in residual: B_·i − P_·i B_ii / P_ii, P = V S⁻² Vᵀ.

    Both are the minimum-norm least-squares solution without column i. An X of full rank has no null space, whatever
    rounding leaves of I − V Vᵀ; of another, V is known to the precision times the condition of what is kept.
    """
    U, s, Vt = linalg.svd(given.X, full_matrices=False)
    kept = s > given.rounding
    U, s, V = U[:, kept], s[kept], Vt[kept].T
    W = (V / s) @ (U.T @ given.target)
    least = NULL * given.precision * s[0] / s[-1] if 0 < len(s) < len(V) else np.inf
    for start in range(0, len(V), WEIGHT_COLUMNS):
        part = slice(start, start + WEIGHT_COLUMNS)
        direction = (V / s**2) @ V[part].T
        pivot = np.diagonal(direction, -start)
        if len(s) < len(V):
            null = _null_part(V, part)
            length = np.linalg.norm(null, axis=0)
            direction = np.where(length > least, null, direction)
            pivot = np.where(length > least, length**2, pivot)
        direction *= np.diagonal(W)[part] / np.where(pivot > 0, pivot, 1.0)
        W[:, part] -= direction
    np.fill_diagonal(W, 0.0)
    return W, given.t_mean - given.x_mean @ W


def _null_part(V: Array, part: slice) -> Array:
    """Return N e_i for some i; taken away twice, since once leaves rounding of the size of what is taken away."""
    null: Array = np.eye(len(V), len(V[part]), -part.start) - V @ V[part].T
    null -= V @ (V.T @ null)
    return null


def stable_regression(given: Regressors) -> tuple[Array, Array]:
    """Return the ridge regression weights and their bias, capped."""
    W, b = ridge(given)
    factor = min(1.0, INNER_NORM / max(spectral_norm(W), float(np.finfo(np.float64).tiny)))
    W *= factor
    # The target shrinks with the weights, so that the mean row still maps to a shrunk mean.
    return W, factor * b


def spectral_norm(W: Array) -> float:
    """Return the largest singular value; of a large W by Lanczos iterations, because all of them take its cube."""
    if len(W) == 0:  # of which numpy before 2.3 knows no norm
        return 0.0
    if len(W) <= WEIGHT_COLUMNS:
        return float(np.linalg.norm(W, 2))
    start = np.random.default_rng(0).normal(size=len(W))
    return float(svds(W, k=1, v0=start, return_singular_vectors=False)[0])


def ridge(given: Regressors) -> tuple[Array, Array]:
    """Return the ridge regression weights and their bias before the cap.

    With P = (XᵀX / n + λ I)⁻¹ and B = P Xᵀ f⁻¹(X) / n, deleting column i again gives B_·i − P_·i B_ii / P_ii.
    """
    X, total = given.X, given.total
    covariance = X.T @ X
    covariance /= total
    covariance[np.diag_indices(len(covariance))] += INNER_RIDGE
    P = np.linalg.inv(covariance)
    del covariance
    W = P @ (X.T @ given.target)
    W /= total
    P *= np.diag(W) / np.diag(P)
    W -= P
    np.fill_diagonal(W, 0.0)
    return W, given.t_mean - given.x_mean @ W


def correlations(centred: Array) -> tuple[Array, Array]:
    """Return the correlations between concepts, of Frobenius norm 1, and a bias of zeros; no concept may be constant.

    `centred` is a factor of the concepts about their mean.
    """
    unit = centred / np.linalg.norm(centred, axis=0)
    W = unit.T @ unit
    W /= np.linalg.norm(W)
    return W, np.zeros(len(W))


def slopes(centred: Array) -> tuple[Array, Array]:
    """Return the simple slopes w_ij = cov(i, j) / var(i), of Frobenius norm 1, and a bias of zeros.

    No concept may be constant; `centred` is a factor of the concepts about their mean.
    """
    W = centred.T @ centred
    W /= np.diag(W).copy()[:, None]
    W /= np.linalg.norm(W)
    return W, np.zeros(len(W))
