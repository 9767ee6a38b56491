import sys

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb
from matplotlib.patches import FancyArrowPatch

from cogmap import LTCNClassifier, LTCNClassifierCV
from cogmap.plots import CognitiveMapDisplay
from cogmap.plots.drawing import NEGATIVE, NEUTRAL, POSITIVE


@pytest.fixture(scope="module")
def stack(wine):
    return LTCNClassifierCV(cases=False, terms=None, pairs=False).fit(*wine)


def example(n_concepts, *, seed=0, n_blocks=1):
    """Return a map with long names and a few strong weights of both signs."""
    rng = np.random.default_rng(seed)
    weights = np.zeros((n_concepts, n_concepts))
    blocks = np.arange(n_concepts) * n_blocks // n_concepts
    for b in range(n_blocks):
        inside = np.flatnonzero(blocks == b)
        weights[np.ix_(inside, inside)] = rng.normal(size=(len(inside), len(inside))) ** 3
    words = np.array(["PctExtNullSelfRedirectHyperlinksRT", "NumDash", "od280/od315_of_diluted_wines", "mean texture"])
    names = np.array([f"{rng.choice(words)} {i}" for i in range(n_concepts)], dtype=object)
    named = np.array([f"block {b}" for b in blocks], dtype=object) if n_blocks > 1 else None
    return CognitiveMapDisplay(weights, rng.exponential(size=n_concepts), names, named)


def arrows(display):
    return [patch for patch in display.ax_.patches if isinstance(patch, FancyArrowPatch)]


def nodes(display):
    return display.ax_.collections[0]


def test_the_strongest_edges_between_concepts_are_drawn():
    W = np.array([[9.0, 0.5, -2.0], [0.0, 9.0, 1.0], [0.1, 0.0, 9.0]])
    display = CognitiveMapDisplay(W, np.ones(3), np.array(["a", "b", "c"])).plot(n_edges=3)
    assert display.edges(3) == [(0, 2, -2.0), (1, 2, 1.0), (0, 1, 0.5)]
    assert len(display.edges(99)) == 4
    assert len(arrows(display)) == 3
    assert display.ax_.get_title() == "Cognitive map: the 3 strongest of 4 edges between concepts"


def test_colour_dashes_and_width_show_sign_and_size():
    W = np.array([[0.0, 0.5, -2.0], [0.0, 0.0, 1.0], [-0.1, 0.0, 0.0]])
    display = CognitiveMapDisplay(W, np.ones(3), np.array(["a", "b", "c"])).plot()
    drawn = arrows(display)[::-1]  # the strongest is drawn last, on top
    weights = [-2.0, 1.0, 0.5, -0.1]
    for arrow, weight in zip(drawn, weights, strict=True):
        assert arrow.get_edgecolor()[:3] == to_rgb(POSITIVE if weight > 0 else NEGATIVE)
        assert (arrow.get_linestyle() in ("-", "solid")) == (weight > 0)
    widths = np.array([arrow.get_linewidth() for arrow in drawn])
    slope = np.diff(widths) / np.diff(np.abs(weights))
    np.testing.assert_allclose(slope, slope[0])
    assert slope[0] > 0


@pytest.mark.parametrize("n_concepts", [3, 8, 30])
def test_each_arrow_leads_from_its_source_to_its_target(n_concepts):
    display = example(n_concepts).plot(n_edges=20)
    position = np.asarray(nodes(display).get_offsets())
    for arrow, (source, target, _) in zip(arrows(display)[::-1], display.edges(20), strict=True):
        path = arrow.get_path().vertices
        assert np.linalg.norm(position - path[0], axis=1).argmin() == source
        assert np.linalg.norm(position - path[-4:-1].mean(axis=0), axis=1).argmin() == target


def test_the_two_ways_of_a_pair_keep_apart():
    W = np.array([[0.0, 1.0, 0.0, 0.0], [-1.0, 0.0, 0.0, 0.0], [0.0] * 4, [0.0] * 4])
    display = CognitiveMapDisplay(W, np.zeros(4), np.array(list("abcd"))).plot()
    middles = []
    for arrow in arrows(display):
        curve = arrow.get_transform().transform(arrow.get_path().vertices[:3])
        middles.append(curve.T @ [0.25, 0.5, 0.25])  # of a quadratic Bézier curve
    assert np.linalg.norm(middles[0] - middles[1]) > 8


def test_the_area_of_a_node_grows_with_relevance():
    display = example(12)
    display.relevance = np.arange(12.0)
    sizes = nodes(display.plot()).get_sizes()
    assert (np.diff(sizes) > 0).all()
    assert sizes[0] > 0


@pytest.mark.parametrize("n_concepts", [2, 10, 16, 17, 60])
def test_names_are_legible(n_concepts, assert_legible):
    display = example(n_concepts).plot()
    assert len(display.ax_.texts) == n_concepts
    assert_legible(display.figure_, marks=True)


@pytest.mark.parametrize("n_concepts", [13, 30, 48])
def test_names_of_a_full_map_are_level_and_none_is_small(n_concepts):
    texts = example(n_concepts).plot().ax_.texts
    assert {text.get_rotation() for text in texts} == {0.0}
    assert {text.get_fontsize() for text in texts} == {9.0}


@pytest.mark.parametrize(("n_concepts", "n_blocks"), [(12, 2), (40, 5)])
def test_names_of_blocks_are_legible(n_concepts, n_blocks, assert_legible):
    display = example(n_concepts, n_blocks=n_blocks).plot()
    assert len(display.ax_.texts) == n_concepts + n_blocks
    assert_legible(display.figure_, marks=True)


@pytest.mark.parametrize("n_concepts", [10, 40])
def test_names_are_legible_when_all_concepts_are_linked(n_concepts, assert_legible):
    assert_legible(example(n_concepts, seed=1).plot(n_edges=5 * n_concepts).figure_)


def test_blocks_stand_apart():
    display = example(30, n_blocks=3).plot(n_edges=7)
    position = np.asarray(nodes(display).get_offsets())
    block = np.arange(30) * 3 // 30
    right = [position[block == b, 0].max() for b in range(3)]
    left = [position[block == b, 0].min() for b in range(3)]
    assert right[0] < left[1] < right[1] < left[2]
    edges = display.edges(7)
    assert all(block[j] == block[i] for j, i, _ in edges)
    assert np.bincount([block[j] for j, _, _ in edges]).tolist() == [7, 7, 7]


def test_concepts_stand_on_a_circle_on_the_page():
    display = example(9).plot()
    display.figure_.canvas.draw()
    position = display.ax_.transData.transform(nodes(display).get_offsets())
    radius = np.linalg.norm(position - position.mean(axis=0), axis=1)
    np.testing.assert_allclose(radius, radius[0], rtol=1e-6)


def test_names_without_an_edge_are_grey():
    W = np.zeros((4, 4))
    W[0, 1] = 1.0
    texts = CognitiveMapDisplay(W, np.ones(4), np.array(list("abcd"))).plot().ax_.texts
    assert {t.get_text(): to_rgb(t.get_color()) == to_rgb(NEUTRAL) for t in texts} == {
        "a": False,
        "b": False,
        "c": True,
        "d": True,
    }


def test_the_legend_explains_signs(fitted):
    texts = [text.get_text() for text in CognitiveMapDisplay.from_estimator(fitted).ax_.get_legend().get_texts()]
    assert texts[:2] == ["raises its target", "lowers its target"]


def test_the_same_map_is_drawn_twice():
    first, second = (np.asarray(nodes(example(30).plot()).get_offsets()) for _ in range(2))
    np.testing.assert_array_equal(first, second)


def test_every_concept_of_a_classifier_is_named(fitted):
    display = CognitiveMapDisplay.from_estimator(fitted, n_edges=10)
    texts = {text.get_text() for text in display.ax_.texts}
    assert {"alcohol", "hue"} <= texts
    assert len(texts) == 13
    assert "the 10 strongest of 156" in display.ax_.get_title()


@pytest.mark.parametrize("size", [(8, 5), (12, 9)])
def test_given_axes_are_drawn_on_and_hold_all_names(size):
    figure, axes = plt.subplots(1, 2, figsize=size)
    display = example(10).plot(ax=axes[1])
    assert display.ax_ is axes[1]
    assert display.figure_ is figure
    assert not axes[0].texts
    figure.canvas.draw()
    for text in display.ax_.texts:
        box = text.get_window_extent()
        assert (box.min >= axes[1].bbox.min - 1).all()
        assert (box.max <= axes[1].bbox.max + 1).all()


def test_no_and_one_concept_can_be_drawn():
    for n in (0, 1):
        display = CognitiveMapDisplay(np.zeros((n, n)), np.zeros(n), np.array(["a"] * n)).plot()
        assert display.edges() == []
        assert len(display.frame()) == 0


def test_a_network_without_edges_can_be_drawn():
    assert CognitiveMapDisplay(np.zeros((2, 2)), np.zeros(2), np.array(["a", "b"])).plot().edges(5) == []


def test_the_frame_holds_the_inner_weights(fitted):
    display = CognitiveMapDisplay.from_estimator(fitted, n_edges=10)
    frame = display.frame(n_edges=10)
    names = fitted.concept_names_.tolist()
    W = fitted.inner_weights_
    expected = [W[names.index(s), names.index(t)] for s, t in zip(frame["source"], frame["target"], strict=True)]
    np.testing.assert_array_equal(frame["weight"], expected)
    largest = np.sort(np.abs(W - np.diag(np.diag(W))), axis=None)[::-1][:10]
    np.testing.assert_array_equal(np.abs(frame["weight"]), largest)
    relevance = dict(zip(names, fitted.relevance(), strict=True))
    assert frame["source_relevance"].tolist() == [relevance[s] for s in frame["source"]]


def test_a_stack_is_drawn_block_by_block(stack, assert_legible):
    display = CognitiveMapDisplay.from_estimator(stack)
    assert len(stack.fitted_.networks) == 2
    whole = [f"{name} [{block}]" for name, block in zip(display.names, display.blocks, strict=True)]
    assert whole == stack.concept_names_.tolist()
    headings = [t.get_text() for t in display.ax_.texts if t.get_text().startswith("block: ")]
    assert headings == [f"block: {name}" for name in dict.fromkeys(display.blocks)]
    assert set(display.frame()["block"]) == set(display.blocks)
    assert_legible(display.figure_)


def test_terms_and_constant_features(wine):
    X, y = wine
    model = LTCNClassifier(terms=3, max_iter=2).fit(X.assign(constant=1.0), y)
    display = CognitiveMapDisplay.from_estimator(model)
    assert display.names.tolist() == model.concept_names_.tolist()
    relevance = dict(zip(model.feature_names_in_, model.relevance(), strict=True))
    assert display.relevance.tolist() == [relevance[name.split(" is ")[0]] for name in display.names]


@pytest.mark.parametrize("library", ["matplotlib", "networkx"])
def test_a_missing_library_names_the_extra(fitted, monkeypatch, library):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False) if library == "matplotlib" else None
    with pytest.raises(ImportError, match=r'pip install "cogmap\[plot\]"'):
        CognitiveMapDisplay.from_estimator(fitted)
