"""From raw class scores to log-odds, probabilities and a class.

Read `decision`, then `logistic`, which corrects what it says of more than two classes. Import `Decision` (the map),
`decide` (which fits it to leave-one-out scores), `METRICS` and `evidence_directions` (what explanations explain).
"""
