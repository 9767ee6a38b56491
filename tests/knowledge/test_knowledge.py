"""What a network makes of statements: in every member, after an edit, and where they cannot be meant."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris, load_wine
from sklearn.model_selection import GridSearchCV, cross_val_score

from cogmap import Knowledge, KnowledgeWarning, LTCNClassifier, LTCNClassifierCV
from cogmap.errors import NoInformationWarning
from cogmap.knowledge.edges import edge_bounds

INNER = ("slopes", "correlation", "regression", "stable-regression")


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def weight(model, source, target, network=0):
    part = model.fitted_.networks[network]
    names = part.concepts.names(model.fitted_.feature_names)
    return part.network.weights[names.index(source), names.index(target)]


def test_near_names_are_suggested(wine):
    X, y = wine
    for wrong, right in (("Alcohol", "alcohol"), ("total phenols", "total_phenols")):
        with pytest.raises(ValueError, match=f"names '{wrong}', which is no feature: did you mean '{right}'"):
            LTCNClassifier(knowledge=Knowledge().irrelevant(wrong)).fit(X, y)


@pytest.mark.parametrize("inner", INNER)
def test_stated_weights_are_exact_after_a_file_and_a_refit(wine, inner, tmp_path):
    value = 0.1 + 0.2
    (
        Knowledge()
        .fix("ash", "alcohol", value)
        .forbid("hue", "ash")
        .sign("alcohol", "hue", "+")
        .sign("alcohol", "ash", "-")
        .at_least("magnesium", "hue", 0.05)
        .at_most("proline", "hue", -0.05)
        .fix("ash", "ash", -0.25)
    ).save(tmp_path / "rules.toml")
    plain = LTCNClassifier(inner=inner).fit(*wine)
    model = plain.edit(Knowledge.load(tmp_path / "rules.toml"), *wine)
    assert type(model) is LTCNClassifier
    assert weight(model, "ash", "alcohol") == value
    assert weight(model, "hue", "ash") == 0
    assert weight(model, "alcohol", "hue") >= 0
    assert weight(model, "alcohol", "ash") <= 0
    assert weight(model, "magnesium", "hue") >= 0.05
    assert weight(model, "proline", "hue") <= -0.05
    assert weight(model, "ash", "ash") == -0.25
    assert model.knowledge_ == Knowledge.load(tmp_path / "rules.toml")
    assert len(plain.knowledge_) == 0
    refitted = clone(model).fit(*wine)
    assert (refitted.decision_function(wine[0]) == model.decision_function(wine[0])).all()


@pytest.mark.parametrize("inner", ["slopes", "correlation", "regression"])
def test_only_the_columns_concerned_change(wine, inner):
    X, y = wine
    plain = LTCNClassifier(inner=inner).fit(X, y)
    model = LTCNClassifier(inner=inner, knowledge=Knowledge().fix("ash", "alcohol", 0.3)).fit(X, y)
    changed = model.inner_weights_ != plain.inner_weights_
    assert changed[:, 0].any()
    assert not changed[:, 1:].any()
    if inner != "regression":
        assert changed.sum() == 1


def test_statements_override_a_given_array():
    X, y = load_iris(return_X_y=True)
    W = np.arange(16.0).reshape(4, 4) / 10
    knowledge = Knowledge().fix("x0", "x1", -1).at_most("x3", "x3", 1.2).at_least("x2", "x0", 0.1)
    model = LTCNClassifier(inner=W, knowledge=knowledge).fit(X, y)
    expected = W.copy()
    expected[0, 1], expected[3, 3] = -1, 1.2
    assert (model.inner_weights_ == expected).all()


def test_a_statement_about_a_feature_holds_for_its_terms_and_one_about_a_term_for_that_one(wine):
    X, y = wine
    knowledge = (
        Knowledge().fix("ash", "alcohol", 0.2).fix("hue is low", "ash is high", 0.4).forbid("hue is high", "ash")
    )
    model = LTCNClassifier(inner="regression", terms=3, knowledge=knowledge).fit(X, y)
    plain = LTCNClassifier(inner="regression", terms=3).fit(X, y)
    for source in ("low", "medium", "high"):
        for target in ("low", "medium", "high"):
            assert weight(model, f"ash is {source}", f"alcohol is {target}") == 0.2
        assert weight(model, "hue is high", f"ash is {source}") == 0
    assert weight(model, "hue is low", "ash is high") == 0.4
    others = [i for i, name in enumerate(model.concept_names_) if not name.startswith(("ash", "alcohol is"))]
    assert (model.inner_weights_[:, others] == plain.inner_weights_[:, others]).all()


@pytest.mark.parametrize(
    "parameters", [{"terms": (None, 3)}, {"activation": ("sigmoid", "tanh")}, {"combine": "best"}, {"inner": INNER}]
)
def test_a_statement_holds_in_every_member_of_a_stack(wine, parameters):
    knowledge = Knowledge().fix("ash", "alcohol", 0.123).sign("hue", "alcohol", "-").irrelevant("proline")
    X, y = wine[0][::3], wine[1][::3]
    model = LTCNClassifierCV(**parameters, knowledge=knowledge).fit(X, y)
    for part in model.fitted_.networks:
        feature = np.array(model.fitted_.feature_names)[part.concepts.feature]
        block = part.network.weights[np.ix_(feature == "ash", feature == "alcohol")]
        assert (block == 0.123).all()
        assert (part.network.weights[np.ix_(feature == "hue", feature == "alcohol")] <= 0).all()
        assert "proline" not in feature
    assert model.knowledge_ == knowledge
    assert model.relevance()[list(wine[0].columns).index("proline")] == 0


def test_a_term_that_only_some_members_have_is_no_error(wine):
    knowledge = Knowledge().fix("ash is low", "hue", 0.5)
    model = LTCNClassifierCV(terms=(None, 3), inner="slopes", knowledge=knowledge, cases=False).fit(*wine)
    stated = [
        part for part in model.fitted_.networks if "ash is low" in part.concepts.names(model.fitted_.feature_names)
    ]
    assert stated
    for part in stated:
        names = part.concepts.names(model.fitted_.feature_names)
        assert part.network.weights[names.index("ash is low"), names.index("hue is low")] == 0.5


@pytest.mark.parametrize(
    "model",
    [LTCNClassifier(), LTCNClassifier(terms=3, cases=True), LTCNClassifier.paper(max_iter=2), LTCNClassifierCV()],
)
def test_an_irrelevant_feature_has_no_say(wine, model):
    """Not in training, where the model is the one without the column, and not in prediction."""
    X, y = wine[0][::3], wine[1][::3]
    model = clone(model).set_params(knowledge=Knowledge().irrelevant("flavanoids")).fit(X, y)
    shuffled = X.assign(flavanoids=np.random.default_rng(0).permutation(X["flavanoids"]) * 7 - 3)
    scores = model.decision_function(X)
    assert (model.decision_function(shuffled) == scores).all()
    assert model.relevance()[X.columns.get_loc("flavanoids")] == 0
    assert (clone(model).fit(shuffled, y).decision_function(X) == scores).all()
    without = clone(model).set_params(knowledge=None).fit(X.drop(columns="flavanoids"), y)
    assert (without.decision_function(X.drop(columns="flavanoids")) == scores).all()
    assert not [name for name in model.concept_names_ if name.startswith("flavanoids")]


@pytest.mark.parametrize("inner", INNER)
def test_all_features_irrelevant_leaves_the_most_frequent_class(inner):
    knowledge = Knowledge().irrelevant("x0").irrelevant("x1").forbid("x0", "x1")
    with pytest.warns(NoInformationWarning):
        model = LTCNClassifier(inner=inner, knowledge=knowledge).fit(np.eye(3)[:, :2], ["a", "b", "b"])
    assert list(model.predict([[0, 1], [5, 5]])) == ["b", "b"]


def test_knowledge_works_with_the_tools_of_scikit_learn(wine):
    X, y = wine
    knowledge = Knowledge().fix("ash", "alcohol", 0.3).irrelevant("hue")
    model = LTCNClassifier(max_iter=2, knowledge=knowledge)
    assert clone(model).knowledge == knowledge
    assert "knowledge=Knowledge().fix('ash'" in repr(LTCNClassifier(knowledge=Knowledge().fix("ash", "hue", 1)))
    assert cross_val_score(model, X, y, cv=3).mean() > 0.9
    search = GridSearchCV(LTCNClassifier(max_iter=2), {"knowledge": [None, knowledge]}, cv=3).fit(X, y)
    assert search.best_params_["knowledge"] in (None, knowledge)
    fitted = model.fit(X, y)
    assert pickle.loads(pickle.dumps(fitted)).knowledge_ == knowledge


# Edits


def test_an_edit_adds_to_what_the_model_was_told(wine):
    X, y = wine
    first = LTCNClassifier(phi=0.7, knowledge=Knowledge().fix("ash", "alcohol", 0.3)).fit(X, y)
    second = first.edit(Knowledge().forbid("hue", "ash", author="B"), X, y, sample_weight=np.ones(len(X)))
    assert second.knowledge_ == Knowledge().fix("ash", "alcohol", 0.3).forbid("hue", "ash", author="B")
    assert second.phi == 0.7
    assert weight(second, "ash", "alcohol") == 0.3
    assert weight(second, "hue", "ash") == 0
    direct = LTCNClassifier(phi=0.7, knowledge=second.knowledge_).fit(X, y)
    assert (second.decision_function(X) == direct.decision_function(X)).all()
    with pytest.raises(ValueError, match="contradicts"):
        second.edit(Knowledge().fix("ash", "alcohol", 0.4), X, y)
    with pytest.raises(ValueError, match="feature names"):
        second.edit(Knowledge(), X.rename(columns=str.upper), y)


def test_an_edit_of_a_stack_equals_a_fit_with_the_knowledge(wine):
    X, y = wine
    knowledge = Knowledge().sign("hue", "ash", "+")
    edited = LTCNClassifierCV(cases=False).fit(X, y).edit(knowledge, X, y)
    direct = LTCNClassifierCV(cases=False, knowledge=knowledge).fit(X, y)
    assert (edited.decision_function(X) == direct.decision_function(X)).all()


# What cannot be meant


@pytest.mark.parametrize(
    ("knowledge", "sentence"),
    [
        (
            Knowledge().forbid("ash", "alchohol"),
            "Statement 1, .*names 'alchohol', which is no feature: did you mean 'alco",
        ),
        (
            Knowledge().irrelevant("ash").irrelevant("zzz"),
            "Statement 2, .*names 'zzz', .*: there are 'alcohol', 'malic_",
        ),
        (Knowledge().forbid("ash is low", "hue"), "'ash is low', which is no feature or concept: did you mean 'ash'"),
        (Knowledge().irrelevant("ash is low"), "'ash is low', which is no feature: did you mean 'ash'"),
    ],
)
@pytest.mark.parametrize("model", [LTCNClassifier(), LTCNClassifierCV(cases=False, inner="slopes", terms=None)])
def test_unknown_names_are_named_with_near_ones(wine, knowledge, sentence, model):
    with pytest.raises(ValueError, match=sentence):
        clone(model).set_params(knowledge=knowledge).fit(*wine)


def test_an_unknown_term_is_named_with_near_ones(wine):
    with pytest.raises(ValueError, match="'ash is lov', which is no feature or concept: did you mean 'ash is low'"):
        LTCNClassifier(terms=3, knowledge=Knowledge().forbid("ash is lov", "hue")).fit(*wine)


def test_contradictions_that_only_the_terms_show(wine):
    knowledge = Knowledge().fix("ash", "hue", 0.3).at_least("ash is low", "hue is high", 0.4)
    with pytest.raises(ValueError, match=r"statement 2, 'ash is low → hue is high ≥ 0.4', contradicts statement 1"):
        LTCNClassifier(terms=3, knowledge=knowledge).fit(*wine)
    knowledge = Knowledge().irrelevant("ash").fix("ash is low", "hue", 0.3)
    with pytest.raises(
        ValueError, match=r"statement 2, 'ash is low → hue = 0.3', contradicts statement 1, 'ash is irr"
    ):
        LTCNClassifier(terms=3, knowledge=knowledge).fit(*wine)
    LTCNClassifier(terms=3, knowledge=Knowledge().irrelevant("ash").forbid("ash is low", "hue")).fit(*wine)


@pytest.mark.parametrize(
    "model", [LTCNClassifier(), LTCNClassifier(terms=3), LTCNClassifierCV(cases=False, terms=None)]
)
def test_a_statement_about_a_constant_feature_warns_and_changes_nothing(wine, model):
    X, y = wine
    X = X.assign(ash=1.0)
    name = "ash is low" if getattr(model, "terms", None) else "ash"
    knowledge = Knowledge().fix(name, "hue", 0.3)
    with pytest.warns(KnowledgeWarning, match=f"'{name} → hue = 0.3' has no effect: 'ash' is constant") as caught:
        told = clone(model).set_params(knowledge=knowledge).fit(X, y)
    assert len(caught) == 1
    assert (told.decision_function(X) == clone(model).fit(X, y).decision_function(X)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        clone(model).set_params(knowledge=Knowledge().irrelevant("ash").forbid("ash", "hue")).fit(X, y)


def test_stated_weights_beyond_the_cap_warn(wine):
    knowledge = Knowledge().fix("ash", "hue", 3).at_least("hue", "ash", 2.5)
    with pytest.warns(KnowledgeWarning, match="spectral norm of 3, and inner='stable-regression' caps it at 2"):
        model = LTCNClassifier(inner="stable-regression", knowledge=knowledge).fit(*wine)
    assert weight(model, "ash", "hue") == 3
    assert weight(model, "hue", "ash") >= 2.5


def test_knowledge_of_another_type_is_refused(wine):
    for model in (LTCNClassifier(knowledge="rules.toml"), LTCNClassifierCV(knowledge="rules.toml")):
        with pytest.raises(TypeError, match=r"knowledge='rules.toml' must be a cogmap.Knowledge or None"):
            model.fit(*wine)


def test_a_feature_whose_name_looks_like_a_term_is_a_feature(rng):
    X = pd.DataFrame(rng.random((60, 3)), columns=["a", "a is low", "b"])
    concepts = LTCNClassifier(scaling="minmax", terms=3).fit(X, X["a"] > 0.5).fitted_.networks[0].concepts
    bounds = edge_bounds(Knowledge().fix("a is low", "b", 1), list(X.columns), concepts)
    assert (bounds.lower[3:6, 6:] == 1).all()
    assert np.isinf(bounds.lower).sum() == 81 - 9
