import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from hypothesis import given, settings
from hypothesis import strategies as st
from ltcn.LTCN import LTCN
from scipy import sparse
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

from cogmap import IllConditionedWarning, LTCNClassifier, LTCNClassifierCV, NoInformationWarning, stream
from tests import naive

ill_conditioned = pytest.mark.filterwarnings("ignore::cogmap.IllConditionedWarning")


@pytest.fixture(scope="module")
def iris():
    X, y = load_iris(return_X_y=True)
    return minmax_scale(X), y


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


@pytest.mark.parametrize("name", ["banana", "vehicle", "segment", "yeast", "cardiotocography-10", "mfeat-zernike"])
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


# Awkward data


def test_a_constant_feature_has_no_edges_and_no_relevance(iris):
    X, y = iris
    with_constant = np.insert(X, 2, 7.0, axis=1)
    model = LTCNClassifier(max_iter=3).fit(with_constant, y)
    plain = LTCNClassifier(max_iter=3).fit(X, y)
    assert model.relevance()[2] == 0
    assert list(model.concept_names_) == ["x0", "x1", "x3", "x4"]
    assert model.inner_weights_.shape == (4, 4)
    assert model.trajectory(with_constant).shape == (150, model.n_iter_ + 1, 4)
    assert (model.decision_function(with_constant) == plain.decision_function(X)).all()
    assert model.feature_importances_.sum() == pytest.approx(1)


def test_no_varying_feature_predicts_the_most_frequent_class():
    with pytest.warns(NoInformationWarning):
        model = LTCNClassifier().fit(np.ones((5, 2)), ["a", "b", "b", "b", "a"])
    assert list(model.predict([[1, 1], [2, 3]])) == ["b", "b"]
    np.testing.assert_allclose(model.predict_proba([[1, 1]]), [[0.4, 0.6]])


def test_one_row_in_every_class():
    model = LTCNClassifier().fit(np.eye(3), [0, 1, 2])
    assert list(model.predict(np.eye(3))) == [0, 1, 2]


def test_a_feature_that_varies_in_its_last_digits_only_is_ignored(rng):
    X, y = 0.5 + 1e-14 * rng.normal(size=(50, 1)), np.repeat(["a", "b"], [30, 20])
    with pytest.warns(NoInformationWarning):
        probability = LTCNClassifier(scaling=None).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(probability, np.tile([0.6, 0.4], (50, 1)))


@ill_conditioned
@pytest.mark.parametrize("inner", ["regression", "slopes"])
@pytest.mark.parametrize("kind", ["duplicate", "collinear", "wide", "one feature", "binary", "one row in a class"])
def test_awkward_data_fits_and_predicts_finite_scores(kind, inner):
    rng = np.random.default_rng(1)
    X = rng.random((60, 5))
    y = (X[:, 0] > 0.5).astype(int)
    if kind == "duplicate":
        X[:, 4] = X[:, 0]
    elif kind == "collinear":
        X[:, 4] = X[:, 0] - 2 * X[:, 1]
    elif kind == "wide":
        X, y = X[:4], np.array([0, 1, 0, 1])
    elif kind == "one feature":
        X = X[:, :1]
    elif kind == "binary":
        X = (X > 0.5).astype(float)
    else:
        y[7] = 2
    model = LTCNClassifier(inner=inner).fit(X, y)
    scores = model.decision_function(X)
    assert np.isfinite(scores).all()
    assert model.score(X, y) > 0.85


def awkward_table(rng):
    """Return rows and classes; a column may be constant, binary, copied, rounded, huge, or barely varying."""
    n, m = rng.integers(4, 80), rng.integers(1, 10)
    X = rng.normal(size=(n, m))
    spoil = [
        lambda x: np.ones(n),
        lambda x: rng.integers(0, 2, n),
        lambda x: np.exp(8 * x),
        lambda x: X[:, 0],
        lambda x: 3 - 1e-9 * X[:, 0],
        lambda x: 1 + np.arange(n) % 2 * 2.3e-16,
        lambda x: 1e300 * x,
        lambda x: np.round(x, 1),
        lambda x: x,
    ]
    for j in range(m):
        X[:, j] = spoil[rng.integers(len(spoil))](X[:, j])
    return X, np.r_[0, 1, rng.integers(0, 4, n - 2)]


@ill_conditioned
@settings(max_examples=100)
@given(
    seed=st.integers(0, 2**32 - 1),
    parameters=st.fixed_dictionaries(
        {
            "phi": st.sampled_from([0.0, 0.8, 1.0]),
            "activation": st.sampled_from(["sigmoid", "tanh"]),
            "inner": st.sampled_from(["slopes", "regression", "stable-regression", "correlation"]),
            "rule": st.sampled_from(["quasi-nonlinear", "kosko", "kosko-memory"]),
            "scaling": st.sampled_from(["halfway", "quantile", "minmax"]),
            "terms": st.sampled_from([None, 3]),
            "cases": st.booleans(),
        }
    ),
)
@pytest.mark.filterwarnings("ignore::cogmap.NoInformationWarning")
def test_any_table_gives_finite_scores(seed, parameters):
    X, y = awkward_table(np.random.default_rng(seed))
    model = LTCNClassifier(**parameters).fit(X, y)
    assert np.isfinite(model.decision_function(X)).all()
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


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


# Bad input gets one clear sentence


def frame_with(value):
    X = pd.DataFrame(load_iris().data, columns=["a", "b", "c", "d"]).astype(object)
    X.loc[7, "c"] = value
    return X


@pytest.mark.parametrize(
    ("X", "sentence"),
    [
        (frame_with(np.nan), r"NaN in column 'c' \(1 rows, the first is row 7\).*TabularClassifier.*SimpleImputer"),
        (frame_with(np.inf), r"infinity \(inf\) in column 'c', row 7"),
        (frame_with("red"), r"text in column 'c' \('red'\).*TabularClassifier.*OneHotEncoder"),
        (frame_with("red").to_numpy(), r"text in column 2 \('red'\)"),
        (pl.DataFrame({"size": ["big"] * 150}), r"text in column 'size' \('big'\)"),
        (np.c_[np.zeros(150), np.linspace(-1.5, 1.5, 150) * 1e308], r"from -1.5e\+308 to 1.5e\+308 in column 1"),
        (np.empty((0, 4)), "0 sample"),
        (np.empty((150, 0)), "0 feature"),
    ],
)
def test_bad_rows_are_named(X, sentence):
    with pytest.raises(ValueError, match=sentence):
        LTCNClassifier().fit(X, load_iris().target)


@pytest.mark.parametrize(
    ("y", "sentence"),
    [
        (np.zeros(150), r"one class \(0.0\) only"),
        (np.linspace(0, 1, 150), "continuous"),
        (np.zeros(149), "X has 150 rows and y has 149"),
        (None, "y"),
    ],
)
def test_a_bad_target_is_explained(iris, y, sentence):
    with pytest.raises(ValueError, match=sentence):
        LTCNClassifier().fit(iris[0], y)


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"phi": 1.5}, "phi=1.5 must be a number from 0 to 1."),
        ({"max_iter": 2.5}, "max_iter=2.5 must be a whole number"),
        ({"tol": -1}, "tol=-1 must be"),
        ({"activation": "relu"}, "activation='relu' is unknown: use one of 'sigmoid', 'tanh'."),
        ({"inner": "hebbian"}, "inner='hebbian' is unknown"),
        ({"inner": np.eye(3)}, r"shape \(4, 4\).*its shape is \(3, 3\)"),
        ({"scaling": "log"}, "scaling='log' is unknown: use one of 'halfway', 'quantile', 'minmax', None."),
        ({"alpha": -1.0}, "alpha=-1.0 must be 'loo' or a finite number, 0 or larger."),
        ({"alpha": np.inf}, "alpha=inf must be 'loo' or a finite number"),
        ({"tol": np.inf}, "tol=inf must be a finite number"),
        ({"alpha": "cv"}, "alpha='cv' must be"),
        ({"terms": 1}, "terms=1 must be None or a whole number, 3 or larger."),
        ({"decision_metric": "f1"}, "decision_metric='f1' is unknown"),
    ],
)
def test_bad_parameters_are_named(iris, parameters, sentence):
    with pytest.raises(ValueError, match=sentence):
        LTCNClassifier(**parameters).fit(*iris)


def test_unscaled_data_with_scaling_none_is_an_error():
    X, y = load_iris(return_X_y=True, as_frame=True)
    sentence = "scaling=None needs data in [0, 1], but column 'sepal length (cm)' goes from 4.3 to 7.9"
    with pytest.raises(ValueError, match=re.escape(sentence)):
        LTCNClassifier(scaling=None).fit(X, y)


def test_all_weights_zero_is_an_error(iris):
    with pytest.raises(ValueError, match="weight"):
        LTCNClassifier().fit(*iris, sample_weight=np.zeros(150))


def test_recovers_a_nonlinear_boundary_that_a_linear_model_cannot():
    X, y = make_classification(400, 4, n_informative=4, n_redundant=0, n_clusters_per_class=2, random_state=0)
    linear, network = LTCNClassifier(phi=0), LTCNClassifier(max_iter=3)
    gain = network.fit(X[::2], y[::2]).score(X[1::2], y[1::2]) - linear.fit(X[::2], y[::2]).score(X[1::2], y[1::2])
    assert gain > 0.05


@pytest.mark.parametrize("make", [LTCNClassifier, LTCNClassifierCV])
def test_sparse_matrices_are_refused_with_the_way_out(make):
    X = sparse.random_array((40, 6), density=0.5, rng=0)
    y = np.arange(40) % 2
    message = r"X is a sparse matrix of 40 rows and 6 columns, .*: give X.toarray\(\), which takes 1.92 KB"
    for found in (X.tocsr(), X.tocoo(), sparse.csc_matrix(X)):
        with pytest.raises(TypeError, match=message):
            make().fit(found, y)
    with pytest.raises(TypeError, match="X is a sparse matrix"):
        stream.fit([(X.tocsr(), y)])
