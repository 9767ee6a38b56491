"""What makes rows alike for a model: how far each concept counts in its metrics, and the rules of its regions.

Distances are ‖(a − v) L‖ of initial states a and v, straight ones, their squares, or sums along the axes. The
diagonal of L Lᵀ says how far each concept counts by itself in a straight one or its square; in a sum it is the diagonal
of L, which has no other entries. Where regions have metrics of their own, each counts as far as it has cases.
"""

from typing import Any

import numpy as np

from ..core.concepts.concepts import Concepts
from ..core.fit.fitted import Fitted
from ..core.resemblance.distance import Metric
from ..core.resemblance.regions import BEYOND, RegionReadout
from ..core.types import Array
from ..intake.checks import module


def resemblance_frame(fitted: Fitted) -> Any:
    """See `resemblance`."""
    pandas = module("pandas", "explain")
    lines = []
    for name, model in _remembering(fitted):
        readout = model.readout
        cases = np.diff(readout.ends, prepend=0) / len(readout.cases)
        shares = sum(share * _shares(metric) for share, metric in zip(cases, readout.metrics, strict=True))
        named = zip(model.concepts.names(fitted.feature_names), shares, strict=True)
        lines += [(name, readout.metric.distance, concept, share) for concept, share in named]
    frame = pandas.DataFrame(lines, columns=["network", "distance", "concept", "share"])
    order = ["network", "distance", "share"]
    return frame.sort_values(order, ascending=[True, False, False], kind="stable", ignore_index=True)


def _shares(metric: Metric) -> Array:
    """Return how far each concept counts in a metric, as a share of all."""
    stretch = np.diagonal(metric.map) if metric.distance == "axes" else (metric.map**2).sum(axis=1)
    shares: Array = stretch / stretch.sum()
    return shares


def regions_frame(fitted: Fitted) -> Any:
    """See `regions`."""
    pandas = module("pandas", "explain")
    lines = []
    for name, model in _remembering(fitted):
        boxes, sizes = model.readout.boxes, np.diff(model.readout.ends, prepend=0)
        for low, high, size in zip(boxes.low, boxes.high, sizes.tolist(), strict=True):
            text = rule(model.concepts, fitted.feature_names, low, high)
            lines.append((name, model.readout.metric.distance, text, size))
    return pandas.DataFrame(lines, columns=["network", "distance", "rule", "cases"])


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
