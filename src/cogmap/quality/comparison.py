"""What changes from one fitted model to another: scores, classes of rows, relevance, edges.

Edges are compared by the names of their concepts, within networks that have the same configuration. A model knows
nothing of where it was edited, so the edges that a statement changed and those that followed are listed alike.

Easy to get wrong: a model scores better on rows that it was fitted to than on new ones, and may do so to a degree that
an edit changes. So a comparison says on which rows it was measured; with folds, both models are fitted anew without
each fold, and predict that fold alone. Relevance and edges are those of the models themselves.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import _num_samples, check_is_fitted, column_or_1d

from ..core.decision.decision import score_labels
from ..core.fit.fitted import Edge, Fitted
from ..core.types import Array
from ..intake.checks import feature_names
from .folds import fold_models, possible_folds

if TYPE_CHECKING:
    from pandas import DataFrame

METRICS = ("accuracy", "kappa", "balanced_accuracy")
SHOWN = 8
"""Lines of each part in the text."""


class Classifier(Protocol):
    """What is compared of a fitted model."""

    classes_: NDArray[Any]

    @property
    def fitted_(self) -> Fitted:
        """The fitted value, of which edges are compared."""

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row."""

    def relevance(self) -> Array:
        """Return the relevance of each feature."""


class Change(NamedTuple):
    """A number before and after."""

    before: float
    after: float


class ChangedRow(NamedTuple):
    """A row whose class changes."""

    row: int
    before: Any
    after: Any
    truth: Any


class ChangedEdge(NamedTuple):
    """An edge whose weight changes; None where a model has no such edge."""

    network: str
    source: str
    target: str
    before: float | None
    after: float | None

    @property
    def size(self) -> float:
        """How much the weight changes; no edge counts as 0."""
        return abs((self.after or 0.0) - (self.before or 0.0))


@dataclass(frozen=True, repr=False)
class Comparison:
    """What changes from one model to another.

    Attributes
    ----------
    n_rows : int
        Number of rows that were compared.
    n_folds : int or None
        Number of folds of the cross-validation; None where the models themselves predicted the given rows.
    measured : str
        The same as a sentence.
    accuracy, kappa, balanced_accuracy : Change
        Scores of the predicted classes, before and after.
    rows : tuple of ChangedRow
        Rows whose class changes: the row's position, its class before and after, and the true one.
    relevance : dict of str to Change
        Relevance of each feature.
    edges : tuple of ChangedEdge
        Edges whose weight changes, largest change first.
    """

    n_rows: int
    n_folds: int | None
    accuracy: Change
    kappa: Change
    balanced_accuracy: Change
    rows: tuple[ChangedRow, ...]
    relevance: dict[str, Change]
    edges: tuple[ChangedEdge, ...]

    @property
    def measured(self) -> str:
        """Say on which rows the scores were measured."""
        if self.n_folds is None:
            return f"Measured on the {self.n_rows} given rows; if the models were fitted to them, new rows fare worse."
        return (
            f"Cross-validated on {self.n_rows} rows in {self.n_folds} folds: both models were fitted anew without each "
            "fold, and predicted it."
        )

    def to_frame(self, part: Literal["scores", "rows", "relevance", "edges"] = "rows") -> "DataFrame":
        """Return one part as a frame, with a column for before and one for after.

        Parameters
        ----------
        part : {"scores", "rows", "relevance", "edges"}, default="rows"
            Which part: scores and relevance are indexed by their names, rows by their positions.

        Returns
        -------
        pandas.DataFrame
            The part.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ImportError('Frames need pandas: pip install "cogmap[cli]".') from error
        if part == "rows":
            return pd.DataFrame(list(self.rows), columns=list(ChangedRow._fields)).set_index("row")
        if part == "edges":
            return pd.DataFrame(list(self.edges), columns=list(ChangedEdge._fields))
        if part not in ("scores", "relevance"):
            raise ValueError(f"part={part!r} is unknown: use one of 'scores', 'rows', 'relevance', 'edges'.")
        named = self.relevance if part == "relevance" else {name: getattr(self, name) for name in METRICS}
        return pd.DataFrame.from_dict(named, orient="index", columns=list(Change._fields))

    def __repr__(self) -> str:
        kappa = f"kappa {self.kappa.before:.3f} → {self.kappa.after:.3f}"
        return f"<Comparison: {kappa}, {len(self.rows)} of {self.n_rows} rows change>"

    def __str__(self) -> str:
        lines = [self.measured, "", f"{'':<20}{'before':>9}{'after':>9}"]
        for name in METRICS:
            change: Change = getattr(self, name)
            lines.append(f"{name.replace('_', ' '):<20}{change.before:9.3f}{change.after:9.3f}")
        lines += ["", f"{len(self.rows)} of {self.n_rows} rows change their class"]
        lines += _first([f"  row {r.row}: {r.before} → {r.after} (truth: {r.truth})" for r in self.rows])
        lines += ["", f"{len(self.edges)} edges change"]
        lines += _first([f"  {_edge_text(edge)}" for edge in self.edges])
        moved = sorted(self.relevance.items(), key=lambda item: -abs(item[1].after - item[1].before))
        moved = [(name, change) for name, change in moved if change.before != change.after]
        lines += ["", f"{len(moved)} of {len(self.relevance)} features change their relevance"]
        lines += _first([f"  {name}: {change.before:.3g} → {change.after:.3g}" for name, change in moved])
        return "\n".join(lines)


def compare(before: Classifier, after: Classifier, X: ArrayLike, y: ArrayLike, n_folds: int | None) -> Comparison:
    """Compare two fitted models with the same features and classes on rows of known class; see `Comparison.n_folds`."""
    for model in (before, after):
        check_is_fitted(model)
    _check_same("features", feature_names(before), feature_names(after))
    _check_same("classes", before.classes_.tolist(), after.classes_.tolist())
    truth = column_or_1d(y, warn=True)
    if _num_samples(X) != len(truth):
        raise ValueError(f"X has {_num_samples(X)} rows and y has {len(truth)}: give one class for each row.")
    if len(unknown := np.setdiff1d(truth, before.classes_)):
        raise ValueError(f"y holds {unknown[0]!r}, which is no class of the models: leave its rows out.")
    if n_folds is not None:
        n_folds = _checked_folds(truth, n_folds)
    predicted = [_predicted(model, X, truth, n_folds) for model in (before, after)]
    codes = [np.searchsorted(before.classes_, labels) for labels in (truth, *predicted)]
    scores = {
        metric: Change(*(score_labels(metric, own, codes[0], np.ones(len(truth))) for own in codes[1:]))
        for metric in METRICS
    }
    changed = np.flatnonzero(codes[1] != codes[2])
    rows = tuple(ChangedRow(int(i), predicted[0][i], predicted[1][i], truth[i]) for i in changed)
    numbers = zip(before.relevance().tolist(), after.relevance().tolist(), strict=True)
    relevance = {name: Change(*pair) for name, pair in zip(feature_names(before), numbers, strict=True)}
    edges = changed_edges(before.fitted_.edges, after.fitted_.edges)
    return Comparison(len(truth), n_folds, **scores, rows=rows, relevance=relevance, edges=edges)


def _checked_folds(truth: NDArray[Any], n_folds: int) -> int:
    if n_folds < 2:
        raise ValueError(f"n_folds={n_folds!r} must be 2 or larger, or None.")
    possible, reason = possible_folds(truth, n_folds)
    if reason is not None:
        raise ValueError(f"The rows cannot be cross-validated: {reason} Leave its rows out, or use n_folds=None.")
    return possible


def _predicted(model: Classifier, X: ArrayLike, truth: NDArray[Any], n_folds: int | None) -> NDArray[Any]:
    """Return the class of each row by the model itself, or by one like it that was fitted without the row's fold."""
    if n_folds is None:
        return model.predict(X)
    labels = np.empty(len(truth), dtype=model.classes_.dtype)
    # Only what is compared may differ: the concepts of raw columns are those of the models in every fold.
    for fitted, test in fold_models(model, X, truth, n_folds, keep_concepts=True):
        labels[test] = fitted.predict(_safe_indexing(X, test))
    return labels


def changed_edges(before: dict[Edge, float], after: dict[Edge, float]) -> tuple[ChangedEdge, ...]:
    """Return the edges whose weight differs, largest change first."""
    every = [ChangedEdge(*edge, before.get(edge), after.get(edge)) for edge in before | after]
    return tuple(sorted((edge for edge in every if edge.before != edge.after), key=lambda edge: -edge.size))


def _check_same(what: str, before: list[Any], after: list[Any]) -> None:
    if before == after:
        return
    if set(before) == set(after):
        raise ValueError(f"The models have the same {what} in another order: fit both with one order.")
    odd = [x for x in (*before, *after) if (x in before) != (x in after)]
    raise ValueError(
        f"The models have different {what}, such as {odd[0]!r}: only models with the same {what} can be compared."
    )


def _edge_text(edge: ChangedEdge) -> str:
    network = f" [{edge.network}]" if edge.network else ""
    before, after = ("none" if weight is None else f"{weight:.3g}" for weight in (edge.before, edge.after))
    return f"{edge.source} → {edge.target}{network}: {before} → {after}"


def _first(lines: list[str]) -> list[str]:
    return lines if len(lines) <= SHOWN else [*lines[:SHOWN], f"  … and {len(lines) - SHOWN} more"]
