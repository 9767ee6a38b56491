"""From raw class scores to log-odds, probabilities and a class.

One module, `decision`. Import `Decision` (the map), `decide` (which fits it to leave-one-out scores), `METRICS` and
`evidence_directions` (what explanations explain).
"""
