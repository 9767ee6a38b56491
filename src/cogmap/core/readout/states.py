"""The paper's outer weights: from the states of the network to the classes, by minimum norm (equations 5–8).

`moore_penrose` solves [R; q] = (H | 1)⁺ f⁻¹(Y) with H = (A⁰ | A¹ | … | Aᵀ); `final_state` reads Aᵀ alone.

Easy to get wrong: the states converge to each other, so H is numerically rank deficient after a few iterations and the
solution depends on `RCOND`. Look at the condition number that is returned; `trajectory.innovations` and `shrunken`
have the remedy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg
from scipy.linalg import lapack
from scipy.sparse.linalg import LinearOperator, eigsh

from ..constants import LEAST_FREE
from ..network.activation import Activation
from ..network.reasoning import Network, states
from ..sums.space import NUMPY, DeviceArray, Space
from ..types import Array
from .terms import Readout, Terms, block_terms

RCOND = 1e-15
"""Singular values of (H | 1) below this share of the largest count as zero.

It is the default of `numpy.linalg.pinv` in the authors' package, whose classes the tests compare with.
"""

FINAL_RCOND = 1e-6
"""The same for the final state alone.

Near a unique fixed point the rows differ in late digits only, by how far each still is from it. A decision
that hangs on those is rounding and not reasoning; below this share they count as equal.
"""

SAFE = 1e5
"""How far above the cut-off the inverse condition number, as LAPACK estimates it, must be for all of H to be kept.

The estimate is for the 1-norm: it may be too large by a small factor, and by the number of columns for singular values.
"""

FEW_COLUMNS = 100
"""Columns below which all singular values take no longer than the largest and the smallest by iterations."""

UNTRUSTWORTHY_CONDITION = 1e-6 / np.finfo(np.float64).eps
"""Condition number beyond which one rounding error can move a score by 1e-6 of the largest."""


@dataclass(frozen=True)
class StateReadout:
    """Scores are Σ_t A^t `weights[t]` + `bias`; `weights` has shape (T + 1, M, N)."""

    weights: Array
    bias: Array

    @property
    def n_iter(self) -> int:
        """Number of iterations that it reads."""
        return len(self.weights) - 1

    def terms(self, space: Space, network: Network, initial: DeviceArray) -> Terms:
        """Return the raw class scores of rows with these initial states as sums over the states."""
        return block_terms(lambda: states(network, initial, space), self.weights, self.bias)

    def outer(self, network: Network) -> tuple[Array, Array]:
        """Return the outer weights and bias."""
        return self.weights, self.bias


@dataclass(frozen=True)
class ReadoutFacts:
    """What is known about a readout: a solution, with its size and its condition."""

    readout: Readout
    rank: int
    condition: float
    degrees_of_freedom: float
    alpha: float | None = None
    shrinkage: Array | None = None
    active: Array | None = None


class Fit(NamedTuple):
    """A readout, its scores of the training rows from inside and from outside, its rank and condition number."""

    readout: StateReadout
    fitted: Array
    outside: Array
    rank: int
    condition: float


def inverse_one_hot(codes: NDArray[np.intp], n_classes: int, activation: Activation) -> Array:
    """Return f⁻¹ of the one-hot matrix of the class codes 0 … N − 1, shape (n, N)."""
    return activation.inverse(np.eye(n_classes)[codes])


def leave_one_out(
    space: Space, target: DeviceArray, fitted: DeviceArray, leverage: DeviceArray, unit: DeviceArray
) -> DeviceArray:
    """Predict each row from a linear fit without `unit` of its weight.

    With h the leverage of one unit of weight and v the weight taken away this is y − (y − f) / (1 − v h), by
    Sherman–Morrison. A row that alone determines its fit has no prediction without it: `LEAST_FREE` bounds the divisor.

    Weights are frequencies, so a row of weight 3 is not left out as a whole: one of its three copies is.
    """
    free = space.xp.clip(1 - unit * leverage, LEAST_FREE, None)
    return target - (target - fitted) / free[:, None]


def moore_penrose(
    states: list[Array], target: Array, sample_weight: Array, unit: Array, *, rcond: float = RCOND
) -> Fit:
    """Solve min ‖(H | 1)[R; q] − target‖ with the smallest norm, rows weighted, over the given states."""
    n, n_concepts = states[0].shape
    root = np.sqrt(sample_weight)[:, None]
    H = np.hstack([*states, np.ones((n, 1))])
    solution, leverage, rank, condition = _least_norm(H * root, target * root, rcond)
    fitted = H @ solution
    outside = leave_one_out(NUMPY, target, fitted, leverage / sample_weight, unit)
    weights = solution[:-1].reshape(len(states), n_concepts, target.shape[1])
    return Fit(StateReadout(weights, solution[-1]), fitted, outside, rank, condition)


def _least_norm(H: Array, target: Array, rcond: float) -> tuple[Array, Array, int, float]:
    """Return H⁺ target without singular values up to `rcond` of the largest; leverages, rank and condition number.

    H = Q R first, or Hᵀ = Q R where H has more columns than rows. The singular values of H are those of R. Where all of
    them are far above the cut-off, a triangular system has the same solution and takes a fraction of the time.
    """
    wide = H.shape[0] < H.shape[1]
    q: tuple[Array, Array]
    R: Array
    q, R = linalg.qr(H.T if wide else H, mode="raw", check_finite=False)  # type: ignore[assignment]
    R = R[: len(R.T)]
    seen = target if wide else _times_q(q, target, "T")[: len(R)]
    if lapack.dtrcon(R)[0] > SAFE * max(rcond, np.finfo(np.float64).eps):
        solution = _solve(R, seen, "T" if wide else "N")
        leverage = np.ones(len(H)) if wide else (_solve(R, H.T, "T") ** 2).sum(axis=0)
        rank, condition = len(R), _condition(R)
    else:
        U, s, Vt = linalg.svd(R.T if wide else R, check_finite=False)
        rank, condition = _cut(s, rcond)
        U, s, Vt = U[:, :rank], s[:rank], Vt[:rank]
        solution = (Vt.T / s) @ (U.T @ seen)
        leverage = ((U if wide else _times_q(q, U, "N")) ** 2).sum(axis=1)
    return (_times_q(q, solution, "N") if wide else solution), leverage, rank, condition


def _cut(s: Array, rcond: float) -> tuple[int, float]:
    """Return how many singular values are kept, and the ratio of the first to the last of them."""
    rank = int(np.count_nonzero(s > rcond * s[0]))
    return rank, float(s[0] / s[rank - 1])


def _times_q(factors: tuple[Array, Array], block: Array, transposed: Literal["N", "T"]) -> Array:
    """Multiply Q, or Qᵀ, which is held as Householder reflectors, with a block; rows that it lacks are 0."""
    reflectors, tau = factors
    padded = np.zeros((len(reflectors), block.shape[1]), order="F")
    padded[: len(block)] = block
    product: Array = lapack.dormqr("L", transposed, reflectors, tau, padded, 64 * max(block.shape[1], 1))[0]
    return product


def _solve(R: Array, right: Array, transposed: Literal["N", "T"]) -> Array:
    solved: Array = np.asarray(linalg.solve_triangular(R, right, trans=transposed, check_finite=False))
    return solved


def _condition(R: Array) -> float:
    """Return the ratio of the largest to the smallest singular value of a triangle, by Lanczos iterations."""
    n = len(R)
    if n < FEW_COLUMNS:
        return float(np.linalg.cond(R))
    start = np.random.default_rng(0).normal(size=n)

    def largest(product: Callable[[Array], Array]) -> float:
        operator = LinearOperator((n, n), matvec=product, dtype=np.float64)
        return float(eigsh(operator, k=1, v0=start, tol=1e-6, return_eigenvectors=False)[0])

    return float(np.sqrt(largest(lambda v: R.T @ (R @ v)) * largest(lambda v: _solve(R, _solve(R, v, "T"), "N"))))


def final_state(states: list[Array], target: Array, sample_weight: Array, unit: Array) -> Fit:
    """Solve the same for the last state only: the classic classifier, blind to how the state was reached."""
    last = moore_penrose(states[-1:], target, sample_weight, unit, rcond=FINAL_RCOND)
    unread = np.zeros((len(states) - 1, *last.readout.weights.shape[1:]))
    return last._replace(readout=StateReadout(np.concatenate([unread, last.readout.weights]), last.readout.bias))
