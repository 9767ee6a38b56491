"""Recurrent reasoning: the states A⁰, A¹, …, Aᵀ of a network for each row (the paper's equations 1–3).

The three rules of the paper are one map, A ↦ φ f(A W + b) + (1 − φ) A⁰:

- ``"quasi-nonlinear"``: as it stands;
- ``"kosko"``: f(A W), that is φ = 1 and no bias;
- ``"kosko-memory"``: f(A W + A), that is φ = 1, no bias and W + I.

Easy to get wrong: the fixed point is a property of the whole training set. It is looked for once, over
all rows, and every later trajectory has that many states.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Literal, get_args

import numpy as np

from ..sums.space import NUMPY, DeviceArray, Space
from ..types import Array
from .activation import Activation

Rule = Literal["quasi-nonlinear", "kosko", "kosko-memory"]
RULES: tuple[str, ...] = get_args(Rule)


@dataclass(frozen=True)
class Network:
    """The map A ↦ φ f(A W + b) + (1 − φ) A⁰; `weights[j, i]` leads from concept j to concept i."""

    weights: Array
    bias: Array
    phi: float
    activation: Activation

    @classmethod
    def from_rule(cls, rule: str, weights: Array, bias: Array, phi: float, activation: Activation) -> "Network":
        """Reduce one of the three rules to the map."""
        if rule == "quasi-nonlinear":
            return cls(weights, bias, phi, activation)
        memory = np.eye(len(weights)) if rule == "kosko-memory" else 0.0
        return cls(weights + memory, np.zeros_like(bias), 1.0, activation)


def states(network: Network, initial: DeviceArray, space: Space = NUMPY) -> Iterator[DeviceArray]:
    """Yield A⁰, A¹, A², … without end; each of shape (n, M), in the space of the initial states."""
    f, phi = network.activation, network.phi
    W, b = space.put(f.slope * network.weights), space.put(f.slope * network.bias)
    state = initial
    while True:
        yield state
        state = phi * f.bend(state @ W + b, space.xp) + (1 - phi) * initial


def until_fixed_point(network: Network, initial: Array, max_iter: int, tol: float) -> list[Array]:
    """Return A⁰ … Aᵀ, where T is the first iteration after which no activation of any row moves by `tol` or more.

    The state after it would repeat it, and with it its columns of the readout. T is at most `max_iter`.
    """
    so_far: list[Array] = []
    for state in islice(states(network, initial), max_iter + 1):
        if so_far and np.abs(state - so_far[-1]).max(initial=0.0) < tol:
            break
        so_far.append(state)
    return so_far


def trajectory(network: Network, initial: Array, n_iter: int) -> Array:
    """Return the states A⁰ … A^n_iter, shape (n, n_iter + 1, M)."""
    return np.stack(list(islice(states(network, initial), n_iter + 1)), axis=1)
