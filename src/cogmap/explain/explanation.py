"""Local explanations as objects: why these rows got their class, as arrays, frames, text, HTML and `shap.Explanation`.

What is explained is the evidence for each class, in log-odds (`core.decision.decision`): for two classes the
log-odds themselves, for more the class's log probability less the mean of all. All views add up to it.

Easy to get wrong: the two views answer different questions. The split over concepts and iterations shows *when* in the
reasoning the evidence came about; the attribution to features shows how it differs from that of other rows.
"""

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..core.decision.decision import evidence_directions
from ..core.explain.contributions import Split, decoded_splits
from ..core.fit.fitted import Fitted, offsets
from ..core.network.dynamics import Dynamics
from ..core.types import Array, Codes
from ..intake.checks import module
from .evidence import Groups, attribute, single_features
from .flips import Flip, smallest_flips
from .relevance import warn_if_unreliable
from .words import unit


def explain(
    fitted: Fitted, rows: Array, index: NDArray[Any], classes: ArrayLike | None, baseline: Array | None
) -> "Explanation":
    """Explain checked rows; see `NetworkClassifier.explain`."""
    chosen = fitted.classes[_class_codes(fitted, classes)]
    return Explanation(fitted, rows, index, chosen, fitted.scores(rows), baseline)


def _class_codes(fitted: Fitted, classes: ArrayLike | None) -> Codes:
    if classes is None:
        return np.arange(len(fitted.classes))
    labels = np.atleast_1d(np.asarray(classes)).tolist()
    return np.array([class_code(fitted, label) for label in labels], dtype=np.intp)


def class_code(fitted: Fitted, label: Any) -> int:
    """Return the position of a class label."""
    places = np.flatnonzero(fitted.classes == label)
    if len(places) == 0:
        raise ValueError(f"Class {label!r} is unknown: the classes are {fitted.classes.tolist()}.")
    return int(places[0])


def row_labels(X: Any, n: int) -> NDArray[Any]:
    """Return the labels of n rows: the index of a frame, or 0, 1, …."""
    index = getattr(X, "index", None)
    return np.arange(n) if index is None or callable(index) else np.asarray(index)


@dataclass(frozen=True)
class Explanation:
    """Why rows got their class.

    Attributes
    ----------
    fitted : Fitted
        The classifier, as it was when it explained: a later fit does not change it.
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

    fitted: Fitted = field(repr=False)
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
        return list(self.fitted.feature_names)

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
        return self.fitted.classes[self._predicted_codes]

    @property
    def runner_up(self) -> NDArray[Any]:
        """The most likely class but for the predicted one."""
        predicted = np.arange(self.scores.shape[1]) == self._predicted_codes[:, None]
        return cast("NDArray[Any]", self.fitted.classes[np.where(predicted, -np.inf, self.scores).argmax(axis=1)])

    def unit(self, label: Any) -> str:
        """Say in words what the evidence for a class is measured in."""
        return unit(label, self.fitted.classes)

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
        fitted = self.fitted
        places = offsets(fitted.members)
        return decoded_splits(fitted.members, places, fitted.constant, fitted.decision, self.X)

    @property
    def base(self) -> Array:
        """Evidence that every row has."""
        return cast("Array", np.sum([part.base for part in self.splits], axis=0) @ self._directions)

    @property
    def cases(self) -> Array:
        """Evidence that remembered rows add."""
        return cast("Array", np.sum([part.cases for part in self.splits], axis=0) @ self._directions)

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
        shape = self.fitted.outer_weights.shape[:2]
        direction = self.direction(label, against)
        return cast("Array", np.sum([part.terms(direction, shape) for part in self.splits], axis=0))

    def surfaces(self, label: Any, against: Any = None) -> tuple[Codes, Array]:
        """Return what pairs of concepts add together to the evidence for a class.

        It is part of `contributions`, where each of the two concepts has half of it.

        Parameters
        ----------
        label, against : class labels
            As for `contributions`.

        Returns
        -------
        pairs : int array of shape (n_pairs, 2)
            Positions of the two concepts.
        values : array of shape (n, n_pairs)
            What they add.
        """
        found = [part.surfaces(self.direction(label, against)) for part in self.splits]
        return np.concatenate([pairs for pairs, _ in found]), np.hstack([values for _, values in found])

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
        return self.fitted.states(self.X)

    @cached_property
    def dynamics(self) -> Dynamics:
        """Whether trajectories reach a fixed point."""
        return self.fitted.diagnose(self.X)

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
        names, flips = self.feature_names, self.smallest_flips(chosen)
        columns = ["row", "feature", "from", "to", "class", "new_class", "scaled_change"]
        lines = [
            (self.index[i], names[f.feature], self.values[i, f.feature], f.value, self.predicted[i], f.label, f.change)
            for i, f in zip(chosen, flips, strict=True)
            if f is not None
        ]
        return pandas.DataFrame(lines, columns=columns)

    def to_frame(self) -> Any:
        """Return the split over concepts and iterations as a tidy frame.

        Returns
        -------
        pandas.DataFrame
            Columns ``row``, ``class``, ``concept``, ``iteration`` and ``contribution``; the lines of a row and class
            add up to its evidence. Two concepts that add something together have a line, "age and hours". Concepts
            "(base)" and "(cases)" have no iteration.
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
        return single_features(self.fitted)

    @property
    def _directions(self) -> Array:
        """What takes scores to evidence for the classes explained, shape (n_classes, n_explained)."""
        directions = evidence_directions(len(self.fitted.classes))
        return directions[:, _class_codes(self.fitted, self.classes)]

    @property
    def _predicted_codes(self) -> Codes:
        return self.fitted.decision.codes(self.scores)

    def direction(self, label: Any, against: Any = None) -> Array:
        """Return the weights that take all scores to the evidence for one class, shape (n_classes,)."""
        first = class_code(self.fitted, label)
        if against is None:
            return evidence_directions(len(self.fitted.classes))[:, first]
        unit = np.eye(len(self.fitted.classes))
        return cast("Array", unit[first] - unit[class_code(self.fitted, against)])

    def reasons(self, row: int) -> tuple[Array, float]:
        """Return what each feature adds to the evidence for the predicted class of one row, and where that begins."""
        label = self.predicted[row]
        explained = np.flatnonzero(self.classes == label)
        # All rows at once cost as much for each of them: one that is asked for alone is computed alone.
        if "_attributed" in self.__dict__ and len(explained):
            return self.attributions[row, :, explained[0]], float(self.baseline_scores[row, explained[0]])
        values, start = self._attribute(slice(row, row + 1), self.direction(label)[:, None])
        return values[0, :, 0], float(start[0])

    def _attribute(self, rows: slice, directions: Array) -> tuple[Array, Array]:
        warn_if_unreliable(self.fitted, "model")
        return attribute(self.fitted, self.X[rows], self.scores[rows], directions, self._groups, self.baseline)

    def smallest_flips(self, rows: Codes) -> list[Flip | None]:
        """Return the smallest flip of each row at these positions; None where there is none."""
        return smallest_flips(self.fitted, self.X[rows])
