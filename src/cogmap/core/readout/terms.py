"""The class score as a sum: what each concept adds to it at each iteration.

Every readout is linear in something that belongs to one concept and one iteration: innovations, linearised increments,
or states. With v those values of a row, after shrinkage and gate, and C their coefficients,

    score = base + Σ_k v_k C_k + cases,

where column k belongs to concept `concept[k]` at iteration `iteration[k]` (or to two concepts, half to each), `base`
holds all constants, and `cases` is what remembered rows add. In the innovations' basis a term is what the concept's
change adds beyond all before it, so nothing cancels against an earlier state. Scores, contributions, scores on a device
and the ONNX graph all follow from `terms`, which every readout writes once, by operations that every space has: an ONNX
graph is one, too.

Easy to get wrong: n × (T + 1) × M × N terms can be more than a memory holds: the two factors v and C are kept.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from ..network.reasoning import Network
from ..sums.space import DeviceArray, Space
from ..types import Array, Codes


@dataclass(frozen=True)
class Terms:
    """Raw scores of n rows as sums.

    Attributes
    ----------
    parts : callable
        Yields for each iteration that is read what each row has in its terms, an array of shape (n, p_t) in a space,
        and a factor of all of them, of shape (n, 1), or None. No part is empty. Late iterations are computed once
        earlier ones are summed, so that few are held at a time.
    coefficients : array of shape (p, N)
        What each term counts for each class.
    iteration, concept : int arrays of shape (p,)
        Where each term belongs.
    base : array of shape (N,)
        What every row gets.
    cases : array of shape (n, N) in a space, or None
        What remembered rows add, if there are such.
    stopped : array of shape (n, T + 1) in a space, or None
        Whether the gate has ended the reasoning of the row at each iteration; None without a gate.
    partner : int array of shape (p,), or None
        The other concept of a term that belongs to two, half to each, and else its concept; None where all belong to
        one.
    """

    parts: Callable[[], Iterable[tuple[DeviceArray, DeviceArray | None]]]
    coefficients: Array
    iteration: Codes
    concept: Codes
    base: Array
    cases: DeviceArray | None = None
    stopped: DeviceArray | None = None
    partner: Codes | None = None

    def values(self, space: Space) -> DeviceArray | None:
        """Return what each row has in each term, shape (n, p); None where there are no terms."""
        columns = [values if factor is None else values * factor for values, factor in self.parts()]
        return space.hstack(columns) if columns else None

    def scores(self, space: Space, n_rows: int) -> DeviceArray:
        """Return the sum of all parts, shape (n, N)."""
        scores, start = space.zeros(n_rows, len(self.base)) + space.put(self.base), 0
        coefficients = space.put(self.coefficients)
        for values, factor in self.parts():
            part = values @ coefficients[start : start + values.shape[1], :]
            scores += part if factor is None else part * factor
            start += values.shape[1]
        if self.cases is not None:
            scores += self.cases
        return scores


class Readout(Protocol):
    """What all readouts can do."""

    @property
    def n_iter(self) -> int:
        """Number of iterations that it reads."""

    def terms(self, space: Space, network: Network, initial: DeviceArray) -> Terms:
        """Return the raw class scores of rows with these initial states as sums; there must be a concept."""

    def outer(self, network: Network) -> tuple[Array, Array]:
        """Return the outer weights R, shape (n_iter + 1, M, N), and bias q, to be read."""


def raw_scores(readout: Readout, space: Space, network: Network, initial: DeviceArray) -> DeviceArray:
    """Return the raw class scores of rows with these initial states, shape (n, N)."""
    return readout.terms(space, network, initial).scores(space, initial.shape[0])


def block_terms(blocks: Callable[[], Iterable[DeviceArray]], weights: Array, constant: Array) -> Terms:
    """Read whole blocks t = 0, 1, …, each of shape (n, M), by weights of shape (T + 1, M, N); none of weight 0."""
    n_steps, n_concepts, n_classes = weights.shape
    read = [t for t in range(n_steps) if weights[t].any()]

    def parts() -> Iterator[tuple[DeviceArray, None]]:
        # The range comes first: no block is asked for beyond the last that is read.
        for t, block in zip(range(max(read, default=-1) + 1), blocks(), strict=False):
            if t in read and n_concepts:
                yield block, None

    return Terms(
        parts,
        weights[read].reshape(-1, n_classes),
        np.repeat(np.array(read, dtype=np.intp), n_concepts),
        np.tile(np.arange(n_concepts), len(read)),
        constant,
    )
