"""Outer weights: from the states of the network to the classes (the paper's equations 5–8).

`moore_penrose` is the paper's readout, [R; q] = (H | 1)⁺ f⁻¹(Y) with H = (A⁰ | A¹ | … | Aᵀ), as the
minimum-norm least-squares solution; no pseudoinverse is formed.

Easy to get wrong: the states converge to each other, so H is numerically rank deficient after a few
iterations and the solution depends on `RCOND`. Look at the condition number that is returned.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

from .activation import Activation, Array

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
class Readout:
    """Scores are Σ_t A^t `weights[t]` + `bias`; `weights` has shape (T + 1, M, N)."""

    weights: Array
    bias: Array
    rank: int
    condition: float

    def scores(self, states: Iterable[Array]) -> Array:
        """Return the scores of the rows whose states A⁰ … Aᵀ these are, shape (n, N)."""
        return sum((state @ R for state, R in zip(states, self.weights, strict=False)), start=self.bias)


def inverse_one_hot(codes: NDArray[np.intp], n_classes: int, activation: Activation) -> Array:
    """Return f⁻¹ of the one-hot matrix of the class codes 0 … N − 1, shape (n, N)."""
    return activation.inverse(np.eye(n_classes)[codes])


def moore_penrose(states: list[Array], target: Array, sample_weight: Array, *, rcond: float = RCOND) -> Readout:
    """Solve min ‖(H | 1)[R; q] − target‖ with the smallest norm, rows weighted, over the given states."""
    n, n_concepts = states[0].shape
    root = np.sqrt(sample_weight)[:, None]
    H = np.hstack([*states, np.ones((n, 1))]) * root
    solution, _, rank, s = linalg.lstsq(H, target * root, cond=rcond, lapack_driver="gelsd")
    weights = solution[:-1].reshape(len(states), n_concepts, target.shape[1])
    return Readout(weights, solution[-1], int(rank), float(s[0] / s[rank - 1]))


def final_state(states: list[Array], target: Array, sample_weight: Array) -> Readout:
    """Solve the same for the last state only: the classic classifier, blind to how the state was reached."""
    last = moore_penrose(states[-1:], target, sample_weight, rcond=FINAL_RCOND)
    weights = np.zeros((len(states), *last.weights.shape[1:]))
    weights[-1] = last.weights[0]
    return Readout(weights, last.bias, last.rank, last.condition)
