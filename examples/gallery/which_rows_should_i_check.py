"""
Which rows should I check by hand?
==================================

Some labels in your table are wrong, and you can check thirty rows and no more. Look where models that have not seen a
row disagree most with its label.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import cross_val_predict

from cogmap import LTCNClassifier

X, y = load_breast_cancer(return_X_y=True, as_frame=True)
chance = np.random.default_rng(0)
wrong = chance.choice(
    len(y), 25, replace=False
)  # we spoil 25 labels, and see whether they are found
noted = y.to_numpy().copy()
noted[wrong] = 1 - noted[wrong]

# %%
# The probability of the noted label, by models that did not see the row:

probability = cross_val_predict(LTCNClassifier(), X, noted, cv=5, method="predict_proba")
of_noted = probability[np.arange(len(y)), noted]
order = np.argsort(of_noted)
spoiled = np.isin(order, wrong)

fig, ax = plt.subplots(figsize=(7, 3.2), layout="constrained")
ax.scatter(
    np.flatnonzero(~spoiled),
    of_noted[order][~spoiled],
    s=8,
    color="grey",
    label="label as it was",
)
ax.scatter(
    np.flatnonzero(spoiled),
    of_noted[order][spoiled],
    s=26,
    marker="x",
    color="#d55e00",
    label="label spoiled",
)
ax.axvline(29.5, color="black", linestyle=":")
ax.annotate("thirty rows", (29.5, 0.9), xytext=(4, 0), textcoords="offset points")
ax.set(
    xlabel="rows, the most suspicious first",
    ylabel="probability of the noted label",
    xlim=(-3, 150),
)
ax.legend(frameon=False, loc="lower right")
ax.spines[["top", "right"]].set_visible(False)
print(f"{spoiled[:30].sum()} of 25 spoiled labels are among the first 30 rows")

# %%
# The others in that list are tumours that are unusual for their kind: those deserve a second look too. The report has
# the worst errors with their evidence (``cogmap report``).
