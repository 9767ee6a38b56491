import json

import numpy as np
import pytest

from cogmap import CognitiveMap, Knowledge, LTCNClassifierCV, load, map_of, read_map, simulate
from cogmap.workbench import Workbench
from tests.workbench.conftest import EDGE, SAID, opened

ANN = "source,target,weight\nrain,grass,0.8\ngrass,rabbits,0.4\n"
BEN = "source,target,weight\nrain,grass,-0.2\ngrass,rabbits,0.4\n"


@pytest.fixture
def drawn(network, iris, tmp_path):
    """Return a workbench with two maps of experts."""
    (tmp_path / "ann.csv").write_text(ANN)
    bench = Workbench(network, *iris, folder=tmp_path, refit=False)
    bench.load_map("ann.csv")
    bench.load_map(name="ben.csv", text=BEN)
    return bench


def test_maps_come_from_the_model_from_files_and_from_texts(drawn, network):
    listed = {one["name"]: (one["n_concepts"], one["n_edges"], one["from"]) for one in drawn.maps()["maps"]}
    learned = map_of(network)
    assert listed == {
        "model": (4, len(learned.edges), "learned"),
        "ann.csv": (3, 2, "file ann.csv"),
        "ben.csv": (3, 2, "file ben.csv"),
    }
    shown = drawn.show_map("ann.csv")
    assert shown["concepts"] == ["rain", "grass", "rabbits"]
    assert shown["weights"] == [[0, 0.8, 0], [0, 0, 0.4], [0, 0, 0]]
    assert np.array_equal(drawn.show_map("model")["weights"], learned.weights)


def test_maps_are_merged_and_compared(drawn):
    merged = drawn.merge_maps(["ann.csv", "ben.csv"], "mean", as_="both")
    (one,) = merged["disagreements"]
    assert (one["source"], one["target"], one["signs"]) == ("rain", "grass", True)
    assert one["weights"] == {"ann.csv": 0.8, "ben.csv": -0.2}
    assert drawn.show_map("both")["weights"][0][1] == pytest.approx(0.3)
    compared = drawn.compare_maps("ann.csv", "both")
    assert [(edge["before"], round(edge["after"], 9)) for edge in compared["edges"]] == [(0.8, 0.3)]
    assert compared["agreement"]["same_sign"] == 1.0
    assert drawn.compare_maps("model", "ann.csv")["only_after"] == ["rain", "grass", "rabbits"]


def test_a_map_without_a_classifier_settles_with_concepts_held(drawn):
    answer = drawn.simulate("ann.csv", clamp={"rain": 1.0}, rule="kosko", activation="sigmoid")
    weights, state = np.array([[0, 0.8, 0], [0, 0, 0.4], [0, 0, 0]]), np.array([1.0, 0.5, 0.5])
    for _ in range(100):
        state = 1 / (1 + np.exp(-(state @ weights)))
        state[0] = 1.0
    assert answer["final"] == pytest.approx(dict(zip(["rain", "grass", "rabbits"], state, strict=True)), abs=1e-5)
    assert (answer["verdict"], answer["clamped"]) == ("fixed point", ["rain"])
    assert {row[0] for row in answer["states"]} == {1.0}


def test_the_learned_map_begins_as_training_rows_do(drawn, network):
    answer, truth = drawn.simulate("model", clamp={EDGE[0]: 1.0}), simulate(network, clamp={EDGE[0]: 1.0})
    assert np.allclose(answer["states"], truth.states, atol=1e-6)


def test_a_stack_has_a_map_for_each_network(iris):
    model = LTCNClassifierCV(cases=False, max_iter=[3]).fit(*iris)
    bench = Workbench(model, *iris, refit=False)
    names = [one["name"] for one in bench.maps()["maps"]]
    assert len(names) == len(model.fitted_.networks)
    for name in names:
        assert bench.simulate(name)["verdict"] in ("fixed point", "cycle", "neither")


def test_learned_maps_follow_the_model(changed):
    shown = changed.show_map("model")
    assert shown["weights"][shown["concepts"].index(EDGE[0])][shown["concepts"].index(EDGE[1])] == 0


@pytest.mark.parametrize(
    ("call", "payload", "words"),
    [
        ("show_map", {"name": "anne.csv"}, "did you mean 'ann.csv'"),
        ("load_map", {"file": "none.csv"}, "There is no file"),
        ("load_map", {"file": "../x.csv"}, "is no name of a file"),
        ("load_map", {}, "either the name of a file or the text"),
        ("load_map", {"name": "ann.csv", "text": ANN}, "There is a map 'ann.csv' already"),
        ("load_map", {"name": "model", "text": ANN}, "is no name of a map"),
        ("load_map", {"name": "x", "text": "<graphml"}, "x: "),
        ("remove_map", {"name": "model"}, "no loaded or merged map 'model'"),
        ("merge_maps", {"names": ["ann.csv"], "as": "x"}, "fewer than two"),
        ("merge_maps", {"names": ["ann.csv", "ben.csv"], "rule": "vote"}, "rule='vote' is unknown"),
        ("simulate", {"map": "ann.csv", "clamp": {"snow": 1}}, "'snow' is no concept"),
        ("simulate", {"map": "ann.csv", "clamp": {"rain": "much"}}, "must be an object"),
    ],
)
def test_maps_that_cannot_be_are_refused_in_words(drawn, call, payload, words):
    with pytest.raises(ValueError, match=words):
        drawn.call(call, payload)


def test_scenarios_of_rows_are_kept_compared_and_removed(bench, tmp_path, network, iris):
    bench = Workbench(network, *iris, folder=tmp_path, refit=False)
    bench.save_scenario("narrow", {"petal width (cm)": 0.2, "petal length (cm)": 1.4})
    bench.save_scenario("wide", {"petal width (cm)": 2.4, "petal length (cm)": 6.0}, note="the widest")
    answer = bench.compare_scenarios()
    assert [one["name"] for one in answer["scenarios"]] == ["narrow", "wide"]
    for one in answer["scenarios"]:
        X = iris[0][:1].assign(**one["values"])
        assert one["predicted"] == network.predict(X)[0]
    assert [one["name"] for one in answer["columns"] if one["differs"]] == ["petal length (cm)", "petal width (cm)"]
    with pytest.raises(ValueError, match="There is a scenario 'wide' already"):
        bench.save_scenario("wide", {})
    bench.save_scenario("wide", {}, replace=True)
    assert bench.remove_scenario("narrow")["scenarios"][0]["note"] == ""
    for call in (bench.remove_scenario, lambda name: bench.compare_scenarios([name])):
        with pytest.raises(ValueError, match="There is no scenario 'narrow'"):
            call("narrow")
    with pytest.raises(ValueError, match="is no name of a scenario"):
        bench.save_scenario("  ", {})


def test_scenarios_of_maps_are_kept_and_compared(drawn):
    for name, value in (("dry", 0.0), ("wet", 1.0)):
        drawn.call("save_scenario", {"name": name, "map": "ann.csv", "clamp": {"rain": value}, "options": {"phi": 1}})
    answer = drawn.compare_scenarios(["dry", "wet"])["maps"]
    dry, wet = (one["final"] for one in answer["scenarios"])
    assert wet["grass"] > dry["grass"]
    assert [one["differs"] for one in answer["concepts"]] == [True, True, True]
    with pytest.raises(ValueError, match="no map 'none'"):
        drawn.save_scenario("x", map="none")
    with pytest.raises(ValueError, match="takes no 'colour'"):
        drawn.call("save_scenario", {"name": "x", "map": "ann.csv", "options": {"colour": 1}})


def test_everything_can_be_written_and_read_again(network, iris, tmp_path):
    bench = opened(network, *iris, folder=tmp_path, n_folds=2)
    bench.forbid(*EDGE, **SAID)
    bench.save_scenario("wide", {"petal width (cm)": 2.4})
    for what, file in (
        ("model", "new.cogmap"),
        ("knowledge", "stated.toml"),
        ("knowledge", "stated.json"),
        ("history", "history.md"),
        ("scenarios", "scenarios.json"),
        ("map", "map.csv"),
        ("map", "map.matrix.csv"),
        ("map", "map.graphml"),
        ("map", "map.json"),
    ):
        answer = bench.export(what, file)
        assert answer["bytes"] == (tmp_path / file).stat().st_size
    fitted = bench.in_use()[1].subject.model
    again = load(tmp_path / "new.cogmap")
    assert np.array_equal(again.decision_function(iris[0]), fitted.decision_function(iris[0]))
    for file in ("stated.toml", "stated.json"):
        assert Knowledge.load(tmp_path / file) == bench.past.last.knowledge
    learned = map_of(fitted)
    for file in ("map.csv", "map.matrix.csv", "map.graphml", "map.json"):
        read = read_map(tmp_path / file)
        assert isinstance(read, CognitiveMap)
        assert np.array_equal(read.ordered(learned.names).weights, learned.weights)
    kept = json.loads((tmp_path / "scenarios.json").read_text())
    assert kept["scenarios"][0]["values"]["petal width (cm)"] == 2.4
    text = (tmp_path / "history.md").read_text()
    assert "## 1. no edge petal width \\(cm\\) → sepal width \\(cm\\)" in text
    assert "- who: A. Botanist" in text
    assert "- why: they grow apart" in text
    assert "rows change their class" in text
    assert {one["name"] for one in bench.files()["files"]} >= {"new.cogmap", "history.md"}
    with pytest.raises(ValueError, match=r"'history\.md' is there already"):
        bench.export("history", "history.md")
    assert bench.export("history", "history.md", replace=True)["text"] == text


def test_the_report_is_written(network, iris, tmp_path):
    pytest.importorskip("jinja2")
    bench = Workbench(network, *iris, folder=tmp_path, refit=False, n_folds=2, title="flowers")
    answer = bench.export("report", "iris.html")
    assert answer["text"] is None
    page = (tmp_path / "iris.html").read_text()
    assert page.startswith("<!doctype html>")
    assert "<title>flowers</title>" in page


def test_a_version_that_is_not_fitted_is_not_exported(raw_bench):
    raw_bench.irrelevant("deck", **SAID)
    for what, file in (("model", "x.cogmap"), ("report", "x.html")):
        with pytest.raises(ValueError, match="Version 1 is not fitted"):
            raw_bench.export(what, file)
    with pytest.raises(ValueError, match="what='all' is unknown"):
        raw_bench.export("all", "x.zip")
