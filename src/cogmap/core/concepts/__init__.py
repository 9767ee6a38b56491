"""From rows to initial states: each varying feature is scaled, and is one concept or several linguistic terms.

Read `scaling` (knots of every scaling), `cells` (the same knots from blocks that are never held), `concepts`.
"""
