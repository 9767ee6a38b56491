"""From features to concepts: each varying feature, scaled, is one concept; or several, its linguistic terms.

With terms, triangular fuzzy sets stand at quantiles of the scaled feature and add up to 1: "alcohol is low", "…
medium", "… high". A feature with fewer different quantiles has fewer terms; one with two values stays as it is.

Easy to get wrong: a constant feature is no concept. Its columns would be multiples of the constant, and a minimum-norm
readout would then hand it a share of the bias as relevance.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..types import Array
from .scaling import Scaling, fit_scaling, identity, rank_knots, varying

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
        """Return A⁰, shape (n, M)."""
        scaled = self.scaling(rows if self.varies.all() else rows[:, self.varies])
        if not any(len(peaks) for peaks in self.peaks):
            return scaled
        return np.hstack([memberships(z, peaks) for z, peaks in zip(scaled.T, self.peaks, strict=True)])

    def inverse(self, initial: Array) -> Array:
        """Return the varying features of rows with these initial states; tied values come back as one of them."""
        found, start = [], 0
        for values, heights, peaks in zip(self.scaling.values, self.scaling.heights, self.peaks, strict=True):
            block = initial[:, start : start + max(1, len(peaks))]
            # Triangular memberships add up to 1, and their peaks' mean is the scaled feature.
            scaled = block @ peaks if len(peaks) else block[:, 0]
            found.append(np.interp(scaled, heights, values))
            start += block.shape[1]
        return np.stack(found, axis=1)

    @property
    def feature(self) -> NDArray[np.intp]:
        """The feature of each concept."""
        return np.repeat(np.flatnonzero(self.varies), [max(1, len(peaks)) for peaks in self.peaks])

    def names(self, features: Sequence[str]) -> list[str]:
        """Name each concept after its feature and term."""
        found: list[str] = []
        for j, values, heights, peaks in zip(
            np.flatnonzero(self.varies).tolist(), self.scaling.values, self.scaling.heights, self.peaks, strict=True
        ):
            if len(peaks) == 0:
                found.append(str(features[j]))
            words = WORDS.get(len(peaks)) or _numbers(np.interp(peaks, heights, values))
            found.extend(f"{features[j]} is {word}" for word in words[: len(peaks)])
        return found


def _numbers(values: Array) -> list[str]:
    """Write numbers with as few digits as tell them apart, four at least."""
    for digits in range(4, 17):
        words = ["about " + np.format_float_positional(v, digits, fractional=False, trim="-") for v in values]
        if len(set(words)) == len(words):
            break
    return words


def memberships(scaled: Array, peaks: Array) -> Array:
    """Return the triangular memberships of one scaled feature in its terms, shape (n, n_terms)."""
    if len(peaks) == 0:
        return scaled[:, None]
    return np.array([np.interp(scaled, peaks, one) for one in np.eye(len(peaks))]).T


def fit_concepts(
    rows: Array, sample_weight: Array, scaling: str | None, terms: int | None, bounds: tuple[float, float]
) -> Concepts:
    """Learn scaling and terms from weighted rows; `bounds` are the range of data that needs no scaling."""
    varies = varying(rows)
    kept = rows if varies.all() else rows[:, varies]
    found = identity(kept.shape[1], *bounds) if scaling is None else fit_scaling(scaling, kept, sample_weight)
    if terms is None:
        return Concepts(varies, found, (np.empty(0),) * kept.shape[1])
    return Concepts(varies, found, tuple(_peaks(z, sample_weight, terms) for z in found(kept).T))


def _peaks(scaled: Array, sample_weight: Array, n_terms: int) -> Array:
    """Return the different values among the quantiles 0, 1 / (n − 1), …, 1 of a scaled feature."""
    return term_peaks(*rank_knots(scaled, sample_weight), n_terms)


def term_peaks(values: Array, ranks: Array, n_terms: int) -> Array:
    """Return the same, given the rank knots of the scaled feature."""
    nearest = values[np.searchsorted(ranks, np.linspace(0, 1, n_terms) - 1e-9)]
    peaks = nearest[np.r_[True, np.diff(nearest) > 0]]
    return peaks if len(peaks) > 2 else np.empty(0)
