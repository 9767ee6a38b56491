"""What each iteration adds to the states, without cancellation: the well-conditioned basis of the readout.

The states Aᵗ converge, so their raw differences are soon rounding noise. With f(z) = o + s tanh(c z) and

    tanh a − tanh b = tanh(a − b)(1 − tanh a · tanh b)                                            (1)

the increment Dᵗ = Aᵗ − Aᵗ⁻¹ is a product: Dᵗ = φ s tanh(dᵗ)(1 − hᵗ hᵗ⁻¹), with hᵗ = tanh(c(Aᵗ⁻¹W + b)) and
dᵗ = c Dᵗ⁻¹W. Its linear part, φ s dᵗ (1 − rᵗ rᵗ⁻¹), r being h of a reference row, lies in the span of Dᵗ⁻¹. The rest,

    Eᵗ = φ s [(tanh dᵗ − dᵗ)(1 − rᵗ rᵗ⁻¹) − tanh dᵗ (eᵗ rᵗ⁻¹ + hᵗ eᵗ⁻¹)],      e = h − r,

has the same span together with A⁰ and is far better conditioned.

Easy to get wrong: e must not be computed as h − r. By (1) it is tanh(gᵗ)(1 − hᵗ rᵗ), where gᵗ = c(Aᵗ⁻¹ − A_refᵗ⁻¹)W is
carried along.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from .activation import Array
from .reasoning import Network


class Increment(NamedTuple):
    """Iteration t: the linearised increment Eᵗ (A⁰ for t = 0), and the increment Dᵗ = Aᵗ − Aᵗ⁻¹ itself."""

    linearised: Array
    whole: Array


def increments(network: Network, initial: Array, reference: Array) -> Iterator[Increment]:
    """Yield the increments t = 0, 1, 2, … without end for the rows `initial`, linearised about the row `reference`."""
    yield Increment(initial, initial)
    f, W, phi = network.activation, network.weights, network.phi
    gain, ref = phi * f.scale, reference[None]
    start = initial - ref
    r = np.tanh(f.slope * (ref @ W + network.bias))
    g = f.slope * (start @ W)
    tanh_g = np.tanh(g)
    h = (r + tanh_g) / (1 + r * tanh_g)
    e = tanh_g * (1 - h * r)
    whole, ref_whole = phi * (f.offset + f.scale * h - initial), phi * (f.offset + f.scale * r - ref)
    # The first increment holds A⁰ itself; here d is g, and what came before is the reference.
    yield Increment(gain * (tanh_minus_identity(g, tanh_g) * (1 - r * r) - tanh_g * r * e), whole)
    while True:
        gap = gain * e + (1 - phi) * start
        d, tanh_g = f.slope * (whole @ W), np.tanh(f.slope * (gap @ W))
        tanh_d, tanh_r = np.tanh(d), np.tanh(f.slope * (ref_whole @ W))
        r_next = (r + tanh_r) / (1 + r * tanh_r)
        h_next = (r_next + tanh_g) / (1 + r_next * tanh_g)
        e_next = tanh_g * (1 - h_next * r_next)
        whole, ref_whole = gain * tanh_d * (1 - h_next * h), gain * tanh_r * (1 - r_next * r)
        linear = tanh_minus_identity(d, tanh_d) * (1 - r_next * r)
        yield Increment(gain * (linear - tanh_d * (e_next * r + h_next * e)), whole)
        h, r, e = h_next, r_next, e_next


def tanh_minus_identity(u: Array, tanh_u: Array) -> Array:
    """Return tanh(u) − u to full relative precision; `tanh_u` is tanh(u).

    Below 1, Lambert's continued fraction u / (1 + u² / (3 + u² / (5 + …))) cut at depth 9, less u: all terms of
    numerator and denominator are positive, so nothing cancels.
    """
    s = np.minimum(u * u, 1.0)
    numerator = 11486475 + s * (810810 + s * (12870 + s * 44))
    denominator = 34459425 + s * (16216200 + s * (945945 + s * (13860 + s * 45)))
    return np.where(np.abs(u) < 1, -u * s * numerator / denominator, tanh_u - u)


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
