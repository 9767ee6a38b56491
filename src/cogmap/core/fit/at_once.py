"""The supervised step: outer weights by the way that `alpha` names, with leave-one-out scores of the training rows.

- ``alpha="loo"``: innovations with shrink factors and gate; where rows are few against concepts, a ridge over the
  increments is tried beside them, and the smaller leave-one-out error decides. With cases, innovations and remembered
  training rows are read together.
- a positive ``alpha``: one ridge penalty on the standardised increments.
- ``alpha=0``, or the final state alone: the paper's minimum-norm solution on the raw states.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice

import numpy as np

from ..constants import BASIS_ROWS, CONCEPTS_PER_ROW, FEW_ROWS, INNOVATIONS_PER_ROW, MAX_RANK, SAMPLE_GAIN
from ..network.reasoning import Network, until_fixed_point
from ..readout import dual
from ..readout.cases import fit_cases
from ..readout.ridge import Design, Spectrum, smooth, solve, spectrum
from ..readout.shrunken import active_rows, fit_shrunken
from ..readout.states import Readout, final_state, moore_penrose
from ..sums.sampling import Keys, Outlyingness, content_keys, spanning_samples, union
from ..trajectory.increments import increments
from ..trajectory.innovations import Basis, features, fit_innovations, grow, whitened
from ..types import Array


@dataclass(frozen=True)
class Innovations:
    """All innovations of the training rows, their basis, and the row about which increments are linearised."""

    reference: Array
    basis: Basis
    Q: Array


@dataclass(frozen=True)
class Learned:
    """A readout and what is known about it.

    Attributes
    ----------
    readout : Readout
        The readout.
    fitted, outside : arrays of shape (n, N)
        Raw scores of the training rows, and what they are when the row itself is left out.
    rank, condition : int, float
        Rank and condition number of what was solved.
    degrees_of_freedom : float
        Trace of the smoother.
    alpha : float or None
        The ridge penalty, where there is one.
    shrinkage : array of shape (T + 1,) or None
        The shrink factors, where there are some.
    active : array of shape (T + 1,) or None
        Share of the training rows that the gate let reason so far, where there is a gate.
    innovations : Innovations or None
        What was read, where it was innovations.
    """

    readout: Readout
    fitted: Array
    outside: Array
    rank: int
    condition: float
    degrees_of_freedom: float
    alpha: float | None = None
    shrinkage: Array | None = None
    active: Array | None = None
    innovations: Innovations | None = None

    def error(self, target: Array, sample_weight: Array) -> float:
        """Return the leave-one-out squared error."""
        return float(sample_weight @ ((target - self.outside) ** 2).sum(axis=1) / sample_weight.sum())


def learn(
    network: Network,
    initial: Array,
    target: Array,
    sample_weight: Array,
    unit: Array,
    *,
    alpha: float | str,
    cases: bool,
    final: bool,
    max_iter: int,
    tol: float,
    keys: Keys | None = None,
) -> Learned:
    """Solve the readout for rows with initial states `initial`, shape (n, M).

    `unit` is the weight that leaving a row out takes away: one copy of the row, or what there is of it. `keys` say
    which rows are copies, and choose those on which the map to innovations is built; by default those of `initial`.
    """
    if final or alpha == 0 or initial.shape[1] == 0:
        states = until_fixed_point(network, initial, max_iter, tol)
        found = (final_state if final else moore_penrose)(states, target, sample_weight, unit)
        return Learned(*found, degrees_of_freedom=float(found.rank), alpha=0.0)
    reference = sample_weight @ initial / sample_weight.sum()
    design = Design(network, initial, reference, sample_weight, unit, max_iter)
    if alpha != "loo":
        if dual.needed(design):
            return _dual(design, target, dual.fit_penalty(design, target, float(alpha), tol))
        design = replace(design, n_iter=sum(1 for _ in _useful(design, tol)) - 1)
        return _ridge(design, spectrum(design), target, float(alpha))
    if cases:
        return _with_cases(_innovations(design, keys, tol), initial, target, sample_weight, unit)
    candidates = []
    n_concepts, total = initial.shape[1], sample_weight.sum()
    few = total < FEW_ROWS * n_concepts
    # More concepts than innovations leave no room for any iteration, and a ridge reads concepts better.
    if n_concepts < CONCEPTS_PER_ROW * total and not (few and n_concepts > MAX_RANK):
        candidates.append(_shrunken(design, target, keys, tol))
    if few:
        candidates.append(_dual(design, target, dual.choose(design, target, tol)))
    return min(candidates, key=lambda found: found.error(target, sample_weight))


def learn_with_cases(known: Learned, initial: Array, target: Array, sample_weight: Array, unit: Array) -> Learned:
    """Solve the readout with cases from innovations that were found before.

    Where a ridge served better than innovations, rows are few and the cases are read alone.
    """
    found = known.innovations
    if found is None:
        reference = sample_weight @ initial / sample_weight.sum()
        found = Innovations(reference, *fit_innovations(iter([np.zeros_like(initial)]), sample_weight, 1))
    return _with_cases(found, initial, target, sample_weight, unit)


def _useful(design: Design, tol: float) -> Iterator[Array]:
    """Yield linearised increments up to the fixed point, where no activation of any row moves by `tol` or more."""
    found = islice(increments(design.network, design.initial, design.reference), design.n_iter + 1)
    for t, increment in enumerate(found):
        if t > 0 and increment.change < tol:
            return
        yield increment.linearised


def _innovations(design: Design, keys: Keys | None, tol: float) -> Innovations:
    """Find the innovations of all rows, with a map that is built on a sample where rows are many."""
    initial, weight, reference = design.initial, design.sample_weight, design.reference
    max_rank, sizes = sample_sizes(initial.shape[1], weight.sum())
    if len(weight) <= sum(sizes):
        return Innovations(reference, *fit_innovations(_useful(design, tol), weight, max_rank))
    centred = initial - reference
    outlyingness = Outlyingness.from_scatter(reference, (centred * weight[:, None]).T @ centred)
    keys = content_keys(initial) if keys is None else keys
    sample = union(spanning_samples(outlyingness, initial, keys, weight, sizes))
    basis = sampled_basis(design.network, reference, *sample, max_rank, design.n_iter)
    F, changes = features(basis, design.network, initial, reference)
    F *= design.root
    basis = basis.until(changes, tol)
    return Innovations(reference, *whitened(basis, F[:, : basis.ends[-1]], weight))


def sample_sizes(n_concepts: int, total: float) -> tuple[int, tuple[int, int]]:
    """Return the most innovations that rows of this total weight may have, and how many rows the map is built on."""
    # The concepts themselves are read in any case, as far as rows allow.
    max_rank = int(max(1, min(MAX_RANK, INNOVATIONS_PER_ROW * total), min(n_concepts, CONCEPTS_PER_ROW * total)))
    spread, outlying = (rows * max_rank for rows in BASIS_ROWS)
    # A sample saves nothing where it is most of the rows: these would go through the network once more.
    nearly_all = int(SAMPLE_GAIN * (spread + outlying))
    return max_rank, (nearly_all, 0) if total <= nearly_all else (spread, outlying)


def sampled_basis(
    network: Network, reference: Array, initial: Array, sample_weight: Array, max_rank: int, n_iter: int
) -> Basis:
    """Build the map on sample rows. Here `tol` must wait: the fixed point is a matter of all rows."""
    found = islice(increments(network, initial, reference), n_iter + 1)
    return grow((increment.linearised for increment in found), sample_weight, max_rank)[0]


def _with_cases(known: Innovations, initial: Array, target: Array, weight: Array, unit: Array) -> Learned:
    active = active_rows(known.Q, known.basis.ends, weight.sum(), unit)
    found = fit_cases(initial, known.reference, known.basis, known.Q, active, target, weight, unit)
    return Learned(
        found.readout,
        found.fitted,
        found.outside,
        rank=len(target),
        condition=found.condition,
        degrees_of_freedom=found.degrees_of_freedom,
        alpha=found.alpha,
        active=active @ weight / weight.sum(),
    )


def _shrunken(design: Design, target: Array, keys: Keys | None, tol: float) -> Learned:
    weight, total = design.sample_weight, design.sample_weight.sum()
    known = _innovations(design, keys, tol)
    readout, outside, path = fit_shrunken(known.reference, known.basis, known.Q, target, weight, design.unit)
    active = path.active[: readout.n_iter + 1] @ weight / total
    inside = known.Q[:, : len(readout.coefficients)]
    fitted = (inside * readout.shrinkage_of_columns) @ readout.coefficients
    rank, condition = len(readout.coefficients), readout.basis.condition
    return Learned(
        readout,
        fitted,
        outside,
        rank,
        condition,
        readout.degrees_of_freedom,
        shrinkage=readout.shrink,
        active=active,
        innovations=known,
    )


def _ridge(design: Design, found: Spectrum, target: Array, alpha: float) -> Learned:
    fitted, outside = smooth(design, found, target, alpha)
    readout = solve(design, found, target, alpha)
    dof = 1 + float(found.kept(alpha).sum())
    return Learned(readout, fitted, outside, len(found.S) + 1, found.condition(alpha), dof, alpha=alpha)


def _dual(design: Design, target: Array, choice: dual.Choice) -> Learned:
    found = choice.solution
    # With a penalty no direction is cut off: only the number of rows, or of columns that vary, bounds the rank.
    n_columns = int(np.count_nonzero(choice.columns.scale[: found.n_iter + 1]))
    return Learned(
        dual.readout(design, target, choice),
        found.fitted,
        found.outside,
        min(len(target), n_columns + 1),
        found.condition,
        found.degrees_of_freedom,
        alpha=found.alpha,
    )
