"""Fits in a process of their own: told of, cancelled, replaced, and ended with what began them.

A process takes seconds to start, so each test follows one through all that can happen to it.
"""

import os
import pickle
import threading
import time

import numpy as np
import pytest

from cogmap import LTCNClassifierCV
from cogmap.workbench import Workbench
from cogmap.workbench.fitting import Worker, pickled
from tests.workbench.conftest import EDGE, SAID


class Asked:
    """A value that is asked while it is pickled, at first: one more thing is remembered in between."""

    times = 0

    def __reduce__(self):
        self.times += 1
        if self.times < 4:
            raise RuntimeError("dictionary changed size during iteration")
        return int, (7,)


def test_a_model_may_be_asked_while_a_job_is_sent():
    assert pickle.loads(pickled([Asked()])) == [7]


def process_of(bench):
    return bench._worker._process


def alive(process):
    return process.poll() is None


def waited(condition, seconds=120.0):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.02)


@pytest.mark.slow
def test_changes_are_fitted_and_measured_behind_the_scenes(network, iris):
    before = threading.active_count()
    bench = Workbench(network, *iris, n_folds=2)
    state = bench.forbid(*EDGE, **SAID)
    assert (state["version"], state["model_version"], state["progress"]["state"]) == (1, 0, "running")
    assert bench.compare()["ready"] is False
    assert bench.what_if(row=0)["version"] == 0  # the page goes on with the model that there is
    seen = []
    while (progress := bench.progress())["state"] == "running":
        seen.append((progress["tick"], progress["done"]))
        time.sleep(0.01)
    assert (progress["state"], progress["done"]) == ("done", progress["total"])
    assert seen == sorted(seen)
    assert bench.state()["model_version"] == 1
    assert bench.compare()["ready"]

    process = process_of(bench)
    bench.irrelevant("sepal length (cm)", **SAID)
    bench.wait()
    assert process_of(bench) is process, "the next fit need not wait for a process to start"
    assert [one["status"] for one in bench.history()["entries"]] == ["measured"] * 3

    bench.sign(*EDGE[::-1], "+", **SAID)
    os.kill(process.pid, 9)
    waited(lambda: bench.progress()["state"] != "running")
    assert bench.progress()["message"] == "The fit ended without a result (code -9): try again."
    assert bench.history()["entries"][3]["status"] == "failed"
    bench.refit()
    bench.wait()
    assert bench.history()["entries"][3]["status"] == "measured"

    process = process_of(bench)
    process.stdin.close()  # as when the server is killed
    waited(lambda: not alive(process))
    bench.close()
    waited(lambda: threading.active_count() <= before)


def test_fits_of_many_rows_are_cancelled_and_replaced_at_once(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(5000, 8))
    y = np.where(X[:, 0] * X[:, 1] + rng.normal(size=5000) > 0, "yes", "no")
    model = LTCNClassifierCV().fit(X[:100], y[:100])
    bench = Workbench(model, X, y, session=tmp_path / "large.json")
    waited(lambda: bench.progress()["step"] not in ("", "starting"))
    assert bench.progress()["total"] == 7  # relevance, five folds, effects
    process = process_of(bench)
    answer = bench.cancel()
    assert not alive(process)
    assert answer["state"] == "cancelled"
    assert "can be fitted again" in answer["message"]
    assert bench.history()["entries"][0]["status"] == "cancelled"
    assert bench.cancel()["state"] == "cancelled"

    process = process_of(bench)
    bench.forbid("x0", "x1", **SAID)
    assert process_of(bench) is process, "a process is ready again"
    bench.irrelevant("x2", **SAID)
    assert not alive(process), "what is stated meanwhile replaces the fit at work"
    assert bench.progress()["version"] == 2
    assert bench.refit()["state"] == "running"
    bench.close()
    again = Workbench(model, X, y, session=tmp_path / "large.json", refit=False)
    assert [one["title"] for one in again.history()["entries"]][1:] == ["no edge x0 → x1", "x2 is irrelevant"]


def test_a_worker_without_a_job_ends_quietly():
    worker = Worker()
    worker.stop()
    worker.wait()
    worker.close()
