"""The passes of a fit, and prediction, on arrays of another library than numpy, where they are: most often on a GPU.

What is computed for every row runs there, in blocks as large as memory allows; what does not grow with the rows (inner
weights, knots, the map to innovations, triangular factors, the decision's parameters) is computed by the rest of the
core, in numpy. Each module is the counterpart of the one of the same name in the core, or says whose.
"""
