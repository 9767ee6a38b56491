import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_wine
from sklearn.dummy import DummyClassifier
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from cogmap import LTCNClassifier, TabularClassifier
from cogmap.quality.evaluation import (
    Outcomes,
    calibration,
    class_codes,
    cross_validate,
    evaluate,
    fold_fitter,
    from_probabilities,
)


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


class Moved(ClassifierMixin, BaseEstimator):
    """A model whose classes are not the most probable ones, as a metric may want them."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        return np.tile([0.6, 0.3, 0.1], (len(X), 1))

    def predict(self, X):
        return self.classes_[np.arange(len(X)) % 3]


def test_predicted_classes_are_those_of_predict(wine):
    X, y = wine
    found = evaluate(Moved().fit(X, y), X, y)
    predicted = Moved().fit(X, y).predict(X)
    assert found.accuracy == pytest.approx(metrics.accuracy_score(y, predicted))
    np.testing.assert_array_equal(found.confusion, metrics.confusion_matrix(y, predicted))
    assert found.log_loss == pytest.approx(metrics.log_loss(y, Moved().fit(X, y).predict_proba(X)))
    assert sum(b.n_rows * b.mean_probability for b in found.calibration) == pytest.approx(
        sum({0: 0.6, 1: 0.3, 2: 0.1}[i % 3] for i in range(len(y)))
    )
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    expected = cross_val_predict(Moved(), X, y, cv=folds)
    crossed = cross_validate(Moved(), X, y, n_folds=3)
    np.testing.assert_array_equal(crossed.confusion, metrics.confusion_matrix(y, expected))


def test_the_majority_is_that_of_scikit_learn(wine):
    X, y = wine
    found = evaluate(LTCNClassifier().fit(X, y), X, y)
    majority = DummyClassifier(strategy="prior").fit(X, y)
    assert found.majority == majority.predict(X)[0]
    assert found.majority_accuracy == pytest.approx(majority.score(X, y))
    assert found.majority_log_loss == pytest.approx(metrics.log_loss(y, majority.predict_proba(X)))
    assert found.remark == ""
    lines = {line[:20].strip(): line[20:].split() for line in str(found).splitlines()[:7]}
    kappa = metrics.cohen_kappa_score(y, majority.predict(X))
    balanced = metrics.balanced_accuracy_score(y, majority.predict(X))
    assert lines["accuracy"][1] == f"{majority.score(X, y):.3f}"
    assert (lines["kappa"][1], lines["balanced accuracy"][1]) == (f"{kappa:.3f}", f"{balanced:.3f}")
    assert lines["log loss"] == [f"{found.log_loss:.3f}", f"{found.majority_log_loss:.3f}"]


def test_a_model_that_is_no_better_than_the_majority_is_told_so(wine):
    X, y = wine
    same = evaluate(DummyClassifier(strategy="prior").fit(X, y), X, y)
    assert same.remark == (
        "This is no better than always naming 'class_1', the most frequent class: accuracy 0.399 against 0.399 and log "
        "loss 1.086 against 1.086."
    )
    assert same.remark in str(same)
    probability = np.array([[0.9, 0.1], [0.9, 0.1], [0.9, 0.1], [0.6, 0.4]])
    codes = np.array([0, 0, 0, 1])
    assert from_probabilities(probability, codes, ["no", "yes"]).remark.endswith("accuracy 0.750 against 0.750.")
    sure = np.array([[1, 0], [1, 0], [1, 0], [0, 1.0]])
    assert from_probabilities(sure, codes, ["no", "yes"]).remark == ""


def test_rows_added_some_at_a_time_are_worth_what_they_are_at_once(rng):
    probability, codes = rng.dirichlet(np.ones(3), 500), rng.integers(0, 3, 500)
    predicted = np.where(rng.random(500) < 0.2, codes, probability.argmax(axis=1))
    outcomes = Outcomes(3)
    for begin in range(0, 500, 77):
        rows = slice(begin, begin + 77)
        outcomes.add(probability[rows], codes[rows], predicted[rows])
    parts, whole = outcomes.evaluation("abc"), from_probabilities(probability, codes, list("abc"), predicted)
    assert (parts.confusion == metrics.confusion_matrix(codes, predicted)).all()
    assert parts.log_loss == pytest.approx(metrics.log_loss(codes, probability), rel=1e-13)
    assert parts.kappa == pytest.approx(metrics.cohen_kappa_score(codes, predicted), rel=1e-13)
    assert parts.balanced_accuracy == pytest.approx(metrics.balanced_accuracy_score(codes, predicted), rel=1e-13)
    for one, other in zip(parts.calibration, whole.calibration, strict=True):
        assert (one.n_rows, one.accuracy) == (other.n_rows, other.accuracy)
        assert one.mean_probability == pytest.approx(other.mean_probability, rel=1e-13)
