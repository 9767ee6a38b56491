"""
What would have changed the decision?
=====================================

For every row, the smallest change of one measurement that gives another class; and for one row, the whole way there.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from palmerpenguins import load_penguins

from cogmap import LTCNClassifier, TabularClassifier

birds = load_penguins().dropna()
X, y = birds.drop(columns=["sex", "year"]), birds["sex"]
model = TabularClassifier(LTCNClassifier()).fit(X, y)

# %%
# Four birds. Each line names one column, its value, and the nearest value at which the class is another one:

flips = model.explain(X.iloc[[0, 60, 180, 300]]).flips()
flips

# %%
# A change is small if it passes few other birds: ``scaled_change`` is in units of the scaled column, so that grams and
# millimetres can be compared. It is a fact about the *model*. A bird does not become female by losing weight.
#
# What lies between? The probability of male, as the first bird's measurement moves:

flip = flips.iloc[0]
bird = X.loc[[flip["row"]]]
values = np.linspace(X[flip["feature"]].min(), X[flip["feature"]].max(), 80)
moved = pd.concat([bird] * len(values), ignore_index=True).assign(
    **{flip["feature"]: values}
)

fig, ax = plt.subplots(figsize=(6.5, 3.2), layout="constrained")
ax.plot(values, model.predict_proba(moved)[:, 1])
ax.axhline(0.5, color="grey", linewidth=0.8)
ends = sorted(
    [
        (flip["from"], f"as it is: {flip['class']}"),
        (flip["to"], f"from here on {flip['new_class']}"),
    ]
)
for (value, words), side, height in zip(ends, ("right", "left"), (0.9, 0.1), strict=True):
    ax.axvline(value, color="black", linestyle=":")
    shift = 4 if side == "left" else -4
    ax.annotate(
        words, (value, height), xytext=(shift, 0), textcoords="offset points", ha=side
    )
ax.set(xlabel=flip["feature"], ylabel="probability of male", ylim=(0, 1))
ax.spines[["top", "right"]].set_visible(False)
