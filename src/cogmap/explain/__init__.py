"""Why rows got their class, and which features matter.

Read `evidence` (by `shapley`), `explanation` with its views `frames`, `text`, `html`, `words`; `columns` (of raw
tables), `flips` (what would change the class), `relevance`.
"""
