"""Explanations as tables: tidy frames, and the explanation object of shap.

Easy to get wrong: lines of a frame must add up. What belongs to no concept or feature, the base, the cases and
the other rows that a row is compared with, has lines too.
"""

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.explain.contributions import decoding, strongest_cases
from ..core.resemblance.regions import Remembering
from ..core.types import Array
from ..intake.checks import module
from .words import odds_factor, pair_name

if TYPE_CHECKING:
    from .explanation import Explanation

BASE, CASES = "(base)", "(cases)"
OTHER_ROWS = "(other rows)"


def split_frame(explanation: "Explanation") -> Any:
    """See `Explanation.to_frame`."""
    pandas = module("pandas", "explain")
    names = explanation.fitted.concept_names
    cells = sorted(
        set().union(*(zip(s.iteration.tolist(), s.concept.tolist(), strict=True) for s in explanation.splits))
    )
    steps = np.array([t for t, _ in cells], dtype=np.intp)
    concepts = np.array([concept for _, concept in cells], dtype=np.intp)
    pairs = explanation.surfaces(explanation.classes[0])[0]
    has_cases = any(isinstance(model.readout, Remembering) for model, _ in explanation.fitted.members)
    extra = [BASE, CASES] if has_cases else [BASE]
    lines = [*names[concepts], *(pair_name(names[i], names[j]) for i, j in pairs), *extra]
    iteration = np.append(steps, np.zeros(len(pairs) + len(extra), np.intp))
    unknown = np.arange(len(lines)) >= len(lines) - len(extra)
    frames = []
    for k, label in enumerate(explanation.classes):
        together = explanation.surfaces(label)[1]
        terms = explanation.contributions(label)
        # Of what two concepts add together, contributions have half with each.
        for concept, half in zip(pairs.ravel(), np.repeat(together / 2, 2, axis=1).T, strict=True):
            terms[:, 0, concept] -= half
        rest = [np.full(len(terms), explanation.base[k]), explanation.cases[:, k]][: len(extra)]
        values = np.hstack([terms[:, steps, concepts], together, np.stack(rest, axis=1)])
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
    values, start = explanation.attributions, explanation.baseline_scores[:, None]
    evidence = np.concatenate([start, values], axis=1)
    n, n_lines, n_classes = evidence.shape
    own = explanation.values
    none = np.full((n, 1), None if own.dtype == object else np.nan, dtype=own.dtype)
    return pandas.DataFrame(
        {
            "row": np.tile(np.repeat(explanation.index, n_lines), n_classes),
            "class": np.repeat(explanation.classes, n * n_lines),
            "feature": np.tile(np.array([OTHER_ROWS, *explanation.feature_names], dtype=object), n * n_classes),
            "value": np.tile(np.hstack([none, own]).ravel(), n_classes),
            "evidence": evidence.transpose(2, 0, 1).ravel(),
            "odds_factor": odds_factor(evidence).transpose(2, 0, 1).ravel(),
        }
    )


def shap_explanation(explanation: "Explanation") -> Any:
    """See `Explanation.to_shap`."""
    shap = module("shap", "explain")
    values, base = explanation.attributions, explanation.baseline_scores
    shared = {"data": explanation.values, "feature_names": explanation.feature_names}
    known = explanation.fitted.classes
    if len(known) == 2 == len(explanation.classes):
        second = int(np.flatnonzero(explanation.classes == known[1])[0])
        name = explanation.unit(known[1])
        return shap.Explanation(values[:, :, second], base[:, second], output_names=name, **shared)
    return shap.Explanation(values, base, output_names=[str(label) for label in explanation.classes], **shared)


def similar_cases(explanation: "Explanation", row: int, count: int) -> Any:
    """See `Explanation.similar_cases`."""
    pandas = module("pandas", "explain")
    fitted = explanation.fitted
    direction = explanation.direction(explanation.predicted[row])
    frames = []
    for model, weight in fitted.members:
        if not isinstance(model.readout, Remembering):
            continue
        decode = decoding(model, weight, fitted.decision) @ direction
        initial = model.concepts(explanation.X[row][None])
        chosen, alike, pull = strongest_cases(model.readout, initial, decode, count)
        states = model.concepts.inverse(model.readout.states(chosen))
        features = _features_of(explanation, states, model.concepts.varies)
        frames.append(pandas.DataFrame(features, columns=list(fitted.feature_names)))
        frames[-1].insert(0, "contribution", pull)
        frames[-1].insert(0, "resemblance", alike)
    if not frames:
        raise ValueError("The model remembers no cases: fit LTCNClassifier(cases=True), or LTCNClassifierCV.")
    return pandas.concat(frames, ignore_index=True)


def _features_of(explanation: "Explanation", varying: Array, varies: Any) -> Array:
    """Put varying features between the constant ones, whose value any training row has."""
    features = np.tile(explanation.fitted.summary.rows[0], (len(varying), 1))
    features[:, varies] = varying
    return features
