"""A reader of model files that knows docs/files.md and nothing of cogmap; plain and slow, for few iterations."""

import json
from hashlib import sha256
from itertools import pairwise

import numpy as np
from safetensors import safe_open

ACTIVATIONS = {"sigmoid": (0.5, 0.5, 0.5), "tanh": (0.0, 1.0, 1.0)}  # offset, scale, slope


class Node:
    """A place in the document: JSON by attribute and number, arrays by name."""

    def __init__(self, tensors, value, path):
        self.tensors, self.value, self.path = tensors, value, path

    def __getattr__(self, key):
        return self[key]

    def __getitem__(self, key):
        child, path = self.value[key], f"{self.path}.{key}"
        if path in self.tensors:
            assert sha256(self.tensors[path].tobytes()).hexdigest() == child["sha256"]
            return self.tensors[path]
        return Node(self.tensors, child, path) if isinstance(child, (dict, list)) else child

    def ragged(self):
        return np.split(self.entries, np.cumsum(self.lengths)[:-1])


def read(path):
    """Return the model of a file."""
    with safe_open(path, framework="numpy") as file:
        digest, _, text = file.metadata()["cogmap"].partition("\n")
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    assert sha256(text.encode()).hexdigest() == digest
    return Node(tensors, json.loads(text)["model"], "model")


def scores(model, X):
    """Return the class scores of rows."""
    fitted, stack = model.fitted, model.fitted._members
    raw = np.zeros((len(X), 1)) + fitted._constant
    for i in range(len(stack.members.value)):
        member = stack.members[i]
        block = stack.networks[member.network]
        offset, scale, slope = ACTIVATIONS[block.network.activation]
        zero, one = np.arctanh((np.clip([0, 1], *_margin(offset, scale)) - offset) / scale) / slope
        found = _raw(member.readout.type, member.readout["value"], block.network, _concepts(block.concepts, X))
        raw = raw + member.weight * (found - zero) / (one - zero)
    return raw @ fitted._decision.projection + fitted._decision.offset


def _margin(offset, scale):
    return offset - scale + 0.01 * 2 * scale, offset + scale - 0.01 * 2 * scale


def _concepts(concepts, X):
    columns, scaling = [], concepts.scaling
    knots = zip(scaling["values"].ragged(), scaling.heights.ragged(), concepts.peaks.ragged(), strict=True)
    for x, (values, heights, peaks) in zip(X.T[concepts.varies], knots, strict=True):
        z = np.interp(x, values, heights)
        columns += [np.interp(z, peaks, row) for row in np.eye(len(peaks))] if len(peaks) else [z]
    return np.column_stack(columns)


def _states(network, initial, n_iter):
    offset, scale, slope = ACTIVATIONS[network.activation]
    found = [initial]
    for _ in range(n_iter):
        z = found[-1] @ network.weights + network.bias
        found.append(network.phi * (offset + scale * np.tanh(slope * z)) + (1 - network.phi) * initial)
    return found


def _increments(network, initial, reference, n_iter):
    """Return A⁰, E¹, …: what each state adds, less its linearisation about the reference row's states."""
    offset, scale, slope = ACTIVATIONS[network.activation]
    A, ref = _states(network, initial, n_iter), _states(network, reference, n_iter)
    r = [np.tanh(slope * (state @ network.weights + network.bias)) for state in ref]
    found = [initial]
    for t in range(1, n_iter + 1):
        L = network.phi * scale * slope * network.weights * (1 - r[t - 1] * r[max(t - 2, 0)])
        if t == 1:
            constant = network.phi * (offset + scale * r[0])
            found.append(A[1] - (1 - network.phi) * A[0] - constant - (A[0] - reference) @ L)
        else:
            found.append(A[t] - A[t - 1] - (A[t - 1] - A[t - 2]) @ L)
    return found


def _raw(kind, readout, network, initial):
    if kind == "states":
        states = _states(network, initial, len(readout.weights) - 1)
        return sum(A @ R for A, R in zip(states, readout.weights, strict=True)) + readout.bias
    if kind == "increments":
        E = _increments(network, initial, readout.reference, len(readout.coefficients) - 1)
        return sum(e @ K for e, K in zip(E, readout.coefficients, strict=True)) + readout.constant
    if kind == "innovations":
        return _innovations(readout, network, initial)
    if kind == "pairs":
        return _drawn(readout, initial)
    coordinates = ((initial - readout.metric.mean) @ readout.metric["map"])[:, None]
    if readout.value.get("own"):
        sizes = np.diff(readout.ends, prepend=0)
        each = [(initial - mean) @ own for mean, own in zip(readout.own.means, readout.own.maps, strict=True)]
        coordinates = np.repeat(np.stack(each, axis=1), sizes, axis=1)
    named = readout.metric.value.get("distance")
    distance = np.linalg.norm(coordinates - readout.cases, ord=1 if named == "axes" else 2, axis=2)
    distance = distance**2 if named == "squared" else distance
    if kind == "regions":
        low, high = readout.boxes.low, readout.boxes.high
        inside = ((initial[:, None] > low) & (initial[:, None] <= high)).all(axis=2)
        own = np.repeat(inside, np.diff(readout.ends, prepend=0), axis=1)
        return inside @ readout.constants + np.where(own, np.exp(-distance), 0) @ readout.coefficients
    return _innovations(readout.trajectory, network, initial) + np.exp(-distance) @ readout.coefficients


def _drawn(readout, initial):
    """Return curves and surfaces: ramps between knots, less their means, and products of two of them."""
    means = iter(readout.means)

    def ramps(knots):
        return [
            [np.interp(a, ends, [0, 1]) - next(means) for ends in pairwise(own)]
            for a, own in zip(initial.T, knots, strict=True)
        ]

    columns = [ramp for own in ramps(readout.curves.ragged()) for ramp in own]
    surfaces = ramps(readout.surfaces.ragged())
    columns += [one * other for i, j in readout.pairs for one in surfaces[i] for other in surfaces[j]]
    return np.stack(columns, axis=1) @ readout.coefficients + readout.constant


def _innovations(readout, network, initial):
    basis, n_iter = readout.basis, len(readout.shrink) - 1
    E = _increments(network, initial, readout.reference, n_iter)
    columns, scales = basis.columns.ragged(), basis.scales.ragged()
    F = np.hstack([np.ones((len(initial), 1)), *(e[:, c] * s for e, c, s in zip(E, columns, scales, strict=True))])
    Q = F @ basis["map"] @ basis.whiten
    total, start, reasons = Q[:, :1] @ readout.coefficients[:1], 1, np.ones(len(Q), bool)
    for t, end in enumerate(1 + np.cumsum([len(c) for c in columns])):
        reasons = reasons & ((Q[:, :end] ** 2).sum(axis=1) <= readout.caps[t])
        part = readout.shrink[t] * Q[:, start:end] @ readout.coefficients[start:end]
        total, start = total + reasons[:, None] * part, end
    return total
