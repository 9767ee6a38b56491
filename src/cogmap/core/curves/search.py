"""Which pairs of concepts have something to say beyond their curves: one pass over the residuals finds them all.

A concept's knots have triangular memberships that add up to 1; those of two concepts multiply to the cells of their
surface. With c the memberships of all concepts side by side, r the residuals of one class and w the weights of rows,
cᵀ diag(w) c and cᵀ diag(w r) c hold the weight of all cells of all pairs, and the residuals in them. A pair's score is
Σ (residual of the cell)² / (weight of the cell + ridge), over cells and classes: about what its surface would explain.

Easy to get wrong: a choice that has seen a row may not judge it. Sums are taken in two halves of the rows, apart by
their content so that copies stay together, and pairs are ranked three times: by each half, and by all rows.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np

from ..constants import CELL_RIDGE, JUDGING_COLUMNS, SURFACE_COLUMNS
from ..sums.factor import weighted_gram
from ..sums.rows import States
from ..sums.sources import Source
from ..sums.space import DeviceArray, Space, slices
from ..sums.statistics import S, Totals, merged
from ..types import Array, Codes
from .halves import Halves, Ridge, Size
from .pairs import Pieces, all_pairs

FIRST = Size(0.0, 1.0, 1.0)
"""Penalty of the curves whose residuals are searched."""

DIGITS = 9
"""Digits of a score that count: pairs that differ by rounding alone keep their order."""


@dataclass(frozen=True)
class Choice:
    """Curves and the surfaces of all pairs that were chosen by anyone.

    `ranked` are places among these pairs, the best first: chosen by the first half, by the second, and by all rows.
    """

    pieces: Pieces
    ranked: tuple[Codes, Codes, Codes]
    most: float

    def places(self, who: int, share: float) -> Codes:
        """Return the pairs, in order, that one choice has within a share of the columns that surfaces may have."""
        own = self.ranked[who]
        sizes = np.diff(self.pieces.ends)[own]
        return np.sort(own[np.cumsum(sizes) <= share * self.most])

    def part(self, who: int, share: float) -> Pieces:
        """Return the curves and these pairs alone."""
        return self.pieces.with_pairs(self.pieces.pairs[self.places(who, share)])

    def columns(self, who: int, share: float) -> Codes:
        """Return their columns among all."""
        return _columns(self.pieces, self.places(who, share))

    def joined(self, share: float) -> tuple[Pieces, list[Codes]]:
        """Return the curves with the pairs of all three choices, and the columns of each among them."""
        places = [self.places(who, share) for who in range(3)]
        every = np.unique(np.concatenate(places))
        joined = self.pieces.with_pairs(self.pieces.pairs[every])
        return joined, [_columns(joined, np.searchsorted(every, own)) for own in places]


def _columns(pieces: Pieces, pairs: Codes) -> Codes:
    """Return the columns of the curves and of some pairs."""
    ends = pieces.ends
    return np.concatenate([np.arange(pieces.n_curves), *(np.arange(ends[u], ends[u + 1]) for u in pairs)])


def search(states: Source[States], plan: Pieces, total: float) -> Choice | None:
    """Choose pairs for the knots of a plan; None where one half of the rows has none."""
    halves = halves_summed(states, plan)
    if halves is None:
        return None
    curves = halves.solved(np.arange(plan.n_curves), FIRST)
    weight, other_weight, residual, other_residual = states.reduce(partial(_cells, plan, curves)).host
    # Pairs chosen by all rows will be read; what the halves choose judges how many, and how far they are penalised.
    scores = [
        _scores(plan, weight, residual),
        _scores(plan, other_weight, other_residual),
        _scores(plan, weight + other_weight, residual + other_residual),
    ]
    means = np.r_[curves.known.mean, _means(plan, weight + other_weight)]
    return _joined(replace(plan, means=means), scores, min(SURFACE_COLUMNS[0], SURFACE_COLUMNS[1] * total))


def _means(plan: Pieces, weight: Array) -> Array:
    """Return the means of the surfaces' ramps, given the weight of all cells."""
    means, start = [], 0
    for own in plan.surfaces:
        # A concept's memberships add up to 1, and those from a knot on to the ramp that leads up to it.
        at_knots = weight[start : start + len(own), start : start + len(own)].sum(axis=1)
        means.append(np.cumsum(at_knots[::-1])[::-1][1:] / at_knots.sum())
        start += len(own)
    return np.concatenate(means)


def _scores(plan: Pieces, weight: Array, residual: Array) -> Array:
    """Return the score of every pair, shape (P,)."""
    cells = (residual**2).sum(axis=0) / (weight + CELL_RIDGE)
    start = np.concatenate([[0], np.cumsum([len(own) for own in plan.surfaces])[:-1]])
    of_pairs = np.add.reduceat(np.add.reduceat(cells, start, axis=0), start, axis=1)
    one, other = all_pairs(len(plan.surfaces)).T
    found: Array = of_pairs[one, other]
    scores: Array = np.round(found / max(found.max(initial=0.0), np.finfo(np.float64).tiny), DIGITS)
    return scores


def _joined(plan: Pieces, scores: Sequence[Array], most: float) -> Choice:
    """Return all choices, within the columns that are allowed; those that judge may have fewer pairs of their own."""
    every = all_pairs(len(plan.surfaces))
    size = np.diff(plan.with_pairs(every).ends)
    best = [order[np.cumsum(size[order]) <= most] for order in (np.argsort(-s, kind="stable") for s in scores)]
    # What the halves chose beyond all rows' choice, in turn; far too much where pairs are all alike.
    turns = np.argsort(np.concatenate([np.arange(len(own)) for own in best[:2]]), kind="stable")
    extra = np.concatenate(best[:2])[turns]
    extra = extra[~np.isin(extra, best[2])]
    # Once each, in the order of the turns: where pairs occur first, since `unique` itself sorts them.
    extra = extra[np.sort(np.unique(extra, return_index=True)[1])]
    extra = extra[np.cumsum(size[extra]) <= JUDGING_COLUMNS * most]
    kept = np.sort(np.concatenate([best[2], extra]))
    ranked = tuple(np.searchsorted(kept, own[np.isin(own, kept)]) for own in best)
    return Choice(plan.with_pairs(every[kept]), ranked, most)  # type: ignore[arg-type] # three of them


def halves_summed(states: Source[States], pieces: Pieces) -> Halves | None:
    """Return means and scatter of both halves of the rows; None where one of them is empty."""
    return Halves.of(states.reduce(partial(_summed, pieces)).host, len(pieces.owners), pieces.n_curves)


def _summed(pieces: Pieces, space: Space) -> Callable[[States], Totals]:
    def gram(own: States) -> DeviceArray:
        ZY = pieces.fill(space, own.initial, own.n_classes)
        ZY[:, len(pieces.owners) :] = space.one_hot(own.codes, own.n_classes)
        return weighted_gram(space, ZY, own)

    def of_part(block: States) -> Totals:
        return Totals(space, tuple(gram(own) for own in apart(space, block)))

    return in_parts(space, 4 * len(pieces.owners), of_part)


def _cells(plan: Pieces, curves: Ridge, space: Space) -> Callable[[States], Totals]:
    """Sum over a block: the weight of all cells in each half, and the residuals of each class in them."""
    ramps = plan.factors[0]
    corners, slope, offset = (space.put(array) for array in (_corners(plan), curves.slope, curves.offset))

    def of_half(own: States) -> tuple[DeviceArray, DeviceArray]:
        xp = space.xp
        fitted = plan.fill(space, own.initial, 0) @ slope + offset
        left = (space.one_hot(own.codes, own.n_classes) - fitted) * own.weight[:, None]
        c = space.hstack([space.ones(own.initial), ramps.of(space, own.initial)]) @ corners
        # Of two classes one leaves the other's residuals but for their sign. One class at a time: memberships times the
        # residuals of all would take as many times the memory.
        asked = range(own.n_classes if own.n_classes > 2 else 1)
        return (c * own.weight[:, None]).T @ c, xp.stack([(c * left[:, k : k + 1]).T @ c for k in asked])

    def of_part(block: States) -> Totals:
        weights, residuals = zip(*map(of_half, apart(space, block)), strict=True)
        return Totals(space, (*weights, *residuals))

    return in_parts(space, 4 * corners.shape[0] + 2 * plan.n_curves, of_part)


def _corners(plan: Pieces) -> Array:
    """Return the matrix that takes (1 | ramps) of all concepts to their triangular memberships: r_k − r_(k+1)."""
    sizes = [len(own) for own in plan.surfaces]
    matrix, row, column = np.zeros((1 + sum(sizes) - len(sizes), sum(sizes))), 1, 0
    for n in sizes:
        matrix[0, column] = 1.0
        for k in range(1, n):
            matrix[row, column + k - 1 : column + k + 1] = -1.0, 1.0
            row += 1
        column += n
    return matrix


def apart(space: Space, block: States) -> list[States]:
    """Part rows in two by their content."""
    halves = []
    for rows in places(space, block):
        initial = space.take(block.initial.T, rows, axis=1).T if space.numpy else space.take(block.initial, rows)
        keys, codes, weight, unit = (
            space.take(array, rows) for array in (block.keys, block.codes, block.weight, block.unit)
        )
        halves.append(States(initial, keys, codes, weight, unit, block.n_classes, block.even))
    return halves


def places(space: Space, block: States) -> list[DeviceArray]:
    """Return where the rows of each half are."""
    return [space.xp.nonzero(block.keys % 2 == half)[0] for half in (0, 1)]


def in_parts(space: Space, width: int, work: Callable[[States], S]) -> Callable[[States], S]:
    """Return the function of a block; of its parts, joined, where a device's block has too many rows of that width."""
    if space.numpy:
        return work
    n_rows = space.block_rows(width)
    return lambda block: merged(work(block[part]) for part in slices(block.codes.shape[0], n_rows))
