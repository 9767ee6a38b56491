"""What a fit is given, wherever it is: features, a census, the rows at once, and the rows as a source for passes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

from ..core.fit.model import Settings
from ..core.sums.rows import Rows
from ..core.sums.sources import Source, from_rows
from ..core.sums.statistics import Census, Range
from .blocks import Features, RawBlock, census, checked_block
from .encoding import Encoder


class Supply(Protocol):
    """The rows that a fit is given."""

    @property
    def at_hand(self) -> bool:
        """Whether many rows, too, may be gathered."""

    @property
    def features(self) -> Features:
        """The features."""

    @property
    def counted(self) -> Census:
        """The census of all rows."""

    def gather(self) -> Sequence[RawBlock]:
        """Return all rows, where they are few or at hand."""

    def source(self, encoder: Encoder, known: Range, every: Sequence[Settings]) -> Source[Rows]:
        """Return the rows as a source, for networks of all these settings."""


@dataclass(frozen=True)
class ArraySupply:
    """Rows in memory."""

    features: Features
    counted: Census
    block: RawBlock
    at_hand: bool = True

    @classmethod
    def of(cls, estimator: Any, X: Any, y: Any, sample_weight: Any) -> Self:
        """Check the arrays; the estimator gets to know its features."""
        block = checked_block(estimator, X, y, sample_weight, reset=True).positive
        if len(block.X) == 0:
            raise ValueError("Every sample_weight is 0: give rows of at least two classes a weight above 0.")
        return cls(features_of(estimator), census(block), block)

    def gather(self) -> Sequence[RawBlock]:
        """Return all rows."""
        return [self.block]

    def source(self, encoder: Encoder, known: Range, every: Sequence[Settings]) -> Source[Rows]:
        """Cut the rows into blocks."""
        return from_rows(encoder(self.block))


def features_of(estimator: Any) -> Features:
    """Return the features of an estimator that knows them."""
    names = getattr(estimator, "feature_names_in_", None)
    return Features(estimator.n_features_in_, None if names is None else tuple(map(str, names)))
