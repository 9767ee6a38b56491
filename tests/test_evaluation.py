import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from cogmap import LTCNClassifier, TabularClassifier
from cogmap.evaluation import calibration, class_codes, cross_validate, evaluate, fold_fitter


@pytest.fixture(scope="module")
def wine():
    data = load_wine(as_frame=True)
    return data.data[["ash", "magnesium"]], data.target_names[data.target]


def test_scores_are_those_of_scikit_learn(wine):
    X, y = wine
    model = LTCNClassifier().fit(X[::2], y[::2])
    found, predicted = evaluate(model, X[1::2], y[1::2]), model.predict(X[1::2])
    assert found.accuracy == pytest.approx(metrics.accuracy_score(y[1::2], predicted))
    assert found.kappa == pytest.approx(metrics.cohen_kappa_score(y[1::2], predicted))
    assert found.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(y[1::2], predicted))
    assert found.log_loss == pytest.approx(metrics.log_loss(y[1::2], model.predict_proba(X[1::2])))
    np.testing.assert_array_equal(found.confusion, metrics.confusion_matrix(y[1::2], predicted))
    assert found.n_rows == len(X[1::2])


def test_cross_validation_is_that_of_scikit_learn(wine):
    X, y = wine
    found = cross_validate(LTCNClassifier(), X, y, n_folds=4, seed=3)
    folds = StratifiedKFold(4, shuffle=True, random_state=3)
    probability = cross_val_predict(LTCNClassifier(), X, y, cv=folds, method="predict_proba")
    assert found.log_loss == pytest.approx(metrics.log_loss(y, probability))
    assert found.accuracy == pytest.approx(metrics.accuracy_score(y, np.unique(y)[probability.argmax(1)]))


def test_calibration_error_is_the_mean_distance_over_rows(rng):
    probability = np.r_[rng.uniform(0.5, 1, 300), 1.0, 0.6]
    right = rng.random(302) < probability
    bins = calibration(probability, right)
    place = pd.cut(probability, np.linspace(0, 1, 11))
    expected = pd.DataFrame({"p": probability, "r": right}).groupby(place, observed=True).agg(["size", "mean"])
    assert [b.n_rows for b in bins] == expected["p", "size"].tolist()
    np.testing.assert_allclose([b.accuracy for b in bins], expected["r", "mean"])
    np.testing.assert_allclose([b.mean_probability for b in bins], expected["p", "mean"])


def test_a_perfect_model_has_no_calibration_error_in_sure_predictions():
    (only,) = calibration(np.ones(5), np.ones(5, dtype=bool))
    assert (only.low, only.high, only.accuracy, only.mean_probability) == (0.9, 1.0, 1.0, 1.0)


def test_labels_match_whatever_their_type():
    classes = np.array([1, 2])
    for y in ([1.0, 2.0, 1.0], ["1", "2", "1"], [1, 2, 1]):
        np.testing.assert_array_equal(class_codes(y, classes), [0, 1, 0])
    with pytest.raises(ValueError, match="1 row of class '3', which the model does not know: its classes are '1', '2'"):
        class_codes([1, 3], classes)


def test_rare_classes_are_named(wine):
    X, _ = wine
    y = np.array(["a"] * 100 + ["b"] * 76 + ["c"] * 2)
    with pytest.raises(ValueError, match="Class 'c' has 2 rows, fewer than 5 folds"):
        cross_validate(LTCNClassifier(), X, y)


def test_text_has_every_number(wine):
    X, y = wine
    text = str(evaluate(LTCNClassifier().fit(X, y), X, y))
    for part in ("accuracy", "kappa", "balanced accuracy", "log loss", "calibration error", "class_0", "true \\ pred"):
        assert part in text


def test_columns_are_decided_by_the_whole_table_and_not_by_a_fold(rng):
    """In four fifths of the rows all names differ, and no day is after the twelfth."""
    n = 100
    name = np.array([f"n{k}" for k in range(95)] + ["n0"] * 5)
    X = pd.DataFrame(
        {"x": rng.normal(size=n), "name": name, "day": ["13/01/2024", *(f"{k % 12 + 1}/1/2024" for k in range(n - 1))]}
    )
    y = np.where(X["x"] > 0, "a", "b")
    with pytest.raises(ValueError, match=r"Column 'name' looks like free text, it has 95 different values in 100 rows"):
        cross_validate(TabularClassifier(LTCNClassifier()), X, y)
    dropped = cross_validate(TabularClassifier(LTCNClassifier(), drop_unusable=True), X, y)
    by_hand = cross_validate(TabularClassifier(LTCNClassifier(), drop=["name"]), X, y)
    np.testing.assert_array_equal(dropped.confusion, by_hand.confusion)
    assert dropped.log_loss == by_hand.log_loss
    fit = fold_fitter(TabularClassifier(LTCNClassifier(), drop=["name"]), X)
    assert fit(X[1:], y[1:]).columns_[2].format == "day first"


def test_what_is_suspicious_in_a_fold_only_is_not_refused(rng):
    places = [k for k in range(19) for _ in range(3)] + [19 + k // 2 for k in range(28)] + list(range(33, 48))
    X = pd.DataFrame({"x": rng.normal(size=100), "place": [f"p{k}" for k in places]})
    y = np.where(X["x"] > 0, "a", "b")
    train, _ = next(StratifiedKFold(5, shuffle=True, random_state=0).split(X, y))
    with pytest.raises(ValueError, match="Column 'place' looks like free text"):
        TabularClassifier(LTCNClassifier()).fit(X.iloc[train], y[train])
    assert cross_validate(TabularClassifier(LTCNClassifier()), X, y).n_rows == 100


def test_a_category_of_one_fold_only_is_no_news(rng):
    X = pd.DataFrame({"x": rng.normal(size=60), "place": ["rare", *["a", "b"] * 29, "a"]})
    assert cross_validate(TabularClassifier(LTCNClassifier()), X, np.where(X["x"] > 0, "a", "b")).n_rows == 60
