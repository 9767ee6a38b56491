"""Outer weights: from what the network does to class scores.

A readout is a frozen value with `terms`: what each concept adds at each iteration. Read `terms`, then the kinds that
read iterations: `states` (the paper's), `shrunken` (innovations, shrunk and gated by leave-one-out), `ridge`
(increments) with `dual` and `spectrum` (more columns than rows). `design` is what least squares read of a block of
rows, `folded` what numpy makes of a readout to score many. The rooms `resemblance` and `curves` have the other kinds.
"""
