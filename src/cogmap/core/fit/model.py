"""One network from rows to raw class scores: concepts, inner weights, reasoning and readout put together."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..concepts.concepts import Concepts, TileScaler
from ..curves.pairs import PairReadout
from ..decision.decision import class_shares
from ..network.constraints import Bounds
from ..network.reasoning import Network, trajectory
from ..readout.folded import Folded, fold
from ..readout.terms import Readout, raw_scores
from ..resemblance.cases import CaseReadout, sample_rows
from ..resemblance.regions import Remembering
from ..resemblance.remembered import Remembered
from ..sums.rows import Rows
from ..sums.space import NUMPY, DeviceArray, Space, in_blocks, slices, working_width
from ..sums.tiles import in_tiles, rows_of, tiled
from ..types import Array

SUMMARY_ROWS = 256
"""Most training rows that a model keeps: enough for means over rows, and few beside what the model holds already."""


@dataclass(frozen=True)
class Settings:
    """What a user decides about one network; the parameters of `LTCNClassifier` by the same names.

    `bounds` says what is stated about the edges between given concepts.
    """

    phi: float
    max_iter: int
    activation: str
    alpha: float | str
    inner: str | Array
    rule: str
    readout: str
    scaling: str | None
    terms: int | None
    cases: bool
    tol: float
    bounds: Callable[[Concepts], Bounds] | None = None


@dataclass(frozen=True)
class Summary:
    """Some training rows with their weights, spread over the classes, and each class's share of all weight."""

    rows: Array
    weight: Array
    shares: Array


def summarise(rows: Rows) -> Summary:
    """Keep at most `SUMMARY_ROWS` rows."""
    kept = sample_rows(rows.codes, SUMMARY_ROWS)
    return Summary(rows.X[kept], rows.weight[kept], class_shares(rows.codes, rows.weight, rows.n_classes))


@dataclass(frozen=True)
class Model:
    """A fitted network."""

    concepts: Concepts
    network: Network
    readout: Readout

    def raw(self, X: DeviceArray, space: Space = NUMPY) -> DeviceArray:
        """Return the raw class scores of rows, on the scale of f⁻¹ of the one-hot; shape (n, N).

        In numpy rows go through in tiles, so that a row's score has the same bits in any batch. A GPU would starve on
        them, and its libraries choose another order of summation in any case: there scores agree within the numerical
        contract, not to the bit.
        """
        if space.numpy:
            return in_tiles(self.raw_tiles, X)
        scaler = self.concepts.on(space)
        n_more = len(self.readout.cases) if isinstance(self.readout, Remembering) else 0
        n_more += len(self.readout.coefficients) if isinstance(self.readout, PairReadout) else 0
        n_rows = space.block_rows(working_width(len(self.network.bias), self.readout.n_iter) + 2 * n_more)
        blocks = (scaler.of_rows(X[rows, :]) for rows in slices(X.shape[0], n_rows))
        return space.xp.concat([raw_scores(self.readout, space, self.network, initial) for initial in blocks])

    def raw_tiles(self, X: Array, n_rows: int) -> Array:
        """Return the same of a multiple of `TILE` rows in numpy, of which `n_rows` count; shape (tiles, N, TILE)."""
        if self._folded is None and self._remembered is None:
            return tiled(in_blocks(lambda a: raw_scores(self.readout, NUMPY, self.network, a), self.concepts(X)))
        initial = self._scaler(X)
        parts = [] if self._folded is None else [self._folded(initial)]
        if self._remembered is not None:
            parts.append(self._remembered.tiles(rows_of(initial), n_rows))
        scores: Array = sum(parts[1:], start=parts[0])
        return scores

    @cached_property
    def _scaler(self) -> TileScaler:
        return TileScaler(self.concepts)

    @cached_property
    def _folded(self) -> Folded | None:
        readout = self.readout.trajectory if isinstance(self.readout, CaseReadout) else self.readout
        return fold(readout, self.network) if len(self.network.bias) else None

    @cached_property
    def _remembered(self) -> Remembered | None:
        if len(self.network.bias) and isinstance(self.readout, Remembering):
            return self.readout.remembered()
        return None

    def __getstate__(self) -> dict[str, Any]:
        """Leave out what is computed from the rest."""
        return {name: getattr(self, name) for name in ("concepts", "network", "readout")}

    def states(self, X: Array, n_iter: int) -> Array:
        """Return the states of rows, shape (n, n_iter + 1, M)."""
        return in_blocks(lambda initial: trajectory(self.network, initial, n_iter), self.concepts(X))

    @property
    def scale(self) -> Array:
        """f⁻¹ of 0 and of 1: what the readout aims at for other classes and for the row's own."""
        return np.array(self.network.activation.ends)

    def one_hot_scale(self, raw: DeviceArray) -> DeviceArray:
        """Take raw scores from the scale of f⁻¹ of the one-hot to that of the one-hot."""
        zero, one = self.network.activation.ends
        return (raw - zero) / (one - zero)
