from dataclasses import asdict
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from cogmap.column_description import describe, weighted_median
from cogmap.columns import Column, unique_concepts


def learn(values, *, weight=None, declared=None, max_categories=20, name="a"):
    values = values if isinstance(values, pd.Series) else pd.Series(values)
    weight = np.ones(len(values)) if weight is None else np.asarray(weight, float)
    return describe(values, name, weight, declared=declared, max_categories=max_categories)


# Truth: scikit-learn and pandas


@given(st.lists(st.one_of(st.none(), st.sampled_from(["red", "green", "blue", "a b", "é", ""])), min_size=1))
def test_categories_are_those_of_scikit_learn(values):
    frame = pd.DataFrame({"a": pd.Series(values, dtype=object)})
    if frame["a"].isna().all():
        return
    column = learn(frame["a"], declared="category")
    filled = SimpleImputer(strategy="most_frequent", missing_values=None).fit_transform(frame.to_numpy(object))
    encoder = OneHotEncoder(handle_unknown="ignore", sparse_output=False).fit(filled)
    expected, names = encoder.transform(filled), [f"a = {c}" for c in encoder.categories_[0]]
    got = pd.DataFrame(column.encode(frame["a"]), columns=column.concepts)
    shown = [name for name in got if name != "a is missing"]
    if len(names) == 1:
        assert shown == []
    elif len(names) == 2:
        assert len(shown) == 1  # scikit-learn's two columns are 1 less each other
    else:
        assert shown == names
    for name in shown:
        np.testing.assert_array_equal(got[name], expected[:, names.index(name)])


@given(st.lists(st.one_of(st.none(), st.floats(-1e6, 1e6)), min_size=2, max_size=19))
def test_numbers_are_filled_as_by_scikit_learn(values):
    series = pd.Series(values, dtype=float)
    if series.nunique() < 2:
        return
    column = learn(series)
    expected = SimpleImputer(strategy="median", add_indicator=True).fit_transform(series.to_numpy()[:, None])
    np.testing.assert_array_equal(column.encode(series), expected)


def test_indicators_are_those_of_get_dummies():
    series = pd.Series(["b", "a", "c", "a", "b", "a"])
    expected = pd.get_dummies(series, prefix="a", prefix_sep=" = ")
    column = learn(series)
    assert column.concepts == tuple(expected.columns)
    np.testing.assert_array_equal(column.encode(series), expected.to_numpy(float))


@pytest.mark.parametrize("limit", [2, 3, 5, 30])
def test_rare_categories_are_grouped_as_by_scikit_learn(limit, rng):
    series = pd.Series(rng.choice(list("abcdefgh"), 500, p=np.array([9, 8, 7, 6, 5, 4, 3, 2]) / 44))
    column = learn(series, max_categories=limit)
    encoder = OneHotEncoder(max_categories=limit, sparse_output=False, handle_unknown="infrequent_if_exist")
    table = series.to_frame("a")
    encoder.fit(table)
    assert len(column.concepts) == min(limit, 8)
    np.testing.assert_array_equal(column.encode(series), encoder.transform(table))
    if limit < 8:
        new = pd.Series(["a", "never seen"])
        np.testing.assert_array_equal(column.encode(new), encoder.transform(new.to_frame("a")))
        assert column.concepts[-1] == "a = other"
        assert "rarer values" in column.note


@given(
    st.lists(st.tuples(st.integers(-50, 50), st.integers(1, 4)), min_size=1, max_size=30),
)
def test_the_weighted_median_is_that_of_repeated_values(pairs):
    values, counts = np.array(pairs, float).T
    assert weighted_median(values, counts) == np.median(np.repeat(values, counts.astype(int)))


@pytest.mark.parametrize("declared", [None, "category"])
def test_a_weight_of_two_is_a_repeated_value(declared):
    values = pd.Series([1.5, 2.5, None, 4.0, 4.0, 9.0])
    weight = np.array([3, 1, 2, 1, 1, 2])
    assert learn(values, weight=weight, declared=declared) == learn(values.repeat(weight), declared=declared)


# What is decided, and said


def test_two_values_are_one_concept_named_after_the_rarer():
    column = learn(["m", "f", "m", "m", None])
    assert column.concepts == ("a = f", "a is missing")
    values = pd.Series(["m", "f", None, "x"])
    np.testing.assert_array_equal(column.encode(values), [[0, 0], [1, 0], [0, 1], [0, 0]])


def test_unknown_categories_are_zero_everywhere():
    column = learn(["x", "y", "z"])
    np.testing.assert_array_equal(column.encode(pd.Series(["new", "y"])), [[0, 0, 0], [0, 1, 0]])


@pytest.mark.parametrize(
    "values",
    [
        pd.Series([True, False, True]),
        pd.Series([True, None, False, True], dtype=object),
        pd.Series([True, None, False, True], dtype="boolean"),
    ],
)
def test_booleans_are_one_concept_under_their_own_name(values):
    column = learn(values)
    assert (column.kind, column.fill, column.concepts[0]) == ("boolean", 1.0, "a")
    expected = [1.0 if value is None or value is pd.NA else float(value) for value in values]
    np.testing.assert_array_equal(column.encode(values)[:, 0], expected)


@pytest.mark.parametrize("missing", [0, 1, 2, 5])
def test_missing_has_a_concept_from_one_percent_on(missing):
    values = pd.Series(np.r_[np.arange(200 - missing) % 7, np.full(missing, np.nan)])
    assert ("a is missing" in learn(values).concepts) == (missing >= 2)


def test_categories_have_one_spelling_whatever_the_type():
    column = learn([1, 2, 3, 3], declared="category")
    assert column.concepts == ("a = 1", "a = 2", "a = 3")
    for same in (pd.Series([1, 3]), pd.Series([1.0, 3.0]), pd.Series(["1", "3"]), pd.Series([1, 3], dtype="Int64")):
        np.testing.assert_array_equal(column.encode(same), [[1, 0, 0], [0, 0, 1]])


def test_a_category_called_other_joins_the_rare_ones():
    column = learn(["other"] * 5 + ["a"] * 4 + ["b"] * 3 + ["c", "d"], max_categories=3)
    assert column.concepts == ("a = a", "a = other")
    np.testing.assert_array_equal(column.encode(pd.Series(["other", "a", "d", None])), [[0, 1], [1, 0], [0, 1], [0, 1]])


def test_constant_and_empty_columns_are_not_used_but_noted():
    constant, empty = learn(["x", "x"]), learn([None, None])
    assert (constant.concepts, empty.concepts) == ((), ())
    assert constant.note == "its only value is 'x': it is not used"
    assert empty.note == "all its values are missing: it is not used"
    assert learn([3.0, 3.0]).kind == "constant"
    assert learn(["x", None, "x"]).concepts == ("a is missing",)
    assert constant.encode(pd.Series(["x", "y"])).shape == (2, 0)


def test_decimals_are_numbers():
    column = learn([Decimal("1.5"), Decimal("2.5"), None])
    np.testing.assert_array_equal(column.encode(pd.Series([Decimal("1.5"), None])), [[1.5, 0], [2.0, 1]])


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([f"user {i}" for i in range(40)], "identifier, all its 40 values differ"),
        (list(range(100, 140)), "identifier, it numbers the rows from 100 to 139"),
        ([f"text {i // 2 * 3}" for i in range(60)] + [f"t {i}" for i in range(10)], "free text, it has 40 different"),
        ([f"word {i % 90}" for i in range(400)], "free text, it has 90 different values in 400 rows"),
        ([f"2024-01-{i % 28 + 1:02d}" for i in range(60)], "dates or times"),
        (pd.Series(pd.date_range("2024", periods=5)), "dates or times"),
        (pd.Series(pd.to_timedelta([1, 2, 3], unit="D")), "dates or times"),
        ([str(i % 50) for i in range(100)] + ["unknown"], "holds numbers, but also 'unknown'"),
        ([[1], [2, 3]], "lists or other nested values"),
        ([1j, 2j], "complex numbers"),
    ],
)
def test_what_is_no_feature_is_named_with_the_way_out(values, message):
    with pytest.raises(ValueError, match=f"^Column 'a' .*{message}.*:") as error:
        learn(values)
    assert str(error.value).count(". ") == 0


def test_what_is_declared_is_not_suspicious():
    assert learn([f"user {i}" for i in range(40)], declared="category").other
    assert learn(list(range(40)), declared="number").kind == "number"
    assert learn(pd.Series([f"user {i}" for i in range(40)], dtype="category")).kind == "category"


def test_a_few_rows_are_not_suspicious():
    assert learn(["ann", "bob", "eve"]).kind == "category"
    assert learn([1, 2, 3]).kind == "number"


def test_text_where_a_number_was_is_named():
    with pytest.raises(ValueError, match=r"Column 'a' holds 'old' \(value 2\) where a number is expected"):
        learn([1.0, 2.5, 3.0]).encode(pd.Series([1, "old"]))


def test_two_concepts_of_one_name_are_refused():
    with pytest.raises(ValueError, match="'a = x': rename"):
        unique_concepts([Column("a", "category", "x", ("x", "y", "z")), Column("a = x", "number", 0.0)])


def test_a_column_is_plain_data():
    import json

    column = learn(["x", "y", "z", None])
    stored = json.loads(json.dumps(asdict(column)))
    assert Column(**(stored | {"categories": tuple(stored["categories"])})) == column
