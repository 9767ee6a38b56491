"""`cogmap fit` on files that take more memory than it may have."""

import json

import pytest

pytest.importorskip("click")
import click
from click.testing import CliRunner

from cogmap import LTCNClassifier, LTCNClassifierCV, load
from cogmap.cli import main
from cogmap.cli.console import Memory
from cogmap.cli.fit import TUNED_ROW
from cogmap.core.sums.rows import MOST_ROWS
from cogmap.intake import blocks
from cogmap.intake.memory import BLOCK, in_words
from cogmap.tables.csv_parts import CsvParts
from cogmap.tables.limits import TEXT_BYTES
from tests.people import people

PLAIN = ("--target", "survived", "--drop", "id")


@pytest.fixture(scope="module", params=["csv", "parquet"])
def data(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("data") / f"people.{request.param}"
    people(150).to_csv(path, index=False) if request.param == "csv" else people(150).to_parquet(path)
    return path


def run(*arguments, code=0):
    result = CliRunner().invoke(main, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def test_a_small_budget_gives_the_model_of_one_network(data, tmp_path):
    few, much = tmp_path / "few.cogmap", tmp_path / "much.cogmap"
    streamed = run("fit", data, *PLAIN, "--no-tune", "--memory", "10kB", "--model", few, "--phi", "0.5")
    at_once = run("fit", data, *PLAIN, "--no-tune", "--model", much, "--phi", "0.5")
    assert few.read_bytes() == much.read_bytes()
    assert streamed.stdout == at_once.stdout
    assert "more than --memory 10 KB: it goes in passes over the file." in streamed.stderr
    assert "pass 1: 150 rows in" in streamed.stderr
    assert "passes" not in at_once.stderr
    assert isinstance(load(few).classifier_, LTCNClassifier)
    assert run("predict", few, data).stdout == run("predict", much, data).stdout


def test_networks_are_compared_in_passes_too(data, tmp_path, monkeypatch):
    """With the model of a file that is read at once, cases included, whether its rows are many or few."""
    most, options = (100, ()) if data.suffix == ".csv" else (MOST_ROWS, ("--tune", "--no-cases"))
    monkeypatch.setattr(blocks, "MOST_ROWS", most)
    few, much = tmp_path / "few.cogmap", tmp_path / "much.cogmap"
    streamed = run("fit", data, *PLAIN, *options, "--memory", "10kB", "--model", few)
    at_once = run("fit", data, *PLAIN, *options, "--model", much)
    assert "it goes in passes over the file" in streamed.stderr
    assert streamed.stdout == at_once.stdout
    one, other = load(few).classifier_, load(much).classifier_
    assert isinstance(one, LTCNClassifierCV)
    assert one.cv_results_["params"] == other.cv_results_["params"]
    assert one.cv_results_["stack_weight"].tolist() == other.cv_results_["stack_weight"].tolist()
    tried = any(params["cases"] for params in one.cv_results_["params"])
    assert tried == (not options)
    assert run("predict", few, data, "--proba").stdout == run("predict", much, data, "--proba").stdout


def test_comparing_networks_takes_memory_for_the_rows_of_a_block_alone(tmp_path, monkeypatch):
    """A million rows are never held at once, and the size of the file decides."""
    assert BLOCK == MOST_ROWS
    path = tmp_path / "people.csv"
    people(100).to_csv(path, index=False)
    monkeypatch.setattr(CsvParts, "n_rows", 10**6)
    need = TEXT_BYTES * path.stat().st_size + TUNED_ROW * 30_000
    assert "in passes" not in run("fit", path, *PLAIN, "--memory", need).stderr
    assert f"takes about {in_words(need)} of memory" in run("fit", path, *PLAIN, "--memory", need - 1).stderr


def test_comparing_networks_takes_memory_too(data):
    """So that a table that fits may be too large to compare networks on it."""
    result = run("fit", data, *PLAIN, "--memory", "500kB", "--json")
    assert json.loads(result.stdout)["rows"] == 150
    assert "in passes" in result.stderr
    assert "in passes" not in run("fit", data, *PLAIN, "--memory", "500kB", "--no-tune").stderr


def test_what_needs_all_rows_is_refused(data):
    message = run("fit", data, *PLAIN, "--no-tune", "--cases", "--memory", "10kB", code=2).stderr
    assert "--cases with --no-tune needs all rows at once, which takes about" in message
    assert "leave it out, or allow more" in message


def test_bad_rows_are_named_by_file_and_line(tmp_path):
    path = tmp_path / "people.csv"
    lines = people().to_csv(index=False).splitlines()
    path.write_text("\n".join([*lines[:200], lines[200] + ",8", *lines[201:]]))
    at_once, streamed = (run("fit", path, *PLAIN, "--memory", memory, code=2).stderr for memory in ("1GB", "10kB"))
    assert f"{path}, line 201: 9 values where the first row has 8" in at_once
    assert at_once.splitlines()[-1] == streamed.splitlines()[-1]


def test_one_concept_is_one(tmp_path):
    people().assign(survived=people()["fare"].gt(10)).to_csv(tmp_path / "people.csv", index=False)
    shown = run("fit", tmp_path / "people.csv", "--target", "survived", "--only", "fare", "--no-tune").stdout
    assert "network: 1 concept, " in shown


@pytest.mark.parametrize(
    ("text", "n_bytes"), [("2GB", 2 * 10**9), ("1.5 mb", 1_500_000), ("500K", 500_000), ("7", 7), ("1GiB", 10**9)]
)
def test_amounts_of_memory(text, n_bytes):
    assert Memory().convert(text, None, None) == n_bytes


def test_amounts_of_memory_in_words_and_what_is_none():
    assert [in_words(n) for n in (2 * 10**9, 1_500_000, 12)] == ["2 GB", "1.5 MB", "12 bytes"]
    with pytest.raises(click.BadParameter, match="'plenty' is not an amount of memory: give it as 500MB or 2GB"):
        Memory().convert("plenty", None, None)
