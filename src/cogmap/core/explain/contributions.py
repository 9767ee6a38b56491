"""The decoded scores of weighted networks as sums: `readout.terms` of every member, after the decision.

Easy to get wrong: an innovation magnifies rounding, and scores are computed without innovations (`readout.folded`).
What they differ by from the sum of a row's terms is given to the terms, as little as possible to each.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.sparse import csr_array

from ..decision.decision import Decision
from ..fit.model import Model
from ..network.reasoning import Network
from ..readout.folded import fold
from ..readout.terms import Readout, Terms
from ..resemblance.cases import CaseReadout
from ..resemblance.regions import Remembering
from ..sums.space import NUMPY, blocks, in_blocks
from ..sums.threads import side_by_side
from ..sums.tiles import in_tiles, tiled
from ..types import Array, Codes

Member = tuple[Model, float]


@dataclass(frozen=True)
class Split:
    """Scores of n rows as sums.

    Attributes
    ----------
    values : array of shape (n, p)
        What each row has in each term.
    coefficients : array of shape (p, N)
        What each term counts for each class.
    iteration, concept : int arrays of shape (p,)
        Where each term belongs.
    base : array of shape (N,)
        What every row gets.
    cases : array of shape (n, N)
        What remembered rows add; 0 without such.
    stopped_at : int array of shape (n,)
        The iteration at which the gate ended the reasoning of the row; −1 where it did not.
    partner : int array of shape (p,)
        The other concept of a term that belongs to two, half to each; else its concept.
    """

    values: Array
    coefficients: Array
    iteration: Codes
    concept: Codes
    base: Array
    cases: Array
    stopped_at: Codes
    partner: Codes

    @property
    def scores(self) -> Array:
        """The sum of all parts, shape (n, N)."""
        return self.base + self.values @ self.coefficients + self.cases

    def terms(self, direction: Array, shape: tuple[int, int]) -> Array:
        """Return the contributions to scores · `direction`, shape (n, T + 1, M); `shape` is (T + 1, M).

        `direction` has shape (N,): a unit vector for a class, or the difference of two for a margin.
        """
        cells = np.ravel_multi_index((np.tile(self.iteration, 2), np.r_[self.concept, self.partner]), shape)
        return self._summed(direction, cells, shape[0] * shape[1]).reshape(len(self.values), *shape)

    def surfaces(self, direction: Array) -> tuple[Codes, Array]:
        """Return the pairs of concepts that share terms, shape (P, 2), and what each adds to scores · `direction`."""
        pairs, place = np.unique(np.stack([self.concept, self.partner], axis=1), axis=0, return_inverse=True)
        shared = np.flatnonzero(pairs[:, 0] != pairs[:, 1])
        return pairs[shared], self._summed(direction, np.tile(place.ravel(), 2), len(pairs))[:, shared]

    def _summed(self, direction: Array, cells: Codes, n_cells: int) -> Array:
        """Sum the terms in cells, half of each in its first one and half in its second; shape (n, n_cells)."""
        p = len(self.concept)
        owners = csr_array((np.full(2 * p, 0.5), (cells, np.tile(np.arange(p), 2))), shape=(n_cells, p))
        summed: Array = (owners @ (self.values * (self.coefficients @ direction)).T).T
        return summed


def split(readout: Readout, network: Network, initial: Array) -> Split:
    """Return the raw score of rows with these initial states as a sum."""
    n = len(initial)
    parts = list(side_by_side(lambda block: readout.terms(NUMPY, network, block), blocks(initial)))
    first: Terms = parts[0]
    stopped = _joined([part.stopped for part in parts], n, readout.n_iter + 1).astype(bool)
    found = Split(
        _joined([part.values(NUMPY) for part in parts], n, len(first.coefficients)),
        first.coefficients,
        first.iteration,
        first.concept,
        first.base,
        _joined([part.cases for part in parts], n, len(first.base)),
        np.where(stopped.any(axis=1), stopped.argmax(axis=1), -1),
        first.concept if first.partner is None else first.partner,
    )
    if initial.shape[1] == 0:
        return found
    folded = fold(readout.trajectory if isinstance(readout, CaseReadout) else readout, network)
    return found if folded is None else _reconciled(found, in_tiles(lambda rows, _: folded(tiled(rows)), initial))


def _reconciled(found: Split, scores: Array) -> Split:
    """Change the values, as little as possible, so that terms and base sum to these scores."""
    lacking, values = scores - replace(found, cases=0.0 * scores).scores, found.values.copy()
    for stop in np.unique(found.stopped_at).tolist():
        rows, read = found.stopped_at == stop, (found.iteration < stop) | (stop < 0)
        # Coefficients of all classes add up to 0, so that their matrix lacks a rank.
        values[np.ix_(rows, read)] += lacking[rows] @ np.linalg.pinv(found.coefficients[read], rcond=1e-9)
    return replace(found, values=values)


def _joined(parts: Sequence[Array | None], n: int, width: int) -> Array:
    """Return what blocks have, for the first n rows; 0 where they have nothing."""
    if parts[0] is None:
        return np.zeros((n, width))
    return np.concatenate([np.reshape(part, (-1, width)) for part in parts if part is not None])[:n]


def decoding(model: Model, weight: float, decision: Decision) -> Array:
    """Return the matrix that takes the raw score of a member to its part of the decoded score, shape (N, N)."""
    zero, one = model.scale
    matrix: Array = weight / (one - zero) * decision.projection
    return matrix


def decoded_splits(
    members: Sequence[Member], offsets: Sequence[int], constant: Array, decision: Decision, X: Array
) -> list[Split]:
    """Split the decoded scores of rows X over the members; the constants are in the base of the first one.

    `offsets` says where a member's concepts begin among those of all networks.
    """
    splits: list[Split] = []
    for (model, weight), offset in zip(members, offsets, strict=True):
        part, decode = split(model.readout, model.network, model.concepts(X)), decoding(model, weight, decision)
        base = (part.base - model.scale[0]) @ decode
        if not splits:
            base = base + decision(constant)
        splits.append(
            replace(
                part,
                coefficients=part.coefficients @ decode,
                concept=part.concept + offset,
                partner=part.partner + offset,
                base=base,
                cases=part.cases @ decode,
            )
        )
    return splits


def strongest_cases(readout: Remembering, initial: Array, direction: Array, count: int) -> tuple[Codes, Array, Array]:
    """Return the remembered rows that move the raw score of one row along `direction` the most.

    They come with how much the row resembles each, and with what each adds.
    """
    alike = in_blocks(lambda block: readout.resemblance(NUMPY, block), initial)[0]
    pull = alike * (readout.coefficients @ direction)
    chosen = np.argsort(-np.abs(pull), kind="stable")[:count]
    return chosen, alike[chosen], pull[chosen]
