"""
Does the network come to rest?
==============================

A recurrent network may settle, swing between states, or wander. ``diagnose`` says which, for each row; the map of φ
and T says whether it matters for the predictions.
"""

import warnings

import matplotlib.pyplot as plt
from sklearn.datasets import load_iris

from cogmap import IllConditionedWarning, LTCNClassifier
from cogmap.plots import PhiIterationDisplay

X, y = load_iris(return_X_y=True, as_frame=True)
calm = LTCNClassifier(max_iter=50).fit(X, y)
print("default:                         ", calm.diagnose(X))
with warnings.catch_warnings():
    warnings.simplefilter(
        "ignore", IllConditionedWarning
    )  # the paper's readout says that rounding decides part of it
    wild = LTCNClassifier.paper(max_iter=50, phi=1.0).fit(X, y)
print("the paper's regressions at φ = 1:", wild.diagnose(X))

# %%
# The same flower in both networks:

fig, axes = plt.subplots(1, 2, figsize=(9, 3), layout="constrained", sharey=True)
for ax, title, network in zip(
    axes, ("default", "the paper's regressions, φ = 1"), (calm, wild), strict=True
):
    states = network.trajectory(X.iloc[[100]])[0]
    lines = ax.plot(states)
    ax.set(title=title, xlabel="iteration", xlim=(0, 20))
    ax.spines[["top", "right"]].set_visible(False)
axes[0].set_ylabel("state")
_ = axes[0].legend(lines, X.columns, frameon=False, fontsize=8, loc="center right")

# %%
# Kappa by cross-validation for shares φ of the activation and numbers T of iterations:

display = PhiIterationDisplay.from_estimator(
    LTCNClassifier(), X, y, phis=(0.0, 0.4, 0.8, 1.0), iterations=(1, 3, 10), cv=3
)

# %%
# Hardly a difference: iris needs no reasoning, and what iterations may add is shrunk by leave-one-out, so that a larger
# T does hardly any harm. The network on the right swings for ever, and would be read at a different point for every T.
