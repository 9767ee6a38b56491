"""Readouts as parts of an ONNX graph: columns that a row has, and what each of them adds to the class scores.

Every readout is linear in its columns: the states, the increments, or the innovations after shrinkage and gate. A
column belongs to one iteration and one concept, so score = base + Σ column · coefficient splits a score exactly too.

Easy to get wrong: the constant innovation is no column. It is the same for all rows and part of the base, but it counts
in the leverage by which the gate decides.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from ...core.network.reasoning import Network
from ...core.readout.cases import CaseReadout
from ...core.readout.ridge import IncrementReadout
from ...core.readout.shrunken import ShrunkReadout
from ...core.readout.states import Readout, StateReadout
from ...core.types import Array
from .graph import Tensor, hstack
from .states import increments, states


@dataclass(frozen=True)
class Columns:
    """What a readout reads of the states: raw score = `constant` + `values` · `coefficients`.

    Attributes
    ----------
    values : Tensor of shape (n, k) or None
        The columns; None where there are none.
    coefficients : array of shape (k, N)
        Their coefficients.
    iteration, concept : int arrays of shape (k,)
        Where each column belongs.
    constant : array of shape (N,)
        The same for all rows.
    """

    values: Tensor | None
    coefficients: Array
    iteration: NDArray[np.intp]
    concept: NDArray[np.intp]
    constant: Array


def columns_of(readout: Readout, network: Network, initial: Tensor | None) -> Columns:
    """Return what a readout reads of the states that follow these; without initial states there is no column."""
    if isinstance(readout, CaseReadout):
        return columns_of(readout.trajectory, network, initial)
    if isinstance(readout, ShrunkReadout):
        return _innovations(readout, network, initial)
    if isinstance(readout, IncrementReadout):
        found = None if initial is None else increments(network, initial, readout.reference)
        return _blocks(found, readout.coefficients, readout.constant)
    if isinstance(readout, StateReadout):
        return _blocks(None if initial is None else states(network, initial), readout.weights, readout.bias)
    raise TypeError(f"{type(readout).__name__} has no ONNX graph.")


def resemblance(readout: CaseReadout, initial: Tensor) -> Tensor:
    """Return how much rows with these initial states resemble each case, shape (n, n_cases); see `core.cases`."""
    rows = (initial - readout.metric.mean) @ readout.metric.map
    length = (rows * rows).apply("ReduceSum", np.array([1]), keepdims=1)
    squared = rows @ (-2 * readout.cases.T) + length + (readout.cases**2).sum(axis=1)
    return (-squared.apply("Max", 0.0).apply("Sqrt")).apply("Exp")


def _blocks(blocks: Iterator[Tensor] | None, coefficients: Array, constant: Array) -> Columns:
    """Read whole blocks t = 0, 1, …, each of shape (n, M), by coefficients of shape (T + 1, M, N)."""
    n_blocks, n_concepts, n_classes = coefficients.shape
    read = [t for t in range(n_blocks) if coefficients[t].any()]
    values = None
    if blocks is not None and read:
        found = list(islice(blocks, read[-1] + 1))
        values = hstack([found[t] for t in read])
    return Columns(
        values,
        coefficients[read].reshape(-1, n_classes),
        np.repeat(np.array(read, dtype=np.intp), n_concepts),
        np.tile(np.arange(n_concepts), len(read)),
        constant,
    )


def _innovations(readout: ShrunkReadout, network: Network, initial: Tensor | None) -> Columns:
    """Read the innovations, each times its iteration's shrinkage, or 0 once the gate has stopped the row."""
    basis = readout.basis
    sizes = [len(columns) for columns in basis.columns]
    first = float(basis.map[0, 0] * basis.whiten[0, 0])
    values = None
    if initial is not None and any(sizes):
        found = zip(increments(network, initial, readout.reference), basis.columns, basis.scales, strict=False)
        chosen = [block.columns(columns) * scale for block, columns, scale in found if len(columns)]
        mapped = hstack(chosen) @ basis.map[1:, 1:] + basis.map[0, 1:]
        Q = mapped @ basis.whiten[1:, 1:] + basis.map[0, 0] * basis.whiten[0, 1:]
        values = Q * _factors(readout, Q, first, sizes)
    return Columns(
        values,
        readout.coefficients[1:],
        np.repeat(np.arange(len(sizes)), sizes),
        np.concatenate(basis.columns),
        first * readout.coefficients[0],
    )


def _factors(readout: ShrunkReadout, Q: Tensor, first: float, sizes: list[int]) -> Tensor:
    """Return the factor of every innovation of every row; see `ShrunkReadout.factors`."""
    iteration = np.repeat(np.arange(len(sizes)), sizes)
    upto = np.less_equal.outer(iteration, np.arange(len(sizes))).astype(np.float64)
    leverage = (Q * Q) @ upto + first**2
    n_exceeded = (leverage > readout.caps).as_float64() @ np.triu(np.ones((len(sizes), len(sizes))))
    return (n_exceeded > 0.5).where(0.0, readout.shrink).columns(iteration)
