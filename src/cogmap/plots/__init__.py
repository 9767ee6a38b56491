"""Pictures of a fitted network, one Display a file, after scikit-learn's Display contract.

A Display holds computed data; `from_estimator` computes and draws, `plot(ax=None)` draws again. Drawing needs the
extra ``plot``.
"""

from .cognitive_map import CognitiveMapDisplay
from .trajectory import TrajectoryDisplay

__all__ = ["CognitiveMapDisplay", "TrajectoryDisplay"]
