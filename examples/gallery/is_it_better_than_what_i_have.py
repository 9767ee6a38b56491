"""
Is it better than what I have?
==============================

Two tables, five folds, the same for all: accuracy, and log loss, which asks for honest probabilities too.
"""

import matplotlib.pyplot as plt
import pandas as pd
from palmerpenguins import load_penguins
from sklearn.datasets import load_wine
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cogmap import LTCNClassifier, LTCNClassifierCV

models = {
    "LTCNClassifierCV": LTCNClassifierCV(),
    "LTCNClassifier": LTCNClassifier(),
    "random forest": RandomForestClassifier(100, random_state=0),
    "logistic regression": make_pipeline(
        StandardScaler(), LogisticRegression(max_iter=1000)
    ),
}
folds = StratifiedKFold(5, shuffle=True, random_state=0)
found = []
birds = load_penguins().dropna()
tables = {
    "wine": load_wine(return_X_y=True),
    "penguins": (
        birds[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]],
        birds["sex"],
    ),
}
for table, (X, y) in tables.items():
    for name, model in models.items():
        scores = cross_validate(model, X, y, cv=folds, scoring=("accuracy", "neg_log_loss"))
        found += [
            {"table": table, "model": name, "accuracy": a, "log loss": -loss}
            for a, loss in zip(
                scores["test_accuracy"], scores["test_neg_log_loss"], strict=True
            )
        ]
found = pd.DataFrame(found)
found.groupby(["table", "model"], sort=False).mean().round(3)

# %%
# Every fold is a dot. Differences that are smaller than the scatter of the dots should not be believed from two tables:

fig, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained", sharey=True)
for ax, score in zip(axes, ("accuracy", "log loss"), strict=True):
    for table, marker in (("wine", "o"), ("penguins", "^")):
        part = found[found["table"] == table]
        ax.scatter(part[score], part["model"], marker=marker, alpha=0.6, label=table)
    ax.set(xlabel=score)
    ax.spines[["top", "right"]].set_visible(False)
axes[0].invert_yaxis()
_ = axes[1].legend(frameon=False)

# %%
# Over many tables it was measured with tuned rivals, more seeds and tests: :doc:`/accuracy`.
