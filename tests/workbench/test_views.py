import numpy as np
import pytest
from sklearn.metrics import accuracy_score, cohen_kappa_score, log_loss
from sklearn.model_selection import StratifiedKFold

from cogmap import Knowledge, LTCNClassifier, TabularClassifier
from tests.workbench.conftest import EDGE, SAID, opened


def cross_validated(model, X, y, n_folds):
    """Return probabilities of rows by models that did not see them, by scikit-learn's folds."""
    probability = np.zeros((len(y), len(np.unique(y))))
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y):
        probability[test] = model.fit(X.iloc[train], y.iloc[train]).predict_proba(X.iloc[test])
    return probability


def test_before_and_after_are_cross_validated(changed, iris):
    X, y = iris
    answer = changed.compare()
    knowledge = Knowledge().forbid(*EDGE)
    told = {
        "before": cross_validated(LTCNClassifier(max_iter=4, alpha=0.1), X, y, 3),
        "after": cross_validated(LTCNClassifier(max_iter=4, alpha=0.1, knowledge=knowledge), X, y, 3),
    }
    classes = np.unique(y)
    for score in answer["scores"]:
        for when, probability in told.items():
            labels = classes[probability.argmax(axis=1)]
            truth = {
                "accuracy": accuracy_score(y, labels),
                "kappa": cohen_kappa_score(y, labels),
                "log loss": log_loss(y, probability),
            }[score["name"]]
            assert score[when] == pytest.approx(truth, abs=1e-9)
    moved = {row["row"] for row in answer["rows"]}
    before, after = (probability.argmax(axis=1) for probability in told.values())
    assert moved == set(np.flatnonzero(before != after))
    assert answer["n_changed_rows"] == len(moved)
    assert "Cross-validated on 150 rows in 3 folds" in answer["measured"]


def test_before_and_after_have_edges_relevance_and_effects(changed, network):
    answer = changed.compare()
    edge = next(one for one in answer["edges"] if (one["source"], one["target"]) == EDGE)
    places = [list(network.concept_names_).index(name) for name in EDGE]
    assert edge["before"] == network.inner_weights_[places[0], places[1]]
    assert edge["after"] == 0
    old = {one["name"]: one["before"] for one in answer["relevance"]}
    assert old == pytest.approx(dict(zip(network.feature_names_in_, network.feature_importances_, strict=True)))
    assert {one["name"] for one in answer["effects"]} == set(network.feature_names_in_)
    assert all(len(one["before"]) == len(one["after"]) == len(one["values"]) for one in answer["effects"])


def test_better_says_which_way_is_better(changed):
    for score in changed.compare()["scores"]:
        gain = score["after"] - score["before"]
        gain = -gain if score["name"] == "log loss" else gain
        assert score["better"] is (None if abs(gain) < 1e-12 else bool(gain > 0))


def test_versions_are_compared_with_any_other(network, iris):
    changed = opened(network, *iris, n_folds=2)
    changed.forbid(*EDGE, **SAID)
    changed.undo(version=1)
    there, back = changed.compare(), changed.compare(version=1)
    assert (there["version"], there["before"], back["version"], back["before"]) == (2, 1, 1, 0)
    for one, other in zip(there["scores"], back["scores"], strict=True):
        assert (one["before"], one["after"]) == (other["after"], other["before"])
    assert all(one["before"] == one["after"] for one in changed.compare(version=2, before=0)["scores"])
    with pytest.raises(ValueError, match="no version 9: there are the versions 0 to 2"):
        changed.compare(version=9)


def test_the_map_is_the_models(changed):
    answer = changed.map()
    (network,) = answer["networks"]
    model = changed.in_use()[1].subject.model
    assert np.allclose(network["weights"], model.inner_weights_, rtol=1e-8)
    assert [one["name"] for one in network["concepts"]] == list(model.concept_names_)
    assert sum(one["relevance"] for one in network["concepts"]) == pytest.approx(1)
    places = [list(model.concept_names_).index(name) for name in EDGE]
    assert answer["stated"] == [{"statement": 1, "network": 0, "source": places[0], "target": places[1]}]
    assert answer["largest"] == np.abs(model.inner_weights_).max()


def test_statements_about_columns_mark_all_their_concepts(raw_bench):
    raw_bench.forbid("port", "age", **SAID)
    answer = raw_bench.map()
    names = [one["name"] for one in answer["networks"][0]["concepts"]]
    marked = {(names[one["source"]], names[one["target"]]) for one in answer["stated"]}
    assert marked == {(f"port = {port}", "age") for port in "SCQ"}
    owners = {one["column"] for one in answer["networks"][0]["concepts"]}
    assert owners == {"age", "sex", "class", "fare", "port", "deck", "joined", "paid"}


def test_rows_are_filtered_sorted_and_searched(bench, iris):
    told = next(iter(bench.versions.values())).measured
    wrong = np.flatnonzero(told.predicted != np.searchsorted(np.unique(iris[1]), iris[1]))
    answer = bench.rows(filter="errors")
    assert [one["row"] for one in answer["rows"]] == wrong.tolist()
    assert answer["counts"]["errors"] == len(wrong)
    assert not any(one["right"] for one in answer["rows"])
    uncertain = bench.rows(filter="uncertain", sort="probability", limit=500)["rows"]
    chances = [one["probability"] for one in uncertain]
    assert chances == sorted(chances)
    assert max(chances) < 0.75
    assert bench.rows(filter="uncertain")["total"] == (told.probability.max(axis=1) < 0.75).sum()
    widest = bench.rows(sort="petal width (cm)", descending=True, limit=1)["rows"][0]
    assert widest["values"][3] == iris[0]["petal width (cm)"].max()
    assert bench.rows(class_="setosa")["total"] == 50
    assert bench.rows(search="7.9")["rows"][0]["values"][0] == 7.9
    page = bench.rows(offset=140, limit=50)
    assert [one["row"] for one in page["rows"]] == list(range(140, 150))
    model = bench.rows(by="model", limit=500)["rows"]
    assert [one["predicted"] for one in model] == bench.given.model.predict(iris[0]).tolist()


def test_rows_that_cannot_be_found_are_named(raw_bench):
    for options, words in (
        ({"filter": "odd"}, "filter='odd' is unknown"),
        ({"class_": "maybe"}, "class='maybe' is unknown"),
        ({"sort": "agee"}, "did you mean 'age'"),
        ({"by": "unseen"}, "not cross-validated"),
    ):
        with pytest.raises(ValueError, match=words):
            raw_bench.rows(**options)
    missing = raw_bench.rows(sort="age", descending=False, limit=500)["rows"]
    ages = [one["values"][0] for one in missing]
    held = [age for age in ages if age is not None]
    assert ages == sorted(held) + [None] * (len(ages) - len(held))


def test_the_state_says_what_is_stated_and_which_columns_have_no_say(raw_bench):
    state = raw_bench.irrelevant("port", **SAID)
    assert [one["name"] for one in state["columns"] if one["irrelevant"]] == ["port"]
    (one,) = state["statements"]
    assert (one["claim"], one["author"], one["reason"]) == ("port is irrelevant", SAID["author"], SAID["reason"])
    assert (state["version"], state["model_version"], state["can_undo"], state["can_redo"]) == (1, 0, True, False)
    assert state["author"] == SAID["author"]


def test_few_rows_of_a_class_are_measured_without_folds():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(21, 3)), np.array(["a"] * 10 + ["b"] * 10 + ["c"])
    bench = opened(LTCNClassifier(max_iter=2, alpha=0.1).fit(X, y), X, y)
    bench.forbid("x0", "x1", **SAID)
    answer = bench.compare()
    assert "Class 'c' has one row" in answer["measured"]
    assert bench.rows()["by"] == "model"


def test_a_table_with_a_stated_model_can_withdraw_what_it_was_given_with(passengers, tmp_path):
    given = Knowledge().irrelevant("port", author="A. Steward", reason="noise")
    model = TabularClassifier(LTCNClassifier(max_iter=2, alpha=0.1, knowledge=given)).fit(*passengers)
    bench = opened(model, *passengers, folder=tmp_path, n_folds=2)
    assert [one["claim"] for one in bench.state()["statements"]] == ["port is irrelevant"]
    bench.withdraw(1, **SAID)
    plain = TabularClassifier(LTCNClassifier(max_iter=2, alpha=0.1)).fit(*passengers)
    now = bench.in_use()[1].subject.model
    assert np.array_equal(now.predict_proba(passengers[0]), plain.predict_proba(passengers[0]))
    assert now.target_name_ == "survived"
