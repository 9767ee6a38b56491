"""Local explanations as objects: why these rows got their class, as arrays, frames, text, HTML and `shap.Explanation`.

What is explained is the evidence for each class, in log-odds (`core.decision.evidence_directions`): for two classes the
log-odds themselves, for more the class's log probability less the mean of all. All views add up to it.

Easy to get wrong: the two views answer different questions. The split over concepts and iterations shows *when* in the
reasoning the evidence came about; the attribution to features shows how it differs from that of other rows.
"""

import warnings
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from ..core.decision.decision import evidence_directions
from ..core.explain.contributions import decoded_splits
from ..core.network.dynamics import Dynamics
from ..core.readout.terms import Split
from ..core.types import Array, Codes
from ..estimators.base import NetworkClassifier
from ..intake.checks import checked_rows, module
from .evidence import Groups, attribute, scores_of, single_features
from .flips import Flip, smallest_flips
from .relevance import warn_if_unreliable
from .words import unit


def explain(
    estimator: NetworkClassifier, X: ArrayLike, classes: ArrayLike | None, baseline: ArrayLike | None
) -> "Explanation":
    """See `NetworkClassifier.explain`."""
    check_is_fitted(estimator)
    rows = checked_rows(estimator, X, reset=False)
    return Explanation(
        # A later fit replaces the attributes of the estimator, but not those of its copy.
        estimator=copy(estimator),
        X=rows,
        index=_row_labels(X, len(rows)),
        classes=estimator.classes_[_class_codes(estimator, classes)],
        scores=scores_of(estimator, rows),
        baseline=None if baseline is None else _given_row(estimator, baseline),
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
    """Why rows got their class.

    Attributes
    ----------
    estimator : fitted classifier
        The classifier.
    X : array of shape (n, n_features)
        The rows.
    index : array of shape (n,)
        Their labels: the index of a frame, or 0, 1, ….
    classes : array of shape (n_explained,)
        Labels of the classes that are explained.
    scores : array of shape (n, n_classes)
        Scores of all classes: their softmax is `predict_proba`.
    baseline : array of shape (n_features,) or None
        The row with which rows are compared in the attribution to features, where one was given. Otherwise they are
        compared with training rows that the model kept.
    evidence : array of shape (n, n_explained)
        Evidence for each class, in log-odds (`unit`): for two classes the log-odds of the class against the other one,
        for more its log probability less the mean of all classes'.
    attributions : array of shape (n, n_features, n_explained)
        What each feature adds to the evidence: Shapley values.
    baseline_scores : array of shape (n, n_explained)
        Evidence of the rows that are compared with, in the mean; with `attributions` it adds up to `evidence`.
    splits : list of Split
        The scores as sums over concepts and iterations, one for each member of a stack.
    base : array of shape (n_explained,)
        Evidence that every row has, whatever its concepts.
    cases : array of shape (n, n_explained)
        Evidence that remembered training rows add; 0 without such.
    predicted, runner_up : arrays of shape (n,)
        The class of each row, and the most likely other one.
    stopped_at : int array of shape (n, n_members)
        The iteration at which the gate ended the reasoning of a row, in each member; −1 where it did not.
    trajectory : array of shape (n, n_iter_ + 1, n_concepts)
        States of the rows.
    dynamics : Dynamics
        Whether they reach a fixed point.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import load_iris
    >>> from cogmap import LTCNClassifier
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LTCNClassifier().fit(X, y)
    >>> explanation = clf.explain(X[50:53])
    >>> explanation.unit(1)
    'log-odds of class 1 against the average of all classes'
    >>> log_probability = np.log(clf.predict_proba(X[50:53]))
    >>> evidence = log_probability[:, 1] - log_probability.mean(axis=1)
    >>> bool(np.allclose(explanation.baseline_scores[:, 1] + explanation.attributions[:, :, 1].sum(axis=1), evidence))
    True
    >>> bool(np.allclose(explanation.base[1] + explanation.contributions(1).sum(axis=(1, 2)), evidence))
    True
    """

    estimator: NetworkClassifier = field(repr=False)
    X: Array = field(repr=False)
    index: NDArray[Any] = field(repr=False)
    classes: NDArray[Any]
    scores: Array = field(repr=False)
    baseline: Array | None = field(repr=False)

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
        """The baseline as its reader knows it; None where rows are compared with training rows."""
        return self.baseline

    @property
    def predicted(self) -> NDArray[Any]:
        """The class of each row."""
        return self.estimator.classes_[self._predicted_codes]

    @property
    def runner_up(self) -> NDArray[Any]:
        """The most likely class but for the predicted one."""
        predicted = np.arange(self.scores.shape[1]) == self._predicted_codes[:, None]
        return self.estimator.classes_[np.where(predicted, -np.inf, self.scores).argmax(axis=1)]

    def unit(self, label: Any) -> str:
        """Say in words what the evidence for a class is measured in."""
        return unit(label, self.estimator.classes_)

    @property
    def evidence(self) -> Array:
        """Evidence for each class."""
        return self.scores @ self._directions

    @property
    def stopped_at(self) -> Codes:
        """Where the gate ended the reasoning."""
        return np.stack([part.stopped_at for part in self.splits], axis=1)

    @cached_property
    def splits(self) -> list[Split]:
        """The scores as sums over concepts and iterations."""
        estimator = self.estimator
        offsets = _concept_offsets(estimator)
        return decoded_splits(estimator._members, offsets, estimator._constant, estimator._decision, self.X)

    @property
    def base(self) -> Array:
        """Evidence that every row has."""
        return np.sum([part.base for part in self.splits], axis=0) @ self._directions

    @property
    def cases(self) -> Array:
        """Evidence that remembered rows add."""
        return np.sum([part.cases for part in self.splits], axis=0) @ self._directions

    def contributions(self, label: Any, against: Any = None) -> Array:
        """Return what each concept adds to the evidence for a class at each iteration.

        With `base` and `cases` they add up to the evidence.

        Parameters
        ----------
        label : class label
            Class; any of the classifier's.
        against : class label, default=None
            Another class: contributions are then to the log-odds of the one against the other.

        Returns
        -------
        array of shape (n, n_iter_ + 1, n_concepts)
            Contributions; in the innovations' basis what a concept's change adds beyond all before it.
        """
        shape = (self.estimator.n_iter_ + 1, len(self.estimator.concept_names_))
        direction = self._direction(label, against)
        return np.sum([part.terms(direction, shape) for part in self.splits], axis=0)

    @cached_property
    def _attributed(self) -> tuple[Array, Array]:
        values, start = self._attribute(slice(None), self._directions)
        return values, np.broadcast_to(start, (len(self), len(self.classes)))

    @property
    def attributions(self) -> Array:
        """What each feature adds to the evidence."""
        return self._attributed[0]

    @property
    def baseline_scores(self) -> Array:
        """Evidence of the rows that are compared with, in the mean."""
        return self._attributed[1]

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
            add up to its evidence. Concepts "(base)" and "(cases)" have no iteration.
        """
        from .frames import split_frame

        return split_frame(self)

    def features_frame(self) -> Any:
        """Return the attribution to features as a tidy frame.

        Returns
        -------
        pandas.DataFrame
            Columns ``row``, ``class``, ``feature``, ``value``, ``evidence`` and ``odds_factor`` (what the feature
            multiplies the odds of the class by). The evidence of a row and class adds up; feature "(other rows)" is
            what the rows that are compared with have in the mean.
        """
        from .frames import features_frame

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
            Columns ``resemblance`` (1 for the row itself), ``contribution`` (to the evidence for the predicted
            class), and the features of the case, as far as the scaling tells them apart.
        """
        from .frames import similar_cases

        return similar_cases(self, row, count)

    def to_text(self, row: int = 0, *, count: int = 3, details: bool = False) -> str:
        """Return a paragraph about one row: its class, the evidence for it, and what would change it.

        Parameters
        ----------
        row : int, default=0
            Position of the row.
        count : int, default=3
            Most features to name on either side.
        details : bool, default=False
            Also say when in the reasoning the evidence came about.
        """
        from .text import paragraph

        return paragraph(self, row, count, details)

    def to_shap(self) -> Any:
        """Return the attribution to features for shap's plots.

        Returns
        -------
        shap.Explanation
            Values and base values add up to the evidence. For two classes, both explained, they are of shape
            (n, n_features) and (n,), the log-odds of the second class, which is `decision_function`; otherwise of shape
            (n, n_features, n_explained) and (n, n_explained).
        """
        from .frames import shap_explanation

        return shap_explanation(self)

    def _repr_html_(self) -> str:
        from .html import explained_rows

        return explained_rows(self)

    @property
    def _groups(self) -> Groups:
        """The features of the network that belong to each feature of the explanation."""
        return single_features(self.estimator)

    @property
    def _directions(self) -> Array:
        """What takes scores to evidence for the classes explained, shape (n_classes, n_explained)."""
        directions = evidence_directions(len(self.estimator.classes_))
        return directions[:, _class_codes(self.estimator, self.classes)]

    @property
    def _predicted_codes(self) -> Codes:
        return self.estimator._decision.codes(self.scores)

    def _direction(self, label: Any, against: Any = None) -> Array:
        """Return the weights that take all scores to the evidence for one class, shape (n_classes,)."""
        first = class_code(self.estimator, label)
        if against is None:
            return evidence_directions(len(self.estimator.classes_))[:, first]
        unit = np.eye(len(self.estimator.classes_))
        return unit[first] - unit[class_code(self.estimator, against)]

    def _reasons(self, row: int) -> tuple[Array, float]:
        """Return what each feature adds to the evidence for the predicted class of one row, and where that begins."""
        label = self.predicted[row]
        explained = np.flatnonzero(self.classes == label)
        # All rows at once cost as much for each of them: one that is asked for alone is computed alone.
        if "_attributed" in self.__dict__ and len(explained):
            return self.attributions[row, :, explained[0]], float(self.baseline_scores[row, explained[0]])
        values, start = self._attribute(slice(row, row + 1), self._direction(label)[:, None])
        return values[0, :, 0], float(start[0])

    def _attribute(self, rows: slice, directions: Array) -> tuple[Array, Array]:
        warn_if_unreliable(self.estimator, "model")
        return attribute(self.estimator, self.X[rows], self.scores[rows], directions, self._groups, self.baseline)

    def _flips(self, rows: Codes) -> list[Flip | None]:
        return smallest_flips(self.estimator, self.X[rows])
