"""Outer weights: from what the network does to class scores.

A readout is a frozen value with `terms`: what each concept adds at each iteration. Read `terms`, then the five kinds:
`states` (the paper's), `shrunken` (innovations, shrunk and gated by leave-one-out), `ridge` (increments) with `dual`
(more columns than rows), `cases` (remembered rows), `pairs` (curves and surfaces, read at A⁰) with `halves` (ridges
whose columns the classes chose). `design` is what least squares read of a block of rows, `valley`
a search along a line of penalties.
"""
