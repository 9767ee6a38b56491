"""Curves and surfaces: what each concept adds by itself, and what two concepts add together, read at A⁰.

    score = constant + Σ_j g_j(a_j) + Σ_(i, j) h_ij(a_i, a_j)

With knots t_0 < t_1 < … of a concept, its ramps r_k(a) = clip((a − t_(k−1)) / (t_k − t_(k−1)), 0, 1) say how far a is
above t_(k−1): "age is above 40". A curve g is a sum of ramps, and so piecewise linear; a surface h is a sum of products
of ramps between fewer knots, "age is above 40 and hours are above 50", and 0 along both lower edges. A ridge on their
coefficients keeps neighbouring knots alike: it asks for few and small steps.

Easy to get wrong: knots must be where the values are. Ranks hide the tail of a feature that is mostly 0, and values
hide the crowd; knots stand at equal steps of both. And a ramp divides by the gap between knots: rounding of a state is
magnified by that, so knots keep `LEAST_GAP` from each other.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from ..concepts.scaling import Scaling
from ..network.reasoning import Network
from ..readout.terms import Terms
from ..sums.space import DeviceArray, Space, slices
from ..types import Array, Codes

LEAST_GAP = 1e-6
"""Least distance of two knots; the numerical contract has room for what 1e6 makes of rounding."""

CACHED = 64
"""Columns that numpy computes at a time: few enough to stay in a cache for as many rows as are scored together."""

UNSEEN = 8
"""Knots of a concept whose scaling does not tell which values it has: min-max, or none."""


class Ramps(NamedTuple):
    """Ramps of several concepts less their means: clip(a · slope + shift, 0, 1) − mean.

    `concept` is the concept of each, and `start` says where those of each concept begin.
    """

    concept: Codes
    slope: Array
    shift: Array
    mean: Array
    start: Codes

    @classmethod
    def between(cls, knots: Sequence[Array], mean: Array) -> "Ramps":
        """Return the ramps between neighbouring knots of each concept, given their means."""
        sizes = np.array([len(own) - 1 for own in knots], dtype=np.intp)
        slope = 1 / np.concatenate([np.empty(0), *(np.diff(own) for own in knots)])
        lower = np.concatenate([np.empty(0), *(own[:-1] for own in knots)])
        start = np.concatenate([np.zeros(1, np.intp), np.cumsum(sizes)])
        return cls(np.repeat(np.arange(len(knots)), sizes), slope, -lower * slope, mean, start)

    def of(self, space: Space, initial: DeviceArray, some: slice = slice(None)) -> DeviceArray:
        """Return ramps of rows with these initial states, all of them or some."""
        at = space.take(initial, space.put(self.concept[some]), axis=1)
        at *= space.put(self.slope[some])
        at += space.put(self.shift[some])
        return space.xp.clip(at, 0.0, 1.0) - space.put(self.mean[some])


@dataclass(frozen=True)
class Pieces:
    """Knots of curves, fewer knots of surfaces, both for each concept, and the pairs that have a surface, (P, 2).

    Columns are the ramps of all curves, then for each pair the products of the ramps of the one concept with those of
    the other, the latter's side by side. `means` are what is taken from the ramps of curves, then from those of
    surfaces.
    """

    curves: tuple[Array, ...]
    surfaces: tuple[Array, ...]
    means: Array
    pairs: Codes

    @classmethod
    def plain(cls, curves: tuple[Array, ...], surfaces: tuple[Array, ...]) -> "Pieces":
        """Return curves alone, with nothing taken from any ramp."""
        n_ramps = sum(len(own) - 1 for own in (*curves, *surfaces))
        return cls(curves, surfaces, np.zeros(n_ramps), np.empty((0, 2), np.intp))

    @cached_property
    def lines(self) -> Ramps:
        """The ramps of the curves."""
        n_curves = sum(len(own) - 1 for own in self.curves)
        return Ramps.between(self.curves, self.means[:n_curves])

    @cached_property
    def factors(self) -> tuple[Ramps, Codes, Codes]:
        """The ramps that surfaces multiply, and the two of each product."""
        ramps = Ramps.between(self.surfaces, self.means[self.n_curves :])
        start, one, other = ramps.start, [np.empty(0, np.intp)], [np.empty(0, np.intp)]
        for i, j in self.pairs.tolist():
            left, right = np.arange(start[i], start[i + 1]), np.arange(start[j], start[j + 1])
            one.append(np.repeat(left, len(right)))
            other.append(np.tile(right, len(left)))
        return ramps, np.concatenate(one), np.concatenate(other)

    @cached_property
    def owners(self) -> Codes:
        """The two concepts of each column, shape (p, 2): twice the same for a column of a curve."""
        ramps, one, other = self.factors
        alone = self.lines.concept
        return np.stack([np.r_[alone, ramps.concept[one]], np.r_[alone, ramps.concept[other]]], axis=1)

    @cached_property
    def ends(self) -> Codes:
        """Where the columns of curves end, and those of each pair; shape (P + 1,)."""
        size = np.array([len(own) - 1 for own in self.surfaces], dtype=np.intp)
        return self.n_curves + np.concatenate([np.zeros(1, np.intp), np.cumsum(size[self.pairs].prod(axis=1))])

    @property
    def n_curves(self) -> int:
        """How many columns are of curves."""
        return len(self.lines.concept)

    def with_pairs(self, pairs: Codes) -> "Pieces":
        """Return the same curves with other surfaces."""
        return replace(self, pairs=pairs)

    def parts(self, space: Space, initial: DeviceArray) -> Iterator[DeviceArray]:
        """Yield the columns of rows with these initial states, some at a time where a cache is to hold them."""
        ramps, one, other = self.factors
        width = CACHED if space.numpy else len(self.owners)
        for some in slices(self.n_curves, width):
            yield self.lines.of(space, initial, some)
        if len(one):
            factors = ramps.of(space, initial)
            for some in slices(len(one), width):
                product = space.take(factors, space.put(one[some]), axis=1)
                product *= space.take(factors, space.put(other[some]), axis=1)
                yield product

    def fill(self, space: Space, initial: DeviceArray, room: int) -> DeviceArray:
        """Return all columns of rows, shape (n, p), and `room` more that are not set."""
        Z = space.matrix(initial.shape[0], len(self.owners) + room)

        def strip(rows: slice) -> None:
            start = 0
            for part in self.parts(space, initial[rows, :]):
                Z[rows, start : start + part.shape[1]] = part
                start += part.shape[1]

        space.over_strips(strip, initial.shape[0], Z.shape[1])
        return Z


@dataclass(frozen=True)
class PairReadout:
    """Curves of all concepts and surfaces of some pairs; `coefficients` has shape (p, N), as `Pieces.columns`."""

    curves: tuple[Array, ...]
    surfaces: tuple[Array, ...]
    means: Array
    pairs: Codes
    coefficients: Array
    constant: Array

    @property
    def n_iter(self) -> int:
        """Number of iterations that it reads: it stays with A⁰."""
        return 0

    @cached_property
    def pieces(self) -> Pieces:
        """What its columns are."""
        return Pieces(self.curves, self.surfaces, self.means, self.pairs)

    def terms(self, space: Space, network: Network, initial: DeviceArray) -> Terms:
        """Return the raw class scores of rows with these initial states as sums over curves and surfaces."""
        owners = self.pieces.owners
        return Terms(
            lambda: ((part, None) for part in self.pieces.parts(space, initial)),
            self.coefficients,
            np.zeros(len(owners), dtype=np.intp),
            owners[:, 0],
            self.constant,
            partner=owners[:, 1],
        )

    def outer(self, network: Network) -> tuple[Array, Array]:
        """Return outer weights 0 and the constant: no weight on a state says what a curve does."""
        return np.zeros((1, len(network.bias), len(self.constant))), self.constant


def knots(scaling: Scaling, most: int, all_of: int) -> tuple[Array, ...]:
    """Return at most so many knots for each feature, at equal steps of its values' number and of their heights.

    A feature with no more different values than `most` or `all_of` has a knot at each of them.
    """
    return tuple(_knots(heights, most, all_of) for heights in scaling.heights)


def _knots(heights: Array, most: int, all_of: int) -> Array:
    if len(heights) == 2:
        return np.linspace(heights[0], heights[1], min(most, UNSEEN))
    different = _apart(heights)
    n = len(different)
    if n <= max(most, all_of):
        return different
    walked = np.arange(n) / (n - 1) + (different - different[0]) / (different[-1] - different[0])
    # The last step lands on the end whatever rounding does.
    nearest = np.searchsorted(walked, np.linspace(0.0, 2.0, most) - 1e-9)
    return different[np.unique(nearest)]


def _apart(heights: Array) -> Array:
    """Return different heights, none closer to the one before it than `LEAST_GAP`; both ends are among them."""
    different = heights[np.r_[True, heights[1:] > heights[:-1]]]
    if (np.diff(different) >= LEAST_GAP).all():
        return different
    kept = [different[0]]
    for height in different.tolist():
        if height - kept[-1] >= LEAST_GAP:
            kept.append(height)
    kept[-1] = different[-1] if len(kept) > 1 else kept[-1]
    return np.array(kept)


def thinned(own: Array, most: int) -> Array:
    """Return at most so many of a concept's knots, both ends among them."""
    if len(own) <= most:
        return own
    return own[np.round(np.linspace(0, len(own) - 1, most)).astype(np.intp)]


def all_pairs(n_concepts: int) -> Codes:
    """Return every pair of concepts, in order; shape (P, 2)."""
    return np.array(list(combinations(range(n_concepts), 2)), dtype=np.intp).reshape(-1, 2)
