"""Rows that come a batch at a time: the ridge readout of all rows seen so far, exactly, without keeping them.

The first batch fixes scaling, inner weights, reference row and number of iterations. From then on the rows seen are
their R-factor (`ridge_passes.Evidence`), to which each batch is merged: recursive least squares by orthogonal
transformations. The decision is judged by leave-one-out on up to `JUDGES` rows, chosen by their content among all seen
and spread evenly over the classes; they count as much as all rows of their class.

Easy to get wrong: means and spreads of the increments move with every batch. The factor holds them, and the solution is
that of increments standardised by all rows so far.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from .activation import Array
from .cases import sample_rows
from .concepts import Concepts
from .decision import Decision
from .decision_passes import Scored, decide
from .model import SUMMARY_ROWS, Model, Solved, Summary
from .reasoning import Network
from .ridge_passes import Evidence, Frame, fixed_at, framed, scored, solve
from .sampling import Sample, Samples, content_keys
from .sources import Blocks
from .training import Rows, Started

JUDGES = 10_000
"""Most rows that the decision is judged by: with so many, its metric is known to about half a percent."""


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
        For each class, some of its rows, the class code in front of the features.
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
        started = _started(concepts, rows.X, rows.codes, rows.weight, rows.unit, rows.n_classes)
        reference = rows.weight @ started.initial / rows.weight.sum()
        frame = Frame.from_sample(network, reference, started.initial, rows.weight, max_iter)
        frame = frame.cut(fixed_at(framed(frame, started).changes, tol))
        mass = np.bincount(rows.codes, rows.weight, rows.n_classes).astype(np.float64)
        return cls(concepts, frame, Evidence.from_block(framed(frame, started)), _kept(rows), mass)

    def and_then(self, rows: Rows) -> "Recursion":
        """Add a batch."""
        started = _started(self.concepts, rows.X, rows.codes, rows.weight, rows.unit, rows.n_classes)
        return Recursion(
            self.concepts,
            self.frame,
            self.evidence.merge(Evidence.from_block(framed(self.frame, started))),
            self.kept.merge(_kept(rows)),
            self.mass + np.bincount(rows.codes, rows.weight, rows.n_classes),
        )

    def solved(self, alpha: float, metric: str | None, share: Array) -> tuple[Model, Solved, Decision]:
        """Solve for one penalty; `share` is the weight of each class's rows, which one copy of a row has."""
        found, smoother = solve(self.frame, self.evidence, alpha)
        table, weight = self._judges()
        codes, X = table[:, 0].astype(np.intp), table[:, 1:]
        judges = _started(self.concepts, X, codes, weight, np.minimum(share[codes], weight), len(self.mass))
        seen = np.flatnonzero(self.mass > 0)
        # A part of a class's rows counts as all of them, in units in which the judges have their own total weight.
        part = np.bincount(codes, weight, len(self.mass))[codes] / self.mass[codes]
        unit = weight.sum() / self.mass.sum()
        scores = scored(smoother, self.mass, framed(self.frame, judges))
        scores = Scored(scores.raw[:, seen], np.searchsorted(seen, codes), weight * unit / part)
        zero, one = self.frame.network.activation.inverse(np.array([0.0, 1.0])).tolist()
        source = Blocks(lambda: [scores], len(codes))
        between = smoother.between[np.ix_(seen, seen)]
        decision = decide(source, between, unit * self.mass[seen], metric, (zero, one))
        model = Model(self.concepts, self.frame.network, found.readout)
        return model, found, _widened(decision, seen, len(self.mass), scores.raw)

    def summary(self) -> Summary:
        """Return some of the rows seen."""
        table, weight = self._judges()
        some = sample_rows(table[:, 0].astype(np.intp), SUMMARY_ROWS)
        return Summary(table[some, 1:], weight[some], self.mass / self.mass.sum())

    def _judges(self) -> tuple[Array, Array]:
        """Return the rows that were kept, class codes in front, and their weights."""
        parts = self.kept.parts
        return np.concatenate([part.rows for part in parts]), np.concatenate([part.weight for part in parts])


def _started(
    concepts: Concepts, X: Array, codes: NDArray[np.intp], weight: Array, unit: Array, n_classes: int
) -> Started:
    return Started(concepts(X), np.zeros(len(X), dtype=np.uint64), codes, weight, unit, n_classes)


def _kept(rows: Rows) -> Samples:
    table = np.column_stack([rows.codes, rows.X])
    keys, size = content_keys(table), max(JUDGES // rows.n_classes, 1)
    own = [np.flatnonzero(rows.codes == code) for code in range(rows.n_classes)]
    return Samples(tuple(Sample.from_block(np.zeros(len(i)), keys[i], table[i], rows.weight[i], size) for i in own))


def _widened(decision: Decision, seen: NDArray[np.intp], n_classes: int, raw: Array) -> Decision:
    """Return a decision over all classes; one that no row had so far scores below all others."""
    if len(seen) == n_classes:
        return decision
    projection, offset = np.zeros((n_classes, n_classes)), np.full(n_classes, decision(raw).min() - 1.0)
    projection[np.ix_(seen, seen)] = decision.projection
    offset[seen] = decision.offset
    return Decision(projection, offset, decision.prior_exponent, decision.sharpness)
