"""The class score as a sum: what each concept adds to it at each iteration.

Every readout is linear in something that belongs to one concept and one iteration: innovations, linearised increments,
or states. With v those values of a row, after shrinkage and gate, and C their coefficients after the decision,

    score = base + Σ_k v_k C_k + cases,

where column k belongs to concept `concept[k]` at iteration `iteration[k]`, `base` holds all constants, and `cases` is
what remembered rows add. In the innovations' basis a term is what the concept's change adds beyond all before it, so
nothing cancels against an earlier state.

Easy to get wrong: values and gate must come from the same blocks of rows as the score itself, because an innovation
magnifies rounding. And n × (T + 1) × M × N terms can be more than a memory holds: the two factors v and C are kept.
"""

from dataclasses import dataclass, replace
from functools import singledispatch
from itertools import islice

import numpy as np

from ..network.reasoning import Network, trajectory
from ..sums.blocks import in_blocks
from ..trajectory.increments import increments
from ..types import Array, Codes
from .cases import CaseReadout
from .ridge import IncrementReadout
from .shrunken import ShrunkReadout
from .states import Readout, StateReadout


@dataclass(frozen=True)
class Split:
    """Scores of n rows as sums.

    Attributes
    ----------
    values : array of shape (n, p)
        What each row has in each term.
    coefficients : array of shape (p, N)
        What each term counts for each class.
    iteration, concept : int arrays of shape (p,)
        Where each term belongs.
    base : array of shape (N,)
        What every row gets.
    cases : array of shape (n, N)
        What remembered rows add; 0 without such.
    stopped_at : int array of shape (n,)
        The iteration at which the gate ended the reasoning of the row; −1 where it did not.
    """

    values: Array
    coefficients: Array
    iteration: Codes
    concept: Codes
    base: Array
    cases: Array
    stopped_at: Codes

    @property
    def scores(self) -> Array:
        """The sum of all parts, shape (n, N)."""
        return self.base + self.values @ self.coefficients + self.cases

    def terms(self, direction: Array, shape: tuple[int, int]) -> Array:
        """Return the contributions to scores · `direction`, shape (n, T + 1, M); `shape` is (T + 1, M).

        `direction` has shape (N,): a unit vector for a class, or the difference of two for a margin.
        """
        found = np.zeros((len(self.values), *shape))
        found[:, self.iteration, self.concept] = self.values * (self.coefficients @ direction)
        return found


@singledispatch
def split(readout: Readout, network: Network, initial: Array) -> Split:
    """Return the raw score of rows with these initial states as a sum."""
    raise TypeError(f"No split is known for {type(readout).__name__}.")


@split.register
def _(readout: ShrunkReadout, network: Network, initial: Array) -> Split:
    columns, n_steps = readout.basis.columns, readout.n_iter + 1

    def gated(block: Array) -> Array:
        Q = readout.innovations(network, block)
        return np.hstack([Q * readout.factors(Q), readout.active(Q).sum(axis=0)[:, None]])

    found = in_blocks(gated, initial)
    steps = found[:, -1].astype(np.intp)
    return Split(
        found[:, 1:-1],
        readout.coefficients[1:],
        np.repeat(np.arange(n_steps), [len(chosen) for chosen in columns]),
        np.concatenate(columns),
        _constant(found[:, 0]) * readout.coefficients[0],
        np.zeros((len(initial), readout.coefficients.shape[1])),
        np.where(steps < n_steps, steps, -1),
    )


@split.register
def _(readout: IncrementReadout, network: Network, initial: Array) -> Split:
    def linearised(block: Array) -> Array:
        found = islice(increments(network, block, readout.reference), readout.n_iter + 1)
        return np.hstack([increment.linearised for increment in found])

    return _ungated(in_blocks(linearised, initial), readout.coefficients, readout.constant)


@split.register
def _(readout: StateReadout, network: Network, initial: Array) -> Split:
    def states(block: Array) -> Array:
        return trajectory(network, block, readout.n_iter).reshape(len(block), -1)

    return _ungated(in_blocks(states, initial), readout.weights, readout.bias)


@split.register
def _(readout: CaseReadout, network: Network, initial: Array) -> Split:
    remembered = in_blocks(lambda block: readout.resemblance(block) @ readout.coefficients, initial)
    return replace(split(readout.trajectory, network, initial), cases=remembered)


def _constant(column: Array) -> float:
    """Return the value that all rows have in the constant's column."""
    return float(column[0]) if len(column) else 0.0


def _ungated(values: Array, weights: Array, constant: Array) -> Split:
    n_steps, n_concepts, n_classes = weights.shape
    return Split(
        values,
        weights.reshape(-1, n_classes),
        np.repeat(np.arange(n_steps), n_concepts),
        np.tile(np.arange(n_concepts), n_steps),
        constant,
        np.zeros((len(values), n_classes)),
        np.full(len(values), -1),
    )


def strongest_cases(readout: CaseReadout, initial: Array, direction: Array, count: int) -> tuple[Codes, Array, Array]:
    """Return the remembered rows that move the raw score of one row along `direction` the most.

    They come with how much the row resembles each, and with what each adds.
    """
    alike = in_blocks(readout.resemblance, initial)[0]
    pull = alike * (readout.coefficients @ direction)
    chosen = np.argsort(-np.abs(pull), kind="stable")[:count]
    return chosen, alike[chosen], pull[chosen]
