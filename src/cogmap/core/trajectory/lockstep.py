"""All rows side by side, one iteration after the other: the increments of many concepts in little memory.

`increments` keeps about a dozen arrays for every row that is under way. Two suffice: with h, r, e and Dᵗ as there,

    hᵗ⁻¹ = rᵗ⁻¹ + eᵗ⁻¹,        Aᵗ⁻¹ − A_refᵗ⁻¹ = φ s eᵗ⁻¹ + (1 − φ)(A⁰ − A_ref⁰),

so eᵗ⁻¹ and Dᵗ⁻¹ are all that an iteration needs of the one before it, and rows take the step in blocks.

Easy to get wrong: h may be computed as r + e, but e never as h − r, which cancels.
"""

from collections.abc import Iterator

import numpy as np

from ..network.reasoning import Network
from ..types import Array
from .increments import Increment, Step, one_minus_product, reference_steps, tanh_parts

STEP_ROWS = 384
"""Rows that take a step at once: enough for a fast product with the inner weights, few to hold."""


def lockstep(network: Network, initial: Array, reference: Array) -> Iterator[Increment]:
    """Yield the increments t = 0, 1, 2, … without end for the rows `initial`, linearised about the row `reference`.

    The numbers are those of `increments`. All iterations are yielded in one and the same array, which the caller may
    overwrite.
    """
    E = np.array(initial, order="C")
    yield Increment(E, float(max(E.max(initial=0.0), -E.min(initial=0.0))))
    e, whole = np.empty_like(E), np.empty_like(E)
    blocks = [slice(begin, begin + STEP_ROWS) for begin in range(0, len(initial), STEP_ROWS)]
    for t, about in enumerate(reference_steps(network, reference)):
        change = 0.0
        for rows in blocks:
            start = initial[rows] - reference
            if t == 0:
                found = _first_step(network, about, initial[rows], start)
            else:
                found = _step(network, about, start, e[rows], whole[rows])
            E[rows], e[rows], whole[rows] = found
            change = max(change, float(np.abs(found[2]).max(initial=0.0)))
        yield Increment(E, change)


def _first_step(network: Network, about: Step, initial: Array, start: Array) -> tuple[Array, Array, Array]:
    """Return E¹, e¹ and D¹; the increment before it is A⁰ itself, and its place is taken by the reference row."""
    f = network.activation
    g, h, e = _apart(network, about, start)
    whole = network.phi * (f.offset + f.scale * h - initial)
    return _linearised(network, about, *tanh_parts(g), e * about.r), e, whole


def _step(network: Network, about: Step, start: Array, e: Array, whole: Array) -> tuple[Array, Array, Array]:
    """Return Eᵗ, eᵗ and Dᵗ from eᵗ⁻¹ and Dᵗ⁻¹."""
    gain = network.phi * network.activation.scale
    h_before, e_before = about.r_before + e, e
    start *= 1 - network.phi
    start += gain * e
    _, h, e = _apart(network, about, start)
    d = whole @ network.weights
    d *= network.activation.slope
    tanh_d, curved = tanh_parts(d)
    whole = one_minus_product(h, h_before)
    whole *= tanh_d
    whole *= gain
    left = e * about.r_before
    left += h * e_before
    return _linearised(network, about, tanh_d, curved, left), e, whole


def _apart(network: Network, about: Step, gap: Array) -> tuple[Array, Array, Array]:
    """Return g, h and e of rows whose states differ from the reference row's by `gap`."""
    g = gap @ network.weights
    g *= network.activation.slope
    h = np.tanh(about.z + g)
    e = one_minus_product(h, about.r)
    e *= np.tanh(g)
    return g, h, e


def _linearised(network: Network, about: Step, tanh_d: Array, curved: Array, left: Array) -> Array:
    """Return φ s [(tanh d − d)(1 − rᵗ rᵗ⁻¹) − tanh d · left]; `curved` is tanh d − d, and is overwritten."""
    curved *= 1 - about.r * about.r_before
    curved -= tanh_d * left
    curved *= network.phi * network.activation.scale
    return curved
