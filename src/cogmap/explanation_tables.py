"""Explanations as tables: tidy frames, and the explanation object of shap.

Easy to get wrong: lines of a frame must add up. What belongs to no concept, the base and the cases, has lines too.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from .core.activation import Array
from .core.cases import CaseReadout
from .core.contributions import decoding, strongest_cases
from .validation import module

if TYPE_CHECKING:
    from .explain import Explanation

BASE, CASES = "(base)", "(cases)"


def split_frame(explanation: "Explanation") -> Any:
    """See `Explanation.to_frame`."""
    pandas = module("pandas", "explain")
    names = explanation.estimator.concept_names_
    pairs = sorted(
        set().union(*(zip(s.iteration.tolist(), s.concept.tolist(), strict=True) for s in explanation.splits))
    )
    steps = np.array([t for t, _ in pairs], dtype=np.intp)
    concepts = np.array([concept for _, concept in pairs], dtype=np.intp)
    has_cases = any(isinstance(model.readout, CaseReadout) for model, _ in explanation.estimator._members)
    extra = [BASE, CASES] if has_cases else [BASE]
    lines = [*names[concepts], *extra]
    iteration = np.append(steps, np.zeros(len(extra), np.intp))
    unknown = np.arange(len(lines)) >= len(steps)
    frames = []
    for k, label in enumerate(explanation.classes):
        terms = explanation.contributions(label)[:, steps, concepts]
        rest = [np.full(len(terms), explanation.base[k]), explanation.cases[:, k]][: len(extra)]
        values = np.hstack([terms, np.stack(rest, axis=1)])
        frames.append(
            pandas.DataFrame(
                {
                    "row": np.repeat(explanation.index, len(lines)),
                    "class": label,
                    "concept": np.tile(np.array(lines, dtype=object), len(explanation)),
                    "iteration": pandas.arrays.IntegerArray(
                        *(np.tile(v, len(explanation)) for v in (iteration, unknown))
                    ),
                    "contribution": values.ravel(),
                }
            )
        )
    return pandas.concat(frames, ignore_index=True)


def features_frame(explanation: "Explanation") -> Any:
    """See `Explanation.features_frame`."""
    pandas = module("pandas", "explain")
    n, n_features, n_classes = explanation.attributions.shape
    return pandas.DataFrame(
        {
            "row": np.tile(np.repeat(explanation.index, n_features), n_classes),
            "class": np.repeat(explanation.classes, n * n_features),
            "feature": np.tile(np.array(explanation.feature_names, dtype=object), n * n_classes),
            "value": np.tile(explanation.values.ravel(), n_classes),
            "attribution": explanation.attributions.transpose(2, 0, 1).ravel(),
        }
    )


def shap_explanation(explanation: "Explanation") -> Any:
    """See `Explanation.to_shap`."""
    shap = module("shap", "explain")
    values, base = explanation.attributions, explanation.baseline_scores
    shared = {"data": explanation.values, "feature_names": explanation.feature_names}
    if len(explanation.estimator.classes_) == 2 == len(explanation.classes):
        first, second = explanation._codes.argsort()
        return shap.Explanation(values[:, :, second] - values[:, :, first], base[:, second] - base[:, first], **shared)
    return shap.Explanation(values, base, output_names=[str(label) for label in explanation.classes], **shared)


def similar_cases(explanation: "Explanation", row: int, count: int) -> Any:
    """See `Explanation.similar_cases`."""
    pandas = module("pandas", "explain")
    estimator = explanation.estimator
    direction = explanation._direction(explanation.predicted[row], explanation.runner_up[row])
    frames = []
    for model, weight in estimator._members:
        if not isinstance(model.readout, CaseReadout):
            continue
        decode = decoding(model, weight, estimator._decision) @ direction
        initial = model.concepts(explanation.X[row][None])
        chosen, alike, pull = strongest_cases(model.readout, initial, decode, count)
        metric = model.readout.metric
        states = model.readout.cases[chosen] @ np.linalg.inv(metric.map) + metric.mean
        features = _features_of(explanation, model.concepts.inverse(states), model.concepts.varies)
        frames.append(pandas.DataFrame(features, columns=estimator._feature_names()))
        frames[-1].insert(0, "contribution", pull)
        frames[-1].insert(0, "resemblance", alike)
    if not frames:
        raise ValueError("The model remembers no cases: fit LTCNClassifier(cases=True), or LTCNClassifierCV.")
    return pandas.concat(frames, ignore_index=True)


def _features_of(explanation: "Explanation", varying: Array, varies: Any) -> Array:
    """Put varying features between the constant ones, whose value any training row has."""
    found = np.tile(explanation.estimator._summary.rows[0], (len(varying), 1))
    found[:, varies] = varying
    return found
