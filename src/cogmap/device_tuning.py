"""`LTCNClassifierCV.fit` of rows on a device: every configuration by the passes, stacked by their scores there.

Easy to get wrong: a class of one row has no score from outside. It is judged from inside here, in the decision and also
in the leave-one-out scores that choose between configurations.
"""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from .classifier import LTCNClassifier
from .core.activation import Array
from .core.decision_passes import Scored, decide, scorings
from .core.device.scaling import fit_concepts
from .core.device.source import DeviceSource
from .core.device.space import DeviceArray, Space
from .core.device.stacking import agreement, stacked
from .core.model import Settings
from .core.passes import judge_blocks, passable
from .device import Taken, source_of, taken_in
from .knowledge.edges import check_terms
from .tuning import ONE_HOT, Candidate, LTCNClassifierCV, weights_from


@dataclass(frozen=True)
class Streamed(Candidate):
    """A configuration whose scores are on the device."""

    scores: DeviceSource[Scored]
    mass: Array
    between: Array


def tune_on_device(
    tuner: LTCNClassifierCV, members: list[LTCNClassifier], space: Space, X: DeviceArray, y: Any, sample_weight: Any
) -> bool:
    """Fit every configuration, then combine them; return False where numpy is to do it: see `device.fit_on_device`."""
    taken = taken_in(tuner, space, X, y, sample_weight)
    if taken is None:
        return False
    known = taken.known
    settled = [tuner._settled(member, known.low, known.high) for member in members]
    if not all(passable(settings, known) for _, settings in settled):
        return False
    tuner._warn_of_constants(known.varies)
    source = source_of(space, taken, [settings for _, settings in settled])
    candidates = [_candidate(tuner, space, taken, source, *given) for given in settled]
    check_terms(tuner.knowledge_, tuner._feature_names(), [c.model.concepts for c in candidates])
    prior = known.mass / known.total
    weights = tuner._weights(candidates, lambda: weights_from(*agreement([c.scores for c in candidates], prior)))
    used, weights = [c for c, w in zip(candidates, weights, strict=True) if w > 0], weights[weights > 0]
    constant = (1 - weights.sum()) * prior
    between = np.sum([w * c.between for c, w in zip(used, weights, strict=True)], axis=0)
    scores = stacked([c.scores for c in used], weights, constant)
    tuner._keep(used, weights, constant, decide(scores, between, used[0].mass, _metric(tuner), tuple(ONE_HOT.tolist())))
    return True


def _candidate(
    tuner: LTCNClassifierCV,
    space: Space,
    taken: Taken,
    source: DeviceSource[Any],
    params: dict[str, Any],
    settings: Settings,
) -> Streamed:
    start = time.perf_counter()
    found = judge_blocks(source, taken.known, settings, fit_concepts(space, *taken, settings))
    tuner._summary = found.summary
    assert isinstance(found.scores, DeviceSource)
    decision = decide(found.scores, found.between, found.mass, _metric(tuner), tuple(ONE_HOT.tolist()))
    loo = scorings(found.scores, decision)
    seconds = time.perf_counter() - start
    return Streamed(params, found.model, found.solved, loo, seconds, found.scores, found.mass, found.between)


def _metric(tuner: LTCNClassifierCV) -> str | None:
    return None if tuner.decision == "argmax" else tuner.decision_metric
