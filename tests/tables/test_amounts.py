"""Numbers that are written for people against Python's own formatting."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogmap.tables.amounts import AmountText, may_be_amount, text_amount

CENTS = st.integers(-(10**14), 10**14).map(lambda cents: cents / 100)


def looked_at(*texts):
    found = AmountText()
    found.add(texts)
    return found


def german(text):
    return text.translate(str.maketrans(",.", ".,"))


@given(CENTS, st.sampled_from(["${}", "£ {}", "{} €", "{}€", "CHF {}", "{} kr", "US${}", "{} %", "{}%", "{}"]))
def test_an_amount_that_is_written_is_read_again(number, unit):
    text = unit.format(f"{number:,.2f}")
    assert text_amount(text, "point") == number
    assert text_amount(german(text), "comma") == number
    assert looked_at(text).format == "point"
    assert looked_at(german(text)).format == "comma"


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_of_a_computer_is_read_as_the_computer_does(number):
    assert text_amount(repr(number), "point") == number


@pytest.mark.parametrize("space", [" ", "\u00a0", "\u202f", "'", "’"])
def test_spaces_and_apostrophes_group_digits(space):
    assert text_amount(f"1{space}234{space}567,5", "comma") == 1234567.5
    assert text_amount(f"1{space}234{space}567.5", "point") == 1234567.5


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("(300)", -300.0),
        ("($1,234.50)", -1234.5),
        ("-$5", -5.0),
        ("$-5", -5.0),
        ("−5 €", -5.0),
        ("+5", 5.0),
        (".5", 0.5),
        ("12,34,567.00", 1234567.0),
        ("1e3", 1000.0),
    ],
)
def test_forms(text, expected):
    assert text_amount(text, "point") == expected


@pytest.mark.parametrize(
    "text",
    ["", "$", "EUR", "red", "1,2,3", "1.2.3", "--5", "(-5)", "5 $ %", "$5 €", "(5", "12 apples", "1e999", "nan", "inf"],
)
def test_what_is_no_number(text):
    assert not may_be_amount(text)
    assert looked_at("5", text).format is None


@pytest.mark.parametrize(
    ("texts", "form", "ambiguous"),
    [
        (["1,234", "12"], "point", True),
        (["1,234", "12.5"], "point", False),
        (["1,234", "12,5"], "comma", False),
        (["1.234 €", "999 €"], "comma", True),
        (["1.234 %", "999 %"], "point", True),
        (["1.234,50 €", "1.234 €"], "comma", False),
        (["1,234,567"], "point", False),
        (["1.234.567"], "comma", False),
        (["0,123"], "comma", False),
        (["12", "13"], "point", False),
        (["1.5", "1,5"], None, False),
    ],
)
def test_all_values_decide_which_mark_separates_decimals(texts, form, ambiguous):
    for order in (texts, texts[::-1]):
        found = looked_at(*order)
        assert found.format == form
        assert form is None or found.ambiguous == ambiguous


def test_digits_alone_are_not_marked_as_numbers():
    assert not looked_at("1", "2.5", "1e3").marked
    assert looked_at("1", "2 %").marked
    assert looked_at("1,000").marked
    assert looked_at("$1", "2 €").units == {"$", "€"}
