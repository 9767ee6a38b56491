import matplotlib.pyplot as plt
import numpy as np
import pytest

from cogmap import LTCNClassifier, LTCNClassifierCV
from cogmap.plots import TrajectoryDisplay


def test_lines_are_the_class_means_of_the_states(fitted, wine):
    X, y = wine
    display = TrajectoryDisplay.from_estimator(fitted, X, y, n_concepts=2)
    concept = int(np.argmax(fitted.relevance()))
    assert display.ax_[0].get_title() == X.columns[concept]
    assert [len(ax.lines) for ax in display.ax_] == [3, 3]
    for k, line in enumerate(display.ax_[0].lines):
        np.testing.assert_allclose(line.get_ydata(), fitted.trajectory(X[y == k])[:, :, concept].mean(axis=0))
        np.testing.assert_array_equal(line.get_xdata(), np.arange(fitted.n_iter_ + 1))


def test_bands_hold_the_middle_80_percent(fitted, wine):
    X, y = wine
    display = TrajectoryDisplay.from_estimator(fitted, X, y, n_concepts=1)
    concept = int(display.order[0])
    band = display.ax_[0].collections[1].get_paths()[0].vertices
    for t, states in enumerate(fitted.trajectory(X[y == 1])[:, :, concept].T):
        here = band[band[:, 0] == t, 1]
        np.testing.assert_allclose([here.min(), here.max()], np.percentile(states, [10, 90]))


def test_the_frame_holds_what_is_drawn(fitted, wine):
    X, y = wine
    display = TrajectoryDisplay.from_estimator(fitted, X, y, n_concepts=2)
    frame = display.frame()
    assert len(frame) == 2 * 3 * (fitted.n_iter_ + 1)
    name = fitted.concept_names_[display.order[1]]
    states = fitted.trajectory(X)[np.asarray(y) == 2][:, :, display.order[1]]
    part = frame[(frame["concept"] == name) & (frame["class"] == 2)].sort_values("iteration")
    np.testing.assert_allclose(part["mean"], states.mean(axis=0))
    np.testing.assert_allclose(part["low"], np.percentile(states, 10, axis=0))
    np.testing.assert_allclose(part["high"], np.percentile(states, 90, axis=0))


def test_classes_are_the_predicted_ones_without_y(fitted, wine):
    X, _ = wine
    assert (TrajectoryDisplay.from_estimator(fitted, X).labels == fitted.predict(X)).all()


def test_given_axes_are_drawn_on(fitted, wine):
    figure, axes = plt.subplots(1, 3)
    display = TrajectoryDisplay.from_estimator(fitted, *wine, n_concepts=2, ax=axes)
    assert display.ax_.tolist() == axes[:2].tolist()
    assert display.figure_ is figure
    assert [len(ax.lines) for ax in axes] == [3, 3, 0]
    with pytest.raises(ValueError, match="6 panels need as many axes"):
        TrajectoryDisplay.from_estimator(fitted, *wine, ax=axes)


@pytest.mark.parametrize("n_concepts", [1, 4, 6])
def test_texts_are_legible(fitted, wine, n_concepts, assert_legible):
    X, y = wine
    labels = np.array(["barolo of the older kind", "grignolino", "barbera"])[y]
    assert_legible(TrajectoryDisplay.from_estimator(fitted, X, labels, n_concepts=n_concepts).figure_)


def test_the_largest_of_many_classes_are_drawn(rng):
    labels = np.repeat(np.arange(12), np.arange(1, 13))
    states = rng.random((len(labels), 3, 1))
    display = TrajectoryDisplay(states, labels, np.array(["a"]), np.array([0])).plot()
    assert display.classes().tolist() == list(range(4, 12))
    assert len({(line.get_color(), line.get_linestyle()) for line in display.ax_[0].lines}) == 8
    assert "the largest 8 of 12 classes" in display.figure_.get_suptitle()


@pytest.mark.parametrize("estimator", [LTCNClassifier(terms=3, max_iter=2), LTCNClassifierCV(max_iter=2, cases=False)])
def test_concepts_that_are_not_the_features(wine, estimator):
    """Terms, a constant column and a stack each have other concepts than the features."""
    X, y = wine
    X = X.assign(constant=1.0)
    model = estimator.fit(X, y)
    display = TrajectoryDisplay.from_estimator(model, X, y, n_concepts=4)
    assert len(display.order) == 4
    assert display.trajectory.shape[2] == len(model.concept_names_) > 13


def test_one_row_has_a_title_of_its_own(fitted, wine, assert_legible):
    display = TrajectoryDisplay.from_estimator(fitted, wine[0][:1], ["barolo"])
    title = display.figure_.get_suptitle()
    assert title == "States while the network reasons\none row, of class barolo"
    assert not display.figure_.legends
    np.testing.assert_allclose(
        display.ax_[0].lines[0].get_ydata(), fitted.trajectory(wine[0][:1])[0, :, display.order[0]]
    )
    assert_legible(display.figure_)
