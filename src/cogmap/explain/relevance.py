"""Global relevance of a fitted classifier's features: the three kinds, bootstrap intervals, and correlated blocks.

By the model it is the mean size of the evidence that `explain` finds for each feature, so that both are one quantity.

Easy to get wrong: means over rows need rows. Without X they are those that the model kept of its training rows. And one
computation for all who ask: the result for kept rows is remembered, and a new fit must make it forgotten.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from ..core.decision.decision import evidence_directions
from ..core.explain.relevance import (
    KINDS,
    Interval,
    correlated_groups,
    over_classes,
    paper_relevance,
    paper_relevance_of_classes,
    pattern,
    percentiles,
    resamples,
    row_means,
    weights_cancel,
)
from ..core.readout.states import UNTRUSTWORTHY_CONDITION, StateReadout
from ..core.types import Array
from ..errors import IllConditionedWarning, UnreliableRelevanceWarning
from ..estimators.base import NetworkClassifier
from ..intake.checks import checked_rows
from .evidence import Groups, attribute, n_other_rows, scaled_features, scores_of, single_features, spread_rows

SCORES, LEAST_ROWS, MOST_ROWS = 2**16, 16, 256
"""Scores that relevance by the model may take, and how many rows it is the mean over at least and at most.

So many scores are 256 rows of two features, 73 of 13, 33 of 30. On wine and breast cancer, shares from 32 rows differ
by at most .012 from those of 128 or 256.
"""


class GroupedRelevance(NamedTuple):
    """Names of the groups, the features of each, and relevance of shape (n_groups,) or (n_classes, n_groups)."""

    names: list[str]
    features: list[list[str]]
    relevance: Array


def relevance(estimator: NetworkClassifier, X: ArrayLike | None, kind: str, per_class: bool) -> Array:
    """See `NetworkClassifier.relevance`."""
    check_kind(kind)
    check_is_fitted(estimator)
    warn_if_unreliable(estimator, kind)
    if kind == "paper":
        return _paper(estimator, per_class)
    return _of_groups(estimator, X, kind, per_class, single_features(estimator))


def importances(estimator: NetworkClassifier) -> Array:
    """Return the kind "model" from the kept rows, divided by its sum."""
    check_is_fitted(estimator)
    found = _of_groups(estimator, None, "model", False, single_features(estimator))
    normalised: Array = found / (found.sum() or 1.0)
    return normalised


def relevance_intervals(
    estimator: NetworkClassifier,
    X: ArrayLike,
    y: ArrayLike | None,
    kind: str,
    per_class: bool,
    n_bootstrap: int,
    level: float,
    random_state: int,
) -> Interval:
    """See `NetworkClassifier.relevance_intervals`."""
    check_kind(kind)
    check_is_fitted(estimator)
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must be a number between 0 and 1, such as 0.95.")
    if n_bootstrap < 1:
        raise ValueError(f"n_bootstrap={n_bootstrap!r} must be 1 or larger.")
    if kind == "paper" and y is None:
        raise ValueError("kind='paper' depends on the weights alone: give y too, so that each resample is refitted.")
    warn_if_unreliable(estimator, kind)
    rng = np.random.default_rng(random_state)
    if y is not None:
        return _refitted(estimator, X, y, kind, per_class, n_bootstrap, level, rng)
    rows, weight = _rows(estimator, X)
    groups = single_features(estimator)
    if kind == "model":
        rows, weight = _some(rows, weight, n_rows(estimator, groups))
    weights = np.vstack([weight, resamples(weight, n_bootstrap, rng)])
    found = _resampled(estimator, rows, weights, kind, per_class, groups)
    return percentiles(found[0], found[1:], level)


def grouped_relevance(
    estimator: NetworkClassifier,
    X: ArrayLike | None,
    groups: str | Mapping[str, Sequence[str]],
    kind: str,
    per_class: bool,
    threshold: float,
) -> GroupedRelevance:
    """See `NetworkClassifier.grouped_relevance`."""
    check_kind(kind)
    check_is_fitted(estimator)
    if kind == "paper":
        raise ValueError("kind='paper' has no joint relevance of a group: use kind='model' or kind='data'.")
    warn_if_unreliable(estimator, kind)
    rows, _ = _rows(estimator, X)
    names = estimator._feature_names()
    found = _auto_groups(estimator, rows, names, threshold) if groups == "auto" else _named_groups(groups, names)
    values = _of_groups(estimator, X, kind, per_class, list(found.values()))
    return GroupedRelevance(list(found), [[names[j] for j in group] for group in found.values()], values)


def check_kind(kind: str) -> None:
    """Refuse a kind that is not there."""
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is unknown: use one of {', '.join(map(repr, KINDS))}.")


def warn_if_unreliable(estimator: NetworkClassifier, kind: str) -> None:
    """Warn where a kind says little about the decision: weights that cancel, or scores that rounding decides."""
    rounded = any(isinstance(model.readout, StateReadout) for model, _ in estimator._members)
    if kind == "paper" and weights_cancel(estimator.outer_weights_):
        largest = float(np.abs(estimator.outer_weights_).max())
        message = (
            f"The paper's relevance adds up outer weights that cancel each other (the largest is {largest:.1e}): it "
            "says little about the decision. Use kind='model' or kind='data'."
        )
    elif rounded and estimator.condition_ > UNTRUSTWORTHY_CONDITION:
        message = (
            f"The readout's condition number is {estimator.condition_:.1e}, so rounding decides part of the scores "
            "and of the evidence and relevance of features. Use alpha='loo', or fewer iterations."
        )
    else:
        return
    warnings.warn(message, UnreliableRelevanceWarning, stacklevel=4)


def _rows(estimator: NetworkClassifier, X: ArrayLike | None) -> tuple[Array, Array]:
    """Return checked rows and their weights; without X those that the model kept."""
    if X is None:
        return estimator._summary.rows, estimator._summary.weight
    rows = checked_rows(estimator, X, reset=False)
    return rows, np.ones(len(rows))


def _paper(estimator: NetworkClassifier, per_class: bool) -> Array:
    function = paper_relevance_of_classes if per_class else paper_relevance
    concepts = function(estimator.inner_weights_, estimator.outer_weights_)
    feature = np.concatenate([model.concepts.feature for model in estimator._networks])
    belongs = feature[:, None] == np.arange(estimator.n_features_in_)
    return concepts @ belongs.astype(np.float64)


def _of_groups(estimator: NetworkClassifier, X: ArrayLike | None, kind: str, per_class: bool, groups: Groups) -> Array:
    """Return the relevance of groups of features by the model or the data, shape (G,), or (N, G) for each class."""
    if X is None and kind == "model":
        found = _remembered(estimator, groups)
        return found.copy() if per_class else over_classes(found, estimator._summary.shares)
    rows, weight = _rows(estimator, X)
    if kind == "model":
        rows, weight = _some(rows, weight, n_rows(estimator, groups))
    return _resampled(estimator, rows, weight[None], kind, per_class, groups)[0]


def n_rows(estimator: NetworkClassifier, groups: Groups) -> int:
    """Return over how many rows relevance by the model is the mean; what is constant in training costs nothing."""
    varies = estimator._networks[0].concepts.varies
    n_groups = sum(bool(varies[group].any()) for group in groups)
    each = 2 * n_other_rows(n_groups) * (n_groups + 1)
    return min(max(SCORES // each, LEAST_ROWS), MOST_ROWS)


def _some(rows: Array, weight: Array, most: int) -> tuple[Array, Array]:
    """Return at most so many rows, spread over all of them, and their weights."""
    chosen = np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(np.intp))
    return rows[chosen], weight[chosen]


def _remembered(estimator: NetworkClassifier, groups: Groups) -> Array:
    """Return relevance by the model over kept rows, shape (N, G): computed once for each fit.

    The fitted parts themselves are kept beside it and compared by identity: whatever replaces one of them, a fit, a
    batch or an edit by hand, makes it forgotten, and a copy or a pickle of the model carries it along.
    """
    fitted = [estimator._members, estimator._constant, estimator._decision, estimator._summary]
    known = estimator.__dict__.get("_known_relevance")
    if known is None or any(one is not other for one, other in zip(known[0], fitted, strict=True)):
        known = estimator._known_relevance = fitted, {}
    key = tuple(tuple(group.tolist()) for group in groups)
    if key not in known[1]:
        rows = spread_rows(estimator, n_rows(estimator, groups))
        known[1][key] = row_means(_sizes(estimator, rows, groups), np.ones((1, len(rows))))[0].T
    found: Array = known[1][key]
    return found


def _resampled(
    estimator: NetworkClassifier, rows: Array, weights: Array, kind: str, per_class: bool, groups: Groups
) -> Array:
    """Return relevance for each line of weights, shape (B, G), or (B, N, G) for each class."""
    shares = estimator._summary.shares
    if kind == "data":
        evidence = scores_of(estimator, rows) @ evidence_directions(len(shares))
        found = pattern(scaled_features(estimator, rows), evidence, weights, groups)
        return found if per_class else over_classes(found, shares)
    means = row_means(_sizes(estimator, rows, groups), weights).transpose(0, 2, 1)
    return means if per_class else over_classes(means, shares)


def _sizes(estimator: NetworkClassifier, rows: Array, groups: Groups) -> Array:
    """Return the size of the evidence that each group of features adds for each class, shape (n, G, N)."""
    directions = evidence_directions(len(estimator.classes_))
    values, _ = attribute(estimator, rows, scores_of(estimator, rows), directions, groups, None)
    return np.abs(values)


def _refitted(
    estimator: NetworkClassifier,
    X: ArrayLike,
    y: ArrayLike,
    kind: str,
    per_class: bool,
    n_bootstrap: int,
    level: float,
    rng: np.random.Generator,
) -> Interval:
    """Refit the estimator on resamples of each class's rows, so that none loses a class."""
    labels = np.asarray(y)
    found = []
    for b in range(n_bootstrap + 1):
        weight = np.ones(len(labels)) if b == 0 else _within_classes(labels, rng)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", IllConditionedWarning)
            model = clone(estimator).fit(X, y, sample_weight=weight)
        if kind == "paper":
            found.append(_paper(model, per_class))
        elif kind == "model":
            found.append(_of_groups(model, None, kind, per_class, single_features(model)))
        else:
            rows = checked_rows(model, X, reset=False)
            found.append(_resampled(model, rows, weight[None], kind, per_class, single_features(model))[0])
    return percentiles(found[0], np.array(found[1:]), level)


def _within_classes(labels: NDArray[Any], rng: np.random.Generator) -> Array:
    weight = np.zeros(len(labels))
    for label in np.unique(labels):
        own = labels == label
        weight[own] = resamples(np.ones(own.sum()), 1, rng)[0]
    return weight


def _auto_groups(
    estimator: NetworkClassifier, rows: Array, names: list[str], threshold: float
) -> dict[str, NDArray[np.intp]]:
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold={threshold!r} must be a correlation above 0 and up to 1.")
    scaled = scaled_features(estimator, rows)
    varies = np.flatnonzero(scaled.max(axis=0) > scaled.min(axis=0))
    correlation = np.atleast_2d(np.corrcoef(scaled[:, varies].T)) if len(varies) else np.empty((0, 0))
    groups = [varies[group] for group in correlated_groups(correlation, threshold)]
    groups += [np.array([j]) for j in range(len(names)) if j not in varies]
    groups.sort(key=lambda group: int(group[0]))
    return {" + ".join(names[j] for j in group): group for group in groups}


def _named_groups(groups: str | Mapping[str, Sequence[str]], names: list[str]) -> dict[str, NDArray[np.intp]]:
    """Return the features of each group; a feature that is in none is a group of its own."""
    if isinstance(groups, str):
        raise ValueError(f"groups={groups!r} is unknown: use 'auto', or a dict of feature names for each group.")
    position = {name: j for j, name in enumerate(names)}
    found: dict[str, NDArray[np.intp]] = {}
    seen: dict[str, str] = {}
    for group, members in groups.items():
        for name in members:
            if name not in position:
                raise ValueError(f"Group {group!r} has the unknown feature {name!r}: the features are {names}.")
            if name in seen:
                raise ValueError(f"Feature {name!r} is in the groups {seen[name]!r} and {group!r}: leave it in one.")
            seen[name] = group
        found[group] = np.array([position[name] for name in members], dtype=np.intp)
    return found | {name: np.array([j]) for name, j in position.items() if name not in seen}
