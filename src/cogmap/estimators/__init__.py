"""Classifiers in scikit-learn's manner: they check, call the core, and keep one `Fitted`.

Read `base` (what all share) with `explaining` (handing over to the room `explain`), `fitting` (one way to fit, wherever
the rows are), `classifier` (one network), `tuned` (several, stacked), `batches` (`partial_fit`); `tabular` (raw tables)
with `tabular_explaining` and `tabular_stream` (in files); `loading` (models from files). The classes and `load` are
public as `cogmap.LTCNClassifier` and so on.
"""
