"""
A first model, from CSV to a defended prediction
================================================

The penguins of Palmer Station, Antarctica, as they were noted down from 2007 to 2009: 344 birds, with dates, remarks,
identifiers and gaps. We want to know a bird's sex from its measurements, and in the end we want to *defend* one
prediction: say what it rests on, what speaks against it, how sure it is, and what would have changed it.

You need a quarter of an hour and ``pip install "cogmap[cli]" palmerpenguins``.
"""

# %%
# 1. The file
# -----------
# Any CSV file will do. This one comes with a package:

import tempfile
from pathlib import Path

import pandas as pd
from palmerpenguins import load_penguins_raw

folder = Path(tempfile.mkdtemp())
load_penguins_raw().to_csv(folder / "penguins.csv", index=False)

birds = pd.read_csv(folder / "penguins.csv")
birds = birds.dropna(subset=["Sex"])  # eleven birds have no answer to learn from
X, y = birds.drop(columns="Sex"), birds["Sex"]
X.head(3).T

# %%
# 2. What the columns mean
# ------------------------
# A network reads numbers. :class:`~cogmap.TabularClassifier` decides what becomes of each column, and says so before
# anything is fitted. What cannot be a feature is an error that names all such columns and the way out:

from cogmap import TabularClassifier, UnusableColumnError

try:
    TabularClassifier().describe(X)
except UnusableColumnError as error:
    print(error)

# %%
# That column names single birds, so we drop it. What else should not be there, no program can know; you do. ``Sample
# Number`` numbers the birds, ``studyName`` the seasons, and remarks in ``Comments`` such as "Not enough blood for
# isotopes" were written after a bird was handled. A model that needs them could not be asked about a new bird.

unused = ["Sample Number", "Individual ID", "Comments", "studyName"]
model = TabularClassifier(drop=unused)
for column in model.describe(X):
    print(f"{column.name:22} {column.kind:9} {', '.join(column.concepts)[:60]}")

# %%
# A date has become year, month, weekday and days; a category one *concept* for each value; a column with one value is
# not used. Values that are missing in at least one row of a hundred have a concept that says so.
#
# 3. Is a model worth having?
# ---------------------------
# Ask that first, and of rows that the model has not seen. Beside each score stands that of always naming the most
# frequent class:

from cogmap.quality.evaluation import cross_validate

print(cross_validate(model, X, y))

# %%
# More than nine of ten birds are right, where guessing has five. The last table says whether the probabilities mean
# what they say. Most birds get one between .9 and 1, and their *mean* is about the share that is *right*. In the
# lines above there are few birds each, so their shares jump; *calibration error* is the mean distance over all lines.
#
# 4. Fit, and see what matters
# ----------------------------
# We hold back every fourth bird. One of these is the bird whose prediction we will defend.

held_back = pd.Series(range(len(X)), index=X.index) % 4 == 0
model.fit(X[~held_back], y[~held_back])
print(
    f"{model.score(X[held_back], y[held_back]):.2f} of the birds that were held back are right"
)
model.relevance_table()

# %%
# *Relevance* is the mean size of the evidence that a column adds, for or against, in log-odds. Body mass comes first,
# then the depth of the bill and the species. How do they act?

from cogmap.plots import EffectDisplay

display = EffectDisplay.from_estimator(
    model, X, features=["Body Mass (g)", "Culmen Depth (mm)", "Species"]
)

# %%
# The curve is the average predicted probability as one column moves and the others stay. Heavier birds, and birds with
# deeper bills, are more often called male. The bars of the species look odd at first: half of the birds of each are
# male. But the model knows that an Adelie penguin of 4,000 g is a heavy one, and a Gentoo penguin of 4,000 g is not.
#
# 5. Explain one bird
# -------------------
# The bird that we defend is one about which the model is neither certain nor lost:

probability = model.predict_proba(X[held_back]).max(axis=1)
bird = X[held_back].iloc[[abs(probability - 0.93).argmin()]]
explanation = model.explain(bird)
print(explanation.to_text())

# %%
# The same numbers as a picture. It begins with what other birds have on average, each column adds its part, and the end
# is the evidence of this bird:

from cogmap.plots import WaterfallDisplay

waterfall = WaterfallDisplay.from_explanation(explanation, 0, explanation.predicted[0])

# %%
# 6. Defend it
# ------------
# Five questions that someone may ask, each with its answer.
#
# *Do the parts really add up to the prediction?* They do, to the last digits, and the evidence is the log-odds of the
# probability that ``predict_proba`` gives:

import numpy as np

label = explanation.predicted[0]
code = list(model.classes_).index(label)
parts = explanation.attributions[0, :, code].sum()
start = explanation.evidence[0, code] - parts
p = model.predict_proba(bird)[0, code]
print(f"other birds {start:+.3f}, columns {parts:+.3f}, together {start + parts:+.3f}")
print(f"log-odds of {label}: {np.log(p / (1 - p)):+.3f}")

# %%
# *What would have changed it?* The smallest change of a single column that gives the other class:

explanation.flips()

# %%
# *Is the truth known?* For this bird it is:

truth = y[bird.index[0]]
print(f"predicted {label}, truly {truth}")

# %%
# *How often is it right when it is that sure?* Of the held-back birds with a probability between .7 and .95:

near = (probability > 0.7) & (probability < 0.95)
right = model.predict(X[held_back])[near] == y[held_back][near]
print(f"{right.sum()} of {near.sum()}")

# %%
# *Would another sample of birds have said the same?* Three models, each from other two thirds of the birds:

for part in range(3):
    others = np.arange(len(X)) % 3 != part
    others &= X.index != bird.index[0]
    again = TabularClassifier(drop=unused).fit(X[others], y[others])
    print(
        f"{again.predict_proba(bird)[0, code]:.2f}",
        again.relevance_table().to_frame()["feature"][:3].tolist(),
    )

# %%
# The class is the same each time. The probability and the order of the columns are not, and that is how far they can be
# trusted with three hundred birds.
#
# 7. Hand it over
# ---------------
# One file for the model (it holds numbers and text and no code), one page for people, and one file for programs
# without Python:

from cogmap.report import write_report

model.save(folder / "penguins.cogmap")
write_report(
    model, X[~held_back].assign(Sex=y[~held_back]), "Sex", folder / "penguins.html"
)
model.to_onnx(folder / "penguins.onnx")
print(sorted(path.name for path in folder.iterdir()))

# %%
# The same from a shell, without Python:
#
# .. code-block:: console
#
#    $ cogmap evaluate penguins.csv --target Sex --drop "Sample Number" --drop studyName --drop Comments --drop-unusable
#    $ cogmap fit penguins.csv --target Sex --drop "Sample Number" --drop studyName --drop Comments --drop-unusable \
#        --model penguins.cogmap
#    $ cogmap explain penguins.cogmap penguins.csv --row 4
#    $ cogmap report penguins.cogmap penguins.csv -o penguins.html
#
# Next: :doc:`how the network thinks <2_thinking>`, and how to
# :doc:`read its map without fooling yourself <3_reading>`.
