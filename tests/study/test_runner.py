import csv
import json
import os
import signal
import subprocess
import sys
import time
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import accuracy_score, cohen_kappa_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MinMaxScaler
from sklearn.svm import SVC

from cogmap.study import registry
from cogmap.study.datasets import load
from cogmap.study.protocol import Task, evaluate, fixed, pipeline, time_whole, usual
from cogmap.study.registry import ENTRIES, Entry, Shape, find
from cogmap.study.results import read
from cogmap.study.runner import Plan, run, tasks

pytest.importorskip("pebble")
TIMES = ("fit_seconds", "cpu_seconds", "search_seconds")


def task(**values):
    return replace(Task("iris", "SVM", "small", 3, "fold", 42, "2"), **values)


def test_a_fold_is_tuned_inside_its_training_rows():
    X, y = load_iris(return_X_y=True)
    train, test = list(StratifiedKFold(5, shuffle=True, random_state=42).split(X, y))[2]
    inner = StratifiedKFold(3, shuffle=True, random_state=42)
    search = GridSearchCV(make_pipeline(MinMaxScaler(), SVC()), {"svc__C": [1, 10, 100]}, cv=inner)
    predicted = search.fit(X[train], y[train]).predict(X[test])
    row = evaluate(task())
    assert row["kappa"] == pytest.approx(cohen_kappa_score(y[test], predicted))
    assert row["accuracy"] == pytest.approx(accuracy_score(y[test], predicted))
    assert row["fit_seconds"] > 0
    assert row["search_seconds"] > 0


def test_one_configuration_is_not_searched(monkeypatch):
    monkeypatch.setattr("cogmap.study.protocol.GridSearchCV", None)
    row = evaluate(task(grid="C=10,kernel=linear"))
    assert row["params"] == '{"C": 10, "kernel": "linear"}'
    assert fixed("default") == {}
    with pytest.raises(ValueError, match="none of small"):
        fixed("huge")


def test_scaling_the_file_first_leaves_nothing_to_scale_in_the_fold():
    entry, shape = find("LTCN"), Shape(100, 4, 3)
    first, inside = (pipeline(entry, task(classifier="LTCN", scale=scale), shape) for scale in ("file", "fold"))
    assert first["model"].scaling is None
    assert first["scale"] == "passthrough"
    assert inside["model"].scaling == "minmax"


def test_the_usual_configuration_is_timed_on_all_rows():
    assert usual(["b", "a", "a"]) == "a"
    assert usual(["b", "a"]) == "b"
    row = time_whole(task(fold="all"), '{"C": 100}')
    assert row["fit_seconds"] > 0
    assert row["params"] == '{"C": 100}'


def test_every_grid_fits_its_estimator():
    from sklearn.model_selection import ParameterGrid

    for entry in ENTRIES:
        if entry.missing():
            continue
        for which in ("paper", "small"):
            model = entry.make(Shape(500, 8, 2))
            for params in ParameterGrid(entry.grid(which, Shape(500, 8, 2))):
                model.set_params(**params)


def command(results):
    code = "from cogmap.cli.study import study; study()"
    plan = ["--datasets", "iris,wine", "--classifiers", "DT,LR,RidgeClassifierCV", "--jobs", "1", "--results", results]
    return [sys.executable, "-c", code, "run", *plan]


def lines(path):
    return path.read_text().count("\n") if path.exists() else 0


def without_times(path):
    with path.open() as file:
        return [{k: v for k, v in row.items() if k not in TIMES} for row in csv.DictReader(file)]


@pytest.mark.slow
def test_killed_runs_continue_and_end_with_the_same_file(tmp_path):
    whole, killed = tmp_path / "whole.csv", tmp_path / "killed.csv"
    plan = Plan(("iris", "wine"), ("DT", "LR", "RidgeClassifierCV"))
    list(run(replace(plan, jobs=2), whole))
    assert lines(whole) == 1 + 2 * 3 * 6
    with subprocess.Popen(command(killed), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120
        while lines(killed) < 10 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    assert lines(killed) >= 10
    with killed.open("a") as file:
        file.write("wine,DT,sma")
    list(run(plan, killed))
    assert without_times(killed) == without_times(whole)


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="semaphores have names on POSIX only")
def test_a_run_that_is_told_to_end_leaves_no_semaphore_behind(tmp_path):
    results = tmp_path / "results.csv"
    with subprocess.Popen(command(results), stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
        deadline = time.monotonic() + 120
        while lines(results) < 3 and process.poll() is None and time.monotonic() < deadline:
            time.sleep(0.01)
        process.terminate()
        said = process.communicate()[1]
    assert lines(results) >= 3
    assert process.returncode == 128 + signal.SIGTERM
    assert "leaked" not in said


def test_errors_are_rows_and_can_be_tried_again(tmp_path):
    """LTCN refuses such a φ."""
    path = tmp_path / "results.csv"
    plan = Plan(("iris",), ("LTCN",), grids=("phi=7",), jobs=1)
    found = [row for row, _ in run(plan, path)]
    assert len(found) == 5
    assert all("phi=7" in row["error"] for row in found)
    assert list(run(plan, path)) == []
    again = Plan(("iris",), ("LTCN",), grids=("phi=7",), jobs=1, retry=True)
    assert len(list(run(again, path))) == 5
    assert len(read(path)) == 5


def test_a_fold_beyond_the_limit_is_a_row_that_says_timeout(tmp_path, monkeypatch):
    monkeypatch.setattr("cogmap.study.runner.N_FOLDS", 2)
    rng = np.random.default_rng(0)
    table = pd.DataFrame(rng.normal(size=(4000, 60))).assign(y=rng.integers(0, 2, 4000))
    table.to_csv(tmp_path / "slow.csv", header=False, index=False)
    plan = Plan(("slow",), ("RF",), grids=("n_estimators=3000",), limit=0.5, data_dir=str(tmp_path))
    rows = [row for row, _ in run(plan, tmp_path / "results.csv")]
    assert [row["error"] for row in rows] == ["timeout: more than 0.5 s"] * 2


DYING = """
import os, signal
from tqdm import tqdm
from cogmap.study.runner import _pool

def show_progress_and_die():
    with open(os.devnull, "w") as nowhere:
        list(tqdm([1], file=nowhere))
    os.kill(os.getpid(), signal.SIGKILL)

if __name__ == "__main__":
    with _pool(1) as pool:
        print(type(pool.schedule(show_progress_and_die).exception()).__name__)
"""


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="semaphores have names on POSIX only")
def test_a_killed_process_leaves_no_semaphore_behind(tmp_path):
    """SOM shows progress by tqdm; whatever runs in the same process later can be beyond the limit."""
    script = tmp_path / "dying.py"
    script.write_text(DYING)
    done = subprocess.run([sys.executable, script], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "ProcessExpired"
    assert "leaked" not in done.stderr


def test_what_cannot_run_is_said(monkeypatch, caplog):
    absent = Entry("absent", SVC, package="no_such_package")
    monkeypatch.setattr(registry, "ENTRIES", (*ENTRIES, absent))
    found = tasks(Plan(("iris",), ("absent", "HyRS", "SVM")))
    assert {t.classifier for t in found} == {"SVM"}
    assert "absent is skipped: the package no_such_package is not installed" in caplog.text
    assert "HyRS takes two classes only: left out on 1 of 1 datasets" in caplog.text
    assert "iris comes from scikit-learn" in caplog.text


def test_unknown_classifiers_are_named():
    with pytest.raises(ValueError, match="no classifier 'nothing'"):
        find("nothing")


@pytest.mark.filterwarnings("ignore")  # kappas are undefined where rows have one class
@pytest.mark.parametrize("name", [pytest.param("breast-cancer", marks=pytest.mark.slow), "iris", "rare-first"])
def test_the_authors_grid_is_the_search_of_their_notebook(name, monkeypatch, tmp_path):
    """Their package, their one-hot target, file scaled first, plain inner folds: the same configuration and kappa.

    Iris is sorted by class: most inner folds hold classes that their training rows lack, and some kappas are undefined.
    The last file is sorted, too, and the first inner fold has all rows of its rare class, as in musk2.
    """
    y = np.repeat([1, 0], [36, 164])
    X = np.random.default_rng(5).normal(size=(200, 6)) + 0.5 * y[:, None]
    pd.DataFrame(X).assign(y=y).to_csv(tmp_path / "rare-first.csv", header=False, index=False)
    package = pytest.importorskip("ltcn.LTCN")
    assert {name: len(values) for name, values in registry.AUTHORS.items()} == {
        "activation": 2,
        "phi": 5,
        "max_iter": 3,
    }
    grid = {"phi": [0.5, 0.8], "max_iter": [2, 5]}
    for parameter, values in grid.items():
        monkeypatch.setitem(registry.AUTHORS, parameter, values)
    data = load(name, tmp_path)
    X, one_hot = MinMaxScaler().fit_transform(data.X), np.eye(len(data.classes))[data.y]
    train, test = list(StratifiedKFold(5, shuffle=True, random_state=42).split(X, data.y))[2]

    def kappa(model, rows, truth):
        return cohen_kappa_score(truth.argmax(axis=1), model.predict(rows).argmax(axis=1))

    options = {"T": grid["max_iter"], "phi": grid["phi"], "function": ["sigmoid", "hyperbolic"]}
    search = GridSearchCV(package.LTCN(method="inverse"), options, scoring=kappa, cv=5).fit(X[train], one_hot[train])
    described = task(dataset=data.name, classifier="LTCN slopes", grid="authors", inner=5, scale="file")
    row = evaluate(described, str(tmp_path))
    names = {"sigmoid": "sigmoid", "hyperbolic": "tanh"}
    best = search.best_params_
    assert json.loads(row["params"]) == {
        "activation": names[best["function"]],
        "max_iter": best["T"],
        "phi": best["phi"],
    }
    theirs = cohen_kappa_score(data.y[test], search.predict(X[test]).argmax(axis=1))
    assert row["kappa"] == pytest.approx(theirs)


def test_only_networks_have_the_authors_grid_and_it_scales_the_file():
    found = tasks(Plan(("iris",), ("LTCN slopes",), ("authors", "small"), inner=5))
    assert {(t.grid, t.scale) for t in found} == {("authors", "file"), ("small", "fold")}
    with pytest.raises(ValueError, match="no grid for SVM"):
        tasks(Plan(("iris",), ("SVM",), ("authors",)))
