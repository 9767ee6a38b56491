"""``cogmap report``: the file, what is printed, and what goes wrong."""

import json

import pytest

pytest.importorskip("click")
pytest.importorskip("safetensors")
pytest.importorskip("jinja2")
from click.testing import CliRunner

from cogmap import LTCNClassifier, TabularClassifier
from cogmap.cli import main
from cogmap.report import report_facts
from tests.people import people


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Return a folder with people.csv and people.cogmap."""
    folder = tmp_path_factory.mktemp("report")
    frame = people(150)
    frame.to_csv(folder / "people.csv", index=False)
    model = TabularClassifier(LTCNClassifier(max_iter=2, alpha=0.1), drop=["id"])
    model.fit(frame.drop(columns="survived"), frame["survived"]).save(folder / "people.cogmap")
    return folder


def test_the_report_is_written_and_said_in_short(files, tmp_path):
    result = run("report", files / "people.cogmap", files / "people.csv", "-o", tmp_path / "r.html", "--title", "Ship")
    assert "<h1>Ship</h1>" in (tmp_path / "r.html").read_text(encoding="utf-8")
    assert result.stderr == f"Report written to {tmp_path / 'r.html'}.\n"
    assert "What matters most is sex" in result.stdout
    assert "deck (missing): " in result.stdout


def test_json_has_the_facts_of_the_library(files, tmp_path):
    out = tmp_path / "r.html"
    found = json.loads(
        run("report", files / "people.cogmap", files / "people.csv", "-o", out, "--json", "--folds", 3).stdout
    )
    model = TabularClassifier(LTCNClassifier(max_iter=2, alpha=0.1), drop=["id"])
    frame = people(150)
    model.fit(frame.drop(columns="survived"), frame["survived"])
    expected = report_facts(model, frame, "survived", n_folds=3)
    assert found.pop("report") == str(out)
    assert found == expected


def test_a_network_without_raw_columns_needs_its_target_named(files, tmp_path):
    frame = people(150)[["fare", "class", "survived"]]
    frame.to_csv(tmp_path / "numbers.csv", index=False)
    LTCNClassifier(max_iter=2).fit(frame[["fare", "class"]], frame["survived"]).save(tmp_path / "numbers.cogmap")
    arguments = ("report", tmp_path / "numbers.cogmap", tmp_path / "numbers.csv", "-o", tmp_path / "r.html")
    assert "say it with --target" in run(*arguments, code=2).stderr
    run(*arguments, "--target", "survived")
    assert (tmp_path / "r.html").exists()


def test_mistakes_are_named_and_leave_no_file(files, tmp_path):
    arguments = ("report", files / "people.cogmap", files / "people.csv")
    message = run(*arguments, "-o", tmp_path / "no" / "r.html", code=2).stderr
    assert "is not a folder: create it first." in message
    message = run(*arguments, "-o", tmp_path / "r.html", "--target", "nothing", code=2).stderr
    assert "There is no column 'nothing'" in message
    people(150).drop(columns="sex").to_csv(tmp_path / "lacking.csv", index=False)
    message = run("report", files / "people.cogmap", tmp_path / "lacking.csv", "-o", tmp_path / "r.html", code=2).stderr
    assert "lacks column 'sex'" in message
    assert [path.name for path in tmp_path.iterdir()] == ["lacking.csv"]
