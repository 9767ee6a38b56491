"""`LTCNClassifierCV.fit` of rows on a device: every configuration by the passes, stacked by judges' scores."""

import time
from typing import Any

from ..core.device.scaling import fit_concepts
from ..core.device.source import DeviceSource
from ..core.device.space import DeviceArray, Space
from ..core.fit.model import Settings, Summary
from ..core.fit.passes import judge_blocks, passable
from ..knowledge.edges import check_terms
from .classifier import LTCNClassifier
from .device import Taken, source_of, taken_in
from .tuned import Candidate, LTCNClassifierCV


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
    candidates, summaries = zip(*(_candidate(tuner, space, taken, source, *given) for given in settled), strict=True)
    check_terms(tuner.knowledge_, tuner._feature_names(), [c.model.concepts for c in candidates])
    tuner._combine(candidates, summaries[-1])
    return True


def _candidate(
    tuner: LTCNClassifierCV,
    space: Space,
    taken: Taken,
    source: DeviceSource[Any],
    params: dict[str, Any],
    settings: Settings,
) -> tuple[Candidate, Summary]:
    start = time.perf_counter()
    found = judge_blocks(source, taken.known, settings, fit_concepts(space, *taken, settings))
    candidate = tuner._candidate(params, found.model, found.solved, found.scores, found.between, start)
    return candidate, found.summary
