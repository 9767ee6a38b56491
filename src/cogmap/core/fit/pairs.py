"""Curves and surfaces as one more readout of a network, from blocks of rows: four passes, whatever their number.

    Gram matrix of the curves; cells of all pairs (`curves.search`); Gram matrix of curves and surfaces; judges

Size and penalty are chosen in closed form (`curves.halves`). Of two classes and rows enough one pass more takes a step
of logistic regression (`curves.odds`).

Easy to get wrong: a row is judged by the pairs that the other half of the rows chose, with coefficients of all rows but
itself; the model has the pairs that all rows chose.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

from ..constants import (
    CURVE_COLUMNS,
    CURVE_KNOTS,
    FINE_KNOTS,
    FINE_ROWS,
    ODDS_PENALTY,
    ODDS_ROWS,
    PAIR_ROWS,
    SCANNED,
    SURFACE_KNOTS,
    VALUE_ROWS,
    VALUES,
)
from ..curves.halves import Halves, Moments, Ridge, Size
from ..curves.odds import Start, step_summed
from ..curves.pairs import PairReadout, Pieces, knots, thinned
from ..curves.search import Choice, apart, halves_summed, in_parts, places, search
from ..readout.states import ReadoutFacts, leave_one_out
from ..sums.rows import JudgeScores, Rows, States
from ..sums.sources import Source, from_rows
from ..sums.space import DeviceArray, Space
from ..sums.space import pieces as bounds
from ..sums.statistics import Range
from ..sums.threads import side_by_side
from ..types import Array, Codes
from .fit import NetworkFit
from .judges import choose_judges, most_judges
from .model import Model
from .network import initial_states


def read_pairs(source: Source[Rows], census: Range, known: NetworkFit) -> NetworkFit | None:
    """Read a network again by curves and surfaces of its concepts; None where it has terms, or rows are too few."""
    model = known.model
    plan = planned(model, census)
    if plan is None:
        return None
    sources: list[Source[Rows]]
    if source.single:
        assert source.whole is not None
        # All rows judge; in blocks, because there are many columns for each.
        sources = [from_rows(source.whole)] * 2
    else:
        sources = [source, source.beside(choose_judges(source, census, most_judges(len(census.mass), False))[0])]
    scaled = partial(initial_states, model.concepts)
    states, judged = (rows.map(scaled, len(model.network.bias) + 4) for rows in sources)
    choice = search(states, plan, census.total)
    halves = None if choice is None else halves_summed(states, choice.pieces)
    if choice is None or halves is None:
        return None
    size, start = halves.choose(choice.columns), None
    columns = [choice.columns(who, size.share) for who in range(3)]
    if len(census.mass) == 2 and census.total >= ODDS_ROWS:
        start = Start.of(choice.part(2, size.share), halves.solved(columns[2], size))
        ridges = _stepped(states, choice, halves, size, start)
    else:
        ridges = list(side_by_side(lambda own: halves.solved(own, size), columns))
    *judging, (pieces, final) = ((choice.part(who, size.share), ridge) for who, ridge in enumerate(ridges))
    scores = judged.reduce(partial(scored, judging, census.mass, start))
    solved = _facts(model, pieces, final)
    model = replace(model, readout=solved.readout)
    between = halves.between(columns[2], final.slope)
    return replace(known.alone, model=model, solved=solved, scores=scores, between=between)


def _stepped(states: Source[States], choice: Choice, halves: Halves, size: Size, start: Start) -> list[Ridge]:
    """Take a step of logistic regression for each of the choices, from where all rows' choice starts."""
    pieces, columns = choice.joined(size.share)
    (gram,) = states.reduce(partial(step_summed, start, pieces, columns[2])).host
    known = Moments.of_aims(gram)
    # A penalty is in units of how far a row counts.
    factor = ODDS_PENALTY * known.total / halves.known[2].total
    penalties = [halves.penalty(choice.columns(who, size.share), size) for who in range(3)]

    def solved(one: tuple[Codes, Array]) -> Ridge:
        own, penalty = one
        return Ridge.of(known.some(own), factor * penalty)

    return list(side_by_side(solved, zip(columns, penalties, strict=True)))


def planned(model: Model, census: Range) -> Pieces | None:
    """Return the knots of curves and surfaces of every concept: as many as rows and concepts allow."""
    concepts, total = model.concepts, census.total
    if total < PAIR_ROWS or not concepts.peaks or any(len(peaks) for peaks in concepts.peaks):
        return None
    few, many, for_each = CURVE_COLUMNS
    columns = min(max(few, min(many, for_each * total)), total)
    finest = max(FINE_KNOTS, total / FINE_ROWS)
    widest = min(SCANNED[0], (SCANNED[1] / len(census.mass)) ** 0.5)
    allowed, values = [most for most in CURVE_KNOTS if most <= finest], int(min(VALUES, total / VALUE_ROWS))
    # A knot for each of many values is the first thing to give up.
    tried = [*((most, values) for most in allowed if most >= FINE_KNOTS), *((most, 0) for most in allowed)]
    finer = (knots(concepts.scaling, *sizes) for sizes in tried)
    curves = next((own for own in finer if sum(map(len, own)) - len(own) <= columns), ())
    coarser = (
        tuple(thinned(own, all_of if len(own) <= all_of else most) for own in curves) for all_of, most in SURFACE_KNOTS
    )
    surfaces = next((own for own in coarser if sum(map(len, own)) <= widest), ())
    return Pieces.plain(curves, surfaces) if surfaces else None


def _facts(model: Model, pieces: Pieces, final: Ridge) -> ReadoutFacts:
    """Take a solution to the scale of f⁻¹ of the one-hot."""
    zero, one = model.network.activation.ends
    weights = (one - zero) * final.slope, zero + (one - zero) * final.offset
    readout = PairReadout(pieces.curves, pieces.surfaces, pieces.means, pieces.pairs, *weights)
    rank, alpha = len(final.slope) + 1, float(final.penalty.min())
    return ReadoutFacts(readout, rank, final.condition, final.degrees_of_freedom, alpha=alpha)


def scored(
    choices: Sequence[tuple[Pieces, Ridge]], mass: Array, start: Start | None, space: Space
) -> Callable[[States], JudgeScores]:
    """Return leave-one-out scores of rows, on the scale of the one-hot, each by the other half's choice.

    A start says what a step of logistic regression aimed at; without one that is the one-hot.
    """
    judges = [_judge(*choice, start, space) for choice in reversed(choices)]
    masses, width = space.put(mass), max(len(pieces.owners) for pieces, _ in choices)

    def of_part(block: States) -> JudgeScores:
        xp = space.xp
        raw = [judge(own, masses) for own, judge in zip(apart(space, block), judges, strict=True)]
        raw = space.take(xp.concat(raw), xp.argsort(xp.concat(places(space, block))))
        return JudgeScores(*map(space.host, (raw, block.codes, block.weight)))

    return in_parts(space, 4 * width, of_part)


def _judge(
    pieces: Pieces, ridge: Ridge, start: Start | None, space: Space
) -> Callable[[States, DeviceArray], DeviceArray]:
    """Return the function of rows, and of the classes' weights, that gives the rows' leave-one-out scores."""
    xp, total = space.xp, ridge.known.total
    shift = space.put(-ridge.known.mean @ ridge.spread)
    slope, offset, spread = map(space.put, (ridge.slope, ridge.offset, ridge.spread))

    def of_rows(own: States, mass: DeviceArray) -> DeviceArray:
        Z = pieces.fill(space, own.initial, 0)
        fitted = Z @ slope + offset
        leverage = xp.full(Z.shape[0], 1 / total, dtype=xp.float64, device=space.device)
        for a, b in bounds(len(ridge.slope)):
            part = Z[:, :b] @ spread[:b, a:b] + shift[a:b]
            leverage += xp.sum(part * part, axis=1)
        target, unit = space.one_hot(own.codes, own.n_classes), own.unit
        if start is not None:
            aim, counts = start.asked(space, own)
            target, unit = xp.stack([1 - aim, aim], axis=1), unit * counts
        outside = leave_one_out(space, target, fitted, leverage, unit)
        # Nothing judges the only row of a class from outside.
        return xp.where((space.take(mass, own.codes) <= own.unit)[:, None], fitted, outside)

    return of_rows
