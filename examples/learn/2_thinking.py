"""
How the network thinks
======================

This page follows one penguin through the network: what goes in, what the concepts say to each other, what each round of
that adds, and how an answer is read from it. Four measurements, two answers (female, male), and no mathematics until
the last section.
"""

# %%
# The bird
# --------
# The Adelie penguins of Palmer Station have four measurements each. A network is fitted to all of them; then we look at
# one.

import matplotlib.pyplot as plt
import numpy as np
from palmerpenguins import load_penguins

from cogmap import LTCNClassifier

birds = load_penguins().dropna().query("species == 'Adelie'")
names = {
    "bill_length_mm": "bill length",
    "bill_depth_mm": "bill depth",
    "flipper_length_mm": "flipper length",
    "body_mass_g": "body mass",
}
X, y = birds[list(names)].rename(columns=names), birds["sex"]
network = LTCNClassifier(inner="stable-regression").fit(X, y)
bird = X.iloc[[0]]
bird

# %%
# 1. A measurement becomes a state
# --------------------------------
# Millimetres and grams cannot be compared. So each measurement becomes a number between 0 and 1 that says where it
# stands among all birds: half of it counts how far it lies between the smallest and the largest, half of it how many
# birds have less. That number is the *state* of a *concept*. There is one concept for each measurement, and it keeps
# its name.

states = network.trajectory(bird)[
    0
]  # one line for each iteration, the first are the measurements
colours = dict(zip(X.columns, ("#0072b2", "#d55e00", "#009e73", "#cc79a7"), strict=True))

fig, ax = plt.subplots(figsize=(6.5, 2.4), layout="constrained")
ax.barh(X.columns, states[0], color=colours.values())
for k, (value, state) in enumerate(zip(bird.to_numpy()[0], states[0], strict=True)):
    ax.text(state + 0.01, k, f"{value:g}  →  {state:.2f}", va="center")
ax.set(xlim=(0, 1), xlabel="state: 0 is the least of all birds, 1 the most")
ax.invert_yaxis()
ax.spines[["top", "right"]].set_visible(False)

# %%
# This bird has a short flipper, and all else is near the middle.
#
# 2. Concepts speak to each other
# -------------------------------
# In birds, measurements go together: a heavy bird mostly has a deep bill. The network has learned this from the birds
# *without being told their sex*. It is the cognitive map: an arrow from body mass to bill depth says how far a bird's
# bill depth follows from its mass, the other measurements as they are.

from cogmap.plots import CognitiveMapDisplay

display = CognitiveMapDisplay.from_estimator(network)

# %%
# In each round, the *iteration*, every concept hears from the others and moves towards what they suggest. But it never
# forgets where it began: a fifth of the new state is always the measurement itself (φ = 0.8 is the share of the rest).

fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
for k, name in enumerate(X.columns):
    ax.plot(states[:, k], marker="o", color=colours[name], label=name)
ax.set(xlabel="iteration (0: the measurements)", ylabel="state", xticks=range(len(states)))
ax.legend(frameon=False, ncols=2)
ax.spines[["top", "right"]].set_visible(False)

# %%
# Look at the flipper. It is short, but the rest of the bird is not small, so the others pull it up: "for a bird of this
# mass I expected a longer flipper". The bill and the mass move a little the other way. After a few rounds hardly
# anything moves any more. The network comes to rest.
#
# 3. What each round adds: the increments
# ---------------------------------------
# The early rounds say almost everything. What a round *adds* beyond all rounds before it is called an increment. They
# become small quickly, and that is why the network must be read on its way and not at its end: at rest, all birds look
# much alike.

added = np.abs(np.diff(states, axis=0))
fig, ax = plt.subplots(figsize=(6.5, 2.6), layout="constrained")
bottom = np.zeros(len(added))
for k, name in enumerate(X.columns):
    ax.bar(
        range(1, len(states)), added[:, k], bottom=bottom, color=colours[name], label=name
    )
    bottom += added[:, k]
ax.set(xlabel="iteration", ylabel="how far states move", xticks=range(1, len(states)))
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# 4. Reading the answer: the readout
# ----------------------------------
# Only now the sex comes in. Every concept at every iteration has a weight for each class, learned from birds whose sex
# is known. What it adds is *evidence*: above 0 it speaks for male, below 0 for female.

explanation = network.explain(bird)
parts = explanation.contributions("male")[0]  # iterations × concepts
limit = np.abs(parts).max()
fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
image = ax.imshow(parts.T, cmap="PuOr_r", vmin=-limit, vmax=limit, aspect="auto")
ax.set(xlabel="iteration", yticks=range(4), yticklabels=X.columns, xticks=range(len(parts)))
for (t, k), value in np.ndenumerate(parts):
    if abs(value) >= 0.05:
        ax.text(
            t,
            k,
            f"{value:+.2f}",
            ha="center",
            va="center",
            color="white" if abs(value) > 0.7 * limit else "black",
        )
_ = fig.colorbar(image, label="evidence for male")

# %%
# Column 0 is what the measurements say by themselves: the bill speaks for male, the short flipper against it. Column
# 1 is the first thought: the flipper, in the light of the other measurements, is *not* a small bird's. That takes
# back half of what the flipper had said. Column 2 gives the mass back what column 1 took from it. Later columns add
# little, and how much each may add was decided by how well it predicts birds that were left out:

print(network.shrinkage_.round(2))

# %%
# 5. The sum is the answer
# ------------------------
# Add all cells, and a constant that is the same for every bird. The sum is the evidence, in log-odds, and nothing else
# decides: it *is* the probability, written another way.

total = explanation.base[1] + parts.sum()
print(
    f"constant {explanation.base[1]:+.2f}, cells {parts.sum():+.2f}, evidence {total:+.2f}"
)
print(f"probability of male: {1 / (1 + np.exp(-total)):.3f}")
print(f"predict_proba says:  {network.predict_proba(bird)[0, 1]:.3f}")

# %%
# Nothing is hidden: with four concepts and seven iterations, the whole decision is the 32 numbers of the picture.
#
# The same in formulas
# --------------------
# With the measurements scaled to :math:`A^{(0)}`, inner weights :math:`W` and bias :math:`b`, and the sigmoid
# :math:`f`:
#
# .. math::
#
#    A^{(t)} = \varphi \, f\left(A^{(t-1)} W + b\right) + (1 - \varphi) \, A^{(0)}
#
# .. math::
#
#    s_c = q_c + \sum_{t=0}^{T} \sum_{i} E_i^{(t)} \, r_{ic}^{(t)},
#    \qquad p_c = \frac{e^{s_c}}{\sum_k e^{s_k}}
#
# where :math:`E^{(0)} = A^{(0)}` and :math:`E^{(t)}` is what iteration :math:`t` adds. :math:`W` is learned without
# the classes, each concept from the others. The outer weights :math:`r` and :math:`q` are a regression of the classes
# on all that was added, with one shrink factor for each iteration chosen by exact leave-one-out. Both are solved in
# closed form: no epochs, no learning rate, no seed. Reading *all* iterations is what "recurrence-aware" means in the
# paper's title; a classic cognitive map reads the last state alone, when there is little left to read.
#
# :class:`~cogmap.LTCNClassifierCV`, the recommended classifier, stacks several such networks, and adds remembered rows
# and surfaces of two features where they predict better: see :doc:`/explanations`. Why the sums can be trusted to the
# last digits is in :doc:`/numerics`.
