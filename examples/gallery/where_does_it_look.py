"""
Where does it look to tell a 3 from an 8?
=========================================

64 columns that are pixels: the evidence of each, drawn where it belongs.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from cogmap import LTCNClassifier

digits = load_digits()
some = np.isin(digits.target, (3, 8))
X, y = digits.data[some], digits.target[some]
model = LTCNClassifier().fit(X[::2], y[::2])
print(f"accuracy on digits held back: {model.score(X[1::2], y[1::2]):.3f}")

# %%
# Two digits of each kind, and below each the evidence for 8. Violet speaks for 8, orange for 3:

unseen, truth = X[1::2], y[1::2]
rows = np.r_[np.flatnonzero(truth == 3)[:2], np.flatnonzero(truth == 8)[:2]]
explanation = model.explain(unseen[rows])
evidence = explanation.attributions[:, :, list(model.classes_).index(8)]
limit = np.abs(evidence).max()

fig, axes = plt.subplots(2, 4, figsize=(8.5, 4.4), layout="constrained")
for k, (above, below) in enumerate(axes.T):
    above.imshow(unseen[rows[k]].reshape(8, 8), cmap="Greys")
    above.set_title(f"named {explanation.predicted[k]}, is {truth[rows[k]]}", fontsize=10)
    image = below.imshow(evidence[k].reshape(8, 8), cmap="PuOr", vmin=-limit, vmax=limit)
    for ax in (above, below):
        ax.axis("off")
_ = fig.colorbar(image, ax=axes[1], label="evidence for 8")

# %%
# It looks most at the left side, where an 8 is closed and a 3 is open. Had it looked at a corner, there would be
# something wrong with the data.
