import numpy as np
import pandas as pd
import pytest
from sklearn import metrics
from sklearn.datasets import load_wine
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from cogmap import LTCNClassifier
from cogmap.evaluation import calibration, class_codes, cross_validate, evaluate


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
