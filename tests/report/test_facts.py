"""What the report says, against computations of its own."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from cogmap import LTCNClassifier, TabularClassifier, load
from cogmap.report import report_facts, to_html


@pytest.fixture(scope="module")
def of_stack(pages):
    return pages["iris"][1]


@pytest.fixture(scope="module")
def of_people(pages):
    return pages["people"][1]


def test_facts_are_plain_data(pages):
    for _, facts in pages.values():
        assert json.loads(json.dumps(facts, allow_nan=False)) == facts


def test_quality_is_that_of_scikit_learn(of_stack, stack, iris):
    X, y = iris.drop(columns="target"), iris["target"]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    probability = cross_val_predict(clone(stack), X, y, cv=folds, method="predict_proba")
    predicted = stack.classes_[probability.argmax(axis=1)]
    found = of_stack["quality"]["cross_validated"]
    assert found["accuracy"] == pytest.approx(metrics.accuracy_score(y, predicted))
    assert found["log_loss"] == pytest.approx(metrics.log_loss(y, probability))
    assert found["confusion"] == metrics.confusion_matrix(y, predicted).tolist()
    assert of_stack["quality"]["itself"]["accuracy"] == pytest.approx(stack.score(X, y))
    assert of_stack["quality"]["most_frequent"]["share"] == pytest.approx(1 / 3)


def test_overview_counts(of_people, of_stack, tabular, stack):
    found = of_people["overview"]
    assert (found["n_rows"], found["n_columns"], found["tabular"], found["target"]) == (300, 6, True, "survived")
    assert sum(one["n_rows"] for one in found["classes"]) == 300
    assert {p["name"]: p["value"] for p in found["parameters"] if not p["default"]} == {
        "alpha": "0.1",
        "knowledge": f"{len(tabular.classifier_.knowledge)} statements",
        "max_iter": "4",
    }
    assert [c["name"] for c in found["columns"]] == ["age", "sex", "class", "fare", "port", "deck"]
    weights = [one["weight"] for one in of_stack["overview"]["networks"]]
    assert sum(weights) == pytest.approx(stack.cv_results_["stack_weight"].sum())
    remembers = stack.cv_results_["stack_weight"][stack.cv_results_["param_cases"].astype(bool)].any()
    assert (of_stack["overview"]["n_remembered"] > 0) == remembers


def test_maps_hold_the_inner_weights(of_stack, stack):
    names = stack.concept_names_.tolist()
    n_edges = 0
    for one in of_stack["maps"]:
        for edge in one["edges"]:
            source, target = (f"{one['concepts'][edge[end]]['name']} [{one['name']}]" for end in ("source", "target"))
            assert edge["weight"] == stack.inner_weights_[names.index(source), names.index(target)]
            n_edges += 1
        sizes = [abs(edge["weight"]) for edge in one["edges"]]
        assert sizes == sorted(sizes, reverse=True)
        assert sum(concept["share"] for concept in one["concepts"]) == pytest.approx(1)
    between = ~np.eye(len(names), dtype=bool)
    assert n_edges == np.count_nonzero(stack.inner_weights_[between])


def test_a_large_map_keeps_the_most_relevant_concepts(rng):
    X = rng.normal(size=(80, 40))
    y = X[:, 7] + 0.1 * X[:, 9] > 0
    model = LTCNClassifier(max_iter=2, alpha=1.0).fit(X, y)
    (found,) = report_facts(model, X, y)["maps"]
    assert (len(found["concepts"]), found["n_concepts"]) == (24, 40)
    expected = np.argsort(-model.relevance(), kind="stable")[:24]
    assert [concept["name"] for concept in found["concepts"]] == [f"x{j}" for j in expected]


@pytest.mark.filterwarnings("ignore::cogmap.UnreliableRelevanceWarning")
def test_relevance_is_the_models(of_stack, stack, of_people, tabular):
    for facts, model in ((of_stack, stack), (of_people, tabular)):
        for found in facts["relevance"]:
            expected = dict(zip(model._feature_names(), model.relevance(kind=found["kind"]), strict=True))
            assert {c["name"]: c["relevance"] for c in found["columns"]} == pytest.approx(expected)
            assert sum(c["share"] for c in found["columns"]) == pytest.approx(1)
            shares = [c["share"] for c in found["columns"]]
            assert shares == sorted(shares, reverse=True)


def test_doubtful_relevance_says_so(of_stack):
    caveats = {found["kind"]: found["caveats"] for found in of_stack["relevance"]}
    assert "cancel each other" in caveats["paper"][0]
    assert caveats["model"] == []


def test_dynamics_are_those_of_the_states(of_stack, stack, iris):
    X, found = iris.drop(columns="target"), of_stack["dynamics"]
    moves = np.abs(np.diff(stack.trajectory(X), axis=1)).max(axis=(0, 2))
    np.testing.assert_allclose(found["largest_move"][: len(moves)], moves)
    assert len(found["largest_move"]) == stack.max_iter
    verdict = stack.diagnose(X)
    assert found["n_fixed"] == (verdict.period == 1).sum()
    assert found["n_fixed"] + found["n_cycles"] + found["n_neither"] == 150
    assert found["contraction"] == verdict.contraction


def test_formation_is_the_mean_of_the_contributions(of_stack, stack, iris):
    X, y = iris.drop(columns="target"), iris["target"]
    scores = stack.decision_function(X)
    for found in of_stack["formation"]:
        k, own = stack.classes_.tolist().index(found["name"]), (y == found["name"]).to_numpy()
        margin = scores[own, k] - np.delete(scores[own], k, axis=1).mean(axis=1)
        assert found["margin"] == pytest.approx(margin.mean())
        assert found["base"] + sum(found["steps"]) + found["cases"] == pytest.approx(margin.mean())
        frame = stack.explain(X[own]).to_frame()
        sign = np.where(frame["class"] == found["name"], 1.0, -0.5)
        by_iteration = (frame["contribution"] * sign).groupby(frame["iteration"]).sum() / own.sum()
        np.testing.assert_allclose(found["steps"], by_iteration, rtol=1e-8, atol=1e-8 * abs(margin.mean()))


def naive_choice(model, encoded, codes, probability):
    """Return the typical rows of two classes, the least certain row and the three worst errors, by loops."""
    initial = model.classifier_._networks[0].concepts(encoded)
    spread = [np.std(column) or 1.0 for column in initial.T]
    typical = []
    for k in (0, 1):
        centre = np.mean([row for row, code in zip(initial, codes, strict=True) if code == k], axis=0)
        right = [i for i, code in enumerate(codes) if code == k and probability[i].argmax() == k]
        typical.append(min(right, key=lambda i: sum(((initial[i] - centre) / spread) ** 2)))
    least = min(range(len(codes)), key=lambda i: abs(probability[i, 0] - probability[i, 1]))
    wrong = [i for i, code in enumerate(codes) if probability[i].argmax() != code]
    return [*typical, least, *sorted(wrong, key=lambda i: probability[i, codes[i]])[:3]]


def test_rows_are_typical_uncertain_or_wrong(of_people, tabular, passengers):
    X = passengers.drop(columns="survived")
    codes = (passengers["survived"] == "yes").to_numpy().astype(int)
    expected = naive_choice(tabular, tabular.encode(X).to_numpy(), codes, tabular.predict_proba(X))
    assert [row["position"] for row in of_people["explained"]["rows"]] == list(dict.fromkeys(expected))
    assert of_people["explained"]["n_wrong"] == (tabular.predict(X) != passengers["survived"]).sum()


def test_reasons_add_up_to_the_margin(pages, tabular, passengers):
    for _, facts in pages.values():
        for row in facts["explained"]["rows"]:
            total = row["start"] + sum(reason["adds"] for reason in row["reasons"]) + row["others"]
            assert total == pytest.approx(row["margin"])
    scores = tabular.decision_function(passengers.drop(columns="survived"))
    for row in pages["people"][1]["explained"]["rows"]:
        assert row["margin"] == pytest.approx(abs(scores[row["position"]]))
        assert row["text"].startswith(f"Row {row['label']} is classified as {row['predicted']}")


def test_rows_keep_their_own_labels(tabular, passengers):
    named = passengers.set_axis([f"p{i}" for i in range(len(passengers))], axis=0)
    for row in report_facts(tabular, named, "survived")["explained"]["rows"]:
        assert row["label"] == f"p{row['position']}"


def test_knowledge_is_compared_with_a_model_that_had_none(of_people, tabular, passengers):
    X, y = passengers.drop(columns="survived"), passengers["survived"]
    without = TabularClassifier(LTCNClassifier(max_iter=4, alpha=0.1)).fit(X, y)
    changes = of_people["knowledge"]["changes"]
    scores = {one["name"]: one for one in changes["scores"]}
    assert scores["accuracy"]["before"] == pytest.approx(without.score(X, y))
    assert scores["accuracy"]["after"] == pytest.approx(tabular.score(X, y))
    assert changes["n_changed_rows"] == (without.predict(X) != tabular.predict(X)).sum()
    port = next(one for one in changes["relevance"] if one["name"] == "port")
    assert port["before"] > 0 == port["after"]
    assert of_people["knowledge"]["statements"][0] == {
        "claim": "age → fare is positive or 0", "author": "A. Steward", "date": None, "reason": "savings",
    }  # fmt: skip


def test_without_knowledge_nothing_changes(of_stack):
    assert of_stack["knowledge"] == {"statements": [], "changes": None}


def test_a_loaded_model_gives_the_same_facts(of_people, tabular, passengers, tmp_path):
    pytest.importorskip("safetensors")
    again = load(tabular.save(tmp_path / "people.cogmap"))
    assert report_facts(again, passengers, "survived") == of_people


def test_a_model_without_names_takes_arrays_and_frames(iris):
    X, y = iris.drop(columns="target"), iris["target"]
    model = LTCNClassifier(max_iter=3, alpha=0.1).fit(X.to_numpy(), y)
    unnamed = report_facts(model, X.to_numpy(), y.to_numpy())
    assert unnamed == report_facts(model, X, y) | {"overview": unnamed["overview"]}
    assert unnamed["overview"]["target"] is None
    assert {c["name"] for c in unnamed["relevance"][0]["columns"]} == {"x0", "x1", "x2", "x3"}


def test_unknown_columns_are_left_out_and_lacking_ones_named(stack, iris, of_stack):
    reordered = iris[iris.columns[::-1]].assign(more=1)
    assert report_facts(stack, reordered, "target") == of_stack
    with pytest.raises(ValueError, match=r"lacks column 'petal width \(cm\)'"):
        report_facts(stack, iris.drop(columns="petal width (cm)"), "target")
    with pytest.raises(ValueError, match="There is no column 'kind'"):
        report_facts(stack, iris, "kind")
    with pytest.raises(ValueError, match="'rose', which the model does not know"):
        report_facts(stack, iris.assign(target="rose"), "target")
    with pytest.raises(ValueError, match="150 rows and the target has 3"):
        report_facts(stack, iris.drop(columns="target"), ["setosa"] * 3)
    with pytest.raises(TypeError, match="not a LogisticRegression"):
        report_facts(LogisticRegression(), iris, "target")
    with pytest.raises(ValueError, match="n_folds=1 must be 2"):
        report_facts(stack, iris, "target", n_folds=1)


def test_classes_may_be_rare_or_absent(iris):
    X, y = iris.drop(columns="target"), iris["target"]
    model = LTCNClassifier(max_iter=3, alpha=0.1).fit(X, y)
    three = report_facts(model, iris.iloc[list(range(53))], "target")
    assert three["quality"]["n_folds"] == 3
    assert three["quality"]["cross_validated"]["classes"] == ["setosa", "versicolor"]
    assert [one["name"] for one in three["formation"]] == ["setosa", "versicolor"]
    single = report_facts(model, iris.iloc[:51], "target")["quality"]
    assert single["cross_validated"] is None
    assert single["reason"] == "Class 'versicolor' has one row, and a fold more than that."
    only = report_facts(model, iris.iloc[:50], "target")
    assert only["quality"]["reason"] == "All rows are of one class."
    for facts in (three, only):
        assert "</html>" in to_html(facts)


def test_columns_stay_what_they_are_in_every_fold():
    # All different within four of five parts, so a fold by itself would call it a row number.
    n = 100
    number = np.r_[np.arange(n - 2), 0, 1]
    frame = pd.DataFrame({"number": number, "size": np.tile([1.0, 2.0, 4.0, 5.0], n // 4)})
    frame["kind"] = np.where(frame["size"] > 3, "big", "small")
    model = TabularClassifier(LTCNClassifier(max_iter=1)).fit(frame.drop(columns="kind"), frame["kind"])
    assert report_facts(model, frame, "kind", n_folds=2)["quality"]["cross_validated"]["accuracy"] > 0.9


def test_polars_frames_are_taken(tabular, passengers, of_people):
    polars = pytest.importorskip("polars")
    known = {name: [None if pd.isna(v) else v for v in values] for name, values in passengers.items()}
    assert report_facts(tabular, polars.DataFrame(known), "survived") == of_people


def test_statements_hold_where_rows_lack_a_concept(tabular, passengers):
    complete = passengers[passengers["port"].notna()]
    found = report_facts(tabular, complete, "survived")
    assert found["quality"]["cross_validated"]["accuracy"] > 0.7
    assert found["knowledge"]["changes"]["n_rows"] == len(complete)
