"""What makes rows alike for a model: how far each concept counts in its metrics, and the rules of its regions.

Distances are ‖(a − v) L‖ of initial states a and v. The diagonal of L Lᵀ says how far each concept counts by itself.
"""

from typing import Any

import numpy as np

from ..core.concepts.concepts import Concepts
from ..core.fit.fitted import Fitted
from ..core.resemblance.regions import BEYOND, RegionReadout
from ..intake.checks import module


def resemblance_frame(fitted: Fitted) -> Any:
    """See `resemblance`."""
    pandas = module("pandas", "explain")
    lines = []
    for name, model in _remembering(fitted):
        stretch = (model.readout.metric.map**2).sum(axis=1)
        concepts = model.concepts.names(fitted.feature_names)
        lines += [(name, concept, share) for concept, share in zip(concepts, stretch / stretch.sum(), strict=True)]
    frame = pandas.DataFrame(lines, columns=["network", "concept", "share"])
    return frame.sort_values(["network", "share"], ascending=[True, False], kind="stable", ignore_index=True)


def regions_frame(fitted: Fitted) -> Any:
    """See `regions`."""
    pandas = module("pandas", "explain")
    lines = []
    for name, model in _remembering(fitted):
        boxes, sizes = model.readout.boxes, np.diff(model.readout.ends, prepend=0)
        for low, high, size in zip(boxes.low, boxes.high, sizes.tolist(), strict=True):
            lines.append((name, rule(model.concepts, fitted.feature_names, low, high), size))
    return pandas.DataFrame(lines, columns=["network", "rule", "cases"])


def rule(concepts: Concepts, features: tuple[str, ...], low: Any, high: Any) -> str:
    """Say which rows are in a box, in the units of the features; of a term, how far it may hold."""
    names, parts, start = concepts.names(features), [], 0
    for values, heights, peaks in zip(concepts.scaling.values, concepts.scaling.heights, concepts.peaks, strict=True):
        for k in range(start, start + max(1, len(peaks))):
            for side, word in ((low[k], "above"), (high[k], "at most")):
                if abs(side) < BEYOND:
                    shown = side if len(peaks) else np.interp(side, heights, values)
                    parts.append(f"{names[k]} {'' if len(peaks) else 'is '}{word} {shown:.4g}")
        start += max(1, len(peaks))
    return " and ".join(parts) or "every row"


def _remembering(fitted: Fitted) -> list[tuple[str, Any]]:
    """Return the members that remember rows in regions, with the names of their networks."""
    names = {id(model.network): name for model, name in zip(fitted.networks, fitted.network_names, strict=True)}
    members = [model for model, _ in fitted.members if isinstance(model.readout, RegionReadout)]
    if not members:
        raise ValueError("The model remembers no rows in regions: LTCNClassifierCV does where neighbours matter.")
    return [(names[id(model.network)], model) for model in members]
