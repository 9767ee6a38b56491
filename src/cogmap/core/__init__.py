"""The mathematics of recurrence-aware Long-Term Cognitive Networks: free functions on arrays and frozen values.

Each room may import from those below it, and all know numpy and scipy only. No state, no files, no scikit-learn.
Read `network` (the paper's equations 1 to 4) and `readout.states` (5 to 8) first, then from the bottom to the top:
`sums` (rows in blocks, and sums over them), `network`, `concepts` (from features to initial states), `trajectory` (what
each iteration adds), `readout` (outer weights), `decision` (log-odds and classes), `fit` (all put together), `explain`
(scores as sums, relevance, effects). `constants` has every constant of the readout. Import from the modules themselves.
"""
