"""Iterations in numpy, in place: few passes over memory, and no slow tanh.

Arrays have the shape (…, M, n): the rows of a concept lie side by side, and what they share with the reference row is
one number for all of them. There are two ways to take an iteration. *Far* is that of `increments`. *Near* needs neither
g nor its product: by the addition theorem, with τ = tanh d and h′ the tanh of the iteration before,

    h − h′ = τ (1 − h′²) / (1 + h′ τ),        e = e′ + (h − h′) − (r − r′).

Easy to get wrong: near is for |d| ≤ 1, where the divisor is not small, and for φ < 1. With φ = 1 rows go to one fixed
point, where e vanishes like d, and a sum of what it changes by would not.
"""

import math
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from ..network.inner import spectral_norm
from ..network.reasoning import Network
from ..types import Array
from .tanh import REACHES, n_terms, tanh_parts

if TYPE_CHECKING:
    from .increments import Course, Increment

LEAST_DIVISOR = 0.25
"""Smallest 1 + tanh a tanh b by which the addition theorem divides; smaller ones have lost digits."""

NEAR, MOST_PHI = 1.0, 0.9
"""Largest |d| of near iterations, for which 1 − tanh |d| is about the least divisor; and their largest φ, for which e
stays within a factor of about 20 of what it was at first.
"""


EXACT_NORM = 128
"""Concepts up to which the largest singular value of W is worth its time; beyond, its row and column sums bound it."""


class Way(NamedTuple):
    """How to take an iteration: near or far, and by how many terms of the series; 0 for the fraction.

    So many are enough for most rows; `sure` says that they are for all.
    """

    near: bool = False
    n_terms: int = 0
    sure: bool = False


class Shared(NamedTuple):
    """What all rows share in one iteration: arrays of the reference row, of shape (M, 1) or (M, n).

    `slope` is 1 − r², `linear` 1 − r r′ and `moved` r − r′.
    """

    way: Way
    z: Array
    r: Array
    r_before: Array
    slope: Array
    linear: Array
    moved: Array


class Reach:
    """How far d can be from 0 in each iteration, by two bounds for states within the activation's range.

    |tanh a − tanh b| ≤ |a − b|, hence |d| ≤ c |D′| |W| for every concept, and ‖d‖ ≤ c ‖D′‖ ‖W‖ for all together. Most
    rows have no d of more than twice its root mean square, if that is as large as it can be.
    """

    def __init__(self, network: Network) -> None:
        f, W = network.activation, network.weights
        self._size, self._phi, self._gain = np.abs(f.slope * W), network.phi, network.phi * f.scale
        sums = (float(self._size.sum(axis=axis).max(initial=0.0)) for axis in (0, 1))
        self._norm = f.slope * spectral_norm(W) if len(W) <= EXACT_NORM else math.sqrt(math.prod(sums))
        # Dᵗ = φ (f − f′), and D¹ = φ (f − A⁰), with all of them within the activation's range.
        self._each = self._widest = np.full(len(W), network.phi * (f.high - f.low))
        self._all = self._longest = float(np.linalg.norm(self._each))

    def next(self) -> Way:
        """Return the way to take the next iteration, from the second on."""
        each = self._each @ self._size
        # Either bound may be the smaller; and no entry of d is larger than its norm.
        together = min(self._all * self._norm, float(np.linalg.norm(each)))
        each = np.minimum(each, together)
        largest = float(each.max(initial=0.0))
        terms = n_terms(min(largest, 2 * together / max(len(each), 1) ** 0.5))
        # Large weights would take the bounds beyond all numbers, which no difference of states can follow.
        self._each = np.minimum(self._gain * each, self._widest)
        self._all = min(self._gain * together, self._longest)
        sure = terms > 0 and largest**2 < REACHES[terms - 1]
        return Way(largest <= NEAR and self._phi <= MOST_PHI, terms, sure)


class Walk:
    """Rows on their way through the iterations: their initial states, and memory that every step uses again."""

    def __init__(self, course: "Course", initial: Array, trusted: bool | None = None) -> None:
        self.course, self.initial = course, initial
        self.trusted = course.within(initial) if trusted is None else trusted
        self._d, self._rest, self._tanh, self._x, self._h = (np.empty_like(initial) for _ in range(5))

    def take(self, t: int, before: "Increment | None", into: "Increment") -> None:
        """Take iteration t + 1 from the one before it."""
        if before is None:
            self._first(into)
        elif self.trusted and self.course.shared(t).way.near:
            self._near(self.course.shared(t), before, into)
        else:
            self._far(self.course.shared(t), before, into)

    def _first(self, into: "Increment") -> None:
        """Take the first iteration: d is g, what came before is the reference, and D holds A⁰ itself."""
        f, about, (E, moved, e) = self.course.network.activation, self.course.shared(0), into
        np.subtract(self.initial, self.course.shared_reference, out=self._x)
        np.matmul(self.course.first.T, self._x, out=self._d)
        tanh, rest = tanh_parts(self._d, room=(self._tanh, self._rest, self._x))
        _apart(self._d, tanh, about, out=e, room=self._x)
        rest *= about.linear
        np.multiply(e, about.r, out=self._x)
        self._x *= tanh
        np.subtract(rest, self._x, out=E)
        np.subtract(f.offset, self.initial, out=moved)
        moved /= f.scale
        moved += about.r
        moved += e

    def _near(self, about: Shared, before: "Increment", into: "Increment") -> None:
        x, h, (E, moved, e) = self._x, self._h, into
        np.matmul(self.course.later.T, before.moved, out=self._d)
        tanh, rest = tanh_parts(self._d, about.way.n_terms, about.way.sure, (self._tanh, self._rest, x))
        np.add(before.e, about.r_before, out=h)
        # τ (1 − h′²) is τ − h′ (h′ τ): the divisor needs h′ τ in any case.
        np.multiply(h, tanh, out=x)
        np.multiply(h, x, out=moved)
        np.subtract(tanh, moved, out=moved)
        x += 1.0
        moved /= x
        np.subtract(moved, about.moved, out=e)
        e += before.e
        # E lacks what the row's course has beyond the reference's: tanh d (e h′ + r e′).
        h *= e
        np.multiply(before.e, about.r, out=x)
        x += h
        x *= tanh
        rest *= about.linear
        np.subtract(rest, x, out=E)

    def _far(self, about: Shared, before: "Increment", into: "Increment") -> None:
        course, x, h, (E, moved, e) = self.course, self._x, self._h, into
        # Aᵗ⁻¹ less that of the reference: φ s e′ and (1 − φ)(A⁰ − ref). Summed first, they take one product, not two.
        np.subtract(self.initial, course.shared_reference, out=x)
        x *= 1 - course.network.phi
        x += np.multiply(before.e, course.gain, out=h)
        g = np.matmul(course.first.T, x, out=self._d)
        _apart(g, tanh_parts(g, room=(self._tanh, self._rest, x))[0], about, out=e, room=x)
        # From here on g is of no use, and d takes its memory.
        np.matmul(course.later.T, before.moved, out=self._d)
        tanh, rest = tanh_parts(self._d, room=(self._tanh, self._rest, x))
        np.add(e, about.r, out=h)
        np.add(before.e, about.r_before, out=moved)
        moved *= h
        np.subtract(1.0, moved, out=moved)
        moved *= tanh
        # What E lacks, as in `_near`: e h′ + r e′ = e r′ + h e′, and h is there already.
        h *= before.e
        np.multiply(e, about.r_before, out=x)
        x += h
        x *= tanh
        rest *= about.linear
        np.subtract(rest, x, out=E)


def _apart(g: Array, tanh_g: Array, about: Shared, *, out: Array, room: Array) -> None:
    """Write e = tanh(z + g) − r, r being tanh z, without cancellation.

    By the addition theorem it is tanh(g) (1 − r²) / (1 + r tanh g). That keeps its digits while the divisor is not
    small, as it is where row and reference saturate at opposite ends.
    """
    below = np.multiply(tanh_g, about.r, out=room)
    below += 1.0
    np.multiply(tanh_g, about.slope, out=out)
    if below.min(initial=1.0) < LEAST_DIVISOR:
        lost = below < LEAST_DIVISOR
        # Their quotients are replaced below; a divisor of 0 would warn.
        below[lost] = 1.0
        out /= below
        z, r = (np.broadcast_to(part, g.shape)[lost] for part in (about.z, about.r))
        out[lost] = (1.0 - np.tanh(z + g[lost]) * r) * tanh_g[lost]
    else:
        out /= below
