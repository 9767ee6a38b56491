"""Local explanations as objects: why these rows got these scores, as arrays, frames, text and `shap.Explanation`.

Easy to get wrong: the two views answer different questions. The split over concepts and iterations shows *when* in the
reasoning the score came about; the attribution to features shows how it differs from that of the baseline.
"""

import warnings
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from .core.activation import Array
from .core.attribution import ROUNDED, Accuracy, added_up, attribute_members
from .core.contributions import Codes, Split, decoded_splits
from .core.dynamics import Dynamics
from .core.relevance import feature_sums
from .estimator import NetworkClassifier
from .flips import Flip, smallest_flips
from .validation import checked_rows, module
from .warnings import UnreliableRelevanceWarning


def explain(
    estimator: NetworkClassifier, X: ArrayLike, classes: ArrayLike | None, baseline: ArrayLike | None
) -> "Explanation":
    """See `NetworkClassifier.explain`."""
    check_is_fitted(estimator)
    rows = checked_rows(estimator, X, reset=False)
    codes = _class_codes(estimator, classes)
    offsets = _concept_offsets(estimator)
    splits = decoded_splits(estimator._members, offsets, estimator._constant, estimator._decision, rows)
    return Explanation(
        # A later fit replaces the attributes of the estimator, but not those of its copy.
        estimator=copy(estimator),
        X=rows,
        index=_row_labels(X, len(rows)),
        classes=estimator.classes_[codes],
        scores=estimator._decision(estimator._raw(rows)),
        splits=splits,
        baseline=_typical_row(estimator) if baseline is None else _given_row(estimator, baseline),
    )


def _class_codes(estimator: NetworkClassifier, classes: ArrayLike | None) -> Codes:
    if classes is None:
        return np.arange(len(estimator.classes_))
    labels = np.atleast_1d(np.asarray(classes)).tolist()
    return np.array([class_code(estimator, label) for label in labels], dtype=np.intp)


def class_code(estimator: NetworkClassifier, label: Any) -> int:
    """Return the position of a class label."""
    found = np.flatnonzero(estimator.classes_ == label)
    if len(found) == 0:
        raise ValueError(f"Class {label!r} is unknown: the classes are {estimator.classes_.tolist()}.")
    return int(found[0])


def _row_labels(X: Any, n: int) -> NDArray[Any]:
    index = getattr(X, "index", None)
    return np.arange(n) if index is None or callable(index) else np.asarray(index)


def _concept_offsets(estimator: NetworkClassifier) -> list[int]:
    """Return where the concepts of each member begin; members may share a network."""
    sizes = [len(model.network.bias) for model in estimator._networks]
    starts = {id(model.network): sum(sizes[:i]) for i, model in enumerate(estimator._networks)}
    return [starts[id(model.network)] for model, _ in estimator._members]


def _typical_row(estimator: NetworkClassifier) -> Array:
    """Return the one of the training rows kept that is nearest to their mean, each concept in units of its spread."""
    rows, weight = estimator._summary.rows, estimator._summary.weight
    initial = estimator._networks[0].concepts(rows)
    squared = (initial - weight @ initial / weight.sum()) ** 2
    variance = weight @ squared / weight.sum()
    typical: Array = rows[(squared / np.where(variance > 0, variance, 1.0)).sum(axis=1).argmin()]
    return typical


def _given_row(estimator: NetworkClassifier, baseline: ArrayLike) -> Array:
    table = baseline if getattr(baseline, "ndim", 0) == 2 else np.asarray(baseline, dtype=np.float64).reshape(1, -1)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="X does not have valid feature names")
        rows = checked_rows(estimator, table, reset=False)
    if len(rows) != 1:
        raise ValueError(f"baseline has {len(rows)} rows: give one.")
    return rows[0]


@dataclass(frozen=True)
class Explanation:
    """Why rows got their scores.

    Attributes
    ----------
    estimator : fitted classifier
        The classifier.
    X : array of shape (n, n_features)
        The rows.
    index : array of shape (n,)
        Their labels: the index of a frame, or 0, 1, ….
    classes : array of shape (n_explained,)
        Labels of the classes whose scores are explained.
    scores : array of shape (n, n_classes)
        Scores of all classes, as they decide.
    splits : list of Split
        The scores as sums over concepts and iterations, one for each member of a stack.
    baseline : array of shape (n_features,)
        The row with which rows are compared in the attribution to features.
    predicted, runner_up : arrays of shape (n,)
        The class with the largest score, and the one with the next.
    stopped_at : int array of shape (n, n_members)
        The iteration at which the gate ended the reasoning of a row, in each member; −1 where it did not.
    base : array of shape (n_explained,)
        What every row gets, whatever its concepts.
    cases : array of shape (n, n_explained)
        What remembered training rows add; 0 without such.
    attributions : array of shape (n, n_features, n_explained)
        What each feature adds to the score of the baseline.
    baseline_scores : array of shape (n, n_explained)
        Scores of the baseline, with the gate of each row.
    rounding : float
        The largest part of a score, as a share of the largest score, that was missing in the sum of the attributions.
        Up to 1e-6 is rounding of the score and was shared out in proportion to their sizes.
    trajectory : array of shape (n, n_iter_ + 1, n_concepts)
        States of the rows.
    dynamics : Dynamics
        Whether they reach a fixed point.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cogmap import LTCNClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> explanation = LTCNClassifier().fit(X, y).explain(X[:3])
    >>> explanation.contributions(0).shape
    (3, 10, 4)
    >>> total = explanation.base[0] + explanation.contributions(0).sum(axis=(1, 2))
    >>> bool(abs(total - explanation.scores[:, 0]).max() < 1e-10 * abs(total).max())
    True
    """

    estimator: NetworkClassifier = field(repr=False)
    X: Array = field(repr=False)
    index: NDArray[Any] = field(repr=False)
    classes: NDArray[Any]
    scores: Array = field(repr=False)
    splits: list[Split] = field(repr=False)
    baseline: Array = field(repr=False)

    def __len__(self) -> int:
        return len(self.X)

    @property
    def feature_names(self) -> list[str]:
        """Names of the features."""
        return self.estimator._feature_names()

    @property
    def values(self) -> NDArray[Any]:
        """The rows as their reader knows them, shape (n, n_features)."""
        return self.X

    @property
    def baseline_values(self) -> NDArray[Any] | None:
        """The baseline as its reader knows it; None where rows are compared with many."""
        return self.baseline

    @property
    def predicted(self) -> NDArray[Any]:
        """The class of each row."""
        return self.estimator.classes_[self.scores.argmax(axis=1)]

    @property
    def runner_up(self) -> NDArray[Any]:
        """The class with the next largest score."""
        winner = np.arange(self.scores.shape[1]) == self.scores.argmax(axis=1)[:, None]
        return self.estimator.classes_[np.where(winner, -np.inf, self.scores).argmax(axis=1)]

    @property
    def stopped_at(self) -> Codes:
        """Where the gate ended the reasoning."""
        return np.stack([part.stopped_at for part in self.splits], axis=1)

    @property
    def base(self) -> Array:
        """What every row gets."""
        return np.sum([part.base for part in self.splits], axis=0)[self._codes]

    @property
    def cases(self) -> Array:
        """What remembered rows add."""
        return np.sum([part.cases for part in self.splits], axis=0)[:, self._codes]

    def contributions(self, label: Any, against: Any = None) -> Array:
        """Return what each concept adds to the score of a class at each iteration.

        With `base` and `cases` they add up to the score.

        Parameters
        ----------
        label : class label
            Class; any of the classifier's.
        against : class label, default=None
            Another class: contributions are then to the difference of the two scores.

        Returns
        -------
        array of shape (n, n_iter_ + 1, n_concepts)
            Contributions; in the innovations' basis what a concept's change adds beyond all before it.
        """
        shape = (self.estimator.n_iter_ + 1, len(self.estimator.concept_names_))
        direction = self._direction(label, against)
        return np.sum([part.terms(direction, shape) for part in self.splits], axis=0)

    @cached_property
    def _attributed(self) -> tuple[Array, Array, float]:
        return self._attribute(np.arange(len(self)), np.eye(len(self.estimator.classes_))[:, self._codes])

    @property
    def attributions(self) -> Array:
        """What each feature adds to the score of the baseline."""
        return self._attributed[0]

    @property
    def baseline_scores(self) -> Array:
        """Scores of the baseline."""
        return self._attributed[1]

    @property
    def rounding(self) -> float:
        """What was missing in the sum of the attributions."""
        return self._attributed[2]

    @cached_property
    def trajectory(self) -> Array:
        """States of the rows."""
        return np.concatenate([m.states(self.X, self.estimator.n_iter_) for m in self.estimator._networks], axis=2)

    @cached_property
    def dynamics(self) -> Dynamics:
        """Whether trajectories reach a fixed point."""
        return self.estimator._diagnosed(self.X)

    def flips(self, rows: ArrayLike | None = None) -> Any:
        """Return the smallest change of one feature that changes the class of a row, where there is one.

        Changes stay within the training range, and features with few different values take these only. The smallest is
        that in the space to which features are scaled.

        Parameters
        ----------
        rows : int array, default=None
            Positions of the rows to look at; all by default.

        Returns
        -------
        pandas.DataFrame
            Columns ``row``, ``feature``, ``from``, ``to``, ``class``, ``new_class`` and ``scaled_change``, one line for
            each row that has such a change.
        """
        pandas = module("pandas", "explain")
        chosen = np.arange(len(self)) if rows is None else np.atleast_1d(np.asarray(rows, dtype=np.intp))
        names, found = self.feature_names, self._flips(chosen)
        columns = ["row", "feature", "from", "to", "class", "new_class", "scaled_change"]
        lines = [
            (self.index[i], names[f.feature], self.values[i, f.feature], f.value, self.predicted[i], f.label, f.change)
            for i, f in zip(chosen, found, strict=True)
            if f is not None
        ]
        return pandas.DataFrame(lines, columns=columns)

    def to_frame(self) -> Any:
        """Return the split over concepts and iterations as a tidy frame.

        Returns
        -------
        pandas.DataFrame
            Columns ``row``, ``class``, ``concept``, ``iteration`` and ``contribution``; the lines of a row and class
            add up to the score. Concepts "(base)" and "(cases)" have no iteration.
        """
        from .explanation_tables import split_frame

        return split_frame(self)

    def features_frame(self) -> Any:
        """Return the attribution to features as a tidy frame.

        Returns
        -------
        pandas.DataFrame
            Columns ``row``, ``class``, ``feature``, ``value`` and ``attribution``.
        """
        from .explanation_tables import features_frame

        return features_frame(self)

    def similar_cases(self, row: int = 0, *, count: int = 5) -> Any:
        """Return the remembered training rows that say most about one row.

        Parameters
        ----------
        row : int, default=0
            Position of the row.
        count : int, default=5
            Number of cases.

        Returns
        -------
        pandas.DataFrame
            Columns ``resemblance`` (1 for the row itself), ``contribution`` (to the margin of the predicted class over
            the runner-up), and the features of the case, as far as the scaling tells them apart.
        """
        from .explanation_tables import similar_cases

        return similar_cases(self, row, count)

    def to_text(self, row: int = 0, *, count: int = 3) -> str:
        """Return a paragraph about one row, for a reader who knows the data.

        Parameters
        ----------
        row : int, default=0
            Position of the row.
        count : int, default=3
            Most features to name on either side.
        """
        from .explanation_text import paragraph

        return paragraph(self, row, count)

    def to_shap(self) -> Any:
        """Return the attribution to features for shap's plots.

        Returns
        -------
        shap.Explanation
            Values and base values add up to the scores. For two classes, both explained, they are of shape
            (n, n_features) and (n,) and add up to `decision_function`; otherwise of shape
            (n, n_features, n_explained) and (n, n_explained).
        """
        from .explanation_tables import shap_explanation

        return shap_explanation(self)

    @property
    def _codes(self) -> Codes:
        return _class_codes(self.estimator, self.classes)

    def _direction(self, label: Any, against: Any = None) -> Array:
        """Return the weights that take all scores to the explained one, shape (n_classes,)."""
        unit = np.eye(len(self.estimator.classes_))
        found = unit[class_code(self.estimator, label)]
        return found if against is None else found - unit[class_code(self.estimator, against)]

    def _attribute(self, rows: Codes, directions: Array) -> tuple[Array, Array, float]:
        """Attribute scores · `directions`, (n_classes, K), of some rows; see `attributions` and what follows it."""
        members, decision = self.estimator._members, self.estimator._decision
        largest = float(np.abs(self.scores).max(initial=0.0))
        baselines = np.tile(self.baseline, (len(rows), 1))
        found = attribute_members(members, decision, self.X[rows], directions, baselines, Accuracy(largest))
        n_features = self.X.shape[1]
        values = np.zeros((len(rows), n_features, directions.shape[1]))
        start = np.sum([part.base for part in self.splits], axis=0) @ directions
        for (model, _), part in zip(members, found, strict=True):
            values += feature_sums(part.values, model.concepts.feature, n_features)
            start = start + part.baseline
        difference = self.scores[rows] @ directions - start
        missing = float(np.abs(difference - values.sum(axis=1)).max(initial=0.0)) / (largest or 1.0)
        if missing > ROUNDED:
            warnings.warn(
                f"Attributions to features do not add up: {missing:.1e} of the largest score is missing. Either the "
                f"reasoning is irregular (inner weights of norm {self._inner_norm:.1f}), or rounding decides the score "
                f"(condition number {self.estimator.condition_:.1e}). Use inner='slopes' or 'stable-regression', "
                "alpha='loo', or fewer iterations.",
                UnreliableRelevanceWarning,
                stacklevel=5,
            )
        return added_up(values, difference, ROUNDED * largest), np.broadcast_to(start, difference.shape), missing

    @property
    def _is_typical(self) -> bool:
        return np.array_equal(self.baseline, _typical_row(self.estimator))

    @property
    def _inner_norm(self) -> float:
        return float(np.linalg.norm(self.estimator.inner_weights_, 2))

    def _flips(self, rows: Codes) -> list[Flip | None]:
        return smallest_flips(self.estimator, self.X[rows])
