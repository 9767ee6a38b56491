"""What knowledge means for one network: its names among the features and concepts, its statements as bounds on edges.

Easy to get wrong: a name may be that of a feature in this table and of a term in that one. A feature's name comes
first; other names are those of concepts. A statement about a feature holds for every concept that it has: none, if the
feature is constant.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..core.concepts.concepts import Concepts
from ..core.network.constraints import Bounds
from ..core.types import Array
from .collection import Knowledge, contradiction
from .names import near_names
from .statement import Statement

Mask = NDArray[np.bool_]


def checked_knowledge(knowledge: object, features: Sequence[str]) -> Knowledge:
    """Return the knowledge, none if there is none, once its names are known to be those of features or their terms."""
    if knowledge is None:
        return Knowledge()
    if not isinstance(knowledge, Knowledge):
        raise TypeError(f"knowledge={knowledge!r} must be a cogmap.Knowledge or None: read a file by Knowledge.load.")
    irrelevant = {s.source: s for s in knowledge if s.kind == "irrelevant"}
    for statement in knowledge:
        for name in statement.names:
            owners = _owners(name, features)
            if not owners or (statement.kind == "irrelevant" and name not in features):
                raise ValueError(_unknown(knowledge, statement, name, "feature", features, owners))
            for owner in irrelevant.keys() & owners:
                if not statement.allows(0.0):
                    raise ValueError(contradiction(knowledge.statements, statement, irrelevant[owner]))
    return knowledge


def check_terms(knowledge: Knowledge, features: Sequence[str], concepts: Sequence[Concepts]) -> None:
    """Raise an error where a name is neither a feature nor a concept of any of the networks.

    A term of a feature that has no concept at all cannot be checked.
    """
    known = {name for part in concepts for name in part.names(features)}
    varies = {name for part in concepts for name in _chosen(features, part.varies)}
    for statement in knowledge:
        for name in statement.names:
            owners = _owners(name, features) & varies
            if name not in known.union(features) and owners:
                raise ValueError(_unknown(knowledge, statement, name, "feature or concept", sorted(known), owners))


def irrelevant_features(knowledge: Knowledge, features: Sequence[str]) -> Mask:
    """Say for each feature whether it is stated to be irrelevant."""
    return np.isin(np.array(features, dtype=object), [s.source for s in knowledge if s.kind == "irrelevant"])


def without_effect(knowledge: Knowledge, features: Sequence[str], varies: Mask) -> list[tuple[Statement, str]]:
    """Return the statements about an edge of a feature that is constant, though not stated irrelevant, and its name."""
    silent = _chosen(features, ~varies & ~irrelevant_features(knowledge, features)) - _chosen(features, varies)
    return [
        (statement, sorted(owners)[0])
        for statement in knowledge
        if (owners := {owner for name in statement.names for owner in _owners(name, features) & silent})
    ]


def edge_bounds(knowledge: Knowledge, features: Sequence[str], concepts: Concepts) -> Bounds:
    """Return what is stated about every edge and bias of a network with these concepts."""
    M = len(concepts.feature)
    bounds = Bounds(np.full((M, M), -np.inf), np.full((M, M), np.inf), np.full(M, np.nan))
    for statement in knowledge:
        if statement.kind == "bias":
            _set_bias(bounds.bias, statement, knowledge, features, concepts)
            continue
        edges = _edges(statement, features, concepts)
        lower, upper = statement.interval
        bounds.lower[edges] = np.maximum(bounds.lower[edges], lower)
        bounds.upper[edges] = np.minimum(bounds.upper[edges], upper)
        if (bounds.lower[edges] > bounds.upper[edges]).any():
            earlier = next(
                s for s in knowledge if not s.meets(statement) and (_edges(s, features, concepts) & edges).any()
            )
            raise ValueError(contradiction(knowledge.statements, statement, earlier))
    return bounds


def _set_bias(
    bias: Array, statement: Statement, knowledge: Knowledge, features: Sequence[str], concepts: Concepts
) -> None:
    """Enter a stated bias; refuse one that differs from an earlier one of the same concept."""
    (own,) = _ends(statement, features, concepts)
    if (bias[own] != statement.value)[~np.isnan(bias[own])].any():
        others = (s for s in knowledge if s.kind == "bias" and not s.meets(statement))
        earlier = next(s for s in others if (_ends(s, features, concepts)[0] & own).any())
        raise ValueError(contradiction(knowledge.statements, statement, earlier))
    bias[own] = statement.value


def _ends(statement: Statement, features: Sequence[str], concepts: Concepts) -> list[Mask]:
    """Say for each name of a statement which concepts it stands for, each of shape (M,)."""
    names = np.array(concepts.names(features), dtype=object)
    owner = np.array(features, dtype=object)[concepts.feature]
    return [(owner if name in features else names) == name for name in statement.names]


def _edges(statement: Statement, features: Sequence[str], concepts: Concepts) -> Mask:
    """Say for each edge whether the statement is about it, shape (M, M)."""
    ends, M = _ends(statement, features, concepts), len(concepts.feature)
    return np.outer(*ends) if statement.target is not None else np.zeros((M, M), bool)


def _chosen(features: Sequence[str], mask: Mask) -> set[str]:
    return {name for name, chosen in zip(features, mask, strict=True) if chosen}


def _owners(name: str, features: Sequence[str]) -> set[str]:
    """Return the feature of this name, or else those of which it may be a term."""
    return {name} if name in features else {f for f in features if name.startswith(f"{f} is ")}


def _unknown(
    knowledge: Knowledge, statement: Statement, name: str, what: str, known: Sequence[str], owners: set[str]
) -> str:
    """Say that a name is not known, and which names may be meant: those alike, or else the feature of the term."""
    near = near_names(name, known) or sorted(owners.intersection(known))
    if near:
        way_out = f"did you mean {' or '.join(map(repr, near))}?"
    else:
        others = f" and {len(known) - 10} more" if len(known) > 10 else ""
        way_out = f"there are {', '.join(map(repr, known[:10]))}{others}."
    number = knowledge.statements.index(statement) + 1
    return f"Statement {number}, '{statement}', names {name!r}, which is no {what}: {way_out}"
