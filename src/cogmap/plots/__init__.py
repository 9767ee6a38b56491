"""Pictures of a fitted network, one Display a file, after scikit-learn's Display contract.

A Display holds computed data; `from_estimator` computes and draws, `plot(ax=None)` draws again and sets `ax_` and
`figure_`, `frame()` returns what is drawn as a pandas DataFrame. Drawing needs the extra ``plot``.
Read `drawing` (axes, colours, short names), `ring` (where the concepts of a map stand), then any Display.
"""

from .cognitive_map import CognitiveMapDisplay
from .effect import EffectDisplay
from .outer_weights import OuterWeightsDisplay
from .phi_iteration import PhiIterationDisplay
from .relevance import RelevanceDisplay
from .trajectory import TrajectoryDisplay
from .waterfall import WaterfallDisplay

__all__ = [
    "CognitiveMapDisplay",
    "EffectDisplay",
    "OuterWeightsDisplay",
    "PhiIterationDisplay",
    "RelevanceDisplay",
    "TrajectoryDisplay",
    "WaterfallDisplay",
]
