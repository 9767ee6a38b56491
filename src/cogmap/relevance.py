"""Global relevance of a fitted classifier's features: the three kinds, bootstrap intervals, and correlated blocks.

Easy to get wrong: means over rows need rows. Without X they are those that the model kept of its training rows.
"""

import warnings
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.utils.validation import check_is_fitted

from .core.activation import Array
from .core.attribution import Accuracy, Attributed, attribute_members
from .core.decorrelation import decorrelated, within_range
from .core.readout import UNTRUSTWORTHY_CONDITION, StateReadout
from .core.relevance import (
    CANCELS,
    KINDS,
    Interval,
    cancellation,
    correlated_groups,
    feature_sums,
    group_sums,
    margins,
    over_classes,
    paper_relevance,
    paper_relevance_of_classes,
    pattern,
    percentiles,
    resamples,
    row_means,
)
from .estimator import NetworkClassifier
from .validation import checked_rows
from .warnings import IllConditionedWarning, UnreliableRelevanceWarning

Groups = Sequence[NDArray[np.intp]]

SHARE, MOST_NODES = 1e-4, 32
"""A mean over rows needs less accuracy than a row."""

IRREGULAR = 0.1
"""Part of the score, in the mean over the rows, beyond which what is missing in attributions matters."""

PAIRS = 256
"""Least number of pairs of rows over which a mean is taken."""

ELEMENTS = 2**24
"""Most contributions held at a time, unless those to one class are more."""


class GroupedRelevance(NamedTuple):
    """Names of the groups, the features of each, and relevance of shape (n_groups,) or (n_classes, n_groups)."""

    names: list[str]
    features: list[list[str]]
    relevance: Array


def relevance(estimator: NetworkClassifier, X: ArrayLike | None, kind: str, per_class: bool) -> Array:
    """See `NetworkClassifier.relevance`."""
    check_kind(kind)
    check_is_fitted(estimator)
    rows, weight = _rows(estimator, X)
    warn_if_unreliable(estimator, kind)
    if kind == "paper":
        return _paper(estimator, per_class)
    return _resampled(estimator, rows, weight[None], kind, per_class, _alone(estimator))[0]


def importances(estimator: NetworkClassifier) -> Array:
    """Return the kind "model" from the kept rows, divided by its sum."""
    check_is_fitted(estimator)
    summary = estimator._summary
    found = _resampled(estimator, summary.rows, summary.weight[None], "model", False, _alone(estimator))[0]
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
    rows, weight = _rows(estimator, X)
    if y is not None:
        return _refitted(estimator, X, y, kind, per_class, n_bootstrap, level, rng)
    weights = np.vstack([weight, resamples(weight, n_bootstrap, rng)])
    found = _resampled(estimator, rows, weights, kind, per_class, _alone(estimator))
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
    rows, weight = _rows(estimator, X)
    warn_if_unreliable(estimator, kind)
    names = estimator._feature_names()
    found = _auto_groups(estimator, rows, names, threshold) if groups == "auto" else _named_groups(groups, names)
    values = _resampled(estimator, rows, weight[None], kind, per_class, list(found.values()))[0]
    return GroupedRelevance(list(found), [[names[j] for j in group] for group in found.values()], values)


def check_kind(kind: str) -> None:
    """Refuse a kind that is not there."""
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is unknown: use one of {', '.join(map(repr, KINDS))}.")


def warn_if_unreliable(estimator: NetworkClassifier, kind: str) -> None:
    """Warn where a kind says little about the decision: weights that cancel, or scores that rounding decides."""
    cancels = cancellation(estimator.outer_weights_)
    rounded = any(isinstance(model.readout, StateReadout) for model, _ in estimator._members)
    if kind == "paper" and cancels > CANCELS:
        message = (
            f"The paper's relevance adds up outer weights that cancel each other ({cancels:.1e} times what is left of "
            "them): it says little about the decision. Use kind='model' or kind='data'."
        )
    elif rounded and estimator.condition_ > UNTRUSTWORTHY_CONDITION:
        message = (
            f"The readout's condition number is {estimator.condition_:.1e}, so rounding decides part of the scores and "
            f"of the relevance (kind={kind!r}). Use alpha='loo', or fewer iterations."
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


def _alone(estimator: NetworkClassifier) -> Groups:
    return list(np.arange(estimator.n_features_in_)[:, None])


def _paper(estimator: NetworkClassifier, per_class: bool) -> Array:
    function = paper_relevance_of_classes if per_class else paper_relevance
    concepts = function(estimator.inner_weights_, estimator.outer_weights_)
    feature = np.concatenate([model.concepts.feature for model in estimator._networks])
    belongs = feature[:, None] == np.arange(estimator.n_features_in_)
    return concepts @ belongs.astype(np.float64)


def _resampled(
    estimator: NetworkClassifier, rows: Array, weights: Array, kind: str, per_class: bool, groups: Groups
) -> Array:
    """Return relevance for each line of weights, shape (B, G), or (B, N, G) for each class."""
    shares = estimator._summary.shares
    if kind == "data":
        margin = estimator._decision(estimator._raw(rows)) @ margins(len(shares))
        found = pattern(_scaled(estimator, rows), margin, weights, groups)
        return found if per_class else over_classes(found, shares)
    means = row_means(_sizes(estimator, rows, groups, per_class), weights).transpose(0, 2, 1)
    return means if per_class else means[:, 0]


def _sizes(estimator: NetworkClassifier, rows: Array, groups: Groups, per_class: bool) -> Array:
    """Return the size of each row's contributions, compared with training rows; shape (n, G, N), or (n, G, 1).

    Rows are compared with rows, drawn with a fixed seed: the mean row is a possible row for no binary feature, and one
    row does not speak for all.
    """
    summary, n = estimator._summary, len(rows)
    n_draws = -(-PAIRS // n)
    share = summary.weight / summary.weight.sum()
    others = summary.rows[np.random.default_rng(0).choice(len(share), n_draws * n, p=share)]
    own, directions = np.tile(rows, (n_draws, 1)), margins(len(summary.shares))
    step = max(1, ELEMENTS // own.size)
    found = []
    for start in range(0, len(directions), step):
        classes = slice(start, start + step)
        part = group_sums(_contributions(estimator, own, others, directions[:, classes]), groups)
        sizes = np.abs(part).reshape(n_draws, n, len(groups), -1).mean(axis=0)
        found.append(sizes if per_class else sizes @ summary.shares[classes, None])
    return np.concatenate(found, axis=2) if per_class else np.sum(found, axis=0)


def _contributions(estimator: NetworkClassifier, rows: Array, others: Array, directions: Array) -> Array:
    """Return what decorrelated features contribute to scores · `directions` of rows less those of others, (n, F, K)."""
    members, n_features = estimator._members, estimator.n_features_in_
    largest = float(np.abs(estimator._decision(estimator._raw(rows))).max())
    accuracy = Accuracy(largest, SHARE, MOST_NODES)
    attributed = attribute_members(members, estimator._decision, rows, directions, others, accuracy)
    _warn_if_irregular(attributed)
    total = np.zeros((len(rows), n_features, directions.shape[1]))
    for (model, _), part in zip(members, attributed, strict=True):
        total += feature_sums(part.values, model.concepts.feature, n_features)
    differences = _scaled(estimator, rows) - _scaled(estimator, others)
    for k in range(total.shape[2]):
        total[:, :, k] = decorrelated(within_range(total[:, :, k], differences), differences)
    return total


def _warn_if_irregular(found: list[Attributed]) -> None:
    missing = sum(float(np.abs(part.missing).mean()) for part in found)
    whole = sum(float(np.abs(part.values.sum(axis=1) + part.missing).mean()) for part in found)
    if missing > IRREGULAR * whole:
        warnings.warn(
            f"Contributions do not add up: {missing / whole:.0%} of the scores is missing, because the reasoning is "
            "irregular. Use inner='slopes' or 'stable-regression', or fewer iterations.",
            UnreliableRelevanceWarning,
            stacklevel=6,
        )


def _scaled(estimator: NetworkClassifier, rows: Array) -> Array:
    """Return the features as the first network scales them; constant ones are 0."""
    concepts = estimator._networks[0].concepts
    scaled = np.zeros_like(rows)
    scaled[:, concepts.varies] = concepts.scaling(rows[:, concepts.varies])
    return scaled


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
        rows = checked_rows(model, X, reset=False)
        if kind == "paper":
            found.append(_paper(model, per_class))
        else:
            found.append(_resampled(model, rows, weight[None], kind, per_class, _alone(model))[0])
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
    scaled = _scaled(estimator, rows)
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
