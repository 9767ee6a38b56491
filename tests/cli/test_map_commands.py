"""``cogmap map``: what the functions return, as files and text."""

import json

import pandas as pd
import pytest

pytest.importorskip("click")
pytest.importorskip("safetensors")
from click.testing import CliRunner
from sklearn.datasets import load_iris

from cogmap import CognitiveMap, LTCNClassifier, load, map_of, merge_maps, read_map, simulate, write_map
from cogmap.cli import main, maps
from cogmap.maps import MERGE_RULES, cognitive_map, files


def run(*arguments, code=0):
    result = CliRunner().invoke(main, ["map", *(str(argument) for argument in arguments)])
    assert result.exit_code == code, result.output
    return result


MEADOW = CognitiveMap.from_edges([("rain", "grass", 0.8), ("grass", "rabbits", 0.6), ("rabbits", "grass", -0.5)])
OTHER = CognitiveMap.from_edges([("rain", "grass", -0.4), ("moon", "rabbits", 0.1)])


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("maps")
    write_map(MEADOW, folder / "ann.csv")
    write_map(OTHER, folder / "ben.matrix.csv")
    LTCNClassifier().fit(*load_iris(return_X_y=True, as_frame=True)).save(folder / "iris.cogmap")
    return folder


def test_choices_are_those_of_the_library():
    assert (maps.FORMS, maps.MERGE_RULES) == (files.FORMS, MERGE_RULES)
    assert (maps.RULES, maps.ACTIVATIONS) == (cognitive_map.RULES, cognitive_map.ACTIVATIONS)


def test_convert(folder, tmp_path):
    result = run("convert", folder / "ann.csv", tmp_path / "a.graphml")
    assert "3 concepts and 3 edges written to" in result.stderr
    assert read_map(tmp_path / "a.graphml") == MEADOW
    run("convert", folder / "ann.csv", tmp_path / "a.csv", "--form", "matrix")
    assert pd.read_csv(tmp_path / "a.csv", index_col=0).loc["rain", "grass"] == 0.8
    run("convert", folder / "iris.cogmap", tmp_path / "iris.json")
    assert read_map(tmp_path / "iris.json") == map_of(load(folder / "iris.cogmap"))
    assert (
        "is for model files" in run("convert", folder / "ann.csv", tmp_path / "b.csv", "--network", "x", code=2).stderr
    )
    assert (
        "There is no network 'x'"
        in run("convert", folder / "iris.cogmap", tmp_path / "b.csv", "--network", "x", code=2).stderr
    )


def test_merge(folder, tmp_path):
    result = run("merge", folder / "ann.csv", folder / "ben.matrix.csv", "-o", tmp_path / "m.json", "--rule", "median")
    merged = merge_maps({"ann": MEADOW, "ben.matrix": OTHER}, rule="median")
    assert read_map(tmp_path / "m.json") == merged.map
    assert result.stdout == f"{merged}\n"
    found = json.loads(run("merge", folder / "ann.csv", folder / "ben.matrix.csv", "--json").stdout)
    assert found["disagreements"][0]["weights"] == {"ann": 0.8, "ben.matrix": -0.4}
    assert "fewer than two maps" in run("merge", folder / "ann.csv", code=2).stderr


def test_compare(folder):
    assert "only in the second: moon" in run("compare", folder / "ann.csv", folder / "ben.matrix.csv").stdout
    found = json.loads(run("compare", folder / "ann.csv", folder / "ben.matrix.csv", "--json").stdout)
    assert found["only_after"] == ["moon"]
    assert found["same_sign"] == 0
    assert found["edges"][0] == {"source": "rain", "target": "grass", "before": 0.8, "after": -0.4}


def test_simulate(folder, tmp_path):
    wet, free = simulate(MEADOW, clamp={"rain": 1}), simulate(MEADOW)
    result = run("simulate", folder / "ann.csv", "--clamp", "rain=1", "--states", tmp_path / "states.csv")
    rows = {line.split()[0]: line.split()[1:] for line in result.stdout.splitlines()}
    assert rows["concept"] == ["start", "end", "change"]
    assert rows["grass"] == ["0.500", f"{wet.final['grass']:.3f}", f"{wet.changes(free)['grass']:.3f}"]
    assert "rule kosko-memory, activation sigmoid, slope 1.0." in result.stderr
    assert "reach a fixed point" in result.stderr
    pd.testing.assert_frame_equal(pd.read_csv(tmp_path / "states.csv", index_col=0), wet.to_frame())
    options = ("--rule", "kosko", "--activation", "tanh", "--start", "rain=0.9", "--json")
    found = json.loads(run("simulate", folder / "ann.csv", *options).stdout)
    expected = simulate(MEADOW, {"rain": 0.9}, rule="kosko", activation="tanh")
    assert found["final"] == pytest.approx(expected.final)
    assert found["verdict"] == expected.verdict
    assert "petal length (cm)" in run("simulate", folder / "iris.cogmap", "--clamp", "petal width (cm)=1").stdout


def test_mistakes_are_one_sentence(folder, tmp_path):
    (tmp_path / "bad.csv").write_text("source,target,weight\na,b,much\n")
    for arguments, message in (
        (("simulate", folder / "ann.csv", "--clamp", "rain"), "--clamp 'rain' is not CONCEPT=VALUE"),
        (("simulate", folder / "ann.csv", "--clamp", "rian=1"), "'rian' is no concept of the map (did you mean 'rain'"),
        (("convert", tmp_path / "bad.csv", tmp_path / "x.json"), "row 2, a → b has the weight 'much'"),
        (("convert", folder / "ann.csv", tmp_path / "x.txt"), "ends with '.txt'"),
    ):
        result = run(*arguments, code=2)
        assert message in result.stderr
        assert result.stderr.count("\n") == 1
    assert not (tmp_path / "x.json").exists()
