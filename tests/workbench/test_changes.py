from itertools import combinations

import numpy as np
import pytest

from cogmap.explain.flips import GRID, flips_of_each
from cogmap.workbench.changes import HALVINGS


def applied(bench, row, one):
    values = {change["column"]: change["to"] for change in one["changes"]}
    return bench.what_if(values, row, parts=[])


@pytest.mark.parametrize("row", [0, 52, 100, 133])
def test_each_change_has_the_class_and_the_probability_that_it_names(bench, row):
    answer, before = bench.changes(row=row), bench.what_if(row=row, parts=[])
    assert answer["predicted"] == before["predicted"]
    assert answer["one"]
    for one in answer["one"] + answer["two"]:
        after = applied(bench, row, one)
        assert after["predicted"] == one["class"] != before["predicted"]
        chance = {part["class"]: part["probability"] for part in after["probabilities"]}
        assert chance[one["class"]] == pytest.approx(one["probability"])
        for change in one["changes"]:
            assert change["from"] == before["values"][change["column"]]


@pytest.mark.parametrize("row", [70, 106, 133])
def test_no_smaller_change_of_one_number_changes_the_class(bench, network, iris, row):
    x, own = np.asarray(iris[0])[row], network.predict(iris[0][row : row + 1])[0]
    sizes = {one["changes"][0]["column"]: abs(one["changes"][0]["to"] - one["changes"][0]["from"])
             for one in bench.changes(row=row)["one"]}  # fmt: skip
    for j, name in enumerate(iris[0].columns):
        grid = np.linspace(iris[0][name].min(), iris[0][name].max(), 2001)
        tried = np.repeat(x[None], len(grid), axis=0)
        tried[:, j] = grid
        flips = np.abs(grid - x[j])[network.predict(iris[0].iloc[:0].reindex(range(len(grid))).assign(
            **{column: tried[:, k] for k, column in enumerate(iris[0].columns)})) != own]  # fmt: skip
        assert (name in sizes) == bool(len(flips))
        if len(flips):
            step = grid[1] - grid[0]
            assert sizes[name] <= flips.min() + 1e-9
            assert sizes[name] >= flips.min() - step * 1.01


@pytest.mark.parametrize("row", [70, 106, 118])
def test_pairs_take_less_than_their_columns_alone_and_no_pair_of_the_grid_takes_less(bench, network, iris, row):
    answer = bench.changes(row=row)
    alone = {one["changes"][0]["column"]: one["size"] for one in answer["one"]}
    for pair in answer["two"]:
        names = [change["column"] for change in pair["changes"]]
        assert pair["size"] < min(alone.get(name, np.inf) for name in names)
        half = {c["column"]: c["from"] + 0.98 * (c["to"] - c["from"]) for c in pair["changes"]}
        assert bench.what_if(half, row, parts=[])["predicted"] == answer["predicted"], "it could be nearer"
    assert answer["two"] == sorted(answer["two"], key=lambda one: one["size"])
    assert HALVINGS > 8
    assert {frozenset(c["column"] for c in pair["changes"]) for pair in answer["two"]} <= {
        frozenset(pair) for pair in combinations(iris[0].columns, 2)
    }


def test_categories_and_true_and_false_change_as_a_whole(raw_bench):
    found = [raw_bench.changes(row=row) for row in range(4)]
    columns = {change["column"] for answer in found for one in answer["one"] for change in one["changes"]}
    assert "sex" in columns
    for row, answer in enumerate(found):
        for one in answer["one"] + answer["two"]:
            assert applied(raw_bench, row, one)["predicted"] == one["class"] != answer["predicted"]


def test_a_missing_number_is_left_as_it_is(raw_bench):
    row = int(np.flatnonzero([cell is None for cell in raw_bench.sheet.cells[0]])[0])
    answer = raw_bench.changes(row=row)
    assert "age" not in {change["column"] for one in answer["one"] + answer["two"] for change in one["changes"]}


def test_the_smallest_flip_of_each_feature_holds_the_smallest_of_all(network, iris):
    X = np.asarray(iris[0])
    explanation = network.explain(iris[0])
    for row in range(0, 150, 30):
        flips = flips_of_each(network.fitted_, X[row])
        smallest = explanation.smallest_flips(np.array([row]))[0]
        assert flips[0].change == pytest.approx(smallest.change, abs=1 / GRID * 1e-6)
        assert [flip.change for flip in flips] == sorted(flip.change for flip in flips)
