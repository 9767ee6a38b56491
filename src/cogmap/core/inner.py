"""Inner weights: what each concept owes to the others, learned without the class.

Four ways, all from centred, weighted data:

- `regression_weights`, the paper's equation 4: f⁻¹(X_i) ≈ b_i + Σ_{j≠i} X_j w_ji.
- `stable_regression_weights`, the same with a ridge and a bounded spectral norm, which keeps the reasoning from chaos.
- `slope_weights`, the authors' released code: w_ij = cov(i, j) / var(i), divided by the Frobenius norm.
- `correlation_weights`, the correlations, divided by the Frobenius norm.

Easy to get wrong: the paper zeroes column i before it inverts LᵀL, which is then singular. The column is
deleted here, and all M regressions come from one factorisation of X.
"""

import numpy as np
from scipy import linalg

from .activation import Activation, Array
from .constants import INNER_NORM, INNER_RIDGE


def centre(X: Array, sample_weight: Array) -> tuple[Array, Array]:
    """Return the weighted mean of the rows, and the rows less it, times the root of their weight."""
    mean = sample_weight @ X / sample_weight.sum()
    centred = X - mean
    centred *= np.sqrt(sample_weight)[:, None]
    return mean, centred


def rounding(X: Array, sample_weight: Array) -> float:
    """Return the largest singular value of the centred rows that may be a rounding error.

    Centring leaves rounding errors of the size of X, not of what is left of it.
    """
    return float(max(X.shape) * np.finfo(np.float64).eps * np.sqrt(sample_weight @ (X**2).sum(axis=1)))


def regression_weights(X: Array, sample_weight: Array, activation: Activation) -> tuple[Array, Array]:
    """Regress f⁻¹ of every concept on all the others; return W of shape (M, M), zero diagonal, and b.

    With X = U S Vᵀ (centred, rank r), let B = V S⁻¹ Uᵀ f⁻¹(X) be the minimum-norm solution with no column
    deleted. Deleting column i asks for the coefficient i to be 0:

    - where e_i has a part in the null space of X (column i is a combination of others), move along it:
      B_·i − N_·i B_ii / N_ii, N = I − V Vᵀ. The fit stays as good and the norm minimal.
    - otherwise pay as little as possible in residual: B_·i − P_·i B_ii / P_ii, P = V S⁻² Vᵀ.

    Both are the minimum-norm least-squares solution without column i.
    """
    target = activation.inverse(X)
    x_mean, Xc = centre(X, sample_weight)
    t_mean, target = centre(target, sample_weight)
    U, s, Vt = linalg.svd(Xc, full_matrices=False)
    noise = max(X.shape) * np.finfo(np.float64).eps
    kept = s > rounding(X, sample_weight)
    U, s, V = U[:, kept], s[kept], Vt[kept].T
    B = (V / s) @ (U.T @ target)
    null = np.eye(len(V)) - V @ V.T
    dependent = np.diag(null) > noise
    direction = np.where(dependent, null, (V / s**2) @ V.T)
    pivot = np.diag(direction)
    pivot = np.where(pivot > 0, pivot, 1.0)
    W = B - direction * (np.diag(B) / pivot)
    np.fill_diagonal(W, 0.0)
    return W, t_mean - x_mean @ W


def stable_regression_weights(X: Array, sample_weight: Array, activation: Activation) -> tuple[Array, Array]:
    """Regress f⁻¹ of every concept on all the others with a ridge; cap the spectral norm of W."""
    W, b = ridge_weights(X, sample_weight, activation)
    factor = min(1.0, INNER_NORM / max(float(np.linalg.norm(W, 2)), float(np.finfo(np.float64).tiny)))
    # The target shrinks with the weights, so that the mean row still maps to a shrunk mean.
    return factor * W, factor * b


def ridge_weights(X: Array, sample_weight: Array, activation: Activation) -> tuple[Array, Array]:
    """Return the stable regression weights and their bias before the cap.

    With P = (XᵀX / n + λ I)⁻¹ and B = P Xᵀ f⁻¹(X) / n, deleting column i again gives B_·i − P_·i B_ii / P_ii.
    """
    t_mean, target = centre(activation.inverse(X), sample_weight)
    x_mean, Xc = centre(X, sample_weight)
    total = sample_weight.sum()
    P = np.linalg.inv(Xc.T @ Xc / total + INNER_RIDGE * np.eye(X.shape[1]))
    B = P @ (Xc.T @ target) / total
    W = B - P * (np.diag(B) / np.diag(P))
    np.fill_diagonal(W, 0.0)
    return W, t_mean - x_mean @ W


def correlation_weights(X: Array, sample_weight: Array) -> tuple[Array, Array]:
    """Return the correlations between concepts, of Frobenius norm 1, and a bias of zeros.

    No column of X may be constant.
    """
    _, Xc = centre(X, sample_weight)
    Xc /= np.linalg.norm(Xc, axis=0)
    W = Xc.T @ Xc
    return W / np.linalg.norm(W), np.zeros(X.shape[1])


def slope_weights(X: Array, sample_weight: Array) -> tuple[Array, Array]:
    """Return the simple slopes w_ij = cov(i, j) / var(i), of Frobenius norm 1, and a bias of zeros.

    No column of X may be constant.
    """
    _, Xc = centre(X, sample_weight)
    covariance = Xc.T @ Xc
    W = covariance / np.diag(covariance)[:, None]
    return W / np.linalg.norm(W), np.zeros(X.shape[1])
