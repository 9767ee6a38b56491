"""A network from blocks of rows, in a fixed number of passes and with memory that does not depend on their number.

After the census (classes, ranges; the caller's, because labels are the user's):

1. rank knots: one pass for cells, up to five to refine those that matter (`cells`); none for min-max. As many again
   for linguistic terms;
2. the rows that a model keeps as its summary, and those that judge (`judges`);
3. moments of the concepts, and of f⁻¹ of them for a regression → inner weights, reference row;
4. the sample of rows on which the map to innovations is built;
5. Gram matrix and class sums of the mapped features → innovations and outer weights. With a positive α, the Gram matrix
   of the increments instead (`ridge_passes`).

The judges, which are in memory, decide the rest: their leave-one-out gains the shrink factors, and what the gate lets
reason; their scores the decision (`decision`).

Easy to get wrong: a block's function must be a pure function of the block and of what earlier passes found, with
nothing but data in it, because a cluster sends it to other machines. Hence the partial applications of plain functions.
"""

from dataclasses import dataclass, replace
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg.blas import dsyrk, dtrmm

from ..concepts.cells import streamed_knots
from ..concepts.concepts import Concepts, term_peaks
from ..concepts.scaling import Scaling, identity, knot_heights
from ..constants import FEW_ROWS
from ..decision.decision import Decision, decide
from ..network.activation import ACTIVATIONS
from ..network.inner import Regressors
from ..network.reasoning import Network
from ..readout.ridge_passes import Frame, fit_ridge, framed, scored
from ..readout.shrunken import Path, ShrunkReadout, factors_from, gains_gram, shrunk_readout, trace
from ..readout.states import Solved, inverse_one_hot
from ..sums.rows import Rows, Scored, Started
from ..sums.sampling import (
    LAST_KEY,
    Keys,
    Outlyingness,
    Sample,
    Samples,
    content_keys,
    key_limits,
    spanning_samples,
    union,
)
from ..sums.sources import cut
from ..sums.statistics import Factor, Gains, Gram, Source
from ..trajectory.innovations import Basis, features, whitened_by
from ..types import Array
from .at_once import sample_sizes, sampled_basis
from .judges import candidates, judges_from, judges_of_a_class, most_judges
from .model import REGRESSIONS, SUMMARY_ROWS, Model, Settings, Summary, inner_weights


@dataclass(frozen=True)
class Range:
    """What the census says: smallest and largest value of every feature, and the weight of every class."""

    low: Array
    high: Array
    mass: Array

    @property
    def varies(self) -> NDArray[np.bool_]:
        """Which features have two different values."""
        differs: NDArray[np.bool_] = self.high > self.low
        return differs

    @property
    def total(self) -> float:
        """Σ w."""
        return float(self.mass.sum())


class Prepared(NamedTuple):
    """A network whose readout is still missing, the rows that stand for all, and those that judge."""

    concepts: Concepts
    network: Network
    reference: Array
    sample: Array
    sample_weight: Array
    judges: Rows
    summary: Summary


class Judged(NamedTuple):
    """A network with its readout, and what its decision is fitted to.

    `scores` are those of the judges, on the scale of the one-hot, and `between` is the covariance of the one-hot with
    the fitted scores.
    """

    model: Model
    solved: Solved
    scores: Scored
    between: Array
    summary: Summary


class Fitted(NamedTuple):
    """A network with its readout and decision."""

    model: Model
    solved: Solved
    decision: Decision
    summary: Summary


def fit_blocks(
    source: Source[Rows], known: Range, settings: Settings, metric: str | None, concepts: Concepts | None = None
) -> Fitted:
    """Fit a network with innovations, or a ridge of positive α, to blocks of rows.

    `metric` None is the decision by the largest score. `concepts` may be given where they are known already.
    """
    found = judge_blocks(source, known, settings, concepts)
    decision = decide(found.scores, found.between, metric, found.model.scale)
    return Fitted(found.model, found.solved, decision, found.summary)


def judge_blocks(source: Source[Rows], known: Range, settings: Settings, concepts: Concepts | None = None) -> Judged:
    """Fit all but the decision."""
    concepts = fit_concepts(source, known, settings) if concepts is None else concepts
    initial = source.map(partial(_initial, concepts), len(concepts.feature) + 4)
    prepared = prepare(source, initial, known, settings, concepts)
    judges = source.beside(list(cut([prepared.judges]))).map(partial(_initial, concepts), len(concepts.feature) + 4)
    if settings.alpha == "loo":
        basis, sums = _innovations(initial, known, settings, prepared)
        return _shrunken(judges, known, prepared, basis, sums)
    return _ridge(initial, judges, known, settings, prepared)


def _initial(concepts: Concepts, block: Rows) -> Started:
    keys = content_keys(block.X[:, concepts.varies])
    return Started(concepts(block.X), keys, block.codes, block.weight, block.unit, block.n_classes)


def passable(settings: Settings, known: Range) -> bool:
    """Say whether blocks of rows suffice: without cases and minimum norms, and with rows enough for innovations."""
    n_concepts = known.varies.sum() * (settings.terms or 1)
    if settings.readout == "final" or settings.cases or settings.alpha == 0 or n_concepts == 0:
        return False
    return settings.alpha != "loo" or bool(known.total >= FEW_ROWS * n_concepts)


def _ridge(
    source: Source[Started], judges: Source[Started], known: Range, settings: Settings, prepared: Prepared
) -> Judged:
    concepts, network, reference, sample, weight, _, summary = prepared
    frame = Frame.from_sample(network, reference, sample, weight, settings.max_iter, settings.tol)
    solved, smoother = fit_ridge(source, frame, float(settings.alpha), settings.tol)
    followed = judges.through(partial(framed, smoother.frame))
    scores = followed.map(partial(scored, smoother, known.mass), len(known.mass) + 2).reduce(gathered)
    return Judged(Model(concepts, network, solved.readout), solved, scores, smoother.between, summary)


def fit_concepts(source: Source[Rows], known: Range, settings: Settings) -> Concepts:
    """Learn scaling and terms; the same as `concepts.fit_concepts` of all rows."""
    varies, kind = known.varies, settings.scaling
    low, high = known.low[varies], known.high[varies]
    if kind is None:
        activation = ACTIVATIONS[settings.activation]
        scaling = identity(len(low), activation.low, activation.high)
    elif kind == "minmax":
        ends = [np.array(pair) for pair in zip(low, high, strict=True)]
        scaling = Scaling(tuple(ends), (np.array([0.0, 1.0]),) * len(ends))
    else:
        ranks = streamed_knots(source, partial(_columns, varies), low, high) if len(low) else []
        knots = [knot_heights(kind, *found) for found in ranks]
        scaling = Scaling(tuple(values for values, _ in knots), tuple(heights for _, heights in knots))
    concepts = Concepts(varies, scaling, (np.empty(0),) * len(low))
    if settings.terms is None or len(low) == 0:
        return concepts
    ends_scaled = concepts(np.vstack([known.low, known.high]))
    knots = streamed_knots(source, partial(_initial_columns, concepts), *ends_scaled)
    return replace(concepts, peaks=tuple(term_peaks(*found, settings.terms) for found in knots))


def _columns(varies: NDArray[np.bool_], block: Rows) -> tuple[Array, Array]:
    return block.X[:, varies], block.weight


def _initial_columns(concepts: Concepts, block: Rows) -> tuple[Array, Array]:
    return concepts(block.X), block.weight


def prepare(
    source: Source[Rows], initial: Source[Started], known: Range, settings: Settings, concepts: Concepts
) -> Prepared:
    """Learn the inner weights, and choose the rows that stand for all."""
    activation = ACTIVATIONS[settings.activation]
    regresses = isinstance(settings.inner, str) and settings.inner in REGRESSIONS
    kept, *candidates_of_class = _candidates(source, known, most_judges(len(known.mass), settings.alpha != "loo"))
    factor = initial.reduce(partial(_factor, activation.name if regresses else None))
    n_concepts = len(concepts.feature)
    centred = factor.centred[:, :n_concepts]
    regressors = Regressors.from_factor(factor, n_concepts) if regresses else None
    W, b = inner_weights(concepts, settings, centred, regressors)
    network = Network.from_rule(settings.rule, W, b, float(settings.phi), activation)
    reference = factor.mean[:n_concepts]
    outlyingness = Outlyingness.from_scatter(reference, centred.T @ centred)
    sizes = sample_sizes(n_concepts, known.total)[1]
    rows, weight = union(initial.reduce(partial(_samples, outlyingness, sizes)))
    summary = Summary(kept.rows, kept.weight, known.mass / known.total)
    return Prepared(concepts, network, reference, rows, weight, judges_from(candidates_of_class, known.mass), summary)


def _candidates(source: Source[Rows], known: Range, most: int) -> tuple[Sample, ...]:
    """Return some rows of all for the summary, and of each class some to judge, of `most` in all."""
    of_class = judges_of_a_class(len(known.low), len(known.mass), most)
    sizes = np.r_[SUMMARY_ROWS, np.full(len(known.mass), of_class)]
    limits = key_limits(np.r_[known.total, known.mass], sizes)
    found = source.reduce(partial(_kept, limits, of_class)).parts
    n_found = np.array([len(part.keys) for part in found])
    if ((n_found < sizes) & (limits < LAST_KEY)).any():
        found = source.reduce(partial(_kept, np.full(len(limits), LAST_KEY), of_class)).parts
    return found


def _kept(limits: Keys, of_class: int, block: Rows) -> Samples:
    """Choose among the rows whose keys are within the limits, of which the first is for all rows."""
    keys = content_keys(np.column_stack([block.codes, block.X]))
    some = np.flatnonzero(keys <= limits[0])
    summary = Sample.from_block(np.zeros(len(some)), keys[some], block.X[some], block.weight[some], SUMMARY_ROWS)
    return Samples((summary, *candidates(block, keys, limits[1:], of_class)))


def _factor(activation: str | None, block: Started) -> Factor:
    targets = [] if activation is None else [ACTIVATIONS[activation].inverse(block.initial)]
    return Factor.from_block(block.initial, block.weight, *targets)


def _samples(outlyingness: Outlyingness, sizes: tuple[int, int], block: Started) -> Samples:
    return spanning_samples(outlyingness, block.initial, block.keys, block.weight, sizes)


def _innovations(source: Source[Started], known: Range, settings: Settings, prepared: Prepared) -> tuple[Basis, Array]:
    """Return the innovations' basis, and their class sums Σ w q, shape (p + 1, N)."""
    max_rank = sample_sizes(len(prepared.reference), known.total)[0]
    basis = sampled_basis(
        prepared.network, prepared.reference, prepared.sample, prepared.sample_weight, max_rank, settings.max_iter
    )
    found = source.reduce(partial(_gram, prepared.network, prepared.reference, basis))
    basis = basis.until(found.changes, settings.tol)
    end = basis.ends[-1]
    basis = whitened_by(basis, found.gram[:end, :end])
    sums: Array = basis.whiten.T @ found.sums[: len(basis.whiten)]
    return basis, sums


def _gram(network: Network, reference: Array, basis: Basis, block: Started) -> Gram:
    F, changes = features(basis, network, block.initial, reference)
    root = np.sqrt(block.weight)[:, None]
    if (root != 1).any():
        F *= root
    mapped = dtrmm(1.0, basis.map, F, side=1, overwrite_b=1)
    sums = mapped.T @ (np.eye(block.n_classes)[block.codes] * root)
    return Gram(dsyrk(1.0, mapped, trans=1), sums, changes)


class Traced(NamedTuple):
    """A block's leave-one-out path, and the parts of the fit itself for rows that are alone in their class.

    `alone` are these rows, and `inside`, shape (T + 2, k, N), what the constant and each iteration add to their scores.
    """

    path: Path
    codes: NDArray[np.intp]
    weight: Array
    alone: NDArray[np.intp]
    inside: Array


class Readable(NamedTuple):
    """What it takes to follow a block through the iterations."""

    network: Network
    reference: Array
    basis: Basis
    to_innovations: Array
    coefficients: Array
    mass: Array


def _traced(readable: Readable, block: Started) -> Traced:
    basis, C = readable.basis, readable.coefficients
    F, _ = features(basis, readable.network, block.initial, readable.reference)
    Q = dtrmm(1.0, readable.to_innovations, F, side=1, overwrite_b=1)
    target = inverse_one_hot(block.codes, block.n_classes, readable.network.activation)
    path = trace(Q, basis.ends, target, C, float(readable.mass.sum()), block.unit)
    alone = np.flatnonzero(readable.mass[block.codes] <= block.unit)
    bounds = [0, 1, *basis.ends]
    inside = [Q[alone, a:b] @ C[a:b] for a, b in pairwise(bounds)]
    return Traced(path, block.codes, block.weight, alone, np.array(inside))


def _gains(activation: str, block: Traced) -> Gains:
    target = inverse_one_hot(block.codes, block.path.mean.shape[1], ACTIVATIONS[activation])
    return Gains(gains_gram(block.path, target, block.weight), block.path.active @ block.weight)


def _scored(shrink: Array, scale: tuple[float, float], block: Traced) -> Scored:
    """Return the scores that judge the decision, on the scale of the one-hot."""
    raw = block.path.mean + np.tensordot(shrink, block.path.gains, axes=1)
    raw[block.alone] = np.tensordot(np.r_[1.0, shrink], block.inside, axes=1)
    zero, one = scale
    return Scored((raw - zero) / (one - zero), block.codes, block.weight)


def gathered(block: Scored) -> Scored:
    """Return the scores of a block of judges, to be put together with those of all others."""
    return block


def _shrunken(judges: Source[Started], known: Range, prepared: Prepared, basis: Basis, sums: Array) -> Judged:
    """Solve the readout on the innovations."""
    zero, one = prepared.network.activation.inverse(np.array([0.0, 1.0])).tolist()
    # The target is an affine map of the one-hot, and so is its product with Q of that with the one-hot.
    C = zero * sums.sum(axis=1, keepdims=True) + (one - zero) * sums
    readable = Readable(prepared.network, prepared.reference, basis, basis.map @ basis.whiten, C, known.mass)
    n_classes = len(known.mass)
    paths = judges.map(partial(_traced, readable), (len(basis.columns) + 1) * n_classes + 4)
    gains = paths.reduce(partial(_gains, prepared.network.activation.name))
    shrink = factors_from(gains.gram)
    readout = shrunk_readout(prepared.reference, basis, C, shrink, known.total)
    scores = paths.map(partial(_scored, shrink, (zero, one)), n_classes + 2).reduce(gathered)
    between = _between(readout, sums, known, one - zero)
    solved = Solved(
        readout,
        rank=len(readout.coefficients),
        condition=readout.basis.condition,
        degrees_of_freedom=readout.degrees_of_freedom,
        shrinkage=readout.shrink,
        active=gains.active[: readout.n_iter + 1] / prepared.judges.weight.sum(),
    )
    model = Model(prepared.concepts, prepared.network, readout)
    return Judged(model, solved, scores, between, prepared.summary)


def _between(readout: ShrunkReadout, sums: Array, known: Range, span: float) -> Array:
    """Return the covariance of the one-hot with the fitted scores on its scale, from the class sums of Q alone."""
    shrunk = readout.shrinkage_of_columns[:, None] * readout.coefficients
    of_class = sums[: len(shrunk)].T @ shrunk / known.total
    prior = known.mass / known.total
    between: Array = (of_class - np.outer(prior, of_class.sum(axis=0))) / span
    return between
