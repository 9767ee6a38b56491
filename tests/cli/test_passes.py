"""predict, evaluate and explain on files of several parts, against the same rows at once."""

import io
import json

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("click")
from click.testing import CliRunner

from cogmap import UnseenValueWarning, load
from cogmap.cli import main
from cogmap.quality.evaluation import evaluate
from cogmap.tables import limits
from cogmap.tables.table import read_table
from tests.people import people


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "people.cogmap"
    run("fit", *_csv(path.parent), "--target", "survived", "--drop", "id", "--no-tune", "--model", path)
    return path


def _csv(folder):
    people().to_csv(folder / "people.csv", index=False)
    return [folder / "people.csv"]


def table():
    """Return people with columns whose type or spelling would be another in some of the rows."""
    frame = people().drop(columns="id")
    row = np.arange(len(frame))
    return frame.assign(
        count=pd.Series(row, dtype="object").where(row != 250).astype("float"),
        code=np.where(row < 200, "007", "x"),
        day=pd.Timestamp("2024-01-01") + pd.to_timedelta(row * (row > 200), unit="h"),
        truth=pd.Series(row % 2 == 0, dtype=object).where(row < 150),
    )


@pytest.fixture(params=["csv", "parquet", "xlsx"])
def data(request, tmp_path):
    path = tmp_path / f"new.{request.param}"
    if request.param == "parquet":
        table().to_parquet(path, row_group_size=80)
    elif request.param == "xlsx":
        table().to_excel(path, index=False)
    else:
        table().to_csv(path, index=False)
    return path


@pytest.fixture
def small_parts(monkeypatch):
    monkeypatch.setattr(limits, "PART_ROWS", 37)


KEEP = ("--keep", "count", "--keep", "code", "--keep", "truth", "--keep", "deck")


def expected(model, data, *, proba):
    """Return predictions as CSV, of all rows at once."""
    classifier, frame = load(model), read_table(data).frame
    X = frame[[column.name for column in classifier.columns_ if column.name != "id"]]
    result = pd.DataFrame({"row": range(len(frame))})
    for name in KEEP[1::2]:
        result[name] = frame[name].to_numpy()
    result["predicted"] = classifier.predict(X)
    if proba:
        for k, label in enumerate(classifier.classes_):
            result[f"probability of {label}"] = [f"{p:.6f}" for p in classifier.predict_proba(X)[:, k]]
    return result.to_csv(index=False)


def test_predictions_of_parts_are_those_of_the_whole_file(model, data, tmp_path, monkeypatch):
    proba = data.suffix != ".csv"
    options = (*KEEP, *(["--proba"] if proba else []))
    at_once = run("predict", model, data, *options)
    assert at_once.stdout == expected(model, data, proba=proba)
    assert "pass" not in at_once.stderr
    as_json = run("predict", model, data, *options, "--json").stdout
    monkeypatch.setattr(limits, "PART_ROWS", 37)
    in_parts = run("predict", model, data, *options, "-o", tmp_path / "out.csv")
    assert (tmp_path / "out.csv").read_text() == at_once.stdout == run("predict", model, data, *options).stdout
    assert run("predict", model, data, *options, "--json").stdout == as_json
    assert json.loads(as_json)[299]["row"] == 299
    assert "300 predictions written to" in in_parts.stderr
    assert "300 rows in" in in_parts.stderr
    said = [line for line in in_parts.stderr.splitlines() if not line.startswith(("pass", "300"))]
    assert said == at_once.stderr.splitlines()


@pytest.mark.usefixtures("small_parts")
def test_dates_are_written_in_one_way(model, tmp_path):
    table().to_parquet(tmp_path / "new.parquet")
    days = pd.read_csv(io.StringIO(run("predict", model, tmp_path / "new.parquet", "--keep", "day").stdout))["day"]
    assert set(days.str.len()) == {len("2024-01-01 00:00:00")}
    assert (pd.to_datetime(days) == table()["day"]).all()


def test_evaluation_in_parts_is_that_of_the_whole_file(model, data, monkeypatch):
    classifier, frame = load(model), table()
    worth = evaluate(classifier, frame[[c.name for c in classifier.columns_ if c.name != "id"]], frame["survived"])
    at_once = run("evaluate", model, data)
    assert at_once.stdout == f"{worth}\n"
    whole = json.loads(run("evaluate", model, data, "--json").stdout)
    monkeypatch.setattr(limits, "PART_ROWS", 37)
    in_parts = run("evaluate", model, data)
    assert in_parts.stdout == at_once.stdout
    parts = json.loads(run("evaluate", model, data, "--json").stdout)
    assert parts["log_loss"] == pytest.approx(whole["log_loss"], rel=1e-13)
    assert parts["confusion"] == whole["confusion"]


@pytest.mark.usefixtures("small_parts")
def test_rows_without_a_class_and_unknown_classes_are_counted_over_all_parts(model, tmp_path):
    frame = people().assign(survived=people()["survived"].where(people().index % 10 > 0))
    frame.to_csv(tmp_path / "new.csv", index=False)
    result = run("evaluate", model, tmp_path / "new.csv")
    assert "30 rows have no value in 'survived': they are left out." in result.stderr
    assert result.stdout.startswith("rows                270\n")
    frame.replace({"survived": {"no": "No"}}).to_csv(tmp_path / "new.csv", index=False)
    count = int((frame["survived"] == "no").sum())
    refused = run("evaluate", model, tmp_path / "new.csv", code=2)
    assert f"The data have {count} rows of class 'No', which the model does not know" in refused.stderr
    assert refused.stdout == ""


@pytest.mark.usefixtures("small_parts")
@pytest.mark.filterwarnings("always::cogmap.UnseenValueWarning")
@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_values_that_fit_did_not_see_are_counted_over_all_parts_and_said_once(command, model, tmp_path):
    frame = people().replace({"sex": {"male": "Male"}, "port": {"Q": "q"}})
    frame.to_csv(tmp_path / "new.csv", index=False)
    said = run(command, model, tmp_path / "new.csv").stderr
    with pytest.warns(UnseenValueWarning) as caught:
        load(model).predict(frame.drop(columns="survived"))
    assert [line for line in said.splitlines() if "Warning" in line] == [f"Warning: {caught[0].message}"]
    assert said.count("left out") == 0


@pytest.mark.usefixtures("small_parts")
def test_an_error_or_an_interrupt_on_the_way_leaves_the_old_file(model, tmp_path, monkeypatch):
    from cogmap.cli import passes

    _csv(tmp_path)
    output = tmp_path / "out.csv"
    output.write_text("old")
    rows, calls = passes.NetworkRows.__call__, []

    def interrupted(self, part):
        calls.append(len(part))
        if len(calls) == 4:
            raise KeyboardInterrupt
        return rows(self, part)

    monkeypatch.setattr(passes.NetworkRows, "__call__", interrupted)
    run("predict", model, tmp_path / "people.csv", "-o", output, code=1)
    assert len(calls) == 4
    assert output.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "people.csv"]


def test_rows_explained_from_parts_are_those_of_the_whole_file(model, data, monkeypatch):
    rows = (299, 5, 5, 40, 36, 0)
    given = [option for row in rows for option in ("--row", row)]
    at_once = run("explain", model, data, *given, "--json").stdout
    assert [result["row"] for result in json.loads(at_once)] == list(rows)
    monkeypatch.setattr(limits, "PART_ROWS", 150)
    assert run("explain", model, data, *given, "--json").stdout == at_once


@pytest.mark.usefixtures("small_parts")
def test_explain_reads_no_further_than_its_row(model, tmp_path):
    path = tmp_path / "people.csv"
    lines = people().to_csv(index=False).splitlines()
    path.write_text("\n".join([*lines, "broken"]) + "\n")
    assert "pass" in run("explain", model, path, "--row", 70).stderr
    assert "line 302: 1 value where the first row has 8" in run("explain", model, path, "--row", 298, code=2).stderr
    path.write_text("\n".join(lines) + "\n")
    for row in (300, -1):
        message = f"There is no row {row}: {path} has the rows 0 to 299."
        assert message in run("explain", model, path, "--row", row, code=2).stderr
