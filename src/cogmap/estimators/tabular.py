"""TabularClassifier: from a raw table with text and missing values to a network, in one estimator.

Easy to get wrong: columns are matched by name, never by position, and the same value must be encoded the same way
whatever else is in the batch. So everything is learned in `fit` and kept in `columns_`.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import Tags, get_tags
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from ..core.network.dynamics import Dynamics
from ..core.types import Array
from ..knowledge import Knowledge
from ..quality.comparison import Comparison, compare
from ..tables.columns import Column, encoded, unique_concepts
from ..tables.description import describe_table
from ..tables.frames import as_frame, check_lists
from ..tables.knowledge import by_concept
from ..tables.reading import Declared
from .base import NetworkClassifier
from .tabular_explaining import ExplainableTable
from .tuned import LTCNClassifierCV

if TYPE_CHECKING:
    import pandas as pd


class TabularClassifier(ExplainableTable, ClassifierMixin, BaseEstimator):
    """Long-Term Cognitive Network classifier for raw tables: numbers, text, dates, true and false, missing values.

    Each column becomes numbers under names that can be read, and a network is fitted to them. Categories become one
    concept for each value ("colour = red"); of two values, the rarer one has the concept. Dates become those of year,
    month, weekday, hour and days since the first that vary ("sold: month"). Numbers may be text, such as "$1,234.50" or
    "12 %". Missing values become the median or the most frequent value; where at least 1 % are missing, "age is
    missing" is a concept too. Constant columns are not used. Identifiers and free text raise one error that names all
    such columns, unless they are listed.

    Parameters
    ----------
    classifier : LTCNClassifier or LTCNClassifierCV, default=None
        The network, unfitted. None is ``LTCNClassifierCV()``.
    categorical : sequence of str, default=()
        Columns that are categories although they hold numbers or look like identifiers or free text.
    numeric : sequence of str, default=()
        Columns that are numbers although they look like identifiers.
    drop : sequence of str, default=()
        Columns to leave out.
    max_categories : int, default=20
        Most concepts of one category; rarer values then share one, "colour = other". 2 or larger.
    drop_unusable : bool, default=False
        Leave out columns that cannot be used, rather than raise an error; `columns_` says why.

    Attributes
    ----------
    classifier_ : LTCNClassifier or LTCNClassifierCV
        The fitted network; its features are the concepts of the columns.
    columns_ : tuple of Column
        What each column of X means: kind, categories, what fills a missing value.
    classes_ : array of shape (n_classes,)
        Class labels.
    n_features_in_ : int
        Number of columns of X.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, where X had names.
    fitted_ : Fitted
        The whole fitted state of the network as one frozen value.
    target_name_ : str or None
        Name of y, where it had one.
    feature_importances_ : array of shape (n_features_in_,)
        Relevance of each column, that of all its concepts together; sums to 1.

    Notes
    -----
    A category that `fit` did not see counts as "other" where the column has that concept. Otherwise it is 0 in all of
    the column's concepts: none of the known values, or, where there are two, the more frequent one. Either way an
    `UnseenValueWarning` names it.

    Examples
    --------
    >>> import pandas as pd
    >>> from cogmap import TabularClassifier
    >>> X = pd.DataFrame({"colour": ["red", "blue", "green", None] * 9, "size": [1, 2, None, 4] * 9})
    >>> y = pd.Series(["a", "b", "b", "a"] * 9, name="kind")
    >>> clf = TabularClassifier().fit(X, y)
    >>> clf.encode(X).columns.tolist()
    ['colour = blue', 'colour = green', 'colour = red', 'colour is missing', 'size', 'size is missing']
    >>> clf.predict(pd.DataFrame({"size": [2.0], "colour": ["blue"]}))
    array(['b'], dtype=object)
    """

    classes_: NDArray[Any]
    n_features_in_: int

    def __init__(
        self,
        classifier: NetworkClassifier | None = None,
        *,
        categorical: Sequence[str] = (),
        numeric: Sequence[str] = (),
        drop: Sequence[str] = (),
        max_categories: int = 20,
        drop_unusable: bool = False,
    ) -> None:
        self.classifier = classifier
        self.categorical = categorical
        self.numeric = numeric
        self.drop = drop
        self.max_categories = max_categories
        self.drop_unusable = drop_unusable

    def set_params(self, **params: Any) -> Self:
        """Set parameters; those of the network as ``classifier__phi``, also while `classifier` is None."""
        if self.classifier is None and any(name.startswith("classifier__") for name in params):
            self.classifier = LTCNClassifierCV()
        super().set_params(**params)
        return self

    def fit(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Learn what the columns mean, then fit the network to them.

        Parameters
        ----------
        X : DataFrame of pandas or polars, or array-like, of shape (n_samples, n_columns)
            Raw columns.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts: 2 equals a repeated row, 0 an absent one.

        Returns
        -------
        TabularClassifier
            This estimator.
        """
        return self._fit_table(X, y, sample_weight, None)

    def fit_columns(
        self, X: Any, y: ArrayLike, columns: Sequence[Column], sample_weight: ArrayLike | None = None
    ) -> Self:
        """Fit to some rows of a table whose columns are known, as `describe` or another model's `columns_` has them.

        Kinds are those of the known columns; which categories there are, and what fills a missing value, follow from
        the rows.

        Parameters
        ----------
        X, y, sample_weight
            As for `fit`.
        columns : sequence of Column
            What the columns of X are.

        Returns
        -------
        TabularClassifier
            This estimator.
        """
        return self._fit_table(X, y, sample_weight, columns)

    def describe(self, X: Any, sample_weight: ArrayLike | None = None) -> tuple[Column, ...]:
        """Return what the columns of a table mean, without fitting a network.

        Parameters
        ----------
        X, sample_weight
            As for `fit`.

        Returns
        -------
        tuple of Column
            Kind, categories, what fills a missing value. One error names all columns that cannot be used; with
            `drop_unusable` they are dropped, and their `note` says why.
        """
        frame, _ = as_frame(X)
        return self._described(frame, _weights(sample_weight, frame), None)

    def _fit_table(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None, known: Sequence[Column] | None) -> Self:
        """Fit; `known` says what the columns are in a table of which X is some rows."""
        frame, named = as_frame(X)
        weight = _weights(sample_weight, frame)
        self.columns_ = self._described(frame, weight, known)
        network = self.unfitted_network(int((weight > 0).sum()))
        self.n_features_in_ = frame.shape[1]
        _set_names(self, frame, named)
        name = getattr(y, "name", None)
        self.target_name_ = None if name is None else str(name)
        self.classifier_ = network.fit(encoded(frame, self.columns_), y, sample_weight=sample_weight)
        self.classes_ = self.classifier_.classes_
        return self

    def check_parameters(self, names: Sequence[str]) -> None:
        """Raise an error where a parameter is not what it may be for a table with columns of these names."""
        check_lists(names, categorical=self.categorical, numeric=self.numeric, drop=self.drop)
        if not (isinstance(self.max_categories, int) and self.max_categories >= 2):
            raise ValueError(f"max_categories={self.max_categories!r} must be a whole number, 2 or larger.")
        if not isinstance(self.drop_unusable, bool):
            raise ValueError(f"drop_unusable={self.drop_unusable!r} must be True or False.")

    def declared(self, names: Sequence[str]) -> list[tuple[str, Declared]]:
        """Return columns beside what the user says that each of them is."""
        lists: tuple[tuple[Declared, Sequence[str]], ...] = (
            ("number", self.numeric),
            ("category", self.categorical),
            ("dropped", self.drop),
        )
        said = {str(name): kind for kind, listed in lists for name in listed}
        return [(name, said.get(name)) for name in names]

    def unfitted_network(self, n_rows: int) -> NetworkClassifier:
        """Return the unfitted network, with statements about columns as those about their concepts."""
        if not unique_concepts(self.columns_):
            raise ValueError(f"No column of X varies (n_samples = {n_rows}): there is nothing to learn from.")
        network: NetworkClassifier = LTCNClassifierCV() if self.classifier is None else clone(self.classifier)
        if network.knowledge:
            network.set_params(knowledge=by_concept(network.knowledge, self.columns_))
        return network

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of each row; shape (n_samples,)."""
        encoded = self.encode(X)
        return self.classifier_.predict(encoded)

    def predict_proba(self, X: Any) -> Array:
        """Return class probabilities; shape (n_samples, n_classes)."""
        encoded = self.encode(X)
        return self.classifier_.predict_proba(encoded)

    def decision_function(self, X: Any) -> Array:
        """Return the score of each class, or for two classes that of the second less that of the first."""
        encoded = self.encode(X)
        return self.classifier_.decision_function(encoded)

    def trajectory(self, X: Any) -> Array:
        """Return the states A⁰ … A^T of each row, shape (n_samples, T + 1, n_concepts)."""
        encoded = self.encode(X)
        return self.classifier_.trajectory(encoded)

    def diagnose(self, X: Any) -> Dynamics:
        """Say for each row whether its trajectory reaches a fixed point or a limit cycle."""
        encoded = self.encode(X)
        return self.classifier_.diagnose(encoded)

    def edit(self, knowledge: Knowledge, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Return a new model, fitted under the statements of this one and these, by names of columns or concepts.

        A statement about "colour" holds for each of "colour = red", "colour = blue" and so on.

        Parameters
        ----------
        knowledge : Knowledge
            What to state beyond that under which this model was fitted; it must not contradict it.
        X, y, sample_weight
            As for `fit`; most often the rows that this model was fitted to.

        Returns
        -------
        TabularClassifier
            The new model.
        """
        check_is_fitted(self)
        stated = self.classifier_.knowledge_ + by_concept(knowledge, self.columns_)
        edited: Self = clone(self).set_params(classifier=clone(self.classifier_).set_params(knowledge=stated))
        return edited.fit_columns(X, y, self.columns_, sample_weight)

    def compare(self, other: "TabularClassifier", X: Any, y: ArrayLike, *, n_folds: int | None = None) -> Comparison:
        """Say what changes from this model to another one, most often an edit of it.

        Parameters
        ----------
        other : TabularClassifier
            A model with the same columns and classes.
        X : DataFrame of shape (n_samples, n_columns)
            Rows to compare the predictions on.
        y : array-like of shape (n_samples,)
            Their class labels.
        n_folds : int, default=None
            Folds of a cross-validation on the rows, in which both models are fitted anew; None: as they are.

        Returns
        -------
        Comparison
            Scores, rows whose class changes, relevance and edges, before (this model) and after (the other).
        """
        return compare(self, other, X, y, n_folds)

    def save(self, path: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None) -> Path:
        """Write the fitted model, columns included, to one file, which `cogmap.load` reads.

        Parameters
        ----------
        path : path-like
            Name of the file, by custom ending in ``.cogmap``; a file of that name is replaced.
        data : path-like, default=None
            The file that the model was fitted on, if it was one: its SHA-256 is kept in the model file.

        Returns
        -------
        Path
            The path.
        """
        from ..files.model import save

        check_is_fitted(self)
        return save(self, path, data=data, check=self.classifier_.check_stored)

    def to_onnx(
        self,
        path: str | os.PathLike[str],
        *,
        opset: int = 13,
        contributions: bool = False,
        dtype: Literal["float32", "float64"] = "float64",
    ) -> Path:
        """Write an ONNX file that takes the raw table: one input of shape (rows, 1) for each needed column, by name.

        Numbers, and true and false as 1 and 0, are of type `dtype`, NaN where missing; "$1,234" is given as 1234. Dates
        are seconds since 1970-01-01 UTC in double precision, or NaN. Categories are text, "1" for the number 1, and ""
        where missing. Outputs, parameters and result are those of `LTCNClassifier.to_onnx`; an output that is called
        like a column has "_" behind its name. The file of ``classifier_.to_onnx`` takes what `encode` returns instead.
        """
        from ..files.onnx import export

        check_is_fitted(self)
        options: dict[str, Any] = {"opset": opset, "contributions": contributions, "dtype": dtype}
        return export(self.fitted_, path, kind=type(self.classifier_).__name__, columns=self.columns_, **options)

    def _described(self, frame: "pd.DataFrame", weight: Array, known: Sequence[Column] | None) -> tuple[Column, ...]:
        """Learn what the columns mean; raise one error for all that cannot be used."""
        if known is None:
            self.check_parameters(list(frame.columns))
        return describe_table(
            frame,
            weight,
            self.declared(list(frame.columns)),
            max_categories=self.max_categories,
            drop_unusable=self.drop_unusable,
            known=known or (),
        )

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.string = True
        tags.input_tags.categorical = True
        tags.classifier_tags = get_tags(self.classifier or LTCNClassifierCV()).classifier_tags
        return tags


def _weights(sample_weight: ArrayLike | None, frame: "pd.DataFrame") -> Array:
    weight: Array = _check_sample_weight(sample_weight, frame, dtype=np.float64, ensure_non_negative=True)
    return weight


def _set_names(estimator: TabularClassifier, frame: "pd.DataFrame", named: bool) -> None:
    if named:
        estimator.feature_names_in_ = frame.columns.to_numpy(dtype=object)
    elif hasattr(estimator, "feature_names_in_"):
        del estimator.feature_names_in_
