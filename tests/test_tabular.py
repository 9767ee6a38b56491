import dataclasses
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder
from sklearn.utils.estimator_checks import parametrize_with_checks

from cogmap import (
    Knowledge,
    LTCNClassifier,
    LTCNClassifierCV,
    ModelFileError,
    TabularClassifier,
    load,
)
from cogmap.persistence.document import from_document, to_document
from cogmap.persistence.kinds import DTYPES, Arrays
from cogmap.tabular_explanation import kept_rows
from tests.people import people


@parametrize_with_checks([TabularClassifier(LTCNClassifier())])
@pytest.mark.filterwarnings("ignore::cogmap.NoInformationWarning")  # some checks fit noise
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def table():
    frame = people()
    return frame.drop(columns=["survived", "id"]), frame["survived"]


@pytest.fixture(scope="module")
def fitted(table):
    return TabularClassifier(LTCNClassifier()).fit(*table)


def test_predicts_as_scikit_learns_pieces_before_the_same_network(table):
    """Without missing marks (none is frequent here) the encoding is the usual one, so the scores are the same."""
    X, y = table
    X = X.assign(age=X["age"].fillna(30.0), port=X["port"].fillna("S"))
    numbers, text = ["age", "fare", "class"], ["sex", "port"]
    pipeline = make_pipeline(
        make_column_transformer(
            (SimpleImputer(strategy="median"), numbers),
            (OneHotEncoder(drop=["male"]), ["sex"]),
            (OneHotEncoder(), ["port"]),
        ),
        LTCNClassifier(),
    ).fit(X[numbers + text], y)
    model = TabularClassifier(LTCNClassifier()).fit(X[numbers + text], y)
    assert list(model.encode(X[numbers + text])) == [*numbers, "sex = female", "port = C", "port = Q", "port = S"]
    np.testing.assert_array_equal(
        model.decision_function(X[numbers + text]), pipeline.decision_function(X[numbers + text])
    )


def test_everything_is_that_of_the_network_on_encoded_rows(table, fitted):
    X, _ = table
    network, rows = fitted.classifier_, fitted.encode(X)
    np.testing.assert_array_equal(fitted.predict(X), network.predict(rows))
    np.testing.assert_array_equal(fitted.predict_proba(X), network.predict_proba(rows))
    np.testing.assert_array_equal(fitted.decision_function(X), network.decision_function(rows))
    np.testing.assert_array_equal(fitted.trajectory(X), network.trajectory(rows))
    assert str(fitted.diagnose(X)) == str(network.diagnose(rows))
    assert fitted.target_name_ == "survived"
    assert list(fitted.classes_) == ["no", "yes"]


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
    explanation = fitted.explain(X[:30])
    sixteen = dataclasses.replace(explanation, background=kept_rows(fitted.classifier_, 16)[0])
    margin = sixteen.attributions[:, :, 1] - sixteen.attributions[:, :, 0]
    np.testing.assert_allclose(fitted.relevance(X[:30]), np.abs(margin).mean(axis=0))
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


def test_a_row_is_encoded_the_same_alone_and_reordered(table, fitted):
    X, _ = table
    whole = fitted.encode(X)
    pd.testing.assert_frame_equal(fitted.encode(X.iloc[[7]]), whole.iloc[[7]])
    pd.testing.assert_frame_equal(fitted.encode(X[X.columns[::-1]]), whole)


def test_polars_and_pandas_are_the_same(table, fitted):
    X, y = table
    other = pl.DataFrame({name: X[name].astype(object).where(X[name].notna(), None).to_list() for name in X})
    np.testing.assert_array_equal(fitted.encode(other), fitted.encode(X))
    assert TabularClassifier(LTCNClassifier()).fit(other, y.to_numpy()).columns_ == fitted.columns_


def test_weights_are_frequencies(table):
    X, y = table
    weight = np.arange(len(X)) % 3
    weighted = TabularClassifier(LTCNClassifier()).fit(X, y, sample_weight=weight)
    repeated = TabularClassifier(LTCNClassifier()).fit(X.loc[X.index.repeat(weight)], y.repeat(weight))
    assert weighted.columns_ == repeated.columns_
    np.testing.assert_array_equal(weighted.decision_function(X), repeated.decision_function(X))


def test_the_default_is_the_tuned_network_and_nested_parameters_reach_it(table):
    X, y = table
    model = TabularClassifier().set_params(classifier__phi=0.5)
    assert isinstance(model.classifier, LTCNClassifierCV)
    assert clone(model).get_params()["classifier__phi"] == 0.5
    assert isinstance(TabularClassifier().fit(X[:80], y[:80]).classifier_, LTCNClassifierCV)


def test_grid_search_and_pickle(table, fitted):
    X, y = table
    search = GridSearchCV(TabularClassifier(LTCNClassifier()), {"classifier__phi": [0.2, 0.8]}, cv=3).fit(X, y)
    assert search.best_params_["classifier__phi"] in (0.2, 0.8)
    assert cross_val_score(search.best_estimator_, X, y).mean() > 0.7
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))


def test_wrong_columns_are_named(table, fitted):
    X, _ = table
    with pytest.raises(ValueError, match="X lacks column 'sex' and has unexpected columns 'gender', 'note': give"):
        fitted.predict(X.rename(columns={"sex": "gender"}).assign(note=1))
    with pytest.raises(ValueError, match="X has 2 features, but TabularClassifier is expecting 6"):
        fitted.predict(X[["age", "fare"]].to_numpy())


def test_columns_that_are_not_used_may_be_absent(table):
    X, y = table
    model = TabularClassifier(LTCNClassifier(), drop=["fare"]).fit(X.assign(empty=None, same=1), y)
    kinds = {column.name: column.kind for column in model.columns_}
    assert (kinds["fare"], kinds["empty"], kinds["same"]) == ("dropped", "constant", "constant")
    np.testing.assert_array_equal(model.relevance()[[c.kind in ("dropped", "constant") for c in model.columns_]], 0)
    np.testing.assert_array_equal(
        model.predict(X.drop(columns="fare")), model.predict(X.assign(same=[5] * len(X), empty="full"))
    )


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"drop": "fare"}, r"drop='fare' must be a list of columns: use \['fare'\]"),
        ({"categorical": ["colour"]}, "categorical names column 'colour', which X does not have"),
        ({"categorical": ["class"], "numeric": ["class"]}, "categorical and numeric both name column 'class'"),
        ({"max_categories": 1}, "max_categories=1 must be a whole number, 2 or larger"),
        ({"drop": ["age", "fare", "class", "sex", "port", "deck"]}, "No column of X varies"),
    ],
)
def test_wrong_parameters_are_named(table, parameters, message):
    with pytest.raises(ValueError, match=message):
        TabularClassifier(LTCNClassifier(), **parameters).fit(*table)


def test_names_that_are_numbers(table):
    X, y = table
    numbered = X.set_axis(range(X.shape[1]), axis=1)
    model = TabularClassifier(LTCNClassifier(), drop=[0]).fit(numbered, y)
    assert [column.kind for column in model.columns_[:2]] == ["dropped", "category"]
    np.testing.assert_array_equal(model.predict(numbered), model.predict(numbered.iloc[:, 1:]))


def test_wrong_tables_are_named(table):
    X, y = table
    model = TabularClassifier(LTCNClassifier())
    with pytest.raises(ValueError, match="more than one column called 'age'"):
        model.fit(X.rename(columns={"fare": "age"}), y)
    with pytest.raises(ValueError, match="the class is missing in 1 rows, the first is row 3"):
        model.fit(X, y.where(y.index != 3))
    with pytest.raises(ValueError, match="X has no rows"):
        model.fit(X[:0], y[:0])
    with pytest.raises(ValueError, match=r"infinity \(inf\) in column 'fare', row 0"):
        model.fit(X.assign(fare=[np.inf, *X["fare"][1:]]), y)


def test_identifiers_in_a_fold_are_found_too():
    frame = people()
    with pytest.raises(ValueError, match="Column 'id' looks like an identifier"):
        TabularClassifier().fit(frame[::2].drop(columns="survived"), frame["survived"][::2])


# Explanations, knowledge


def test_attributions_of_columns_add_up_to_the_score(table, fitted):
    X, _ = table
    explanation = fitted.explain(X[:20])
    assert explanation.feature_names == list(X)
    total = explanation.baseline_scores + explanation.attributions.sum(axis=1)
    np.testing.assert_allclose(total, explanation.scores, atol=1e-9)
    compared = fitted.classifier_.predict_proba(pd.DataFrame(explanation.background, columns=fitted.encode(X).columns))
    assert compared.shape == (64, 2)
    pd.testing.assert_frame_equal(explanation.to_frame(), fitted.classifier_.explain(fitted.encode(X[:20])).to_frame())


def test_a_row_compared_with_another_one_differs_by_its_columns(table, fitted):
    X, _ = table
    row, other = X.iloc[[0]], X.iloc[[0]].assign(sex="female" if X["sex"][0] == "male" else "male")
    explanation = fitted.explain(row, baseline=other)
    difference = fitted.decision_function(row) - fitted.decision_function(other)
    assert f"sex = {row['sex'].iloc[0]} instead of {other['sex'].iloc[0]}" in explanation.to_text(0)
    margin = explanation.attributions[0, :, 1] - explanation.attributions[0, :, 0]
    np.testing.assert_allclose(margin, np.where(X.columns == "sex", difference, 0), atol=1e-9)


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


# Files and export


@pytest.mark.parametrize("classifier", [LTCNClassifier(terms=3), None])
def test_a_saved_model_predicts_to_the_last_bit(classifier, table, tmp_path):
    X, y = table
    X = X.assign(empty=None, same="x", flag=X["fare"] > 3, place=[f"p{i % 30}" for i in range(len(X))])
    model = TabularClassifier(classifier, categorical=["class", "place"], drop=["deck"]).fit(X, y)
    again = load(model.save(tmp_path / "people.cogmap"))
    assert again.columns_ == model.columns_
    assert again.get_params()["categorical"] == ["class", "place"]
    assert again.target_name_ == "survived"
    np.testing.assert_array_equal(again.classes_, model.classes_)
    assert again.decision_function(X).tobytes() == model.decision_function(X).tobytes()


CONTRADICTIONS = (  # of the column sex: a category of female and male, filled by male
    {"fill": "other"},
    {"fill": 1.5},
    {"kind": "number"},
    {"kind": "dropped"},
    {"kind": "surprise"},
    {"categories": ["male", "female"]},
    {"categories": ["male"]},
    {"categories": ["female", "male", "x"]},
    {"other": 1},
    {"missing": True},
    {"name": "age"},
    {"name": "gender"},
    {"extra": 1},
)


@pytest.mark.parametrize("change", CONTRADICTIONS, ids=str)
def test_a_file_whose_columns_contradict_the_network_is_refused(change, fitted):
    document, arrays = to_document(fitted, None)
    for column in document["model"]["fitted"]["columns_"]:
        if column["name"] == "sex":
            column.update(change)
    described = {name: (next(k for k, v in DTYPES.items() if v == a.dtype), a.shape) for name, a in arrays.items()}
    with pytest.raises(ModelFileError, match=r"columns_|fitted"):
        from_document(document, Arrays(described, lambda name, *_: arrays[name]))


def test_onnx_takes_what_encode_returns(table, fitted, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    X, _ = table
    session = runtime.InferenceSession(fitted.to_onnx(tmp_path / "people.onnx"))
    label, probability = session.run(["label", "probabilities"], {"X": fitted.encode(X).to_numpy()})
    np.testing.assert_array_equal(label, fitted.predict(X))
    np.testing.assert_allclose(probability, fitted.predict_proba(X), atol=1e-6)
