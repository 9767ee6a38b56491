"""
Many rows
=========

A fit needs sums over blocks of rows only. So rows may be in memory, in a file of any size, on Dask or on Spark; each
gives an ordinary model, and the same one.
"""

# %%
# From a file that does not fit into memory
# -----------------------------------------
# ``stream.fit`` reads Parquet, Arrow and CSV, or whatever gives blocks of rows and can be gone through again. Here the
# file is small, so that this page builds quickly; nothing changes with fifty million rows but the time.

import tempfile
from pathlib import Path

import numpy as np
import pandas as pd

from cogmap import LTCNClassifier, stream

chance = np.random.default_rng(0)
rows = pd.DataFrame(chance.normal(size=(60_000, 6)), columns=[f"x{k}" for k in range(6)])
rows["y"] = np.where(
    rows["x0"] + rows["x1"] * rows["x2"] + chance.normal(size=len(rows)) > 0, "yes", "no"
)
folder = Path(tempfile.mkdtemp())
rows.to_parquet(folder / "rows.parquet")

from_file = stream.fit(
    folder / "rows.parquet", LTCNClassifier(), target="y", progress=False
)
in_memory = LTCNClassifier().fit(rows.drop(columns="y"), rows["y"])
some = rows[:1000].drop(columns="y")
same = np.array_equal(from_file.decision_function(some), in_memory.decision_function(some))
print("the same scores, to the last bit:", same)

# %%
# ``LTCNClassifierCV()`` goes the same way, in more passes. Raw tables (text, dates, missing values) have
# ``cogmap.tabular_stream.fit``; from a shell, ``cogmap fit`` does it by itself where a file takes more than
# ``--memory``.
#
# How many rows are enough?
# -------------------------
# Before you reach for a cluster: the score on rows that were held back, by the number of training rows. Where the curve
# is flat, more rows buy nothing, and a sample will do.

import matplotlib.pyplot as plt

test, sizes = rows[50_000:], [250, 1_000, 4_000, 16_000, 50_000]
fig, ax = plt.subplots(figsize=(6.5, 3), layout="constrained")
for name, classifier in {
    "LTCNClassifier()": LTCNClassifier(),
    "alpha=1.0": LTCNClassifier(alpha=1.0),
}.items():
    models = (
        classifier.fit(rows[:size].drop(columns="y"), rows["y"][:size]) for size in sizes
    )
    ax.plot(
        sizes,
        [model.score(test.drop(columns="y"), test["y"]) for model in models],
        marker="o",
        label=name,
    )
ax.set(xscale="log", xlabel="training rows", ylabel="accuracy on 10,000 others")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)

# %%
# Time grows with the rows, and memory does not. If a fit is too slow, in this order:
#
# 1. ``LTCNClassifier()`` instead of ``LTCNClassifierCV()``: one network instead of several.
# 2. ``alpha=1.0``, ``max_iter=5``: fewer iterations, one penalty, no search.
# 3. More threads (``OPENBLAS_NUM_THREADS``): blocks are worked on side by side, with the same bits.
# 4. A GPU: :doc:`/gpu`.
#
# Other sources
# -------------
# Anything that gives blocks and can be gone through again: a list, or a function that starts anew.
#
# .. code-block:: python
#
#    stream.fit([(X1, y1), (X2, y2)])
#    stream.fit(lambda: read_my_database())  # yields (X, y), or (X, y, sample_weight)
#
# Batch by batch
# --------------
# For a positive ``alpha``, rows may come over time. The readout is always that of all rows so far, exactly:

growing = LTCNClassifier(alpha=1.0)
for part in (rows[start : start + 15_000] for start in range(0, 60_000, 15_000)):
    growing.partial_fit(part.drop(columns="y"), part["y"], classes=["no", "yes"])
print(
    f"{growing.score(rows.drop(columns='y'), rows['y']):.3f} after {growing.class_count_.sum():.0f} rows"
)

# %%
# The first batch decides scaling and inner weights: let it be a fair sample, and not the oldest rows.
#
# On a cluster
# ------------
# .. code-block:: python
#
#    from cogmap.dask import DaskLTCNClassifier  # pip install "cogmap[dask]"
#
#    model = DaskLTCNClassifier(LTCNClassifier(), client).fit(X, y).to_local()
#
#    from cogmap.spark import SparkLTCNClassifier  # pip install "cogmap[spark]", and Java 17
#
#    model = SparkLTCNClassifier(featuresCol=["a", "b"], labelCol="y").fit(dataframe).to_local()
#
# Make partitions of a multiple of 4,608 rows, and a killed worker, another number of workers or the fit in memory all
# give the same bits. What is promised, what needs all rows at once, and what was measured with up to fifty million
# rows: :doc:`/scale`.
