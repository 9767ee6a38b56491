"""Columns learned in passes over parts against columns learned from the whole table."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from cogmap import column_passes
from cogmap.column_description import describe
from cogmap.column_passes import learn_columns
from cogmap.progress import Meter
from tests.people import people


def in_passes(table, size, declared=None, most=20):
    parts = [table[i : i + size].reset_index(drop=True) for i in range(0, len(table), size)]
    asked = [(name, (declared or {}).get(name)) for name in table]
    return learn_columns(lambda: parts, asked, most, Meter(lambda _: None))


def at_once(table, declared=None, most=20):
    weight = np.ones(len(table))
    return tuple(
        describe(values, name, weight, declared=(declared or {}).get(name), max_categories=most)
        for name, values in table.items()
    )


@pytest.mark.parametrize("size", [1, 41, 300])
def test_a_table_of_all_kinds(size):
    table = people().drop(columns="id")
    row = np.arange(len(table))
    table = table.assign(
        flag=np.where(row % 3 == 0, None, row % 5 == 0),
        truth=row % 2 == 0,
        same=4,
        word="w",
        nothing=None,
        half=np.where(row < 150, np.nan, 7.0),
        many=np.char.add("v", (row % 31 * (row % 2)).astype(str)),
        kind=pd.Categorical(np.where(row % 2, "a", "b")),
        huge=np.where(row % 2, 1.7e308, -1.7e308) + 0.0,
    )
    declared = {"class": "category"}
    assert in_passes(table, size, declared, 9) == at_once(table, declared, 9)


@hypothesis_settings(max_examples=150)
@given(
    st.lists(
        st.one_of(
            st.floats(allow_nan=True, allow_infinity=False),
            st.integers(-3, 3).map(float),
            st.floats(0, 1e-300),
        ),
        min_size=1,
        max_size=40,
    ),
    st.integers(1, 15),
)
def test_medians_are_exact(numbers, size):
    table = pd.DataFrame({"x": numbers})
    assert in_passes(table, size, {"x": "number"}) == at_once(table, {"x": "number"})


def test_medians_of_values_that_lie_close_together_take_few_passes(rng):
    table = pd.DataFrame({"x": np.r_[1e6 + rng.normal(size=5000) * 1e-6, -1e9, 1e12]})
    meter, parts = Meter(lambda _: None), [table]
    found = learn_columns(lambda: parts, [("x", None)], 20, meter)
    assert found == at_once(table)
    assert meter.number <= 6


@pytest.mark.parametrize(
    "values",
    [
        pd.Series(np.arange(100)),
        pd.Series(np.random.default_rng(0).permutation(100) + 7.0),
        pd.Series([f"id-{k}" for k in range(100)]),
        pd.Series([f"word {k % 70}" for k in range(100)]),
        pd.Series([*map(str, range(95)), *["none"] * 5]),
        pd.Series(pd.date_range("2020-01-01", periods=100)),
        pd.Series([f"2020-01-{k % 28 + 1:02d}" for k in range(100)]),
    ],
    ids=["counts", "shuffled", "identifiers", "free text", "almost numbers", "dates", "dates as text"],
)
def test_what_is_no_feature_is_refused_in_the_same_words(values):
    table = values.to_frame("x")
    with pytest.raises(ValueError, match="Column 'x'") as whole:
        at_once(table)
    with pytest.raises(ValueError, match=re.escape(str(whole.value))):
        in_passes(table, 30)


def test_whole_numbers_with_a_copy_or_with_gaps_are_quantities():
    table = pd.DataFrame({"copy": [*range(99), 5], "gaps": np.arange(100) * 3})
    assert in_passes(table, 30) == at_once(table)


def test_infinity_and_words_among_numbers_are_named_by_their_place_in_the_table():
    table = pd.DataFrame({"x": [1.0, np.nan, 2.0, 3.0, np.nan, np.inf]})
    with pytest.raises(ValueError, match=r"infinity \(inf\) in column 'x', row 5"):
        in_passes(table, 2)
    table = pd.DataFrame({"x": ["1", None, "2", "3", "four"]})
    with pytest.raises(ValueError, match=r"Column 'x' holds 'four' \(value 4\)"):
        in_passes(table, 2, {"x": "number"})


def test_too_many_categories_to_count_are_refused(monkeypatch):
    monkeypatch.setattr(column_passes, "MOST_TEXT", 50)
    table = pd.DataFrame({"x": [f"v{k}" for k in range(60)]})
    with pytest.raises(ValueError, match=r"Column 'x' has more than 50 different values, too many .*: drop it"):
        in_passes(table, 10, {"x": "category"})
