"""All put together: from training rows to a network with its readout, and what its decision is fitted to.

Read `model` (one network), `fitted` (what every fit ends with), `passes` (a fit to blocks of rows, wherever they are),
`judges` (the rows that decide few parameters), `at_once` (what needs all rows), `batches` (rows that come some at a
time).
"""
