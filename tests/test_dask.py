"""Dask fits on two worker processes against fits in memory."""

import os
import signal
from itertools import pairwise
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris

from cogmap import LTCNClassifier, LTCNClassifierCV
from cogmap.core.sums.sources import BLOCK_ROWS
from cogmap.dask import DaskLTCNClassifier
from cogmap.intake import blocks

dask = pytest.importorskip("dask", reason="dask is not installed")
distributed = pytest.importorskip("dask.distributed", reason="dask.distributed is not installed")
da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.filterwarnings("ignore")  # those of dask itself are not ours to judge
N_ROWS = BLOCK_ROWS * 4
QUICK = {"max_iter": 3, "scaling": "minmax"}
TUNED = QUICK | {"cases": False}  # rows are remembered by the client, whatever the engine


@pytest.fixture(scope="module", autouse=True)
def _many():
    """Let the rows of a block be few already, so that four blocks are many."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(blocks, "MOST_ROWS", BLOCK_ROWS)
        yield


@pytest.fixture(scope="module")
def client():
    cluster = distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, distributed.Client(cluster) as found:
        yield found


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 3))
    return X, np.array(["a", "b", "c"])[(X[:, 0] * X[:, 1] > 0).astype(int) + (X[:, 2] > 1)]


@pytest.fixture(scope="module")
def in_memory(rows):
    return {alpha: LTCNClassifier(alpha=alpha, **QUICK).fit(*rows) for alpha in ("loo", 1.0)}


@pytest.mark.parametrize("alpha", ["loo", 1.0])
def test_partitions_of_whole_blocks_give_the_bits_of_the_fit_in_memory(alpha, rows, in_memory, client):
    X, y = rows
    chunks = (BLOCK_ROWS, BLOCK_ROWS * 2, BLOCK_ROWS)
    found = DaskLTCNClassifier(LTCNClassifier(alpha=alpha, **QUICK), client).fit(
        da.from_array(X, chunks=(chunks, (2, 1))), da.from_array(y, chunks=(chunks,))
    )
    expected = in_memory[alpha]
    assert (found.to_local().decision_function(X) == expected.decision_function(X)).all()
    assert (found.to_local().predict_proba(X) == expected.predict_proba(X)).all()
    assert found.n_iter_ == expected.n_iter_


def test_a_tuned_fit_has_the_bits_of_the_fit_in_memory(rows, client):
    X, y = rows
    expected = LTCNClassifierCV(**TUNED).fit(X, y)
    found = DaskLTCNClassifier(LTCNClassifierCV(**TUNED), client).fit(
        da.from_array(X, chunks=(BLOCK_ROWS * 2, 3)), da.from_array(y, chunks=BLOCK_ROWS * 2)
    )
    assert (found.to_local().decision_function(X) == expected.decision_function(X)).all()
    assert (found.to_local().predict(X) == expected.predict(X)).all()
    assert found.best_params_ == expected.best_params_
    assert (found.cv_results_["stack_weight"] == expected.cv_results_["stack_weight"]).all()
    others = da.from_array(X, chunks=(5_000, 3)), da.from_array(y, chunks=5_000)
    scores = expected.decision_function(X)
    elsewhere = DaskLTCNClassifier(LTCNClassifierCV(**TUNED), client).fit(*others).to_local()
    assert np.abs(elsewhere.decision_function(X) - scores).max() <= 1e-6 * np.abs(scores).max()
    assert (elsewhere.predict(X) == expected.predict(X)).all()


def test_other_partitions_keep_the_contract(rows, in_memory, client):
    """Dataframes with unknown divisions, an empty partition, and a class on one partition only."""
    X, y = rows
    y = np.where(np.arange(N_ROWS) < N_ROWS - 50, y, "rare")
    frame = pd.DataFrame(X, columns=list("uvw")).assign(y=y)
    bounds = [0, 5_000, 5_000, 8_500, N_ROWS]
    parts = [dask.delayed(frame.iloc[a:b]) for a, b in pairwise(bounds)]
    table = dd.from_delayed(parts, meta=frame.iloc[:0])
    assert not table.known_divisions
    found = DaskLTCNClassifier(LTCNClassifier(**QUICK), client).fit(table[["u", "v", "w"]], table["y"])
    expected = LTCNClassifier(**QUICK).fit(frame[["u", "v", "w"]], y)
    scores = expected.decision_function(frame[["u", "v", "w"]])
    local = found.to_local()
    assert np.abs(local.decision_function(frame[["u", "v", "w"]]) - scores).max() <= 1e-6 * np.abs(scores).max()
    assert local.classes_.tolist() == ["a", "b", "c", "rare"]
    assert local.feature_names_in_.tolist() == ["u", "v", "w"]
    predicted = found.predict(table[["u", "v", "w"]])
    assert not isinstance(predicted, (pd.Series, np.ndarray))
    assert (predicted.compute().to_numpy() == local.predict(frame[["u", "v", "w"]])).all()
    probability = found.predict_proba(table[["u", "v", "w"]]).compute()
    assert probability.columns.tolist() == local.classes_.tolist()
    assert (probability.to_numpy() == local.predict_proba(frame[["u", "v", "w"]])).all()


def dies_once(log, X):
    """Return the rows; kill this worker when it is asked for them in the second pass."""
    with Path(log).open("a") as file:
        file.write("asked\n")
    if len(Path(log).read_text().splitlines()) == 2:
        os.kill(os.getpid(), signal.SIGKILL)
    return X


def test_a_worker_killed_during_the_fit_changes_no_bit(rows, in_memory, client, tmp_path):
    X, y = rows
    half = N_ROWS // 2
    late = dask.delayed(dies_once)(str(tmp_path / "log"), X[half:])
    parts = [da.from_array(X[:half], chunks=(half, 3)), da.from_delayed(late, (half, 3), float)]
    found = DaskLTCNClassifier(LTCNClassifier(**QUICK), client)
    found.fit(da.concatenate(parts), da.from_array(y, chunks=half))
    assert len((tmp_path / "log").read_text().splitlines()) > 2
    assert (found.to_local().decision_function(X) == in_memory["loo"].decision_function(X)).all()


@pytest.mark.parametrize("kind", [LTCNClassifier, LTCNClassifierCV])
def test_few_rows_and_weights_without_a_client(kind):
    X, y = load_iris(return_X_y=True)
    weight = np.arange(150) % 3 * 1.0
    given = [da.from_array(part, chunks=40) for part in (y, weight)]
    found = DaskLTCNClassifier(kind()).fit(da.from_array(X, chunks=(40, 4)), *given)
    expected = kind().fit(X, y, sample_weight=weight)
    assert (found.decision_function(da.from_array(X, chunks=(60, 2))).compute() == expected.decision_function(X)).all()
    assert (found.predict(da.from_array(X, chunks=(60, 4))).compute() == expected.predict(X)).all()


def test_what_is_refused():
    X, y = (da.from_array(part, chunks=50) for part in load_iris(return_X_y=True))
    with pytest.raises(TypeError, match="dask array"):
        DaskLTCNClassifier().fit(np.zeros((3, 2)), y)
    with pytest.raises(TypeError, match="fits an LTCNClassifier or an LTCNClassifierCV, not DaskLTCNClassifier"):
        DaskLTCNClassifier(DaskLTCNClassifier()).fit(X, y)
    with pytest.raises(ValueError, match="same partitions"):
        DaskLTCNClassifier().fit(X, y.rechunk(20))
    with pytest.raises(AttributeError, match="classes_"):
        DaskLTCNClassifier().classes_  # noqa: B018 # the access is what is tested


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (["a", 1, None, "a", "b", "a"], "the class is missing in 1 row"),
        (["a", 1, "b", "a", "b", "a"], r"y mixes numbers \(1\) and text \('a'\)"),
        (["a", "b", "a", 1, 2, 1], r"y mixes numbers \(1\) and text \('a'\)"),
    ],
)
def test_labels_that_are_none_are_one_sentence(y, message):
    X = da.from_array(np.arange(12.0).reshape(6, 2), chunks=(3, 2))
    with pytest.raises(ValueError, match=message):
        DaskLTCNClassifier().fit(X, da.from_array(np.array(y, dtype=object), chunks=3))
