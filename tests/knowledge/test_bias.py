"""A bias that an expert states: in the network, its trajectories, files, edits, explanations and raw tables."""

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine

from cogmap import Knowledge, KnowledgeWarning, LTCNClassifier, LTCNClassifierCV, TabularClassifier, load, map_of
from tests import naive


@pytest.fixture(scope="module")
def wine():
    return load_wine(return_X_y=True, as_frame=True)


def bias(model, name, network=0):
    part = model.fitted_.networks[network]
    return part.network.bias[part.concepts.names(model.fitted_.feature_names).index(name)]


@pytest.mark.parametrize("inner", ["slopes", "correlation", "regression", "stable-regression"])
def test_a_stated_bias_is_exact_and_moves_the_states(wine, inner):
    X, y = wine
    model = LTCNClassifier(inner=inner, knowledge=Knowledge().bias("ash", -0.7).bias("hue", 0)).fit(X, y)
    assert bias(model, "ash") == -0.7
    assert bias(model, "hue") == 0
    found = model.trajectory(X.iloc[:3])
    A = found[:, 0]
    for t in range(1, found.shape[1]):
        A = 0.8 * naive.f(A @ model.inner_weights_ + model.inner_bias_, "sigmoid") + 0.2 * found[:, 0]
        np.testing.assert_allclose(found[:, t], A, atol=1e-12)
    learned = map_of(model)
    assert learned.bias[learned.place("ash")] == -0.7


def test_other_columns_of_a_regression_keep_their_bits(wine):
    free, stated = (
        LTCNClassifier(inner="regression", knowledge=knowledge).fit(*wine)
        for knowledge in (None, Knowledge().bias("ash", 0.3))
    )
    place = list(free.concept_names_).index("ash")
    others = np.delete(np.arange(13), place)
    assert np.array_equal(free.inner_weights_[:, others], stated.inner_weights_[:, others])
    assert np.array_equal(free.inner_bias_[others], stated.inner_bias_[others])
    assert not np.allclose(free.inner_weights_[:, place], stated.inner_weights_[:, place])


def test_it_survives_an_edit_a_refit_and_files(wine, tmp_path):
    X, y = wine
    Knowledge().bias("ash", 0.25, author="A. Vintner", reason="trial").save(tmp_path / "rules.toml")
    first = LTCNClassifier(inner="regression").fit(X, y).edit(Knowledge.load(tmp_path / "rules.toml"), X, y)
    second = first.edit(Knowledge().forbid("hue", "ash"), X, y)
    assert str(second.knowledge_) == "1. bias of ash = 0.25 (A. Vintner: trial)\n2. no edge hue → ash"
    back = load(second.save(tmp_path / "model.cogmap"))
    assert back.knowledge_ == second.knowledge_
    assert bias(back, "ash") == bias(second, "ash") == bias(first, "ash") == 0.25
    assert np.array_equal(back.decision_function(X), second.decision_function(X))
    with pytest.raises(ValueError, match=r"'bias of ash = 0.5', contradicts statement 1"):
        second.edit(Knowledge().bias("ash", 0.5), X, y)


def test_explanations_add_up_to_the_scores(wine):
    X, y = wine
    model = LTCNClassifier(knowledge=Knowledge().bias("flavanoids", 2.0)).fit(X, y)
    explanation = model.explain(X.iloc[:4])
    for k, label in enumerate(model.classes_):
        parts = explanation.contributions(label).sum(axis=(1, 2)) + explanation.base[k] + explanation.cases[:, k]
        np.testing.assert_allclose(parts, explanation.evidence[:, k], atol=1e-9)
    assert "Row 0 is classified as" in explanation.to_text()


def test_it_holds_for_all_terms_of_a_feature_and_for_every_member_of_a_stack(wine):
    X, y = wine
    knowledge = Knowledge().bias("ash", 0.5).bias("hue is low", -0.5)
    model = LTCNClassifier(terms=3, knowledge=knowledge).fit(X, y)
    for term in ("low", "medium", "high"):
        assert bias(model, f"ash is {term}") == 0.5
    assert (bias(model, "hue is low"), bias(model, "hue is high")) == (-0.5, 0)
    stack = LTCNClassifierCV(cases=False, knowledge=Knowledge().bias("ash", 0.5)).fit(X, y)
    for k, part in enumerate(stack.fitted_.networks):
        own = [name for name in part.concepts.names(list(X)) if name.startswith("ash")]
        assert {bias(stack, name, k) for name in own} == {0.5}
    twice = Knowledge().bias("ash", 0.5).bias("ash is low", 0.4)
    with pytest.raises(ValueError, match=r"'bias of ash is low = 0.4', contradicts statement 1, 'bias of ash = 0.5'"):
        LTCNClassifier(terms=3, knowledge=twice).fit(X, y)


def test_the_bias_of_a_column_is_that_of_its_categories():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"colour": rng.choice(["red", "blue", "green"], 120), "size": rng.normal(size=120)})
    y = np.where(frame["size"] + (frame.colour == "red") > 0, "yes", "no")
    knowledge = Knowledge().bias("colour", 0.5).bias("size", -1)
    model = TabularClassifier(LTCNClassifier(knowledge=knowledge)).fit(frame, y)
    learned = map_of(model)
    for name, value in zip(learned.names, learned.bias, strict=True):
        assert value == (0.5 if name.startswith("colour = ") else -1), name


def test_where_it_has_no_effect_a_warning_says_so(wine):
    X, y = wine
    knowledge = Knowledge().bias("ash", 0.5)
    with pytest.warns(KnowledgeWarning, match="bias has no effect: rule='kosko' has none. Use 'quasi-nonlinear'"):
        told = LTCNClassifier(rule="kosko", knowledge=knowledge).fit(X, y)
    assert not told.inner_bias_.any()
    with pytest.warns(KnowledgeWarning, match="'bias of ash = 0.5' has no effect: 'ash' is constant"):
        LTCNClassifier(knowledge=knowledge).fit(X.assign(ash=1.0), y)
    with pytest.raises(ValueError, match=r"'bias of alcohl = 0.5', names 'alcohl', .* did you mean 'alcohol'"):
        LTCNClassifier(knowledge=Knowledge().bias("alcohl", 0.5)).fit(X, y)
