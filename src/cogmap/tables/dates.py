"""Dates and times as seconds since 1970-01-01 UTC, and the parts of them that become concepts.

The calendar is plain arithmetic on day numbers, so that another program can do the same: a day has 86,400 seconds, 400
years have 146,097 days, and a year begins in March until the last step. A date without a time zone is taken as UTC.

Easy to get wrong: 03/04/2024 is a day of March or of April. Which comes first is decided by all values of a column.
"""

import re
from collections.abc import Iterable
from datetime import UTC, date, datetime, time, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.types import Array

if TYPE_CHECKING:
    import pandas as pd

PARTS = ("year", "month", "weekday", "hour", "days since the first")
"""What a date becomes, in the order of the concepts; Monday is weekday 1, and 14:30 is hour 14.5."""
FORMATS = ("iso", "day first", "month first", "time")
"""How the values of a column are written; "iso" is also what has one meaning only, such as 3 April 2024."""
DAY = 86_400.0
EARLIEST, LATEST = -62_135_596_800.0, 253_402_300_799.999999
"""The years 1 to 9999."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")

_MONTH = (
    r"(?P<name>jan(uary)?|feb(ruary)?|mar(ch)?|apr(il)?|may|june?|july?|aug(ust)?|sept?(ember)?|oct(ober)?|"
    r"nov(ember)?|dec(ember)?)\.?"
)
_ZONE = r"\s*(?P<zone>z|utc|gmt|[+-]\d{2}(:?\d{2})?)?"
_TIME = r"(?P<hour>\d{1,2}):(?P<minute>\d{2})(:(?P<second>\d{2}(\.\d{1,9})?))?(\s*(?P<half>[ap])\.?m\.?)?" + _ZONE
_DATES = (
    r"(?P<year>\d{4})(?P<mark>[-/.])(?P<month>\d{1,2})((?P=mark)(?P<day>\d{1,2}))?",
    r"(?P<one>\d{1,2})(?P<mark>[-/.])(?P<two>\d{1,2})(?P=mark)(?P<year>\d{4}|\d{2})",
    rf"(?P<day>\d{{1,2}})\.?[ -]{_MONTH}[ -](?P<year>\d{{4}}|\d{{2}})",
    rf"{_MONTH}\s+((?P<day>\d{{1,2}}),?\s+)?(?P<year>\d{{4}})",
)
_DATE_FORMS = [re.compile(rf"{form}((t|,?\s+){_TIME})?", re.IGNORECASE | re.ASCII) for form in _DATES]
_TIME_FORM = re.compile(_TIME, re.IGNORECASE | re.ASCII)


def date_parts(seconds: Array, first: float = 0.0) -> dict[str, Array]:
    """Return the parts of dates, each of the shape of `seconds`.

    Parameters
    ----------
    seconds : array
        Seconds since 1970-01-01 UTC; NaN gives NaN.
    first : float, default=0.0
        The date from which "days since the first" counts, in seconds too.

    Returns
    -------
    dict of arrays
        By the names in `PARTS`: the year, the month from 1, the weekday from 1 (Monday), the hour with its fraction,
        and the days since the first with theirs.

    Examples
    --------
    >>> {name: float(part) for name, part in date_parts(np.array(1704295800.0), 1704067200.0).items()}
    {'year': 2024.0, 'month': 1.0, 'weekday': 3.0, 'hour': 15.5, 'days since the first': 2.6458333333333335}
    """
    day = np.floor(seconds / DAY)
    from_march = day + 719_468  # days since 0000-03-01: a leap day is the last of its year
    era = np.floor(from_march / 146_097)
    of_era = from_march - era * 146_097
    leaps = np.floor(of_era / 1_460) - np.floor(of_era / 36_524) + np.floor(of_era / 146_096)
    year = np.floor((of_era - leaps) / 365)
    of_year = of_era - (365 * year + np.floor(year / 4) - np.floor(year / 100))
    month = np.floor((5 * of_year + 2) / 153)
    month = month + 3 - 12 * (month >= 10)
    parts = (
        year + 400 * era + (month <= 2),
        month,
        day + 3 - 7 * np.floor((day + 3) / 7) + 1,
        (seconds - day * DAY) / 3_600,
        (seconds - first) / DAY,
    )
    return dict(zip(PARTS, parts, strict=True))


def parts_of(form: str) -> tuple[str, ...]:
    """Return the parts that dates of a format may have: a time of day has the hour only."""
    return ("hour",) if form == "time" else PARTS


class DateText:
    """What the texts of a column say about how dates are written in it; texts may be added some at a time."""

    def __init__(self) -> None:
        self.times = self.dates = self.numeric = False
        self.orders = {"day first", "month first"}
        self.points = True
        self.possible = True

    def add(self, texts: Iterable[str]) -> None:
        """Look at texts until one cannot be a date beside the others."""
        for text in texts:
            if not self.possible:
                return
            self._look(text)

    def _look(self, text: str) -> None:
        match = _matched(text)
        if match is None:
            self.possible = False
        elif match.re is _TIME_FORM:
            self.times = True
            self.possible = not self.dates and _time(match) is not None
        else:
            self.dates = True
            if "one" in match.re.groupindex:
                self.numeric = True
                self.points = self.points and match["mark"] == "."
            self.orders = {order for order in self.orders if _seconds(match, order) is not None}
            self.possible = bool(self.orders) and not self.times

    @property
    def format(self) -> str | None:
        """How the dates are written; None where the texts are no dates."""
        if not self.possible or not (self.times or self.dates):
            return None
        if self.times:
            return "time"
        if not self.numeric:
            return "iso"
        return self._usual if self.ambiguous else next(iter(self.orders))

    @property
    def ambiguous(self) -> bool:
        """Whether the values do not settle what comes first, the day or the month."""
        return self.numeric and len(self.orders) == 2

    @property
    def _usual(self) -> str:
        return "day first" if self.points else "month first"


def text_seconds(text: str, form: str) -> float | None:
    """Return a date that is written in a format as seconds; None where it is none."""
    match = _matched(text)
    if match is None or (form == "time") != (match.re is _TIME_FORM):
        return None
    if form == "time":
        return _time(match)
    if form == "iso" and "one" in match.re.groupindex:
        return None
    return _seconds(match, form)


def may_be_date(text: str) -> bool:
    """Say whether a text is a date or a time in any format."""
    match = _matched(text)
    if match is None or match.re is _TIME_FORM:
        return match is not None and _time(match) is not None
    return any(_seconds(match, order) is not None for order in ("day first", "month first"))


def value_seconds(value: Any, form: str) -> float | None:
    """Return one date, time or text as seconds; None where it is none."""
    if isinstance(value, str):
        return text_seconds(value, form)
    if hasattr(value, "to_timestamp"):
        value = value.to_timestamp()
    if isinstance(value, np.datetime64):
        value = value.astype("datetime64[us]").item()
    if isinstance(value, datetime):
        aware = value.replace(tzinfo=UTC) if value.tzinfo is None else value
        return (aware - EPOCH) / timedelta(seconds=1)
    if isinstance(value, date):
        return (value - EPOCH.date()) / timedelta(seconds=1)
    if isinstance(value, time):
        return value.hour * 3_600.0 + value.minute * 60.0 + value.second + value.microsecond / 1e6
    return None


def whole_column(values: "pd.Series") -> Array | None:
    """Return a column of one type of dates as seconds, NaN where missing; None where it is none."""
    import pandas as pd

    if isinstance(values.dtype, pd.PeriodDtype):
        values = values.dt.to_timestamp()
    if isinstance(values.dtype, pd.DatetimeTZDtype):
        values = values.dt.tz_convert("UTC").dt.tz_localize(None)
    if not (isinstance(values.dtype, np.dtype) and values.dtype.kind == "M"):
        return None
    moments = values.to_numpy().astype("datetime64[us]")
    return np.where(np.isnat(moments), np.nan, moments.astype(np.int64) / 1e6)


def in_words(seconds: float, form: str) -> str:
    """Return a date as text: in ISO form, without a time at midnight; a time of day alone in its format."""
    moment = EPOCH + timedelta(seconds=round(seconds))
    if form == "time":
        return moment.strftime("%H:%M:%S")
    shown = moment.replace(tzinfo=None).isoformat(sep=" ")
    return shown.removesuffix(" 00:00:00")


def _matched(text: str) -> re.Match[str] | None:
    """Match a text with the one form that it can have; its first marks tell which."""
    text = text.strip()
    if text[4:5] in ("-", "/", ".") and text[:4].isdigit():
        form = _DATE_FORMS[0]
    elif not text[:1].isdigit():
        form = _DATE_FORMS[3]
    elif ":" in text[1:3]:
        form = _TIME_FORM
    else:
        mark = 1 if not text[1:2].isdigit() else 2
        form = _DATE_FORMS[1 if text[mark : mark + 1] in ("-", "/", ".") and text[mark + 1 : mark + 2].isdigit() else 2]
    return form.fullmatch(text)


def _seconds(match: re.Match[str], order: str) -> float | None:
    """Return the seconds of a date; None where the calendar has no such day, or the day no such time."""
    named, year = match.re.groupindex, int(match["year"])
    if len(match["year"]) == 2:
        year += 2000 if year < 69 else 1900
    if "one" in named:
        day, month = (match["one"], match["two"]) if order == "day first" else (match["two"], match["one"])
    else:
        day = match["day"] or "1"
        month = match["month"] if "month" in named else 1 + MONTHS.index(match["name"][:3].lower())
    clock = 0.0 if match["hour"] is None else _time(match)
    try:
        days = date(year, int(month), int(day)).toordinal() - EPOCH.toordinal()
    except ValueError:
        return None
    return None if clock is None else days * DAY + clock


def _time(match: re.Match[str]) -> float | None:
    """Return the seconds of a time since midnight, less those by which its zone is ahead."""
    hour, minute, second = int(match["hour"]), int(match["minute"]), float(match["second"] or 0)
    if match["half"]:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + 12 * (match["half"].lower() == "p")
    if hour > 23 or minute > 59 or second >= 60:
        return None
    zone = match["zone"] or ""
    ahead = 0.0
    if zone[:1] in ("+", "-"):
        digits = zone[1:].replace(":", "").ljust(4, "0")
        ahead = (int(digits[:2]) * 3_600.0 + int(digits[2:]) * 60.0) * (1 if zone[0] == "+" else -1)
    return hour * 3_600.0 + minute * 60.0 + second - ahead
