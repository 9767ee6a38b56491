import pickle
from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine

from cogmap import (
    IllConditionedWarning,
    LTCNClassifier,
    LTCNClassifierCV,
    TabularClassifier,
    UnreliableRelevanceWarning,
)
from cogmap import load as load_model
from cogmap.errors import NoInformationWarning
from cogmap.explain import relevance as relevance_module
from cogmap.explain.evidence import spread_rows

TRUTH = [3, 2, 1, 0, 0, 0]


def collinear(seed, n=500, noise=0.05):
    """Three signals, and three features that are collinear with each other and independent of the class."""
    rng = np.random.default_rng(seed)
    signals, shared = rng.normal(size=(n, 3)), rng.normal(size=(n, 1))
    X = np.hstack([signals, shared + noise * rng.normal(size=(n, 3))])
    y = rng.random(n) < 1 / (1 + np.exp(-signals @ [3.0, 1.8, 0.9]))
    return X, y.astype(int)


def suppressor(n=2000):
    """x0 is the signal and a noise, x1 that noise alone, x2 another noise."""
    rng = np.random.default_rng(0)
    signal, noise, other = rng.normal(size=(3, n))
    return np.c_[signal + noise, noise, other], (signal > 0).astype(int)


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


@pytest.mark.parametrize("noise", [0.01, 0.1])
def test_collinear_features_that_say_nothing_come_last(noise):
    found = {"model": [], "data": []}
    for seed in range(6):
        X, y = collinear(seed, noise=noise)
        clf = LTCNClassifier(max_iter=5).fit(X, y)
        for kind, agreement in found.items():
            agreement.append(spearmanr(clf.relevance(X, kind=kind), TRUTH).statistic)
    assert np.mean(found["model"]) >= 0.85
    assert np.mean(found["data"]) >= 0.90


def test_a_suppressor_serves_the_model_and_does_not_carry_the_decision():
    X, y = suppressor()
    clf = LTCNClassifier(max_iter=5).fit(X, y)
    model, data = clf.relevance(X, kind="model"), clf.relevance(X, kind="data")
    assert model[1] > 5 * model[2]
    assert data[1] < 0.1 * data[0]


def test_a_symbol_in_few_rows_moves_few_decisions():
    """On the way from a row without it to one with it the score may leave its range and come back."""
    rng = np.random.default_rng(0)
    X = np.c_[rng.normal(size=(1500, 6)), np.arange(1500) < 4]
    y = rng.random(1500) < 1 / (1 + np.exp(-X[:, 0] - X[:, 1] * X[:, 2]))
    relevance = LTCNClassifier().fit(X, y).relevance(X)
    assert relevance[6] < 0.1 * relevance.max()


STACK = LTCNClassifierCV(inner="slopes", max_iter=3, cases=False, pairs=False)


@pytest.mark.parametrize("estimator", [LTCNClassifier(max_iter=1), LTCNClassifier(terms=3), STACK], ids=str)
@pytest.mark.filterwarnings("ignore::cogmap.UnreliableRelevanceWarning")
def test_one_value_a_feature_and_none_for_a_constant_one(wine, estimator):
    X, y = wine
    clf = clone(estimator).fit(X.assign(constant=0.3), y)
    for kind in ("model", "data", "paper"):
        relevance, of_classes = clf.relevance(kind=kind), clf.relevance(kind=kind, per_class=True)
        assert relevance.shape == (14,)
        assert of_classes.shape == (3, 14)
        assert relevance[13] == 0
        assert not of_classes[:, 13].any()
        assert (relevance[:13] > 0).all()
        if kind != "paper":
            np.testing.assert_allclose(np.bincount(y) / len(y) @ of_classes, relevance)


def test_model_kind_is_the_mean_size_of_the_evidence_that_explanations_show(wine):
    X, y = wine
    clf = LTCNClassifier(max_iter=3).fit(X, y)
    sizes = np.abs(clf.explain(X[::9]).attributions).mean(axis=0)
    np.testing.assert_allclose(clf.relevance(X[::9], per_class=True), sizes.T, rtol=1e-9)
    np.testing.assert_allclose(clf.relevance(X[::9]), sizes @ np.bincount(y) / len(y), rtol=1e-9)


def test_model_kind_of_a_linear_network_is_the_mean_difference_to_other_rows():
    """Without iterations a feature adds its slope times its difference to the mean of the other rows."""
    rng = np.random.default_rng(0)
    X = rng.random((1000, 3))
    y = X @ [3.0, 1.0, 0.0] + rng.normal(size=1000) > 2
    clf = LTCNClassifier(max_iter=0, scaling="minmax").fit(X, y)
    slopes = np.linalg.lstsq(np.c_[X, np.ones(1000)], clf.decision_function(X), rcond=None)[0][:3]
    np.testing.assert_allclose(clf.relevance(X), np.abs(slopes) / 4, rtol=0.2)  # E|u − ½| of uniform u is 1/4
    mean = spread_rows(clf.fitted_, 32).mean(axis=0)
    np.testing.assert_allclose(clf.relevance(X[:60]), np.abs((X[:60] - mean) * slopes).mean(axis=0), rtol=1e-6)


@pytest.mark.parametrize("network", [LTCNClassifier(), STACK], ids=str)
def test_a_network_and_the_table_over_it_have_one_relevance(wine, network):
    """Each column is one concept, but for the constant one, which the table leaves out and the network ignores."""
    X, y = wine
    X = X.assign(constant=0.3)
    alone, table = clone(network).fit(X, y), TabularClassifier(clone(network)).fit(X, y)
    np.testing.assert_array_equal(table.predict_proba(X), alone.predict_proba(X))
    for given in (None, X[:5]):
        np.testing.assert_allclose(table.relevance(given), alone.relevance(given), rtol=1e-12)
    np.testing.assert_allclose(table.relevance(per_class=True), alone.relevance(per_class=True), rtol=1e-12)
    np.testing.assert_allclose(table.feature_importances_, alone.feature_importances_, rtol=1e-12)
    assert table.feature_importances_[-1] == 0
    one, other = table.explain(X[60:64]), alone.explain(X[60:64])
    np.testing.assert_array_equal(one.attributions, other.attributions[:, :-1])
    assert one.to_text(0) == other.to_text(0)


def count_calls(monkeypatch):
    """Return a list that grows with every computation of evidence."""
    calls, computed = [], relevance_module.attribute

    def counted(*arguments):
        calls.append(1)
        return computed(*arguments)

    monkeypatch.setattr(relevance_module, "attribute", counted)
    return calls


def test_relevance_is_computed_once_for_each_fit(wine, monkeypatch, tmp_path):
    X, y = wine
    table = TabularClassifier(LTCNClassifier(max_iter=1)).fit(X, y)
    calls = count_calls(monkeypatch)
    first = table.feature_importances_
    for found in (table.feature_importances_, table.relevance(), table.relevance(per_class=True)):
        assert found.shape[-1] == 13
    copied = pickle.loads(pickle.dumps(table))
    np.testing.assert_array_equal(deepcopy(table).feature_importances_, first)
    np.testing.assert_array_equal(copied.feature_importances_, first)
    assert len(calls) == 1
    table.relevance()[:] = 0
    table.relevance(per_class=True)[:] = 0
    np.testing.assert_array_equal(table.feature_importances_, first)
    np.testing.assert_allclose(load_model(table.save(tmp_path / "a.cogmap")).feature_importances_, first, rtol=1e-9)
    clf = table.classifier_
    clf.fit(X.to_numpy()[:, ::-1], y)
    assert not np.allclose(clf.feature_importances_, first)
    assert not replace(clf.fitted_).memory


def test_what_is_remembered_is_not_saved(wine, tmp_path):
    X, y = wine
    clf = LTCNClassifier(max_iter=1).fit(X, y)
    before = clf.save(tmp_path / "before.cogmap").read_bytes()
    assert clf.feature_importances_.sum() == pytest.approx(1)
    assert clf.save(tmp_path / "after.cogmap").read_bytes() == before


def test_a_batch_makes_relevance_forgotten():
    X, y = load_iris(return_X_y=True)
    clf = LTCNClassifier(max_iter=1, alpha=1.0).partial_fit(X[::2], y[::2], classes=[0, 1, 2])
    before = clf.relevance()
    clf.partial_fit(X[1::2], y[1::2])
    assert not np.array_equal(clf.relevance(), before)


def test_the_rows_that_stand_for_all_have_the_classes_shares():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 2)), np.repeat([0, 1, 2], [1500, 400, 100])
    X = X + 20 * np.c_[y == 1, y == 2]
    clf = LTCNClassifier(max_iter=0).fit(X, y)
    rows = spread_rows(clf.fitted_, 40)
    np.testing.assert_allclose(np.bincount(clf.predict(rows), minlength=3) / 40, [0.75, 0.2, 0.05], atol=1 / 40)
    heavy = LTCNClassifier(max_iter=0).fit(X, y, sample_weight=np.where(y == 2, 20.0, 1.0))
    shares = np.bincount(heavy.predict(spread_rows(heavy.fitted_, 40)), minlength=3) / 40
    np.testing.assert_allclose(shares, np.array([1500, 400, 2000]) / 3900, atol=1 / 40)


@pytest.mark.parametrize(("inner", "max_iter"), [("regression", 5), ("regression", 20), ("stable-regression", 100)])
def test_where_no_feature_changes_the_scores_relevance_is_0(inner, max_iter):
    """All rows end in one state: what is missing was divided by what is there."""
    X = np.random.default_rng(0).normal(size=(10, 1))
    options = {"rule": "kosko", "readout": "final", "activation": "tanh", "terms": 5, "decision": "argmax"}
    clf = LTCNClassifier(**options, inner=inner, max_iter=max_iter).fit(X, X[:, 0] > 0)
    assert np.ptp(clf.decision_function(X)) < 1e-9
    for found in (clf.relevance(), clf.feature_importances_, clf.relevance(X)):
        assert found.shape == (1,)
        assert np.isfinite(found).all()
    assert clf.relevance()[0] < 1e-9


def test_a_model_that_falls_back_to_the_prior_has_no_relevance():
    with pytest.warns(NoInformationWarning):
        clf = LTCNClassifier().fit(np.eye(40), np.arange(40) % 2)
    for kind in ("model", "data"):
        assert not clf.relevance(kind=kind).any()
    assert not clf.feature_importances_.any()
    assert "0 %" in repr(clf.relevance_table())


def test_the_table_of_relevance_has_the_largest_first_and_is_escaped():
    X, y = load_iris(return_X_y=True, as_frame=True)
    X.columns = ["<b>", "one", "two", "three"]
    clf = LTCNClassifier(max_iter=1).fit(X, y)
    table = clf.relevance_table()
    frame = table.to_frame()
    assert frame.relevance.tolist() == sorted(clf.relevance(), reverse=True)
    assert frame.share.sum() == pytest.approx(1)
    first = X.columns[clf.relevance().argmax()]
    assert repr(table).splitlines()[1].startswith(first)
    page = table._repr_html_()
    assert "&lt;b&gt;" in page
    assert "<b>" not in page
    assert page.count("<tr>") == 5
    raw = TabularClassifier(LTCNClassifier(max_iter=1)).fit(X.assign(same=1), y).relevance_table()
    assert raw.names == list(X.columns)


def test_data_kind_is_the_covariance_with_the_margin(wine):
    X, y = wine
    clf = LTCNClassifier(max_iter=3, scaling="minmax", terms=3).fit(X, y == 1)
    margin = clf.decision_function(X)
    expected = [abs(np.cov(X[name], margin, bias=True)[0, 1]) / X[name].std(ddof=0) for name in X]
    np.testing.assert_allclose(clf.relevance(X, kind="data"), expected, rtol=1e-9)


def test_without_rows_the_kept_training_rows_serve(wine):
    X, y = wine
    clf = LTCNClassifier(max_iter=3).fit(X, y)
    np.testing.assert_allclose(clf.relevance(kind="data"), clf.relevance(X, kind="data"), rtol=1e-9)
    np.testing.assert_allclose(clf.relevance(), clf.relevance(X), rtol=0.2, atol=0.1 * clf.relevance().max())
    np.testing.assert_allclose(clf.feature_importances_, clf.relevance() / clf.relevance().sum())
    shuffled = LTCNClassifier(max_iter=3).fit(X[::-1], y[::-1])
    np.testing.assert_allclose(shuffled.relevance(), clf.relevance(), rtol=1e-6)


def test_at_most_256_rows_are_kept_from_every_class():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(2000, 2)), np.repeat([0, 1, 2], [1500, 400, 100])
    clf = LTCNClassifier(max_iter=2).fit(X + y[:, None], y)
    assert clf.fitted_.summary.rows.shape == (256, 2)
    np.testing.assert_allclose(clf.fitted_.summary.shares, [0.75, 0.2, 0.05])
    np.testing.assert_allclose(clf.relevance(), clf.relevance(X + y[:, None]), rtol=0.2)


def test_the_papers_kind_warns_where_its_weights_cancel():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(UnreliableRelevanceWarning, match="cancel each other"):
        LTCNClassifier().fit(X, y).relevance(kind="paper")


def test_the_papers_kind_is_silent_where_they_do_not(wine):
    X, y = wine
    assert (LTCNClassifier.paper(max_iter=1).fit(X, y).relevance(kind="paper") > 0).all()


@pytest.mark.parametrize("kind", ["model", "data"])
def test_all_kinds_warn_where_rounding_decides(kind):
    X, y = load_iris(return_X_y=True)
    clf = LTCNClassifier(alpha=0.0, max_iter=5)
    with pytest.warns(IllConditionedWarning):
        clf.fit(X, y)
    with pytest.warns(UnreliableRelevanceWarning, match="condition number"):
        clf.relevance(kind=kind)


def test_intervals_of_a_held_model_hold_the_estimate_and_repeat(wine):
    X, y = wine
    clf = LTCNClassifier(max_iter=3).fit(X, y)
    found = clf.relevance_intervals(X)
    np.testing.assert_allclose(found.estimate, clf.relevance(X))
    assert (found.low < found.estimate).all()
    assert (found.estimate < found.high).all()
    again = clf.relevance_intervals(X)
    np.testing.assert_array_equal(found.low, again.low)
    wide = clf.relevance_intervals(X, level=0.99)
    assert (wide.high - wide.low > found.high - found.low).all()


def test_interval_of_a_mean_is_that_of_the_normal_approximation():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 2))
    clf = LTCNClassifier(max_iter=0, scaling="minmax").fit(X, X[:, 0] > 0)
    found = clf.relevance_intervals(X, n_bootstrap=1000)
    rows = X[np.linspace(0, 399, 256).round().astype(int)]
    sizes = np.abs(clf.explain(rows, classes=[True]).attributions[:, :, 0])
    half = 1.96 * sizes.std(axis=0) / np.sqrt(len(rows))
    np.testing.assert_allclose((found.high - found.low) / 2, half, rtol=0.15)


@pytest.mark.filterwarnings("ignore::cogmap.UnreliableRelevanceWarning")
@pytest.mark.parametrize("kind", ["model", "data", "paper"])
def test_intervals_with_classes_refit_the_model(wine, kind):
    X, y = wine
    clf = LTCNClassifier(max_iter=1).fit(X, y)
    found = clf.relevance_intervals(X, y, kind=kind, n_bootstrap=5, per_class=True)
    rows = None if kind == "model" else X
    np.testing.assert_allclose(found.estimate, clf.relevance(rows, kind=kind, per_class=True), rtol=1e-6)
    assert found.low.shape == (3, 13)
    assert (found.low < found.high).all()


def test_groups_add_up_before_their_size_is_taken():
    X, y = collinear(0, noise=0.2)
    clf = LTCNClassifier(max_iter=3).fit(X, y)
    found = clf.grouped_relevance(X)
    assert found.features == [["x0"], ["x1"], ["x2"], ["x3", "x4", "x5"]]
    assert found.names[3] == "x3 + x4 + x5"
    alone = clf.relevance(X)
    np.testing.assert_allclose(found.relevance[:3], alone[:3], rtol=0.1)
    assert found.relevance[3] <= alone[3:].sum()
    named = clf.grouped_relevance(X, groups={"noise": ["x5", "x3", "x4"], "rest": ["x1"]}, kind="data", per_class=True)
    assert named.names == ["noise", "rest", "x0", "x2"]
    np.testing.assert_allclose(named.relevance[:, 1], clf.relevance(X, kind="data", per_class=True)[:, 1])


def test_a_constant_feature_is_a_group_of_its_own(wine):
    X, y = wine
    clf = LTCNClassifier(max_iter=1).fit(X.assign(constant=1.0), y)
    found = clf.grouped_relevance()
    assert found.features[-1] == ["constant"]
    assert found.relevance[-1] == 0


def test_without_any_varying_feature_all_relevance_is_0():
    with pytest.warns(NoInformationWarning):
        clf = LTCNClassifier().fit(np.ones((20, 2)), np.arange(20) % 2)
    assert not clf.feature_importances_.any()
    assert not clf.relevance(kind="data").any()
    assert clf.grouped_relevance().names == ["x0", "x1"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda clf, X: clf.relevance(kind="shap"), "kind='shap' is unknown"),
        (lambda clf, X: clf.relevance_intervals(X, kind="paper"), "give y too"),
        (lambda clf, X: clf.relevance_intervals(X, level=95), "level=95"),
        (lambda clf, X: clf.relevance_intervals(X, n_bootstrap=0), "n_bootstrap=0"),
        (lambda clf, X: clf.grouped_relevance(kind="paper"), "no joint relevance"),
        (lambda clf, X: clf.grouped_relevance(groups="blocks"), "groups='blocks'"),
        (lambda clf, X: clf.grouped_relevance(groups={"a": ["nope"]}), "unknown feature 'nope'"),
        (lambda clf, X: clf.grouped_relevance(groups={"a": ["hue"], "b": ["hue"]}), "in the groups 'a' and 'b'"),
        (lambda clf, X: clf.grouped_relevance(threshold=0), "threshold=0"),
    ],
)
def test_bad_requests_are_named(wine, call, message):
    X, y = wine
    clf = LTCNClassifier(max_iter=1).fit(X, y)
    with pytest.raises(ValueError, match=message):
        call(clf, X)
