"""Columns learned in passes over parts against columns learned from the whole table."""

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from cogmap.intake.progress import Meter
from cogmap.tables import tally as column_passes
from cogmap.tables.description import describe, learn_columns
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
    table = table[:: 10 if size == 1 else 1].reset_index(drop=True)
    assert in_passes(table, size, declared, 9) == at_once(table, declared, 9)


@pytest.mark.parametrize("size", [1, 41, 300])
def test_a_table_of_dates_and_amounts(size, rng):
    when = pd.Series(pd.date_range("2020-02-28", periods=300, freq="31h"))
    price = pd.Series(rng.normal(0, 3000, 300).round(2))
    table = pd.DataFrame(
        {
            "moment": when,
            "tokyo": when.dt.tz_localize("Asia/Tokyo"),
            "day": when.dt.date,
            "text": when.dt.strftime("%d/%m/%Y").where(when.index % 7 > 0),
            "guess": "0" + (when.index % 9 + 1).astype(str) + "/05/2020",
            "clock": when.dt.strftime("%H:%M"),
            "once": "2020-01-01",
            "price": price.map("${:,.2f}".format).where(price.index % 11 > 0),
            "euro": price.map(lambda p: f"{p:,.2f} €".translate(str.maketrans(",.", ".,"))),
            "share": price.map("{:.1f} %".format),
            "thousand": (price.abs().round() + 1000).map("{:,.0f}".format),
            "same": "$5",
            "digits": (when.index % 25).astype(str),
            "few digits": (when.index % 5).astype(str),
            "length": when - when[0],
        }
    )
    some = table[:: 10 if size == 1 else 1].reset_index(drop=True)
    assert in_passes(some, size) == at_once(some)
    kinds = {column.name: (column.kind, column.format) for column in at_once(table)}
    assert [kinds[name] for name in ("moment", "text", "clock")] == [
        ("date", "iso"),
        ("date", "day first"),
        ("date", "time"),
    ]
    assert [kinds[name] for name in ("price", "euro", "digits")] == [
        ("number", "point"),
        ("number", "comma"),
        ("number", "point"),
    ]
    assert [kinds[name][0] for name in ("few digits", "once", "same")] == ["category", "constant", "constant"]


def written(number, day, way):
    """Write a number and a day in one of several ways, some of which are neither."""
    return [
        f"${number:,}",
        f"{number:,.1f} €".translate(str.maketrans(",.", ".,")),
        str(number),
        f"{day % 31 + 1}/{number % 12 + 1}/2024",
        f"{number % 12 + 1}/{day % 28 + 1}/24",
        f"2024-{number % 12 + 1}-{day % 28 + 1}",
        f"{day % 24}:{number % 60:02d}",
        "word",
        None,
    ][way]


WAYS = st.lists(st.sampled_from([*range(7), *range(7), 7, 8]), min_size=1, max_size=3)


@hypothesis_settings(max_examples=100)
@given(
    st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 60), st.integers(0, 2)), min_size=1, max_size=40),
    WAYS,
    st.integers(1, 15),
)
def test_text_in_parts_is_read_as_text_at_once(rows, ways, size):
    values = [written(number, day, ways[k % len(ways)]) for number, day, k in rows]
    table = pd.DataFrame({"x": pd.Series(values, dtype=object)})
    try:
        expected = at_once(table)
    except ValueError as error:
        with pytest.raises(ValueError, match=re.escape(str(error))):
            in_passes(table, size)
    else:
        assert in_passes(table, size) == expected


def test_numbers_and_dates_as_text_may_be_more_than_categories(monkeypatch):
    monkeypatch.setattr(column_passes, "MOST_TEXT", 50)
    days = pd.Series(pd.date_range("2020-01-01", periods=100))
    table = pd.DataFrame({"price": [f"${k * 3}.50" for k in range(100)], "day": days.dt.strftime("%Y-%m-%d")})
    assert in_passes(table, 10) == at_once(table)
    spoiled = table.assign(price=table["price"].where(table.index < 99, "unknown"))
    with pytest.raises(ValueError, match=r"Column 'price' has more than 50 different values"):
        in_passes(spoiled, 10)


def test_all_unusable_columns_are_named_at_once_or_dropped():
    table = pd.DataFrame(
        {
            "id": range(60),
            "name": [f"n{k}" for k in range(60)],
            "x": np.arange(60) % 7,
            "inf": [np.inf, *[1.0] * 59],
            "list": [[k] for k in range(60)],
        }
    )
    with pytest.raises(ValueError, match="4 columns cannot be used") as error:
        in_passes(table, 20)
    parts = ["'id' looks like", "'name' looks", "inf) in column 'inf', row 0", "'list' holds"]
    for line, part in zip(str(error.value).splitlines()[1:5], parts, strict=True):
        assert part in line
    usable = table.drop(columns="inf")
    blocks = [usable[i : i + 20] for i in range(0, 60, 20)]
    asked = [(name, None) for name in usable]
    found = learn_columns(lambda: blocks, asked, 20, Meter(lambda _: None), drop_unusable=True)
    assert [column.kind for column in found] == ["dropped", "dropped", "number", "dropped"]
    assert found[0].note == "it looks like an identifier, it numbers the rows from 0 to 59: it is not used"


@hypothesis_settings(max_examples=100)
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
    (column,) = in_passes(table, size, {"x": "number"})
    assert (column,) == at_once(table, {"x": "number"})
    present = np.sort(table["x"].dropna())
    if column.kind == "number":
        low, high = present[(len(present) - 1) // 2], present[len(present) // 2]
        with np.errstate(over="ignore"):  # the sum of the largest numbers is none
            assert column.fill in ((low + high) / 2, low / 2 + high / 2)


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
        pd.Series([*(f"2020-01-{k % 28 + 1:02d}" for k in range(100)), "soon"]),
        pd.Series([f"${k}" if k % 2 else f"{k} €" for k in range(100)]),
        pd.Series(map(str, range(100))),
        pd.Series([[k] for k in range(100)]),
    ],
    ids=[
        "counts",
        "shuffled",
        "identifiers",
        "free text",
        "almost numbers",
        "almost dates",
        "two units",
        "counts as text",
        "lists",
    ],
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
