"""Classifiers in scikit-learn's manner: they check, call the core and keep what it found.

Read `base` (what all share: one fitted value, and what follows from it), with `training_rows` (taking rows in) and
`explaining` (handing over to the room `explain`); `classifier` (one network), `tuned` (several, stacked), `tabular`
(raw tables) with `tabular_explaining`, `batches` (rows that come some at a time), `loading` (models from files).
"""
