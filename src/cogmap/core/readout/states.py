"""The paper's outer weights: from the states of the network to the classes, by minimum norm (equations 5–8).

`moore_penrose` solves [R; q] = (H | 1)⁺ f⁻¹(Y) with H = (A⁰ | A¹ | … | Aᵀ); `final_state` reads Aᵀ alone.

Easy to get wrong: the states converge to each other, so H is numerically rank deficient after a few iterations and the
solution depends on `RCOND`. Look at the condition number that is returned; `trajectory.innovations` and `shrunken`
have the remedy.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

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
    U, s, Vt = linalg.svd(H * root, full_matrices=False, check_finite=False)
    kept = s > rcond * s[0]
    U, s, Vt = U[:, kept], s[kept], Vt[kept]
    solution = (Vt.T / s) @ (U.T @ (target * root))
    fitted = H @ solution
    outside = leave_one_out(NUMPY, target, fitted, (U**2).sum(axis=1) / sample_weight, unit)
    weights = solution[:-1].reshape(len(states), n_concepts, target.shape[1])
    return Fit(StateReadout(weights, solution[-1]), fitted, outside, len(s), float(s[0] / s[-1]))


def final_state(states: list[Array], target: Array, sample_weight: Array, unit: Array) -> Fit:
    """Solve the same for the last state only: the classic classifier, blind to how the state was reached."""
    last = moore_penrose(states[-1:], target, sample_weight, unit, rcond=FINAL_RCOND)
    unread = np.zeros((len(states) - 1, *last.readout.weights.shape[1:]))
    return last._replace(readout=StateReadout(np.concatenate([unread, last.readout.weights]), last.readout.bias))
