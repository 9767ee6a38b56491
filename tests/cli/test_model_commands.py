"""From a raw CSV file with text and missing values to a model file, and from there on: predict, evaluate, explain."""

import json
import re

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("click")
pytest.importorskip("safetensors")
from click.testing import CliRunner

from cogmap import Knowledge, LTCNClassifier, TabularClassifier, load
from cogmap.cli import main
from cogmap.effects.effects import feature_effect
from cogmap.quality.evaluation import evaluate
from tests.people import people


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a folder with people.csv, new.csv (other rows) and people.cogmap, made by the command."""
    folder = tmp_path_factory.mktemp("model")
    people().to_csv(folder / "people.csv", index=False)
    people(120, seed=1).to_csv(folder / "new.csv", index=False)
    run("fit", folder / "people.csv", "--target", "survived", "--drop", "id", "--no-tune",
        "--model", folder / "people.cogmap")  # fmt: skip
    return folder


@pytest.fixture(scope="module")
def model():
    frame = people()
    return TabularClassifier(LTCNClassifier()).fit(frame.drop(columns=["survived", "id"]), frame["survived"])


@pytest.fixture(scope="module")
def new():
    return people(120, seed=1).drop(columns=["survived", "id"])


def test_predict_gives_the_models_classes_and_probabilities(files, model, new, tmp_path):
    out = tmp_path / "out.csv"
    result = run("predict", files / "people.cogmap", files / "new.csv", "-o", out, "--proba", "--keep", "id")
    found = pd.read_csv(out)
    assert list(found) == ["row", "id", "predicted", "probability of no", "probability of yes"]
    assert found["predicted"].tolist() == model.predict(new).tolist()
    np.testing.assert_allclose(found.iloc[:, 3:], model.predict_proba(new), atol=5.1e-7, rtol=0)
    assert result.stdout == ""
    assert "120 predictions written" in result.stderr


def test_predict_prints_csv_or_json(files, model, new):
    printed = run("predict", files / "people.cogmap", files / "new.csv").stdout.splitlines()
    assert printed[:2] == ["row,predicted", f"0,{model.predict(new)[0]}"]
    records = json.loads(run("predict", files / "people.cogmap", files / "new.csv", "--json").stdout)
    assert [record["predicted"] for record in records] == model.predict(new).tolist()


def test_columns_are_found_by_name(files, model, new, tmp_path):
    new[new.columns[::-1]].assign(note="x").to_csv(tmp_path / "other.csv", index=False)
    result = run("predict", files / "people.cogmap", tmp_path / "other.csv")
    assert "Columns that the model does not know are left out: 'note'." in result.stderr
    assert [line.split(",")[1] for line in result.stdout.splitlines()[1:]] == model.predict(new).tolist()
    new.drop(columns=["sex", "age"]).to_csv(tmp_path / "lacking.csv", index=False)
    message = run("predict", files / "people.cogmap", tmp_path / "lacking.csv", code=2).stderr
    assert "X lacks columns 'age', 'sex'" in message


@pytest.mark.parametrize(("option", "value"), [("--phi", "0.5"), ("--no-tune", None), ("--drop", "age")])
def test_evaluate_refuses_options_of_a_network_where_the_model_has_one(files, option, value):
    given = [option] if value is None else [option, value]
    result = run("evaluate", files / "people.cogmap", files / "new.csv", *given, code=2)
    assert "is for a network to be fitted, and MODEL is: leave it out." in result.stderr


def test_evaluate_knows_the_target(files, model, new):
    found = json.loads(run("evaluate", files / "people.cogmap", files / "new.csv", "--json").stdout)
    expected = evaluate(model, new, people(120, seed=1)["survived"])
    assert found["confusion"] == expected.confusion.tolist()
    assert found["log_loss"] == pytest.approx(expected.log_loss)
    assert found["calibration"][0].keys() == {"low", "high", "n_rows", "mean_probability", "accuracy"}
    text = run("evaluate", files / "people.cogmap", files / "new.csv").stdout
    assert f"kappa               {expected.kappa:.3f}" in text


@pytest.mark.parametrize("kind", ["model", "data", "paper"])
def test_explain_the_model(files, model, kind):
    found = json.loads(run("explain", files / "people.cogmap", "--kind", kind, "--json").stdout)
    relevance = dict(zip(model.feature_names_in_, model.relevance(kind=kind), strict=True))
    assert [c["name"] for c in found["columns"]] == sorted(relevance, key=relevance.get, reverse=True)
    for column in found["columns"]:
        assert column["relevance"] == pytest.approx(relevance[column["name"]])
    assert run("explain", files / "people.cogmap").stdout.splitlines()[1].startswith("sex")


def test_explain_rows(files, model, new):
    result = run("explain", files / "people.cogmap", files / "new.csv", "--row", 3, "--row", 0)
    explanation = model.explain(new.iloc[[3, 0]])
    for i in range(2):
        assert explanation.to_text(i) in result.stdout
    found = json.loads(run("explain", files / "people.cogmap", files / "new.csv", "--row", 3, "--json").stdout)
    assert found[0]["row"] == 3
    code = list(model.classes_).index(found[0]["class"])
    for part in found[0]["columns"]:
        k = explanation.feature_names.index(part["name"])
        assert part["evidence"] == pytest.approx(explanation.attributions[0, k, code])
        assert part["odds_factor"] == pytest.approx(np.exp(part["evidence"]))
    probability = model.predict_proba(new.iloc[[3]])[0]
    total = found[0]["other_rows"] + sum(part["evidence"] for part in found[0]["columns"])
    assert total == pytest.approx(np.log(probability[code] / probability[1 - code]), abs=1e-9)
    assert found[0]["evidence"] == pytest.approx(total, abs=1e-9)
    assert found[0]["unit"] == explanation.unit(found[0]["class"])


def test_the_text_and_the_table_of_a_row_show_the_same_numbers(files, model, new):
    printed = run("explain", files / "people.cogmap", files / "new.csv", "--row", 3).stdout
    explanation = model.explain(new.iloc[[3]])
    label = explanation.predicted[0]
    assert f"Evidence in log-odds of {label} against {explanation.runner_up[0]}:" in printed
    text, table = printed.split("Evidence in ")
    in_all = re.search(r"is ([+-]\d+\.\d\d) in all", text).group(1)
    assert table.splitlines()[-1].split() == ["in", "all", in_all]
    for name, value in re.findall(r"(\w+) = [^(]*\(([+-]\d+\.\d\d), ", text):
        line = next(line for line in table.splitlines() if line.startswith(name))
        assert value in line
        assert " times " in line or "hardly changes" in line
    assert "iteration" not in printed
    assert (
        "How the evidence came about"
        in run("explain", files / "people.cogmap", files / "new.csv", "--row", 3, "--details").stdout
    )


@pytest.mark.parametrize("arguments", [(), ("new.csv", "--row", "1")])
def test_explain_draws(files, tmp_path, arguments):
    pytest.importorskip("matplotlib")
    paths = [files / a if a.endswith(".csv") else a for a in arguments]
    run("explain", files / "people.cogmap", *paths, "--picture", tmp_path / "why.png")
    assert (tmp_path / "why.png").read_bytes().startswith(b"\x89PNG")


def test_explain_says_how_columns_act(files, model, new, tmp_path):
    pytest.importorskip("matplotlib")
    picture = tmp_path / "age.png"
    arguments = ("explain", files / "people.cogmap", files / "new.csv", "--effect", "age", "--effect", "sex")
    printed = run(*arguments, "--picture", picture).stdout
    assert picture.read_bytes().startswith(b"\x89PNG")
    for name in ("age", "sex"):
        expected = feature_effect(model, new, name)
        table = printed.partition(f"{name} ")[2].splitlines()[1 : len(expected.labels) + 1]
        for line, label, rows, effect in zip(table, expected.labels, expected.rows, expected.effect[:, 0], strict=True):
            assert line.split()[:3] == [label, f"{rows:g}", f"{effect:.3f}"]
    found = json.loads(run(*arguments, "--json").stdout)
    assert [one["column"] for one in found] == ["age", "sex"]
    assert [line["effect"] for line in found[1]["values"]] == pytest.approx(expected.effect[:, 0].tolist())
    kept = run("explain", files / "people.cogmap", "--effect", "sex").stdout
    assert f"{feature_effect(model, None, 'sex').effect[0, 0]:.3f}" in kept


def test_edit_shows_what_changes_and_writes_the_new_model(files, model, tmp_path):
    knowledge = Knowledge().irrelevant("deck").forbid("port", "fare")
    knowledge.save(tmp_path / "expert.toml")
    arguments = ("edit", files / "people.cogmap", files / "people.csv", tmp_path / "expert.toml")
    result = run(*arguments, "-o", tmp_path / "new.cogmap")
    frame = people()
    X, y = frame.drop(columns=["survived", "id"]), frame["survived"]
    expected = model.edit(knowledge, X, y)
    np.testing.assert_array_equal(load(tmp_path / "new.cogmap").decision_function(X), expected.decision_function(X))
    assert "deck" in result.stdout
    assert result.stdout.startswith("Cross-validated on 300 rows in 5 folds: both models were fitted anew")
    changes = json.loads(run(*arguments, "--json", "--folds", 3).stdout)
    assert changes["measured"].startswith("Cross-validated on 300 rows in 3 folds")
    scores = {line["index"]: line for line in changes["scores"]}
    assert scores["accuracy"]["after"] == model.compare(expected, X, y, n_folds=3).accuracy.after
    assert {line["index"]: line["after"] for line in changes["relevance"]}["deck"] == 0
    (tmp_path / "wrong.toml").write_text('[[statement]]\nkind = "irrelevant"\nfeature = "colour"\n')
    assert "colour" in run(*arguments[:3], tmp_path / "wrong.toml", code=2).stderr


def test_edit_is_measured_on_the_rows_of_another_file(files, model, tmp_path):
    Knowledge().irrelevant("deck").save(tmp_path / "expert.toml")
    later = people(80, seed=1)
    later.to_csv(tmp_path / "later.csv", index=False)
    arguments = ("edit", files / "people.cogmap", files / "people.csv", tmp_path / "expert.toml")
    changes = json.loads(run(*arguments, "--test", tmp_path / "later.csv", "--json").stdout)
    assert changes["measured"].startswith("Measured on the 80 given rows")
    scores = {line["index"]: line for line in changes["scores"]}
    right = model.predict(later.drop(columns=["survived", "id"])) == later["survived"]
    assert scores["accuracy"]["before"] == pytest.approx(right.mean())


def test_fit_with_knowledge(files, tmp_path):
    Knowledge().irrelevant("deck").save(tmp_path / "expert.toml")
    summary = json.loads(
        run("fit", files / "people.csv", "--target", "survived", "--drop", "id", "--no-tune",
            "--knowledge", tmp_path / "expert.toml", "--json").stdout
    )  # fmt: skip
    assert {c["name"]: c["relevance"] for c in summary["columns"]}["deck"] == 0


def test_export_names_its_inputs(files, model, new, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    result = run("export", files / "people.cogmap", tmp_path / "people.onnx")
    session = runtime.InferenceSession(tmp_path / "people.onnx")
    words = {
        "tensor(double)": "double Number; NaN where missing.",
        "tensor(string)": "string Category as text, the number 1 as '1'; '' where missing.",
    }
    expected = [f"{i.name} {words[i.type]}" for i in session.get_inputs()]
    assert [" ".join(line.split()) for line in result.stdout.splitlines()] == expected
    given = {
        i.name: new[[i.name]].astype(object).fillna("").to_numpy() if i.type == "tensor(string)"
        else new[[i.name]].to_numpy(dtype=float)
        for i in session.get_inputs()
    }  # fmt: skip
    assert session.run(["label"], given)[0].tolist() == model.predict(new).tolist()
    assert "takes 6 columns of the table" in result.stderr
    listed = json.loads(run("export", files / "people.cogmap", tmp_path / "again.onnx", "--json").stdout)["inputs"]
    assert [(i["name"], i["type"]) for i in listed[:2]] == [("age", "double"), ("sex", "string")]


def test_export_of_a_plain_network_names_its_features(tmp_path):
    pytest.importorskip("onnx")
    path = LTCNClassifier().fit(people()[["fare", "class"]], people()["survived"]).save(tmp_path / "plain.cogmap")
    result = run("export", path, tmp_path / "plain.onnx")
    assert result.stdout.splitlines() == ["fare", "class"]
    assert "takes 2 features, all as one input X" in result.stderr


def test_a_plain_network_serves_too(tmp_path, files):
    frame = people()[["fare", "class"]]
    plain = LTCNClassifier().fit(frame, people()["survived"])
    path = plain.save(tmp_path / "plain.cogmap")
    lines = run("predict", path, files / "people.csv").stdout.splitlines()[1:]
    assert [line.split(",")[1] for line in lines] == plain.predict(frame).tolist()
    found = run("evaluate", path, files / "people.csv", "--target", "survived", "--json")
    assert json.loads(found.stdout)["accuracy"] == pytest.approx(plain.score(frame, people()["survived"]))
    assert "fare" in run("explain", path, files / "people.csv", "--row", 0).stdout
    assert "say it with --target" in run("evaluate", path, files / "people.csv", code=2).stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["explain", "people.cogmap", "--row", "0"], "--row needs DATA"),
        (["explain", "people.cogmap", "new.csv", "--row", "120"], "There is no row 120"),
        (["explain", "people.cogmap", "new.csv", "--row", "1", "--effect", "age"], "leave out --row"),
        (["explain", "people.cogmap", "--effect", "agee"], "There is no feature 'agee'"),
        (["explain", "people.cogmap", "new.csv", "--row", "1", "--row", "2", "--picture", "x.png"], "draws one row"),
        (["predict", "people.cogmap", "new.csv", "--keep", "name"], "There is no column 'name'"),
        (["predict", "new.csv", "new.csv"], "new.csv' cannot be loaded"),
    ],
)
def test_mistakes(files, arguments, message):
    names = [files / a if a.endswith((".csv", ".cogmap")) else a for a in arguments]
    assert message in run(*names, code=2).stderr
