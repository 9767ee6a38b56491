"""
Imbalanced classes
==================

One class in twenty is the one that you care about, and the model seldom names it. Three remedies, from the one that
changes least: move the decision, choose a threshold by what errors cost, weigh the classes.
"""

# %%
# The problem
# -----------

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, recall_score
from sklearn.model_selection import train_test_split

from cogmap import LTCNClassifier

X, y = make_classification(
    1500, 8, n_informative=4, weights=[0.95], class_sep=0.7, flip_y=0.02, random_state=3
)
X_train, X_test, y_train, y_test = train_test_split(
    X, y, stratify=y, test_size=0.5, random_state=0
)


def scores(predicted):
    """Return what is asked of a decision, on the rows that were held back."""
    return {
        "accuracy": (predicted == y_test).mean(),
        "balanced accuracy": balanced_accuracy_score(y_test, predicted),
        "kappa": cohen_kappa_score(y_test, predicted),
        "found of the rare class": recall_score(y_test, predicted),
    }


plain = LTCNClassifier().fit(X_train, y_train)
pd.DataFrame({"the most probable class": scores(plain.predict(X_test))}).round(2)

# %%
# Nothing is wrong with the model: where a row is rare with a probability of .3, the frequent class *is* the better bet,
# if both errors cost the same.
#
# Move the decision
# -----------------
# ``decision_metric`` moves it, as far as leave-one-out gains in that metric. The probabilities stay as they are:

balanced = LTCNClassifier(decision_metric="balanced_accuracy").fit(X_train, y_train)
kappa = LTCNClassifier(decision_metric="kappa").fit(X_train, y_train)
print(
    "largest change of a probability:",
    abs(balanced.predict_proba(X_test) - plain.predict_proba(X_test)).max(),
)
pd.DataFrame(
    {
        "accuracy": scores(plain.predict(X_test)),
        "kappa": scores(kappa.predict(X_test)),
        "balanced_accuracy": scores(balanced.predict(X_test)),
    }
).round(2).rename_axis(columns="decision_metric")

# %%
# Or choose by cost
# -----------------
# If you know what errors cost, you need no metric. Say a missed rare row costs ten times as much as a false alarm: name
# it rare wherever its probability is above 1 / (1 + 10). That is right if probabilities are, and they are calibrated by
# leave-one-out (:doc:`probabilities`).

rare = plain.predict_proba(X_test)[:, 1]
thresholds = np.linspace(0.01, 0.9, 90)
costs = [
    10 * ((rare <= t) & (y_test == 1)).sum() + ((rare > t) & (y_test == 0)).sum()
    for t in thresholds
]

fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
ax.plot(thresholds, costs)
ax.axvline(1 / 11, color="black", linestyle=":")
ax.annotate(
    "1 / (1 + 10)", (1 / 11, max(costs) * 0.97), xytext=(6, 0), textcoords="offset points"
)
ax.set(
    xlabel="named rare above this probability",
    ylabel="cost on rows held back",
    ylim=(0, None),
)
ax.spines[["top", "right"]].set_visible(False)

# %%
# Or weigh the classes
# --------------------
# ``class_weight="balanced"`` counts a rare row as often as makes the classes equal, in the fit and in the decision.
# That changes the probabilities too: they are then those of a world in which both classes are equally frequent. Use
# it where you mean that, and not to obtain probabilities for this world.

weighted = LTCNClassifier(class_weight="balanced").fit(X_train, y_train)
print("mean probability of the rare class:")
print(f"  plain    {rare.mean():.3f}, truly {y_test.mean():.3f}")
print(f"  weighted {weighted.predict_proba(X_test)[:, 1].mean():.3f}")
