"""Effects of features on predictions, by accumulated local effects: `feature_effect` of one, `pair_effect` of two.

Read `subject` (what is moved, and what predicts), `effects`, `results` (what is returned). The formulas are in
`core.explain.effects`.
"""

from .effects import feature_effect, pair_effect

__all__ = ["feature_effect", "pair_effect"]
