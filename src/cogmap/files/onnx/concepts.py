"""Concepts as part of an ONNX graph: from rows to initial states.

Easy to get wrong: `numpy.interp` has to be met to the last bit, because the innovations magnify what follows it. A sum
of hinges would cancel; a binary search for the segment, and then the line through its left knot, is what numpy does.
"""

from collections.abc import Sequence

import numpy as np

from ...core.concepts.concepts import Concepts
from ...core.types import Array
from .graph import Tensor, hstack


def initial_states(concepts: Concepts, rows: Tensor) -> Tensor:
    """Return A⁰ of rows, shape (n, M); there must be at least one concept."""
    kept = rows if concepts.varies.all() else rows.columns(np.flatnonzero(concepts.varies))
    scaled = interpolated(kept, concepts.scaling.values, concepts.scaling.heights)
    features = [j for j, peaks in enumerate(concepts.peaks) for _ in peaks]
    if not features:
        return scaled
    memberships = interpolated(
        scaled.columns(np.array(features)),
        [peaks for peaks in concepts.peaks for _ in peaks],
        [one for peaks in concepts.peaks for one in np.eye(len(peaks))],
    )
    # A feature without terms is its own concept: the columns of both have to be put in order.
    terms = iter(range(len(concepts.peaks), len(concepts.peaks) + len(features)))
    order = [i for j, peaks in enumerate(concepts.peaks) for i in ([next(terms) for _ in peaks] or [j])]
    return hstack([scaled, memberships]).columns(np.array(order))


def interpolated(x: Tensor, values: Sequence[Array], heights: Sequence[Array]) -> Tensor:
    """Return `numpy.interp` of each column of x with its own knots, shape (n, n_columns)."""
    segments = [_segments(*knots) for knots in zip(values, heights, strict=True)]
    value, height, slope = (x.graph.constant(np.concatenate(part)) for part in zip(*segments, strict=True))
    lengths = np.array([len(part) for part, _, _ in segments])
    last = np.cumsum(lengths) - 1
    x = x.apply("Max", np.array([knots[0] for knots in values])).apply("Min", np.array([knots[-1] for knots in values]))
    # All columns' knots lie in one table; each column searches its own part, by steps that halve.
    at = x.graph.constant(last - lengths + 1)
    for power in reversed(range(int(lengths.max() - 1).bit_length())):
        further = (at + np.array(2**power)).apply("Min", last)
        at = (x >= value.apply("Gather", further)).where(further, at)
    return slope.apply("Gather", at) * (x - value.apply("Gather", at)) + height.apply("Gather", at)


def _segments(values: Array, heights: Array) -> tuple[Array, Array, Array]:
    """Return value and height at the left end of each segment, and its slope; beyond the last knot this is 0."""
    # Of several knots at one value, numpy reads the last.
    starts = np.append(np.flatnonzero(np.diff(values) > 0), len(values) - 1)
    before, after = starts[:-1], starts[:-1] + 1
    with np.errstate(over="ignore"):
        slopes = (heights[after] - heights[before]) / (values[after] - values[before])
    # An infinite slope times the distance 0 from a knot would not be 0.
    return values[starts], heights[starts], np.append(np.nan_to_num(slopes), 0.0)
