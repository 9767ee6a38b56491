"""From features to concepts: each varying feature, scaled, is one concept; or several, its linguistic terms.

With terms, triangular fuzzy sets stand at quantiles of the scaled feature and add up to 1: "alcohol is low", "…
medium", "… high". A feature with fewer different quantiles has fewer terms; one with two values stays as it is.

Easy to get wrong: a constant feature is no concept. Its columns would be multiples of the constant, and a minimum-norm
readout would then hand it a share of the bias as relevance.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..sums.rows import Rows
from ..sums.sources import Source
from ..sums.space import NUMPY, DeviceArray, Space
from ..sums.statistics import Range
from ..sums.tiles import TILE
from ..types import Array
from .cells import streamed_knots
from .scaling import Line, Lines, Scaling, identity, knot_heights, rank_knots

WORDS = {
    3: ("low", "medium", "high"),
    4: ("very low", "low", "high", "very high"),
    5: ("very low", "low", "medium", "high", "very high"),
}


@dataclass(frozen=True)
class Concepts:
    """The map from rows to initial states A⁰.

    Attributes
    ----------
    varies : bool array of shape (n_features,)
        Features that have a concept.
    scaling : Scaling
        Scaling of those.
    peaks : tuple of arrays
        For each of those, where its terms peak on the scaled feature; empty for a feature that is its own concept.
    """

    varies: NDArray[np.bool_]
    scaling: Scaling
    peaks: tuple[Array, ...]

    def __call__(self, rows: Array) -> Array:
        """Return A⁰ of rows in numpy, shape (n, M)."""
        initial: Array = self.on(NUMPY).of_rows(rows)
        return initial

    def on(self, space: Space) -> "Scaler":
        """Return the map for rows in a space."""
        terms = [[Line.of(space, peaks, one) for one in np.eye(len(peaks))] for peaks in self.peaks]
        return Scaler(space, np.flatnonzero(self.varies).tolist(), self.scaling.lines(space), terms)

    def inverse(self, initial: Array) -> Array:
        """Return the varying features of rows with these initial states; tied values come back as one of them."""
        features, start = [], 0
        for values, heights, peaks in zip(self.scaling.values, self.scaling.heights, self.peaks, strict=True):
            block = initial[:, start : start + max(1, len(peaks))]
            # Triangular memberships add up to 1, and their peaks' mean is the scaled feature.
            scaled = block @ peaks if len(peaks) else block[:, 0]
            features.append(np.interp(scaled, heights, values))
            start += block.shape[1]
        return np.stack(features, axis=1)

    @property
    def feature(self) -> NDArray[np.intp]:
        """The feature of each concept."""
        return np.repeat(np.flatnonzero(self.varies), [max(1, len(peaks)) for peaks in self.peaks])

    def names(self, features: Sequence[str]) -> list[str]:
        """Name each concept after its feature and term."""
        names: list[str] = []
        for j, values, heights, peaks in zip(
            np.flatnonzero(self.varies).tolist(), self.scaling.values, self.scaling.heights, self.peaks, strict=True
        ):
            if len(peaks) == 0:
                names.append(str(features[j]))
            words = WORDS.get(len(peaks)) or _numbers(np.interp(peaks, heights, values))
            names.extend(f"{features[j]} is {word}" for word in words[: len(peaks)])
        return names


def _numbers(values: Array) -> list[str]:
    """Write numbers with as few digits as tell them apart, four at least."""
    for digits in range(4, 17):
        words = ["about " + np.format_float_positional(v, digits, fractional=False, trim="-") for v in values]
        if len(set(words)) == len(words):
            break
    return words


class Scaler(NamedTuple):
    """The map from rows to initial states in a space: a line for each feature that varies, and one for each term."""

    space: Space
    features: list[int]
    lines: list[Line]
    terms: list[list[Line]]

    def columns(self, X: DeviceArray) -> list[DeviceArray]:
        """Return the features that vary."""
        return list(self.space.columns(X, self.features))

    def __call__(self, columns: Sequence[DeviceArray], n_rows: int) -> DeviceArray:
        """Return A⁰, shape (n, M), given the features that vary."""
        states: list[DeviceArray] = []
        for column, line, terms in zip(columns, self.lines, self.terms, strict=True):
            scaled = line(column)
            states += [term(scaled) for term in terms] or [scaled]
        return self.space.side_by_side(states, n_rows)

    def of_rows(self, X: DeviceArray) -> DeviceArray:
        """Return A⁰ of rows."""
        return self(self.columns(X), X.shape[0])


class TileScaler:
    """The same map in numpy, for tiles of rows: all features at once, with the same bits."""

    def __init__(self, concepts: Concepts) -> None:
        self.features, sizes = np.flatnonzero(concepts.varies), np.array([len(peaks) for peaks in concepts.peaks])
        self.lines = Lines(concepts.scaling.lines(NUMPY))
        self.n_concepts = int(np.maximum(sizes, 1).sum())
        first = np.cumsum(np.maximum(sizes, 1)) - np.maximum(sizes, 1)
        self.groups = []
        for size in np.unique(sizes).tolist():
            alike = np.flatnonzero(sizes == size)
            peaks = np.array([concepts.peaks[j] for j in alike])
            self.groups.append((alike, first[alike, None] + np.arange(max(size, 1)), peaks))

    def __call__(self, X: Array) -> Array:
        """Return A⁰ of rows, a multiple of `TILE`, shape (tiles, M, TILE)."""
        scaled = self.lines(np.ascontiguousarray(X.T) if len(self.features) == X.shape[1] else X.T[self.features])
        if self.n_concepts > len(self.features):
            features, scaled = scaled, np.empty((self.n_concepts, len(X)))
            for alike, concepts, peaks in self.groups:
                given = features[alike]
                scaled[concepts] = _memberships(given, peaks) if peaks.size else given[:, None]
        return np.ascontiguousarray(scaled.reshape(self.n_concepts, -1, TILE).transpose(1, 0, 2))


def _memberships(scaled: Array, peaks: Array) -> Array:
    """Return the terms of scaled features, shape (features, terms, n), given where they peak, (features, terms).

    Two neighbours share each value, and no other term has any of it.
    """
    n_terms = peaks.shape[1]
    x = np.minimum(np.maximum(scaled, peaks[:, :1]), peaks[:, -1:])
    at = np.zeros(x.shape, dtype=np.intp)
    for k in range(1, n_terms):
        at += x >= peaks[:, k : k + 1]
    slopes = np.append(1 / np.diff(peaks), np.zeros((len(peaks), 1)), axis=1)
    place = at + n_terms * np.arange(len(peaks))[:, None]
    x -= peaks.take(place)
    x *= slopes.take(place)
    rest = 1.0 - x
    terms = np.empty((len(peaks), n_terms, x.shape[1]))
    for k in range(n_terms):
        np.multiply(at == k, rest, out=terms[:, k])
        if k:
            terms[:, k] += (at == k - 1) * x
    return terms


def fit_concepts(
    source: Source[Rows],
    census: Range,
    scaling: str | None,
    terms: int | None,
    bounds: tuple[float, float],
) -> Concepts:
    """Learn scaling and terms from weighted rows; `bounds` are the range of data that needs no scaling.

    Ranks come from whole columns where these are at hand, and from cells of values otherwise: the same ones.
    """
    varies = census.varies
    low, high = census.low[varies], census.high[varies]
    if scaling is None:
        scaled = identity(len(low), *bounds)
    elif scaling == "minmax":
        scaled = Scaling(
            tuple(np.array(ends) for ends in zip(low, high, strict=True)), (np.array([0.0, 1.0]),) * len(low)
        )
    else:
        knots = [knot_heights(scaling, *ranks) for ranks in _ranks(source, varies, None, low, high)]
        scaled = Scaling(tuple(values for values, _ in knots), tuple(heights for _, heights in knots))
    return with_terms(source, census, Concepts(varies, scaled, (np.empty(0),) * len(low)), terms)


def with_terms(source: Source[Rows], census: Range, concepts: Concepts, terms: int | None) -> Concepts:
    """Learn the terms of concepts that have none."""
    if terms is None or len(concepts.peaks) == 0:
        return concepts
    ends = concepts(np.vstack([census.low, census.high]))
    peaks = tuple(term_peaks(*ranks, terms) for ranks in _ranks(source, census.varies, concepts, *ends))
    return replace(concepts, peaks=peaks)


def _ranks(
    source: Source[Rows], varies: NDArray[np.bool_], concepts: Concepts | None, low: Array, high: Array
) -> list[tuple[Array, Array]]:
    """Return rank knots of the features that vary, or of these as they are scaled."""
    rows = source.whole
    if len(low) == 0:
        return []
    if rows is None:
        return streamed_knots(source, partial(_columns, varies, concepts), low, high)
    space, features = source.space, np.flatnonzero(varies).tolist()
    lines = [None] * len(features) if concepts is None else concepts.scaling.lines(space)
    weight = None if rows.even else rows.weight
    columns = zip(lines, space.columns(rows.X, features), strict=True)
    return [rank_knots(space, column if line is None else line(column), weight) for line, column in columns]


def _columns(
    varies: NDArray[np.bool_], concepts: Concepts | None, space: Space
) -> Callable[[Rows], tuple[Array, Array]]:
    """Give the features that vary, or these as they are scaled, and the weights of a block."""
    scale = None if concepts is None else concepts.on(space)
    return lambda block: (block.X[:, varies] if scale is None else scale.of_rows(block.X), block.weight)


def term_peaks(values: Array, ranks: Array, n_terms: int) -> Array:
    """Return the different values among the quantiles 0, 1 / (n − 1), …, 1 of a scaled feature, given its knots."""
    nearest = values[np.searchsorted(ranks, np.linspace(0, 1, n_terms) - 1e-9)]
    peaks = nearest[np.r_[True, np.diff(nearest) > 0]]
    return peaks if len(peaks) > 2 else np.empty(0)
