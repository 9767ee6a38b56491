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
of which reads and writes memory: numpy has them in `steps`, other libraries here, also as a CUDA kernel.
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
from .steps import Reach, Shared, Walk, Way
from .tanh import DENOMINATOR, NUMERATOR, tanh_minus_identity


class Increment(NamedTuple):
    """Iteration t of some rows: E / (φ s), D / (φ s) and e; for t = 0, A⁰ twice, and no e."""

    E: DeviceArray
    moved: DeviceArray
    e: DeviceArray


class About(NamedTuple):
    """The reference row in one iteration: z = c(A_ref W + b), r = tanh z, and r of the iteration before."""

    z: DeviceArray
    r: DeviceArray
    r_before: DeviceArray


class Course:
    """A network in a space, and the trajectory of its reference row: what all rows share.

    `gain` is φ s, the factor that E and D of t ≥ 1 lack. `first` and `later` are the matrices c W and φ s c W, from a
    row's distance to the reference, and from e and D, to the arguments of the next iteration. The first `n_iter`
    iterations of the reference are computed at once, so that threads may share a course. In numpy, what rows share is
    repeated for `tile` rows.
    """

    def __init__(self, space: Space, network: Network, reference: Array, n_iter: int = 0, tile: int = 1) -> None:
        f: Activation = network.activation
        self.space, self.network, self.tile = space, network, tile
        self.gain = network.phi * f.scale
        # One number for each concept: onnxruntime keeps a single one beside a matrix product in single precision.
        self.rest = space.put(np.full(len(reference), 1 - network.phi))
        to_next = f.slope * network.weights
        self.reference, self.first, self.later = map(space.put, (reference, to_next, self.gain * to_next))
        self.shared_reference = self._tiled(reference)
        self._states = states(network, reference[None])
        self._reach = Reach(network)
        self._known: list[About] = []
        self._shared: list[Shared] = []
        if n_iter:
            self.about(n_iter - 1)
            if space.numpy:
                self.shared(n_iter - 1)

    def about(self, t: int) -> About:
        """Return what the reference row does in iteration t + 1; before the first, r is taken to be the same."""
        while len(self._known) <= t:
            z = self.network.activation.slope * (next(self._states) @ self.network.weights + self.network.bias)[0]
            r = self.space.put(np.tanh(z))
            before = self._known[-1].r if self._known else r
            self._known.append(About(self.space.put(z), r, before))
        return self._known[t]

    def shared(self, t: int) -> Shared:
        """Return the same for numpy's steps, and which way these take."""
        while len(self._shared) <= t:
            k, f = len(self._shared), self.network.activation
            z, r, r_before = self.about(k)
            linear, decay = 1 - r * r_before, np.exp(-2 * np.abs(z))
            # The reference's own r − r′ is a product by (1) too: near its fixed point the difference would be rounding.
            if k == 0:
                moved, way = (f.offset - self.reference) / f.scale + r, Way()
            else:
                moved, way = np.tanh(self._shared[-1].moved[:, 0] @ self.later) * linear, self._reach.next()
            # 1 − r² = 1 / cosh² z needs no subtraction.
            arrays = (z, r, r_before, 4 * decay / (1 + decay) ** 2, linear, moved)
            self._shared.append(Shared(way, *map(self._tiled, arrays)))
        return self._shared[t]

    def _tiled(self, numbers: Array) -> Array:
        return np.repeat(numbers[:, None], self.tile, axis=1)

    def within(self, initial: Array) -> bool:
        """Say whether states are within the activation's range, as those of concepts are."""
        f = self.network.activation
        return bool(initial.min(initial=f.high) >= f.low and initial.max(initial=f.low) <= f.high)


def increments(course: Course, initial: DeviceArray) -> Iterator[Increment]:
    """Yield the increments t = 0, 1, 2, … without end for the rows `initial`."""
    yield Increment(initial, initial, None)
    yield from _in_place(course, initial) if course.space.numpy else _by_steps(course, initial)


def _in_place(course: Course, initial: Array) -> Iterator[Increment]:
    """Yield the increments t ≥ 1 in numpy."""
    walk = Walk(course, np.ascontiguousarray(initial.T))
    last = None
    for t in count():
        taken = Increment(*(np.empty_like(walk.initial) for _ in range(3)))
        walk.take(t, last, taken)
        last = taken
        yield Increment(*(part.T for part in taken))


def _by_steps(course: Course, initial: DeviceArray) -> Iterator[Increment]:
    """Yield the increments t ≥ 1 in any other library; D of the first holds A⁰ itself."""
    space, f = course.space, course.network.activation
    # Aᵗ = (1 − φ) A⁰ + φ f: what A⁰ adds to g is `start` in every later iteration, and is multiplied with W only here.
    g = space.product(initial - course.reference, course.first)
    start, about = course.rest * g, course.about(0)
    # E¹ has the form of all others with d = g, e′ = 0 and r′ = r; D¹ = φ (f − A⁰) has not, and is put in its place.
    last = step(space, g, None, g, space.xp.zeros_like(g), *about)
    last = last._replace(moved=(f.offset - initial) / f.scale + (about.r + last.e))
    yield last
    for t in count(1):
        pulled, d = space.product(last.e, course.later), space.product(last.moved, course.later)
        last = step(space, pulled, start, d, last.e, *course.about(t))
        yield last


def lockstep(course: Course, initial: Array) -> Iterator[tuple[Array, float]]:
    """Yield Eᵗ of all rows, and the largest change of any activation, for t = 0, 1, 2, … without end.

    All iterations are yielded in one and the same array, which the caller may overwrite. Beside it, D and e are all
    that is held of the rows: what they share with their initial states is computed anew in each iteration.
    """
    space, strips, trusted = course.space, list(slices(len(initial), STRIP)), course.within(initial)
    E = np.array(initial, order="C")
    before: list[Increment | None] = [None] * len(strips)
    yield E, float(space.largest(E)) if E.size else 0.0
    for t in count():
        # Before the threads begin: a course appends to its lists, and has no lock.
        course.shared(t)

        def advance(k: int, t: int = t) -> float:
            walk = Walk(course, np.ascontiguousarray(initial[strips[k]].T), trusted)
            taken = Increment(*(np.empty_like(walk.initial) for _ in range(3)))
            walk.take(t, before[k], taken)
            np.multiply(taken.E.T, course.gain, out=E[strips[k]])
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
) -> Increment:
    """Take one iteration, with g = pulled + start, in another library than numpy."""
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


def states_readout(network: Network, reference: Array, coefficients: Array) -> tuple[Array, Array]:
    """Turn coefficients of A⁰, E¹ … Eᵀ, shape (T + 1, M, N), into those of the states A⁰ … Aᵀ and a constant.

    With Lᵗ = φ s c W diag(1 − rᵗ rᵗ⁻¹), the increments are affine in the states:
    Eᵗ = Aᵗ − Aᵗ⁻¹(I + Lᵗ) + Aᵗ⁻² Lᵗ, and E¹ = A¹ − A⁰((1 − φ) I + L¹) − φ(o + s r¹) + ref L¹ with r⁰ = r¹.
    """
    f, phi, course = network.activation, network.phi, Course(NUMPY, network, reference)
    R, constant = coefficients.copy(), np.zeros(coefficients.shape[2])
    for t in range(1, len(coefficients)):
        _, r, r_before = course.about(t - 1)
        L, K = course.later * (1 - r * r_before), coefficients[t]
        if t == 1:
            R[0] -= (1 - phi) * K + L @ K
            constant = ((reference @ L - phi * (f.offset + f.scale * r)) @ K).copy()
        else:
            R[t - 1] -= K + L @ K
            R[t - 2] += L @ K
    return R, constant
