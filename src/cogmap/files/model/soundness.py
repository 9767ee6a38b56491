"""What the parts of a classifier's file must have in common, beyond the shapes of their arrays.

Names follow from the features, counts are bounded by the arrays, and the model gives its own training rows
probabilities.

Easy to get wrong: each number of a file may be sound and the model none. Weights of 1e200 are finite, and a product of
two of them is not; so the model is asked, once, before it is handed over.
"""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...core.concepts.concepts import Concepts
from ...core.curves.pairs import PairReadout
from ...core.fit.fitted import Fitted
from ...core.resemblance.regions import Remembering
from ...core.sums.space import STRIP as ROWS
from .kinds import Scope

ITERATIONS = 10**6
"""Most iterations that a file may allow; `diagnose` follows far fewer."""

LARGEST_SCORE = 1e100
"""Far beyond every log-odds; sums, differences and products of such scores are still numbers."""

NAME_TOLERANCE = 1e-3
"""Relative difference of the numbers in two names that are the same: another machine may round the last digit apart."""


def check_classifier(fitted: Fitted, values: Mapping[str, Any], scope: Scope) -> None:
    """Refuse a classifier whose names, numbers or scores contradict its networks; `values` are all that it holds."""
    _check_names(fitted, scope)
    _check_numbers(fitted, values, scope)
    _check_probabilities(fitted, scope)


def _check_names(fitted: Fitted, scope: Scope) -> None:
    labels, start = [], 0
    for expected in fitted.own_names:
        labels.append(_label(fitted.concept_names[start : start + len(expected)].tolist(), expected))
        start += len(expected)
    # A network whose features are all constant has no concept to carry its label.
    worn = [label for label, model in zip(labels, fitted.networks, strict=True) if len(model.network.bias)]
    sound = None not in worn and len(set(worn)) == len(worn)
    scope.at("concept_names_").need(sound, "the names of the features and their terms, in order")
    names = fitted.network_names
    scope.at("_network_names").need(len(set(names)) == len(names) == len(fitted.networks), "one name for each network")


def _label(names: list[str], expected: list[str]) -> str | None:
    """Return what all names of a network end with beyond those expected; None where they do not fit."""
    labels = {_beyond(name, base) for name, base in zip(names, expected, strict=True)}
    return labels.pop() if len(labels) == 1 else None


def _beyond(name: str, base: str) -> str | None:
    if name.startswith(base) and re.match(r"$| \[", name[len(base) :]):
        return name[len(base) :]
    ours, theirs = (re.fullmatch(r"(.* is about )(-?[\d.]+)(| \[.*)", text, re.DOTALL) for text in (name, base))
    if ours is None or theirs is None or ours[1] != theirs[1]:
        return None
    a, b = float(ours[2]), float(theirs[2])
    return ours[3] if abs(a - b) <= NAME_TOLERANCE * max(abs(a), abs(b)) else None


def _check_numbers(fitted: Fitted, values: Mapping[str, Any], scope: Scope) -> None:
    n_cases = sum(len(m.readout.cases) for m, _ in fitted.members if isinstance(m.readout, Remembering))
    n_states, n_concepts, _ = fitted.outer_weights.shape
    n_drawn = sum(len(m.readout.coefficients) for m, _ in fitted.members if isinstance(m.readout, PairReadout))
    most = len(fitted.members) * (1 + n_states * n_concepts) + n_cases + n_drawn
    scope.at("rank_").need(values["rank_"] <= most, f"a number up to {most}, which is that of the readout's columns")
    free = values["degrees_of_freedom_"]
    scope.at("degrees_of_freedom_").need(0 <= free <= most + 1, f"a number from 0 to {most}")
    scope.at("class_count_").need(bool((values["class_count_"] >= 0).all()), "numbers from 0 on")
    scope.at("_longest").need(
        fitted.n_iter <= fitted.longest <= ITERATIONS,
        f"a number from {fitted.n_iter}, the iterations that are read, to {ITERATIONS}",
    )


def _check_probabilities(fitted: Fitted, scope: Scope) -> None:
    rows = fitted.summary.rows[: ROWS - 2]
    with np.errstate(all="ignore"):
        scores = fitted.scores(np.concatenate([rows, _ends(fitted.networks[0].concepts, rows[0])]))
        sound = bool((np.abs(scores) < LARGEST_SCORE).all())
    scope.need(sound, "a model that gives its training rows probabilities; its weights are too large for that")


def _ends(concepts: Concepts, row: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return two rows, one with the least and one with the largest known value of each feature that varies."""
    ends = np.tile(row, (2, 1))
    if concepts.scaling.values:
        ends[:, concepts.varies] = np.transpose([(knots[0], knots[-1]) for knots in concepts.scaling.values])
    return ends
