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

from cogmap import Knowledge, LTCNClassifier, LTCNClassifierCV, TabularClassifier, UnseenValueWarning
from tests.people import people


@parametrize_with_checks([TabularClassifier(LTCNClassifier())])
@pytest.mark.filterwarnings("ignore::cogmap.NoInformationWarning")  # some checks fit noise
def test_scikit_learn_conformance(estimator, check):
    check(estimator)


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
