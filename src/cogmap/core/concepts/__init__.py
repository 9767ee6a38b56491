"""From features to initial states A⁰: each varying feature is scaled, and is one concept or several linguistic terms.

Import `Concepts` (the map) and `fit_concepts` (which learns it from a source) from `concepts`. Read `scaling` (knots of
every scaling, and the lines between them), `cells` (the same knots from blocks that are never held), `concepts`.
"""
