"""Why rows got their class, and which features matter, as objects, frames and words; all of it of a `Fitted`.

Read `evidence` (what features add, by `shapley`), `explanation` with its views `frames`, `text`, `html` (by `bars`) and
`words`; `columns` (of raw tables), `flips` (what would change the class), `relevance` and `relevance_table`.
Explanations come from `explain` of an estimator.
"""
