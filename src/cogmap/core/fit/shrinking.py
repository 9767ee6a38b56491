"""The readout on innovations from a draft: their basis, their solution, and shrink factors that judges choose.

1. A sample of rows stands for all; the map to innovations is built on it.
2. One pass takes the Gram matrix of the mapped features and their class sums: innovations and outer weights.
3. The judges' leave-one-out gains decide the shrink factors, and what the gate lets reason; their scores the decision.

Easy to get wrong: a pass must be a pure function of a block and of what earlier passes gave, with nothing but data in
it, because a cluster sends it to other machines. Hence the partial applications of plain functions.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice, pairwise
from typing import NamedTuple

import numpy as np

from ..constants import BASIS_ROWS, CONCEPTS_PER_ROW, INNOVATIONS_PER_ROW, MAX_RANK, SAMPLE_GAIN
from ..network.reasoning import Network
from ..readout.design import Design
from ..readout.shrunken import Path, ShrunkReadout, factors_from, gains_gram, shrunk_readout, trace
from ..readout.states import ReadoutFacts
from ..sums.factor import weighted_gram
from ..sums.rows import JudgeScores, States
from ..sums.sampling import Outlyingness, Samples, spanning_samples, union
from ..sums.sources import Blocks, Source, only_block
from ..sums.space import NUMPY, DeviceArray, Space
from ..sums.statistics import Range, Totals
from ..trajectory.increments import Course, lockstep
from ..trajectory.innovations import Basis, features, grow, whitened_by
from ..types import Array
from .network import Draft


@dataclass(frozen=True)
class Innovations:
    """The basis of a draft's innovations, the training rows' features before its whitening, and their class sums.

    `sums` are Σ w q over the rows of each class, shape (p + 1, N).
    """

    reference: Array
    basis: Basis
    designs: Source[Design]
    sums: Array

    def of_all_rows(self) -> Array:
        """Return Q of all rows, where these are one block; shape (n, p + 1)."""
        block = only_block(self.designs)
        Q: Array = NUMPY.times_triangle(block.ZY[:, : len(self.basis.whiten)], self.basis.whiten)
        return Q


def sample_sizes(n_concepts: int, total: float) -> tuple[int, tuple[int, int]]:
    """Return the most innovations that rows of this total weight may have, and how many rows the map is built on."""
    # The concepts themselves are read in any case, as far as rows allow.
    max_rank = int(max(1, min(MAX_RANK, INNOVATIONS_PER_ROW * total), min(n_concepts, CONCEPTS_PER_ROW * total)))
    spread, outlying = (rows * max_rank for rows in BASIS_ROWS)
    # A sample saves nothing where it is most of the rows: these would go through the network once more.
    nearly_all = int(SAMPLE_GAIN * (spread + outlying))
    return max_rank, (nearly_all, 0) if total <= nearly_all else (spread, outlying)


def innovations(draft: Draft) -> Innovations:
    """Find the innovations of all rows."""
    max_rank, sizes = sample_sizes(len(draft.reference), draft.census.total)
    n_classes, tol = len(draft.census.mass), draft.settings.tol
    if draft.few and draft.source.n_rows <= sum(sizes):
        basis, designs = _of_few_rows(draft, max_rank)
    else:
        basis = _sampled_basis(draft, sizes, max_rank)
        work = partial(mapped, draft.network, draft.reference, basis)
        # Few rows are kept, since `shrink` reads them again; of many it reads the judges alone.
        designs = draft.states.map(work, basis.ends[-1] + n_classes) if draft.few else draft.states.through(work)
    # One pass has all that follows: the fixed point, the whitening, and the classes' sums in the whitened basis.
    gram, changes = designs.reduce(summed).host
    end = basis.ends[-1]
    basis = basis.until(changes, tol)
    basis = whitened_by(basis, gram[: basis.ends[-1], : basis.ends[-1]])
    sums: Array = basis.whiten.T @ gram[: len(basis.whiten), end:]
    return Innovations(draft.reference, basis, designs, sums)


def _of_few_rows(draft: Draft, max_rank: int) -> tuple[Basis, Source[Design]]:
    """Build the map on all rows; what it was built on are their features already."""
    block = only_block(draft.states)
    basis, F = grow(_until_fixed_point(draft, block.initial), block.weight, max_rank)
    ZY, end = NUMPY.times_triangle(F, basis.map, block.n_classes), basis.ends[-1]
    # The map was built on rows times √w; a design has its weights apart.
    ZY[:, :end] /= np.sqrt(block.weight)[:, None]
    ZY[:, end:] = NUMPY.one_hot(block.codes, block.n_classes)
    # The increments ended before the fixed point already: nothing is to be cut off again.
    moving = np.full(len(basis.columns), np.inf)
    design = Design(ZY, moving, block.codes, block.weight, block.unit, block.n_classes, block.even)
    return basis, Blocks(lambda: [design], draft.source.n_rows)


def _until_fixed_point(draft: Draft, initial: Array) -> Iterator[Array]:
    """Yield linearised increments up to the fixed point, where no activation of any row moves by `tol` or more."""
    course = Course(NUMPY, draft.network, draft.reference)
    for t, (E, change) in enumerate(islice(lockstep(course, initial), draft.settings.max_iter + 1)):
        if t > 0 and change < draft.settings.tol:
            return
        yield E


def _sampled_basis(draft: Draft, sizes: tuple[int, int], max_rank: int) -> Basis:
    """Build the map on sample rows. Here `tol` must wait: the fixed point is a matter of all rows."""
    initial, weight = sample(draft, sizes)
    course = Course(NUMPY, draft.network, draft.reference)
    blocks = islice(lockstep(course, initial), draft.settings.max_iter + 1)
    return grow((E for E, _ in blocks), weight, max_rank)[0]


def sample(draft: Draft, sizes: tuple[int, int]) -> tuple[Array, Array]:
    """Return initial states of rows that stand for all, and their weights; so many spread ones and outlying ones."""
    outlyingness = Outlyingness.from_scatter(draft.reference, draft.scatter)
    return union(draft.states.reduce(partial(_samples, outlyingness, sizes)))


def _samples(outlyingness: Outlyingness, sizes: tuple[int, int], space: Space) -> Callable[[States], Samples]:
    return lambda block: spanning_samples(space, outlyingness, block.initial, block.keys, block.weight, sizes)


def mapped(network: Network, reference: Array, basis: Basis, space: Space) -> Callable[[States], Design]:
    """Follow the rows of a block, and map their features; the one-hot of their classes stands beside these.

    A product with a matrix of few columns is slow: the classes are columns of the Gram matrix instead.
    """
    course = Course(space, network, reference, len(basis.columns) - 1)
    there, end = space.put(basis.scaled(course.gain, basis.map)), basis.ends[-1]

    def of_block(block: States) -> Design:
        F, changes = features(course, basis, block.initial)
        ZY = space.times_triangle(F, there, block.n_classes)
        ZY[:, end:] = space.one_hot(block.codes, block.n_classes)
        return Design(ZY, changes, block.codes, block.weight, block.unit, block.n_classes, block.even)

    return of_block


def summed(space: Space) -> Callable[[Design], Totals]:
    """Sum over a block: the Gram matrix of features and one-hot, and the changes."""
    return lambda block: Totals(space, (weighted_gram(space, block.ZY, block),), (), (block.changes,))


class JudgePaths(NamedTuple):
    """A block's leave-one-out path, and the parts of the fit itself for rows that are alone in their class.

    `alone` are these rows, and `inside`, shape (T + 2, k, N), what the constant and each iteration add to their scores.
    """

    path: Path
    target: DeviceArray
    codes: DeviceArray
    weight: DeviceArray
    alone: DeviceArray
    inside: DeviceArray


def shrink(draft: Draft, known: Innovations, judges: Source[Design]) -> tuple[ReadoutFacts, JudgeScores, Array]:
    """Solve the readout; return it, the judges' scores, and the covariance of the one-hot with the fitted ones."""
    census, basis, sums = draft.census, known.basis, known.sums
    zero, one = draft.network.activation.ends
    # The target is an affine map of the one-hot, and so is its product with Q of that with the one-hot.
    C = zero * sums.sum(axis=1, keepdims=True) + (one - zero) * sums
    width = (len(basis.columns) + 2) * len(census.mass) + 4
    paths = judges.map(partial(_followed, draft.network, basis, C, census.mass), width)
    gram, active, total = paths.reduce(_gained).host
    factors = factors_from(gram)
    readout = shrunk_readout(draft.reference, basis, C, factors, census.total)
    scores = paths.reduce(partial(_scored, factors, (zero, one)))
    solved = ReadoutFacts(
        readout,
        rank=len(readout.coefficients),
        condition=readout.basis.condition,
        degrees_of_freedom=readout.degrees_of_freedom,
        shrinkage=readout.shrink,
        active=active[: readout.n_iter + 1] / total,
    )
    return solved, scores, _between(readout, sums, census, one - zero)


def _followed(network: Network, basis: Basis, C: Array, mass: Array, space: Space) -> Callable[[Design], JudgePaths]:
    """Follow the judges of a block through the iterations."""
    whiten, there, masses, ends = space.put(basis.whiten), space.put(C), space.put(mass), basis.ends

    def of_block(block: Design) -> JudgePaths:
        Q = space.times_triangle(block.ZY[:, : ends[-1]], whiten)
        target = block.target(space, network.activation)
        path = trace(space, Q, ends, target, there, float(mass.sum()), block.unit)
        alone = space.xp.nonzero(block.alone(space, masses))[0]
        rows = space.take(Q, alone)
        inside = [rows[:, a:b] @ there[a:b, :] for a, b in pairwise([0, 1, *ends])]
        return JudgePaths(path, target, block.codes, block.weight, alone, space.xp.stack(inside))

    return of_block


def _gained(space: Space) -> Callable[[JudgePaths], Totals]:
    """Sum over a block: Gram matrix of the gains, weight of the rows that still reason, and of all."""

    def of_block(block: JudgePaths) -> Totals:
        gram = gains_gram(space, block.path, block.target, block.weight)
        active = space.double(block.path.active) @ block.weight
        return Totals(space, (gram, active, space.xp.sum(block.weight)))

    return of_block


def _scored(factors: Array, scale: tuple[float, float], space: Space) -> Callable[[JudgePaths], JudgeScores]:
    """Return the scores that judge the decision, on the scale of the one-hot."""
    there, with_constant, (zero, one) = space.put(factors), space.put(np.r_[1.0, factors]), scale

    def of_block(block: JudgePaths) -> JudgeScores:
        raw = block.path.mean + space.xp.tensordot(there, block.path.gains, axes=1)
        raw = space.host(raw)
        alone = space.host(block.alone)
        if len(alone):
            raw = raw.copy()
            raw[alone] = space.host(space.xp.tensordot(with_constant, block.inside, axes=1))
        return JudgeScores((raw - zero) / (one - zero), space.host(block.codes), space.host(block.weight))

    return of_block


def _between(readout: ShrunkReadout, sums: Array, census: Range, span: float) -> Array:
    """Return the covariance of the one-hot with the fitted scores on its scale, from the class sums of Q alone."""
    shrunk = readout.shrinkage_of_columns[:, None] * readout.coefficients
    # The fit is Q times coefficients, so that its class sums follow from those of Q; they add up to its mean.
    of_class = sums[: len(shrunk)].T @ shrunk / census.total
    prior = census.mass / census.total
    between: Array = (of_class - np.outer(prior, of_class.sum(axis=0))) / span
    return between
