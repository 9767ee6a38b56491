import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

from cogmap.plots import RelevanceDisplay
from cogmap.plots.drawing import NEGATIVE, POSITIVE

NAMES = np.array(["a", "b", "c", "d"], dtype=object)


def bars(display):
    return list(display.ax_.patches)


def labels(display):
    return [label.get_text() for label in display.ax_.get_yticklabels()]


def test_bars_show_the_most_relevant_features_first():
    display = RelevanceDisplay(np.array([1.0, 4.0, 2.0, 3.0]), NAMES).plot(n_features=3)
    assert labels(display) == ["b", "d", "c"]
    assert [bar.get_width() for bar in bars(display)] == [4.0, 3.0, 2.0]
    middle = [bar.get_y() + bar.get_height() / 2 for bar in bars(display)]
    np.testing.assert_allclose(middle, display.ax_.get_yticks())
    bottom, top = display.ax_.get_ylim()
    assert bottom > top  # the first feature is at the top
    assert "3 most relevant of 4" in display.ax_.get_title()


def test_intervals_are_lines_across_the_bars():
    value = np.array([1.0, 3.0])
    low, high = np.array([0.5, 2.0]), np.array([1.1, 4.0])
    display = RelevanceDisplay(value, NAMES[:2], low=low, high=high, level=0.9).plot()
    segments = display.ax_.collections[0].get_segments()
    np.testing.assert_allclose(segments, [[[2.0, 0], [4.0, 0]], [[0.5, 1], [1.1, 1]]])
    assert "90 % intervals" in display.ax_.get_title()


def test_a_sign_is_a_direction_a_colour_and_a_hatch():
    display = RelevanceDisplay(np.array([1.0, -2.0]), NAMES[:2], kind="data").plot()
    negative, positive = bars(display)
    assert (negative.get_width(), positive.get_width()) == (-2.0, 1.0)
    assert negative.get_facecolor()[:3] == to_rgb(NEGATIVE)
    assert positive.get_facecolor()[:3] == to_rgb(POSITIVE)
    assert bool(negative.get_hatch()) > bool(positive.get_hatch())
    assert [text.get_text() for text in display.ax_.get_legend().get_texts()] == ["raises", "lowers"]


def test_classes_have_bars_of_their_own_beside_each_other():
    relevance = np.array([[1.0, 4.0, 2.0, 0.0], [5.0, 3.0, 0.0, 0.0], [0.0, 1.0, 0.5, 0.0]])
    display = RelevanceDisplay(relevance, NAMES, classes=np.array(["x", "y", "z"])).plot()
    assert labels(display) == ["b", "a", "c", "d"]
    drawn = bars(display)
    assert len(drawn) == 12
    assert [bar.get_width() for bar in drawn[:4]] == [4.0, 1.0, 2.0, 0.0]
    edges = np.array(sorted((bar.get_y(), bar.get_y() + bar.get_height()) for bar in drawn))
    assert (edges[1:, 0] >= edges[:-1, 1] - 1e-9).all()
    colours = {tuple(bar.get_facecolor()) for bar in drawn}
    assert len(colours) == 3


def test_the_frame_has_a_row_for_each_bar(rng):
    relevance = rng.random((3, 4))
    classes = np.array(["x", "y", "z"])
    display = RelevanceDisplay(relevance, NAMES, low=relevance - 1, high=relevance + 1, classes=classes)
    frame = display.frame(n_features=2)
    best = np.argsort(-relevance.sum(axis=0))[:2]
    assert frame["feature"].drop_duplicates().tolist() == NAMES[best].tolist()
    assert len(frame) == 6
    for row in frame.itertuples():
        value = relevance["xyz".index(row[2]), NAMES.tolist().index(row.feature)]
        assert (row.relevance, row.low, row.high) == (value, value - 1, value + 1)


def test_without_intervals_the_frame_has_none():
    frame = RelevanceDisplay(np.array([1.0, 2.0]), NAMES[:2]).frame()
    assert frame.columns.tolist() == ["feature", "relevance"]
    assert frame["feature"].tolist() == ["b", "a"]


@pytest.mark.parametrize(("n_features", "n_classes"), [(4, 1), (48, 1), (4, 3), (20, 8)])
def test_texts_are_legible(rng, n_features, n_classes, assert_legible):
    names = np.array([f"PctExtNullSelfRedirectHyperlinksRT{i}" for i in range(n_features)], dtype=object)
    value = 1e16 * rng.exponential(size=(n_classes, n_features))
    classes = np.arange(n_classes) if n_classes > 1 else None
    value = value[0] if classes is None else value
    display = RelevanceDisplay(value, names, low=value, high=1.5 * value, classes=classes)
    assert_legible(display.plot().figure_)
    assert_legible(display.plot(n_features=None).figure_)


def test_the_first_of_many_classes_are_drawn(rng):
    display = RelevanceDisplay(rng.random((12, 4)), NAMES, classes=np.arange(12)).plot()
    assert len(bars(display)) == 8 * 4
    assert "the first 8 of 12 classes" in display.ax_.get_title()


def test_given_axes_are_drawn_on():
    figure, ax = plt.subplots()
    display = RelevanceDisplay(np.ones(4), NAMES).plot(ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
