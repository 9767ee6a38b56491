"""Explanations and knowledge of raw tables: by column, of values that can be."""

import numpy as np
import pandas as pd
import pytest

from cogmap import Knowledge, LTCNClassifier, TabularClassifier


def own_concepts(model, name):
    return [
        k
        for k, c in enumerate(model.classifier_.feature_names_in_)
        if c == name or c.startswith((f"{name} = ", f"{name} is "))
    ]


def test_the_papers_relevance_adds_up_to_the_columns(fitted):
    by_concept = fitted.classifier_.relevance(kind="paper")
    for name, relevance in zip(fitted.feature_names_in_, fitted.relevance(kind="paper"), strict=True):
        assert relevance == pytest.approx(by_concept[own_concepts(fitted, name)].sum())


def test_relevance_in_the_data_is_that_of_a_columns_concepts_together(table, fitted):
    X, _ = table
    groups = {name: fitted.classifier_.feature_names_in_[own_concepts(fitted, name)] for name in X}
    for rows in (None, X[:50]):
        encoded = None if rows is None else fitted.encode(rows)
        expected = fitted.classifier_.grouped_relevance(encoded, groups=groups, kind="data", per_class=True)
        np.testing.assert_array_equal(fitted.relevance(rows, kind="data", per_class=True), expected.relevance)


def test_relevance_by_the_model_is_the_mean_size_of_attributions(table, fitted):
    X, _ = table
    sizes = np.abs(fitted.explain(X[:30]).attributions[:, :, 1])
    np.testing.assert_allclose(fitted.relevance(X[:30]), sizes.mean(axis=0))
    assert fitted.feature_importances_.sum() == pytest.approx(1)
    assert fitted.feature_importances_.argmax() == X.columns.get_loc("sex")


@pytest.mark.parametrize("inner", ["slopes", "stable-regression", "regression"])
@pytest.mark.parametrize("drop", [["age"], ["port", "deck"], ["age", "class", "port", "deck"]])
def test_attributions_are_of_the_size_of_the_scores(inner, drop, table):
    """Integrals along a line between categories can exceed the scores by far."""
    X, y = table
    model = TabularClassifier(LTCNClassifier(inner=inner), categorical=["class"], drop=drop).fit(X, y)
    explanation = model.explain(X[:20])
    assert np.abs(explanation.attributions).max() < 5 * np.abs(explanation.scores).max()


def test_attributions_of_columns_add_up_to_the_log_odds(table, fitted):
    X, _ = table
    explanation = fitted.explain(X[:20])
    assert explanation.feature_names == list(X)
    total = explanation.baseline_scores + explanation.attributions.sum(axis=1)
    log = np.log(fitted.predict_proba(X[:20]))
    np.testing.assert_allclose(total, log - log[:, ::-1], atol=1e-9)
    pd.testing.assert_frame_equal(explanation.to_frame(), fitted.classifier_.explain(fitted.encode(X[:20])).to_frame())


def test_a_row_compared_with_another_one_differs_by_its_columns(table, fitted):
    X, _ = table
    row, other = X.iloc[[0]], X.iloc[[0]].assign(sex="female" if X["sex"][0] == "male" else "male")
    explanation = fitted.explain(row, baseline=other)
    difference = fitted.decision_function(row) - fitted.decision_function(other)
    assert f"sex = {row['sex'].iloc[0]} instead of {other['sex'].iloc[0]}" in explanation.to_text(0)
    np.testing.assert_allclose(
        explanation.attributions[0, :, 1], np.where(X.columns == "sex", difference, 0), atol=1e-9
    )


def test_explanations_show_raw_values(table, fitted):
    X, _ = table
    explanation = fitted.explain(X[5:9])
    frame = explanation.features_frame()
    shown = frame[(frame["row"] == 7) & (frame["class"] == "yes")].set_index("feature")["value"]
    for name in X:
        assert shown[name] == X[name][7] or (pd.isna(X[name][7]) and shown[name] is None)
    text = explanation.to_text(2)
    assert text.startswith("Row 7 is classified as ")
    assert f"sex = {X['sex'][7]}" in text
    assert " = female = " not in text


def test_a_flip_changes_the_class_and_is_a_possible_row(table, fitted):
    X, _ = table
    flips = fitted.explain(X).flips()
    assert len(flips) > 100
    for flip in flips[::10].itertuples(index=False):
        row, name, _, value, before, after, _ = flip
        changed = X.loc[[row]].astype(object)
        assert fitted.predict(changed)[0] == before
        changed[name] = value
        assert fitted.predict(changed)[0] == after != before
    assert set(flips["feature"]) - {"age", "fare"}


def test_where_no_single_value_changes_the_class_there_is_no_flip():
    X = pd.DataFrame({"a": ["x", "y", "z", "x"] * 10, "b": ["u"] * 20 + ["v"] * 20})
    y = ["p"] * 20 + ["q"] * 20
    model = TabularClassifier(LTCNClassifier(alpha=1.0)).fit(X, y)
    flips = model.explain(X).flips()
    assert set(flips["feature"]) == {"b"}
    assert (flips["to"] == np.where(flips["from"] == "u", "v", "u")).all()


def test_flips_of_amounts_are_numbers_and_dates_do_not_flip(orders):
    X, y, *_ = orders
    model = TabularClassifier(LTCNClassifier(), drop_unusable=True).fit(X, y)
    flips = model.explain(X[::5]).flips()
    assert set(flips["feature"]) <= {"price", "city"}
    assert "price" in set(flips["feature"])
    for flip in flips[::2].itertuples(index=False):
        row, name, _, value, _, after, _ = flip
        assert model.predict(X.loc[[row]].assign(**{name: value}))[0] == after


def test_a_statement_about_a_column_holds_for_its_concepts(table):
    X, y = table
    knowledge = Knowledge().forbid("port", "fare").irrelevant("age").fix("sex", "class", 0.25)
    model = TabularClassifier(LTCNClassifier(knowledge=knowledge)).fit(X, y)
    by_hand = Knowledge().irrelevant("age").irrelevant("age is missing").fix("sex = female", "class", 0.25)
    for category in ("C", "Q", "S"):
        by_hand = by_hand.forbid(f"port = {category}", "fare")
    network = LTCNClassifier(knowledge=by_hand).fit(model.encode(X), y)
    np.testing.assert_array_equal(model.decision_function(X), network.decision_function(model.encode(X)))
    assert model.relevance()[X.columns.get_loc("age")] == 0


def test_edges_within_a_category_can_be_forbidden(table):
    X, y = table
    model = TabularClassifier(LTCNClassifier(knowledge=Knowledge().forbid("port", "port"))).fit(X, y)
    own = own_concepts(model, "port")[:3]
    assert (model.classifier_.inner_weights_[np.ix_(own, own)][~np.eye(3, dtype=bool)] == 0).all()


def test_an_edit_is_the_model_that_knows_from_the_start(table, fitted):
    X, y = table
    knowledge = Knowledge().irrelevant("port")
    edited = fitted.edit(knowledge, X, y)
    start = TabularClassifier(LTCNClassifier(knowledge=knowledge)).fit(X, y)
    np.testing.assert_array_equal(edited.decision_function(X), start.decision_function(X))
    comparison = fitted.compare(edited, X, y)
    assert comparison.relevance["port"].after == 0
    assert comparison.accuracy.before == pytest.approx(fitted.score(X, y))
    assert {edge.source for edge in comparison.edges if edge.after is None} >= {"port = S"}
