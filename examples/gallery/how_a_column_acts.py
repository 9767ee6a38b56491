"""
How does body mass act?
=======================

Accumulated local effects: the average prediction as one column moves, along rows that exist. Numbers have curves,
categories bars; the band is the spread of single rows.
"""

from palmerpenguins import load_penguins

from cogmap import TabularClassifier
from cogmap.plots import EffectDisplay

birds = load_penguins().dropna(subset=["sex"])
X, y = birds.drop(columns=["sex", "year"]), birds["sex"]
model = TabularClassifier().fit(X, y)
display = EffectDisplay.from_estimator(
    model, X, features=["body_mass_g", "bill_depth_mm", "species", "island"]
)

# %%
# The numbers behind a panel, for a table or another program:

from cogmap.effects import feature_effect

feature_effect(model, X, "species").frame()

# %%
# Why not partial dependence? It moves every bird to every value, and so asks about Gentoo penguins of 2,700 g, which
# the model has never seen. Here a bird is moved to the next value only.
