"""Awkward data is fitted, and bad input gets one clear sentence."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy import sparse
from sklearn.datasets import load_iris

from cogmap import LTCNClassifier, LTCNClassifierCV, NoInformationWarning, stream

ill_conditioned = pytest.mark.filterwarnings("ignore::cogmap.IllConditionedWarning")


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
@settings(max_examples=60)
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
@example(  # an innovation of 1e200: its square is no number, and the row is to stop all the same
    seed=3247,
    parameters={"phi": 0.0, "inner": "regression", "rule": "kosko", "scaling": "minmax", "terms": 3, "cases": True},
)
@example(  # inner weights of 1e9, whose powers are no numbers
    seed=20730193, parameters={"phi": 0.0, "inner": "regression", "rule": "kosko", "scaling": "halfway", "terms": 3}
)
@pytest.mark.filterwarnings("ignore::cogmap.NoInformationWarning")
def test_any_table_gives_finite_scores(seed, parameters):
    X, y = awkward_table(np.random.default_rng(seed))
    model = LTCNClassifier(**parameters).fit(X, y)
    scores = model.decision_function(X)
    assert np.abs(scores).max() < 1e6
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1)


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


@pytest.mark.parametrize("scaling", ["minmax", "quantile", "halfway"])
def test_values_that_cannot_be_told_apart_are_one(scaling, rng):
    """The span of such a feature is so small that one divided by it is infinite."""
    X, y = rng.normal(size=(60, 3)), np.arange(60) % 2
    X[:, 0] += y
    near, constant = X.copy(), X.copy()
    near[:, 2], constant[:, 2] = np.where(X[:, 2] > 0, 2e-309, 0.0), 0.0
    scores = [
        LTCNClassifier(scaling=scaling, max_iter=3).fit(rows, y).decision_function(rows) for rows in (near, constant)
    ]
    np.testing.assert_array_equal(*scores)
