"""
Why was this tumour called malignant?
=====================================

A single decision, split into what each measurement adds to it. The bars are in log-odds: they add up, and what they
add up to is the probability.
"""

import pandas as pd
from sklearn.datasets import load_breast_cancer
from sklearn.model_selection import train_test_split

from cogmap import LTCNClassifier
from cogmap.plots import WaterfallDisplay

cancer = load_breast_cancer(as_frame=True)
names = pd.Series(cancer.target_names[cancer.target], index=cancer.data.index)
X_train, X_test, y_train, y_test = train_test_split(cancer.data, names, random_state=0)
model = LTCNClassifier().fit(X_train, y_train)

# %%
# Of the tumours that the model has not seen, we take one that it calls malignant with less certainty than most:

probability = pd.Series(
    model.predict_proba(X_test)[:, 1], index=X_test.index
)  # of malignant
case = X_test.loc[[(probability - 0.8).abs().idxmin()]]
explanation = model.explain(case)
display = WaterfallDisplay.from_explanation(explanation, 0, "malignant", n_bars=10)

# %%
# Read it from the first bar, which is what other tumours have on average, to the last. Each bar says what it multiplies
# or divides the odds by. In words:

print(explanation.to_text())

# %%
# And the truth:

print(y_test[case.index[0]])
