"""How much of a score each concept's initial value is worth: integrated gradients in the space of the concepts.

Along the straight line from a baseline b to the row a, concept i is attributed

    (a_i − b_i) ∫₀¹ ∂F/∂a_i (b + s (a − b)) ds,

which adds up to F(a) − F(b). The gradient is exact (`derivatives`); the integral is Gauss–Legendre, with twice the
nodes for the rows where it does not add up yet. What cases add is integrated in closed form (`case_attribution`).

Easy to get wrong: F must be smooth along the line, so the row's own gate is held on it and for the baseline. Features
are not the space for it: terms and clipping have kinks there, the concepts have none. And the baseline must be a
possible row. The mean row is none where features are binary, and innovations that hardly vary over the training rows
are enormous there: on the phishing data its score is −840, where half of all scores are within 13 of 0.
"""

from collections.abc import Callable, Sequence
from functools import cache, singledispatch
from typing import NamedTuple

import numpy as np

from .activation import Array
from .blocks import in_blocks
from .case_attribution import cases_gradient
from .cases import CaseReadout
from .contributions import Codes, Member, Split, decoding, split
from .decision import Decision
from .derivatives import increments_gradient, states_gradient
from .readout import Readout, StateReadout
from .reasoning import Network
from .ridge import IncrementReadout
from .shrinkage import ShrunkReadout

NODES = 8
"""Nodes of the quadrature to begin with; they do, unless inner weights are large."""

ROUNDED = 1e-6
"""Share of the largest score within which the score itself is reproducible (`UNTRUSTWORTHY_CONDITION`)."""

GAIN = 4.0
"""Twice the nodes must bring a row nearer by this factor: where they do not, rounding is what remains."""

ELEMENTS = 2**17
"""Numbers in one array of a block: about what a core's cache holds."""


class Accuracy(NamedTuple):
    """Attributions are to add up to `share` of the `largest` score; nodes are doubled up to `most`."""

    largest: float
    share: float = 1e-8
    most: int = 512


class Attributed(NamedTuple):
    """K scores of n rows, attributed to M concepts.

    Attributes
    ----------
    gradient : array of shape (n, M, K)
        Mean gradient along the lines.
    delta : array of shape (n, M)
        Rows less the baseline.
    baseline : array of shape (n, K)
        Scores of the baseline with each row's gate.
    missing : array of shape (n, K)
        What gradient times delta leaves of the difference.
    """

    gradient: Array
    delta: Array
    baseline: Array
    missing: Array

    @property
    def values(self) -> Array:
        """Attributions, shape (n, M, K)."""
        return self.gradient * self.delta[:, :, None]


def added_up(values: Array, difference: Array, most: float) -> Array:
    """Return attributions, shape (n, M, K), that add up to `difference`, shape (n, K), where up to `most` is missing.

    That little is rounding of the score itself, which an exact attribution does not have. It is shared out in
    proportion to the sizes of the attributions.
    """
    missing, size = difference - values.sum(axis=1), np.abs(values)
    missing = np.where(np.abs(missing) <= most, missing, 0.0)
    total = size.sum(axis=1)
    rate = np.divide(missing, total, out=np.zeros_like(total), where=total > 0)
    shared_out: Array = values + size * rate[:, None]
    return shared_out


class Smooth(NamedTuple):
    """The score with the gates held: its gradient for initial states and levels (n, K, M); the baselines' (n, K)."""

    gradient: Callable[[Array, Codes], Array]
    level: Codes
    at_baseline: Array


def attribute(
    readout: Readout, network: Network, initial: Array, baseline: Array, decode: Array, accuracy: Accuracy
) -> Attributed:
    """Attribute raw scores · `decode` of rows to the concepts, constants left out.

    Parameters
    ----------
    readout : Readout
        The readout.
    network : Network
        The network.
    initial : array of shape (n, M)
        Initial states of the rows.
    baseline : array of shape (n, M)
        Initial state of each row's baseline.
    decode : array of shape (N, K)
        K linear functions of the raw scores.
    accuracy : Accuracy
        How far attributions are to add up.
    """
    known = split(readout, network, initial)
    return _attribute(readout, network, initial, baseline, decode, accuracy, known)


def _attribute(
    readout: Readout, network: Network, initial: Array, baseline: Array, decode: Array, accuracy: Accuracy, known: Split
) -> Attributed:
    if isinstance(readout, CaseReadout):
        inner = _attribute(readout.trajectory, network, initial, baseline, decode, accuracy, known)
        gradient, start = cases_gradient(readout, initial, baseline, decode)
        missing = known.cases @ decode - start - np.einsum("nm,nmk->nk", inner.delta, gradient)
        return Attributed(inner.gradient + gradient, inner.delta, inner.baseline + start, inner.missing + missing)
    smooth = smooth_score(readout, network, baseline, decode, known)
    start = smooth.at_baseline
    difference = known.values @ (known.coefficients @ decode) - start
    gradient, missing = _integrate(smooth, initial - baseline, baseline, difference, accuracy)
    return Attributed(gradient, initial - baseline, start, missing)


def attribute_members(
    members: Sequence[Member],
    decision: Decision,
    X: Array,
    directions: Array,
    baselines: Array,
    accuracy: Accuracy,
) -> list[Attributed]:
    """Attribute decoded scores · `directions`, shape (N, K), of rows X to the concepts of each member.

    `baselines` are rows too, of the same shape.
    """
    return [
        attribute(
            model.readout,
            model.network,
            model.concepts(X),
            model.concepts(baselines),
            decoding(model, weight, decision) @ directions,
            accuracy,
        )
        for model, weight in members
    ]


@singledispatch
def smooth_score(readout: Readout, network: Network, baseline: Array, decode: Array, known: Split) -> Smooth:
    """Return raw scores · `decode` as a smooth function of the initial state, constants left out."""
    raise TypeError(f"No derivative is known for {type(readout).__name__}.")


@smooth_score.register
def _(readout: ShrunkReadout, network: Network, baseline: Array, decode: Array, known: Split) -> Smooth:
    last, level = np.unique(np.where(known.stopped_at < 0, readout.n_iter + 1, known.stopped_at), return_inverse=True)
    in_use = known.iteration < last[:, None]
    shrunk = np.where(in_use, readout.shrinkage_of_columns[1:], 0.0)[:, :, None] * (readout.coefficients[1:] @ decode)
    Q = in_blocks(lambda block: readout.innovations(network, block), baseline)[:, 1:]
    at_baseline = np.zeros((len(baseline), decode.shape[1]))
    for index, coefficients in enumerate(shrunk):
        at_baseline[level == index] = Q[level == index] @ coefficients
    padded = np.pad(shrunk, ((0, 0), (1, 0), (0, 0)))
    K = np.array([readout.basis.coefficients(C, len(readout.reference))[0] for C in padded])
    return Smooth(_gradient(network, readout.reference, K), level, at_baseline)


@smooth_score.register
def _(readout: IncrementReadout, network: Network, baseline: Array, decode: Array, known: Split) -> Smooth:
    start = split(readout, network, baseline)
    gradient = _gradient(network, readout.reference, (readout.coefficients @ decode)[None])
    return Smooth(gradient, np.zeros(len(known.values), np.intp), start.values @ (start.coefficients @ decode))


@smooth_score.register
def _(readout: StateReadout, network: Network, baseline: Array, decode: Array, known: Split) -> Smooth:
    start = split(readout, network, baseline)
    weights = (readout.weights @ decode).transpose(0, 2, 1)

    def gradient(initial: Array, level: Codes) -> Array:
        return states_gradient(network, initial, weights)

    return Smooth(gradient, np.zeros(len(known.values), np.intp), start.values @ (start.coefficients @ decode))


def _gradient(network: Network, reference: Array, K: Array) -> Callable[[Array, Codes], Array]:
    """Return the gradient for coefficients K of the increments, shape (L, T + 1, M, K)."""
    coefficients = np.ascontiguousarray(K.transpose(0, 1, 3, 2))

    def gradient(initial: Array, level: Codes) -> Array:
        return increments_gradient(network, initial, reference, coefficients, level)

    return gradient


def _integrate(
    smooth: Smooth, delta: Array, baseline: Array, difference: Array, accuracy: Accuracy
) -> tuple[Array, Array]:
    """Take more and more nodes for the rows whose attributions do not add up to `difference` yet."""
    gradient = np.zeros((*delta.shape, difference.shape[1]))
    if delta.shape[1] == 0:
        return gradient, difference
    missing = np.full_like(difference, np.inf)
    rows, n_nodes = np.arange(len(delta)), NODES
    while len(rows) and n_nodes <= accuracy.most:
        found = _mean_gradient(smooth, delta[rows], baseline[rows], smooth.level[rows], n_nodes)
        left = difference[rows] - np.einsum("nm,nmk->nk", delta[rows], found)
        before, after = np.abs(missing[rows]).max(axis=1), np.abs(left).max(axis=1)
        better = after <= before
        gradient[rows[better]], missing[rows[better]] = found[better], left[better]
        rounding = (after <= ROUNDED * accuracy.largest) & (GAIN * after > before)
        rows = rows[(after > accuracy.share * accuracy.largest) & ~rounding]
        n_nodes *= 2
    return gradient, missing


@cache
def _nodes(n_nodes: int) -> tuple[Array, Array]:
    """Return positions in [0, 1] and weights of the Gauss–Legendre quadrature."""
    position, weight = np.polynomial.legendre.leggauss(n_nodes)
    return (position + 1) / 2, weight / 2


def _mean_gradient(smooth: Smooth, delta: Array, baseline: Array, level: Codes, n_nodes: int) -> Array:
    """Return the mean gradient from `baseline` to `baseline` + `delta`, shape (n, M, K), block by block."""
    position, weight = _nodes(n_nodes)
    n, n_concepts = delta.shape
    n_outputs = smooth.at_baseline.shape[1]
    size = max(1, ELEMENTS // max(n_nodes * n_concepts * n_outputs, 1))
    found = np.empty((n, n_concepts, n_outputs))
    for start in range(0, n, size):
        block = slice(start, start + size)
        points = baseline[block] + position[:, None, None] * delta[block]
        gradient = smooth.gradient(points.reshape(-1, n_concepts), np.tile(level[block], n_nodes))
        mean = np.tensordot(weight, gradient.reshape(n_nodes, -1, n_outputs, n_concepts), axes=1)
        found[block] = mean.transpose(0, 2, 1)
    return found
