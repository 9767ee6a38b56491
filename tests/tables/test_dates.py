"""Dates against Python's datetime and pandas."""

from datetime import UTC, date, datetime, time, timedelta, timezone

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogmap.tables.dates import (
    EARLIEST,
    LATEST,
    PARTS,
    DateText,
    date_parts,
    in_words,
    may_be_date,
    parts_of,
    text_seconds,
    value_seconds,
)

EPOCH = datetime(1970, 1, 1)
MOMENTS = st.datetimes(datetime(1, 1, 1), datetime(9999, 12, 31, 23, 59, 59))
MINUTES = st.datetimes(datetime(1000, 1, 1), datetime(9999, 12, 31)).map(
    lambda moment: moment.replace(second=0, microsecond=0)
)


def seconds(moment):
    return (moment - EPOCH) / timedelta(seconds=1)


def format_of(*texts):
    found = DateText()
    found.add(texts)
    return found.format


@given(MOMENTS)
def test_parts_are_those_of_datetime(moment):
    found = date_parts(np.array([seconds(moment)]), seconds(datetime(2000, 1, 1)))
    assert tuple(found) == PARTS
    assert (found["year"], found["month"], found["weekday"]) == (moment.year, moment.month, moment.isoweekday())
    clock = moment.hour + moment.minute / 60 + moment.second / 3600 + moment.microsecond / 3.6e9
    assert found["hour"][0] == pytest.approx(clock, abs=1e-7)
    days = (moment - datetime(2000, 1, 1)) / timedelta(days=1)
    assert found["days since the first"][0] == pytest.approx(days, abs=1e-8)


def test_parts_are_those_of_pandas_on_every_day_of_400_years():
    days = pd.Series(pd.date_range("1850-01-01", "2250-01-01", freq="D"))
    found = date_parts((days - pd.Timestamp(0)) / pd.Timedelta(seconds=1))
    np.testing.assert_array_equal(found["year"], days.dt.year)
    np.testing.assert_array_equal(found["month"], days.dt.month)
    np.testing.assert_array_equal(found["weekday"], days.dt.day_of_week + 1)
    np.testing.assert_array_equal(found["hour"], 0)


def test_parts_of_nothing_are_nothing():
    assert all(np.isnan(part).all() for part in date_parts(np.array([np.nan])).values())


def test_the_calendar_ends_where_datetime_does():
    assert seconds(datetime.min) == EARLIEST
    assert seconds(datetime.max) == pytest.approx(LATEST, abs=1e-4)


@pytest.mark.parametrize(
    ("pattern", "form"),
    [
        ("%Y-%m-%d %H:%M", "iso"),
        ("%Y/%m/%dT%H:%M", "iso"),
        ("%Y-%m-%dT%H:%M:00Z", "iso"),
        ("%d/%m/%Y %H:%M", "day first"),
        ("%d.%m.%Y %H:%M:00", "day first"),
        ("%m/%d/%Y %I:%M %p", "month first"),
        ("%m-%d-%Y %H:%M", "month first"),
        ("%d %B %Y %H:%M", "iso"),
        ("%d-%b-%Y %H:%M", "iso"),
        ("%B %d, %Y %H:%M", "iso"),
    ],
)
@given(moment=MINUTES)
def test_a_date_that_is_written_is_read_again(pattern, form, moment):
    text = moment.strftime(pattern)
    assert text_seconds(text, form) == seconds(moment)
    assert may_be_date(text)


@given(MINUTES, st.integers(-14 * 60, 14 * 60))
def test_time_zones_become_utc(moment, minutes):
    zone = timezone(timedelta(minutes=minutes))
    text = moment.replace(tzinfo=zone).isoformat()
    assert text_seconds(text, "iso") == seconds(moment) - 60 * minutes
    assert text_seconds(text.replace("T", " "), "iso") == seconds(moment) - 60 * minutes


@pytest.mark.parametrize(
    ("texts", "form"),
    [
        (["2024-01-31", "2024-02-01"], "iso"),
        (["31/01/2024", "01/02/2024"], "day first"),
        (["01/31/2024", "01/02/2024"], "month first"),
        (["31.12.23", "01.01.24"], "day first"),
        (["03/04/2024"], "month first"),
        (["03.04.2024"], "day first"),
        (["03/04/2024", "2024-12-24"], "month first"),
        (["2024-01", "2024-02"], "iso"),
        (["14:30", "9:05 pm"], "time"),
        (["31/01/2024", "01/31/2024"], None),
        (["14:30", "2024-01-01"], None),
        (["2024-02-30"], None),
        (["24:00"], None),
        (["13:00 pm"], None),
        (["2024-01-01", "soon"], None),
        (["Mayor 2024"], None),
        ([], None),
    ],
)
def test_all_values_decide_how_dates_are_written(texts, form):
    assert format_of(*texts) == form
    assert format_of(*reversed(texts)) == form


def test_what_the_values_do_not_settle_is_ambiguous():
    found = DateText()
    found.add(["03/04/2024", "05/06/2024"])
    assert found.ambiguous
    found.add(["13/04/2024"])
    assert (found.ambiguous, found.format) == (False, "day first")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("03/04/2024", "iso"),  # which is day and month is not known
        ("31/12/2024", "month first"),
        ("2024-01-01", "time"),
        ("14:30", "iso"),
        ("tomorrow", "day first"),
    ],
)
def test_what_does_not_fit_the_format_is_no_date(text, form):
    assert text_seconds(text, form) is None


def test_two_digits_of_a_year_are_those_of_posix():
    assert in_words(text_seconds("01.02.68", "day first"), "iso") == "2068-02-01"
    assert in_words(text_seconds("01.02.69", "day first"), "iso") == "1969-02-01"


@pytest.mark.parametrize(
    ("value", "form", "words"),
    [
        (datetime(2024, 3, 1, tzinfo=UTC), "iso", "2024-03-01"),
        (datetime(2024, 3, 1, 6, 30, tzinfo=timezone(timedelta(hours=2))), "iso", "2024-03-01 04:30:00"),
        (date(1600, 3, 1), "iso", "1600-03-01"),
        (pd.Period("2024-03", "M"), "iso", "2024-03-01"),
        (np.datetime64("2024-03-01T12"), "iso", "2024-03-01 12:00:00"),
        (time(14, 30), "time", "14:30:00"),
    ],
)
def test_dates_of_all_types_are_seconds(value, form, words):
    assert in_words(value_seconds(value, form), form) == words


def test_a_time_of_day_has_the_hour_only():
    assert parts_of("time") == ("hour",)
    assert parts_of("iso") == PARTS
