"""A cognitive map: named concepts, the weights between them, and how it reasons where that is known.

Easy to get wrong: `weights[j, i]` leads from concept j to concept i, as everywhere in the package. Some tools for maps
have it the other way round; their files are turned when they are read.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from reprlib import repr as brief
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..core.types import Array
from ..errors import TooLargeError
from ..knowledge.names import did_you_mean

RULES = ("quasi-nonlinear", "kosko", "kosko-memory", "rescaled")
"""How a map may reason; see `simulation`."""

ACTIVATIONS = ("sigmoid", "tanh", "bivalent", "trivalent")
"""Functions that keep activations in their range; see `simulation`."""

MOST_CONCEPTS = 10_000
"""Most concepts of a map: its weights are held as a matrix."""


class Edge(NamedTuple):
    """An arrow of a map."""

    source: str
    target: str
    weight: float


@dataclass(frozen=True, eq=False, repr=False)
class CognitiveMap:
    """Concepts and the weights between them.

    Parameters
    ----------
    names : sequence of str
        Names of the concepts; white space around them is dropped.
    weights : array-like of shape (M, M)
        Entry [j, i] leads from concept j to concept i; 0 where there is no edge.
    bias : array-like of shape (M,), default=None
        What each concept tends to by itself; None is 0 for all.
    rule : {"quasi-nonlinear", "kosko", "kosko-memory", "rescaled"}, default=None
        How the map reasons; None where nothing is known of it.
    activation : {"sigmoid", "tanh", "bivalent", "trivalent"}, default=None
        The function that keeps activations in their range; None where it is not known.
    phi : float, default=None
        Nonlinearity φ of the quasi-nonlinear rule, 0 to 1; None where it is not known.
    slope : float, default=None
        Steepness of the activation, by which its argument is multiplied; None where it is not known.

    Examples
    --------
    >>> from cogmap import CognitiveMap
    >>> drawn = CognitiveMap.from_edges([("rain", "grass", 0.8), ("grass", "rabbits", 0.6), ("rabbits", "grass", -0.5)])
    >>> print(drawn)
    3 concepts, 3 edges
      rain → grass: 0.8
      grass → rabbits: 0.6
      rabbits → grass: -0.5
    """

    names: tuple[str, ...]
    weights: Array
    bias: Array
    rule: str | None
    activation: str | None
    phi: float | None
    slope: float | None

    def __init__(
        self,
        names: Sequence[str],
        weights: ArrayLike,
        bias: ArrayLike | None = None,
        *,
        rule: str | None = None,
        activation: str | None = None,
        phi: float | None = None,
        slope: float | None = None,
    ) -> None:
        own = checked_names(names)
        given = {
            "names": own,
            "weights": _numbers(weights, (len(own), len(own)), "weights"),
            "bias": np.zeros(len(own)) if bias is None else _numbers(bias, (len(own),), "bias"),
            "rule": checked_choice("rule", rule, RULES),
            "activation": checked_choice("activation", activation, ACTIVATIONS),
            "phi": _checked_number("phi", phi, 0.0, 1.0),
            "slope": _checked_number("slope", slope, 0.0, np.inf),
        }
        for name, value in given.items():
            object.__setattr__(self, name, value)
        for array in (self.weights, self.bias):
            array.setflags(write=False)

    @classmethod
    def from_edges(cls, edges: Iterable[tuple[str, str, float]], names: Iterable[str] = ()) -> "CognitiveMap":
        """Return the map of edges (source, target, weight).

        Parameters
        ----------
        edges : iterable of (str, str, float)
            Edges; no two may have the same source and target.
        names : iterable of str, default=()
            Concepts, which come first and in this order; others follow in the order of the edges.

        Returns
        -------
        CognitiveMap
            The map.
        """
        known = [(str(source).strip(), str(target).strip(), float(weight)) for source, target, weight in edges]
        every = tuple(dict.fromkeys([*(n.strip() for n in names), *(name for edge in known for name in edge[:2])]))
        _check_size(len(every))
        place = {name: k for k, name in enumerate(every)}
        twice = [edge for edge, count in Counter(edge[:2] for edge in known).items() if count > 1]
        if twice:
            raise ValueError(f"The edge {' → '.join(twice[0])} is there twice: leave one of them out.")
        weights = np.zeros((len(every), len(every)))
        for source, target, weight in known:
            weights[place[source], place[target]] = weight
        return cls(every, weights)

    @property
    def edges(self) -> tuple[Edge, ...]:
        """The edges whose weight is not 0, by source and then by target."""
        return tuple(
            Edge(self.names[j], self.names[i], float(self.weights[j, i])) for j, i in np.argwhere(self.weights)
        )

    def place(self, name: str) -> int:
        """Return the position of a concept."""
        if name not in self.names:
            raise ValueError(
                f"{name!r} is no concept of the map{did_you_mean(name, self.names)}: use one of its names."
            )
        return self.names.index(name)

    def ordered(self, names: Sequence[str]) -> "CognitiveMap":
        """Return the same map with its concepts in this order; names that it does not have are concepts without edges.

        Parameters
        ----------
        names : sequence of str
            All names of the map, and others.

        Returns
        -------
        CognitiveMap
            The map.
        """
        own = checked_names(names)
        lost = [name for name in self.names if name not in set(own)]
        if lost:
            raise ValueError(f"The order lacks the concept {lost[0]!r}: name all concepts of the map.")
        _check_size(len(own))
        place = {name: k for k, name in enumerate(own)}
        at = [place[name] for name in self.names]
        weights, bias = np.zeros((len(own), len(own))), np.zeros(len(own))
        weights[np.ix_(at, at)], bias[at] = self.weights, self.bias
        return replace(self, names=own, weights=weights, bias=bias)

    def __eq__(self, other: object) -> bool:
        """Whether both have the same concepts in the same order, and all numbers are the same."""
        if not isinstance(other, CognitiveMap):
            return NotImplemented
        rest = [(m.names, m.rule, m.activation, m.phi, m.slope) for m in (self, other)]
        arrays = ((self.weights, other.weights), (self.bias, other.bias))
        return rest[0] == rest[1] and all(np.array_equal(a, b) for a, b in arrays)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"<CognitiveMap: {self._counted}>"

    @property
    def _counted(self) -> str:
        n, m = len(self.names), int(np.count_nonzero(self.weights))
        return f"{n} concept{'s' * (n != 1)}, {m} edge{'s' * (m != 1)}"

    def __str__(self) -> str:
        lines = [self._counted]
        lines += [f"  {source} → {target}: {weight:.3g}" for source, target, weight in self.edges]
        lines += [f"  bias of {name}: {b:.3g}" for name, b in zip(self.names, self.bias, strict=True) if b]
        return "\n".join(lines)


def checked_choice(what: str, value: str | None, known: Sequence[str]) -> str | None:
    """Return a choice, or None; refuse one that is not known."""
    if value is not None and value not in known:
        raise ValueError(f"{what}={brief(value)} is unknown: use one of {', '.join(map(repr, known))}.")
    return value


def _checked_number(what: str, value: float | None, low: float, high: float) -> float | None:
    if value is None:
        return None
    number = float(value)
    if not low <= number <= high or number == np.inf or (high == np.inf and number == 0):
        span = "a positive number" if high == np.inf else f"from {low:g} to {high:g}"
        raise ValueError(f"{what}={brief(value)} must be {span}.")
    return number


def checked_names(names: Sequence[str]) -> tuple[str, ...]:
    """Return names without white space around them; refuse those that are empty or there twice."""
    own = tuple(str(name).strip() for name in names)
    _check_size(len(own))
    if not own or not all(own):
        raise ValueError("A concept has no name: give every concept a name, and a map at least one concept.")
    twice = [name for name, count in Counter(own).items() if count > 1]
    if twice:
        raise ValueError(f"Two concepts are called {twice[0]!r}: rename one of them.")
    for name in own:
        if any("\ud800" <= letter <= "\udfff" for letter in name):
            raise ValueError(f"{brief(name)} holds half of a character: write it in full.")
    return own


def _check_size(n_concepts: int) -> None:
    if n_concepts > MOST_CONCEPTS:
        raise TooLargeError(f"The map has {n_concepts:,} concepts, and at most {MOST_CONCEPTS:,} are possible.")


def _numbers(values: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    array = np.array(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(
            f"{what} has the shape {array.shape}, and {shape[0]} names ask for {shape}: give one for each."
        )
    if not np.isfinite(array).all():
        where = tuple(int(k) for k in np.argwhere(~np.isfinite(array))[0])
        raise ValueError(f"{what}{list(where)} is {array[where]}: give finite numbers.")
    return array + 0.0  # without the sign of zero, which no file keeps
