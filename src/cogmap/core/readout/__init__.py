"""Outer weights: from what the network does to class scores.

Read `states` (the paper's), `shrunken` (on innovations, by leave-one-out), `ridge` and `dual` (on increments), `cases`
(remembered rows), `terms` (a score as a sum over concepts and iterations).
"""
