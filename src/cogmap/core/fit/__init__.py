"""All put together: from training rows, wherever they are, to a network with its readout and its leave-one-out scores.

Import `fit_network` from `fit`, `Fitted` from `fitted`, `Model` and `Settings` from `model`. Read `model` (one
network), `network` (the draft: concepts and inner weights), `fit` (the order of a fit), `shrinking` (the readout on
innovations), `judges` (rows that decide few parameters), `at_once` (what few rows allow), `pairs` (curves and
surfaces), `batches` (rows that come some at a time), `fitted` (what every fit of a classifier ends with).
"""
