"""Several experts' maps as one, by a stated rule, and where they disagree.

Easy to get wrong: an expert who drew both concepts and no edge says that there is none, which is a weight of 0; one who
did not draw a concept says nothing. "mean" and "median" count the former and not the latter.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import NDArray

from ..core.types import Array
from .cognitive_map import CognitiveMap, checked_choice
from .frames import data_frame
from .json_form import REASONING

if TYPE_CHECKING:
    from pandas import DataFrame

MergeRule = Literal["mean", "mean-stated", "median", "agreement", "majority"]
MERGE_RULES: tuple[str, ...] = get_args(MergeRule)
SHOWN = 20
"""Disagreements in the text."""


class Disagreement(NamedTuple):
    """An edge whose weight differs between maps; None where a map does not have both concepts."""

    source: str
    target: str
    weights: dict[str, float | None]
    spread: float
    opposed: bool
    merged: float


@dataclass(frozen=True, eq=False, repr=False)
class Merged:
    """Several maps as one.

    Attributes
    ----------
    map : CognitiveMap
        The merged map, with the concepts of all.
    rule : str
        The rule by which it was merged.
    who : tuple of str
        Names of the maps.
    disagreements : tuple of Disagreement
        Edges whose weights differ: those with opposed signs first, then by the spread, which is the largest weight less
        the smallest one.
    """

    map: CognitiveMap
    rule: str
    who: tuple[str, ...]
    disagreements: tuple[Disagreement, ...]

    def to_frame(self) -> "DataFrame":
        """Return the disagreements as a frame, with a column for each map."""
        columns = ("source", "target", *self.who, "spread", "opposed", "merged")
        rows = [(*d[:2], *d.weights.values(), *d[3:]) for d in self.disagreements]
        return data_frame(rows, columns)

    def __repr__(self) -> str:
        return f"<Merged by {self.rule}: {len(self.map.names)} concepts, {len(self.disagreements)} disagreements>"

    def __str__(self) -> str:
        opposed = sum(d.opposed for d in self.disagreements)
        lines = [f"{len(self.disagreements)} edges differ between the maps, {opposed} of them in sign"]
        for d in self.disagreements[:SHOWN]:
            said = ", ".join(f"{name} {'–' if w is None else f'{w:.3g}'}" for name, w in d.weights.items())
            lines.append(f"  {d.source} → {d.target}: {said}; merged {d.merged:.3g}{' (opposed)' * d.opposed}")
        if len(self.disagreements) > SHOWN:
            lines.append(f"  … and {len(self.disagreements) - SHOWN} more")
        return "\n".join(lines)


def merge_maps(maps: Mapping[str, CognitiveMap], *, rule: MergeRule = "mean") -> Merged:
    """Merge several maps into one that has the concepts of all, and say where they disagree.

    Parameters
    ----------
    maps : mapping of str to CognitiveMap
        Two maps or more, by the names of those who drew them. Concepts with the same name are the same.
    rule : {"mean", "mean-stated", "median", "agreement", "majority"}, default="mean"
        The weight of an edge: "mean" and "median" are over the maps that have both concepts, where no edge counts as
        0; "mean-stated" is over the maps that have the edge; "agreement" is the same where all of these have one
        sign, and 0 otherwise; "majority" is the mean over the maps with the sign that more than half of those with
        both concepts have, and 0 where no sign is. A bias is merged alike.

    Returns
    -------
    Merged
        The map and the disagreements. It reasons as the maps do where all say the same.

    Examples
    --------
    >>> from cogmap import CognitiveMap, merge_maps
    >>> ann = CognitiveMap.from_edges([("rain", "grass", 0.8), ("grass", "rabbits", 0.4)])
    >>> ben = CognitiveMap.from_edges([("rain", "grass", -0.2), ("grass", "rabbits", 0.4)])
    >>> merged = merge_maps({"Ann": ann, "Ben": ben})
    >>> print(merged)
    1 edges differ between the maps, 1 of them in sign
      rain → grass: Ann 0.8, Ben -0.2; merged 0.3 (opposed)
    """
    checked_choice("rule", rule, MERGE_RULES)
    if len(maps) < 2:
        raise ValueError("There are fewer than two maps: give several, by the names of those who drew them.")
    names = tuple(dict.fromkeys(name for one in maps.values() for name in one.names))
    laid = [one.ordered(names) for one in maps.values()]
    has = np.array([[name in set(one.names) for name in names] for one in maps.values()])
    both = has[:, :, None] & has[:, None, :]
    stacked = np.stack([one.weights for one in laid])
    weights = _merged(stacked, both, rule)
    bias = _merged(np.stack([one.bias for one in laid]), has, rule)
    alike = {key: {getattr(one, key) for one in maps.values()} for key in REASONING}
    reasoning: dict[str, Any] = {key: values.pop() for key, values in alike.items() if len(values) == 1}
    merged = CognitiveMap(names, weights, bias, **reasoning)
    who = tuple(maps)
    return Merged(merged, rule, who, _disagreements(who, merged, stacked, both))


def _merged(values: Array, known: NDArray[np.bool_], rule: str) -> Array:
    """Return one number for each along the first axis, of those that are known; 0 where none is."""
    stated = known & (values != 0)
    if rule == "mean":
        return _mean(values, known)
    if rule == "mean-stated":
        return _mean(values, stated)
    if rule == "median":
        ordered = np.sort(np.where(known, values, np.inf), axis=0)
        count = known.sum(axis=0)
        low, high = (np.take_along_axis(ordered, (k // 2).clip(0)[None], axis=0)[0] for k in (count - 1, count))
        return np.where(count > 0, (low + high) / 2, 0.0)
    positive, negative = stated & (values > 0), stated & (values < 0)
    if rule == "agreement":
        opposed = positive.any(axis=0) & negative.any(axis=0)
        return np.where(opposed, 0.0, _mean(values, stated))
    half = known.sum(axis=0) / 2
    above, below = positive.sum(axis=0) > half, negative.sum(axis=0) > half
    return np.where(above, _mean(values, positive), np.where(below, _mean(values, negative), 0.0))


def _mean(values: Array, chosen: NDArray[np.bool_]) -> Array:
    mean: Array = np.where(chosen, values, 0.0).sum(axis=0) / np.maximum(chosen.sum(axis=0), 1)
    return mean


def _disagreements(
    who: tuple[str, ...], merged: CognitiveMap, weights: Array, both: NDArray[np.bool_]
) -> tuple[Disagreement, ...]:
    high = np.where(both, weights, -np.inf).max(axis=0)
    low = np.where(both, weights, np.inf).min(axis=0)
    found = []
    for j, i in np.argwhere(high > low):
        said = {name: float(w) if b else None for name, w, b in zip(who, weights[:, j, i], both[:, j, i], strict=True)}
        ends = merged.names[j], merged.names[i]
        spread, opposed = float(high[j, i] - low[j, i]), bool(high[j, i] > 0 > low[j, i])
        found.append(Disagreement(*ends, said, spread, opposed, float(merged.weights[j, i])))
    return tuple(sorted(found, key=lambda d: (not d.opposed, -d.spread)))
