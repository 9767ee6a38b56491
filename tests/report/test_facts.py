"""What the report says, against computations of its own."""

import json
import re

import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from cogmap import LTCNClassifier, LTCNClassifierCV, TabularClassifier, load
from cogmap.intake.checks import feature_names
from cogmap.report import report_facts, to_html
from cogmap.report.words import summary


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
        label = f" [{one['name']}]" if len(of_stack["maps"]) > 1 else ""
        for edge in one["edges"]:
            source, target = (one["concepts"][edge[end]]["name"] + label for end in ("source", "target"))
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
    (found,) = report_facts(model, X, y, n_folds=2)["maps"]
    assert (len(found["concepts"]), found["n_concepts"]) == (24, 40)
    expected = np.argsort(-model.relevance(), kind="stable")[:24]
    assert [concept["name"] for concept in found["concepts"]] == [f"x{j}" for j in expected]


@pytest.mark.filterwarnings("ignore::cogmap.UnreliableRelevanceWarning")
def test_relevance_is_the_models(of_stack, stack, of_people, tabular):
    for facts, model in ((of_stack, stack), (of_people, tabular)):
        for found in facts["relevance"]:
            expected = dict(zip(feature_names(model), model.relevance(kind=found["kind"]), strict=True))
            assert {c["name"]: c["relevance"] for c in found["columns"]} == pytest.approx(expected)
            assert sum(c["share"] for c in found["columns"]) == pytest.approx(1)
            shares = [c["share"] for c in found["columns"]]
            assert shares == sorted(shares, reverse=True)


def test_the_papers_relevance_is_left_out_where_weights_cancel(of_stack, of_people, stack, tabular, iris):
    X, y = iris.drop(columns="target"), iris["target"]
    single = LTCNClassifier.paper(max_iter=3).fit(X, y)
    of_single = report_facts(single, X, y, n_folds=2)
    for facts, model in ((of_stack, stack), (of_people, tabular.classifier_), (of_single, single)):
        outer = model.outer_weights_
        cancel = sum(np.abs(outer).ravel()) > 20 * sum(np.abs(sum(outer)).ravel()) or np.abs(outer).max() > 1000
        assert [found["kind"] for found in facts["relevance"]] == ["model", "data"] + ["paper"] * (not cancel)
        assert facts["relevance"][0]["caveats"] == []
    assert {len(facts["relevance"]) for facts in (of_stack, of_single)} == {2, 3}


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
    logs = np.log(stack.predict_proba(X))
    for found in of_stack["formation"]:
        k, own = stack.classes_.tolist().index(found["name"]), (y == found["name"]).to_numpy()
        evidence = (logs[own, k] - logs[own].mean(axis=1)).mean()
        assert found["evidence"] == pytest.approx(evidence)
        assert found["base"] + sum(found["steps"]) + found["cases"] == pytest.approx(evidence)
        frame = stack.explain(X[own]).to_frame()
        frame = frame[frame["class"] == found["name"]]
        by_iteration = frame["contribution"].groupby(frame["iteration"]).sum() / own.sum()
        np.testing.assert_allclose(found["steps"], by_iteration, rtol=1e-8, atol=1e-8 * abs(evidence))
        assert found["n_rows"] == 50


def naive_choice(model, encoded, codes, probability):
    """Return the typical rows of two classes, the least certain row and the three worst errors, by loops."""
    initial = model.classifier_.fitted_.networks[0].concepts(encoded)
    spread = [np.std(column) or 1.0 for column in initial.T]
    typical = []
    for k in (0, 1):
        centre = np.mean([row for row, code in zip(initial, codes, strict=True) if code == k], axis=0)
        right = [i for i, code in enumerate(codes) if code == k and probability[i].argmax() == k]
        typical.append(min(right, key=lambda i: sum(((initial[i] - centre) / spread) ** 2)))
    least = min(range(len(codes)), key=lambda i: abs(probability[i, 0] - probability[i, 1]))
    wrong = [i for i, code in enumerate(codes) if probability[i].argmax() != code]
    return [*typical, least, *sorted(wrong, key=lambda i: probability[i, codes[i]])[:3]]


def without_the_fold(model, table, target, n_folds=5):
    """Return probabilities of all rows and the model that each comes from, fitted without them in its concepts."""
    X, y = table.drop(columns=target), table[target].to_numpy()
    probability, models = np.empty((len(y), len(model.classes_))), np.empty(len(y), dtype=object)
    for train, test in StratifiedKFold(n_folds, shuffle=True, random_state=0).split(X, y):
        network = clone(model.classifier_).fit(model.encode(X.iloc[train]), y[train])
        probability[test] = network.predict_proba(model.encode(X.iloc[test]))
        models[test] = network
    return probability, models


@pytest.fixture(scope="module")
def unseen_people(tabular, passengers):
    return without_the_fold(tabular, passengers, "survived")


def test_rows_are_typical_uncertain_or_wrong_for_models_that_did_not_see_them(
    of_people, tabular, passengers, unseen_people
):
    X = passengers.drop(columns="survived")
    codes = (passengers["survived"] == "yes").to_numpy().astype(int)
    probability, _ = unseen_people
    expected = naive_choice(tabular, tabular.encode(X).to_numpy(), codes, probability)
    explained = of_people["explained"]
    assert [row["position"] for row in explained["rows"]] == list(dict.fromkeys(expected))
    assert explained["n_wrong"] == (probability.argmax(axis=1) != codes).sum()
    assert explained["n_folds"] == 5
    for row in explained["rows"]:
        assert row["probability"] == pytest.approx(probability[row["position"]].max())
        assert row["predicted"] == tabular.classes_[probability[row["position"]].argmax()]


def test_remembered_rows_are_not_explained_by_the_model_that_remembers_them(rng):
    """A model of remembered rows is certain of each of them; of rows that it did not see, it is not."""
    X = pd.DataFrame(rng.uniform(0, 4, size=(240, 2)), columns=["east", "north"])
    board = pd.Series(np.where(np.floor(X).sum(axis=1) % 2 > 0, "black", "white"), name="field")
    y = board.where(rng.random(240) > 0.15, "white")
    model = LTCNClassifierCV(inner="slopes", terms=None, pairs=False).fit(X, y)
    found = report_facts(model, X, y)
    assert found["overview"]["n_remembered"] > 0
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    probability = cross_val_predict(clone(model), X, y, cv=folds, method="predict_proba")
    least = next(row for row in found["explained"]["rows"] if "the least certain" in row["role"])
    assert least["position"] == np.abs(probability[:, 1] - 0.5).argmin()
    for row in found["explained"]["rows"]:
        assert row["probability"] == pytest.approx(probability[row["position"]].max())


def test_reasons_add_up_to_the_log_odds_of_the_model_that_did_not_see_the_row(pages, unseen_people):
    for _, facts in pages.values():
        for row in facts["explained"]["rows"]:
            total = row["start"] + sum(reason["adds"] for reason in row["reasons"]) + row["others"]
            assert total == pytest.approx(row["evidence"], abs=1e-9)
            assert row["unit"].startswith(f"log-odds of {row['predicted']} against ")
    probability, _ = unseen_people
    for row in pages["people"][1]["explained"]["rows"]:
        ordered = np.sort(probability[row["position"]])
        assert row["evidence"] == pytest.approx(np.log(ordered[1] / ordered[0]))
        assert row["text"].startswith(f"Row {row['label']} is classified as {row['predicted']}")
        for reason in row["reasons"]:
            if reason["adds"] > np.log(1.05):
                times = float(re.search(r"makes \w+ ([\d.]+) times as likely", reason["odds"])[1])
                assert times == pytest.approx(np.exp(reason["adds"]), rel=0.05)


def test_with_more_classes_evidence_is_against_the_average(of_stack, stack, iris):
    X, y = iris.drop(columns="target"), iris["target"]
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    logs = np.log(cross_val_predict(clone(stack), X, y, cv=folds, method="predict_proba"))
    for row in of_stack["explained"]["rows"]:
        own = logs[row["position"]]
        assert row["evidence"] == pytest.approx(own.max() - own.mean(), rel=1e-6)
        assert row["unit"].endswith("against the average of all classes")


def test_without_folds_the_model_itself_explains(iris):
    X, y = iris.drop(columns="target"), iris["target"]
    model = LTCNClassifier(max_iter=3, alpha=0.1).fit(X, y)
    facts = report_facts(model, iris.iloc[:51], "target")
    assert facts["explained"]["n_folds"] == 0
    for row in facts["explained"]["rows"]:
        assert row["probability"] == pytest.approx(model.predict_proba(X.iloc[[row["position"]]]).max())
    assert "The model itself predicts and explains them" in to_html(facts)


@pytest.mark.filterwarnings("ignore::cogmap.errors.NoInformationWarning")
def test_a_useless_model_is_said_to_be_no_better_than_the_majority(iris, of_stack, rng):
    frame = pd.DataFrame({"noise": rng.normal(size=90), "kind": np.repeat(["often", "seldom"], [70, 20])})
    model = LTCNClassifier(max_iter=1).fit(frame[["noise"]], frame["kind"])
    facts = report_facts(model, frame, "kind")
    assert facts["quality"]["cross_validated"]["accuracy"] <= 70 / 90
    assert "This is no better than always naming 'often'" in " ".join(summary(facts))
    assert "no better" not in " ".join(summary(of_stack))


def test_labels_are_those_of_predict_where_a_metric_moves_the_decision(rng):
    """With decision_metric="balanced_accuracy" the rare class is named below one half."""
    frame = pd.DataFrame({"size": np.r_[rng.normal(0, 1, 140), rng.normal(1, 1, 20)]})
    frame["kind"] = np.repeat(["often", "seldom"], [140, 20])
    X, y = frame[["size"]], frame["kind"]
    model = LTCNClassifier(max_iter=2, decision_metric="balanced_accuracy").fit(X, y)
    facts = report_facts(model, frame, "kind")
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    predicted = cross_val_predict(clone(model), X, y, cv=folds)
    probability = cross_val_predict(clone(model), X, y, cv=folds, method="predict_proba")
    assert (predicted != model.classes_[probability.argmax(axis=1)]).any()
    assert facts["quality"]["cross_validated"]["confusion"] == metrics.confusion_matrix(y, predicted).tolist()
    assert facts["quality"]["itself"]["accuracy"] == pytest.approx(model.score(X, y))
    assert facts["explained"]["n_wrong"] == (predicted != y).sum()
    for row in facts["explained"]["rows"]:
        assert row["predicted"] == predicted[row["position"]]
        own = probability[row["position"], model.classes_.tolist().index(row["predicted"])]
        assert row["probability"] == pytest.approx(own)


def test_rows_keep_their_own_labels(tabular, passengers):
    named = passengers.set_axis([f"p{i}" for i in range(len(passengers))], axis=0)
    for row in report_facts(tabular, named, "survived", n_folds=2)["explained"]["rows"]:
        assert row["label"] == f"p{row['position']}"


def test_knowledge_is_compared_with_a_model_that_had_none(of_people, tabular, passengers):
    X, y = passengers.drop(columns="survived"), passengers["survived"]
    without = TabularClassifier(LTCNClassifier(max_iter=4, alpha=0.1)).fit(X, y)
    changes = of_people["knowledge"]["changes"]
    scores = {one["name"]: one for one in changes["scores"]}
    folds = StratifiedKFold(5, shuffle=True, random_state=0)
    predicted = [
        cross_val_predict(clone(model.classifier_), model.encode(X), y, cv=folds) for model in (without, tabular)
    ]
    assert scores["accuracy"]["before"] == pytest.approx(metrics.accuracy_score(y, predicted[0]))
    assert scores["accuracy"]["after"] == pytest.approx(metrics.accuracy_score(y, predicted[1]))
    assert changes["n_changed_rows"] == (predicted[0] != predicted[1]).sum()
    assert changes["measured"].startswith("Cross-validated on 300 rows in 5 folds")
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
    unnamed = report_facts(model, X.to_numpy(), y.to_numpy(), n_folds=2)
    assert unnamed == report_facts(model, X, y, n_folds=2) | {"overview": unnamed["overview"]}
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
    found = report_facts(tabular, complete, "survived", n_folds=2)
    assert found["quality"]["cross_validated"]["accuracy"] > 0.7
    assert found["knowledge"]["changes"]["n_rows"] == len(complete)
