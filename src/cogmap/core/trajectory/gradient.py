"""Exact derivatives of a score with respect to the initial state, by the chain rule backwards through every iteration.

For scores Σ_t Eᵗ K_t the recursion of `increments` is differentiated as it stands. With s̄ the derivative of the score
with respect to s, u = tanh dᵗ and h′ the h of the iteration before, step t takes Ēᵗ = K_t and the D̄ᵗ of the step after
it to

    d̄ᵗ = φ s Ēᵗ [−u² (1 − r r′) − (1 − u²)(e r′ + h e′)] + φ s D̄ᵗ (1 − u²)(1 − h h′),
    ḡᵗ = (1 − h²) [φ s ḡᵗ⁺¹ c Wᵀ − u h′ q + l],     q = φ s (Ēᵗ + D̄ᵗ),

where l = −u h q is what the step after it left for it; D̄ᵗ⁻¹ is d̄ᵗ c Wᵀ.

Easy to get wrong: coefficients of increments are as large as `AMPLIFICATION`, so the derivative of Eᵗ must keep its
digits too. (tanh d − d)′ is −u² and not (1 − u²) − 1; and since e = h − r, both have the derivative 1 − h².
"""

from itertools import islice
from typing import NamedTuple

import numpy as np

from ..network.reasoning import Network, states
from ..types import Array, Codes


class Step(NamedTuple):
    """One iteration as the way back needs it, each of shape (n, M): factors of Ē and D̄ in d̄, then u h′, u h, 1 − h²."""

    from_increment: Array
    from_whole: Array
    before: Array
    after: Array
    slope: Array


def increments_gradient(network: Network, initial: Array, reference: Array, coefficients: Array, level: Codes) -> Array:
    """Return the derivatives of Σ_t Eᵗ K_t with respect to the initial states, shape (n, N, M).

    Parameters
    ----------
    network : Network
        The network.
    initial : array of shape (n, M)
        Initial states.
    reference : array of shape (M,)
        The row about which increments are linearised.
    coefficients : array of shape (L, T + 1, N, M)
        K_t for each level: rows that the gate stopped at different iterations have different coefficients.
    level : int array of shape (n,)
        The level of each row.
    """
    gain, share = network.phi * network.activation.scale, 1 - network.phi
    back = network.activation.slope * network.weights.T
    steps = _steps(network, initial, reference, coefficients.shape[1] - 1)
    gradient: Array = coefficients[level, 0]
    whole = gap = left = start = np.zeros_like(gradient)
    for t in range(len(steps), 0, -1):
        step = Step(*(part[:, None] for part in steps[t - 1]))
        increment = coefficients[level, t]
        q = gain * (increment + whole) if t > 1 else gain * increment
        d = gain * (increment * step.from_increment + whole * step.from_whole)
        g = step.slope * (gain * gap + left - step.before * q)
        start = start + share * gap
        if t == 1:
            # Here d is g, and the whole first increment is φ (f(A⁰W + b) − A⁰).
            g += d + step.slope * gain * whole
            gradient = gradient + start - network.phi * whole + _through(g, back)
            break
        left = -step.after * q
        gap, whole = _through(g, back), _through(d, back)
    return gradient


def _through(derivative: Array, matrix: Array) -> Array:
    """Multiply the last axis by a matrix, all rows and classes in one product."""
    return (derivative.reshape(-1, len(matrix)) @ matrix).reshape(derivative.shape)


def _steps(network: Network, initial: Array, reference: Array, n_iter: int) -> list[Step]:
    """Go forward through the iterations 1 … n_iter, as `block_increments` does."""
    f, W, phi = network.activation, network.weights, network.phi
    gain, ref = phi * f.scale, reference[None]
    start = gap = initial - ref
    h = r = e = whole = np.zeros(0)
    found: list[Step] = []
    for t in range(n_iter):
        z, g = f.slope * (ref @ W + network.bias), f.slope * (gap @ W)
        h_before, r_before, e_before = h, r, e
        h, r = np.tanh(z + g), np.tanh(z)
        u = np.tanh(g)
        e = u * (1 - h * r)
        if t == 0:
            h_before, r_before, e_before = r, r, np.zeros_like(e)
            whole = phi * (f.offset + f.scale * h - initial)
        else:
            u = np.tanh(f.slope * (whole @ W))
            whole = gain * u * (1 - h * h_before)
        flat = (1 - u) * (1 + u)
        found.append(
            Step(
                -u * u * (1 - r * r_before) - flat * (e * r_before + h * e_before),
                flat * (1 - h * h_before) if t else np.zeros_like(u),
                u * h_before,
                u * h,
                (1 - h) * (1 + h),
            )
        )
        gap, ref = gain * e + (1 - phi) * start, network.step(ref, reference[None])
    return found


def states_gradient(network: Network, initial: Array, weights: Array) -> Array:
    """Return the derivatives of Σ_t Aᵗ R_t with respect to the initial states, shape (n, N, M).

    `weights` has shape (T + 1, N, M).
    """
    found = list(islice(states(network, initial), len(weights) - 1))
    gradient: Array = np.broadcast_to(weights[0], (len(initial), *weights.shape[1:])).copy()
    following = np.zeros_like(gradient)
    for t in range(len(found), 0, -1):
        following = following + weights[t]
        gradient += (1 - network.phi) * following
        slope = network.activation.derivative(found[t - 1] @ network.weights + network.bias)
        following = _through(following * slope[:, None], network.phi * network.weights.T)
    gradient += following
    return gradient
