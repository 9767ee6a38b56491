import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from ltcn.LTCN import LTCN
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_iris, load_wine, make_classification
from sklearn.feature_selection import SelectFromModel
from sklearn.linear_model import LinearRegression
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler, minmax_scale
from sklearn.utils.estimator_checks import parametrize_with_checks

from cogmap import IllConditionedWarning, LTCNClassifier
from tests import naive

ill_conditioned = pytest.mark.filterwarnings("ignore::cogmap.IllConditionedWarning")


@ill_conditioned
@parametrize_with_checks(
    [
        LTCNClassifier(),
        LTCNClassifier(alpha=1.0, terms=3, activation="tanh", decision_metric="accuracy"),
        LTCNClassifier.paper(),
    ],
)
@pytest.mark.filterwarnings("ignore::cogmap.RestartWarning")  # checks call partial_fit after fit
@pytest.mark.filterwarnings("ignore::cogmap.NoInformationWarning")  # some checks fit noise
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


# Truth: the equations, written naively


def assert_log_odds_of(scores, expected):
    """Assert that scores are the expected ones times one positive factor, which makes them log-odds."""
    factor = np.vdot(expected, scores) / np.vdot(expected, expected)
    assert factor > 0
    np.testing.assert_allclose(scores, factor * expected, atol=1e-8 * np.abs(factor * expected).max())


@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
@pytest.mark.parametrize("inner", ["regression", "slopes"])
@pytest.mark.parametrize("load", [load_iris, load_wine])
def test_scores_equal_the_naive_transcription(load, inner, activation):
    X, y = load(return_X_y=True)
    X = minmax_scale(X)
    model = LTCNClassifier.paper(phi=0.6, max_iter=2, activation=activation, inner=inner, tol=0).fit(X[::2], y[::2])
    low, span = X[::2].min(0), np.ptp(X[::2], axis=0)
    train, test = (np.clip((part - low) / span, 0, 1) for part in (X[::2], X[1::2]))
    expected = naive.scores(train, y[::2], test, phi=0.6, n_iter=2, activation=activation, inner=inner)
    assert_log_odds_of(model.decision_function(X[1::2]), expected)


def test_phi_zero_is_multi_output_linear_regression(iris):
    X, y = iris
    model = LTCNClassifier.paper(phi=0).fit(X, y)
    target = naive.f_inverse(np.eye(3)[y], "sigmoid")
    expected = LinearRegression().fit(X, target).predict(X)
    assert model.n_iter_ == 0
    assert_log_odds_of(model.decision_function(X), expected)


@ill_conditioned
@pytest.mark.parametrize("load", [load_iris, load_wine, load_breast_cancer])
def test_same_classes_as_the_authors_package(load):
    X, y = load(return_X_y=True)
    X = minmax_scale(X)
    authors = LTCN(T=2, phi=0.8, method="inverse").fit(X[::2], np.eye(y.max() + 1)[y[::2]])
    ours = LTCNClassifier.paper(max_iter=2, inner="slopes", scaling=None, tol=0).fit(X[::2], y[::2])
    agreement = (authors.predict(X[1::2]).argmax(1) == ours.predict(X[1::2])).mean()
    assert agreement >= 0.999


@ill_conditioned
@pytest.mark.parametrize("name", ["vehicle", "yeast", "segment", "mfeat-zernike", "waveform", "winequality-red"])
def test_same_classes_as_the_authors_package_on_the_papers_data(name, paper_data):
    X, labels = paper_data(name)
    classes, y = np.unique(labels, return_inverse=True)
    authors = LTCN(T=2, phi=0.8, method="inverse").fit(X[::2], np.eye(len(classes))[y[::2]])
    ours = LTCNClassifier.paper(max_iter=2, inner="slopes", scaling=None, tol=0).fit(X[::2], labels[::2])
    agreement = (classes[authors.predict(X[1::2]).argmax(1)] == ours.predict(X[1::2])).mean()
    assert agreement >= 0.999


@ill_conditioned
def test_only_the_final_state_suffers_from_a_unique_fixed_point(paper_data):
    """The paper's first claim, on vehicle: with φ = 1 and slopes all rows meet in one point."""
    X, y = paper_data("vehicle")
    kappa = {}
    for readout in ("final", "trajectory"):
        model = LTCNClassifier.paper(phi=1, inner="slopes", readout=readout).fit(X[::2], y[::2])
        kappa[readout] = cohen_kappa_score(y[1::2], model.predict(X[1::2]))
    assert model.diagnose(X).unique
    assert kappa["final"] == 0
    assert kappa["trajectory"] > 0.6


# The estimator in scikit-learn's company


def test_two_fits_give_the_same_bits(iris):
    first, second = (LTCNClassifier(max_iter=5).fit(*iris) for _ in range(2))
    assert first.decision_function(iris[0]).tobytes() == second.decision_function(iris[0]).tobytes()
    assert first.inner_weights_.tobytes() == second.inner_weights_.tobytes()


def test_class_count_is_the_weight_of_each_class(iris):
    X, y = iris
    weight = np.arange(len(y)) % 4
    np.testing.assert_array_equal(LTCNClassifier(max_iter=1).fit(X, y).class_count_, [50, 50, 50])
    weighted = LTCNClassifier(max_iter=1, class_weight="balanced").fit(X, y, sample_weight=weight)
    np.testing.assert_array_equal(weighted.class_count_, [weight[y == k].sum() for k in range(3)])


PROMISE = 1e-6  # how far a score may move, as a share of the largest


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_a_row_scores_the_same_alone_and_in_any_batch(load):
    X, y = load(return_X_y=True)
    model = LTCNClassifier().fit(X, y)
    together = model.decision_function(X)
    order = np.random.default_rng(0).permutation(len(X))
    alone = np.concatenate([model.decision_function(X[i : i + 1]) for i in range(40)])
    margin = PROMISE * np.abs(together).max()
    np.testing.assert_allclose(model.decision_function(X[order]), together[order], rtol=0, atol=margin)
    np.testing.assert_allclose(alone, together[:40], rtol=0, atol=margin)


@pytest.mark.parametrize(
    "name",
    ["banana", "vehicle", "yeast"]
    + [pytest.param(name, marks=pytest.mark.slow) for name in ("segment", "cardiotocography-10", "mfeat-zernike")],
)
def test_the_order_of_the_training_rows_does_not_matter(name, paper_data):
    X, y = paper_data(name)
    order = np.random.default_rng(0).permutation(len(X))
    scores = LTCNClassifier().fit(X, y).decision_function(X)
    permuted = LTCNClassifier().fit(X[order], y[order]).decision_function(X)
    np.testing.assert_allclose(permuted, scores, rtol=0, atol=PROMISE * np.abs(scores).max())


@pytest.mark.parametrize("class_weight", [None, "balanced", {0: 2.0}])
def test_weights_are_frequencies(iris, class_weight):
    X, y = iris
    times = np.random.default_rng(0).integers(0, 3, len(X))
    times[X[:, 0] == X[:, 0].max()] = 0
    model = LTCNClassifier(max_iter=2, class_weight=class_weight)
    weighted = clone(model).fit(X, y, sample_weight=times)
    repeated = clone(model).fit(np.repeat(X, times, axis=0), np.repeat(y, times))
    np.testing.assert_allclose(weighted.decision_function(X), repeated.decision_function(X), rtol=1e-8, atol=1e-8)


def test_class_weight_equals_weighting_the_rows(iris):
    X, y = iris
    model = LTCNClassifier(alpha=1.0, decision="argmax")
    by_class = clone(model).set_params(class_weight={0: 1, 1: 5, 2: 1}).fit(X, y)
    by_row = clone(model).fit(X, y, sample_weight=np.array([1, 5, 1])[y])
    # Leaving out a row takes away five times as much of the one as of the other, so that calibrations differ.
    assert_log_odds_of(by_class.decision_function(X), by_row.decision_function(X))


@pytest.mark.parametrize("load", [load_iris, load_breast_cancer])
def test_probabilities_sum_to_one_and_agree_with_predict(load):
    X, y = load(return_X_y=True)
    model = LTCNClassifier(max_iter=3).fit(X, y)
    probability = model.predict_proba(X)
    np.testing.assert_allclose(probability.sum(1), 1)
    assert (model.classes_[probability.argmax(1)] == model.predict(X)).all()


def test_probabilities_agree_with_predict_where_rounding_ties_them(iris):
    model = LTCNClassifier(max_iter=1).fit(*iris)
    model._scores = lambda X: np.array([[0.0, 1e-21, -1.0]])
    assert model.predict_proba(iris[0][:1]).argmax() == 1


def test_binary_decision_is_the_difference_of_the_two_scores():
    X, y = load_breast_cancer(return_X_y=True)
    model = LTCNClassifier(max_iter=1).fit(X, y)
    decision = model.decision_function(X)
    assert decision.shape == (len(X),)
    assert (model.classes_[(decision > 0).astype(int)] == model.predict(X)).all()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_feature_names_from_frames(frame):
    data = load_iris()
    X = frame(dict(zip(data.feature_names, data.data.T, strict=True)))
    model = LTCNClassifier(max_iter=2).fit(X, np.array(data.target_names)[data.target])
    assert list(model.feature_names_in_) == data.feature_names
    assert list(model.concept_names_) == data.feature_names
    assert set(model.predict(X)) <= set(data.target_names)
    with pytest.raises(ValueError, match="feature names"):
        model.predict(X.rename({"petal width (cm)": "petal"}) if frame is pl.DataFrame else X.rename(columns=str.upper))


def test_works_with_the_tools_of_scikit_learn(iris):
    X, y = iris
    pipeline = make_pipeline(StandardScaler(), LTCNClassifier(max_iter=2))
    search = GridSearchCV(pipeline, {"ltcnclassifier__phi": [0.2, 0.8]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.9
    assert cross_validate(clone(pipeline), X, y, cv=3)["test_score"].mean() > 0.9
    calibrated = CalibratedClassifierCV(LTCNClassifier(max_iter=2), cv=3).fit(X, y)
    assert calibrated.score(X, y) > 0.9
    selector = SelectFromModel(LTCNClassifier(max_iter=2), max_features=2).fit(X, y)
    assert selector.transform(X).shape == (150, 2)
    model = LTCNClassifier(max_iter=2).fit(X, y)
    assert (pickle.loads(pickle.dumps(model)).decision_function(X) == model.decision_function(X)).all()


def test_sample_weight_is_routed():
    X, y = load_iris(return_X_y=True)
    weight = np.where(y == 0, 3.0, 1.0)
    with sklearn.config_context(enable_metadata_routing=True):
        model = LTCNClassifier(max_iter=2).set_fit_request(sample_weight=True).set_score_request(sample_weight=False)
        routed = cross_validate(
            model, X, y, cv=StratifiedKFold(3), params={"sample_weight": weight}, return_estimator=True
        )["estimator"][0]
    train = next(StratifiedKFold(3).split(X, y))[0]
    direct = LTCNClassifier(max_iter=2).fit(X[train], y[train], sample_weight=weight[train])
    assert (routed.outer_weights_ == direct.outer_weights_).all()


@ill_conditioned
def test_one_hundred_classes(paper_data):
    X, y = paper_data("plant-margin")
    model = LTCNClassifier(inner="slopes", max_iter=5).fit(X[::2], y[::2])
    assert len(model.classes_) == 100
    assert model.score(X[1::2], y[1::2]) > 0.7


def test_rows_out_of_range_are_clipped_to_the_training_range(iris):
    X, y = iris
    model = LTCNClassifier(max_iter=3).fit(X, y)
    beyond = np.array([[-5.0, 9.0, 0.5, 2.0]])
    assert (model.decision_function(beyond) == model.decision_function(np.clip(beyond, 0, 1))).all()


def test_given_inner_weights_are_used_as_they_are(iris):
    W = np.random.default_rng(0).normal(size=(4, 4))
    model = LTCNClassifier(inner=W, max_iter=2).fit(*iris)
    assert (model.inner_weights_ == W).all()
    assert not model.inner_bias_.any()


def test_an_ill_conditioned_readout_warns(iris):
    for alpha in (0.0, 1e-30):
        with pytest.warns(IllConditionedWarning, match="condition number"):
            LTCNClassifier.paper(inner="slopes", alpha=alpha).fit(*iris)


@ill_conditioned
def test_diagnose_sees_the_fixed_point_at_which_fit_stopped(iris):
    model = LTCNClassifier.paper(inner="slopes", phi=1, max_iter=50, tol=1e-4).fit(*iris)
    dynamics = model.diagnose(iris[0])
    assert model.n_iter_ < 50
    assert (dynamics.period == 1).all()
    assert dynamics.reached_at.max() == model.n_iter_


def test_recovers_a_nonlinear_boundary_that_a_linear_model_cannot():
    X, y = make_classification(400, 4, n_informative=4, n_redundant=0, n_clusters_per_class=2, random_state=0)
    linear, network = LTCNClassifier(phi=0), LTCNClassifier(max_iter=3)
    gain = network.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) - linear.fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    assert gain > 0.05
