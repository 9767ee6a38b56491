import matplotlib.pyplot as plt
import numpy as np
import pytest
from scipy import stats
from sklearn.datasets import load_iris

from cogmap import LTCNClassifier
from cogmap.plots import OuterWeightsDisplay
from cogmap.plots.outer_weights import EDGES


@pytest.fixture
def weights(rng):
    return rng.normal(0.3, 2.0, size=(5, 40, 3))


def test_lines_are_means_and_bands_their_confidence_intervals(weights):
    display = OuterWeightsDisplay(weights, np.array(["a", "b", "c"])).plot()
    lines = display.ax_[0].lines[:3]
    frame = display.frame()
    assert [line.get_label() for line in lines] == ["a", "b", "c"]
    for k, line in enumerate(lines):
        np.testing.assert_allclose(line.get_ydata(), [weights[t, :, k].mean() for t in range(5)])
        part = frame[frame["class"] == "abc"[k]]
        for t in range(5):
            w = weights[t, :, k]
            low, high = stats.t.interval(0.95, 39, loc=w.mean(), scale=stats.sem(w))
            row = part[part["iteration"] == t].iloc[0]
            np.testing.assert_allclose(row[["mean", "low", "high"]].astype(float), [w.mean(), low, high])
            band = display.ax_[0].collections[k].get_paths()[0].vertices
            here = band[band[:, 0] == t, 1]
            np.testing.assert_allclose([here.min(), here.max()], [low, high])


def test_the_histogram_counts_the_normalised_weights(weights):
    display = OuterWeightsDisplay(weights, np.arange(3)).plot()
    scaled = weights.ravel() / np.sqrt((weights.ravel() ** 2).sum() / weights.size)
    for bar, low, high in zip(display.ax_[1].patches, EDGES[:-1], EDGES[1:], strict=True):
        count = sum(low <= w < high for w in scaled)
        np.testing.assert_allclose(bar.get_height() * (high - low) * weights.size, count, atol=1e-9)
        np.testing.assert_allclose([bar.get_x(), bar.get_x() + bar.get_width()], [low, high], atol=1e-12)
    x, y = display.ax_[1].lines[0].get_data()
    expected = np.exp(-0.5 * ((x - scaled.mean()) / scaled.std()) ** 2) / scaled.std() / np.sqrt(2 * np.pi)
    np.testing.assert_allclose(y, expected)
    frame = display.histogram_frame()
    np.testing.assert_allclose(frame["density"], [bar.get_height() for bar in display.ax_[1].patches])


def test_weights_beyond_the_bins_are_counted_in_the_title():
    weights = np.ones((1, 100, 1))
    weights[0, 0, 0] = 1000.0
    display = OuterWeightsDisplay(weights, np.array(["a"])).plot()
    assert "1 of 100 lie beyond" in display.ax_[1].get_title()
    drawn = sum(bar.get_height() * bar.get_width() for bar in display.ax_[1].patches)
    np.testing.assert_allclose(drawn, 0.99)


@pytest.mark.parametrize("model", [LTCNClassifier(), LTCNClassifier.paper(max_iter=3), LTCNClassifier(alpha=0.1)])
def test_the_weights_of_the_classes_add_up_to_zero(model):
    """Why lines are drawn by class: over all classes the mean is zero whatever was learned."""
    outer = model.fit(*load_iris(return_X_y=True)).outer_weights_
    np.testing.assert_allclose(outer.sum(axis=2), 0, atol=1e-6 * np.abs(outer).max())


def test_axes_are_logarithmic_where_weights_grow_beyond_sight():
    growing = np.array([1.0, 1e3, 1e6])[:, None, None] * np.array([-1.0, 1.0, 2.0])[:, None]
    steady = np.ones((3, 1, 1)) * np.array([-1.0, 1.0, 2.0])[:, None]
    assert OuterWeightsDisplay(growing, np.array([0])).plot().ax_[0].get_yscale() == "symlog"
    assert OuterWeightsDisplay(steady, np.array([0])).plot().ax_[0].get_yscale() == "linear"


@pytest.mark.parametrize("model", [LTCNClassifier(), LTCNClassifier.paper(max_iter=3)])
def test_texts_are_legible(model, assert_legible):
    X, y = load_iris(return_X_y=True)
    display = OuterWeightsDisplay.from_estimator(model.fit(X, np.array(["setosa", "versicolor", "virginica"])[y]))
    np.testing.assert_array_equal(display.weights, model.outer_weights_)
    assert_legible(display.figure_)


def test_given_axes_are_drawn_on(weights):
    figure, axes = plt.subplots(1, 2)
    display = OuterWeightsDisplay(weights, np.arange(3)).plot(ax=axes)
    assert display.ax_.tolist() == axes.tolist()
    assert display.figure_ is figure


def test_the_first_of_many_classes_are_drawn(rng):
    display = OuterWeightsDisplay(rng.normal(size=(3, 4, 20)), np.arange(20)).plot()
    assert set(display.frame()["class"]) == set(range(8))
    assert "first 8 of 20 classes" in display.ax_[0].get_title()


def test_one_concept_and_no_weights_can_be_drawn():
    frame = OuterWeightsDisplay(np.zeros((2, 1, 2)), np.arange(2)).plot().frame()
    assert (frame[["mean", "low", "high"]] == 0).all(axis=None)


@pytest.mark.parametrize("scale", [1.0, 1e18, 1e200])
def test_weights_that_cancel_are_drawn_on_a_scale_that_can_be_read(rng, scale, assert_legible):
    """Weights on two states of a concept leave a thousandth of their size."""
    large = scale * rng.normal(size=(12, 2))
    weights = np.array([large, -large + 1e-3 * scale * rng.normal(size=(12, 2))])
    display = OuterWeightsDisplay(weights, np.array(["a", "b"])).plot()
    low, high = display.ax_[0].get_ylim()
    assert -10 < low < high < 10
    assert "they cancel" in display.ax_[0].get_title()
    assert display.ax_[0].get_ylabel() == "normalised outer weight"
    relative = weights / scale
    expected = (relative / np.sqrt((relative**2).mean())).mean(axis=1)
    np.testing.assert_allclose(display.frame()["mean"], expected.T.ravel(), rtol=1e-9)
    assert_legible(display.figure_)


def test_weights_that_do_not_cancel_keep_their_scale(weights):
    display = OuterWeightsDisplay(weights + 2, np.arange(3)).plot()
    assert "cancel" not in display.ax_[0].get_title()
    assert display.ax_[0].get_ylabel() == "outer weight"


def test_weights_that_other_concepts_cancel_are_recognised_by_their_size(rng):
    """Weights of one sign over the iterations, and of 1e9 although no score is above 100."""
    weights = 1e9 * rng.uniform(1, 2, size=(3, 6, 2)) * np.array([1, -1])[:, None].repeat(3, axis=1).reshape(1, 6, 1)
    display = OuterWeightsDisplay(weights, np.arange(2)).plot()
    assert display.cancel
    assert max(map(abs, display.ax_[0].get_ylim())) < 10
