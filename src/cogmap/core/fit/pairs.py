"""Curves and surfaces as one more readout of a network, from blocks of rows: four passes, whatever their number.

    Gram matrix of the curves; cells of all pairs (`pair_search`); Gram matrix of curves and surfaces; judges

Size and penalty are chosen in closed form (`readout.halves`).

Easy to get wrong: a row is judged by the pairs that the other half of the rows chose, with coefficients of all rows but
itself; the model has the pairs that all rows chose.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial

import numpy as np

from ..constants import CURVE_COLUMNS, CURVE_KNOTS, PAIR_ROWS, SCANNED, SURFACE_KNOTS
from ..readout.halves import Ridge
from ..readout.pairs import PairReadout, Pieces, knots, thinned
from ..readout.states import ReadoutFacts, leave_one_out
from ..sums.rows import JudgeScores, Rows, States
from ..sums.sources import Source, from_rows
from ..sums.space import DeviceArray, Space
from ..sums.space import pieces as bounds
from ..sums.statistics import Range
from ..types import Array
from .fit import NetworkFit
from .judges import choose_judges, most_judges
from .model import Model
from .network import initial_states
from .pair_search import Choice, apart, halves_summed, in_parts, search


def read_pairs(source: Source[Rows], census: Range, known: NetworkFit) -> NetworkFit | None:
    """Read a network again by curves and surfaces of its concepts; None where it has terms, or rows are too few."""
    model = known.model
    plan = planned(model, census)
    if plan is None:
        return None
    if source.single:
        assert source.whole is not None
        # All rows judge; in blocks, because there are many columns for each.
        source = judges = from_rows(source.whole)
    else:
        judges = source.beside(choose_judges(source, census, most_judges(len(census.mass), False))[0])
    states, judged = (
        rows.map(partial(initial_states, model.concepts), len(model.network.bias) + 4) for rows in (source, judges)
    )
    choice = search(states, plan, census.total)
    if choice is None:
        return None
    halves = halves_summed(states, choice.pieces)
    size = halves.choose(choice.columns)
    one, other, final = (halves.solved(choice.columns(who, size.share), size) for who in range(3))
    scores = judged.reduce(partial(scored, choice.pieces, (one, other), census.mass))
    solved = _facts(model, choice, choice.places(2, size.share), final)
    model = replace(model, readout=solved.readout)
    return replace(known.alone, model=model, solved=solved, scores=scores, between=final.between)


def planned(model: Model, census: Range) -> Pieces | None:
    """Return the knots of curves and surfaces of every concept: as many as rows and concepts allow."""
    concepts, total = model.concepts, census.total
    if total < PAIR_ROWS or not concepts.peaks or any(len(peaks) for peaks in concepts.peaks):
        return None
    columns = min(CURVE_COLUMNS[0], CURVE_COLUMNS[1] * total)
    widest = min(SCANNED[0], (SCANNED[1] / len(census.mass)) ** 0.5)
    finer = (knots(concepts.scaling, most) for most in CURVE_KNOTS)
    curves = next((own for own in finer if sum(map(len, own)) - len(own) <= columns), ())
    coarser = (tuple(thinned(own, few if len(own) <= few else most) for own in curves) for few, most in SURFACE_KNOTS)
    surfaces = next((own for own in coarser if sum(map(len, own)) <= widest), ())
    return Pieces(curves, surfaces, np.empty((0, 2), np.intp)) if surfaces else None


def _facts(model: Model, choice: Choice, places: Array, final: Ridge) -> ReadoutFacts:
    """Take a solution to the scale of f⁻¹ of the one-hot."""
    zero, one = model.network.activation.ends
    pieces = choice.pieces
    readout = PairReadout(
        pieces.curves, pieces.surfaces, pieces.pairs[places], (one - zero) * final.slope, zero + (one - zero) * final.offset
    )
    return ReadoutFacts(
        readout, len(final.columns) + 1, final.condition, final.degrees_of_freedom, alpha=float(final.penalty.min())
    )


def scored(pieces: Pieces, ridges: Sequence[Ridge], mass: Array, space: Space) -> Callable[[States], JudgeScores]:
    """Return leave-one-out scores of rows, on the scale of the one-hot, each by the other half's choice."""
    prepared = [_judge(ridge, space) for ridge in ridges]
    masses = space.put(mass)

    def of_part(block: States) -> JudgeScores:
        xp = space.xp
        order = [xp.nonzero(block.keys % 2 == half)[0] for half in (0, 1)]
        raw = [
            judge(pieces.columns(space, own.initial), own, masses)
            for own, judge in zip(apart(space, block), reversed(prepared), strict=True)
        ]
        raw = space.take(xp.concat(raw), xp.argsort(xp.concat(order)))
        return JudgeScores(*map(space.host, (raw, block.codes, block.weight)))

    return in_parts(space, 6 * len(pieces.owners), of_part)


def _judge(ridge: Ridge, space: Space) -> Callable[[DeviceArray, States, DeviceArray], DeviceArray]:
    """Return the function of columns and rows that gives the rows' leave-one-out scores."""
    xp, total = space.xp, ridge.known.total
    columns, slope, offset, spread, shift = (
        space.put(array)
        for array in (ridge.columns, ridge.slope, ridge.offset, ridge.spread, -ridge.mean @ ridge.spread)
    )

    def of_rows(Z: DeviceArray, own: States, mass: DeviceArray) -> DeviceArray:
        Z = space.take(Z, columns, axis=1)
        fitted = Z @ slope + offset
        leverage = xp.full(Z.shape[0], 1 / total, dtype=xp.float64, device=space.device)
        for a, b in bounds(len(ridge.columns)):
            part = Z[:, :b] @ spread[:b, a:b] + shift[a:b]
            leverage += xp.sum(part * part, axis=1)
        target = space.one_hot(own.codes, own.n_classes)
        outside = leave_one_out(space, target, fitted, leverage, own.unit)
        # Nothing judges the only row of a class from outside.
        return xp.where((space.take(mass, own.codes) <= own.unit)[:, None], fitted, outside)

    return of_rows
