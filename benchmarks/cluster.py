"""Streamed, Dask and Spark fits of the paper's sets against fits in memory: the same bits, or how far they move.

Run:  COGMAP_DATA=… python benchmarks/cluster.py [--engines stream dask spark] [--tuned] [names …]

Needs dask[distributed] and pyspark (the dependency group "cluster") and Java 17. Dask has two worker processes, Spark
is local[2]; all have one BLAS thread.

The paper's sets have fewer than 30,000 rows, so that users' fits gather them: column "gathered". For the fit in blocks
the limit is lowered to 100 rows and blocks to 384 rows, here and in all workers. "same blocks": partitions end where
blocks do. "other blocks": they do not. Cells are the largest change of any score relative to the largest score, or
"bits" where scores and probabilities of all rows are equal to the last bit. `--tuned` fits an LTCNClassifierCV.
"""

import argparse
import os
import sys
import tempfile
import warnings
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path

for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[variable] = "1"

import numpy as np
from data import load, names
from sklearn.base import clone

from cogmap import LTCNClassifier, LTCNClassifierCV, stream
from cogmap.core.sums import sources
from cogmap.core.sums.rows import MOST_ROWS
from cogmap.intake import blocks as intake

BLOCK_ROWS, FEW = 384, 100
WORKERS = f"import cogmap.core.sums.sources as sources\nsources.BLOCK_ROWS = {BLOCK_ROWS}\n"


def let_blocks_be_small(folder):
    """Set the number of rows of a block here, and in every Python process that is started from here."""
    sources.BLOCK_ROWS = intake.BLOCK_ROWS = BLOCK_ROWS
    (Path(folder) / "sitecustomize.py").write_text(WORKERS)
    os.environ["PYTHONPATH"] = os.pathsep.join([folder, os.environ.get("PYTHONPATH", "")])


def let_be_many(most):
    """Set from how many rows on fits are in blocks."""
    intake.MOST_ROWS = most


def partitions(n, *, aligned):
    """Return where three partitions begin and end."""
    thirds = [0, n // 3, n // 2 + 1, n]
    return [BLOCK_ROWS * round(at / BLOCK_ROWS) for at in thirds[:-1]] + [n] if aligned else thirds


class Stream:
    """Fits on this machine, from a list of blocks."""

    def fit(self, model, X, y, bounds):
        """Fit to partitions."""
        return stream.fit([(X[a:b], y[a:b]) for a, b in pairwise(bounds)], model)


class Dask:
    """Fits on two worker processes."""

    def __init__(self, stack):
        from dask import distributed

        options = {"n_workers": 2, "threads_per_worker": 1, "processes": True, "dashboard_address": None}
        cluster = stack.enter_context(distributed.LocalCluster(**options))
        self.client = stack.enter_context(distributed.Client(cluster))
        assert set(self.client.run(lambda: sources.BLOCK_ROWS).values()) == {BLOCK_ROWS}

    def fit(self, model, X, y, bounds):
        """Fit to partitions."""
        import dask.array as da

        from cogmap.dask import DaskLTCNClassifier

        chunks = tuple(np.diff(bounds).tolist())
        given = da.from_array(X, chunks=(chunks, X.shape[1])), da.from_array(y, chunks=(chunks,))
        return DaskLTCNClassifier(model, self.client).fit(*given).to_local()


class Spark:
    """Fits on local[2]; a partition reads its rows from a file."""

    def __init__(self, stack, folder):
        from pyspark.sql import SparkSession

        os.environ["PYSPARK_PYTHON"] = sys.executable
        builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
        # With the default of 1 GB, Java gave out after some twenty-five fits in one session.
        builder = builder.config("spark.ui.showConsoleProgress", "false").config("spark.driver.memory", "4g")
        builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
        self.session = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "1000").getOrCreate()
        self.session.sparkContext.setLogLevel("OFF")
        warnings.filterwarnings("ignore", category=FutureWarning, module="pyspark")
        stack.callback(self.session.stop)
        self.folder = folder

    def fit(self, model, X, y, bounds):
        """Fit to partitions."""
        import pyarrow as pa
        import pyarrow.parquet as pq

        from cogmap.spark import SparkLTCNClassifier

        features = [f"x{j}" for j in range(X.shape[1])]
        for i, (a, b) in enumerate(pairwise(bounds)):
            table = pa.table({name: X[a:b, j] for j, name in enumerate(features)} | {"label": y[a:b]})
            pq.write_table(table, Path(self.folder) / f"{i}.parquet")
        folder, n = str(self.folder), len(bounds) - 1

        def rows(batches):
            for batch in batches:
                for i in batch.column(0).to_pylist():
                    yield from pq.read_table(f"{folder}/{i}.parquet").to_batches(1000)

        kinds = ", ".join([*(f"{name} double" for name in features), "label long"])
        table = self.session.range(0, n, 1, n).mapInArrow(rows, kinds)
        return SparkLTCNClassifier(model, featuresCol=features).fit(table).to_local()


def change(found, expected, X):
    """Return how far the scores move, or that they do not."""
    if hasattr(found, "feature_names_in_"):
        del found.feature_names_in_
    one, other = found.decision_function(X), expected.decision_function(X)
    if (one == other).all() and (found.predict_proba(X) == expected.predict_proba(X)).all():
        return "bits"
    return f"{np.abs(one - other).max() / np.abs(other).max():.1e}"


def compared(engines, model, X, y):
    """Yield a cell for each engine, gathered, in the same and in other blocks."""
    for most, aligned in ((MOST_ROWS, False), (FEW, True), (FEW, False)):
        let_be_many(most)
        expected = clone(model).fit(X, y)
        for engine in engines:
            yield change(engine.fit(model, X, y, partitions(len(y), aligned=aligned)), expected, X)


def main():
    """Read the command line, and print one line for each set."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--engines", nargs="+", default=["stream", "dask", "spark"])
    parser.add_argument("--tuned", action="store_true")
    given = parser.parse_args()
    model = LTCNClassifierCV() if given.tuned else LTCNClassifier()
    with ExitStack() as stack:
        folder = stack.enter_context(tempfile.TemporaryDirectory())
        let_blocks_be_small(folder)
        start = {"stream": Stream, "dask": lambda: Dask(stack), "spark": lambda: Spark(stack, folder)}
        engines = [start[name]() for name in given.engines]
        ways = [f"{way}: {name}" for way in ("gathered", "same blocks", "other blocks") for name in given.engines]
        print("| dataset | rows | " + " | ".join(ways) + " |\n" + "|---" * (2 + len(ways)) + "|")
        for name in given.names or names():
            X, y = load(name)
            print(f"| {name} | {len(y)} | " + " | ".join(compared(engines, model, X, y)) + " |", flush=True)


if __name__ == "__main__":
    main()
