"""What a comparison says, against scikit-learn's metrics and the models themselves."""

import sys

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.metrics import accuracy_score, balanced_accuracy_score, cohen_kappa_score
from sklearn.model_selection import StratifiedKFold, cross_val_predict

from cogmap import Knowledge, LTCNClassifier, LTCNClassifierCV, TabularClassifier
from tests.people import people

MODELS = [
    LTCNClassifier(),
    LTCNClassifier(inner="regression", terms=3),
    LTCNClassifierCV(cases=False, terms=None, pairs=False, max_iter=5),
]


@pytest.fixture(scope="module")
def wine():
    data = load_wine(as_frame=True)
    return data.data, np.array(["red", "white", "rosé"], dtype=object)[data.target]


@pytest.fixture(scope="module", params=MODELS, ids=["slopes", "terms", "stack"])
def pair(request, wine):
    X, y = wine
    before = clone(request.param).fit(X[::2], y[::2])
    knowledge = Knowledge().fix("ash", "alcohol", 0.4).irrelevant("flavanoids").irrelevant("color_intensity")
    return before, before.edit(knowledge, X[::2], y[::2])


def test_scores_are_those_of_scikit_learn(pair, wine):
    X, y = wine[0][1::2], wine[1][1::2]
    found = pair[0].compare(pair[1], X, y)
    for metric, score in (
        ("accuracy", accuracy_score),
        ("kappa", cohen_kappa_score),
        ("balanced_accuracy", balanced_accuracy_score),
    ):
        expected = [score(y, model.predict(X)) for model in pair]
        np.testing.assert_allclose(getattr(found, metric), expected, rtol=1e-12)
        np.testing.assert_allclose(found.to_frame("scores").loc[metric], expected, rtol=1e-12)
    assert found.n_rows == len(X)


def test_changed_rows_are_those_whose_class_changes(pair, wine):
    X, y = wine[0][1::2], wine[1][1::2]
    found = pair[0].compare(pair[1], X, y)
    before, after = (model.predict(X) for model in pair)
    assert len(found.rows) > 0
    assert [row.row for row in found.rows] == list(np.flatnonzero(before != after))
    for i, old, new, truth in found.rows:
        assert (old, new, truth) == (before[i], after[i], y[i])
    frame = found.to_frame()
    assert list(frame.index) == [row.row for row in found.rows]
    assert list(frame.columns) == ["before", "after", "truth"]


def test_relevance_is_that_of_the_models(pair, wine):
    found = pair[0].compare(pair[1], *wine)
    assert list(found.relevance) == list(wine[0].columns)
    for model, side in zip(pair, ("before", "after"), strict=True):
        assert [getattr(change, side) for change in found.relevance.values()] == list(model.relevance())
        assert list(found.to_frame("relevance")[side]) == list(model.relevance())
    assert found.relevance["flavanoids"].after == 0


@pytest.mark.parametrize("parameters", [{}, {"inner": "regression"}, {"terms": 3}])
def test_changed_edges_are_those_whose_weight_changes(wine, parameters):
    X, y = wine
    before = LTCNClassifier(max_iter=3, **parameters).fit(X, y)
    after = before.edit(Knowledge().fix("ash", "alcohol", 0.4), X, y)
    found = before.compare(after, X, y)
    names = list(before.concept_names_)
    expected = {
        (names[j], names[i]): (before.inner_weights_[j, i], after.inner_weights_[j, i])
        for j, i in np.argwhere(before.inner_weights_ != after.inner_weights_)
    }
    assert {(e.source, e.target): (e.before, e.after) for e in found.edges} == expected
    assert list(found.to_frame("edges").columns) == ["network", "source", "target", "before", "after"]
    sizes = [abs(e.after - e.before) for e in found.edges]
    assert sizes == sorted(sizes, reverse=True)
    assert before.compare(before, X, y).edges == ()


def test_edges_that_one_model_lacks_are_none(wine):
    X, y = wine
    before = LTCNClassifier().fit(X, y)
    found = before.compare(before.edit(Knowledge().irrelevant("ash"), X, y), X, y)
    gone = [e for e in found.edges if "ash" in (e.source, e.target)]
    assert len(gone) == 2 * 13 - 1
    assert all(e.after is None and e.before is not None for e in gone)
    assert "none" in str(found)


def test_networks_of_a_stack_are_told_apart_even_if_one_drops_out(wine):
    """A stack of one network and a stack of two share that network, and nothing of it changes."""
    X, y = wine
    plain = {"cases": False, "terms": None, "pairs": False, "max_iter": 5}
    stack = LTCNClassifierCV(**plain).fit(X, y)
    best = LTCNClassifierCV(**plain, combine="best").fit(X, y)
    assert len(stack.fitted_.networks) == 2
    found = stack.compare(best, X, y)
    kept = best.best_params_["inner"]
    assert {edge.network for edge in found.edges} == {"slopes", "stable-regression"} - {kept}
    assert all(edge.after is None for edge in found.edges)


def test_the_text_shows_every_part(wine):
    X, y = wine
    before = LTCNClassifier(inner="regression").fit(X[::2], y[::2])
    found = before.compare(before.edit(Knowledge().irrelevant("flavanoids"), X[::2], y[::2]), X, y)
    text = str(found)
    assert f"{len(found.rows)} of 178 rows change their class" in text
    assert f"{len(found.edges)} edges change" in text
    assert f"… and {len(found.edges) - 8} more" in text
    assert "of 13 features change their relevance" in text
    row = found.rows[0]
    assert f"row {row.row}: {row.before} → {row.after} (truth: {row.truth})" in text
    assert max(map(len, text.split("\n"))) < 100


def test_nothing_changes_from_a_model_to_itself(wine):
    X, y = wine
    model = LTCNClassifier().fit(X, y)
    found = model.compare(model, X, y)
    assert found.rows == ()
    assert found.kappa.before == found.kappa.after
    assert (
        repr(found) == f"<Comparison: kappa {found.kappa.before:.3f} → {found.kappa.after:.3f}, 0 of 178 rows change>"
    )
    assert str(found).endswith("0 edges change\n\n0 of 13 features change their relevance")


def test_what_cannot_be_compared_is_explained(wine):
    X, y = wine
    model = LTCNClassifier(max_iter=1).fit(X, y)
    with pytest.raises(ValueError, match="different features, such as 'ash': only models with the same features"):
        model.compare(LTCNClassifier(max_iter=1).fit(X.drop(columns="ash"), y), X, y)
    with pytest.raises(ValueError, match="the same features in another order"):
        model.compare(LTCNClassifier(max_iter=1).fit(X[X.columns[::-1]], y), X, y)
    with pytest.raises(ValueError, match="different classes, such as 'rosé'"):
        model.compare(LTCNClassifier(max_iter=1).fit(X[y != "rosé"], y[y != "rosé"]), X, y)
    with pytest.raises(ValueError, match="X has 178 rows and y has 3"):
        model.compare(model, X, y[:3])
    with pytest.raises(ValueError, match="y holds 'blue', which is no class of the models"):
        model.compare(model, X, np.where(y == "red", "blue", y))
    with pytest.raises(ValueError, match="not fitted"):
        model.compare(LTCNClassifier(), X, y)
    with pytest.raises(ValueError, match="part='row' is unknown"):
        model.compare(model, X, y).to_frame("row")


def test_arrays_without_names_compare_too():
    X, y = load_iris(return_X_y=True)
    model = LTCNClassifier(max_iter=2).fit(X, y)
    found = model.compare(model.edit(Knowledge().forbid("x0", "x1"), X, y), X, y)
    assert [(e.source, e.target, e.after) for e in found.edges] == [("x0", "x1", 0.0)]


def test_a_missing_pandas_names_the_extra(wine, monkeypatch):
    model = LTCNClassifier(max_iter=1).fit(*wine)
    found = model.compare(model, *wine)
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(ImportError, match=r"cogmap\[cli\]"):
        found.to_frame()


def test_cross_validated_scores_are_those_of_models_fitted_without_each_fold(pair, wine):
    X, y = wine[0][::2], wine[1][::2]
    found = pair[0].compare(pair[1], X, y, n_folds=3)
    predicted = []
    for model in pair:
        labels = np.empty(len(y), dtype=object)
        for train, test in StratifiedKFold(3, shuffle=True, random_state=0).split(X, y):
            fitted = clone(model).fit(X.iloc[train], y[train])
            labels[test] = fitted.predict(X.iloc[test])
        predicted.append(labels)
    np.testing.assert_allclose(found.accuracy, [accuracy_score(y, labels) for labels in predicted], rtol=1e-12)
    assert [row.row for row in found.rows] == list(np.flatnonzero(predicted[0] != predicted[1]))
    assert (found.n_folds, found.n_rows) == (3, 89)
    # Relevance and edges are those of the models themselves.
    assert found.edges == pair[0].compare(pair[1], X, y).edges


def test_the_text_says_on_which_rows_it_was_measured(wine):
    X, y = wine
    model = LTCNClassifier(max_iter=1).fit(X, y)
    found = model.compare(model, X, y, n_folds=3)
    assert str(found).startswith(
        "Cross-validated on 178 rows in 3 folds: both models were fitted anew without each fold"
    )
    assert str(model.compare(model, X, y)).startswith(
        "Measured on the 178 given rows; if the models were fitted to them"
    )


def test_folds_follow_the_rarest_class_or_are_refused(wine):
    X, y = wine
    model = LTCNClassifier(max_iter=1).fit(X, y)
    few = np.r_[0:20, 60:80, 176:178]
    assert model.compare(model, X.iloc[few], y[few], n_folds=5).n_folds == 2
    with pytest.raises(ValueError, match=r"cannot be cross-validated: Class 'rosé' has one row"):
        model.compare(model, X.iloc[few[:-1]], y[few[:-1]], n_folds=5)
    with pytest.raises(ValueError, match="n_folds=1 must be 2 or larger"):
        model.compare(model, X, y, n_folds=1)


def test_models_of_raw_tables_keep_their_concepts_in_every_fold():
    """A value that few rows have, and that a statement names, is absent in some folds."""
    table = people(120).drop(columns="id")
    table.loc[:2, "port"] = "Z"
    X, y = table.drop(columns="survived"), table["survived"]
    before = TabularClassifier(LTCNClassifier(max_iter=2, alpha=0.1)).fit(X, y)
    after = before.edit(Knowledge().irrelevant("port = Z"), X, y)
    found = before.compare(after, X, y, n_folds=10)
    encoded = before.encode(X)
    expected = []
    for model in (before.classifier_, after.classifier_):
        folds = StratifiedKFold(10, shuffle=True, random_state=0)
        expected.append(accuracy_score(y, cross_val_predict(clone(model), encoded, y, cv=folds)))
    np.testing.assert_allclose(found.accuracy, expected)
