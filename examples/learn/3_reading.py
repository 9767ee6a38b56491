"""
Read the map without fooling yourself
=====================================

A cognitive map invites stories: an arrow looks like a cause, a thick one like a strong cause, a large relevance like
importance. Here are four traps, each on data where the truth is known, and what to look at instead.
"""

# %%
# Trap 1: an arrow is not a cause
# -------------------------------
# Ice cream sales and drownings rise together in summer. We make up such a table: heat causes both, and neither causes
# the other.

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from cogmap import LTCNClassifier

chance = np.random.default_rng(0)
heat = chance.normal(20, 6, 400)
table = pd.DataFrame(
    {
        "ice cream": 3 * heat + chance.normal(0, 8, 400),
        "drownings": 0.4 * heat + chance.normal(0, 1.5, 400),
        "heat": heat,
    }
)
crowded = (heat + chance.normal(0, 3, 400) > 20).astype(int)

without = LTCNClassifier(inner="regression").fit(table[["ice cream", "drownings"]], crowded)
with_heat = LTCNClassifier(inner="regression").fit(table, crowded)


def arrow(network, source, target):
    """Return the inner weight from one concept to another."""
    names = list(network.concept_names_)
    return network.inner_weights_[names.index(source), names.index(target)]


print(
    f"ice cream → drownings, heat not in the table: {arrow(without, 'ice cream', 'drownings'):+.2f}"
)
print(
    f"ice cream → drownings, heat in the table:     {arrow(with_heat, 'ice cream', 'drownings'):+.2f}"
)

# %%
# The arrow was there because something was missing, and nearly goes away when it is added. No arrow of a learned map
# says what would happen if you *changed* something. It says: in these rows, given the other columns, this goes along
# with that. If you know that an arrow is wrong, say so: :doc:`/knowledge`.
#
# Trap 2: the map is not the decision
# -----------------------------------
# Inner weights are learned without the classes. A thick arrow may lead between two columns that say nothing about the
# class. Here ``twin a`` and ``twin b`` are nearly the same, and the class depends on ``signal`` alone:

noise = chance.normal(size=(400, 3))
rows = pd.DataFrame(
    {
        "twin a": noise[:, 0],
        "twin b": noise[:, 0] + 0.1 * noise[:, 1],
        "signal": noise[:, 2],
    }
)
label = (rows["signal"] + 0.5 * chance.normal(size=400) > 0).astype(int)
network = LTCNClassifier().fit(rows, label)

from cogmap.plots import CognitiveMapDisplay, RelevanceDisplay

fig, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4.5), layout="constrained", width_ratios=(3, 2)
)
CognitiveMapDisplay.from_estimator(network, ax=left)
display = RelevanceDisplay.from_estimator(network, ax=right)

# %%
# Read *arrows* for what goes together, *relevance* for what decides, and do not read one for the other.
#
# Trap 3: related columns share the credit
# ----------------------------------------
# Copy a column, and the credit is cut in two. Neither part looks as important as the whole did:

from sklearn.datasets import load_wine

X, y = load_wine(return_X_y=True, as_frame=True)
copied = X.assign(flavanoids_again=X["flavanoids"] + 0.01 * chance.normal(size=len(X)))
once, twice = LTCNClassifier().fit(X, y), LTCNClassifier().fit(copied, y)
print(
    "once: ",
    once.relevance_table().to_frame()[:4].to_string(index=False, header=False),
    sep="\n",
)
print(
    "twice:",
    twice.relevance_table().to_frame()[:4].to_string(index=False, header=False),
    sep="\n",
)

# %%
# ``grouped_relevance`` counts columns that go together as one:

grouped = twice.grouped_relevance()
order = np.argsort(-grouped.relevance)[:3]
for k in order:
    print(f"{grouped.relevance[k]:.2f}  {grouped.names[k]}  {grouped.features[k]}")

# %%
# Trap 4: one number for two questions
# ------------------------------------
# A thermometer stands in the sun, and a light meter beside it. The light says nothing about the patient's fever, but
# the model subtracts it. Is light relevant? It is *used*, and it *carries* nothing:

fever, light = chance.normal(size=(2, 500))
clinic = pd.DataFrame({"thermometer": fever + light, "light": light})
ill = (fever + 0.3 * chance.normal(size=500) > 0.5).astype(int)
doctor = LTCNClassifier().fit(clinic, ill)
pd.DataFrame(
    {kind: doctor.relevance(kind=kind).round(2) for kind in ("model", "data")},
    index=clinic.columns,
)

# %%
# ``kind="model"`` answers "what does the model use?", ``kind="data"`` answers "what carries the decision, one column
# at a time?". Both are right. The paper's own measure, ``kind="paper"``, adds up weights that may cancel each other,
# and warns where they do. How faithful each is, beside SHAP and permutation, was measured:
# :doc:`/evidence/faithfulness`.
#
# And a fifth thing to check: is there anything to explain?
# ---------------------------------------------------------
# An explanation of a model that guesses is a story about noise. Here the classes of the wines are shuffled, so there is
# nothing to learn. The fit says so, and gives every row the classes' shares; the evaluation says it too:

import warnings

from cogmap.quality.evaluation import cross_validate

shuffled = chance.permutation(y)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    guessing = cross_validate(LTCNClassifier(), X, shuffled)
print(f"{caught[0].category.__name__}: {caught[0].message}")
print(guessing.remark)

# %%
# Reading list for a map
# ----------------------
# 1. Is the model better than the most frequent class? (``cogmap evaluate``, the first lines of the report)
# 2. What does it use? (``relevance_table()``) And how sure is that? (``relevance_intervals``)
# 3. How do the first few columns act? (``EffectDisplay``) Is that what you would expect?
# 4. Only then the arrows: which do you dispute, and would it matter if they were not there? (``edit``, ``compare``)
