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
    UnseenValueWarning,
    load,
)
from cogmap.estimators.loading import restored
from cogmap.files.model.document import from_document, to_document
from cogmap.files.model.kinds import DTYPES, Arrays
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
    with pytest.raises(
        ValueError, match=r"X lacks column 'sex' \(did you mean 'Sex'\?\) and has unexpected column 'Sex'"
    ):
        fitted.predict(X.rename(columns={"sex": "Sex"}))
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
        ({"drop": ["Fare"]}, r"drop names column 'Fare' \(did you mean 'fare'\?\), which X does not have"),
        ({"drop_unusable": "yes"}, "drop_unusable='yes' must be True or False"),
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
    with pytest.raises(ValueError, match="the class is missing in 1 row, the first is row 3"):
        model.fit(X, y.where(y.index != 3))
    with pytest.raises(ValueError, match="X has no rows"):
        model.fit(X[:0], y[:0])
    with pytest.raises(ValueError, match=r"infinity \(inf\) in column 'fare', row 0"):
        model.fit(X.assign(fare=[np.inf, *X["fare"][1:]]), y)


def test_identifiers_in_a_fold_are_found_too():
    frame = people()
    with pytest.raises(ValueError, match="Column 'id' looks like an identifier"):
        TabularClassifier().fit(frame[::2].drop(columns="survived"), frame["survived"][::2])


# Dates, amounts, unusable columns, unseen values


@pytest.fixture(scope="module")
def orders():
    rng = np.random.default_rng(3)
    when = pd.Series(pd.Timestamp("2023-01-01") + pd.to_timedelta(rng.integers(0, 700 * 24, 240), unit="h"))
    price = pd.Series(rng.lognormal(7, 1, 240).round(2))
    frame = pd.DataFrame(
        {
            "Unnamed: 0": range(240),
            "order": [f"A-{k}" for k in rng.permutation(240)],
            "sold": when.dt.strftime("%d/%m/%Y %H:%M").where(when.index % 40 > 0),
            "price": price.map("${:,.2f}".format),
            "city": rng.choice(["Rome", "Oslo", "Bern"], 240),
        }
    )
    return frame, pd.Series(np.where((when.dt.month >= 10) | (price > 3000), "late", "in time")), when, price


def test_dates_and_amounts_are_the_numbers_that_they_stand_for(orders):
    X, y, when, price = orders
    by_hand = pd.DataFrame(
        {
            "sold: year": when.dt.year,
            "sold: month": when.dt.month,
            "sold: weekday": when.dt.day_of_week + 1,
            "sold: hour": when.dt.hour,
            "sold: days since the first": (when - when[when.index % 40 > 0].min()) / pd.Timedelta(days=1),
            "price": price,
        }
    )
    model = TabularClassifier(LTCNClassifier(), drop_unusable=True).fit(X, y)
    known = X["sold"].notna()
    pd.testing.assert_frame_equal(
        model.encode(X)[list(by_hand)][known], by_hand[known].astype(float), check_exact=False, rtol=1e-12
    )
    assert model.score(X, y) > 0.9
    same = X.assign(sold=when.where(known), price=price)
    np.testing.assert_array_equal(model.decision_function(same), model.decision_function(X))


def test_all_problems_of_all_columns_are_one_message(orders):
    X, y, *_ = orders
    with pytest.raises(ValueError, match="2 columns cannot be used as they are:") as error:
        TabularClassifier(LTCNClassifier()).fit(X, y)
    first, second = str(error.value).splitlines()[1:3]
    assert first.startswith("  Column 'Unnamed: 0' looks like the index that pandas writes, it numbers the rows")
    assert second == (
        "  Column 'order' looks like an identifier, all its 240 values differ: drop it, or list it as categorical."
    )


def test_unusable_columns_are_dropped_with_the_reason(orders):
    X, y, *_ = orders
    model = TabularClassifier(LTCNClassifier(), drop_unusable=True).fit(X, y)
    by_hand = TabularClassifier(LTCNClassifier(), drop=["Unnamed: 0", "order"]).fit(X, y)
    np.testing.assert_array_equal(model.decision_function(X), by_hand.decision_function(X))
    assert [column.kind for column in model.columns_[:2]] == ["dropped", "dropped"]
    assert model.columns_[1].note == "it looks like an identifier, all its 240 values differ: it is not used"
    with pytest.raises(ValueError, match="where a number is expected"):
        TabularClassifier(LTCNClassifier(), numeric=["order"], drop_unusable=True).fit(X, y)


def test_description_is_that_of_fit(orders):
    X, y, *_ = orders
    weight = np.arange(len(X)) % 3
    model = TabularClassifier(LTCNClassifier(), drop_unusable=True)
    assert model.describe(X, weight) == model.fit(X, y, sample_weight=weight).columns_


def test_values_that_fit_did_not_see_are_named_once(table, fitted):
    X, _ = table
    new = X[:30].assign(sex=["Male"] * 12 + list(X["sex"][12:30]), port=["Z", *X["port"][1:30]])
    for method in (fitted.encode, fitted.predict, fitted.predict_proba, fitted.explain):
        with pytest.warns(UnseenValueWarning) as caught:
            method(new)
        assert [str(warning.message) for warning in caught] == [
            "Values that fit did not see: column 'sex' has 'Male' in 12 rows (did you mean 'male'?); column 'port' has "
            "'Z' in 1 row: each counts as none of the known values."
        ]
        assert caught[0].message.unseen == {"sex": {"Male": 12}, "port": {"Z": 1}}


def test_sparse_tables(table):
    import scipy.sparse

    sparse = scipy.sparse.random_array((30, 3), density=0.5, rng=np.random.default_rng(0), format="csr")
    y = np.where(sparse.toarray()[:, 0] > 0.2, "a", "b")
    with pytest.raises(TypeError, match=r"^X is a sparse matrix, .*: give X.toarray\(\), or"):
        TabularClassifier(LTCNClassifier()).fit(sparse, y)
    frame = pd.DataFrame.sparse.from_spmatrix(sparse, columns=["a", "b", "c"])
    dense = TabularClassifier(LTCNClassifier()).fit(frame.sparse.to_dense(), y)
    found = TabularClassifier(LTCNClassifier()).fit(frame, y)
    np.testing.assert_array_equal(found.decision_function(frame), dense.decision_function(frame))


def test_an_edit_on_some_rows_keeps_what_the_columns_are(orders):
    X, y, *_ = orders
    model = TabularClassifier(LTCNClassifier(), drop_unusable=True).fit(X, y)
    few = X["sold"].isna() | X["sold"].str[:2].astype(float).le(12)
    edited = model.edit(Knowledge().irrelevant("city"), X[few].drop(columns="order"), y[few])
    kinds = {column.name: (column.kind, column.format) for column in edited.columns_}
    assert kinds["sold"] == ("date", "day first")
    assert kinds["Unnamed: 0"] == ("dropped", "")


# Explanations, knowledge


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


# Files and export


@pytest.mark.parametrize("classifier", [LTCNClassifier(terms=3), None])
def test_a_saved_model_predicts_to_the_last_bit(classifier, table, tmp_path):
    X, y = table
    X = X.assign(empty=None, same="x", flag=X["fare"] > 3, place=[f"p{i % 30}" for i in range(len(X))])
    X = X.assign(when=pd.date_range("2024", periods=len(X), freq="7h"), price=X["fare"].map("{:,.2f} €".format))
    model = TabularClassifier(classifier, categorical=["class", "place"], drop=["deck"]).fit(X, y)
    again = load(model.save(tmp_path / "people.cogmap"))
    assert again.columns_ == model.columns_
    assert {column.kind for column in again.columns_} == {
        "number",
        "category",
        "date",
        "boolean",
        "constant",
        "dropped",
    }
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
    {"format": "point"},
    {"first": 0.0},
    {"parts": ["year"]},
    {"rare": ["x"]},
    {"remark": 5},
    {"remark": "x" * 1001},
)
DATED = (  # of the column sold: a date with all its parts
    {"format": "backwards"},
    {"format": "time"},
    {"first": None},
    {"first": 1e300},
    {"fill": -1e12},
    {"fill": None},
    {"parts": []},
    {"parts": ["month", "year"]},
    {"parts": ["year", "month", "weekday", "hour", "age"]},
    {"parts": ["year", "year"]},
    {"parts": "year"},
    {"kind": "number"},
    {"categories": ["a", "b"]},
    {"rare": ["a"]},
)


@pytest.mark.parametrize("change", CONTRADICTIONS, ids=str)
def test_a_file_whose_columns_contradict_the_network_is_refused(change, fitted):
    with pytest.raises(ModelFileError, match=r"columns_|fitted"):
        loaded_with(fitted, lambda column: column.update(change) if column["name"] == "sex" else None)


def loaded_with(model, change):
    """Return a model as from a file, after each of its columns was changed there."""
    document, arrays = to_document(model, None)
    for column in document["model"]["fitted"]["columns_"]:
        change(column)
    described = {name: (next(k for k, v in DTYPES.items() if v == a.dtype), a.shape) for name, a in arrays.items()}
    return restored(from_document(document, Arrays(described, lambda name, *_: arrays[name])))


@pytest.mark.parametrize("change", DATED, ids=str)
def test_a_file_whose_dates_contradict_themselves_is_refused(change, orders):
    X, y, *_ = orders
    model = TabularClassifier(LTCNClassifier(max_iter=1), drop_unusable=True).fit(X, y)
    assert loaded_with(model, lambda column: None).columns_ == model.columns_
    with pytest.raises(ModelFileError, match="columns_"):
        loaded_with(model, lambda column: column.update(change) if column["name"] == "sold" else None)


def test_a_file_of_a_version_without_dates_is_loaded(table, fitted):
    def older(column):
        for name in ("format", "first", "parts", "rare", "remark"):
            del column[name]

    X, _ = table
    again = loaded_with(fitted, older)
    assert again.columns_ == fitted.columns_
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))


def test_onnx_takes_the_raw_columns(table, fitted, tmp_path):
    pytest.importorskip("onnx")
    runtime = pytest.importorskip("onnxruntime")
    X, _ = table
    session = runtime.InferenceSession(fitted.to_onnx(tmp_path / "people.onnx"))
    text = {name: X[[name]].astype(object).fillna("").to_numpy() for name in ("sex", "port", "deck")}
    numbers = {name: X[[name]].to_numpy(dtype=float) for name in ("age", "class", "fare")}
    label, probability = session.run(["label", "probabilities"], text | numbers)
    np.testing.assert_array_equal(label, fitted.predict(X))
    np.testing.assert_allclose(probability, fitted.predict_proba(X), atol=1e-6)
