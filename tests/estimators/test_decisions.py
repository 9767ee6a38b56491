"""What `predict` and `predict_proba` promise: calibrated probabilities, and no answer where the rows say nothing."""

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy.special import log_softmax, softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_wine, make_classification
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, cohen_kappa_score, log_loss
from sklearn.model_selection import StratifiedKFold, cross_val_predict
from sklearn.preprocessing import MinMaxScaler

from cogmap import LTCNClassifier, LTCNClassifierCV, NoInformationWarning, TabularClassifier

CLASSIFIERS = [LTCNClassifier, LTCNClassifierCV]
PLAIN = [LTCNClassifier(), LTCNClassifierCV(cases=False, terms=None, pairs=False)]


def noise(seed):
    rng = np.random.default_rng(seed)
    return rng.normal(size=(80, 5)), rng.integers(0, 2, 80)


def one_term_a_row(seed):
    X = np.random.default_rng(seed).normal(size=(60, 1))
    return X, (X[:, 0] > 0).astype(int)


def assert_shares(model, y, X):
    shares = np.bincount(y) / len(y)
    np.testing.assert_allclose(model.predict_proba(X), np.tile(shares, (len(X), 1)), rtol=1e-12)


@pytest.mark.parametrize("seed", range(10))
def test_terms_that_single_rows_determine_do_not_invert_the_model(seed):
    X, y = one_term_a_row(seed)
    with pytest.warns(NoInformationWarning, match="nothing in these rows that tells the classes apart"):
        model = LTCNClassifier(terms=60).fit(X, y)
    assert_shares(model, y, X)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
def test_the_identity_matrix_says_nothing(classifier):
    X, y = np.eye(40), np.arange(40) % 2
    with pytest.warns(NoInformationWarning):
        model = classifier().fit(X, y)
    assert_shares(model, y, X)


@pytest.mark.parametrize(
    ("classifier", "seed"), [*((LTCNClassifier, k) for k in range(10)), *((LTCNClassifierCV, k) for k in range(4))]
)
def test_noise_is_never_answered_the_other_way_round(classifier, seed):
    """Either the shares with a warning, or a weak model that is at least right about its own rows."""
    X, y = noise(seed)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = classifier().fit(X, y)
    if any(issubclass(warning.category, NoInformationWarning) for warning in caught):
        assert_shares(model, y, X)
    assert model.score(X, y) >= np.bincount(y).max() / len(y) - 0.05
    new = np.random.default_rng(seed + 100).normal(size=(200, 5))
    assert model.predict_proba(new).max() < 0.95


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("load", [load_wine, load_breast_cancer])
def test_scores_are_log_odds(classifier, load):
    X, y = load(return_X_y=True)
    model = classifier().fit(X[::3], y[::3])
    scores, probability = model.decision_function(X), model.predict_proba(X)
    if scores.ndim == 1:
        np.testing.assert_allclose(scores, np.log(probability[:, 1] / probability[:, 0]), rtol=1e-9, atol=1e-9)
    else:
        np.testing.assert_allclose(softmax(scores, axis=1), probability, rtol=1e-12)
        np.testing.assert_allclose(log_softmax(scores, axis=1), np.log(probability), rtol=1e-9, atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), model.classes_[probability.argmax(axis=1)])


@pytest.mark.parametrize("classifier", PLAIN, ids=lambda each: type(each).__name__)
def test_a_metric_moves_the_decision_and_no_probability(classifier):
    X, y = make_classification(5000, 6, weights=[0.85], flip_y=0.1, class_sep=0.6, random_state=3)
    train, test = np.arange(5000) % 5 == 0, np.arange(5000) % 5 > 0
    plain = clone(classifier).fit(X[train], y[train])
    score = {"kappa": cohen_kappa_score, "balanced_accuracy": balanced_accuracy_score}
    for metric, function in score.items():
        moved = clone(classifier).set_params(decision_metric=metric).fit(X[train], y[train])
        np.testing.assert_array_equal(moved.predict_proba(X), plain.predict_proba(X))
        gain = function(y[test], moved.predict(X[test])) - function(y[test], plain.predict(X[test]))
        # Kappa's decision is that of the probabilities where classes are hardly imbalanced.
        assert gain > (0.0 if metric == "balanced_accuracy" else -0.01)
        assert plain.score(X[test], y[test]) >= moved.score(X[test], y[test]) - 0.005


def test_the_default_is_not_worse_than_the_majority_on_imbalanced_classes():
    X, y = make_classification(3000, 8, weights=[0.84], flip_y=0.25, class_sep=0.5, random_state=0)
    folds = StratifiedKFold(3, shuffle=True, random_state=0)
    probability = cross_val_predict(LTCNClassifier(), X, y, cv=folds, method="predict_proba")
    majority = np.bincount(y).max() / len(y)
    assert (probability.argmax(axis=1) == y).mean() > majority
    peer = cross_val_predict(LogisticRegression(), X, y, cv=folds, method="predict_proba")
    assert log_loss(y, probability) < log_loss(y, peer) + 0.005


def penguin_like(rng, n=340):
    """Return a table like Palmer's penguins: three species by four measures, and a rarely missing sex."""
    codes = rng.choice(3, n, p=[0.44, 0.2, 0.36])
    means = np.array([[39, 18.3, 190, 3700], [49, 18.4, 196, 3730], [47.5, 15, 217, 5080]])
    measures = means[codes] + rng.normal(size=(n, 4)) * [2.7, 1.1, 6.5, 420]
    frame = pd.DataFrame(measures, columns=["bill length", "bill depth", "flipper", "mass"])
    frame["island"] = np.where(codes == 2, "Biscoe", rng.choice(["Biscoe", "Dream", "Torgersen"], n))
    frame["sex"] = rng.choice(["female", "male"], n)
    frame.loc[rng.choice(n, n // 31, replace=False), "sex"] = None
    return frame, np.array(["Adelie", "Chinstrap", "Gentoo"])[codes]


@pytest.mark.parametrize(("classifier", "seed"), [*((LTCNClassifier, k) for k in range(3)), (LTCNClassifierCV, 0)])
def test_rare_indicators_make_no_row_certain_of_a_wrong_class(classifier, seed):
    X, y = penguin_like(np.random.default_rng(seed))
    folds = StratifiedKFold(3, shuffle=True, random_state=seed)
    probability = cross_val_predict(TabularClassifier(classifier()), X, y, cv=folds, method="predict_proba")
    own = probability[np.arange(len(y)), np.searchsorted(np.unique(y), y)]
    assert own.min() > 1e-3
    assert log_loss(y, probability) < 0.12


def test_data_that_another_scaler_rounded_is_taken():
    X, y = load_breast_cancer(return_X_y=True)
    scaled = MinMaxScaler().fit_transform(X)
    scaled[0, 3], scaled[1, 4] = 1 + 4e-16, -3e-17
    model = LTCNClassifier(scaling=None).fit(scaled, y)
    clipped = LTCNClassifier(scaling=None).fit(np.clip(scaled, 0, 1), y)
    np.testing.assert_allclose(model.decision_function(scaled), clipped.decision_function(scaled), rtol=1e-9)
    with pytest.raises(ValueError, match=r"column 3 goes from 0 to 1\.001"):
        LTCNClassifier(scaling=None).fit(np.where(scaled > 1, 1.001, scaled), y)


@pytest.mark.parametrize("weight", [1e308, 5e-324, 1e31, 1e-31])
@pytest.mark.parametrize("model", [LTCNClassifier(), LTCNClassifierCV(), LTCNClassifier(alpha=1.0)], ids=str)
def test_weights_that_arithmetic_cannot_hold_are_refused(model, weight):
    X, y = load_wine(return_X_y=True)
    one, all_rows = np.ones(len(y)), np.full(len(y), weight)
    one[7] = weight
    for given, row in ((one, 7), (all_rows, 0)):
        with pytest.raises(
            ValueError, match=re.escape(f"sample_weight is {weight:g} in row {row}: weights count rows")
        ):
            model.fit(X, y, sample_weight=given)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("extreme", [1e300, 1e-300])
def test_class_weights_that_arithmetic_cannot_hold_are_refused(classifier, extreme):
    X, y = load_wine(return_X_y=True)
    with pytest.raises(ValueError, match=re.escape("must give every class a weight from 1e-30 to 1e+30")):
        classifier(class_weight={0: extreme, 1: 1.0, 2: 1.0}).fit(X, y)


@pytest.mark.parametrize("classifier", CLASSIFIERS)
@pytest.mark.parametrize("weight", [1e-28, 1e28])
@pytest.mark.filterwarnings("ignore::cogmap.NoInformationWarning")
def test_weights_within_the_range_give_finite_scores(classifier, weight):
    X, y = (each[::4] for each in load_wine(return_X_y=True))
    mixed = np.where(np.arange(len(y)) % 3 == 0, weight, 1.0)
    for given in (np.full(len(y), weight), mixed):
        assert np.isfinite(classifier().fit(X, y, sample_weight=given).decision_function(X)).all()


def test_a_leverage_of_exactly_a_half_is_not_left_to_rounding():
    """Pairs of rows with a value of their own: other batches and orders must gate them alike."""
    values = np.repeat(np.arange(14), 2)
    X = np.column_stack([values == k for k in range(13)]).astype(float)
    y = (values % 3 == 0).astype(int)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NoInformationWarning)
        model = LTCNClassifier(max_iter=3).fit(X, y)
        order = np.random.default_rng(0).permutation(len(X))
        again = LTCNClassifier(max_iter=3).fit(X[order], y[order])
    scores = model.decision_function(X)
    alone = np.concatenate([model.decision_function(X[[i]]) for i in range(len(X))])
    for other in (again.decision_function(X), alone):
        np.testing.assert_allclose(other, scores, rtol=0, atol=1e-6 * np.abs(scores).max())
