from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from matplotlib.colors import to_rgb

from cogmap.plots import WaterfallDisplay
from cogmap.plots.drawing import NEGATIVE, POSITIVE

NAMES = np.array(["alpha", "beta", "gamma"], dtype=object)


def display_of(contributions, *, base=0.5, cases=0.0, **options):
    contributions = np.array(contributions, dtype=float)
    score = base + contributions.sum() + cases
    return WaterfallDisplay(base, contributions, NAMES[: contributions.shape[1]], score, cases=cases, **options)


def rows(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def details(display):
    return dict(zip(rows(display), [text.get_text() for text in display.ax_.texts], strict=True))


numbers = st.floats(-1e3, 1e3, allow_subnormal=False)
tables = st.integers(1, 20).flatmap(lambda n: arrays(np.float64, (n, 3), elements=numbers))


@given(tables, numbers, numbers, st.integers(1, 25))
def test_the_bars_lead_from_the_start_to_the_evidence(contributions, base, cases, n_bars):
    display = display_of(contributions, base=base, cases=cases)
    steps = display.steps(n_bars)
    starts, ends = [s.start for s in steps], [s.end for s in steps]
    assert starts[0] == base
    assert starts[1:] == ends[:-1]
    np.testing.assert_allclose(ends[-1], display.evidence, atol=1e-9)
    assert len(steps) <= n_bars + 1


def test_bars_are_the_sums_of_each_iteration():
    display = display_of([[1.0, -0.2, 0.0], [-2.0, 0.5, 0.1], [0.3, 0.0, 0.0]], cases=-0.4).plot()
    assert rows(display) == ["every row", "0", "1", "2", "cases", "this row"]
    drawn = display.ax_.patches
    np.testing.assert_allclose([bar.get_x() for bar in drawn], [0.5, 1.3, -0.1, 0.2])
    np.testing.assert_allclose([bar.get_width() for bar in drawn], [0.8, -1.4, 0.3, -0.4])
    np.testing.assert_allclose([bar.get_y() + bar.get_height() / 2 for bar in drawn], [1, 2, 3, 4])
    for bar in drawn:
        rises = bar.get_width() > 0
        assert bar.get_facecolor()[:3] == to_rgb(POSITIVE if rises else NEGATIVE)
        assert bool(bar.get_hatch()) != rises
    points = [line.get_xydata()[0].tolist() for line in display.ax_.lines if line.get_marker() == "D"]
    np.testing.assert_allclose(points, [[0.5, 0], [display.evidence, 5]])


def test_the_largest_concepts_are_named_with_their_own_sign():
    text = details(display_of([[1.0, -0.2, 0.0], [-2.0, 0.5, -0.7]]).plot(n_concepts=2))
    assert text["0"] == "+0.8 :  alpha +1, beta −0.2"
    assert text["1"] == "−2.2 :  alpha −2, gamma −0.7"


def test_the_gate_is_shown_where_it_ended_the_reasoning():
    contributions = np.zeros((21, 3))
    contributions[:4] = 1.0
    display = display_of(contributions, stopped_at=4, cases=1.0).plot()
    assert rows(display) == ["every row", "0", "1", "2", "3", "gate", "cases", "this row"]
    assert details(display)["gate"] == "ended the reasoning before iteration 4"
    assert "gate" not in rows(display_of(contributions).plot())


def test_the_gate_of_one_member_of_a_stack():
    display = display_of(np.ones((3, 3)), stopped_at=2).plot()
    assert rows(display) == ["every row", "0", "1", "gate", "2", "this row"]
    assert details(display)["gate"] == "ended part of the reasoning before iteration 2"


def test_a_row_whose_reasoning_never_began():
    display = display_of(np.zeros((3, 3)), stopped_at=0).plot()
    assert rows(display) == ["every row", "gate", "this row"]
    assert len(display.frame()) == 0


def test_late_iterations_share_a_bar():
    display = display_of(np.ones((22, 3)), stopped_at=20).plot(n_bars=5)
    assert rows(display) == ["every row", "0", "1", "2", "3", "4–21", "gate", "this row"]
    assert display.steps(5)[-1].end - display.steps(5)[-1].start == 18 * 3


def test_the_frame_has_a_row_for_each_bar():
    frame = display_of([[1.0, -0.2, 0.0], [-2.0, 0.5, 3.0]], cases=0.25).frame()
    assert frame["step"].tolist() == ["0", "1", "cases"]
    np.testing.assert_allclose(frame["change"], [0.8, 1.5, 0.25])
    np.testing.assert_allclose(frame["end"] - frame["start"], frame["change"])
    assert frame["largest_concept"].tolist() == ["alpha", "gamma", ""]


@pytest.mark.parametrize(("scale", "n_iterations"), [(1e-6, 21), (1.0, 2), (1.0, 21), (1e12, 2)])
def test_texts_are_legible(rng, scale, n_iterations, assert_legible):
    names = np.array([f"PctExtNullSelfRedirectHyperlinksRT{i} [stable-regression]" for i in range(3)], dtype=object)
    contributions = scale * rng.normal(size=(n_iterations, 3))
    display = WaterfallDisplay(0.1, contributions, names, 0.1 + contributions.sum(), stopped_at=1, class_name="a")
    assert_legible(display.plot(n_concepts=3).figure_)


def test_given_axes_are_drawn_on():
    figure, ax = plt.subplots()
    display = display_of([[1.0, 2.0, 3.0]]).plot(ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure


def explanation_of(parts):
    """Return what the picture reads of an explanation of the classes a and b, of which b is explained."""
    classes = np.array(["setosa", "virginica"])
    return SimpleNamespace(
        fitted=SimpleNamespace(concept_names=NAMES, classes=classes),
        classes=classes[1:],
        base=np.array([0.2]),
        cases=np.full((8, 1), 0.3),
        contributions=lambda label: {"virginica": np.tile(parts, (8, 1, 1))}[label],
        stopped_at=np.array([[-1, -1]] * 7 + [[-1, 2]]),
        evidence=np.zeros((8, 1)),
        feature_names=["sex", "age"],
        values=np.array([["male", None]] * 8, dtype=object),
        attributions=np.tile(np.array([[-1.5], [0.25]]), (8, 1, 1)),
        baseline_scores=np.full((8, 1), 1.25),
        baseline_values=None,
        unit=lambda label: f"log-odds of {label}",
    )


def test_a_row_of_an_explanation_is_drawn_by_iteration():
    explanation = explanation_of(np.array([[1.0, 0.5, 0.0], [0.0, -2.0, 0.0]]))
    with pytest.raises(ValueError, match="Class 'setosa' is not explained here: choose one of"):
        WaterfallDisplay.from_explanation(explanation, 7, "setosa")
    with pytest.raises(ValueError, match="by='concept' is unknown: use 'feature' or 'iteration'"):
        WaterfallDisplay.from_explanation(explanation, 7, "virginica", by="concept")
    display = WaterfallDisplay.from_explanation(explanation, 7, "virginica", by="iteration", n_concepts=1)
    assert rows(display) == ["every row", "0", "1", "gate", "cases", "this row"]
    assert "class virginica" in display.ax_.get_title()
    assert display.ax_.get_xlabel() == "log-odds of virginica"
    np.testing.assert_allclose(display.steps()[-1].end, 0.0, atol=1e-12)


def test_a_row_of_an_explanation_is_drawn_by_feature(assert_legible):
    display = WaterfallDisplay.from_explanation(explanation_of(np.zeros((2, 3))), 7, "virginica")
    assert display.by == "feature"
    assert rows(display) == ["other rows", "sex = male", "age = missing", "this row"]
    assert list(details(display).values()) == ["+1.25", "−1.50   ÷\u00a04.5", "+0.25   ×\u00a01.3", "+0.00"]
    drawn = display.ax_.patches
    np.testing.assert_allclose([bar.get_x() for bar in drawn], [1.25, -0.25])
    np.testing.assert_allclose([bar.get_width() for bar in drawn], [-1.5, 0.25])
    assert display.ax_.get_xlabel() == "log-odds of virginica"
    assert_legible(display.figure_)


@given(arrays(np.float64, st.integers(1, 30), elements=numbers), numbers, st.integers(2, 20))
def test_features_lead_from_the_start_to_the_evidence_the_largest_first(values, start, n_bars):
    names = np.array([f"feature {j}" for j in range(len(values))], dtype=object)
    display = WaterfallDisplay(start, values, names, start + values.sum())
    steps = display.steps(n_bars)
    used = np.count_nonzero(values)
    assert len(steps) == min(used, n_bars)
    if steps:
        assert steps[0].start == start
        assert [s.end for s in steps[:-1]] == [s.start for s in steps[1:]]
        np.testing.assert_allclose(steps[-1].end, display.evidence, atol=1e-9)
    alone = [s for s in steps if not s.label.endswith(" others")]
    assert [s.label for s in alone] == [
        f"feature {j}" for j in np.argsort(-np.abs(values), kind="stable")[: len(alone)]
    ]
    assert len(alone) == (used if used <= n_bars else n_bars - 1)
    assert list(display.frame(n_bars=n_bars).columns) == ["step", "start", "end", "change"]


def test_thirty_features_are_legible(rng, assert_legible):
    names = np.array([f"PctExtNullSelfRedirectHyperlinksRT{i} = 0.1234" for i in range(30)], dtype=object)
    values = rng.normal(size=30)
    display = WaterfallDisplay(0.1, values, names, 0.1 + values.sum(), class_name="a class with a long name").plot()
    assert rows(display)[-2] == "19 others"
    assert_legible(display.figure_)
