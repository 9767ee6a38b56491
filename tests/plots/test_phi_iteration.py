import matplotlib.pyplot as plt
import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import StratifiedKFold, cross_val_score

from cogmap import LTCNClassifier
from cogmap.errors import IllConditionedWarning
from cogmap.plots import PhiIterationDisplay


@pytest.fixture(scope="module")
def iris():
    return load_iris(return_X_y=True)


def naive_kappa(model, X, y, n_folds):
    found = []
    for train, test in StratifiedKFold(n_folds).split(X, y):
        predicted = model.fit(X[train], y[train]).predict(X[test])
        found.append(cohen_kappa_score(y[test], predicted))
    return np.mean(found)


def test_cells_are_cross_validated_kappas(iris):
    display = PhiIterationDisplay.from_estimator(
        LTCNClassifier(inner="correlation"), *iris, phis=(0.0, 0.9), iterations=(1, 4), cv=3
    )
    for i, phi in enumerate((0.0, 0.9)):
        for j, T in enumerate((1, 4)):
            model = LTCNClassifier(inner="correlation", phi=phi, max_iter=T)
            np.testing.assert_allclose(display.scores[i, j], naive_kappa(model, *iris, 3))
    np.testing.assert_array_equal(display.ax_.images[0].get_array(), display.scores)


def test_other_scores_come_from_scikit_learn(iris):
    display = PhiIterationDisplay.from_estimator(
        LTCNClassifier.paper(), *iris, phis=(0.5,), iterations=(1, 2), cv=3, scoring="neg_log_loss"
    )
    model = LTCNClassifier.paper(phi=0.5, max_iter=2)
    np.testing.assert_allclose(display.scores[0, 1], cross_val_score(model, *iris, cv=3, scoring="neg_log_loss").mean())
    assert display.scoring == "neg_log_loss"


def test_the_estimator_itself_stays_as_it_is(iris):
    model = LTCNClassifier(phi=0.3)
    PhiIterationDisplay.from_estimator(model, *iris, phis=(0.5,), iterations=(1,), cv=2)
    assert (model.phi, hasattr(model, "classes_")) == (0.3, False)


def test_ill_conditioned_fits_are_warned_of_once(iris):
    with pytest.warns(IllConditionedWarning, match="of 6 fits have an ill-conditioned readout") as caught:
        PhiIterationDisplay.from_estimator(LTCNClassifier.paper(), *iris, phis=(0.8,), iterations=(20, 25), cv=3)
    assert len(caught) == 1


def test_all_pairs_see_the_same_folds(iris):
    folds = StratifiedKFold(3, shuffle=True, random_state=np.random.RandomState(0))
    display = PhiIterationDisplay.from_estimator(
        LTCNClassifier(), *iris, phis=(0.0, 0.0, 0.0), iterations=(1,), cv=folds
    )
    assert len(set(display.scores.ravel())) == 1


@pytest.fixture
def display(rng):
    scores = rng.random((3, 4))
    scores[2, 1] = 2.0
    return PhiIterationDisplay(np.array([0.0, 0.5, 1.0]), np.array([1, 2, 5, 20]), scores)


def test_numbers_are_written_in_their_cells(display):
    display.plot()
    assert len(display.ax_.texts) == 12
    for text in display.ax_.texts:
        column, row = text.get_position()
        assert text.get_text() == f"{display.scores[row, column]:.2f}"
    assert [t.get_text() for t in display.ax_.get_xticklabels()] == ["1", "2", "5", "20"]
    assert [t.get_text() for t in display.ax_.get_yticklabels()] == ["0", "0.5", "1"]


def test_the_best_cell_has_a_frame(display):
    frame = display.plot().ax_.patches[0]
    x, y = np.add(frame.get_xy(), [frame.get_width() / 2, frame.get_height() / 2])
    np.testing.assert_allclose([x, y], [1, 2], atol=0.01)
    assert "φ = 1, T = 2" in display.ax_.get_title()


def test_the_frame_has_a_row_for_each_cell(display):
    frame = display.frame()
    assert len(frame) == 12
    for row in frame.itertuples():
        i, j = [0.0, 0.5, 1.0].index(row.phi), [1, 2, 5, 20].index(row.iterations)
        assert row.score == display.scores[i, j]


@pytest.mark.parametrize(("n_phis", "n_iterations"), [(1, 1), (6, 7), (11, 20)])
def test_texts_are_legible(rng, n_phis, n_iterations, assert_legible):
    scores = 0.9 + 0.01 * rng.random((n_phis, n_iterations))
    assert_legible(PhiIterationDisplay(np.linspace(0, 1, n_phis), np.arange(n_iterations), scores).plot().figure_)


def test_given_axes_are_drawn_on(display):
    figure, ax = plt.subplots()
    display.plot(ax=ax)
    assert display.ax_ is ax
    assert display.figure_ is figure
