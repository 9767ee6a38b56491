"""What a report is about: a fitted model, rows in the form that it takes, and their classes.

Easy to get wrong: a model for raw tables contains the network. Questions about columns go to the model with the raw
rows, questions about concepts to the network with the encoded ones.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ..core.types import Array
from ..estimators.base import NetworkClassifier
from ..estimators.tabular import TabularClassifier
from ..intake.checks import checked_rows, feature_names
from ..intake.labels import checked_labels
from ..quality.evaluation import class_codes
from ..tables.columns import spelled
from ..tables.frames import as_frame, listed

if TYPE_CHECKING:
    import pandas as pd

Codes = NDArray[np.intp]


@dataclass(frozen=True)
class Subject:
    """A fitted model and rows of known class.

    Attributes
    ----------
    model : LTCNClassifier, LTCNClassifierCV or TabularClassifier
        The fitted model.
    frame : DataFrame of shape (n, n_columns)
        The columns that the model takes, under the names that the report uses.
    labels : array of shape (n,)
        The class of each row, as the model has it.
    codes : int array of shape (n,)
        Its position in `model.classes_`.
    target : str or None
        Name of the classes, where there is one.
    """

    model: Any
    frame: "pd.DataFrame"
    labels: NDArray[Any]
    codes: Codes
    target: str | None

    @property
    def network(self) -> NetworkClassifier:
        """The network: the model itself, or the one that it contains."""
        network: NetworkClassifier = getattr(self.model, "classifier_", self.model)
        return network

    @property
    def is_tabular(self) -> bool:
        """Whether the model takes raw columns."""
        return self.network is not self.model

    @property
    def inputs(self) -> Any:
        """The rows as the model takes them; without names where it was fitted without."""
        return self.frame if hasattr(self.model, "feature_names_in_") else self.frame.to_numpy()

    @property
    def classes(self) -> list[str]:
        """The model's classes as text."""
        return [spelled(label) for label in self.model.classes_]

    @cached_property
    def encoded(self) -> Array:
        """The rows as the network takes them, shape (n, n_features)."""
        if self.is_tabular:
            return np.asarray(self.model.encode(self.inputs), dtype=np.float64)
        return checked_rows(self.model, self.inputs, reset=False)

    @cached_property
    def probability(self) -> Array:
        """The model's class probabilities, shape (n, n_classes)."""
        return np.asarray(self.model.predict_proba(self.inputs))

    @cached_property
    def predicted(self) -> Codes:
        """The class that the model predicts, as a position in `model.classes_`; shape (n,)."""
        codes: Codes = np.searchsorted(self.model.classes_, self.model.predict(self.inputs))
        return codes

    @property
    def used_columns(self) -> list[str]:
        """Columns that the model was to use: all but those that it was told to drop."""
        dropped = {column.name for column in getattr(self.model, "columns_", ()) if column.kind == "dropped"}
        return [name for name in self.frame.columns if name not in dropped]

    def rows(self, chosen: Sequence[int] | Codes) -> Any:
        """Return some rows as the model takes them."""
        given = self.inputs
        return given.iloc[list(chosen)] if hasattr(given, "iloc") else given[list(chosen)]


def subject(model: Any, frame: Any, target: str | ArrayLike) -> Subject:
    """Match a table with a fitted model; `target` is the name of the column of classes, or the classes."""
    if not isinstance(model, NetworkClassifier | TabularClassifier):
        raise TypeError(
            f"A report is about an LTCNClassifier, LTCNClassifierCV or TabularClassifier, not a {type(model).__name__}."
        )
    check_is_fitted(model)
    table, named = as_frame(frame)
    name: str | None = getattr(target, "name", None)
    if isinstance(target, str):
        if target not in table:
            raise ValueError(f"There is no column {target!r}: the table has {listed(list(table.columns))}.")
        name, labels = target, table[target].to_numpy()
        table = table.drop(columns=target)
    else:
        labels = np.asarray(target)
    labels = checked_labels(labels)
    if len(labels) != len(table):
        raise ValueError(f"The table has {len(table)} rows and the target has {len(labels)}: give one class for each.")
    codes = class_codes(labels, model.classes_)
    # The model's own labels: a file may hold 1 where the model knows "1".
    return Subject(
        model, _columns(model, table, named), model.classes_[codes], codes, None if name is None else str(name)
    )


def _columns(model: Any, table: "pd.DataFrame", named: bool) -> "pd.DataFrame":
    """Return the columns that the model takes, in its order; those that it does not know are left out."""
    if not named or not hasattr(model, "feature_names_in_"):
        if table.shape[1] != model.n_features_in_:
            raise ValueError(f"The table has {table.shape[1]} columns, and the model takes {model.n_features_in_}.")
        return table.set_axis(feature_names(model), axis=1) if not named else table
    unused = {column.name for column in getattr(model, "columns_", ()) if not column.needed}
    names = [str(name) for name in model.feature_names_in_]
    lacking = [name for name in names if name not in table and name not in unused]
    if lacking:
        raise ValueError(f"The table lacks {listed(lacking)}: give the columns that the model was fitted on, by name.")
    return table[[name for name in names if name in table]]


def spread(count: int, limit: int) -> Codes:
    """Return at most `limit` of the positions 0 … count − 1, spread over all of them."""
    return np.unique(np.linspace(0, count - 1, min(count, limit)).round().astype(np.intp))
