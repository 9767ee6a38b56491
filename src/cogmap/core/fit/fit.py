"""A fit, whatever the rows are: in memory, in files, on a cluster or on a device.

    draft    concepts, initial states, inner weights (`network`)
    readout  innovations with shrink factors (`shrinking`), a ridge (`readout.ridge`), what few rows allow (`at_once`)
    judges   rows whose leave-one-out scores the decision is fitted to (`judges`)

Few rows in memory are one block, and all of them judge. More rows are passed over block by block, a
fixed number of times and with memory that does not depend on their number: for rank knots up to six times, and once
each for judges, moments, the sample and the Gram matrix.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.special import softmax

from ..concepts.concepts import Concepts
from ..constants import CASE_NUMBERS, CASE_ROWS, FEW_ROWS
from ..decision.decision import class_covariance, class_shares, decide, judged_rows
from ..readout.design import Design
from ..readout.ridge import Frame, Smoother, designed, fit_ridge, scored
from ..readout.states import ReadoutFacts, inverse_one_hot
from ..resemblance.distance import Distance
from ..resemblance.metric import Examples
from ..resemblance.ways import Way, best_way, ways, worth_fitting
from ..sums.rows import JudgeScores, Rows
from ..sums.sources import Source
from ..sums.statistics import Range
from ..types import Array, Codes
from . import at_once
from .at_once import ReadoutFit
from .judges import choose_cases, choose_judges, for_themselves, most_judges
from .model import Model, Settings, Summary, summarise
from .network import Draft, draft, initial_states
from .shrinking import innovations, mapped, sample, sample_sizes, shrink


@dataclass(frozen=True)
class NetworkFit:
    """A network with its readout, and what its decision is fitted to.

    Attributes
    ----------
    model : Model
        The network.
    solved : ReadoutFacts
        What is known about its readout.
    scores : JudgeScores
        Leave-one-out scores of the rows that judge, on the scale of the one-hot.
    between : array of shape (N, N)
        Covariance of the one-hot with the scores of the fit itself.
    summary : Summary
        Some training rows.
    judges : Rows or None
        The rows that judge, which can be remembered.
    """

    model: Model
    solved: ReadoutFacts
    scores: JudgeScores
    between: Array
    summary: Summary
    judges: Rows | None

    @property
    def alone(self) -> "NetworkFit":
        """The same without the rows."""
        return replace(self, judges=None)


@dataclass(frozen=True)
class Groundwork:
    """A stack that remembered rows are to add to: its models, their weights, a constant, and as `NetworkFit`.

    `taken` says whether rows are remembered for what it leaves of their classes, or beside it.
    """

    members: tuple[tuple[Model, float], ...]
    constant: Array
    scores: JudgeScores
    between: Array
    taken: bool = True

    def raw(self, rows: Array, judged: Codes) -> Array:
        """Return its raw scores of rows, on the scale of the one-hot; of those that judge from outside."""
        raw = np.empty((len(rows), len(self.constant)))
        if len(judged) < len(rows):
            parts = (weight * model.one_hot_scale(model.raw(rows)) for model, weight in self.members)
            raw[:] = sum(parts, start=self.constant)
        raw[judged] = self.scores.raw
        return raw

    def probabilities(self, raw: Array) -> Array:
        """Return the probabilities that its raw scores of rows make."""
        decision = decide(self.scores, self.between, "accuracy", np.array([0.0, 1.0]), corrected=False)
        probabilities: Array = softmax(decision(raw), axis=1)
        return probabilities


def passable(settings: Settings, census: Range) -> bool:
    """Say whether blocks of rows suffice: without cases and minimum norms, and with rows enough for innovations."""
    n_concepts = int(census.varies.sum()) * (settings.terms or 1)
    if settings.readout == "final" or settings.cases or settings.alpha == 0 or n_concepts == 0:
        return False
    return settings.alpha != "loo" or bool(census.total >= FEW_ROWS * n_concepts)


def fit_network(
    source: Source[Rows], census: Range, settings: Settings, concepts: Concepts | None = None
) -> NetworkFit:
    """Fit one network; `concepts` may be given where they are known already.

    More rows than are fitted at once need `passable` settings.
    """
    plan = draft(source, census, settings, concepts)
    if plan.few:
        assert source.whole is not None
        return _fit(plan, at_once.solve(plan), summarise(source.whole), source.whole)
    judges, summary = choose_judges(source, census, most_judges(len(census.mass), settings.alpha != "loo"))
    states = source.beside(judges).map(partial(initial_states, plan.concepts), len(plan.reference) + 4)
    if settings.alpha == "loo":
        known = innovations(plan)
        followed = states.through(partial(mapped, plan.network, plan.reference, known.basis))
        return _fit(plan, ReadoutFit(*shrink(plan, known, followed)), summary, for_themselves(judges))
    solved, smoother, _ = _ridge(plan)
    scores = states.through(partial(designed, smoother.frame)).reduce(partial(scored, smoother, census.mass))
    return _fit(plan, ReadoutFit(solved, scores, smoother.between), summary, for_themselves(judges))


def _ridge(plan: Draft) -> tuple[ReadoutFacts, Smoother, Source[Design]]:
    settings = plan.settings
    rows, weight = sample(plan, sample_sizes(len(plan.reference), plan.census.total)[1])
    frame = Frame.from_sample(plan.network, plan.reference, rows, weight, settings.max_iter, settings.tol)
    return fit_ridge(
        lambda frame: plan.states.through(partial(designed, frame)), frame, float(settings.alpha), settings.tol
    )


def _fit(plan: Draft, solution: ReadoutFit, summary: Summary, judges: Rows) -> NetworkFit:
    solved = solution.solved
    model = Model(plan.concepts, plan.network, solved.readout)
    return NetworkFit(model, solved, solution.scores, solution.between, summary, judges)


def remember(
    known: NetworkFit, models: Sequence[Model], distance: Distance, ground: Groundwork | None = None
) -> NetworkFit | None:
    """Read what the rows that judge say of their neighbours, in the concepts of the model in which they say most.

    With a groundwork, what they say beside it, or of what it leaves: then scores are those of both together, the model
    is theirs alone. None where rows are many, and some of them say next to nothing.
    """
    assert known.judges is not None
    return _remembered(known, models, known.judges, np.arange(len(known.judges.codes)), distance, ground)


def remember_many(
    source: Source[Rows],
    census: Range,
    known: NetworkFit,
    other: Settings | None,
    distance: Distance,
    ground: Groundwork | None = None,
) -> NetworkFit | None:
    """Read what more rows than judge say: in the concepts of a network, or of other settings where they say more."""
    models = [known.model]
    if other is not None:
        plan = draft(source, census, other)
        models.append(replace(known.model, concepts=plan.concepts, network=plan.network))
    n_concepts = max(len(model.network.bias) for model in models)
    rows, judged = choose_cases(source, census, min(CASE_ROWS, CASE_NUMBERS // n_concepts))
    return _remembered(known, models, for_themselves(rows), judged, distance, ground)


def _remembered(
    known: NetworkFit,
    models: Sequence[Model],
    rows: Rows,
    judged: Codes,
    distance: Distance,
    ground: Groundwork | None,
) -> NetworkFit | None:
    """Fit regions to rows, of which some judge, in the concepts of one of the models."""
    zero, one = known.model.network.activation.ends
    target = inverse_one_hot(rows.codes, rows.n_classes, known.model.network.activation)
    if ground is None:
        said = np.broadcast_to(class_shares(rows.codes, rows.weight, rows.n_classes), target.shape)
    else:
        raw = ground.raw(rows.X, judged)
        said = ground.probabilities(raw)
    said = zero + (one - zero) * said
    tried: list[tuple[Model, Way]] = []
    for model in models:
        examples, first = Examples(model.concepts(rows.X), target, rows.weight), tried[0][1] if tried else None
        tried += [(model, way) for way in ways(examples, rows.codes, rows.unit, distance, first)]
    every = [way for _, way in tried]
    if not worth_fitting(every, said):
        return None
    best = best_way(every, said)
    model = next(model for model, way in tried if way.metric is best.metric)
    best = best.refined(rows.codes)
    if ground is not None and ground.taken:
        best = best.aimed(target - (one - zero) * raw)
    fit = best.fit()
    inside, alone = ((raw - zero) / (one - zero) for raw in (fit.fitted, fit.outside))
    solved = ReadoutFacts(fit.readout, len(rows.codes), fit.condition, fit.degrees_of_freedom, alpha=fit.alpha)
    outside = judged_rows(alone, inside, rows.codes, rows.weight, rows.unit).raw[judged]
    between = class_covariance(inside, rows.codes, rows.weight)
    if ground is not None and ground.taken:
        outside, between = outside + ground.scores.raw, between + ground.between
    return replace(
        known,
        model=replace(model, readout=fit.readout),
        solved=solved,
        scores=known.scores._replace(raw=outside),
        between=between,
    )
