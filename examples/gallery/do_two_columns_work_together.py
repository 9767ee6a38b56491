"""
Do two columns work together?
=============================

Neither of two columns says anything alone, but their product says everything. Relevance in the data cannot see that;
the model can, and a map of both shows it.
"""

import numpy as np
import pandas as pd

from cogmap import LTCNClassifierCV
from cogmap.plots import EffectDisplay

chance = np.random.default_rng(0)
X = pd.DataFrame(
    chance.uniform(-1, 1, size=(500, 4)), columns=["dose", "weight", "age", "day"]
)
y = np.where(
    X["dose"] * X["weight"] + 0.1 * chance.normal(size=500) > 0, "side effect", "none"
)
model = LTCNClassifierCV().fit(X[::2], y[::2])
print(f"accuracy on rows held back: {model.score(X[1::2], y[1::2]):.2f}")
pd.DataFrame(
    {kind: model.relevance(kind=kind) for kind in ("model", "data")}, index=X.columns
).round(2)

# %%
# The curves of ``dose`` and ``weight`` alone are nearly flat, and wide: what one does depends on the other. The map of
# both shows how:

display = EffectDisplay.from_estimator(
    model, X, features=["dose", "weight", ("dose", "weight")], classes=["side effect"]
)

# %%
# Which pairs does the model itself read? ``surfaces`` has what each pair adds to a decision:

explanation = model.explain(X[:200])
pairs, values = explanation.surfaces("side effect")
names = [
    " and ".join(model.concept_names_[k].split(" (")[0] for k in pair) for pair in pairs
]
sizes = pd.Series(abs(values).mean(axis=0), index=names)
sizes.sort_values(ascending=False).head(4).round(2).rename(
    "mean size of the evidence"
).to_frame()
