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
from numpy.typing import NDArray

from ..network.reasoning import Network
from ..sums.blocks import ROWS
from ..types import Array


class Increment(NamedTuple):
    """Iteration t: the linearised increment Eᵗ (A⁰ for t = 0), and the largest change of any activation."""

    linearised: Array
    change: float


class Step(NamedTuple):
    """The reference row in one iteration: z = c(A_ref W + b), r = tanh z, and r of the iteration before."""

    z: Array
    r: Array
    r_before: Array


def reference_steps(network: Network, reference: Array) -> Iterator[Step]:
    """Yield the reference row's iterations 1, 2, … without end; before the first, r is taken to be the same."""
    state, r_before = reference[None], None
    while True:
        z = network.activation.slope * (state @ network.weights + network.bias)
        r = np.tanh(z)
        yield Step(z, r, r if r_before is None else r_before)
        state, r_before = network.step(state, reference[None]), r


class Course:
    """What all blocks of rows share, computed once: a network, and the steps of its reference row.

    `to_d` and `to_g` are the matrices c W and φ s c W, from increments and from e to the arguments of the next step.
    """

    def __init__(self, network: Network, reference: Array) -> None:
        self.network, self.reference = network, reference
        self.to_d: Array = network.activation.slope * network.weights
        self.to_g: Array = network.phi * network.activation.scale * self.to_d
        self._known: list[Step] = []
        self._coming = reference_steps(network, reference)

    def __iter__(self) -> Iterator[Step]:
        """Yield the steps without end."""
        for t in count():
            if t == len(self._known):
                self._known.append(next(self._coming))
            yield self._known[t]


def increments(network: Network, initial: Array, reference: Array) -> Iterator[Increment]:
    """Yield the increments t = 0, 1, 2, … without end for the rows `initial`, linearised about the row `reference`.

    Rows go through in blocks that stay in the cache.
    """
    course, starts = Course(network, reference), range(0, max(len(initial), 1), ROWS)
    blocks = [block_increments(course, initial[start : start + ROWS]) for start in starts]
    for parts in zip(*blocks, strict=True):
        change = max(np.abs(whole).max(initial=0.0) for _, whole in parts)
        yield Increment(np.concatenate([linearised for linearised, _ in parts]), float(change))


def block_increments(course: Course, initial: Array) -> Iterator[tuple[Array, Array]]:
    """Yield Eᵗ and Dᵗ = Aᵗ − Aᵗ⁻¹ for t = 0, 1, 2, … without end; both are A⁰ for t = 0.

    Products aside, all of it is elementwise, and costs what passes over the block cost: hence in place. A column's rows
    lie side by side in memory, so that what they share with the reference row is one number for all of them.
    """
    initial = np.asfortranarray(initial)
    yield initial, initial
    f, phi = course.network.activation, course.network.phi
    gain = phi * f.scale
    g = across(initial - course.reference, course.to_d)
    from_start, e_before = (1 - phi) * g, np.zeros_like(g)
    h_before = whole = np.zeros(0)
    for t, (z, r, r_before) in enumerate(course):
        h = z + g
        np.tanh(h, out=h)
        tanh_d, linearised = tanh_parts(across(whole, course.to_d) if t else g)
        e = one_minus_product(h, r)
        e *= np.tanh(g, out=g) if t else tanh_d
        tanh_d *= gain
        if t == 0:
            # The first increment holds A⁰ itself; here d is g, and what came before is the reference.
            whole = phi * (f.offset + f.scale * h - initial)
        else:
            whole = one_minus_product(h, h_before)
            whole *= tanh_d
        linearised *= gain * (1 - r * r_before)
        e_before *= h
        e_before += e * r_before
        e_before *= tanh_d
        linearised -= e_before
        yield linearised, whole
        h_before, e_before = h, e
        g = across(e, course.to_g)
        g += from_start


def across(X: Array, W: Array) -> Array:
    """Return X W, a column's rows side by side in memory, as those of X are."""
    product: Array = (W.T @ X.T).T
    return product


def one_minus_product(x: Array, y: Array) -> Array:
    """Return 1 − x y."""
    found = x * y
    return np.subtract(1.0, found, out=found)


def tanh_parts(u: Array) -> tuple[Array, Array]:
    """Return tanh(u), and tanh(u) − u to full relative precision.

    Below u² = 0.2, Lambert's continued fraction u / (1 + u² / (3 + u² / (5 + …))) cut at depth 7, less u: all terms of
    numerator and denominator have one sign, so nothing cancels.
    """
    s = u * u
    large = s >= 0.2 if s.ravel(order="K").max(initial=0.0) >= 0.2 else None
    rest = s * -27.0
    rest -= 2772.0
    rest *= s
    rest -= 45045.0
    below = s * 28.0
    below += 3150.0
    below *= s
    below += 62370.0
    below *= s
    below += 135135.0
    rest /= below
    s *= u
    rest *= s
    tanh = np.add(u, rest, out=below)
    if large is not None:
        exact = np.tanh(u, out=s)
        _replace(tanh, large, exact)
        exact -= u
        _replace(rest, large, exact)
    return tanh, rest


def _replace(x: Array, where: NDArray[np.bool_], values: Array) -> None:
    """Put values where they are wanted; all three lie in memory in one and the same order, without gaps."""
    np.putmask(x.ravel(order="K"), where.ravel(order="K"), values.ravel(order="K"))


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
