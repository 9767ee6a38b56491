"""
Which digits does this one resemble?
====================================

``LTCNClassifierCV`` may remember training rows. Then a decision has precedents, and they can be shown beside it.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from cogmap import LTCNClassifier

digits = load_digits()
some = np.isin(digits.target, (3, 5, 8, 9))
X, y = digits.data[some], digits.target[some]
model = LTCNClassifier(cases=True, max_iter=5).fit(X[::3], y[::3])
print(f"accuracy on digits held back: {model.score(X[1::3], y[1::3]):.3f}")

# %%
# The four digits that it is least sure of, each with the remembered ones that say most about it:

unseen, truth = X[1::3], y[1::3]
unsure = np.argsort(model.predict_proba(unseen).max(axis=1))[:4]
explanation = model.explain(unseen[unsure])
fig, axes = plt.subplots(4, 6, figsize=(8.5, 6.4), layout="constrained")
for row, line in enumerate(axes):
    cases = explanation.similar_cases(row)
    shown = [unseen[unsure[row]], *cases.to_numpy()[:, 2:]]
    titles = [f"named {explanation.predicted[row]}, is {truth[unsure[row]]}"]
    titles += [f"{r:.2f}, {c:+.2f}" for r, c in cases.to_numpy()[:, :2]]
    for ax, image, title in zip(line, shown, titles, strict=True):
        ax.imshow(np.asarray(image, dtype=float).reshape(8, 8), cmap="Greys")
        ax.set_title(title, fontsize=9)
        ax.axis("off")

# %%
# Above each case: how much it resembles the digit (1 is the same), and the evidence that it adds for the class that was
# named. A model that shows its cases contains them: ``cases=False`` where training rows must not leave the house.
