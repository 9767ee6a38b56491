"""From a raw CSV file with text and missing values: fit and evaluate, and what is said of mistakes."""

import json

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

pytest.importorskip("click")
from click.testing import CliRunner

from cogmap import LTCNClassifier, TabularClassifier, load
from cogmap.cli import main
from cogmap.quality.evaluation import cross_validate
from tests.people import people

PLAIN = ("--target", "survived", "--drop", "id", "--no-tune")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / "people.csv"
    people().to_csv(path, index=False)
    return path


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def test_fit_shows_the_columns_by_relevance(data):
    result = run("fit", data, *PLAIN)
    X = people().drop(columns=["survived", "id"])
    model = TabularClassifier(LTCNClassifier()).fit(X, people()["survived"])
    shown = [line.split()[0] for line in result.stdout.splitlines()[3:9]]
    assert shown == X.columns[np.argsort(-model.feature_importances_)].tolist()
    assert "300 rows; 2 classes of 'survived'" in result.stdout
    assert "No model was written" in result.stderr


def test_fit_as_json(data):
    summary = json.loads(run("fit", data, *PLAIN, "--categorical", "class", "--json").stdout)
    kinds = {column["name"]: column["kind"] for column in summary["columns"]}
    assert kinds == {
        "id": "dropped", "age": "number", "sex": "category", "class": "category", "fare": "number",
        "port": "category", "deck": "category",
    }  # fmt: skip
    assert sum(column["relevance"] for column in summary["columns"]) == pytest.approx(1)
    assert summary["classes"] == ["no", "yes"]
    # age + missing, female, 3 classes, fare, 3 ports + missing, 3 decks + missing
    assert summary["concepts"] == 2 + 1 + 3 + 1 + 4 + 4


def test_only_some_columns(data):
    summary = json.loads(run("fit", data, "--target", "survived", "--only", "sex", "--only", "fare", "--json").stdout)
    used = {column["name"] for column in summary["columns"] if column["kind"] != "dropped"}
    assert used == {"sex", "fare"}


def test_options_reach_the_network(data):
    result = run("evaluate", data, *PLAIN, "--phi", 0.3, "--terms", 3, "--metric", "accuracy", "--balanced", "--json")
    X = people().drop(columns=["survived", "id"])
    network = LTCNClassifier(phi=0.3, terms=3, decision_metric="accuracy", class_weight="balanced")
    expected = cross_validate(TabularClassifier(network), X, people()["survived"])
    found = json.loads(result.stdout)
    assert found["log_loss"] == pytest.approx(expected.log_loss)
    assert found["confusion"] == expected.confusion.tolist()
    assert "5-fold cross-validation of 300 rows" in result.stderr


def test_cross_validation_of_the_tuned_network(data):
    found = json.loads(run("evaluate", data, *PLAIN[:-1], "--folds", 3, "--json").stdout)
    truth = people()
    best = cohen_kappa_score(truth["survived"], np.where(truth["sex"] == "female", "yes", "no"))
    assert found["kappa"] > best - 0.1
    assert sum(map(sum, found["confusion"])) == found["n_rows"] == 300


def test_rows_without_a_class_are_left_out(tmp_path):
    frame = people()
    frame.loc[:9, "survived"] = None
    frame.to_csv(tmp_path / "people.csv", index=False)
    result = run("fit", tmp_path / "people.csv", *PLAIN)
    assert "10 rows have no value in 'survived': they are left out." in result.stderr
    assert "290 rows" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "{data}"], "Missing option '--target'"),
        (["evaluate", "{data}"], "Missing option '--target'"),
        (["evaluate", "{data}", "{data}", "{data}"], "3 files were given"),
        (["fit", "{data}", "--target", "alive"], "There is no column 'alive': the columns are 'id', 'age',"),
        (["fit", "{data}", "--target", "Survived"], "There is no column 'Survived' (did you mean 'survived'?)"),
        (["fit", "{data}", "--target", "survived", "--drop", "ID"], "There is no column 'ID' (did you mean 'id'?)"),
        (["fit", "{data}", "--target", "fare"], "Column 'fare' holds 266 different numbers with fractions in 300"),
        (["fit", "{data}", "--target", "id"], "Column 'id' holds 300 different numbers in 300 rows, a quantity"),
        (["fit", "{data}", "--target", "survived"], "Column 'id' looks like an identifier"),
        (["fit", "{data}", "--target", "survived", "--drop", "name"], "There is no column 'name'"),
        (["fit", "absent.csv", "--target", "survived"], "'absent.csv' does not exist"),
        (["fit", "{data}", "--target", "survived", "--phi", "2"], "2.0 is not in the range"),
        (["fit", "{data}", "--target", "survived", "--delimiter", "::"], "delimiter='::' must be one character"),
        (["predict", "{data}", "{data}"], "cannot be loaded"),
    ],
)
def test_a_users_mistake_is_one_sentence_and_exit_code_2(arguments, message, data):
    result = run(*(argument.format(data=data) for argument in arguments), code=2)
    assert message in result.stderr
    assert result.stdout == ""


def test_unusable_columns_are_all_named_or_dropped(tmp_path):
    path, table = tmp_path / "people.csv", people()
    table.drop(columns="id").assign(name=[f"n{k}" for k in range(300)]).to_csv(path)
    for command in ("fit", "evaluate"):
        refused = run(command, path, "--target", "survived", "--no-tune", code=2).stderr
        assert "2 columns cannot be used as they are:" in refused
        assert (
            "  Column 'x0' looks like the index that pandas writes, it numbers the rows from 0 to 299: drop" in refused
        )
        assert "  Column 'name' looks like an identifier, all its 300 values differ: drop it" in refused
        assert "--drop-unusable" in refused
        dropped = run(command, path, "--target", "survived", "--no-tune", "--drop-unusable", "--json")
        assert "Column 'name' is left out: it looks like an identifier, all its 300 values differ.\n" in dropped.stderr
        assert "Column 'x0' is left out: it looks like the index that pandas writes" in dropped.stderr
    in_passes = run("fit", path, "--target", "survived", "--no-tune", "--drop-unusable", "--memory", "1KB")
    assert "Column 'name' is left out: it looks like an identifier" in in_passes.stderr


def test_a_model_that_dropped_columns_is_reported_and_edited(tmp_path):
    path, table, model = tmp_path / "people.csv", people(), tmp_path / "people.cogmap"
    table.to_csv(path, index=False)
    run("fit", path, "--target", "survived", "--no-tune", "--drop-unusable", "--model", model)
    run("report", model, path, "-o", tmp_path / "report.html")
    (tmp_path / "expert.toml").write_text('[[statement]]\nkind = "irrelevant"\nfeature = "port"\n')
    edited = tmp_path / "edited.cogmap"
    run("edit", model, path, tmp_path / "expert.toml", "-o", edited)
    assert load(edited).columns_[0].kind == "dropped"


@pytest.mark.filterwarnings("always::cogmap.UnseenValueWarning")
def test_values_that_fit_did_not_see_are_said_once(data, tmp_path):
    model, new = tmp_path / "people.cogmap", tmp_path / "new.csv"
    run("fit", data, *PLAIN, "--model", model)
    people()[:20].replace({"sex": {"male": "Male"}}).to_csv(new, index=False)
    count = int((people()[:20]["sex"] == "male").sum())
    said = run("predict", model, new, "--proba").stderr
    assert said.count("Warning: ") == 1
    assert f"column 'sex' has 'Male' in {count} rows (did you mean 'male'?)" in said
    people()[:20].rename(columns={"sex": "Sex"}).to_csv(new, index=False)
    assert "X lacks column 'sex' (did you mean 'Sex'?): give" in run("predict", model, new, code=2).stderr


def test_malformed_data_is_a_mistake(tmp_path):
    (tmp_path / "bad.csv").write_text("a,b\n1,2,3\n")
    result = run("fit", tmp_path / "bad.csv", "--target", "b", code=2)
    assert f"{tmp_path / 'bad.csv'}, line 2: 3 values where the first row has 2" in result.stderr


def test_what_is_missing_on_the_machine_is_a_failure(data, monkeypatch):
    import cogmap.tables.parts

    def unavailable(*_, **__):
        raise ImportError('pip install "cogmap[parquet]"')

    monkeypatch.setattr(cogmap.tables.parts, "open_parts", unavailable)
    assert "cogmap[parquet]" in run("fit", data, *PLAIN, code=1).stderr


def test_classes_that_are_whole_numbers_stay_so(tmp_path):
    frame = people().drop(columns="id")
    frame["class"] = frame["class"].where(frame.index > 4)
    frame.to_csv(tmp_path / "people.csv", index=False)
    summary = json.loads(run("fit", tmp_path / "people.csv", "--target", "class", "--no-tune", "--json").stdout)
    assert summary["classes"] == [1, 2, 3]


def test_parquet(data, tmp_path):
    pytest.importorskip("pyarrow")
    people().to_parquet(tmp_path / "people.parquet")
    from_csv, from_parquet = (
        json.loads(run("fit", path, *PLAIN, "--json").stdout) for path in (data, tmp_path / "people.parquet")
    )
    assert from_csv["columns"] == from_parquet["columns"]


def test_help_has_examples():
    for command in main.commands:
        text = run(command, "--help").stdout
        assert command == "demo" or f"cogmap {command} " in text.split("xample")[1]


def test_files_appear_only_when_complete(tmp_path):
    from cogmap.cli.output import write_whole

    target = tmp_path / "result.csv"
    target.write_text("old")

    def fail(path):
        path.write_text("half")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        write_whole(target, fail)
    assert [path.name for path in tmp_path.iterdir()] == ["result.csv"]
    assert target.read_text() == "old"
    write_whole(target, lambda path: path.write_text("new"))
    assert target.read_text() == "new"
    with pytest.raises(ValueError, match="is not a folder: create it first"):
        write_whole(tmp_path / "absent" / "result.csv", fail)


def test_json_holds_what_numbers_cannot_be():
    from cogmap.cli.output import plain

    found = plain({"a": np.array([1.0, np.nan, np.inf]), 2: (np.int64(3), np.bool_(True)), "c": pd.Timestamp("2024")})
    assert found == {"a": [1.0, None, None], "2": [3, True], "c": "2024-01-01 00:00:00"}
