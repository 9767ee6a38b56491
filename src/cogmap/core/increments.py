"""What each iteration adds to the states, without cancellation: the well-conditioned basis of the readout.

The states Aᵗ converge, so their raw differences are soon rounding noise. With f(z) = o + s tanh(c z) and

    tanh a − tanh b = tanh(a − b)(1 − tanh a · tanh b)                                            (1)

the increment Dᵗ = Aᵗ − Aᵗ⁻¹ is a product: Dᵗ = φ s tanh(dᵗ)(1 − hᵗ hᵗ⁻¹), with hᵗ = tanh(c(Aᵗ⁻¹W + b)) and
dᵗ = c Dᵗ⁻¹W. Its linear part, φ s dᵗ (1 − rᵗ rᵗ⁻¹), r being h of a reference row, lies in the span of Dᵗ⁻¹. The rest,

    Eᵗ = φ s [(tanh dᵗ − dᵗ)(1 − rᵗ rᵗ⁻¹) − tanh dᵗ (eᵗ rᵗ⁻¹ + hᵗ eᵗ⁻¹)],      e = h − r,

has the same span together with A⁰ and is far better conditioned.

Easy to get wrong: e must not be computed as h − r. By (1) it is tanh(gᵗ)(1 − hᵗ rᵗ), where gᵗ = c(Aᵗ⁻¹ − A_refᵗ⁻¹)W is
carried along; h and r themselves need no such care.
"""

from collections.abc import Iterator
from itertools import count
from typing import NamedTuple

import numpy as np

from .activation import Array
from .blocks import ROWS
from .reasoning import Network


class Increment(NamedTuple):
    """Iteration t: the linearised increment Eᵗ (A⁰ for t = 0), and the largest change of any activation."""

    linearised: Array
    change: float


def increments(network: Network, initial: Array, reference: Array) -> Iterator[Increment]:
    """Yield the increments t = 0, 1, 2, … without end for the rows `initial`, linearised about the row `reference`.

    Rows go through in blocks that stay in the cache.
    """
    starts = range(0, max(len(initial), 1), ROWS)
    blocks = [block_increments(network, initial[start : start + ROWS], reference) for start in starts]
    for parts in zip(*blocks, strict=True):
        change = max(np.abs(whole).max(initial=0.0) for _, whole in parts)
        yield Increment(np.concatenate([linearised for linearised, _ in parts]), float(change))


def block_increments(network: Network, initial: Array, reference: Array) -> Iterator[tuple[Array, Array]]:
    """Yield Eᵗ and Dᵗ = Aᵗ − Aᵗ⁻¹ for t = 0, 1, 2, … without end; both are A⁰ for t = 0."""
    yield initial, initial
    f, W, phi = network.activation, network.weights, network.phi
    gain, ref = phi * f.scale, reference[None]
    start = gap = initial - ref
    h = r = e = whole = np.zeros(0)
    for t in count():
        z = f.slope * (ref @ W + network.bias)
        g = f.slope * (gap @ W)
        tanh_g = np.tanh(g)
        h_before, r_before, e_before = h, r, e
        h, r = np.tanh(z + g), np.tanh(z)
        e = tanh_g * (1 - h * r)
        if t == 0:
            # The first increment holds A⁰ itself; here d is g, and what came before is the reference.
            d, tanh_d, r_before, e_before = g, tanh_g, r, np.zeros_like(e)
            whole = phi * (f.offset + f.scale * h - initial)
        else:
            d = f.slope * (whole @ W)
            tanh_d = np.tanh(d)
            whole = gain * tanh_d * (1 - h * h_before)
        linear = tanh_minus_identity(d, tanh_d) * (1 - r * r_before)
        yield gain * (linear - tanh_d * (e * r_before + h * e_before)), whole
        gap, ref = gain * e + (1 - phi) * start, network.step(ref, reference[None])


def tanh_minus_identity(u: Array, tanh_u: Array) -> Array:
    """Return tanh(u) − u to full relative precision; `tanh_u` is tanh(u).

    Below 1, Lambert's continued fraction u / (1 + u² / (3 + u² / (5 + …))) cut at depth 9, less u: all terms of
    numerator and denominator are positive, so nothing cancels.
    """
    s = u * u
    found = _polynomial(s, 44.0, 12870.0, 810810.0, 11486475.0)
    found /= _polynomial(s, 45.0, 13860.0, 945945.0, 16216200.0, 34459425.0)
    found *= s
    found *= -u
    large = s >= 1
    if large.any():
        found[large] = tanh_u[large] - u[large]
    return found


def _polynomial(s: Array, first: float, *others: float) -> Array:
    """Return the polynomial in s with these coefficients, highest power first, by Horner's rule in place."""
    found = np.full_like(s, first)
    for coefficient in others:
        found *= s
        found += coefficient
    return found


def states_readout(network: Network, reference: Array, coefficients: Array) -> tuple[Array, Array]:
    """Turn coefficients of A⁰, E¹ … Eᵀ, shape (T + 1, M, N), into those of the states A⁰ … Aᵀ and a constant.

    With Lᵗ = φ s c W diag(1 − rᵗ rᵗ⁻¹), the increments are affine in the states:
    Eᵗ = Aᵗ − Aᵗ⁻¹(I + Lᵗ) + Aᵗ⁻² Lᵗ, and E¹ = A¹ − A⁰((1 − φ) I + L¹) − φ(o + s r¹) + ref L¹ with r⁰ = r¹.
    """
    f, phi = network.activation, network.phi
    R, constant = coefficients.copy(), np.zeros(coefficients.shape[2])
    state = reference[None]
    previous = None
    for t in range(1, len(coefficients)):
        r = np.tanh(f.slope * (state @ network.weights + network.bias))
        L = phi * f.lipschitz * network.weights * (1 - r * (r if previous is None else previous))
        K = coefficients[t]
        if previous is None:
            R[0] -= (1 - phi) * K + L @ K
            constant = ((reference @ L - phi * (f.offset + f.scale * r[0])) @ K).copy()
        else:
            R[t - 1] -= K + L @ K
            R[t - 2] += L @ K
        previous, state = r, network.step(state, reference[None])
    return R, constant
