"""
Errors and warnings, and the way out
====================================

An error is one sentence that names the column, value or file, and says what to do. A warning that has a name of its own
says when a result is not to be trusted. Each of them is provoked here, so what you see is what the library says.
"""

import tempfile
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.datasets import load_wine

import cogmap
from cogmap import Knowledge, LTCNClassifier, TabularClassifier

X, y = load_wine(return_X_y=True, as_frame=True)
folder = Path(tempfile.mkdtemp())


def said(call):
    """Print the names and the sentences of what a call raises or warns of."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            call()
        except Exception as error:
            print(f"{type(error).__name__}: {error}".replace(f"{folder}/", ""))
    for warning in caught:
        if warning.category.__module__.startswith("cogmap"):
            print(f"{warning.category.__name__}: {warning.message}")


# %%
# Errors with a name
# ------------------
# :class:`~cogmap.DataFileError`: a file is not one table. Correct the line that is named.

from cogmap.tables import read_table

(folder / "sales.csv").write_text("day,amount\n1,2\n3,4,5\n")
said(lambda: read_table(folder / "sales.csv"))

# %%
# :class:`~cogmap.UnusableColumnError`: a column cannot be a feature as it is. Drop it (``drop=``), or say what it is
# (``categorical=``, ``numeric=``); ``drop_unusable=True`` drops all such columns.

said(
    lambda: TabularClassifier().describe(
        pd.DataFrame({"order": [f"A-{k}" for k in range(40)]})
    )
)

# %%
# :class:`~cogmap.ModelFileError`: a model file is damaged, newer than this version, or none. Nothing of it was
# executed.

(folder / "model.cogmap").write_text("hello")
said(lambda: cogmap.load(folder / "model.cogmap"))

# %%
# :class:`~cogmap.TooLargeError`: what is asked for takes more memory than there is; raised before any is taken. Use
# fewer columns or classes, or read :doc:`many_rows` and :doc:`many_features`. (Not provoked here: what is too large
# depends on the machine.)
#
# Errors of input
# ---------------
# A ``ValueError``, as scikit-learn has it.

said(lambda: LTCNClassifier().fit(X.assign(ash=np.nan), y))
said(lambda: LTCNClassifier().fit(X.assign(ash="low"), y))
said(lambda: LTCNClassifier().fit(X, np.ones(len(X))))
said(lambda: LTCNClassifier(phi=2).fit(X, y))

model = TabularClassifier(LTCNClassifier()).fit(X[["alcohol", "hue"]], y)
said(lambda: model.predict(X[["alcohol"]]))

# %%
# Of knowledge: names that are not there, and statements that cannot both hold.

said(lambda: LTCNClassifier(knowledge=Knowledge().forbid("alcool", "hue")).fit(X, y))
said(lambda: Knowledge().fix("alcohol", "hue", 1.0).forbid("alcohol", "hue"))

# %%
# Warnings
# --------
# :class:`~cogmap.NoInformationWarning`: the rows say nothing about the classes, and every row gets the classes'
# shares. It is an answer, and most often the right one: look for other columns or more rows.

lots = np.random.default_rng(1).permutation(y)
said(lambda: LTCNClassifier().fit(X[["ash", "magnesium"]], lots))

# %%
# :class:`~cogmap.IllConditionedWarning`: rounding decides part of the scores. The paper's readout (``alpha=0``) does
# that; ``alpha="loo"``, the default, does not.

said(lambda: LTCNClassifier.paper(inner="slopes", tol=0).fit(X, y))

# %%
# :class:`~cogmap.UnreliableRelevanceWarning`: a relevance adds up weights that cancel. Use another kind.

said(lambda: LTCNClassifier().fit(X, y).relevance(kind="paper"))

# %%
# :class:`~cogmap.UnseenValueWarning`: new rows have categories that no training row had. Correct the spelling; or fit
# again, once there are rows with that value. ``warning.unseen`` has all of them, for a program.

colours = pd.DataFrame({"colour": ["red", "white", "rosé"] * 20})
kinds = TabularClassifier(LTCNClassifier()).fit(
    colours, ["still", "sparkling", "still"] * 20
)
said(lambda: kinds.predict(pd.DataFrame({"colour": ["Red", "orange"]})))

# %%
# :class:`~cogmap.ManyClassesWarning`: more than 100 classes, which takes long. Most often y is a quantity: cut it
# into ranges.

said(lambda: LTCNClassifier(max_iter=1).fit(X, np.arange(len(X)) * 2 // 3))

# %%
# :class:`~cogmap.KnowledgeWarning`: a statement has no effect, or a price.

said(
    lambda: LTCNClassifier(knowledge=Knowledge().forbid("alcohol", "batch")).fit(
        X.assign(batch=1.0), y
    )
)

# %%
# :class:`~cogmap.RestartWarning`: ``partial_fit`` after ``fit``, or after loading a file, begins anew.

fitted = LTCNClassifier(alpha=1.0).fit(X, y)
said(lambda: fitted.partial_fit(X, y))

# %%
# In a program
# ------------
# Make a warning an error where a result must be trusted:

with warnings.catch_warnings():
    warnings.simplefilter("error", cogmap.NoInformationWarning)
    try:
        LTCNClassifier().fit(X[["ash", "magnesium"]], lots)
    except cogmap.NoInformationWarning:
        print("no model today")

# %%
# The command line prints the same sentences to stderr. Its exit code is 2 for a mistake that you can correct, and 1
# for a failure.
