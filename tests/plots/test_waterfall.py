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
def test_the_bars_lead_from_the_base_to_the_score(contributions, base, cases, n_iterations):
    display = display_of(contributions, base=base, cases=cases)
    steps = display.steps(n_iterations)
    starts, ends = [s.start for s in steps], [s.end for s in steps]
    assert starts[0] == base
    assert starts[1:] == ends[:-1]
    np.testing.assert_allclose(ends[-1], display.score, atol=1e-9)
    assert len(steps) <= n_iterations + 1


def test_bars_are_the_sums_of_each_iteration():
    display = display_of([[1.0, -0.2, 0.0], [-2.0, 0.5, 0.1], [0.3, 0.0, 0.0]], cases=-0.4).plot()
    assert rows(display) == ["base", "0", "1", "2", "cases", "score"]
    drawn = display.ax_.patches
    np.testing.assert_allclose([bar.get_x() for bar in drawn], [0.5, 1.3, -0.1, 0.2])
    np.testing.assert_allclose([bar.get_width() for bar in drawn], [0.8, -1.4, 0.3, -0.4])
    np.testing.assert_allclose([bar.get_y() + bar.get_height() / 2 for bar in drawn], [1, 2, 3, 4])
    for bar in drawn:
        rises = bar.get_width() > 0
        assert bar.get_facecolor()[:3] == to_rgb(POSITIVE if rises else NEGATIVE)
        assert bool(bar.get_hatch()) != rises
    points = [line.get_xydata()[0].tolist() for line in display.ax_.lines if line.get_marker() == "D"]
    np.testing.assert_allclose(points, [[0.5, 0], [display.score, 5]])


def test_the_largest_concepts_are_named_with_their_own_sign():
    text = details(display_of([[1.0, -0.2, 0.0], [-2.0, 0.5, -0.7]]).plot(n_concepts=2))
    assert text["0"] == "+0.8 :  alpha +1, beta −0.2"
    assert text["1"] == "−2.2 :  alpha −2, gamma −0.7"


def test_the_gate_is_shown_where_it_ended_the_reasoning():
    contributions = np.zeros((21, 3))
    contributions[:4] = 1.0
    display = display_of(contributions, stopped_at=4, cases=1.0).plot()
    assert rows(display) == ["base", "0", "1", "2", "3", "gate", "cases", "score"]
    assert details(display)["gate"] == "ended the reasoning before iteration 4"
    assert "gate" not in rows(display_of(contributions).plot())


def test_the_gate_of_one_member_of_a_stack():
    display = display_of(np.ones((3, 3)), stopped_at=2).plot()
    assert rows(display) == ["base", "0", "1", "gate", "2", "score"]
    assert details(display)["gate"] == "ended part of the reasoning before iteration 2"


def test_a_row_whose_reasoning_never_began():
    display = display_of(np.zeros((3, 3)), stopped_at=0).plot()
    assert rows(display) == ["base", "gate", "score"]
    assert len(display.frame()) == 0


def test_late_iterations_share_a_bar():
    display = display_of(np.ones((22, 3)), stopped_at=20).plot(n_iterations=5)
    assert rows(display) == ["base", "0", "1", "2", "3", "4–21", "gate", "score"]
    assert display.steps(5)[-1].end - display.steps(5)[-1].start == 18 * 3


def test_the_frame_has_a_row_for_each_bar():
    frame = display_of([[1.0, -0.2, 0.0], [-2.0, 0.5, 3.0]], cases=0.25).frame()
    assert frame["step"].tolist() == ["0", "1", "cases"]
    np.testing.assert_allclose(frame["change"], [0.8, 1.5, 0.25])
    np.testing.assert_allclose(frame["end"] - frame["start"], frame["change"])
    assert frame["largest_concept"].tolist() == ["alpha", "gamma", ""]


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e12])
@pytest.mark.parametrize("n_iterations", [2, 21])
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


def test_a_row_of_an_explanation_is_drawn():
    parts = np.array([[1.0, 0.5, 0.0], [0.0, -2.0, 0.0]])
    classes = np.array(["setosa", "virginica"])
    explanation = SimpleNamespace(
        estimator=SimpleNamespace(concept_names_=NAMES, classes_=classes),
        classes=classes[1:],
        base=np.array([0.2]),
        cases=np.full((8, 1), 0.3),
        contributions=lambda label: {"virginica": np.tile(parts, (8, 1, 1))}[label],
        stopped_at=np.array([[-1, -1]] * 7 + [[-1, 2]]),
        scores=np.tile([5.0, 0.0], (8, 1)),
    )
    with pytest.raises(ValueError, match="Class 'setosa' is not explained here: choose one of"):
        WaterfallDisplay.from_explanation(explanation, 7, "setosa")
    display = WaterfallDisplay.from_explanation(explanation, 7, "virginica", n_concepts=1)
    assert rows(display) == ["base", "0", "1", "gate", "cases", "score"]
    assert "class virginica" in display.ax_.get_title()
    np.testing.assert_allclose(display.steps()[-1].end, 0.0, atol=1e-12)
