"""Global relevance of a fitted classifier's features: the three kinds, bootstrap intervals, and correlated blocks.

By the model it is the mean size of the evidence that `explain` finds for each feature, so that both are one quantity.
Over the training rows that the model kept it is computed once, and remembered with the fitted value: a new fit forgets
it, a copy or a pickle of the model carries it along.

Easy to get wrong: means over rows need rows. Without any they are those that the model kept of its training rows.
"""

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

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
from ..core.fit.fitted import Fitted
from ..core.readout.states import UNTRUSTWORTHY_CONDITION, StateReadout
from ..core.types import Array
from ..errors import UnreliableRelevanceWarning
from .evidence import Groups, attribute, n_other_rows, scaled_features, single_features, spread_rows

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


def relevance(fitted: Fitted, rows: Array | None, kind: str, per_class: bool) -> Array:
    """Return the relevance of each feature; see `NetworkClassifier.relevance`. Without rows, over those kept."""
    warn_if_unreliable(fitted, kind)
    if kind == "paper":
        return _paper(fitted, per_class)
    return _of_groups(fitted, rows, kind, per_class, single_features(fitted))


def importances(fitted: Fitted) -> Array:
    """Return the kind "model" from the kept rows, divided by its sum."""
    sizes = _of_groups(fitted, None, "model", False, single_features(fitted))
    normalised: Array = sizes / (sizes.sum() or 1.0)
    return normalised


def relevance_intervals(
    fitted: Fitted,
    rows: Array,
    kind: str,
    per_class: bool,
    n_bootstrap: int,
    level: float,
    rng: np.random.Generator,
) -> Interval:
    """Return intervals of a model that is held, over resampled rows; see `NetworkClassifier.relevance_intervals`."""
    warn_if_unreliable(fitted, kind)
    groups, weight = single_features(fitted), np.ones(len(rows))
    if kind == "model":
        rows, weight = _some(rows, weight, n_rows(fitted, groups))
    weights = np.vstack([weight, resamples(weight, n_bootstrap, rng)])
    values = _resampled(fitted, rows, weights, kind, per_class, groups)
    return percentiles(values[0], values[1:], level)


def refitted_intervals(
    fitted: Fitted,
    refit: Callable[[Array], tuple[Fitted, Array]],
    labels: NDArray[Any],
    kind: str,
    per_class: bool,
    n_bootstrap: int,
    level: float,
    rng: np.random.Generator,
) -> Interval:
    """Return the same over models that `refit` fits to weighted rows; it returns the model and the rows, checked.

    Rows are resampled within their classes, so that none loses a class.
    """
    warn_if_unreliable(fitted, kind)
    values = []
    for b in range(n_bootstrap + 1):
        weight = np.ones(len(labels)) if b == 0 else _within_classes(labels, rng)
        model, rows = refit(weight)
        if kind == "paper":
            values.append(_paper(model, per_class))
        elif kind == "model":
            values.append(_of_groups(model, None, kind, per_class, single_features(model)))
        else:
            values.append(_resampled(model, rows, weight[None], kind, per_class, single_features(model))[0])
    return percentiles(values[0], np.array(values[1:]), level)


def grouped_relevance(
    fitted: Fitted,
    rows: Array | None,
    groups: str | Mapping[str, Sequence[str]],
    kind: str,
    per_class: bool,
    threshold: float,
) -> GroupedRelevance:
    """Return the relevance of groups; see `NetworkClassifier.grouped_relevance`. Without rows, over those kept."""
    warn_if_unreliable(fitted, kind)
    names = list(fitted.feature_names)
    known = fitted.summary.rows if rows is None else rows
    chosen = _auto_groups(fitted, known, names, threshold) if groups == "auto" else _named_groups(groups, names)
    values = _of_groups(fitted, rows, kind, per_class, list(chosen.values()))
    return GroupedRelevance(list(chosen), [[names[j] for j in group] for group in chosen.values()], values)


def check_kind(kind: str) -> None:
    """Refuse a kind that is not there."""
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is unknown: use one of {', '.join(map(repr, KINDS))}.")


def check_joint_kind(kind: str) -> None:
    """Refuse a kind that groups do not have."""
    check_kind(kind)
    if kind == "paper":
        raise ValueError("kind='paper' has no joint relevance of a group: use kind='model' or kind='data'.")


def check_intervals(kind: str, n_bootstrap: int, level: float, *, refits: bool) -> None:
    """Refuse intervals that cannot be computed."""
    check_kind(kind)
    if not 0 < level < 1:
        raise ValueError(f"level={level!r} must be a number between 0 and 1, such as 0.95.")
    if n_bootstrap < 1:
        raise ValueError(f"n_bootstrap={n_bootstrap!r} must be 1 or larger.")
    if kind == "paper" and not refits:
        raise ValueError("kind='paper' depends on the weights alone: give y too, so that each resample is refitted.")


def warn_if_unreliable(fitted: Fitted, kind: str) -> None:
    """Warn where a kind says little about the decision: weights that cancel, or scores that rounding decides."""
    rounded = any(isinstance(model.readout, StateReadout) for model, _ in fitted.members)
    if kind == "paper" and weights_cancel(fitted.outer_weights):
        largest = float(np.abs(fitted.outer_weights).max())
        message = (
            f"The paper's relevance adds up outer weights that cancel each other (the largest is {largest:.1e}): it "
            "says little about the decision. Use kind='model' or kind='data'."
        )
    elif rounded and fitted.condition > UNTRUSTWORTHY_CONDITION:
        message = (
            f"The readout's condition number is {fitted.condition:.1e}, so rounding decides part of the scores "
            "and of the evidence and relevance of features. Use alpha='loo', or fewer iterations."
        )
    else:
        return
    warnings.warn(message, UnreliableRelevanceWarning, stacklevel=4)


def _paper(fitted: Fitted, per_class: bool) -> Array:
    function = paper_relevance_of_classes if per_class else paper_relevance
    concepts = function(fitted.inner_weights, fitted.outer_weights)
    belongs = fitted.concept_features[:, None] == np.arange(fitted.n_features)
    features: Array = concepts @ belongs.astype(np.float64)
    return features


def _of_groups(fitted: Fitted, rows: Array | None, kind: str, per_class: bool, groups: Groups) -> Array:
    """Return the relevance of groups of features by the model or the data, shape (G,), or (N, G) for each class."""
    if rows is None and kind == "model":
        values = _remembered(fitted, groups)
        return values.copy() if per_class else over_classes(values, fitted.summary.shares)
    weight = fitted.summary.weight if rows is None else np.ones(len(rows))
    rows = fitted.summary.rows if rows is None else rows
    if kind == "model":
        rows, weight = _some(rows, weight, n_rows(fitted, groups))
    once: Array = _resampled(fitted, rows, weight[None], kind, per_class, groups)[0]
    return once


def n_rows(fitted: Fitted, groups: Groups) -> int:
    """Return over how many rows relevance by the model is the mean; what is constant in training costs nothing."""
    varies = fitted.networks[0].concepts.varies
    n_groups = sum(bool(varies[group].any()) for group in groups)
    each = 2 * n_other_rows(n_groups) * (n_groups + 1)
    return min(max(SCORES // each, LEAST_ROWS), MOST_ROWS)


def _some(rows: Array, weight: Array, most: int) -> tuple[Array, Array]:
    """Return at most so many rows, spread over all of them, and their weights."""
    chosen = np.unique(np.linspace(0, len(rows) - 1, min(most, len(rows))).round().astype(np.intp))
    return rows[chosen], weight[chosen]


def _remembered(fitted: Fitted, groups: Groups) -> Array:
    """Return relevance by the model over kept rows, shape (N, G): computed once for each fit."""
    key = "relevance", tuple(tuple(group.tolist()) for group in groups)
    if key not in fitted.memory:
        rows = spread_rows(fitted, n_rows(fitted, groups))
        fitted.memory[key] = row_means(_sizes(fitted, rows, groups), np.ones((1, len(rows))))[0].T
    values: Array = fitted.memory[key]
    return values


def _resampled(fitted: Fitted, rows: Array, weights: Array, kind: str, per_class: bool, groups: Groups) -> Array:
    """Return relevance for each line of weights, shape (B, G), or (B, N, G) for each class."""
    shares = fitted.summary.shares
    if kind == "data":
        evidence = fitted.scores(rows) @ evidence_directions(len(shares))
        spreads = pattern(scaled_features(fitted, rows), evidence, weights, groups)
        return spreads if per_class else over_classes(spreads, shares)
    means = row_means(_sizes(fitted, rows, groups), weights).transpose(0, 2, 1)
    return means if per_class else over_classes(means, shares)


def _sizes(fitted: Fitted, rows: Array, groups: Groups) -> Array:
    """Return the size of the evidence that each group of features adds for each class, shape (n, G, N)."""
    directions = evidence_directions(len(fitted.classes))
    values, _ = attribute(fitted, rows, fitted.scores(rows), directions, groups, None)
    return np.abs(values)


def _within_classes(labels: NDArray[Any], rng: np.random.Generator) -> Array:
    weight = np.zeros(len(labels))
    for label in np.unique(labels):
        own = labels == label
        weight[own] = resamples(np.ones(own.sum()), 1, rng)[0]
    return weight


def _auto_groups(fitted: Fitted, rows: Array, names: list[str], threshold: float) -> dict[str, NDArray[np.intp]]:
    if not 0 < threshold <= 1:
        raise ValueError(f"threshold={threshold!r} must be a correlation above 0 and up to 1.")
    scaled = scaled_features(fitted, rows)
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
    places: dict[str, NDArray[np.intp]] = {}
    seen: dict[str, str] = {}
    for group, members in groups.items():
        for name in members:
            if name not in position:
                raise ValueError(f"Group {group!r} has the unknown feature {name!r}: the features are {names}.")
            if name in seen:
                raise ValueError(f"Feature {name!r} is in the groups {seen[name]!r} and {group!r}: leave it in one.")
            seen[name] = group
        places[group] = np.array([position[name] for name in members], dtype=np.intp)
    return places | {name: np.array([j]) for name, j in position.items() if name not in seen}
