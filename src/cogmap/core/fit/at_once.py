"""Readouts of few rows, which are one block in memory, with their leave-one-out scores: what `alpha` and `cases` name.

- ``alpha="loo"``: innovations with shrink factors and gate; where rows are few against concepts, a ridge over the
  increments is tried beside them, and the smaller leave-one-out error decides. With cases, innovations and remembered
  training rows are read together.
- a positive ``alpha``: one ridge penalty on the standardised increments, by its dual where columns are more than rows.
- ``alpha=0``, or the final state alone: the paper's minimum-norm solution on the raw states.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np

from ..constants import CONCEPTS_PER_ROW, FEW_ROWS, MAX_RANK
from ..decision.decision import class_covariance, judged_rows
from ..network.reasoning import until_fixed_point
from ..readout import dual
from ..readout.ridge import Frame, designed, fit_ridge, scored
from ..readout.shrunken import active_rows
from ..readout.spectrum import Problem
from ..readout.states import ReadoutFacts, final_state, inverse_one_hot, moore_penrose
from ..resemblance.cases import fit_cases
from ..sums.rows import JudgeScores, States
from ..sums.sources import only_block
from ..sums.space import NUMPY
from ..trajectory.increments import Course, lockstep
from ..types import Array
from .network import Draft
from .shrinking import Innovations, innovations, shrink

LONG = 50
"""Iterations beyond which the fixed point is looked for before room for all of them is taken."""


@dataclass(frozen=True)
class ReadoutFit:
    """A readout, its leave-one-out scores, and the covariance of the one-hot with its scores from inside."""

    solved: ReadoutFacts
    scores: JudgeScores
    between: Array

    @property
    def error(self) -> float:
        """The leave-one-out squared error."""
        raw, codes, weight = self.scores
        return float(weight @ ((np.eye(raw.shape[1])[codes] - raw) ** 2).sum(axis=1) / weight.sum())


def solve(plan: Draft) -> ReadoutFit:
    """Solve the readout that the settings name."""
    alpha, (n_rows, n_concepts) = plan.settings.alpha, (plan.source.n_rows, len(plan.reference))
    if plan.settings.readout == "final" or alpha == 0 or n_concepts == 0:
        return _minimum_norm(plan)
    if alpha != "loo":
        n_iter = _n_iter(plan)
        if dual.needed(n_rows, n_concepts * (n_iter + 1)):
            return _by_rows(plan, float(alpha))
        return _ridge(plan, float(alpha), n_iter)
    if plan.settings.cases:
        return _with_cases(plan, innovations(plan))
    total = plan.census.total
    candidates = []
    few = total < FEW_ROWS * n_concepts
    # More concepts than innovations leave no room for any iteration, and a ridge reads concepts better.
    if n_concepts < CONCEPTS_PER_ROW * total and not (few and n_concepts > MAX_RANK):
        known = innovations(plan)
        candidates.append(ReadoutFit(*shrink(plan, known, known.designs)))
    if few:
        candidates.append(_by_rows(plan, None))
    return min(candidates, key=lambda solution: solution.error)


def _minimum_norm(plan: Draft) -> ReadoutFit:
    block, settings = only_block(plan.states), plan.settings
    target = inverse_one_hot(block.codes, block.n_classes, plan.network.activation)
    states = until_fixed_point(plan.network, block.initial, settings.max_iter, settings.tol)
    least = final_state if settings.readout == "final" else moore_penrose
    readout, fitted, outside, rank, condition = least(states, target, block.weight, block.unit)
    solved = ReadoutFacts(readout, rank, condition, degrees_of_freedom=float(rank), alpha=0.0)
    return _judged(plan, block, solved, fitted, outside)


def _n_iter(plan: Draft) -> int:
    """Return the iterations to look at: up to the fixed point where many are allowed."""
    most, tol = plan.settings.max_iter, plan.settings.tol
    if most <= LONG:
        return most
    course = Course(NUMPY, plan.network, plan.reference)
    walk = lockstep(course, only_block(plan.states).initial)
    moving = (t for t, (_, change) in zip(range(most + 1), walk, strict=False) if t and change < tol)
    return next(moving, most + 1) - 1


def _ridge(plan: Draft, alpha: float, n_iter: int) -> ReadoutFit:
    block, tol, n_classes = only_block(plan.states), plan.settings.tol, len(plan.census.mass)
    frame = Frame.from_sample(plan.network, plan.reference, block.initial, block.weight, n_iter, tol)
    solved, smoother, designs = fit_ridge(
        lambda frame: plan.states.map(partial(designed, frame), len(frame.mean) + n_classes), frame, alpha, tol
    )
    scores = designs.reduce(partial(scored, smoother, plan.census.mass))
    return ReadoutFit(solved, scores, smoother.between)


def _by_rows(plan: Draft, alpha: float | None) -> ReadoutFit:
    """Solve a ridge from a Gram matrix of the rows; None for the penalty chooses it, the iterations and their decay."""
    block, settings = only_block(plan.states), plan.settings
    target = inverse_one_hot(block.codes, block.n_classes, plan.network.activation)
    problem = Problem(plan.network, block.initial, plan.reference, block.weight, block.unit, settings.max_iter)
    if alpha is None:
        choice = dual.choose(problem, target, settings.tol)
    else:
        choice = dual.fit_penalty(problem, target, alpha, settings.tol)
    best = choice.solution
    # A Gram matrix cuts no direction off: only the number of rows, or of columns that vary, bounds the rank.
    n_columns = int(np.count_nonzero(choice.columns.scale[: best.n_iter + 1]))
    solved = ReadoutFacts(
        dual.readout(problem, target, choice),
        best.rank or min(len(target), n_columns + 1),
        best.condition,
        best.degrees_of_freedom,
        alpha=best.alpha,
    )
    return _judged(plan, block, solved, best.fitted, best.outside)


def _with_cases(plan: Draft, known: Innovations) -> ReadoutFit:
    """Read innovations together with cases."""
    block = only_block(plan.states)
    weight = block.weight
    target, total = inverse_one_hot(block.codes, block.n_classes, plan.network.activation), weight.sum()
    basis, Q = known.basis, known.of_all_rows()
    active = active_rows(Q, basis.ends, total, block.unit)
    fit = fit_cases(block.initial, plan.reference, basis, Q, active, target, weight, block.unit)
    solved = ReadoutFacts(
        fit.readout,
        rank=len(target),
        condition=fit.condition,
        degrees_of_freedom=fit.degrees_of_freedom,
        alpha=fit.alpha,
        active=weight @ active / total,
    )
    return _judged(plan, block, solved, fit.fitted, fit.outside)


def _judged(plan: Draft, block: States, solved: ReadoutFacts, fitted: Array, outside: Array) -> ReadoutFit:
    """Take raw scores to the scale of the one-hot."""
    zero, one = plan.network.activation.ends
    inside, alone = ((raw - zero) / (one - zero) for raw in (fitted, outside))
    judged = judged_rows(alone, inside, block.codes, block.weight, block.unit)
    return ReadoutFit(solved, judged, class_covariance(inside, block.codes, block.weight))
