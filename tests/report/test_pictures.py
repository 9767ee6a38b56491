"""Geometry: where things are drawn follows from their numbers."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogmap.report.pictures import (
    calibration_chart,
    cumulated,
    formation_chart,
    mistakes,
    nice_ticks,
    settling_chart,
    waterfall,
)
from cogmap.report.ring import HALF, STEPS, WHOLE, ring
from cogmap.report.words import joints, percent

numbers = st.floats(-1e6, 1e6).filter(lambda v: v == 0 or abs(v) > 1e-6)


@given(numbers, numbers)
def test_ticks_are_few_round_and_around_the_values(one, other):
    low, high = sorted((one, other))
    ticks = nice_ticks(low, high)
    slack = 1e-6 * max(abs(low), abs(high), 1e-6)
    assert 2 <= len(ticks) <= 8
    assert ticks[0] <= low + slack
    assert ticks[-1] >= high - slack
    steps = np.diff(ticks)
    np.testing.assert_allclose(steps, steps[0], rtol=1e-5)
    assert f"{steps[0]:.0e}"[0] in "125"


@given(st.lists(numbers, min_size=1, max_size=8), numbers)
def test_a_waterfall_starts_each_bar_where_the_last_ends(adds, start):
    reasons = [{"name": f"x{j}", "value": "1", "adds": value} for j, value in enumerate(adds)]
    row = {"compared": "other rows", "start": start, "reasons": reasons, "n_others": 0, "others": 0.0}
    bars = waterfall(row | {"evidence": start + sum(adds)})
    ends = np.cumsum([start, *adds])
    low, high = min(0.0, ends.min()), max(0.0, ends.max())
    span = (high - low) or 1.0
    for bar, one, other in zip(bars[1:-1], ends[:-1], ends[1:], strict=True):
        assert bar["left"] == pytest.approx(100 * (min(one, other) - low) / span, abs=0.02)
        assert bar["width"] == pytest.approx(max(100 * abs(other - one) / span, 0.4), abs=0.02)
        assert bar["kind"] == ("raises" if other >= one else "lowers")
    assert [bar["kind"] for bar in (bars[0], bars[-1])] == ["total", "total"]
    assert all(-0.01 <= bar["left"] <= bar["left"] + bar["width"] <= 100.5 for bar in bars)


def test_lines_cumulate_and_larger_values_are_higher():
    formed = [
        {"name": "a", "n_rows": 5, "base": -1.0, "steps": [2.0, 0.5, -0.25], "cases": 0.75, "evidence": 2.0},
        {"name": "b", "n_rows": 9, "base": 1.0, "steps": [1.0, 0.0, 0.0], "cases": 0.0, "evidence": 2.0},
    ]
    assert cumulated(formed[0], True) == [-1.0, 1.0, 1.5, 1.25, 2.0]
    chart = formation_chart(formed)
    assert [line["name"] for line in chart["lines"]] == ["a", "b"]
    for line, one in zip(chart["lines"], formed, strict=True):
        heights, values = [-y for _, y in line["points"]], cumulated(one, True)
        np.testing.assert_allclose(np.corrcoef(heights, values)[0, 1], 1.0, atol=1e-4)
    assert [tick["text"] for tick in chart["x"]] == ["start", "0", "1", "2", "cases"]
    (zero,) = (tick["at"] for tick in chart["y"] if tick["zero"])
    assert chart["lines"][0]["points"][0][1] > zero > chart["lines"][0]["points"][1][1]


@pytest.mark.parametrize("n_iterations", [0, 1, 5, 20, 60])
def test_labels_do_not_touch(n_iterations):
    steps = [1.0] * (n_iterations + 1)
    chart = formation_chart([{"name": "a", "n_rows": 1, "base": 0.0, "steps": steps, "cases": 1.0, "evidence": 1.0}])
    places = [tick["at"] for tick in chart["x"]]
    assert {"start", "cases"} <= {tick["text"] for tick in chart["x"]}
    assert np.diff(places).min() >= 25


def test_only_the_classes_with_most_rows_are_drawn():
    formed = [
        {"name": str(k), "n_rows": k, "base": 0.0, "steps": [float(k)], "cases": 0.0, "evidence": float(k)}
        for k in range(1, 10)
    ]
    assert [line["name"] for line in formation_chart(formed)["lines"]] == ["4", "5", "6", "7", "8", "9"]


def test_settling_is_drawn_by_powers_of_ten():
    chart = settling_chart([0.1, 0.01, 0.001, 0.0])
    heights = np.array([y for _, y in chart["lines"][0]["points"]])
    assert np.diff(heights)[0] == pytest.approx(np.diff(heights)[1], abs=0.11)
    assert settling_chart([0.0, 0.0]) is None
    assert settling_chart([]) is None


def test_perfect_calibration_lies_on_the_diagonal():
    bins = [
        {"low": 0.5, "high": 0.6, "n_rows": 4, "mean_probability": 0.5, "accuracy": 0.5},
        {"low": 0.9, "high": 1.0, "n_rows": 16, "mean_probability": 1.0, "accuracy": 1.0},
    ]
    chart = calibration_chart(bins)
    (x0, y0), (x1, y1) = chart["diagonal"]
    middle, last = chart["circles"]
    assert (middle["x"], middle["y"]) == pytest.approx(((x0 + x1) / 2, (y0 + y1) / 2), abs=0.1)
    assert (last["x"], last["y"]) == (x1, y1)
    assert last["radius"] > middle["radius"]


def test_mistakes_are_those_beside_the_diagonal():
    found = mistakes([[5, 1, 0], [3, 0, 1], [0, 0, 9]])
    assert [(one["true"], one["predicted"], one["count"]) for one in found] == [(1, 0, 3), (1, 2, 1), (0, 1, 1)]
    assert found[0]["share"] == 0.75


def made_map(count, rng):
    weights = rng.normal(size=(count, count))
    edges = [{"source": j, "target": i, "weight": float(weights[j, i])} for j, i in np.ndindex(count, count) if i != j]
    return {
        "concepts": [{"name": f"concept {k}", "share": 1 / count} for k in range(count)],
        "edges": sorted(edges, key=lambda edge: -abs(edge["weight"])),
    }


@pytest.mark.parametrize("frame", [HALF, WHOLE])
@pytest.mark.parametrize("count", [0, 1, 2, 5, 12, 13, 24])
def test_concepts_stand_apart_on_their_ring(count, frame, rng):
    drawn = ring(made_map(count, rng), frame)
    places = np.array([(node["x"], node["y"]) for node in drawn["nodes"]]).reshape(-1, 2)
    for k, place in enumerate(places):
        others = np.delete(places, k, axis=0)
        assert (np.hypot(*(others - place).T) > 2 * drawn["nodes"][k]["radius"]).all()
    assert ((places > 0) & (places < [drawn["width"], drawn["height"]])).all()
    texts = np.array([(node["text_x"], node["text_y"]) for node in drawn["nodes"]]).reshape(-1, 2)
    for k, (x, y) in enumerate(texts):
        assert 10 < y < drawn["height"] - 10
        # Names are 17 units high; those on one side need a line each.
        side = [j for j in range(count) if j != k and drawn["nodes"][j]["anchor"] == drawn["nodes"][k]["anchor"]]
        assert all(abs(texts[j][1] - y) >= 19 for j in side if drawn["nodes"][k]["anchor"] != "middle")
        # A letter is about 9.3 units wide.
        room = {"start": drawn["width"] - x, "end": x, "middle": 2 * min(x, drawn["width"] - x)}
        assert room[drawn["nodes"][k]["anchor"]] > 9.3 * frame.name


@pytest.mark.parametrize("count", [2, 6, 24])
def test_the_slider_starts_at_the_edges_that_are_shown(count, rng):
    one = made_map(count, rng)
    drawn = ring(one, HALF)
    least = drawn["start"] / STEPS * drawn["largest"]
    assert drawn["n_shown"] == sum(abs(edge["weight"]) >= least for edge in one["edges"])
    assert [edge["shown"] for edge in drawn["edges"]] == [abs(edge["weight"]) >= least for edge in drawn["edges"]]
    assert drawn["n_shown"] >= min(len(one["edges"]), int(min(2 * count, 20 + count / 2)))


def test_edges_end_at_their_target_and_do_not_cover_each_other(rng):
    drawn = ring(made_map(7, rng), HALF)
    paths = {}
    for edge in drawn["edges"]:
        x0, y0, x1, y1, x2, y2 = map(float, re.findall(r"-?[\d.]+", edge["path"]))
        source, target = drawn["nodes"][edge["source"]], drawn["nodes"][edge["target"]]
        assert np.hypot(x0 - source["x"], y0 - source["y"]) == pytest.approx(source["radius"], abs=0.2)
        assert np.hypot(x2 - target["x"], y2 - target["y"]) == pytest.approx(target["radius"] + 6, abs=0.2)
        paths[edge["source"], edge["target"]] = np.array([x1, y1])
    for (j, i), middle in paths.items():
        assert np.hypot(*(middle - paths[i, j])) > 20


@pytest.mark.parametrize(
    ("share", "text"), [(0.0, "0 %"), (0.001, "< 1 %"), (0.5, "50 %"), (0.997, "> 99 %"), (1.0, "100 %")]
)
def test_percent_rounds_neither_to_nothing_nor_to_all(share, text):
    assert percent(share).replace("\u00a0", " ") == text


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("petal width (cm)", ["petal width (cm)"]),
        ("PctExtNullLinksRT", ["Pct", "Ext", "Null", "Links", "RT"]),
        ("od280/od315_of_wines", ["od280/", "od315_", "of_", "wines"]),
        ("fare", ["fare"]),
        ("Delta 15 N (o/oo) = -8.466", ["Delta 15 N (o/", "oo) = -8.466"]),
        ("2007-11-16 10:30", ["2007-11-16 10:30"]),
        ("", [""]),
    ],
)
def test_lines_may_end_at_joints_only(text, parts):
    assert joints(text) == parts
    assert "".join(joints(text)) == text
