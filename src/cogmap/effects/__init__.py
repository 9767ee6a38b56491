"""Effects of features on predictions: `feature_effect` of one, `pair_effect` of two."""

from .effects import feature_effect, pair_effect

__all__ = ["feature_effect", "pair_effect"]
