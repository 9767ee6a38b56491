"""What each iteration adds to the states, without cancellation: the well-conditioned basis of the readout.

The states Aᵗ converge, so their raw differences are soon rounding noise. With f(z) = o + s tanh(c z) and

    tanh a − tanh b = tanh(a − b)(1 − tanh a · tanh b)                                            (1)

the increment Dᵗ = Aᵗ − Aᵗ⁻¹ is a product: Dᵗ = φ s tanh(dᵗ)(1 − hᵗ hᵗ⁻¹), with hᵗ = tanh(c(Aᵗ⁻¹W + b)) and
dᵗ = c Dᵗ⁻¹W. Its linear part, φ s dᵗ (1 − rᵗ rᵗ⁻¹), r being h of a reference row, lies in the span of Dᵗ⁻¹. The rest,

    Eᵗ = φ s [(tanh dᵗ − dᵗ)(1 − rᵗ rᵗ⁻¹) − tanh dᵗ (eᵗ rᵗ⁻¹ + hᵗ eᵗ⁻¹)],      e = h − r,

has the same span together with A⁰ and is far better conditioned. Since h = r + e, an iteration needs of the one before
it only D and e.

Easy to get wrong: e must not be computed as h − r. By (1) it is tanh(gᵗ)(1 − hᵗ rᵗ), where gᵗ = c(Aᵗ⁻¹ − A_refᵗ⁻¹)W is
carried along; h and r themselves need no such care. And about forty elementary operations follow for every number, each
of which reads and writes memory: `step` has them once for all libraries, in place for numpy, and as a CUDA kernel.
"""

from collections.abc import Iterator
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from ..network.activation import Activation
from ..network.reasoning import Network, states
from ..sums.kernels import Kernel
from ..sums.space import NUMPY, STRIP, DeviceArray, Space, slices
from ..sums.threads import side_by_side
from ..types import Array

NUMERATOR = (44.0, 12870.0, 810810.0, 11486475.0)
DENOMINATOR = (45.0, 13860.0, 945945.0, 16216200.0, 34459425.0)
"""Lambert's continued fraction for tanh(u), cut at depth 9: tanh(u) − u = −u s N(s) / D(s), s = u², for s < 1.

All terms are positive, so nothing cancels.
"""

SHORT, SHORT_NUMERATOR, SHORT_DENOMINATOR = 1e-3, (14.0, 315.0), (15.0, 420.0, 945.0)
"""The same cut at depth 5, for s below the first number: what it leaves out is 3e-7 s⁴ of tanh(u) − u, below 1e-18."""

LEAST_DIVISOR = 0.25
"""Smallest 1 + tanh a tanh b by which the addition theorem divides; smaller ones have lost digits."""


class Increment(NamedTuple):
    """Iteration t of some rows: E / (φ s), D / (φ s) and e; for t = 0, A⁰ twice, and no e."""

    E: DeviceArray
    moved: DeviceArray
    e: DeviceArray


class About(NamedTuple):
    """The reference row in one iteration: z = c(A_ref W + b), r = tanh z, and r of the iteration before.

    `short` says that d² is below `SHORT` for every row whose states are within the activation's range.
    """

    z: DeviceArray
    r: DeviceArray
    r_before: DeviceArray
    short: bool


class Course:
    """A network in a space, and the trajectory of its reference row: what all rows share.

    `gain` is φ s, the factor that E and D of t ≥ 1 lack. `first` and `later` are the matrices c W and φ s c W, from a
    row's distance to the reference, and from e and D, to the arguments of the next iteration. The first `n_iter`
    iterations of the reference are computed at once, so that threads may share a course.
    """

    def __init__(self, space: Space, network: Network, reference: Array, n_iter: int = 0) -> None:
        f: Activation = network.activation
        self.space, self.network = space, network
        self.gain = network.phi * f.scale
        # One number for each concept: onnxruntime keeps a single one beside a matrix product in single precision.
        self.rest = space.put(np.full(len(reference), 1 - network.phi))
        to_next = f.slope * network.weights
        self.reference, self.first, self.later = map(space.put, (reference, to_next, self.gain * to_next))
        self._states = states(network, reference[None])
        self._largest = np.full(len(reference), network.phi * (f.high - f.low))
        self._known: list[About] = []
        if n_iter:
            self.about(n_iter - 1)

    def about(self, t: int) -> About:
        """Return what the reference row does in iteration t + 1; before the first, r is taken to be the same."""
        while len(self._known) <= t:
            z = self.network.activation.slope * (next(self._states) @ self.network.weights + self.network.bias)[0]
            r = self.space.put(np.tanh(z))
            before = self._known[-1].r if self._known else r
            self._known.append(About(self.space.put(z), r, before, self._is_short()))
        return self._known[t]

    def _is_short(self) -> bool:
        """Say whether the next d is small, by a bound: |d| ≤ c |D| |W|, and |tanh a − tanh b| ≤ |a − b|."""
        if not self._known:
            return False
        d = self.network.activation.slope * (self._largest @ np.abs(self.network.weights))
        self._largest = self.gain * d
        return bool((d * d < SHORT).all())


def increments(course: Course, initial: DeviceArray) -> Iterator[Increment]:
    """Yield the increments t = 0, 1, 2, … without end for the rows `initial`."""
    space = course.space
    initial = np.asfortranarray(initial) if space.numpy else initial
    yield Increment(initial, initial, None)
    g = space.product(initial - course.reference, course.first)
    start = course.rest * g
    last = _first(course, initial, g)
    yield last
    for t in count(1):
        pulled, d = space.product(last.e, course.later), space.product(last.moved, course.later)
        last = step(space, pulled, start, d, last.e, *course.about(t))
        yield last


def _first(course: Course, initial: DeviceArray, g: DeviceArray) -> Increment:
    """Take the first iteration: here d is g, and what came before is the reference; D holds A⁰ itself."""
    f, about = course.network.activation, course.about(0)
    none = course.space.xp.zeros_like(g)
    taken = step(course.space, g + 0.0, None, g, none, *about)
    return taken._replace(moved=(f.offset - initial) / f.scale + (about.r + taken.e))


def lockstep(course: Course, initial: Array) -> Iterator[tuple[Array, float]]:
    """Yield Eᵗ of all rows, and the largest change of any activation, for t = 0, 1, 2, … without end.

    All iterations are yielded in one and the same array, which the caller may overwrite. Beside it, D and e are all
    that is held of the rows: what they share with their initial states is computed anew in each iteration.
    """
    space, phi, strips = course.space, course.network.phi, list(slices(len(initial), STRIP))
    E, before = np.array(initial, order="C"), [Increment(None, None, None)] * len(strips)
    yield E, float(space.largest(E)) if E.size else 0.0
    for t in count():
        about = course.about(t)

        def advance(k: int, t: int = t, about: About = about) -> float:
            rows, last = strips[k], before[k]
            gap = np.asfortranarray(initial[rows]) - course.reference
            if t == 0:
                taken = _first(course, initial[rows], space.product(gap, course.first))
            else:
                gap *= 1 - phi
                gap += course.gain * last.e
                d = space.product(last.moved, course.later)
                taken = step(space, space.product(gap, course.first), None, d, last.e, *about)
            np.multiply(taken.E, course.gain, out=E[rows])
            before[k] = taken._replace(E=None)
            return float(space.largest(taken.moved)) if taken.moved.size else 0.0

        yield E, course.gain * max(side_by_side(advance, range(len(strips))))


def _horner(coefficients: tuple[float, ...]) -> str:
    """Write a polynomial in s as code."""
    text = repr(coefficients[0])
    for coefficient in coefficients[1:]:
        text = f"({text} * s + {coefficient!r})"
    return text


STEP = Kernel(
    "cogmap_step",
    "float64",
    inputs=("pulled", "start", "d", "e_before", "z", "r", "r_before"),
    outputs=("E", "moved", "e"),
    code=f"""
    const double g = pulled + start, tanh_d = ::tanh(d), s = d * d;
    const double curved = s < 1.0 ? -d * s * ({_horner(NUMERATOR)} / {_horner(DENOMINATOR)}) : tanh_d - d;
    const double h = ::tanh(z + g);
    e = ::tanh(g) * (1.0 - h * r);
    moved = tanh_d * (1.0 - h * (r_before + e_before));
    E = curved * (1.0 - r * r_before) - tanh_d * (e * r_before + h * e_before);
""",
)
"""One iteration of one concept of one row."""


def step(
    space: Space,
    pulled: DeviceArray,
    start: DeviceArray | None,
    d: DeviceArray,
    e_before: DeviceArray,
    z: DeviceArray,
    r: DeviceArray,
    r_before: DeviceArray,
    short: bool = False,
) -> Increment:
    """Take one iteration, with g = pulled + start; numpy overwrites `pulled`."""
    if space.numpy:
        return _in_place(pulled, start, d, e_before, z, r, r_before, short)
    start = space.xp.zeros_like(pulled) if start is None else start
    compiled = STEP(space, pulled, start, d, e_before, z, r, r_before)
    if compiled is not None:
        return Increment(*compiled)
    return operations(space.xp, pulled + start, d, e_before, z, r, r_before)


def operations(xp: Any, g: Any, d: Any, e_before: Any, z: Any, r: Any, r_before: Any) -> Increment:
    """Do what `STEP` says by operations that every library has."""
    tanh_d, h = xp.tanh(d), xp.tanh(z + g)
    e = xp.tanh(g) * (1.0 - h * r)
    E = tanh_minus_identity(xp, d, tanh_d) * (1.0 - r * r_before) - tanh_d * (e * r_before + h * e_before)
    return Increment(E, tanh_d * (1.0 - h * (r_before + e_before)), e)


def tanh_minus_identity(xp: Any, u: Any, tanh_u: Any) -> Any:
    """Return tanh(u) − u to full relative precision; `tanh_u` is tanh(u)."""
    s = u * u
    near = _polynomial(s, *NUMERATOR) / _polynomial(s, *DENOMINATOR)
    return xp.where(s >= 1.0, tanh_u - u, near * s * -u)


def _polynomial(s: Any, first: float, *others: float) -> Any:
    value = s * first + others[0]
    for coefficient in others[1:]:
        value = value * s + coefficient
    return value


def _in_place(
    g: Array, start: Array | None, d: Array, e_before: Array, z: Array, r: Array, r_before: Array, short: bool
) -> Increment:
    """Do the same in as few passes over memory as numpy allows, and without its slow tanh; `g` is overwritten.

    What is done with a number depends on that number alone, never on the rows that come with it.
    """
    if start is not None:
        g += start
    e = _apart(g, z, r)
    tanh_d, E = tanh_parts(d, short)
    E *= 1.0 - r * r_before
    h = r + e
    # E lacks what the row's course has beyond the reference's: tanh d (e r′ + h e′). From here on g is only memory.
    np.multiply(e, r_before, out=g)
    moved = h * e_before
    g += moved
    g *= tanh_d
    E -= g
    np.add(e_before, r_before, out=moved)
    moved *= h
    np.subtract(1.0, moved, out=moved)
    moved *= tanh_d
    return Increment(E, moved, e)


def _apart(g: Array, z: Array, r: Array) -> Array:
    """Return e = tanh(z + g) − r, r being tanh z, without cancellation.

    By the addition theorem it is tanh(g) (1 − r²) / (1 + r tanh g), and 1 − r² = 1 / cosh² z needs no subtraction. That
    keeps its digits while the divisor is not small, as it is where row and reference saturate at opposite ends.
    """
    tanh_g = tanh_parts(g)[0]
    below = tanh_g * r
    below += 1.0
    decay = np.exp(-2 * np.abs(z))
    e: Array = tanh_g * (4 * decay / (1 + decay) ** 2)
    flat = below.ravel(order="K")
    if flat.min(initial=1.0) < LEAST_DIVISOR:
        lost = flat < LEAST_DIVISOR
        e /= np.maximum(below, LEAST_DIVISOR)
        exact = one_minus_product(np.tanh(z + g), r) * tanh_g
        np.putmask(e.ravel(order="K"), lost, exact.ravel(order="K"))
        return e
    e /= below
    return e


def one_minus_product(x: Array, y: Array) -> Array:
    """Return 1 − x y."""
    product = x * y
    return np.subtract(1.0, product, out=product)


def tanh_parts(u: Array, short: bool = False) -> tuple[Array, Array]:
    """Return tanh(u), and tanh(u) − u to full relative precision; `u` has no gaps in memory.

    `short` promises that all numbers are small; it is not believed where one is not.
    """
    s = u * u
    flat = s.ravel(order="K")
    largest = flat.max(initial=0.0)
    above, under = (SHORT_NUMERATOR, SHORT_DENOMINATOR) if short and largest < SHORT else (NUMERATOR, DENOMINATOR)
    rest, below = s * -above[0], s * under[0]
    for value, (*middle, last), sign in ((rest, above[1:], -1.0), (below, under[1:], 1.0)):
        for coefficient in middle:
            value += sign * coefficient
            value *= s
        value += sign * last
    rest /= below
    rest *= np.multiply(s, u, out=below)
    tanh = np.add(u, rest, out=below)
    if largest >= 1.0:
        exact = np.tanh(u, out=np.empty_like(u)).ravel(order="K")
        large = flat >= 1.0
        np.putmask(tanh.ravel(order="K"), large, exact)
        np.putmask(rest.ravel(order="K"), large, exact - u.ravel(order="K"))
    return tanh, rest


def states_readout(network: Network, reference: Array, coefficients: Array) -> tuple[Array, Array]:
    """Turn coefficients of A⁰, E¹ … Eᵀ, shape (T + 1, M, N), into those of the states A⁰ … Aᵀ and a constant.

    With Lᵗ = φ s c W diag(1 − rᵗ rᵗ⁻¹), the increments are affine in the states:
    Eᵗ = Aᵗ − Aᵗ⁻¹(I + Lᵗ) + Aᵗ⁻² Lᵗ, and E¹ = A¹ − A⁰((1 − φ) I + L¹) − φ(o + s r¹) + ref L¹ with r⁰ = r¹.
    """
    f, phi, course = network.activation, network.phi, Course(NUMPY, network, reference)
    R, constant = coefficients.copy(), np.zeros(coefficients.shape[2])
    for t in range(1, len(coefficients)):
        _, r, r_before, _ = course.about(t - 1)
        L, K = course.later * (1 - r * r_before), coefficients[t]
        if t == 1:
            R[0] -= (1 - phi) * K + L @ K
            constant = ((reference @ L - phi * (f.offset + f.scale * r)) @ K).copy()
        else:
            R[t - 1] -= K + L @ K
            R[t - 2] += L @ K
    return R, constant
