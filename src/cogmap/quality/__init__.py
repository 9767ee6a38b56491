"""How good models are, and what differs between two.

Read `folds` (models that did not see the rows which they predict), `evaluation` (of one), `comparison` (of two).
"""
