"""Rows that come a batch at a time: the ridge readout of all rows seen so far, exactly, without keeping them.

The first batch fixes scaling, inner weights, reference row and number of iterations. From then on the rows seen are
their R-factor (`readout.ridge.Evidence`), to which each batch is merged: recursive least squares by orthogonal
transformations. The decision is judged by leave-one-out on some of the rows seen (`judges`).

Easy to get wrong: means and spreads of the increments move with every batch. The factor holds them, and the solution is
that of increments standardised by all rows so far.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from ..concepts.concepts import Concepts
from ..decision.decision import Decision, decide
from ..network.reasoning import Network
from ..readout.ridge import Evidence, Frame, designed, fixed_at, scored, solve
from ..readout.states import ReadoutFacts
from ..resemblance.cases import sample_rows
from ..sums.rows import JudgeScores, Rows
from ..sums.sampling import LAST_KEY, Samples
from ..sums.space import NUMPY
from ..types import Array
from .judges import candidates, judges_from, judges_of_a_class, row_keys
from .model import SUMMARY_ROWS, Model, Summary
from .network import initial_states

BATCH_JUDGES = 10_000
"""Rows that judge, at most: every batch asks them all. A metric is known to about half a percent."""


@dataclass(frozen=True)
class Recursion:
    """What is known of all rows seen so far.

    Attributes
    ----------
    concepts : Concepts
        From rows to initial states.
    frame : Frame
        The network and its increments.
    evidence : Evidence
        The factor of the rows.
    kept : Samples
        For each class, those of its rows that judge.
    mass : array of shape (N,)
        Weight of each class.
    """

    concepts: Concepts
    frame: Frame
    evidence: Evidence
    kept: Samples
    mass: Array

    @classmethod
    def begun(cls, concepts: Concepts, network: Network, rows: Rows, max_iter: int, tol: float) -> Self:
        """Start with a batch."""
        states = initial_states(concepts, NUMPY)(rows)
        reference = rows.weight @ states.initial / rows.weight.sum()
        frame = Frame.from_sample(network, reference, states.initial, rows.weight, max_iter, tol)
        frame = frame.cut(fixed_at(designed(frame, NUMPY)(states).changes, tol))
        return cls(concepts, frame, _evidence(concepts, frame, rows), _judges(rows), rows.mass)

    def and_then(self, rows: Rows) -> "Recursion":
        """Add a batch."""
        return Recursion(
            self.concepts,
            self.frame,
            self.evidence.merge(_evidence(self.concepts, self.frame, rows)),
            self.kept.merge(_judges(rows)),
            self.mass + rows.mass,
        )

    def solved(self, alpha: float, metric: str | None) -> tuple[Model, ReadoutFacts, Decision]:
        """Solve for one penalty."""
        solved, smoother = solve(self.frame, self.evidence, alpha)
        judges = judges_from(self.kept.parts, self.mass)
        seen = np.flatnonzero(self.mass > 0)
        states = initial_states(self.concepts, NUMPY)(judges)
        scores = scored(smoother, self.mass, NUMPY)(designed(self.frame, NUMPY)(states))
        known = JudgeScores(scores.raw[:, seen], np.searchsorted(seen, judges.codes), judges.weight)
        model = Model(self.concepts, self.frame.network, solved.readout)
        decision = decide(known, smoother.between[np.ix_(seen, seen)], metric, model.scale)
        return model, solved, _widened(decision, seen, self.mass, known.raw)

    def summary(self) -> Summary:
        """Return some of the rows seen."""
        judges = judges_from(self.kept.parts, self.mass)
        some = sample_rows(judges.codes, SUMMARY_ROWS)
        return Summary(judges.X[some], judges.weight[some], self.mass / self.mass.sum())


def _evidence(concepts: Concepts, frame: Frame, rows: Rows) -> Evidence:
    return Evidence.from_block(designed(frame, NUMPY)(initial_states(concepts, NUMPY)(rows)))


def _judges(rows: Rows) -> Samples:
    """Choose rows of each class that judge."""
    keys, limits = row_keys(NUMPY, rows), [int(LAST_KEY)] * rows.n_classes
    size = judges_of_a_class(rows.X.shape[1], rows.n_classes, BATCH_JUDGES)
    return Samples(candidates(NUMPY, rows, keys, limits, size))


def _widened(decision: Decision, seen: NDArray[np.intp], mass: Array, raw: Array) -> Decision:
    """Return a decision over all classes; one that no row had so far is less likely than all others, by all rows."""
    n_classes = len(mass)
    if len(seen) == n_classes:
        return decision
    least = decision(raw).min() - np.log(mass.sum() + 2)
    projection, offset, shift = np.zeros((n_classes, n_classes)), np.full(n_classes, least), np.zeros(n_classes)
    projection[np.ix_(seen, seen)] = decision.projection
    offset[seen], shift[seen] = decision.offset, decision.shift
    return Decision(projection, offset, shift)
