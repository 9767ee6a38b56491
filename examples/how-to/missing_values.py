"""
Missing values
==============

:class:`~cogmap.TabularClassifier` takes tables with gaps. It fills them, and where they are frequent it also lets the
network know that something was missing, because *that* may say something.
"""

# %%
# Fit a table with gaps
# ---------------------

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

from cogmap import LTCNClassifier, TabularClassifier

wine = load_wine(as_frame=True)
X, y = (
    wine.data[["alcohol", "flavanoids", "color_intensity"]].copy(),
    wine.target_names[wine.target],
)
chance = np.random.default_rng(0)
X.loc[chance.random(len(X)) < 0.1, "alcohol"] = np.nan  # lost by accident
X.loc[(y == "class_1") & (chance.random(len(X)) < 0.5), "flavanoids"] = (
    np.nan
)  # not measured, for a reason

model = TabularClassifier(LTCNClassifier()).fit(X, y)
for column in model.columns_:
    print(
        f"{column.name:16} missing values become {column.fill:.3g}; concepts: {', '.join(column.concepts)}"
    )

# %%
# A missing number becomes the median, a missing category the most frequent value. From one row in a hundred on, there
# is a concept "… is missing" beside it.
#
# Does it matter that it was missing?
# -----------------------------------
# The effect of a column shows the missing value as a mark of its own:

from cogmap.plots import EffectDisplay

display = EffectDisplay.from_estimator(
    model, X, features=["alcohol", "flavanoids"], classes=["class_1"]
)

# %%
# Alcohol was lost by accident, and its mark lies within the curve. Flavanoids were left out for wines of class 1, and
# the model has noticed: a wine without that measurement is called class 1 more often than any that has it. Ask
# whether that will hold for new wines. If the laboratory measures all of them from now on, it will not, and the
# column's gaps should be filled, or its rows left out, before the fit.
#
# Predict rows with gaps
# ----------------------
# New rows may have gaps in any column, also in one that was complete in training:

gaps = pd.DataFrame(
    {"alcohol": [np.nan, 13.7], "flavanoids": [2.9, 2.9], "color_intensity": [5.5, np.nan]}
)
print(model.predict_proba(gaps).round(2))

# %%
# The network alone does not guess: it says which column has a missing value, and you decide what it becomes (for
# example with scikit-learn's ``SimpleImputer`` in a pipeline).

try:
    LTCNClassifier().fit(X, y)
except ValueError as error:
    print(error)
