"""
Calibrated probabilities
========================

``predict_proba`` is calibrated by leave-one-out: no rows have to be held back for it. This page shows how to check that
on your own table, and what to do where it is not enough.
"""

# %%
# Draw the curve
# --------------
# Of the rows that get a probability of about .8, eight in ten should be right. We compare with two common
# classifiers, by five-fold cross-validation:

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.calibration import calibration_curve
from sklearn.ensemble import RandomForestClassifier
from sklearn.datasets import make_classification
from sklearn.metrics import log_loss
from sklearn.model_selection import cross_val_predict
from sklearn.naive_bayes import GaussianNB

from cogmap import LTCNClassifier

X, y = make_classification(
    1200, 10, n_informative=5, n_redundant=2, flip_y=0.15, class_sep=0.8, random_state=4
)
models = {
    "LTCNClassifier": LTCNClassifier(),
    "random forest": RandomForestClassifier(100, random_state=0),
    "naive Bayes": GaussianNB(),
}

fig, ax = plt.subplots(figsize=(5.5, 4.6), layout="constrained")
ax.plot([0, 1], [0, 1], color="grey", linestyle=":", label="what it should be")
losses = {}
for name, model in models.items():
    probability = cross_val_predict(model, X, y, method="predict_proba")[:, 1]
    share, mean = calibration_curve(y, probability, n_bins=8, strategy="quantile")
    ax.plot(mean, share, marker="o", label=name)
    losses[name] = log_loss(y, np.clip(probability, 1e-9, 1 - 1e-9))
ax.set(xlabel="probability that was given", ylabel="share that it was true for")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# *Log loss* sums it up; lower is better, and a single certain error costs much:

pd.Series(losses, name="log loss").round(3).to_frame()

# %%
# In the library
# --------------
# ``cogmap evaluate`` prints the same as a table, and so does Python:

from cogmap.quality.evaluation import cross_validate

evaluation = cross_validate(LTCNClassifier(), X, y)
print(
    f"calibration error {evaluation.calibration_error:.3f}, log loss {evaluation.log_loss:.3f}"
)

# %%
# What the numbers are
# --------------------
# - ``decision_function`` is the log-odds of ``predict_proba``; there is no second calibration between them.
# - ``decision_metric`` moves what ``predict`` names and no probability. ``class_weight`` and ``sample_weight`` change
#   them, since they say that rows are more frequent than they are here (:doc:`imbalanced`).
# - A row that resembles no training row is *clipped* to the training range, and its reasoning stops where it would
#   extrapolate. It still gets a probability. Look for such rows yourself where they may come.
# - Probabilities are those of the population that the rows came from. If the disease is rarer where the model is used,
#   they must be corrected: multiply each class's probability by (share there / share here), and divide by the sum.

here, there = np.array([0.5, 0.5]), np.array([0.9, 0.1])
p = LTCNClassifier().fit(X, y).predict_proba(X[:3])
corrected = p * (there / here)
print((corrected / corrected.sum(axis=1, keepdims=True)).round(3))
