"""
Can it draw a curved border?
============================

Without reasoning, a network of two concepts is nearly a straight line. Iterations bend it, and so do linguistic terms
("x0 is low"). The stack tries both, and remembered rows and surfaces, and trusts what predicts rows that it has not
seen.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import make_moons

from cogmap import LTCNClassifier, LTCNClassifierCV

X, y = make_moons(300, noise=0.25, random_state=0)
new, truth = make_moons(1000, noise=0.25, random_state=1)
models = {
    "φ = 0: no reasoning": LTCNClassifier(phi=0.0),
    "LTCNClassifier()": LTCNClassifier(),
    "terms=5": LTCNClassifier(terms=5),
    "LTCNClassifierCV()": LTCNClassifierCV(),
}

# %%
# The colour is the probability, the line is where it is one half:

across, up = np.meshgrid(np.linspace(-1.8, 2.8, 90), np.linspace(-1.3, 1.8, 70))
grid = np.column_stack([across.ravel(), up.ravel()])
fig, axes = plt.subplots(
    2, 2, figsize=(8.5, 6), layout="constrained", sharex=True, sharey=True
)
for ax, (name, model) in zip(axes.flat, models.items(), strict=True):
    probability = model.fit(X, y).predict_proba(grid)[:, 1].reshape(across.shape)
    ax.contourf(
        across, up, probability, levels=np.linspace(0, 1, 11), cmap="PuOr", alpha=0.5
    )
    ax.contour(across, up, probability, levels=[0.5], colors="black")
    for label, marker in ((0, "o"), (1, "s")):
        ax.scatter(
            *X[y == label].T,
            s=9,
            marker=marker,
            edgecolor="black",
            linewidth=0.4,
            color=("#b35806", "#542788")[label],
        )
    ax.set_title(f"{name}\naccuracy on new rows {model.score(new, truth):.3f}", fontsize=10)

# %%
# Where the stack puts its trust, by rows that each member has not seen:

results = models["LTCNClassifierCV()"].cv_results_
kinds = {
    False: "network",
    True: "remembered rows by a straight distance or its square",
    "axes": "remembered rows by sums along the axes",
}
for parameters, weight in zip(results["params"], results["stack_weight"], strict=True):
    kind = "surfaces of pairs" if parameters.get("pairs") else kinds[parameters["cases"]]
    terms = f"{parameters['terms']} terms" if parameters["terms"] else "no terms"
    print(f"{weight:.2f}  {kind}, {parameters['inner']}, {terms}")
