"""Spark fits on local[2] against fits in memory."""

import os
import shutil
import signal
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from cogmap import LTCNClassifier, LTCNClassifierCV
from cogmap.core.sums.sources import BLOCK_ROWS
from cogmap.intake import blocks
from cogmap.intake.spark import PIECE, collected
from cogmap.spark import SparkLTCNClassifier, SparkLTCNModel

pytest.importorskip("pyspark", reason="pyspark is not installed")
if shutil.which("java") is None:
    pytest.skip("Spark needs Java, which is not installed", allow_module_level=True)

pytestmark = pytest.mark.filterwarnings("ignore")  # those of pyspark itself are not ours to judge
N_ROWS = BLOCK_ROWS * 4
QUICK = {"max_iter": 2, "scaling": "minmax"}
TUNED = QUICK | {"cases": False}  # rows are remembered by the driver, whatever the engine
FEATURES = ["u", "v", "w"]


@pytest.fixture(scope="module", autouse=True)
def _many():
    """Let the rows of a block be few already, so that four blocks are many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "MOST_ROWS", BLOCK_ROWS)
        yield


@pytest.fixture(scope="module")
def spark():
    from pyspark.sql import SparkSession

    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2, 4]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.driver.host", "127.0.0.1").config("spark.driver.bindAddress", "127.0.0.1")
    session = builder.config("spark.executorEnv.OPENBLAS_NUM_THREADS", "1").getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    y = np.array(["a", "b", "c"])[(X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1)]
    return pd.DataFrame(X, columns=FEATURES).assign(label=y)


@pytest.fixture(scope="module")
def in_memory(frame):
    return LTCNClassifier(**QUICK).fit(frame[FEATURES], frame["label"])


def dying(log):
    """Return a function of record batches that kills its worker in the third pass over the second partition."""

    def passed(batches):
        from pyspark import TaskContext

        if TaskContext.get().partitionId() == 1:
            with Path(log).open("a") as file:
                file.write("asked\n")
            if len(Path(log).read_text().splitlines()) == 3:
                os.kill(os.getpid(), signal.SIGKILL)
        yield from batches

    return passed


def test_partitions_of_whole_blocks_give_the_bits_of_the_fit_in_memory_though_a_worker_is_killed(
    spark, frame, in_memory, tmp_path
):
    table = spark.createDataFrame(frame)
    assert table.rdd.getNumPartitions() == 2
    table = table.mapInArrow(dying(str(tmp_path / "log")), table.schema)
    found = SparkLTCNClassifier(LTCNClassifier(**QUICK), featuresCol=FEATURES).fit(table).to_local()
    assert len((tmp_path / "log").read_text().splitlines()) > 3
    assert (found.decision_function(frame[FEATURES]) == in_memory.decision_function(frame[FEATURES])).all()
    assert (found.predict_proba(frame[FEATURES]) == in_memory.predict_proba(frame[FEATURES])).all()
    assert found.feature_names_in_.tolist() == FEATURES


def test_a_tuned_fit_has_the_bits_of_the_fit_in_memory(spark, frame):
    expected = LTCNClassifierCV(**TUNED).fit(frame[FEATURES], frame["label"])
    model = SparkLTCNClassifier(LTCNClassifierCV(**TUNED), featuresCol=FEATURES).fit(spark.createDataFrame(frame))
    found, X = model.to_local(), frame[FEATURES]
    assert (found.decision_function(X) == expected.decision_function(X)).all()
    assert (found.predict(X) == expected.predict(X)).all()
    assert found.best_params_ == expected.best_params_
    added = model.transform(spark.createDataFrame(frame[:20])).toPandas()
    assert (added["prediction"].to_numpy() == expected.predict(X[:20])).all()


def test_other_partitions_keep_the_contract(spark, frame):
    """Among them empty ones, and one that alone has a class."""
    frame = frame.assign(label=np.where(np.arange(N_ROWS) < N_ROWS - 50, frame["label"], "rare"), part=0)
    frame.loc[frame["label"] == "rare", "part"] = 1
    table = spark.createDataFrame(frame).repartition(4, "part").persist()
    found = SparkLTCNClassifier(LTCNClassifier(alpha=1.0, **QUICK), featuresCol=FEATURES).fit(table)
    expected = LTCNClassifier(alpha=1.0, **QUICK).fit(frame[FEATURES], frame["label"])
    scores = expected.decision_function(frame[FEATURES])
    local = found.to_local()
    assert np.abs(local.decision_function(frame[FEATURES]) - scores).max() <= 1e-6 * np.abs(scores).max()
    added = found.transform(table).toPandas()
    assert added.columns.tolist() == [*frame.columns, "prediction", "probability"]
    assert (added["prediction"].to_numpy() == local.predict(added[FEATURES])).all()
    assert (np.stack(added["probability"].to_numpy()) == local.predict_proba(added[FEATURES])).all()
    table.unpersist()


@pytest.mark.parametrize(
    ("kind", "model"),
    [("array", LTCNClassifier), ("vector", LTCNClassifier), ("array", LTCNClassifierCV)],
)
def test_few_rows_from_one_column_of_features_with_weights(kind, model, spark):
    from pyspark.ml.linalg import Vectors

    X, y = load_iris(return_X_y=True)
    weight = np.arange(150) % 3 * 1.0
    made = {"array": lambda row: row.tolist(), "vector": lambda row: Vectors.dense(row)}[kind]
    rows = [(made(row), int(label), float(w)) for row, label, w in zip(X, y, weight, strict=True)]
    table = spark.createDataFrame(rows, ["features", "kind", "count"])
    found = SparkLTCNClassifier(model(), labelCol="kind", weightCol="count", predictionCol="guess").fit(table)
    expected = model().fit(X, y, sample_weight=weight)
    assert (found.to_local().decision_function(X) == expected.decision_function(X)).all()
    guesses = found.transform(table).toPandas()["guess"]
    assert (guesses.to_numpy() == expected.predict(X)).all()


def test_a_large_answer_of_a_partition_comes_back_whole(spark):
    """In rows of a megabyte: Java's heap gave out over one row with the Gram matrices of 62 concepts."""

    def large(batches):
        (number,) = (number for batch in batches for number in batch.column(0).to_pylist())
        return np.random.default_rng(number).bytes(3 * PIECE + 5)

    answers = collected(spark.range(0, 3, 1, 3), large)
    assert [part for part, _ in answers] == [0, 1, 2]
    for number, answer in answers:
        assert answer == np.random.default_rng(number).bytes(3 * PIECE + 5)


def test_a_missing_column_is_named(spark):
    table = spark.createDataFrame([(1.0, 0)], ["a", "label"])
    with pytest.raises(ValueError, match="no column 'features': its columns are 'a', 'label'"):
        SparkLTCNClassifier().fit(table)


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([([1.0, 2.0], "a"), (None, "b"), ([3.0, 1.0], "a")], r"X contains NaN in column 0 \(1 rows"),
        ([([1.0, 2.0], "a"), ([None, 1.0], "b"), ([3.0, 1.0], "a")], r"X contains NaN in column 0 \(1 rows"),
        ([([1.0, 2.0], "a"), ([1.0], "b")], "arrays of 1 and of 2 numbers"),
        ([([1.0, 2.0], "a"), ([2.0, 1.0], None)], "the class is missing in 1 row"),
        ([(None, "a"), (None, "b")], "X contains NaN in column 0"),
    ],
)
def test_nulls_are_one_sentence(rows, message, spark):
    table = spark.createDataFrame(rows, "features array<double>, label string").repartition(1)
    with pytest.raises(ValueError, match=message) as error:
        SparkLTCNClassifier().fit(table)
    assert type(error.value) is ValueError
    assert "\n" not in str(error.value)


def test_a_null_number_is_one_sentence_that_names_its_column(spark):
    table = spark.createDataFrame([(1.0, 2, 0), (None, 3, 1), (4.0, None, 1)], "u double, v int, label int")
    with pytest.raises(ValueError, match=r"X contains NaN in column '[uv]'"):
        SparkLTCNClassifier(featuresCol=["u", "v"]).fit(table)
    with pytest.raises(ValueError, match="no rows of positive weight"):
        SparkLTCNClassifier(featuresCol=["u", "v"]).fit(table.limit(0))


def test_a_row_that_lacks_a_feature_has_no_prediction(spark, in_memory, frame):
    model = SparkLTCNModel(in_memory, FEATURES, "prediction", "probability")
    part = frame[:5].astype({"u": object})
    part.loc[2, "u"] = None
    rows = [tuple(row) for row in part[FEATURES].itertuples(index=False)]
    added = model.transform(spark.createDataFrame(rows, "u double, v double, w double")).toPandas()
    assert added["prediction"].isna().tolist() == [False, False, True, False, False]
    assert added["probability"][2] is None
    kept = [0, 1, 3, 4]
    assert added["prediction"][kept].tolist() == in_memory.predict(frame[FEATURES].iloc[kept]).tolist()
