"""Raw class scores of rows on a device, by each kind of readout.

Easy to get wrong: a matrix product rounds differently for other shapes. On the CPU rows go through in blocks of one
shape, so that a row's score has the same bits in any batch; a GPU would starve on such blocks, and its libraries choose
another order of summation in any case. Here scores agree within the numerical contract, not to the bit.
"""

from collections.abc import Callable, Sequence
from itertools import pairwise

import numpy as np

from ..decision.decision import Decision
from ..fit.model import Model
from ..network.reasoning import Network
from ..readout.cases import CaseReadout
from ..readout.ridge import IncrementReadout
from ..readout.shrunken import ShrunkReadout
from ..readout.states import StateReadout
from ..types import Array
from .blocks import Features, leverages
from .increments import Reasoner
from .scaling import DeviceConcepts
from .space import DeviceArray, Space, slices, times_triangle, working_width

Scores = Callable[[DeviceArray], DeviceArray]


def scores_of(
    space: Space, members: Sequence[tuple[Model, float]], constant: Array, decision: Decision, X: DeviceArray
) -> DeviceArray:
    """Return the decided scores of rows: weighted networks on the scale of the one-hot, and the decision."""
    total = space.zeros(X.shape[0], len(constant)) + space.put(constant)
    for model, weight in members:
        zero, one = model.scale.tolist()
        found = raw(space, model, X)
        found -= zero
        found *= weight / (one - zero)
        total += found
    return total @ space.put(decision.projection) + space.put(decision.offset)


def probabilities(space: Space, scores: DeviceArray) -> DeviceArray:
    """Return the softmax of the scores; the largest score has the largest probability."""
    xp = space.xp
    share = xp.exp(scores - xp.max(scores, axis=1)[:, None])
    share /= xp.sum(share, axis=1)[:, None]
    winner = xp.argmax(scores, axis=1)
    # Rounding can tie two probabilities whose scores differ; the predicted class must stay the largest.
    tied = (xp.argmax(share, axis=1) != winner)[:, None] & (space.one_hot(winner, scores.shape[1]) > 0)
    return xp.where(tied, (xp.max(share, axis=1) * (1 + float(np.finfo(np.float64).eps)))[:, None], share)


def raw(space: Space, model: Model, X: DeviceArray) -> DeviceArray:
    """Return the raw class scores of rows, on the scale of f⁻¹ of the one-hot; shape (n, N)."""
    concepts, scores = DeviceConcepts.of(space, model.concepts), _scores(space, model)
    readout = model.readout
    n_cases = len(readout.cases) if isinstance(readout, CaseReadout) else 0
    n_rows = space.block_rows(working_width(len(model.network.bias), readout.n_iter) + 2 * n_cases)
    return space.xp.concat([scores(concepts.of_rows(X[rows, :])) for rows in slices(X.shape[0], n_rows)])


def _scores(space: Space, model: Model) -> Scores:
    readout, network = model.readout, model.network
    if isinstance(readout, ShrunkReadout):
        return _shrunken(space, network, readout)
    if isinstance(readout, IncrementReadout):
        return _increments(space, network, readout)
    if isinstance(readout, CaseReadout):
        return _cases(space, network, readout)
    assert isinstance(readout, StateReadout)
    return _states(space, network, readout)


def _shrunken(space: Space, network: Network, readout: ShrunkReadout) -> Scores:
    features = Features(space, network, readout.reference, readout.basis)
    whiten = space.put(readout.basis.whiten)
    C = space.put(readout.shrinkage_of_columns[:, None] * readout.coefficients)
    ends, caps = readout.basis.ends, readout.caps.tolist()

    def of_rows(initial: DeviceArray) -> DeviceArray:
        Q = times_triangle(space, features(initial)[0], whiten)
        total, reasons = Q[:, :1] @ C[:1, :], space.xp.ones(Q.shape[0], dtype=space.xp.bool, device=space.device)
        for (a, b), cap, leverage in zip(pairwise([1, *ends]), caps, leverages(space, Q, ends), strict=True):
            reasons = reasons & (leverage <= cap)
            total += (Q[:, a:b] @ C[a:b, :]) * space.double(reasons)[:, None]
        return total

    return of_rows


def _increments(space: Space, network: Network, readout: IncrementReadout) -> Scores:
    reasoner = Reasoner.of(space, network, readout.reference, readout.n_iter)
    gains = np.r_[1.0, np.full(readout.n_iter, reasoner.gain)]
    coefficients, constant = space.put(readout.coefficients * gains[:, None, None]), space.put(readout.constant)

    def of_rows(initial: DeviceArray) -> DeviceArray:
        total = space.zeros(initial.shape[0], len(readout.constant)) + constant
        for t, (E, _) in enumerate(reasoner(initial)):
            total += E @ coefficients[t, :, :]
        return total

    return of_rows


def _states(space: Space, network: Network, readout: StateReadout) -> Scores:
    W, b, weights, bias = map(space.put, (network.weights, network.bias, readout.weights, readout.bias))
    f, phi = network.activation, network.phi

    def of_rows(initial: DeviceArray) -> DeviceArray:
        total, state = initial @ weights[0, :, :] + bias, initial
        for t in range(1, weights.shape[0]):
            state = phi * (f.offset + f.scale * space.xp.tanh(f.slope * (state @ W + b))) + (1 - phi) * initial
            total += state @ weights[t, :, :]
        return total

    return of_rows


def _cases(space: Space, network: Network, readout: CaseReadout) -> Scores:
    read = _shrunken(space, network, readout.trajectory)
    mean, metric, cases, coefficients = map(
        space.put, (readout.metric.mean, readout.metric.map, readout.cases, readout.coefficients)
    )
    length = space.put((readout.cases**2).sum(axis=1))

    def of_rows(initial: DeviceArray) -> DeviceArray:
        xp, rows = space.xp, (initial - mean) @ metric
        distance = rows @ (-2 * cases.T)
        distance += xp.sum(rows * rows, axis=1)[:, None]
        distance += length
        return read(initial) + xp.exp(-xp.sqrt(xp.clip(distance, 0.0, None))) @ coefficients

    return of_rows
