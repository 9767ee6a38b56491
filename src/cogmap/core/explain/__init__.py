"""What a fitted network says of itself: `relevance` of features, `effects` of a feature along an `effect_axis`."""
