"""The increments of `core.increments` on a device: products in the library, all else of an iteration in one kernel.

With moved = D / (φ s) and e as there, the next iteration needs two products only,

    pulled = c φ s e W,      d = c φ s moved W,

since g = pulled + start, where start = c (1 − φ)(A⁰ − ref) W stays the same. What the reference row does is computed
once, in numpy.

Easy to get wrong: about forty elementary operations follow for every number, and each would read and write memory. On a
CUDA device they are one kernel, `STEP`.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from ..network.activation import Activation
from ..network.reasoning import Network
from ..types import Array
from .kernels import Kernel
from .space import DeviceArray, Space

NUMERATOR = (44.0, 12870.0, 810810.0, 11486475.0)
DENOMINATOR = (45.0, 13860.0, 945945.0, 16216200.0, 34459425.0)
"""Lambert's continued fraction for tanh(u), cut at depth 9, less u: all terms are positive, so nothing cancels."""

STEP = Kernel(
    "cogmap_step",
    "float64",
    inputs=("pulled", "start", "d", "h_before", "e_before", "z", "r", "r_before"),
    outputs=("E", "moved", "h", "e"),
    code="""
    const double g = pulled + start, tanh_d = ::tanh(d), s = d * d;
    double fraction = 44.0, below = 45.0;
    fraction = fraction * s + 12870.0;
    fraction = fraction * s + 810810.0;
    fraction = fraction * s + 11486475.0;
    below = below * s + 13860.0;
    below = below * s + 945945.0;
    below = below * s + 16216200.0;
    below = below * s + 34459425.0;
    const double curved = s < 1.0 ? -d * s * (fraction / below) : tanh_d - d;
    h = ::tanh(z + g);
    e = ::tanh(g) * (1.0 - h * r);
    moved = tanh_d * (1.0 - h * h_before);
    E = curved * (1.0 - r * r_before) - tanh_d * (e * r_before + h * e_before);
""",
)
"""One iteration of one concept of one row."""


class Step(NamedTuple):
    """What an iteration gives: E / (φ s), D / (φ s), h and e."""

    E: DeviceArray
    moved: DeviceArray
    h: DeviceArray
    e: DeviceArray


@dataclass(frozen=True)
class Reasoner:
    """A network on a device, with the trajectory of its reference row.

    `gain` is φ s. `first` and `later` are the matrices of the products in the first iteration and in later ones; `z`
    and `r` have one row for each iteration.
    """

    space: Space
    activation: Activation
    phi: float
    reference: DeviceArray
    first: DeviceArray
    later: DeviceArray
    z: DeviceArray
    r: DeviceArray

    @classmethod
    def of(cls, space: Space, network: Network, reference: Array, n_iter: int) -> Self:
        """Take a network to the device for so many iterations."""
        f, state, z = network.activation, reference[None], np.empty((n_iter, len(reference)))
        for t in range(n_iter):
            z[t] = f.slope * (state @ network.weights + network.bias)[0]
            state = network.step(state, reference[None])
        first = f.slope * network.weights
        host = (reference, first, network.phi * f.scale * first, z, np.tanh(z))
        return cls(space, f, network.phi, *map(space.put, host))

    @property
    def gain(self) -> float:
        """The factor that the increments of t ≥ 1 still lack."""
        return self.phi * self.activation.scale

    def __call__(self, initial: DeviceArray) -> Iterator[tuple[DeviceArray, DeviceArray]]:
        """Yield E and D for t = 0, 1, …; both are A⁰ for t = 0, and lack the factor `gain` later."""
        yield initial, initial
        xp, f = self.space.xp, self.activation
        g = (initial - self.reference) @ self.first
        start = (1 - self.phi) * g
        for t in range(self.z.shape[0]):
            z, r = self.z[t, :], self.r[t, :]
            if t == 0:
                # d is g here, and what came before is the reference; D holds A⁰ itself.
                none = xp.zeros_like(g)
                found = step(self.space, g, none, g, none, none, z, r, r)
                found = found._replace(moved=(f.offset - initial) / f.scale + found.h)
            else:
                pulled, d = found.e @ self.later, found.moved @ self.later
                found = step(self.space, pulled, start, d, found.h, found.e, z, r, self.r[t - 1, :])
            yield found.E, found.moved


def step(space: Space, *given: DeviceArray) -> Step:
    """Take one iteration; the arguments are the inputs of `STEP`."""
    found = STEP(space, *given)
    return operations(space.xp, *given) if found is None else Step(*found)


def operations(
    xp: Any,
    pulled: DeviceArray,
    start: DeviceArray,
    d: DeviceArray,
    h_before: DeviceArray,
    e_before: DeviceArray,
    z: DeviceArray,
    r: DeviceArray,
    r_before: DeviceArray,
) -> Step:
    """Do what `STEP` says by operations of the standard."""
    g = pulled + start
    tanh_d, h = xp.tanh(d), xp.tanh(z + g)
    e = xp.tanh(g) * (1 - h * r)
    E = e * r_before
    E += h * e_before
    E *= -tanh_d
    E += tanh_minus_identity(xp, d, tanh_d) * (1 - r * r_before)
    return Step(E, tanh_d * (1 - h * h_before), h, e)


def tanh_minus_identity(xp: Any, u: DeviceArray, tanh_u: DeviceArray) -> DeviceArray:
    """Return tanh(u) − u to full relative precision; `tanh_u` is tanh(u)."""
    s = u * u
    found = _polynomial(xp, s, *NUMERATOR)
    found /= _polynomial(xp, s, *DENOMINATOR)
    found *= s
    found *= -u
    return xp.where(s < 1, found, tanh_u - u)


def _polynomial(xp: Any, s: DeviceArray, first: float, *others: float) -> DeviceArray:
    found = xp.full_like(s, first)
    for coefficient in others:
        found *= s
        found += coefficient
    return found
