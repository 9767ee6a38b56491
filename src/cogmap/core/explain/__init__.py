"""What a fitted network says of itself, as arrays; the room `cogmap.explain` makes objects and words of it.

Read `contributions` (scores as sums over concepts and iterations, of several members), `relevance` (of features),
`effect_axis` and `effects` (how the prediction moves as a feature does: accumulated local effects).
"""
