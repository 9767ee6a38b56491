import numpy as np
import pytest

from cogmap import LTCNClassifierCV
from cogmap.workbench import Workbench


def test_probabilities_evidence_and_states_are_those_of_the_model(raw_bench, tabular, passengers):
    X = passengers[0][7:8]
    answer = raw_bench.what_if(row=7)
    assert answer["predicted"] == tabular.predict(X)[0]
    assert [one["probability"] for one in answer["probabilities"]] == tabular.predict_proba(X)[0].tolist()
    explanation = tabular.explain(X)
    k = tabular.classes_.tolist().index(answer["predicted"])
    adds = {part["name"]: part["adds"] for part in answer["evidence"]["parts"]}
    assert adds == pytest.approx(dict(zip(explanation.feature_names, explanation.attributions[0, :, k], strict=True)))
    (one,) = answer["trajectory"]
    assert np.allclose(np.array(one["states"])[: one["read"] + 1], explanation.trajectory[0], atol=1e-6)
    assert one["concepts"] == list(tabular.fitted_.concept_names)
    assert answer["truth"] == passengers[1][7]


def test_evidence_adds_up_to_the_log_odds_of_any_class(bench):
    for name in bench.given.classes:
        answer = bench.what_if(row=60, class_=name)
        logs = {one["class"]: np.log(one["probability"]) for one in answer["probabilities"]}
        evidence = answer["evidence"]
        assert evidence["total"] == pytest.approx(logs[name] - np.mean(list(logs.values())))
        assert evidence["start"] + sum(part["adds"] for part in evidence["parts"]) == pytest.approx(evidence["total"])


def test_cells_move_the_prediction_as_the_model_says(bench, network, iris):
    X = iris[0][60:61].assign(**{"petal width (cm)": 2.4})
    answer = bench.what_if({"petal width (cm)": 2.4}, 60)
    assert [one["probability"] for one in answer["probabilities"]] == network.predict_proba(X)[0].tolist()
    assert answer["values"]["petal width (cm)"] == 2.4


def test_verdicts_are_those_of_the_states_themselves(network, iris):
    bench = Workbench(network, *iris, refit=False)
    (one,) = bench.what_if(row=3)["trajectory"]
    assert one["verdict"] in ("fixed point", "neither")
    assert len(one["states"]) == 5  # max_iter is 4


def test_a_stack_shows_each_of_its_networks(iris):
    model = LTCNClassifierCV(cases=False, max_iter=[3]).fit(*iris)
    answer = Workbench(model, *iris, refit=False).what_if(row=0)
    assert [one["network"] for one in answer["trajectory"]] == list(model.fitted_.network_names)
    assert sum(len(one["concepts"]) for one in answer["trajectory"]) == len(model.concept_names_)


def test_parts_that_are_not_wanted_are_left_out(bench):
    assert not {"evidence", "trajectory"} & set(bench.what_if(parts=[]))
    with pytest.raises(ValueError, match="are unknown"):
        bench.what_if(parts=["all"])
    with pytest.raises(ValueError, match="There is no class 'tulip'"):
        bench.what_if(class_="tulip")


def test_values_that_no_row_had_are_noted(raw_bench):
    (note,) = raw_bench.what_if({"port": "Zanzibar"})["notes"]
    assert "Zanzibar" in note


def test_explanations_say_which_row_and_what_unseen_models_say(bench):
    answer = bench.explain(row=70)
    assert answer["text"].startswith("Row 70 is classified as ")
    measured = next(iter(bench.versions.values())).measured
    assert answer["unseen"]["probability"] == measured.probability[70].max()
    assert bench.explain(values={"petal width (cm)": 1.0})["unseen"] is None
