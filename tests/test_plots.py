import sys

import numpy as np
import pytest
from sklearn.datasets import load_wine

from cogmap import LTCNClassifier, LTCNClassifierCV
from cogmap.plots import CognitiveMapDisplay, TrajectoryDisplay

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
plt = pytest.importorskip("matplotlib.pyplot")


@pytest.fixture(scope="module")
def fitted():
    X, y = load_wine(return_X_y=True, as_frame=True)
    return LTCNClassifier(max_iter=3).fit(X, y), X, y


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


def test_map_draws_the_strongest_edges_between_concepts():
    W = np.array([[9.0, 0.5, -2.0], [0.0, 9.0, 1.0], [0.1, 0.0, 9.0]])
    display = CognitiveMapDisplay(W, np.ones(3), np.array(["a", "b", "c"]))
    assert display.edges(3) == [(0, 2, -2.0), (1, 2, 1.0), (0, 1, 0.5)]
    assert len(display.edges(99)) == 4


def test_map_names_every_concept(fitted):
    display = CognitiveMapDisplay.from_estimator(fitted[0], n_edges=10)
    texts = {text.get_text() for text in display.ax_.texts}
    assert {"alcohol", "hue"} <= texts
    assert "the 10 strongest of 156" in display.ax_.get_title()


def test_map_draws_on_given_axes(fitted):
    ax = plt.subplots()[1]
    assert CognitiveMapDisplay.from_estimator(fitted[0], ax=ax).ax_ is ax


def test_map_of_a_network_without_edges():
    assert CognitiveMapDisplay(np.zeros((2, 2)), np.zeros(2), np.array(["a", "b"])).plot().edges(5) == []


def test_trajectory_shows_the_class_means_of_the_states(fitted):
    model, X, y = fitted
    display = TrajectoryDisplay.from_estimator(model, X, y, n_concepts=2)
    relevance = np.abs(model.inner_weights_).sum(axis=1) + np.abs(model.outer_weights_).sum(axis=(0, 2))
    concept = int(np.argmax(relevance))
    drawn = display.axes_[0].lines[1].get_ydata()
    np.testing.assert_allclose(drawn, model.trajectory(X[y == 1])[:, :, concept].mean(axis=0))


@pytest.mark.parametrize("estimator", [LTCNClassifier(terms=3), LTCNClassifierCV()])
def test_displays_show_concepts_where_these_are_not_the_features(fitted, estimator):
    """Terms, a constant column and a stack each have other concepts than the features."""
    _, X, y = fitted
    model = estimator.fit(X.assign(constant=1.0), y)
    names = {str(name) for name in model.concept_names_}
    display = TrajectoryDisplay.from_estimator(model, X.assign(constant=1.0), y, n_concepts=4)
    assert len(display.order) == 4
    assert display.trajectory.shape[2] == len(names)
    shown = CognitiveMapDisplay.from_estimator(model)
    assert len(shown.relevance) == len(shown.names) == len(names) > 13


def test_trajectory_falls_back_on_predicted_classes(fitted):
    model, X, _ = fitted
    assert (TrajectoryDisplay.from_estimator(model, X).labels == model.predict(X)).all()


def test_missing_matplotlib_names_the_extra(fitted, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot", raising=False)
    with pytest.raises(ImportError, match=r'pip install "cogmap\[plot\]"'):
        CognitiveMapDisplay.from_estimator(fitted[0])
