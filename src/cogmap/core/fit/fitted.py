"""What every fit ends with: one frozen value, from which predictions, explanations, files and pictures follow.

    raw score = constant + Σ weight · (raw score of the member, on the scale of the one-hot)
    score     = decision(raw score), in log-odds

Easy to get wrong: members may share a network, read once without and once with cases. `networks` has each network once,
and the concepts of all networks, one block after another, are the concepts of the whole.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from ..decision.decision import Decision
from ..network.dynamics import Dynamics, diagnose, merged
from ..sums.space import NUMPY, DeviceArray, Space
from ..sums.tiles import in_tiles
from ..types import Array, Codes
from .model import Model, Summary

Member = tuple[Model, float]


class Edge(NamedTuple):
    """Where an edge is: the configuration of its network (empty for a single one), and its concepts."""

    network: str
    source: str
    target: str


@dataclass(frozen=True, eq=False)
class Fitted:
    """A fitted classifier of numbers, whatever it was fitted by.

    Attributes
    ----------
    classes : array of shape (n_classes,)
        Class labels.
    feature_names : tuple of str
        Names of the features.
    members : tuple of (Model, float)
        Networks with their readouts, each with its weight in the raw score.
    constant : array of shape (n_classes,)
        What is added to them.
    decision : Decision
        From raw scores to scores and classes.
    summary : Summary
        Training rows that stand for all of them.
    network_names : tuple of str
        A name for each network, which tells its configuration; empty for a single one.
    concept_names : array of shape (n_concepts,)
        Names of the concepts of all networks.
    outer_weights, outer_bias : arrays of shapes (n_iter + 1, n_concepts, n_classes) and (n_classes,)
        What the readouts are in terms of the states. To be read, not to predict with.
    condition : float
        Largest factor by which a readout magnifies a rounding error.
    longest : int
        Most iterations that were allowed.
    tol : float
        Smallest change of a state that counts as one.
    memory : dict
        What takes long to compute from this value, kept by those who compute it. A changed copy begins with none.
    """

    classes: NDArray[Any]
    feature_names: tuple[str, ...]
    members: tuple[Member, ...]
    constant: Array
    decision: Decision
    summary: Summary
    network_names: tuple[str, ...]
    concept_names: NDArray[Any]
    outer_weights: Array
    outer_bias: Array
    condition: float
    longest: int
    tol: float = 1e-12
    memory: dict[Any, Any] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def networks(self) -> tuple[Model, ...]:
        """The different networks, each as a part of its first member."""
        return distinct_networks(self.members)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return len(self.feature_names)

    @property
    def n_iter(self) -> int:
        """Number of iterations that are read."""
        return len(self.outer_weights) - 1

    @cached_property
    def inner_weights(self) -> Array:
        """W of all networks as one, with a block for each."""
        weights = [model.network.weights for model in self.networks]
        joined: Array = weights[0] if len(weights) == 1 else block_diag(*weights)
        return joined

    @cached_property
    def inner_bias(self) -> Array:
        """The bias of all networks as one."""
        return np.concatenate([model.network.bias for model in self.networks])

    @property
    def concept_features(self) -> Codes:
        """The feature of each concept."""
        return np.concatenate([model.concepts.feature for model in self.networks])

    @property
    def own_names(self) -> list[list[str]]:
        """Names of the concepts of each network within it, without what tells networks apart."""
        return [model.concepts.names(self.feature_names) for model in self.networks]

    @property
    def edges(self) -> dict[Edge, float]:
        """The weight of every edge by its network and the names of its concepts."""
        weights: dict[Edge, float] = {}
        for network, names, model in zip(self.network_names, self.own_names, self.networks, strict=True):
            keys = (Edge(network, source, target) for source in names for target in names)
            weights |= zip(keys, model.network.weights.ravel().tolist(), strict=True)
        return weights

    def raw(self, X: DeviceArray, space: Space = NUMPY) -> DeviceArray:
        """Return the raw class scores of rows on the scale of the one-hot, shape (n, n_classes), in the rows' space."""
        if space.numpy:
            return in_tiles(self._raw_tiles, X)
        parts = (weight * model.one_hot_scale(model.raw(X, space)) for model, weight in self.members)
        return space.put(self.constant) + sum(parts, start=space.zeros(X.shape[0], len(self.classes)))

    def scores(self, X: DeviceArray, space: Space = NUMPY) -> DeviceArray:
        """Return the scores of rows in log-odds, shape (n, n_classes)."""
        if space.numpy:
            return in_tiles(self._score_tiles, X)
        return self.raw(X, space) @ space.put(self.decision.projection) + space.put(self.decision.offset)

    def _raw_tiles(self, X: Array, n_rows: int) -> Array:
        """Return the raw scores of tiles, shape (tiles, n_classes, TILE)."""
        parts = [weight * model.one_hot_scale(model.raw_tiles(X, n_rows)) for model, weight in self.members]
        raw: Array = np.add(self.constant[:, None], sum(parts))
        return raw

    def _score_tiles(self, X: Array, n_rows: int) -> Array:
        scores: Array = np.matmul(self.decision.projection.T, self._raw_tiles(X, n_rows))
        scores += self.decision.offset[:, None]
        return scores

    def codes(self, X: Array) -> Codes:
        """Return the position of each row's class among the classes."""
        return self.decision.codes(self.scores(X))

    def states(self, X: Array) -> Array:
        """Return the states A⁰ … of rows, shape (n, n_iter + 1, n_concepts)."""
        return np.concatenate([model.states(X, self.n_iter) for model in self.networks], axis=2)

    def diagnose(self, X: Array) -> Dynamics:
        """Say for each row whether its trajectory reaches a fixed point or a limit cycle."""
        tol = max(self.tol, float(np.finfo(np.float64).eps))
        return merged([diagnose(m.network, m.concepts(X), self.longest, tol) for m in self.networks])


def probabilities(scores: DeviceArray, space: Space = NUMPY) -> DeviceArray:
    """Return the softmax of scores, the largest for the class with the largest score."""
    xp = space.xp
    share = xp.exp(scores - xp.max(scores, axis=1, keepdims=True))
    share /= xp.sum(share, axis=1, keepdims=True)
    winner = xp.argmax(scores, axis=1)
    # Rounding can tie two probabilities whose scores differ; the larger score must stay the more probable.
    tied = (xp.argmax(share, axis=1) != winner)[:, None] & (space.one_hot(winner, scores.shape[1]) > 0)
    return xp.where(tied, xp.max(share, axis=1, keepdims=True) * (1 + float(np.finfo(np.float64).eps)), share)


def distinct_networks(members: Sequence[Member]) -> tuple[Model, ...]:
    """Return the first member of each network."""
    first: dict[int, Model] = {}
    for model, _ in members:
        first.setdefault(id(model.network), model)
    return tuple(first.values())


def offsets(members: Sequence[Member]) -> list[int]:
    """Return where the concepts of each member begin among those of all networks."""
    place, start = {}, 0
    for model in distinct_networks(members):
        place[id(model.network)] = start
        start += len(model.network.bias)
    return [place[id(model.network)] for model, _ in members]


def named_concepts(networks: Sequence[Model], features: Sequence[str], labels: Sequence[str]) -> NDArray[Any]:
    """Name the concepts of all networks; each name ends with the label of its network."""
    names = [name + label for m, label in zip(networks, labels, strict=True) for name in m.concepts.names(features)]
    return np.array(names, dtype=object)


def joint_outer(members: Sequence[Member], constant: Array) -> tuple[Array, Array]:
    """Return outer weights and bias of all networks as one, on the scale of the one-hot.

    Members that share a network add up. A readout that ends early has no weights for the later states.
    """
    n_states = 1 + max(model.readout.n_iter for model, _ in members)
    sizes = [len(model.network.bias) for model in distinct_networks(members)]
    weights, bias = np.zeros((n_states, sum(sizes), len(constant))), constant
    for (model, weight), start in zip(members, offsets(members), strict=True):
        R, q = model.readout.outer(model.network)
        zero, one = model.scale
        weights[: len(R), start : start + R.shape[1]] += weight / (one - zero) * R
        bias = bias + weight * (q - zero) / (one - zero)
    return weights, bias
