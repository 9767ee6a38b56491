"""The decoded scores of weighted networks as sums: `readout.terms` of every member, after the decision."""

from collections.abc import Sequence
from dataclasses import replace

from ..decision.decision import Decision
from ..fit.model import Model
from ..readout.terms import Split, split
from ..types import Array

Member = tuple[Model, float]


def decoding(model: Model, weight: float, decision: Decision) -> Array:
    """Return the matrix that takes the raw score of a member to its part of the decoded score, shape (N, N)."""
    zero, one = model.scale
    matrix: Array = weight / (one - zero) * decision.projection
    return matrix


def decoded_splits(
    members: Sequence[Member], offsets: Sequence[int], constant: Array, decision: Decision, X: Array
) -> list[Split]:
    """Split the decoded scores of rows X over the members; the constants are in the base of the first one.

    `offsets` says where a member's concepts begin among those of all networks.
    """
    found: list[Split] = []
    for (model, weight), offset in zip(members, offsets, strict=True):
        part, decode = split(model.readout, model.network, model.concepts(X)), decoding(model, weight, decision)
        base = (part.base - model.scale[0]) @ decode
        if not found:
            base = base + decision(constant)
        found.append(
            replace(
                part,
                coefficients=part.coefficients @ decode,
                concept=part.concept + offset,
                base=base,
                cases=part.cases @ decode,
            )
        )
    return found
