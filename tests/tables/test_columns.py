import datetime as dt
from dataclasses import asdict
from decimal import Decimal

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OneHotEncoder

from cogmap.tables.columns import Column, unique_concepts
from cogmap.tables.description import describe
from cogmap.tables.medians import weighted_median


def learn(values, *, weight=None, declared=None, max_categories=20, name="a"):
    if not isinstance(values, pd.Series):
        # Some versions of pandas do not take huge integers but as objects.
        huge = any(isinstance(value, int) and abs(value) > 2**63 for value in values)
        values = pd.Series(values, dtype=object) if huge else pd.Series(values)
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


# Dates


EPOCH = dt.date(1970, 1, 1)
DAYS = st.dates(dt.date(1700, 1, 1), dt.date(2200, 1, 1))


@given(st.lists(st.one_of(st.none(), DAYS), min_size=2, max_size=30))
def test_a_date_is_the_parts_that_vary_whatever_its_type(days):
    values = pd.Series(pd.to_datetime(pd.Series(days, dtype=object)))
    if values.nunique() < 2:
        return
    first, present = min(day for day in days if day is not None), values.dropna()
    parts = {
        "a: year": values.dt.year,
        "a: month": values.dt.month,
        "a: weekday": values.dt.day_of_week + 1,
        "a: days since the first": pd.Series(
            [None if day is None else (day - first).days for day in days], dtype=float
        ),
    }
    expected = pd.DataFrame({name: part for name, part in parts.items() if part.nunique() > 1})
    for same in (values, pd.Series(days, dtype=object), values.dt.strftime("%Y-%m-%d"), values.dt.tz_localize("UTC")):
        column = learn(same)
        assert (column.kind, column.format) == ("date", "iso")
        assert column.concepts == (*expected, *["a is missing"] * values.hasnans)
        got = column.encode(same)[:, : expected.shape[1]]
        np.testing.assert_array_equal(got[present.index], expected.loc[present.index])
        assert column.fill == np.median([(day - EPOCH).days for day in days if day is not None]) * 86_400


def test_hours_and_time_zones():
    text = ["2024-01-01T10:30:00+02:00", "2024-01-01 12:00:00Z", "2024-01-01 00:15"]
    column = learn(text)
    assert column.concepts == ("a: hour", "a: days since the first")
    np.testing.assert_array_equal(column.encode(pd.Series(text))[:, 0], [8.5, 12, 0.25])
    aware = pd.Series(pd.to_datetime(text, format="mixed", utc=True)).dt.tz_convert("Asia/Tokyo")
    np.testing.assert_array_equal(learn(aware).encode(aware), column.encode(pd.Series(text)))


def test_a_missing_date_is_the_middle_one():
    column = learn(["2024-03-01", "2024-03-05", "2024-05-01", None])
    assert column.fill_text == "2024-03-05"
    np.testing.assert_array_equal(
        column.encode(pd.Series([None, "2024-03-05"]))[:, :-1], column.encode(pd.Series(["2024-03-05"] * 2))[:, :-1]
    )
    np.testing.assert_array_equal(column.encode(pd.Series([np.nan, np.nan]))[:, -1], 1)


def test_times_of_day_are_hours():
    for values in (["14:30", "9:15", "23:59:30"], [dt.time(14, 30), dt.time(9, 15), dt.time(1)]):
        column = learn(values)
        assert column.concepts == ("a: hour",)
        np.testing.assert_array_equal(column.encode(pd.Series(values, dtype=object))[:2, 0], [14.5, 9.25])


def test_what_comes_first_is_decided_by_the_whole_column_and_said_where_it_is_a_guess():
    assert learn(["03/04/2024", "13/04/2024"]).note == ""
    assert learn(["03/04/2024", "13/04/2024"]).format == "day first"
    guessed = learn(["03/04/2024", "05/06/2024"])
    assert guessed.format == "month first"
    assert guessed.note == "the month is taken to come first, as in 03/04/2024 for 4 March 2024"


@pytest.mark.parametrize(
    ("given", "wrong", "message"),
    [
        (
            ["2024-01-01", "2024-02-01"],
            "soon",
            r"Column 'a' holds 'soon' \(value 2\) where a date is expected: correct",
        ),
        (["2024-01-01", "2024-02-01"], 7, r"Column 'a' holds '7' \(value 2\) where a date is expected"),
        (
            ["31.12.2024", "01.01.2024"],
            "12.31.2024",
            r"'12.31.2024' \(value 2\) where a date, the day first, is expected",
        ),
        (["14:30", "15:30"], "25:00", r"Column 'a' holds '25:00' \(value 2\) where a time is expected"),
    ],
)
def test_what_is_no_date_is_named(given, wrong, message):
    with pytest.raises(ValueError, match=message):
        learn(given).encode(pd.Series([None, given[0], wrong], dtype=object))


def test_one_date_is_a_constant():
    assert learn(["2024-01-01", "2024-01-01"]).note == "its only value is '2024-01-01': it is not used"
    assert learn(pd.Series(pd.to_datetime(["2024-01-01 12:00"] * 2))).fill == "2024-01-01 12:00:00"


def test_durations_are_days():
    values = pd.Series(pd.to_timedelta(["1 day", "36 hours", None]))
    np.testing.assert_array_equal(learn(values).encode(values), [[1, 0], [1.5, 0], [1.25, 1]])
    np.testing.assert_array_equal(learn(values).encode(values.astype(object)), [[1, 0], [1.5, 0], [1.25, 1]])


def test_dates_that_no_calendar_has_are_refused():
    far = pd.Series(np.array(["2024-01-01", "20240-01-01"], dtype="datetime64[s]"))
    with pytest.raises(ValueError, match="Column 'a' holds dates before the year 1 or after 9999: leave"):
        learn(far)


# Numbers that are text


@given(
    st.lists(st.one_of(st.none(), st.integers(-(10**9), 10**9)), min_size=2, max_size=40),
    st.sampled_from([("${}", "point"), ("{} €", "comma"), ("{} %", "point"), ("{}", "comma")]),
)
def test_currency_is_the_numbers_that_it_stands_for(cents, written):
    pattern, form = written
    numbers = pd.Series([None if value is None else value / 100 for value in cents], dtype=float)
    if numbers.nunique() < 2:
        return
    marks = str.maketrans(",.", ".,") if form == "comma" else {}
    texts = numbers.map(lambda number: pattern.format(f"{number:,.2f}".translate(marks)), na_action="ignore")
    column, plain = learn(texts.astype(object)), learn(numbers, declared="number")
    assert (column.kind, column.format, column.fill) == ("number", form, plain.fill)
    np.testing.assert_array_equal(column.encode(texts), plain.encode(numbers))


def test_digits_alone_are_names_while_they_are_few():
    assert learn(["1", "2", "1"]).kind == "category"
    assert learn([str(k % 30 + 0.5) for k in range(60)]).kind == "number"
    assert learn(["1", "2", "1"], declared="number").kind == "number"


def test_a_comma_before_three_digits_groups_them_and_that_is_said():
    column = learn(["1,234", "5,678"])
    np.testing.assert_array_equal(column.encode(pd.Series(["1,234", 99])), [[1234], [99]])
    assert column.note == "a comma is taken to group digits, as in 1,234 for 1234"
    assert learn(["1.234 €", "5.678 €"]).note == "a point is taken to group digits, as in 1.234 for 1234"
    assert learn(["1.234 %", "5.678 %"]).note.startswith("a point is taken to separate decimals")


def test_what_is_no_number_in_the_columns_way_of_writing_is_named():
    with pytest.raises(ValueError, match=r"Column 'a' holds '1,5' \(value 2\) where a number is expected"):
        learn(["$1.50", "$2.50"]).encode(pd.Series(["$3", "1,5"]))


# What was known before


def test_a_known_column_keeps_its_kind_and_is_not_suspicious():
    whole = pd.Series([f"{day:02d}/{month:02d}/2024" for day in range(1, 29) for month in (1, 2)])
    column, few = learn(whole), whole[:24]
    assert learn(few).format == "month first"
    again = describe(few, "a", np.ones(24), declared=None, max_categories=20, known=column)
    assert again.format == "day first"
    names = Column("a", "category", "x", ("x", "y", "z"))
    found = describe(
        pd.Series([f"n{k}" for k in range(30)]), "a", np.ones(30), declared=None, max_categories=20, known=names
    )
    assert found.kind == "category"
    dropped = Column("a", "dropped", remark="is odd")
    assert describe(whole, "a", np.ones(len(whole)), declared=None, max_categories=20, known=dropped) == dropped


def test_values_that_no_training_row_had_are_counted():
    new = pd.Series(["x", "X", None, "w", "X"])
    assert learn(["x", "y", "z"]).unseen(new) == {"X": 2, "w": 1}
    grouped = learn(["x"] * 5 + ["y"] * 4 + ["w", "v"], max_categories=3)
    assert grouped.other
    assert grouped.unseen(pd.Series(["x", "w", "other", "X"])) == {"X": 1}
    assert learn([1.0, 2.0]).unseen(pd.Series([3.0])) == {}


@pytest.mark.parametrize("name", ["Unnamed: 0", "", "x0"])
def test_the_index_of_a_table_is_named_as_what_it_is(name):
    with pytest.raises(
        ValueError, match=r"looks like the index that pandas writes, it numbers .* 0 to 29: drop it, or"
    ):
        learn(range(30), name=name)


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
        (pd.Series(pd.interval_range(0, 5)), "intervals"),
        ([f"2024-01-{i % 28 + 1:02d}" for i in range(60)] + ["soon"], "holds dates, but also 'soon'"),
        ([f"{i}/1/2024" for i in range(1, 25)] + ["1/31/2024"], "dates that are written in several ways"),
        ([f"{i}.5" for i in range(15)] + [f"{i},5" for i in range(15)], "numbers that are written in several ways"),
        ([f"${i}" for i in range(15)] + [f"{i} €" for i in range(15)], "mixes the units '\\$' and '€'"),
        ([f"${i}.50" for i in range(40)] + ["unknown"], "holds numbers, but also 'unknown'"),
        ([str(i % 50) for i in range(100)] + ["unknown"], "holds numbers, but also 'unknown'"),
        ([[1], [2, 3]], "lists or other nested values"),
        ([10**400, 1], "where a number is expected"),
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
    lists = {name: tuple(value) for name, value in stored.items() if isinstance(value, list)}
    assert Column(**(stored | lists)) == column
