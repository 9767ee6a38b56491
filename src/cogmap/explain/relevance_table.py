"""The relevance of features as a table for people: as text, as a frame, and as HTML with bars in a notebook.

Easy to get wrong: `relevance` returns plain arrays, in the order of the features; here the most relevant comes first.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.types import Array
from ..intake.checks import module
from .bars import largest, length, table

CAPTIONS = {
    "model": "mean size of the evidence that the feature adds, in log-odds",
    "data": "spread of the evidence that goes along with the feature, in log-odds",
    "paper": "sum of the absolute weights that leave the feature's concepts",
}


@dataclass(frozen=True)
class RelevanceTable:
    """Relevance of features, the largest first.

    Attributes
    ----------
    names : list of str
        Names of the features.
    relevance : array of shape (n_features,)
        Their relevance.
    kind : str
        Its kind.
    share : array of shape (n_features,)
        Relevance divided by its sum.

    Examples
    --------
    >>> import numpy as np
    >>> from cogmap.explain.relevance_table import RelevanceTable
    >>> RelevanceTable(["sun", "rain"], np.array([1.0, 3.0]), "model")
    relevance (model): mean size of the evidence that the feature adds, in log-odds
    rain  3  75 %
    sun   1  25 %
    """

    names: list[str]
    relevance: Array = field(repr=False)
    kind: str

    @property
    def share(self) -> Array:
        """Relevance divided by its sum."""
        share: Array = self.relevance / (self.relevance.sum() or 1.0)
        return share

    def to_frame(self) -> Any:
        """Return a pandas DataFrame with the columns ``feature``, ``relevance`` and ``share``."""
        pandas = module("pandas", "explain")
        order = self._order
        columns = {"feature": [self.names[j] for j in order], "relevance": self.relevance[order]}
        return pandas.DataFrame(columns | {"share": self.share[order]})

    def __repr__(self) -> str:
        """Return the table as text."""
        lines = self._lines()
        wide = [max(map(len, column)) for column in zip(*lines, strict=True)] if lines else []
        body = ["  ".join(cell.ljust(w) for cell, w in zip(line, wide, strict=True)).rstrip() for line in lines]
        return "\n".join([self._caption, *body])

    def _repr_html_(self) -> str:
        drawn = [length(value, largest(self.relevance)) for value in self.relevance[self._order]]
        return table(self._caption, ["feature", "relevance", "share"], self._lines(), drawn)

    @property
    def _order(self) -> Any:
        return np.argsort(-self.relevance, kind="stable")

    @property
    def _caption(self) -> str:
        return f"relevance ({self.kind}): {CAPTIONS[self.kind]}"

    def _lines(self) -> list[list[str]]:
        share = self.share
        return [[self.names[j], f"{self.relevance[j]:.3g}", f"{100 * share[j]:.0f} %"] for j in self._order]
