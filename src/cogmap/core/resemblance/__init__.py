"""Remembered rows: a row is scored by those that it resembles.

Read `distance` (how much rows resemble each other), `metric` (a metric of it that the classes teach), `cases` (rows
remembered together with the innovations of a network), `regions` (rows remembered by themselves, in boxes that are
readable rules) and `remembered` (what both add to scores in numpy). They are readouts as `readout.terms` says.
"""
