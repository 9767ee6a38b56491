"""How a feature acts: the average prediction as it moves, by accumulated local effects (`core.explain.effects`).

"How does age act?" is answered by a curve: the average predicted probability, or evidence, as age alone moves from row
to row. Columns of a raw table move as a whole. Categories, and missing values, have a bar each.

Easy to get wrong: the curve says what the feature itself does in the model, its neighbours held as they are. It is not
the mean prediction of rows with this value, which other features that go along with this one may move; read its
differences. The band is the spread of single rows around their own mean, drawn around the curve.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import _check_sample_weight

from ..core.decision.decision import evidence_directions
from ..core.explain.effect_axis import Axis, category_axis, number_axis
from ..core.explain.effects import Predict, first_order, joint
from ..core.sums.sampling import Sample, content_keys
from ..core.sums.space import NUMPY
from ..core.types import Array
from ..intake.checks import feature_names
from .results import KINDS, FeatureEffect, Kind, PairEffect
from .subject import Feature, Subject, subject_of

MOST_FEATURES = 6
"""Features that are shown where none is named."""


def feature_effect(
    estimator: Any,
    X: Any,
    feature: str,
    *,
    classes: ArrayLike | None = None,
    kind: Kind = "probability",
    bins: int = 20,
    max_rows: int = 1000,
    sample_weight: ArrayLike | None = None,
) -> FeatureEffect:
    """Return how predictions move with one feature: accumulated local effects.

    Parameters
    ----------
    estimator : LTCNClassifier, LTCNClassifierCV, TabularClassifier or classifier of numbers
        A fitted classifier; of others, `classes_` and `predict_proba` are used.
    X : DataFrame or array-like of shape (n_samples, n_features), or None
        Rows, as for `predict`. None for the training rows that the model kept, 256 at most.
    feature : str
        Name of the feature, or of the raw column of a `TabularClassifier`; "x0", "x1", … where there are no names.
    classes : array-like of class labels, default=None
        Classes whose predictions are shown; by default all, and of two the second.
    kind : {"probability", "evidence"}, default="probability"
        Predicted probability, or evidence in log-odds: with two classes log p − log(1 − p), with more log p less the
        mean of the log probabilities of all classes.
    bins : int, default=20
        Most steps between the values of a number at which its effect is computed; they lie at quantiles.
    max_rows : int, default=1000
        Most different rows that are used. Where there are more, a hash of their content chooses, so that the same rows
        are used in every run, in whatever order they are given. Each row costs two to three predictions, and one for
        each neighbour of its category.
    sample_weight : array-like of shape (n_samples,), default=None
        How often each row of X counts.

    Returns
    -------
    FeatureEffect
        The effect at each value, the spread of the single rows, and a `frame`.

    Notes
    -----
    A row moves to the next values below and above it only. So no row is asked about that is unlike all others, as
    partial dependence asks about the weight of adults at the height of children.

    Categories have no order to move along. A category is compared with those whose rows are most like its own in all
    other features: steps are the tree of least total difference between the distributions (Kolmogorov and Smirnov's
    distance, added over the features), and every step is taken by the rows of its two categories alone. For a model
    that is a sum over features, every tree gives the same effects, the sum's own terms; where features work together,
    categories that have little in common are compared through those between them, and not by rows which do not exist.
    A missing number is compared with the middle value, by the rows that have the one or the other.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from cogmap import LTCNClassifier
    >>> from cogmap.effects.effects import feature_effect
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> effect = feature_effect(LTCNClassifier().fit(X, y), X, "petal width (cm)", classes=[2])
    >>> effect.values[[0, -1]].tolist()
    [0.1, 2.5]
    >>> bool(effect.effect[0, 0] < 0.3 < 0.5 < effect.effect[-1, 0])
    True
    """
    subject, rows, weight = _asked(estimator, X, sample_weight, kind, bins, max_rows)
    one = subject.feature(feature)
    chosen, predict = _predict(subject, classes, kind)
    axis = _axis(one, rows, weight, bins)
    effect = first_order(predict, rows, one.places, axis, weight)
    rug = _rug(one, rows, axis) if one.is_number else np.empty(0)
    return FeatureEffect(
        one.name,
        kind,
        chosen,
        one.values(axis.blocks),
        one.is_number,
        effect.curve,
        *(
            (np.clip(effect.low, 0, 1), np.clip(effect.high, 0, 1))
            if kind == "probability"
            else (effect.low, effect.high)
        ),
        np.bincount(axis.nearest, weight, len(axis.blocks)).astype(np.float64),
        np.sort(rug[~np.isnan(rug)]),
        effect.mean,
    )


def pair_effect(
    estimator: Any,
    X: Any,
    features: tuple[str, str],
    *,
    classes: ArrayLike | None = None,
    kind: Kind = "probability",
    bins: int = 10,
    max_rows: int = 1000,
    sample_weight: ArrayLike | None = None,
) -> PairEffect:
    """Return how predictions move with two features together: accumulated local effects over both.

    Parameters
    ----------
    features : tuple of two str
        Names of two features.
    estimator, X, classes, kind, bins, max_rows, sample_weight
        As for `feature_effect`, but `bins` is 10 by default. Each row costs about nine predictions.

    Returns
    -------
    PairEffect
        The effect and the interaction for each pair of values, and a `frame`.
    """
    names = tuple(features)
    if len(names) != 2 or names[0] == names[1]:
        raise ValueError(f"features={features!r} must be two different features.")
    subject, rows, weight = _asked(estimator, X, sample_weight, kind, bins, max_rows)
    one, other = (subject.feature(name) for name in names)
    chosen, predict = _predict(subject, classes, kind)
    present = ~(one.missing_numbers(rows) | other.missing_numbers(rows))
    if not present.any():
        raise ValueError(f"There is no row in which neither {one.name!r} nor {other.name!r} is missing.")
    rows, weight = rows[present], weight[present]
    axes = _axis(one, rows, weight, bins), _axis(other, rows, weight, bins)
    places = one.places, other.places
    pair = joint(predict, rows, places, axes, weight)
    mass = np.zeros(pair.surface.shape[:2])
    np.add.at(mass, (axes[0].nearest, axes[1].nearest), weight)
    return PairEffect(
        (one.name, other.name),
        kind,
        chosen,
        (one.values(axes[0].blocks), other.values(axes[1].blocks)),
        (one.is_number, other.is_number),
        pair.surface,
        pair.together,
        mass,
        (_rug(one, rows, axes[0]), _rug(other, rows, axes[1])),
        pair.mean,
    )


def _asked(
    estimator: Any, X: Any, sample_weight: ArrayLike | None, kind: str, bins: int, max_rows: int
) -> tuple[Subject, Array, Array]:
    """Check the parameters; return what is asked about, and different rows with their weights."""
    if kind not in KINDS:
        raise ValueError(f"kind={kind!r} is unknown: use one of {', '.join(map(repr, KINDS))}.")
    for name, value in (("bins", bins), ("max_rows", max_rows)):
        if not (isinstance(value, int) and value >= 1):
            raise ValueError(f"{name}={value!r} must be a whole number, 1 or larger.")
    if X is None and sample_weight is not None:
        raise ValueError("sample_weight is about the rows of X: give X too.")
    subject = subject_of(estimator, X)
    weight = subject.weight
    if sample_weight is not None:
        weight = _check_sample_weight(sample_weight, subject.rows, dtype=np.float64, ensure_non_negative=True)
    counted = weight > 0
    if not counted.any():
        raise ValueError("sample_weight is 0 for every row: at least one non-zero weight is needed.")
    rows, weight = subject.rows[counted], weight[counted]
    sample = Sample.from_block(NUMPY, None, content_keys(NUMPY, rows.T), (rows,), weight, max_rows)
    return subject, sample.rows, sample.weight


def _predict(subject: Subject, classes: ArrayLike | None, kind: Kind) -> tuple[NDArray[Any], Predict]:
    """Return the classes that are shown, and what predicts for them."""
    known = subject.classes
    codes = chosen_classes(known, classes)
    if kind == "probability":
        return known[codes], lambda rows: subject.probability(rows)[:, codes]
    directions = evidence_directions(len(known))[:, codes]
    return known[codes], lambda rows: subject.log_odds(rows) @ directions


def chosen_classes(known: NDArray[Any], classes: ArrayLike | None) -> list[int]:
    """Return the places of classes among those of a model; by default all, and of two the second."""
    if classes is None:
        return [1] if len(known) == 2 else list(range(len(known)))
    labels = known.tolist()
    chosen = np.atleast_1d(np.asarray(classes, dtype=object)).tolist()
    unknown = [label for label in chosen if label not in labels]
    if unknown or not chosen:
        named = f"{unknown[0]!r} is no class of the model" if unknown else "classes is empty"
        raise ValueError(f"{named}: the classes are {', '.join(map(repr, labels))}.")
    return [labels.index(label) for label in chosen]


def _axis(feature: Feature, rows: Array, weight: Array, bins: int) -> Axis:
    blocks = rows[:, feature.places]
    if feature.is_number:
        return number_axis(feature.numbers(rows), blocks, weight, bins)
    _, codes = np.unique(feature.codes(rows), return_inverse=True)
    return category_axis(codes.astype(np.intp), blocks, np.delete(rows, feature.places, axis=1), weight)


def _rug(feature: Feature, rows: Array, axis: Axis) -> Array:
    return feature.numbers(rows) if feature.is_number else axis.low.astype(np.float64)


def effects_of(
    estimator: Any,
    X: Any,
    features: str | tuple[str, str] | Sequence[str | tuple[str, str]] | None,
    **options: Any,
) -> list[FeatureEffect | PairEffect]:
    """Return the effects of features: of a name, of two names as a tuple together, or of a list of these, one by one.

    Parameters
    ----------
    estimator, X
        As for `feature_effect`.
    features : str, tuple of two str, or list of these
        None stands for the six most relevant features of a network.
    **options
        As for `feature_effect`.

    Returns
    -------
    list of FeatureEffect and PairEffect
        One for each.
    """
    if features is None:
        features = most_relevant(estimator)
    asked = [features] if isinstance(features, str | tuple) else list(features)
    if not asked:
        raise ValueError("features is empty: name a feature, or two as a tuple.")
    return [
        pair_effect(estimator, X, one, **options)
        if isinstance(one, tuple)
        else feature_effect(estimator, X, one, **options)
        for one in asked
    ]


def most_relevant(estimator: Any, count: int = MOST_FEATURES) -> list[str]:
    """Return the names of the most relevant features of a network, or of a model for raw tables."""
    if not hasattr(estimator, "relevance"):
        raise ValueError(f"A {type(estimator).__name__} does not say which features matter: name them in features.")
    relevance = estimator.relevance()
    order = np.argsort(-relevance, kind="stable")
    names = feature_names(estimator)
    return [names[j] for j in order[:count] if relevance[j] > 0] or [names[j] for j in order[:1]]
