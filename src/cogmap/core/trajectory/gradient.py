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
from ..sums.space import NUMPY
from ..types import Array, Codes
from .increments import Course, increments


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
    steps = _steps(Course(NUMPY, network, reference), initial, coefficients.shape[1] - 1)
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


def _steps(course: Course, initial: Array, n_iter: int) -> list[Step]:
    """Go forward through the iterations 1 … n_iter."""
    d = NUMPY.product(initial - course.reference, course.first)
    e_before, steps = np.zeros_like(d), []
    for t, taken in enumerate(islice(increments(course, initial), 1, n_iter + 1)):
        _, r, r_before = course.about(t)
        e, u, h, h_before = taken.e, np.tanh(d), r + taken.e, r_before + e_before
        flat = (1 - u) * (1 + u)
        steps.append(
            Step(
                -u * u * (1 - r * r_before) - flat * (e * r_before + h * e_before),
                flat * (1 - h * h_before) if t else np.zeros_like(u),
                u * h_before,
                u * h,
                (1 - h) * (1 + h),
            )
        )
        d, e_before = NUMPY.product(taken.moved, course.later), e
    return steps


def states_gradient(network: Network, initial: Array, weights: Array) -> Array:
    """Return the derivatives of Σ_t Aᵗ R_t with respect to the initial states, shape (n, N, M).

    `weights` has shape (T + 1, N, M).
    """
    before = list(islice(states(network, initial), len(weights) - 1))
    gradient: Array = np.broadcast_to(weights[0], (len(initial), *weights.shape[1:])).copy()
    following = np.zeros_like(gradient)
    for t in range(len(before), 0, -1):
        following = following + weights[t]
        gradient += (1 - network.phi) * following
        slope = network.activation.derivative(before[t - 1] @ network.weights + network.bias)
        following = _through(following * slope[:, None], network.phi * network.weights.T)
    gradient += following
    return gradient
