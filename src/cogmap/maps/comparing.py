"""What differs between two maps: concepts, edges, and how far the weights that both have agree.

Weights of two maps may be on different scales, such as those of an expert and those of a network. So the agreement has
numbers that no scale changes: signs and a correlation.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, NamedTuple

import numpy as np

from ..core.types import Array
from .cognitive_map import CognitiveMap
from .frames import data_frame

if TYPE_CHECKING:
    from pandas import DataFrame

SHOWN = 20
"""Edges in the text."""


class EdgePair(NamedTuple):
    """An edge in two maps; None where a map does not have both concepts."""

    source: str
    target: str
    before: float | None
    after: float | None


@dataclass(frozen=True, repr=False)
class MapComparison:
    """What differs between two maps.

    Attributes
    ----------
    only_before, only_after : tuple of str
        Concepts that one map has and the other has not.
    edges : tuple of EdgePair
        Edges whose weight differs, the largest difference first.
    agreement : dict of str to float
        Over the pairs of concepts that both maps have: ``shared_concepts`` and ``shared_edges`` count; ``edge_overlap``
        is the share of edges of either map that both have; ``same_sign`` is the share of shared edges with one sign;
        ``correlation`` is that of all weights, an edge that is missing being 0; ``mean_difference`` is the mean size of
        the difference. NaN where nothing is shared, or does not vary.
    """

    only_before: tuple[str, ...]
    only_after: tuple[str, ...]
    edges: tuple[EdgePair, ...]
    agreement: dict[str, float]

    def to_frame(self, part: Literal["edges", "agreement"] = "edges") -> "DataFrame":
        """Return the edges that differ, or the agreement, as a frame."""
        if part == "edges":
            return data_frame(list(self.edges), EdgePair._fields)
        if part != "agreement":
            raise ValueError(f"part={part!r} is unknown: use one of 'edges', 'agreement'.")
        return data_frame({"value": self.agreement})

    def __repr__(self) -> str:
        return f"<MapComparison: {len(self.edges)} edges differ>"

    def __str__(self) -> str:
        shared = int(self.agreement["shared_concepts"])
        lines = [f"{shared} concepts are in both maps"]
        for names, which in ((self.only_before, "first"), (self.only_after, "second")):
            if names:
                lines.append(f"only in the {which}: {', '.join(names)}")
        lines += [f"{key.replace('_', ' '):<18}{value:8.3g}" for key, value in list(self.agreement.items())[1:]]
        lines.append(f"{len(self.edges)} edges differ")
        for pair in self.edges[:SHOWN]:
            said = ["none" if w is None else f"{w:.3g}" for w in pair[2:]]
            lines.append(f"  {pair.source} → {pair.target}: {' → '.join(said)}")
        if len(self.edges) > SHOWN:
            lines.append(f"  … and {len(self.edges) - SHOWN} more")
        return "\n".join(lines)


def compare_maps(before: CognitiveMap, after: CognitiveMap) -> MapComparison:
    """Say what differs between two maps, such as an expert's and the learned one.

    Parameters
    ----------
    before, after : CognitiveMap
        The maps. Concepts with the same name are the same.

    Returns
    -------
    MapComparison
        Concepts of one map only, edges that differ, and how far the rest agrees.

    Examples
    --------
    >>> from cogmap import CognitiveMap, compare_maps
    >>> ann = CognitiveMap.from_edges([("rain", "grass", 0.8), ("grass", "rabbits", 0.4)])
    >>> ben = CognitiveMap.from_edges([("rain", "grass", -0.2), ("grass", "moles", 0.4)])
    >>> found = compare_maps(ann, ben)
    >>> found.only_before, found.only_after, found.edges[0]
    (('rabbits',), ('moles',), EdgePair(source='rain', target='grass', before=0.8, after=-0.2))
    """
    names = tuple(dict.fromkeys([*before.names, *after.names]))
    weights = [one.ordered(names).weights for one in (before, after)]
    has = [np.isin(names, one.names) for one in (before, after)]
    known = [np.outer(own, own) for own in has]
    difference = np.abs(weights[1] - weights[0])
    places = sorted(np.argwhere(difference > 0).tolist(), key=lambda p: -difference[p[0], p[1]])
    edges = tuple(
        EdgePair(
            names[j], names[i], *(float(W[j, i]) if k[j, i] else None for W, k in zip(weights, known, strict=True))
        )
        for j, i in places
    )
    shared = known[0] & known[1]
    only = [tuple(name for name in a.names if name not in set(b.names)) for a, b in ((before, after), (after, before))]
    agreement = _agreement(int((has[0] & has[1]).sum()), *(W[shared] for W in weights))
    return MapComparison(only[0], only[1], edges, agreement)


def _or_none(weight: float) -> float | None:
    return None if np.isnan(weight) else float(weight)


def _agreement(n_concepts: int, before: Array, after: Array) -> dict[str, float]:
    either, both = (before != 0) | (after != 0), (before != 0) & (after != 0)
    same = np.sign(before[both]) == np.sign(after[both])
    varies = len(before) and np.ptp(before) > 0 and np.ptp(after) > 0
    # In units of the largest, or the squares of tiny weights would vanish.
    scaled = np.array([one / (np.abs(one).max(initial=0.0) or 1.0) for one in (before, after)])
    return {
        "shared_concepts": float(n_concepts),
        "shared_edges": float(both.sum()),
        "edge_overlap": float(both.sum() / either.sum()) if either.any() else np.nan,
        "same_sign": float(same.mean()) if both.any() else np.nan,
        "correlation": float(np.corrcoef(scaled)[0, 1]) if varies else np.nan,
        "mean_difference": float(np.abs(after - before).mean()) if len(before) else np.nan,
    }
