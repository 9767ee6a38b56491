"""
When does the network make up its mind?
=======================================

Evidence does not come all at once. The waterfall by *iteration* shows what the measurements say by themselves, and what
the network concludes from them afterwards.
"""

from palmerpenguins import load_penguins

from cogmap import LTCNClassifier
from cogmap.plots import TrajectoryDisplay, WaterfallDisplay

birds = load_penguins().dropna().query("species == 'Adelie'")
X, y = (
    birds[["bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g"]],
    birds["sex"],
)
model = LTCNClassifier(inner="stable-regression").fit(X, y)

# %%
# A bird with a short flipper: the first step speaks for female as far as the flipper goes, and the reasoning takes half
# of it back.

explanation = model.explain(X.iloc[[0]])
display = WaterfallDisplay.from_explanation(explanation, 0, "male", by="iteration")

# %%
# In words, with the course of the reasoning:

print(explanation.to_text(details=True))

# %%
# And all birds: how the states of the two sexes run. They move together after the first step, which is why the readout
# reads every step, and not the last one alone.

trajectories = TrajectoryDisplay.from_estimator(model, X, y, n_concepts=4)
