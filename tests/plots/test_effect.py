import numpy as np
import pandas as pd
import pytest

from cogmap import LTCNClassifier, TabularClassifier
from cogmap.effects.effects import feature_effect, pair_effect
from cogmap.plots import EffectDisplay
from tests.people import people
from tests.plots.conftest import plt


@pytest.fixture(scope="module")
def passengers():
    return people().drop(columns="id")


@pytest.fixture(scope="module")
def tabular(passengers):
    model = TabularClassifier(LTCNClassifier(max_iter=3))
    return model.fit(passengers.drop(columns="survived"), passengers["survived"])


@pytest.fixture(scope="module")
def rows(passengers):
    return passengers.drop(columns="survived")


def test_a_number_is_a_line_with_a_band_a_rug_and_a_missing_value(tabular, rows):
    display = EffectDisplay.from_estimator(tabular, rows, features="age")
    (ax,) = display.ax_
    expected = feature_effect(tabular, rows, "age")
    line, missing, rug = ax.lines
    np.testing.assert_array_equal(line.get_xdata(), expected.values[:-1])
    np.testing.assert_array_equal(line.get_ydata(), expected.effect[:-1, 0])
    assert missing.get_ydata() == [expected.effect[-1, 0]]
    np.testing.assert_array_equal(rug.get_xdata(), np.sort(rows.drop_duplicates()["age"].dropna()))
    band = ax.collections[0].get_paths()[0].vertices
    assert band[:, 1].min() == expected.low[:-1, 0].min()
    assert band[:, 1].max() == expected.high[:-1, 0].max()
    assert "missing" in [label.get_text() for label in ax.get_xticklabels()]
    assert ax.get_ylabel() == "probability of yes"


def test_a_category_is_a_bar_for_each_value_with_its_rows(tabular, rows):
    display = EffectDisplay.from_estimator(tabular, rows, features="deck", kind="evidence", classes=["no", "yes"])
    (ax,) = display.ax_
    expected = feature_effect(tabular, rows, "deck", kind="evidence", classes=["no", "yes"])
    np.testing.assert_allclose([bar.get_width() for bar in ax.patches], expected.effect.T.ravel())
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == [f"{name} ({count:g})" for name, count in zip(expected.labels, expected.rows, strict=True)]
    assert "log-odds" in ax.get_xlabel()


def test_two_features_are_a_map_without_what_no_row_is_near(tabular, rows):
    display = EffectDisplay.from_estimator(tabular, rows, features=("age", "fare"))
    expected = pair_effect(tabular, rows, ("age", "fare"))
    mesh = display.ax_[0].collections[0]
    drawn = np.ma.masked_invalid(expected.effect[..., 0].T)
    np.testing.assert_array_equal(mesh.get_array().mask, drawn.mask)
    np.testing.assert_array_equal(mesh.get_array().compressed(), drawn.compressed())
    assert (display.ax_[0].get_xlabel(), display.ax_[0].get_ylabel()) == ("age", "fare")
    dots = display.ax_[0].lines[0]
    assert len(dots.get_xdata()) == len(rows[rows["age"].notna()].drop_duplicates())


def test_a_list_has_a_panel_for_each_and_pairs_one_for_each_class(fitted, wine):
    X, _ = wine
    display = EffectDisplay.from_estimator(fitted, X, features=["proline", ("proline", "ash")])
    assert len(display.ax_) == 1 + 3
    assert len(display.ax_[0].lines) == 3 + 1
    assert len(display.ax_[0].collections) == 0
    assert [text.get_text() for text in display.figure_.legends[0].get_texts()] == ["0", "1", "2"]


def test_by_default_the_most_relevant_features_of_the_kept_rows_are_drawn(fitted, wine):
    X, _ = wine
    display = EffectDisplay.from_estimator(fitted)
    order = np.argsort(-fitted.relevance(), kind="stable")[:6]
    assert [ax.get_title() for ax in display.ax_] == [X.columns[j] for j in order]
    np.testing.assert_array_equal(display.effects[0].effect, feature_effect(fitted, None, X.columns[order[0]]).effect)


def test_frames_hold_what_is_drawn(tabular, rows):
    display = EffectDisplay.from_estimator(tabular, rows, features=["age", "deck"])
    parts = [feature_effect(tabular, rows, name).frame() for name in ("age", "deck")]
    pd.testing.assert_frame_equal(display.frame(), pd.concat(parts, ignore_index=True))


def test_given_axes_are_drawn_on(tabular, rows):
    figure, axes = plt.subplots(1, 2)
    display = EffectDisplay.from_estimator(tabular, rows, features=["age", "deck"], ax=axes)
    assert display.figure_ is figure
    assert list(display.ax_) == list(axes)
    with pytest.raises(ValueError, match="2 panels need as many axes"):
        display.plot(ax=axes[0])


def test_text_is_legible(tabular, rows, fitted, wine, assert_legible):
    assert_legible(EffectDisplay.from_estimator(tabular, rows).figure_)
    assert_legible(EffectDisplay.from_estimator(tabular, rows, features="sex").figure_)
    assert_legible(EffectDisplay.from_estimator(tabular, rows, features=[("age", "sex"), ("deck", "port")]).figure_)
    assert_legible(EffectDisplay.from_estimator(fitted, wine[0], kind="evidence").figure_)


@pytest.mark.parametrize("n_values", [2, 20, 40])
def test_many_long_categories_stay_legible(n_values, rng, assert_legible):
    names = [f"a rather long name of a place, number {k}" for k in range(n_values)]
    X = pd.DataFrame({"place": np.tile(names, 8), "size": rng.normal(size=8 * n_values)})
    y = np.array(list("abcd"))[np.digitize(X["size"], [-0.7, 0, 0.7])]
    model = TabularClassifier(LTCNClassifier(max_iter=1, alpha=1.0), max_categories=40).fit(X, y)
    display = EffectDisplay.from_estimator(model, X, features="place")
    assert_legible(display.figure_)
    assert len(display.ax_[0].patches) == 4 * min(n_values, 24)
    assert ("the 24 of 40 values" in display.ax_[0].get_title()) == (n_values == 40)


def test_the_first_of_many_classes_are_drawn(rng):
    y = np.repeat(np.arange(12), 8)
    X = rng.normal(size=(96, 2)) + y[:, None]
    display = EffectDisplay.from_estimator(LTCNClassifier(max_iter=1).fit(X, y), X, features="x0")
    assert len(display.ax_[0].lines) == 8 + 1
    assert display.figure_.legends[0].get_texts()[-1].get_text() == "7 (the first 8 of 12)"
