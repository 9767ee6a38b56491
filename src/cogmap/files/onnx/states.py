"""Concepts, states and increments as parts of an ONNX graph: the formulas of `core`, on tensors.

Whatever does not depend on the row, as the reference's own trajectory, is computed here and stored as a constant.

Easy to get wrong: `numpy.interp` has to be met to the last bit, because the innovations magnify what follows it. A sum
of hinges would cancel; a binary search for the segment, and then the line through its left knot, is what numpy does.
And sigmoid stays ½ + ½ tanh(z/2): onnxruntime's Tanh is good to six units in the last place, its Sigmoid to 1e-11.
Nor may a product with a number stand next to a matrix product: onnxruntime fuses the two and keeps the number in
single precision.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from ...core.concepts.concepts import Concepts
from ...core.network.reasoning import Network
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


def states(network: Network, initial: Tensor) -> Iterator[Tensor]:
    """Yield A⁰, A¹, A², … without end; see `core.reasoning`."""
    f, phi = network.activation, network.phi
    W = f.slope * network.weights
    state = initial
    while True:
        yield state
        activated = f.offset + f.scale * (state @ W + f.slope * network.bias).apply("Tanh")
        state = phi * activated + (1 - phi) * initial


def increments(network: Network, initial: Tensor, reference: Array) -> Iterator[Tensor]:
    """Yield A⁰, E¹, E², … without end, linearised about the row `reference`; see `core.increments`."""
    yield initial
    f, phi = network.activation, network.phi
    W = f.slope * network.weights
    gain, ref = phi * f.scale, reference[None]
    start = initial - ref
    d, tanh_d, h, r, e = _activated(network, start, ref)
    whole = gain * h + phi * f.offset - phi * initial
    yield gain * (tanh_minus_identity(d, tanh_d) * (1 - r * r) - tanh_d * (e * r))
    while True:
        h_before, r_before, e_before = h, r, e
        ref = network.step(ref, reference[None])
        _, _, h, r, e = _activated(network, gain * e + (1 - phi) * start, ref)
        d = whole @ W
        tanh_d = d.apply("Tanh")
        whole = gain * tanh_d * (1.0 - h * h_before)
        linear = tanh_minus_identity(d, tanh_d) * (1 - r * r_before)
        yield gain * (linear - tanh_d * (e * r_before + h * e_before))


def _activated(network: Network, gap: Tensor, ref: Array) -> tuple[Tensor, Tensor, Tensor, Array, Tensor]:
    """Return g, tanh g, h, r and e = h − r of rows that are `gap` away from the reference's state `ref`."""
    slope = network.activation.slope
    z = slope * (ref @ network.weights + network.bias)
    g = gap @ (slope * network.weights)
    tanh_g, h, r = g.apply("Tanh"), (z + g).apply("Tanh"), np.tanh(z)
    return g, tanh_g, h, r, tanh_g * (1.0 - h * r)


def tanh_minus_identity(u: Tensor, tanh_u: Tensor) -> Tensor:
    """Return tanh(u) − u to full relative precision; see `core.increments`."""
    s = u * u
    near = _polynomial(s, 44.0, 12870.0, 810810.0, 11486475.0)
    near = near / _polynomial(s, 45.0, 13860.0, 945945.0, 16216200.0, 34459425.0)
    return (s >= 1.0).where(tanh_u - u, near * s * -u)


def _polynomial(s: Tensor, first: float, *others: float) -> Tensor:
    """Return the polynomial in s with these coefficients, highest power first."""
    found = s * first + others[0]
    for coefficient in others[1:]:
        found = found * s + coefficient
    return found
