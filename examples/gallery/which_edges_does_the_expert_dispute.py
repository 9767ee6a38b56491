"""
Which edges does the expert dispute?
====================================

A wine maker (she and her statements are made up) reads the map, strikes out what she does not believe, and says why.
The network is solved again under her statements, exactly; and we see what that costs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

from cogmap import Knowledge, LTCNClassifier

X, y = load_wine(return_X_y=True, as_frame=True)
X = X[["alcohol", "malic_acid", "flavanoids", "color_intensity", "hue", "proline"]]
model = LTCNClassifier(inner="regression").fit(X[::2], y[::2])

# %%
# What she states, with name and reason, which the model keeps:

stated = (
    Knowledge()
    .forbid(
        "proline", "hue", author="A. Vintner", reason="an amino acid does not colour a wine"
    )
    .sign(
        "alcohol",
        "hue",
        "-",
        author="A. Vintner",
        reason="riper grapes, more of both alcohol and brown",
    )
    .at_most(
        "alcohol",
        "color_intensity",
        1.0,
        author="A. Vintner",
        reason="a trial of 2025 found less",
    )
)
edited = model.edit(stated, X[::2], y[::2])
print(edited.knowledge_)

# %%
# Before and after, as matrices. A frame marks the edges that she speaks of:

names = list(model.concept_names_)
disputed = [(names.index(s.source), names.index(s.target)) for s in edited.knowledge_]
limit = abs(model.inner_weights_).max()
fig, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained", sharey=True)
for ax, title, network in zip(
    axes, ("as learned", "under her statements"), (model, edited), strict=True
):
    image = ax.imshow(network.inner_weights_, cmap="PuOr_r", vmin=-limit, vmax=limit)
    for (j, i), weight in np.ndenumerate(network.inner_weights_):
        ax.text(i, j, f"{weight:.1f}" if i != j else "", ha="center", va="center", fontsize=8,
                color="white" if abs(weight) > 0.7 * limit else "black")  # fmt: skip
    for j, i in disputed:
        ax.add_patch(
            plt.Rectangle(
                (i - 0.5, j - 0.5), 1, 1, fill=False, edgecolor="black", linewidth=2.5
            )
        )
    ax.set(title=title, xticks=range(6), yticks=range(6), yticklabels=names)
    ax.set_xticklabels(names, rotation=40, ha="right")
axes[0].set_ylabel("from")
_ = fig.colorbar(image, ax=axes, label="inner weight")

# %%
# What did it cost? On rows that neither has seen:

print(model.compare(edited, X[1::2], y[1::2]))
