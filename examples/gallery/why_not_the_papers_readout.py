"""
Why not the readout as printed?
===============================

The paper reads all states by a pseudoinverse. States of a network that comes to rest resemble each other, so the outer
weights become huge and cancel; rounding then decides. The default reads increments instead.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from cogmap import LTCNClassifier
from cogmap.plots import OuterWeightsDisplay

X, y = load_wine(return_X_y=True, as_frame=True)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    printed = LTCNClassifier.paper(inner="slopes", tol=0.0).fit(X[::2], y[::2])
default = LTCNClassifier().fit(X[::2], y[::2])
print(f"{caught[0].category.__name__}: {caught[0].message}")
print(
    f"condition number: as printed {printed.condition_:.0e}, default {default.condition_:.0e}"
)

# %%
# Now the rows that are predicted are moved by a billionth of their spread, as no measurement could notice:

rows = X[1::2]
moved = rows + 1e-9 * rows.std().to_numpy() * np.random.default_rng(0).normal(
    size=rows.shape
)
fig, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
for name, model in (("as printed", printed), ("default", default)):
    scores = model.decision_function(rows)
    change = (
        np.abs(model.decision_function(moved) - scores).max(axis=1) / np.abs(scores).max()
    )
    ax.plot(np.sort(np.maximum(change, 1e-17)), label=name)
ax.set(yscale="log", xlabel="rows, sorted", ylabel="change of the largest score, relative")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# Outer weights of the printed readout, by iteration:

display = OuterWeightsDisplay.from_estimator(printed)

# %%
# What the library promises instead, measured on thirty tables: :doc:`/numerics`.
