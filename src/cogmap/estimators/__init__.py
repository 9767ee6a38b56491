"""Classifiers in scikit-learn's manner: they check, call the core and keep what it found.

Read `base` (what all share), `classifier` (one network), `tuned` (several, stacked), `tabular` (raw tables), `batches`
(rows that come some at a time).
"""
