"""What the classifiers share: scores, classes, probabilities, and the view of their networks as one."""

import os
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from ..core.decision.decision import Decision
from ..core.fit.fitted import Fitted, Member, distinct_networks, named_concepts, probabilities
from ..core.fit.model import Settings, Summary
from ..core.network.dynamics import Dynamics
from ..core.sums.rows import Rows
from ..core.sums.sources import Source
from ..core.sums.space import NUMPY
from ..core.sums.statistics import Range
from ..core.types import Array
from ..errors import ModelFileError, NoInformationWarning
from ..intake.arrays import labels_of, on_host, space_of
from ..intake.checks import checked_array, checked_rows, feature_names
from ..knowledge import Knowledge
from ..knowledge.edges import checked_knowledge
from ..quality.comparison import Comparison, compare
from .explaining import Explainable

MOST_ITERATIONS = 10**6
"""Most iterations that a model in a file may allow; `diagnose` follows far fewer."""


class NetworkClassifier(Explainable, ClassifierMixin, BaseEstimator):
    """A classifier whose fitted state is one value, `fitted_`: networks, seen as one with block-diagonal inner weights.

    Counting the training rows sets `classes_`, `class_count_` and `knowledge_` (`fitting`). Every fit of a subclass
    ends by setting `fitted_`, and the attributes that show the network follow from it.
    """

    classes_: NDArray[Any]
    class_count_: Array
    n_features_in_: int
    feature_names_in_: NDArray[Any]
    class_weight: Any
    knowledge: Knowledge | None
    knowledge_: Knowledge
    decision: str
    decision_metric: str
    tol: float

    @property
    def n_iter_(self) -> int:
        """Number of iterations in use."""
        return self.fitted_.n_iter

    @property
    def concept_names_(self) -> NDArray[Any]:
        """Names of the concepts."""
        return self.fitted_.concept_names

    @property
    def inner_weights_(self) -> Array:
        """Inner weights W of all networks as one."""
        return self.fitted_.inner_weights

    @property
    def inner_bias_(self) -> Array:
        """Inner bias b of all networks as one."""
        return self.fitted_.inner_bias

    @property
    def outer_weights_(self) -> Array:
        """Outer weights R of all networks as one."""
        return self.fitted_.outer_weights

    @property
    def outer_bias_(self) -> Array:
        """Outer bias q."""
        return self.fitted_.outer_bias

    @property
    def condition_(self) -> float:
        """Largest factor by which the solution magnifies a rounding error."""
        return self.fitted_.condition

    def decision_function(self, X: ArrayLike) -> Array:
        """Return the score of each class in log-odds; for two classes, that of the second less that of the first.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        array of shape (n_samples, n_classes), or (n_samples,) for two classes
            Scores; their softmax, or logistic function, is the probability. With the default `decision_metric` the
            largest, or the sign, decides the class.
        """
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Return the class of each row; shape (n_samples,).

        It is the most probable one, unless `decision_metric` moves the decision towards another metric.
        """
        scores = self._scores(X)
        if (space := space_of(X)) is not None:
            codes = space.xp.argmax(scores + space.put(self.fitted_.decision.shift), axis=1)
            on_device: NDArray[Any] = labels_of(space, self.classes_, codes)
            return on_device
        labels: NDArray[Any] = self.classes_[self.fitted_.decision.codes(scores)]
        return labels

    def predict_proba(self, X: ArrayLike) -> Array:
        """Return class probabilities; shape (n_samples, n_classes).

        They are the softmax of the scores, calibrated by the least leave-one-out log loss whatever the
        `decision_metric`.
        """
        probability: Array = probabilities(self._scores(X), space_of(X) or NUMPY)
        return probability

    def trajectory(self, X: ArrayLike) -> Array:
        """Return the states A⁰ … of each row, as many as are read: shape (n_samples, n_iter_ + 1, n_concepts).

        Of a stack that reads no iteration these are A⁰ alone, although its ``n_iter_`` is 1.
        """
        check_is_fitted(self)
        return self.fitted_.states(checked_rows(self, X, reset=False))

    def diagnose(self, X: ArrayLike) -> Dynamics:
        """Say for each row whether its trajectory reaches a fixed point or a limit cycle within `max_iter`.

        At most 1000 iterations are followed, and limit cycles of at most 32 states are found.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Rows.

        Returns
        -------
        Dynamics
            The verdict for each row, whether the fixed point is unique, a bound that may prove convergence, and the
            largest Lyapunov exponent of rows that reach neither.
        """
        check_is_fitted(self)
        return self.fitted_.diagnose(checked_rows(self, X, reset=False))

    def save(self, path: str | os.PathLike[str], *, data: str | os.PathLike[str] | None = None) -> Path:
        """Write the fitted model to one file, which `cogmap.load` reads without executing anything in it.

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
        return save(self, path, data=data, check=self.check_stored)

    def edit(self, knowledge: Knowledge, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Return a new model, fitted under the statements of this one and these.

        It has the same class and parameters, but for `knowledge`, and everything is learned anew from the rows under
        the statements, so that it is the model which those statements would have given from the start.
        `LTCNClassifierCV` chooses and stacks its networks anew too. This model stays as it is.

        Parameters
        ----------
        knowledge : Knowledge
            What to state beyond `knowledge_`; it must not contradict it.
        X : array-like of shape (n_samples, n_features)
            Rows, most often those that this model was fitted to.
        y : array-like of shape (n_samples,)
            Class labels.
        sample_weight : array-like of shape (n_samples,), default=None
            How often each row counts.

        Returns
        -------
        NetworkClassifier
            The new model.
        """
        check_is_fitted(self)
        checked_rows(self, X, reset=False)
        added = checked_knowledge(knowledge, feature_names(self))
        edited: Self = clone(self).set_params(knowledge=self.knowledge_ + added)
        edited.fit(X, y, sample_weight=sample_weight)
        return edited

    def compare(
        self, other: "NetworkClassifier", X: ArrayLike, y: ArrayLike, *, n_folds: int | None = None
    ) -> Comparison:
        """Say what changes from this model to another one, most often an edit of it.

        Parameters
        ----------
        other : LTCNClassifier or LTCNClassifierCV
            A model with the same features and classes.
        X : array-like of shape (n_samples, n_features)
            Rows to compare the predictions on. Give `n_folds` where the models were fitted to them.
        y : array-like of shape (n_samples,)
            Their class labels.
        n_folds : int, default=None
            Folds of a cross-validation on the rows, in which both models are fitted anew; fewer where a class has
            fewer rows. None: the models themselves predict the rows.

        Returns
        -------
        Comparison
            Scores, rows whose class changes, relevance and edges, before (this model) and after (the other).
        """
        return compare(self, other, on_host(X), on_host(y), n_folds)

    def to_onnx(
        self,
        path: str | os.PathLike[str],
        *,
        opset: int = 13,
        contributions: bool = False,
        dtype: Literal["float32", "float64"] = "float64",
    ) -> Path:
        """Write the fitted classifier as an ONNX file, which predicts without Python.

        The graph has one input ``X`` of shape (rows, n_features_in_) and the outputs ``label``, ``scores`` (one column
        for each class; `decision_function` for two classes is the second less the first) and ``probabilities``. It
        consists of plain operators and computes in double precision. Needs the extra ``onnx``.

        Parameters
        ----------
        path : str or path-like
            The file to write; one that exists is replaced.
        opset : int, default=13
            Version of the operator set, 13 or later. The graph is the same; an old one is read by more runtimes.
        contributions : bool, default=False
            Also output ``contributions``, shape (rows, n_iter_ + 1, n_concepts, n_classes): what each iteration of each
            concept adds to each score; ``base``, what is added to them; and with cases ``cases``, what these add. Their
            sum is the score.
        dtype : {"float32", "float64"}, default="float64"
            Type of ``X``. The rounding of rows to float32 is all that it costs.

        Returns
        -------
        Path
            The file.

        Examples
        --------
        >>> from pathlib import Path
        >>> from tempfile import TemporaryDirectory
        >>> from sklearn.datasets import load_iris
        >>> from cogmap import LTCNClassifier
        >>> clf = LTCNClassifier().fit(*load_iris(return_X_y=True))
        >>> with TemporaryDirectory() as folder:
        ...     clf.to_onnx(Path(folder) / "iris.onnx").name
        'iris.onnx'
        """
        from ..files.onnx import export

        check_is_fitted(self)
        kind = type(self).__name__
        return export(self.fitted_, path, kind=kind, opset=opset, contributions=contributions, dtype=dtype)

    def check_parameters(self) -> None:
        """Raise an error where a parameter is not what it may be."""
        raise NotImplementedError

    def settings(self, census: Range) -> list[Settings]:
        """Return what the core needs to know of the parameters of every network, given the range of the features."""
        raise NotImplementedError

    def fit_source(self, source: Source[Rows], census: Range, every: Sequence[Settings]) -> None:
        """Fit networks of these settings to rows, wherever they are."""
        raise NotImplementedError

    def check_stored(self) -> None:
        """Raise a `ModelFileError` where no file may hold these parameters."""
        largest = max(np.ravel(self.get_params(deep=False)["max_iter"]).tolist(), default=0)
        if largest > MOST_ITERATIONS:
            raise ModelFileError(f"model.fitted.max_iter must be at most {MOST_ITERATIONS}.")

    def _scores(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        if (space := space_of(X)) is not None:
            on_device: Array = self.fitted_.scores(checked_array(self, space, X, reset=False), space)
            return on_device
        scores: Array = self.fitted_.scores(checked_rows(self, X, reset=False))
        return scores

    def _metric(self) -> str | None:
        """Return what the decision is to be good at; None where the largest raw score decides."""
        return None if self.decision == "argmax" else self.decision_metric

    def _set_fitted(
        self,
        members: tuple[Member, ...],
        constant: Array,
        decision: Decision,
        summary: Summary,
        outer: tuple[Array, Array],
        condition: float,
        longest: int,
        *,
        network_names: tuple[str, ...] = ("",),
        labels: Sequence[str] = ("",),
    ) -> None:
        """Set `fitted_`; `labels` end the names of each network's concepts. Warn where the classes' shares are all."""
        if not decision.informed:
            warnings.warn(
                "Leave-one-out finds nothing in these rows that tells the classes apart: every row gets the classes' "
                "shares as its probabilities. Give more rows, fewer concepts (terms, features), or other features.",
                NoInformationWarning,
                stacklevel=7,
            )
        names, (outer_weights, outer_bias) = tuple(feature_names(self)), outer
        self.fitted_ = Fitted(
            classes=self.classes_,
            feature_names=names,
            members=members,
            constant=constant,
            decision=decision,
            summary=summary,
            network_names=network_names,
            concept_names=named_concepts(distinct_networks(members), names, labels),
            outer_weights=outer_weights,
            outer_bias=outer_bias,
            condition=condition,
            longest=longest,
            tol=self.tol,
        )


@contextmanager
def refused_parameters() -> Iterator[None]:
    """Take the estimator's own judgement of its parameters for that of a file."""
    try:
        yield
    except (TypeError, ValueError) as error:
        raise ModelFileError(f"the estimator refuses its parameters: {str(error)[:300]}") from error
