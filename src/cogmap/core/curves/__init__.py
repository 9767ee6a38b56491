"""Curves of concepts and surfaces of pairs of concepts, read at A⁰.

Read `pairs` (the readout, its knots and ramps), `halves` (ridges whose columns the classes chose, judged by the other
half of the rows), `search` (which pairs matter, from one pass over all of them) and `odds` (log-odds of two classes).
"""
