"""Effects of features of fitted models, against closed forms and loops over raw rows."""

from datetime import datetime
from itertools import pairwise
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.base import BaseEstimator
from sklearn.linear_model import LogisticRegression

from cogmap import LTCNClassifier, LTCNClassifierCV, TabularClassifier
from cogmap.effects.effects import effects_of, feature_effect, most_relevant, pair_effect
from cogmap.effects.results import axis_numbers
from cogmap.effects.subject import Feature
from tests.people import people


class Known(BaseEstimator):
    """A classifier whose probabilities are a known function of the columns; it counts the rows it is asked about."""

    def __init__(self, function, classes=("no", "yes")):
        self.function = function
        self.classes_ = np.array(classes)
        self.asked = 0

    def predict_proba(self, X):
        self.asked += len(X)
        found = self.function(*np.asarray(X).T)
        return np.stack([1 - found, found], axis=1) if isinstance(found, np.ndarray) else np.stack(found, axis=1)


@pytest.fixture
def correlated(rng):
    x = rng.uniform(0, 1, 500)
    return np.stack([x, np.clip(x + 0.05 * rng.normal(size=500), 0, 1), rng.uniform(size=500)], axis=1)


@pytest.fixture(scope="module")
def passengers():
    return people().drop(columns="id")


@pytest.fixture(scope="module")
def tabular(passengers):
    X = passengers.drop(columns="survived").assign(old=lambda table: table["age"] > 50)
    return TabularClassifier(LTCNClassifier(max_iter=4, alpha=0.1)).fit(X, passengers["survived"]), X


def test_probabilities_that_are_a_sum_have_its_terms_as_effects(correlated):
    model = Known(lambda a, b, c: 0.1 + 0.3 * a**2 + 0.2 * b + 0.3 * np.sqrt(c))
    for name, term in (("x0", lambda v: 0.3 * v**2), ("x1", lambda v: 0.2 * v), ("x2", lambda v: 0.3 * np.sqrt(v))):
        found = feature_effect(model, correlated, name)
        np.testing.assert_allclose(np.diff(found.effect[:, 0]), np.diff(term(found.values)), atol=1e-12)
        assert np.interp(correlated[:, int(name[1])], found.values, found.effect[:, 0]).mean() == pytest.approx(
            model.predict_proba(correlated)[:, 1].mean(), abs=1e-10
        )
        assert found.classes.tolist() == ["yes"]


def test_partial_dependence_would_mislead_where_local_effects_do_not(correlated):
    """Far from a = b, where no row lies, the model is wild; the feature itself does nothing where rows are."""
    model = Known(lambda a, b, c: np.where(np.abs(a - b) > 0.4, 0.95, 0.2 + 0.5 * b))
    found = feature_effect(model, correlated, "x0")
    np.testing.assert_allclose(np.diff(found.effect[:, 0]), 0.0, atol=1e-12)
    moved = [np.c_[np.full(500, point), correlated[:, 1:]] for point in found.values]
    partial = [model.predict_proba(rows)[:, 1].mean() for rows in moved]
    assert np.ptp(partial) > 0.1


@pytest.mark.parametrize("classes", [2, 3])
def test_evidence_that_is_a_sum_has_its_terms_as_effects(correlated, classes):
    slopes = np.array([[0.0, 0.0, 0.0], [2.0, -1.0, 0.5], [-1.0, 3.0, 1.0]])[:classes]

    def function(*x):
        scores = np.stack(x, axis=1) @ slopes.T
        odds = np.exp(scores)
        return list((odds / odds.sum(axis=1, keepdims=True)).T)

    model = Known(function, classes=range(classes))
    found = feature_effect(model, correlated, "x1", kind="evidence", classes=range(classes))
    against = slopes[::-1] if classes == 2 else slopes.mean(axis=0)
    expected = np.outer(found.values, (slopes - against)[:, 1])
    np.testing.assert_allclose(np.diff(found.effect, axis=0), np.diff(expected, axis=0), atol=1e-9)
    log = np.log(model.predict_proba(correlated))
    evidence = log - (log[:, ::-1] if classes == 2 else log.mean(axis=1, keepdims=True))
    np.testing.assert_allclose(found.mean, evidence.mean(axis=0), atol=1e-9)


def test_a_logistic_regression_has_its_coefficients_as_slopes(correlated, rng):
    X = pd.DataFrame(correlated, columns=["a", "b", "c"])
    model = LogisticRegression().fit(X, rng.random(500) < X["a"])
    found = feature_effect(model, X, "a", kind="evidence")
    slopes = np.diff(found.effect[:, 0]) / np.diff(found.values)
    np.testing.assert_allclose(slopes, model.coef_[0, 0], rtol=1e-8)


def naive_number(predict, frame, name, edges):
    """Return the curve at the edges by loops over bins; `predict` gives a number for each row of a frame."""
    curve = [0.0]
    for low, high in pairwise(edges):
        rows = frame[(frame[name] >= low) & (frame[name] <= high)]
        curve.append(curve[-1] + np.mean(predict(rows.assign(**{name: high})) - predict(rows.assign(**{name: low}))))
    return np.array(curve)


def test_a_network_has_the_effects_of_a_naive_computation(rng):
    X = pd.DataFrame(rng.normal(size=(200, 3)), columns=["a", "b", "c"])
    y = np.where(X["a"] + 0.5 * X["b"] ** 2 > 0.3, "yes", "no")
    model = LTCNClassifier(max_iter=3).fit(X, y)
    found = feature_effect(model, X, "a", bins=6)
    expected = naive_number(lambda rows: model.predict_proba(rows)[:, 1], X, "a", found.values)
    np.testing.assert_allclose(found.effect[:, 0] - found.effect[0, 0], expected, atol=1e-10)
    assert found.effect[-1, 0] - found.effect[0, 0] > 0.3
    assert np.ptp(feature_effect(model, X, "c").effect) < 0.2 * np.ptp(found.effect)
    proof = feature_effect(model, X, "a", bins=6, kind="evidence")

    def log_odds(rows):
        probability = model.predict_proba(rows)
        return np.log(probability[:, 1]) - np.log(probability[:, 0])

    expected = naive_number(log_odds, X, "a", proof.values)
    np.testing.assert_allclose(proof.effect[:, 0] - proof.effect[0, 0], expected, atol=1e-8)


def test_raw_columns_have_the_effects_of_a_naive_computation(tabular):
    model, X = tabular

    def predict(rows):
        return model.predict_proba(rows)[:, 1]

    age = feature_effect(model, X, "age", bins=6)
    assert np.isnan(age.values[-1])
    assert age.has_missing
    expected = naive_number(predict, X, "age", age.values[:-1])
    np.testing.assert_allclose(age.effect[:-1, 0] - age.effect[0, 0], expected, atol=1e-10)
    assert age.rows[-1] == X["age"].isna().sum()
    sex = feature_effect(model, X, "sex")
    assert sex.values.tolist() == ["female", "male"]
    change = predict(X.assign(sex="male")) - predict(X.assign(sex="female"))
    assert sex.effect[1, 0] - sex.effect[0, 0] == pytest.approx(change.mean(), abs=1e-10)
    assert sex.rows.tolist() == X["sex"].value_counts()[["female", "male"]].tolist()
    old = feature_effect(model, X, "old")
    assert old.values.tolist() == [False, True]
    change = predict(X.assign(old=True)) - predict(X.assign(old=False))
    assert old.effect[1, 0] - old.effect[0, 0] == pytest.approx(change.mean(), abs=1e-10)


def test_each_category_and_the_missing_one_have_a_bar_and_their_mean_is_the_mean_prediction(tabular):
    model, X = tabular
    found = feature_effect(model, X, "deck")
    assert found.values.tolist() == ["A", "B", "C", None]
    assert found.labels == ["A", "B", "C", "missing"]
    count = X["deck"].value_counts()
    assert found.rows.tolist() == [count["A"], count["B"], count["C"], X["deck"].isna().sum()]
    mean = model.predict_proba(X)[:, 1].mean()
    assert np.average(found.effect[:, 0], weights=found.rows) == pytest.approx(mean, abs=1e-10)
    assert found.mean[0] == pytest.approx(mean, abs=1e-10)


def test_a_column_of_many_categories_is_mapped_in_time(rng):
    X = pd.DataFrame({"town": [f"t{k}" for k in np.repeat(np.arange(150), 4)], "size": rng.normal(size=600)})
    model = TabularClassifier(LTCNClassifier(max_iter=1), max_categories=200).fit(X, X["size"] > 0)
    found = pair_effect(model, X, ("town", "size"))
    assert found.effect.shape[:2] == (150, 11)
    assert found.rows.sum() == 600


def test_a_date_moves_with_all_its_parts():
    column = SimpleNamespace(
        kind="date", missing=True, first=86_400.0 * 18_262, parts=("year", "month", "days since the first")
    )
    feature = Feature("sold", np.array([1, 2, 3, 4]), column)
    rows = np.array([[9, 2020, 1, 0.0, 0], [9, 2020, 1, 1.5, 0], [9, 2021, 2, 31 + 366, 0], [9, 2020, 1, 5, 1]])
    assert feature.is_number
    np.testing.assert_allclose(feature.numbers(rows), [18_262, 18_263.5, 18_659, np.nan])
    values = feature.values(rows[:, feature.places])
    assert values.tolist()[1:] == [datetime(2020, 1, 2, 12), datetime(2021, 2, 1), None]
    np.testing.assert_allclose(axis_numbers(values), feature.numbers(rows))
    clock = Feature("at", np.array([0]), SimpleNamespace(kind="date", missing=False, first=3_600.0, parts=("hour",)))
    assert clock.values(np.array([[1.0], [13.5]])).tolist() == [1.0, 13.5]


def test_dates_have_the_effects_of_a_naive_computation(rng):
    day = pd.Timestamp("2020-01-15") + pd.to_timedelta(rng.integers(0, 900, 400), unit="D")
    X = pd.DataFrame({"sold": day, "size": rng.normal(size=400)})
    X.loc[rng.random(400) < 0.1, "sold"] = pd.NaT
    y = np.where(X["sold"] > pd.Timestamp("2021-06-01"), "late", "not late")
    model = TabularClassifier(LTCNClassifier(max_iter=2)).fit(X, y)
    found = feature_effect(model, X, "sold", bins=6, classes=["late"])
    assert found.is_date
    assert found.labels[-1] == "missing"
    points = pd.to_datetime(found.values[:-1])
    expected = naive_number(lambda rows: model.predict_proba(rows)[:, 0], X, "sold", points)
    np.testing.assert_allclose(found.effect[:-1, 0] - found.effect[0, 0], expected, atol=1e-10)
    assert found.labels[0] == str(X["sold"].min().date())
    assert found.effect[-2, 0] - found.effect[0, 0] > 0.5


@pytest.mark.filterwarnings("ignore:Values that fit did not see")
def test_rare_and_unseen_categories_are_bars_of_their_own(rng):
    letters = rng.choice(list("abcdef"), 300, p=[0.4, 0.3, 0.15, 0.05, 0.05, 0.05])
    X = pd.DataFrame({"letter": letters, "size": rng.normal(size=300)})
    y = (X["size"] > 0) | (X["letter"] == "a")
    model = TabularClassifier(LTCNClassifier(max_iter=2), max_categories=4).fit(X, y)
    assert feature_effect(model, X, "letter").labels == ["a", "b", "c", "other"]
    model = TabularClassifier(LTCNClassifier(max_iter=2)).fit(X, y)
    new = pd.concat([X, pd.DataFrame({"letter": ["z"], "size": [0.1]})])
    with_unseen = feature_effect(model, new, "letter")
    assert with_unseen.labels == [*"abcdef", "any other value"]
    assert with_unseen.rows[-1] == 1


def test_a_table_of_numbers_acts_like_its_network(rng):
    X = pd.DataFrame(rng.normal(size=(120, 3)), columns=["a", "b", "c"])
    y = X["a"] * X["b"] > 0
    network = LTCNClassifier(max_iter=2, terms=3)
    one, other = TabularClassifier(network).fit(X, y), network.fit(X, y)
    for name in X:
        np.testing.assert_array_equal(feature_effect(one, X, name).effect, feature_effect(other, X, name).effect)
    pair = pair_effect(one, X, ("a", "b"))
    np.testing.assert_array_equal(pair.effect, pair_effect(other, X, ("a", "b")).effect)


def test_without_rows_the_kept_training_rows_are_used(rng):
    X = np.round(rng.normal(size=(60, 2)), 1)
    y = X[:, 0] > 0
    weight = rng.integers(1, 4, 60).astype(float)
    model = LTCNClassifierCV().fit(X, y, sample_weight=weight)
    found, given = feature_effect(model, None, "x0"), feature_effect(model, X, "x0", sample_weight=weight)
    np.testing.assert_allclose(found.effect, given.effect, atol=1e-12)
    np.testing.assert_allclose(found.rows, given.rows)
    table = TabularClassifier(LTCNClassifier()).fit(pd.DataFrame(X), y)
    assert feature_effect(table, None, "0").rows.sum() == 60


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_neither_order_nor_copies_nor_absent_rows_matter(seed, max_rows):
    rng = np.random.default_rng(seed)
    X = np.round(rng.normal(size=(25, 2)), 1)
    model = Known(lambda a, b: 1 / (1 + np.exp(-a * b)))
    weight = rng.integers(0, 3, 25).astype(float)
    weight[0] = 1
    order = rng.permutation(np.repeat(np.arange(25), weight.astype(int)))
    found = feature_effect(model, X, "x0", sample_weight=weight, max_rows=max_rows)
    again = feature_effect(model, X[order], "x0", max_rows=max_rows)
    np.testing.assert_array_equal(found.values, again.values)
    np.testing.assert_array_equal(found.effect, again.effect)
    np.testing.assert_array_equal(found.low, again.low)
    pair, pair_again = (
        pair_effect(model, X, ("x0", "x1"), sample_weight=weight, max_rows=max_rows),
        pair_effect(model, X[order], ("x0", "x1"), max_rows=max_rows),
    )
    np.testing.assert_array_equal(pair.effect, pair_again.effect)


def test_a_constant_feature_has_one_point_at_the_mean(rng):
    X = np.c_[np.full(50, 3.0), rng.normal(size=50)]
    model = Known(lambda a, b: 1 / (1 + np.exp(-b)))
    found = feature_effect(model, X, "x0")
    assert found.values.tolist() == [3.0]
    assert found.effect[0, 0] == pytest.approx(model.predict_proba(X)[:, 1].mean(), abs=1e-12)
    pair = pair_effect(model, X, ("x0", "x1"))
    assert pair.effect.shape[0] == 1
    np.testing.assert_allclose(np.diff(pair.effect[0, :, 0]) > 0, True)


def test_the_cost_is_bounded_by_max_rows(rng):
    X = rng.normal(size=(5000, 3))
    model = Known(lambda a, b, c: 1 / (1 + np.exp(-a * b * c)))
    found = feature_effect(model, X, "x0")
    assert model.asked <= 4 * 1000
    assert found.rows.sum() == 1000
    model.asked = 0
    feature_effect(model, X, "x0", max_rows=100)
    assert model.asked <= 4 * 100
    model.asked = 0
    pair_effect(model, X, ("x0", "x1"))
    assert model.asked <= 10 * 1000


def test_two_features_of_a_known_function_are_its_surface(correlated):
    model = Known(lambda a, b, c: 0.1 + 0.3 * a + 0.1 * b + 0.3 * a * b + 0.1 * c**2)
    found = pair_effect(model, correlated, ("x0", "x1"))
    a, b = np.meshgrid(*found.values, indexing="ij")
    known = ~np.isnan(found.effect[..., 0])
    apart = found.effect[..., 0] - (0.3 * a + 0.1 * b + 0.3 * a * b)
    assert np.ptp(apart[known]) < 1e-10
    assert not known.all()
    assert (found.rows[~known] == 0).all()
    assert found.rows.sum() == 500


def test_a_category_and_a_number_are_mapped_together(tabular):
    model, X = tabular
    found = pair_effect(model, X, ("sex", "age"), bins=4)
    assert found.effect.shape == (2, 5, 1)
    assert found.are_numbers == (False, True)
    present = X[X["age"].notna()]
    assert found.rows.sum() == len(present)
    assert found.mean[0] == pytest.approx(model.predict_proba(present)[:, 1].mean(), abs=1e-10)
    by_sex = found.effect[0, :, 0] - found.effect[1, :, 0]
    assert (by_sex > 0.3).all()
    both = pair_effect(model, X, ("deck", "port"))
    assert both.labels == (["A", "B", "C", "missing"], ["C", "Q", "S", "missing"])


def test_frames_are_tidy(tabular):
    model, X = tabular
    found = feature_effect(model, X, "deck", classes=["no", "yes"])
    frame = found.frame()
    assert frame.columns.tolist() == ["feature", "class", "value", "effect", "low", "high", "rows"]
    assert frame["class"].tolist() == ["no"] * 4 + ["yes"] * 4
    assert frame.loc[frame["class"] == "yes", "effect"].tolist() == found.effect[:, 1].tolist()
    np.testing.assert_allclose(found.effect.sum(axis=1), 1.0, atol=1e-10)
    assert ((frame["low"] >= 0) & (frame["high"] <= 1)).all()
    assert frame.groupby("class")["rows"].sum().tolist() == [300.0, 300.0]
    pair = pair_effect(model, X, ("sex", "port")).frame()
    assert pair.columns.tolist() == ["class", "sex", "port", "effect", "interaction", "rows"]
    assert len(pair) == 8
    assert (
        pair.loc[(pair["sex"] == "male") & (pair["port"] == "S"), "rows"].item()
        == ((X["sex"] == "male") & (X["port"] == "S")).sum()
    )


def test_several_features_and_pairs_are_asked_for_at_once(tabular):
    model, X = tabular
    found = effects_of(model, X, ["age", ("age", "sex")], classes=["no"])
    assert [getattr(one, "feature", None) or one.features for one in found] == ["age", ("age", "sex")]
    assert {label for one in found for label in one.classes} == {"no"}
    assert [one.feature for one in effects_of(model, X, None)] == most_relevant(model)
    expected = np.argsort(-model.relevance(), kind="stable")[:6]
    assert most_relevant(model) == [X.columns[j] for j in expected]


def test_what_cannot_be_answered_is_said(tabular, correlated):
    model, X = tabular
    known = Known(lambda a, b, c: a)
    with pytest.raises(
        ValueError, match=r"There is no feature 'agee' \(did you mean 'age'\?\): the model has columns 'age'"
    ):
        feature_effect(model, X, "agee")
    with pytest.raises(ValueError, match=r"'maybe' is no class of the model: the classes are 'no', 'yes'"):
        feature_effect(model, X, "age", classes=["maybe"])
    with pytest.raises(ValueError, match="classes is empty"):
        feature_effect(model, X, "age", classes=[])
    with pytest.raises(ValueError, match="kind='odds' is unknown"):
        feature_effect(model, X, "age", kind="odds")
    with pytest.raises(ValueError, match="bins=0 must be a whole number"):
        feature_effect(model, X, "age", bins=0)
    with pytest.raises(ValueError, match="at least one non-zero"):
        feature_effect(model, X, "age", sample_weight=np.zeros(len(X)))
    with pytest.raises(ValueError, match="give X too"):
        feature_effect(model, None, "age", sample_weight=np.ones(3))
    with pytest.raises(ValueError, match="two different features"):
        pair_effect(model, X, ("age", "age"))
    with pytest.raises(ValueError, match="features is empty"):
        effects_of(model, X, [])
    with pytest.raises(ValueError, match="keeps no training rows"):
        feature_effect(known, None, "x0")
    with pytest.raises(ValueError, match="name them in features"):
        effects_of(known, correlated, None)
    with pytest.raises(TypeError, match="with predict_proba, not a BaseEstimator"):
        feature_effect(BaseEstimator(), correlated, "x0")
    unused = TabularClassifier(LTCNClassifier(), drop=["deck"]).fit(X, model.predict(X))
    with pytest.raises(ValueError, match="Column 'deck' is not used by the model"):
        feature_effect(unused, X, "deck")
    absent = X.assign(age=np.nan)
    with pytest.raises(ValueError, match="no row in which neither 'age' nor 'fare' is missing"):
        pair_effect(model, absent, ("age", "fare"))
    assert feature_effect(model, absent, "age").labels == ["missing"]
