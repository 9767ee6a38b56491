"""The session file: what is stated is kept at once, opened again after a kill, and never lost to another program."""

import json
import os
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

from cogmap import Knowledge, LTCNClassifier
from cogmap.workbench import Workbench
from cogmap.workbench.fitting import Report
from cogmap.workbench.held import MOST_VERSIONS
from cogmap.workbench.history import ConflictError
from tests.workbench.conftest import EDGE, SAID, opened


@pytest.fixture
def path(tmp_path):
    return tmp_path / "iris.session.json"


def test_a_session_opens_as_it_was_closed(network, iris, path):
    first = opened(network, *iris, session=path, n_folds=2)
    first.forbid(*EDGE, **SAID)
    first.save_scenario("wide", {"petal width (cm)": 2.5}, note="as wide as can be")
    first.undo(author="B. Other", reason="to look")
    first.redo()
    again = opened(network, *iris, session=path, n_folds=2)
    assert again.history() == first.history()
    assert again.scenarios() == first.scenarios()
    assert again.compare() == first.compare()
    same = {key: value for key, value in again.state().items() if key != "progress"}
    assert same == {key: value for key, value in first.state().items() if key != "progress"}
    models = [bench.in_use()[1].subject.model for bench in (first, again)]
    assert np.array_equal(*(model.decision_function(iris[0]) for model in models))


def test_comparisons_of_versions_that_are_not_in_memory_come_from_the_file(network, iris, path):
    first = opened(network, *iris, session=path, n_folds=2)
    first.forbid(*EDGE, **SAID)
    first.forbid(*EDGE[::-1], **SAID)
    first.irrelevant("sepal length (cm)", **SAID)
    again = Workbench(network, *iris, session=path, refit=False)
    assert again.compare(version=1) == json.loads(json.dumps(first.compare(version=1)))
    lacking = again.compare(version=2, before=0)
    assert (lacking["ready"], lacking["version"], lacking["before"]) == (False, 2, 0)


def test_what_was_stated_is_in_the_file_before_it_is_fitted(network, iris, path):
    bench = Workbench(network, *iris, session=path, refit=False)
    bench.fix(*EDGE, 0.25, **SAID)
    stored = json.loads(path.read_text())
    assert stored["entries"][1]["statement"][0]["value"] == 0.25
    assert Workbench(network, *iris, session=path, refit=False).state()["version"] == 1


@pytest.mark.slow
def test_nothing_is_lost_when_the_process_is_killed(network, iris, path, tmp_path):
    network.save(tmp_path / "iris.cogmap")
    iris[0].assign(species=iris[1]).to_csv(tmp_path / "iris.csv", index=False)
    code = f"""
        import os, signal
        import pandas as pd
        from cogmap import load
        from cogmap.workbench import Workbench
        table = pd.read_csv("iris.csv")
        bench = Workbench(load("iris.cogmap"), table.drop(columns="species"), table["species"], session={str(path)!r})
        bench.forbid(*{EDGE!r}, author="A", reason="b")
        os.kill(os.getpid(), signal.SIGKILL)
    """
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    ended = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=tmp_path, env=environment)
    assert ended.returncode == -9
    again = Workbench(network, *iris, session=path, refit=False)
    assert [entry["title"] for entry in again.history()["entries"]][1] == f"no edge {EDGE[0]} → {EDGE[1]}"
    assert [one.name for one in path.parent.iterdir() if one.name.startswith(".cogmap-")] == []


def test_a_session_of_other_files_is_refused(network, iris, path):
    Workbench(network, *iris, session=path, refit=False)
    with pytest.raises(ValueError, match="the rows differs: open it with those that it began with"):
        Workbench(network, iris[0][:-1], iris[1][:-1], session=path, refit=False)
    other = LTCNClassifier(max_iter=2, alpha=0.1).fit(*iris)
    with pytest.raises(ValueError, match="the model differs"):
        Workbench(other, *iris, session=path, refit=False)


def test_another_program_that_wrote_the_session_is_a_conflict(network, iris, path):
    first = Workbench(network, *iris, session=path, refit=False)
    second = Workbench(network, *iris, session=path, refit=False)
    second.forbid(*EDGE, **SAID)
    with pytest.raises(ConflictError, match="was changed by another program"):
        first.irrelevant("sepal length (cm)", **SAID)
    assert first.state()["version"] == 0
    assert Workbench(network, *iris, session=path, refit=False).state()["version"] == 1


@pytest.mark.parametrize(
    "content",
    [
        "", "[]", "{", "null", '{"cogmap_session": 1}', "\x00", "[" * 100_000,
        '{"cogmap_session":9,"model":"","data":"","entries":[],"outcomes":{},"scenarios":[],"maps":{}}',
        '{"cogmap_session":1,"model":"","data":"","entries":[],"outcomes":{},"scenarios":[],"maps":{}}',
        '{"cogmap_session":1,"model":"","data":"","entries":[3],"outcomes":{},"scenarios":[],"maps":{}}',
    ],
)  # fmt: skip
def test_files_that_are_no_session_are_named(network, iris, path, content):
    path.write_text(content)
    with pytest.raises(ValueError, match="is no session that can be opened"):
        Workbench(network, *iris, session=path, refit=False)
    assert path.read_text() == content


def test_a_history_that_cannot_have_happened_is_refused(network, iris, path):
    bench = Workbench(network, *iris, session=path, refit=False)
    bench.forbid(*EDGE, **SAID)
    bench.undo()
    stored = json.loads(path.read_text())
    del stored["entries"][1]
    stored["entries"][1]["number"] = 1
    path.write_text(json.dumps(stored))
    with pytest.raises(ValueError, match="entry 1 of its history has nothing to undo"):
        Workbench(network, *iris, session=path, refit=False)


def test_two_tabs_that_edit_at_once_are_told_of_each_other(network, iris):
    bench = Workbench(network, *iris, refit=False)
    seen = bench.state()["version"]
    bench.call("forbid", {"source": EDGE[0], "target": EDGE[1], **SAID, "version": seen})
    with pytest.raises(ConflictError, match=r"changed meanwhile by A\. Botanist"):
        bench.call("irrelevant", {"feature": "sepal length (cm)", **SAID, "version": seen})
    assert bench.state()["version"] == 1


def test_statements_ask_who_and_why(raw_bench):
    for said in ({"author": " ", "reason": "x"}, {"author": "x", "reason": ""}):
        with pytest.raises(ValueError, match="states this is not said: give an author and a reason"):
            raw_bench.forbid("age", "fare", **said)
    with pytest.raises(TypeError):
        raw_bench.forbid("age", "fare")


@pytest.mark.parametrize(
    ("action", "arguments", "claims"),
    [
        ("fix", {"source": "age", "target": "fare", "value": 0.5}, ["age → fare = 0.5"]),
        ("forbid", {"source": "age", "target": "fare"}, ["no edge age → fare"]),
        ("sign", {"source": "age", "target": "fare", "value": "-"}, ["age → fare is negative or 0"]),
        (
            "bound",
            {"source": "age", "target": "fare", "low": -1, "high": 0.5},
            ["age → fare ≥ -1.0", "age → fare ≤ 0.5"],
        ),
        ("bound", {"source": "age", "target": "fare", "high": 0.5}, ["age → fare ≤ 0.5"]),
        ("irrelevant", {"feature": "deck"}, ["deck is irrelevant"]),
        ("bias", {"feature": "age", "value": 0.5}, [str(Knowledge().bias("age", 0.5))[3:]]),
        ("add_knowledge", {"text": '[[statement]]\nkind = "irrelevant"\nfeature = "deck"'}, ["deck is irrelevant"]),
    ],
)
def test_each_statement_is_an_entry(raw_bench, action, arguments, claims):
    state = raw_bench.call(action, {**arguments, **SAID, "version": 0})
    assert [one["claim"] for one in state["statements"]] == claims
    entry = raw_bench.history()["entries"][-1]
    assert (entry["title"], entry["author"], entry["reason"]) == ("; ".join(claims), SAID["author"], SAID["reason"])


@pytest.mark.parametrize(
    ("action", "arguments", "words"),
    [
        ("forbid", {"source": "agee", "target": "fare"}, "did you mean 'age'"),
        ("irrelevant", {"feature": "nothing like it"}, "which is no feature"),
        ("fix", {"source": "age", "target": "fare", "value": float("nan")}, "give a finite number"),
        ("sign", {"source": "age", "target": "fare", "value": "±"}, "use '\\+' or '-'"),
        ("bound", {"source": "age", "target": "fare"}, "has no bound"),
        ("bound", {"source": "age", "target": "fare", "low": 1, "high": 0}, "contradicts"),
        ("add_knowledge", {"text": "[["}, "not valid TOML"),
        ("add_knowledge", {"text": "", "form": "xml"}, "use 'toml' or 'json'"),
        ("add_knowledge", {}, "either the text"),
        ("add_knowledge", {"file": "../x.toml"}, "is no name of a file"),
        ("withdraw", {"number": 1}, "no statement 1"),
    ],
)
def test_statements_that_cannot_be_are_refused_in_words(raw_bench, action, arguments, words):
    with pytest.raises(ValueError, match=words):
        raw_bench.call(action, {**arguments, **SAID})
    assert raw_bench.state()["version"] == 0


def test_the_last_versions_are_kept_in_memory_and_the_first(network, iris):
    bench = Workbench(network, *iris, refit=False)
    stated = [Knowledge().forbid(f"a{k}", "b") for k in range(12)]
    for k, knowledge in enumerate(stated):
        bench._take(Report("model", knowledge=knowledge, model=network))
        assert set(bench.versions) == {Knowledge(), *stated[max(0, k - MOST_VERSIONS + 2) : k + 1]}


def test_a_fit_that_fails_is_told_and_can_be_undone(network, iris):
    bench = opened(network, *iris, n_folds=2)
    state = bench.forbid("petal width (cm) is bogus", EDGE[1], **SAID)
    assert state["progress"]["state"] == "failed"
    assert "is bogus" in state["progress"]["message"]
    assert (state["version"], state["model_version"]) == (1, 0)
    assert bench.history()["entries"][1]["status"] == "failed"
    assert bench.compare()["ready"] is False
    assert bench.undo()["model_version"] == 2
