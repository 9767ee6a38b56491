"""Numbers that are written for people: "$1,234.50", "1.234,50 €", "12.5 %", "(300)".

A number has one unit at most, before or behind it, which is left out: 12.5 % is 12.5. Its digits may be grouped by
commas, points, spaces or apostrophes.

Easy to get wrong: "1,234" is 1234 or 1.234. Which mark separates decimals is decided by all values of a column. Where
they do not settle it, a comma groups digits, and so does a point in an amount of money.
"""

import re
from collections.abc import Iterable
from math import isfinite

FORMATS = ("point", "comma")
"""The decimal mark of a column whose numbers are text; the other of the two groups digits."""

_SYMBOLS = "$€£¥₹₽₩₺₴₪₫฿₦₱₡₲₵₸₼₾¢"
_CODES = "USD|EUR|GBP|JPY|CHF|CAD|AUD|NZD|CNY|INR|SEK|NOK|DKK|PLN|CZK|HUF|BRL|MXN|ZAR|RUB|TRY|KRW|kr|zł|Fr"
_MONEY = rf"[A-Z]{{0,3}}[{_SYMBOLS}]|(?:{_CODES})\b\.?"
_UNIT = rf"(?:{_MONEY}|%)"
_SIGN = r"[+\-−]?"
_SPACE = "[ \u00a0\u202f\u2009]"
_CELL = re.compile(
    rf"(?P<open>\()?(?P<sign1>{_SIGN}){_SPACE}?(?P<before>{_UNIT})?{_SPACE}?(?P<sign2>{_SIGN})"
    rf"(?P<digits>[0-9.,][0-9.,'’\u00a0\u202f\u2009 ]*?(?:[eE][+-]?[0-9]+)?)"
    rf"{_SPACE}?(?P<behind>{_UNIT})?(?P<close>\))?"
)


def _digits(group: str, decimal: str) -> re.Pattern[str]:
    grouped = rf"[1-9]\d{{0,2}}(?:(?:{group}\d{{3}})+|(?:'\d{{3}})+|(?:’\d{{3}})+|(?:{_SPACE}\d{{3}})+)"
    if group == ",":
        grouped += r"|[1-9]\d?(?:,\d{2})+,\d{3}"  # lakh and crore
    return re.compile(rf"(?:{grouped}|\d+)(?:{decimal}\d*)?|{decimal}\d+|\d+(?:{decimal}\d*)?[eE][+-]?\d+", re.ASCII)


_DIGITS = {"point": _digits(",", r"\."), "comma": _digits(r"\.", ",")}
_ONE_GROUP = re.compile(r"[1-9]\d{0,2}([.,])\d{3}", re.ASCII)
"""What is a group of digits by one format and decimals by the other."""


def text_amount(text: str, form: str) -> float | None:
    """Return a number that is written in a format; None where it is none.

    Examples
    --------
    >>> text_amount("$1,234.50", "point"), text_amount("1.234,50 €", "comma"), text_amount("red", "point")
    (1234.5, 1234.5, None)
    """
    found = _split(text)
    return None if found is None else _value(found, form)


def may_be_amount(text: str) -> bool:
    """Say whether a text is a number in any format."""
    return any(text_amount(text, form) is not None for form in FORMATS)


class AmountText:
    """What the texts of a column say about how numbers are written in it; texts may be added some at a time."""

    def __init__(self) -> None:
        self.formats = set(FORMATS)
        self.units: set[str] = set()
        self.marked = False
        self.groups: set[str] = set()
        self.possible = True

    def add(self, texts: Iterable[str]) -> None:
        """Look at texts until one cannot be a number beside the others."""
        for text in texts:
            if not self.possible:
                return
            found = _split(text)
            if found is None:
                self.possible = False
                return
            unit = (found["before"] or "") + (found["behind"] or "")
            self.units |= {unit} - {""}
            self.marked = self.marked or bool(unit) or not _plain(text)
            if one := _ONE_GROUP.fullmatch(found["digits"]):
                self.groups.add(one[1])
            self.formats = {form for form in self.formats if _value(found, form) is not None}
            self.possible = bool(self.formats)

    @property
    def format(self) -> str | None:
        """The decimal mark, "point" or "comma"; None where the texts are not all numbers."""
        if not self.possible:
            return None
        if len(self.formats) == 1:
            return next(iter(self.formats))
        money = bool(self.units - {"%"})
        return "comma" if self.groups == {"."} and money else "point"

    @property
    def ambiguous(self) -> bool:
        """Whether the values do not settle which mark separates decimals."""
        return len(self.formats) == 2 and bool(self.groups)


def _split(text: str) -> re.Match[str] | None:
    """Return sign, unit and digits of a number; None where it is none, or has two signs or two units."""
    found = _CELL.fullmatch(text.strip())
    if found is None or (found["open"] is None) != (found["close"] is None):
        return None
    signs = bool(found["sign1"]) + bool(found["sign2"]) + (found["open"] is not None)
    return None if signs > 1 or (found["before"] and found["behind"]) else found


def _value(found: re.Match[str], form: str) -> float | None:
    digits = found["digits"]
    if _DIGITS[form].fullmatch(digits) is None:
        return None
    group, decimal = (",", ".") if form == "point" else (".", ",")
    number = float(re.sub("['’\u00a0\u202f\u2009 ]", "", digits.replace(group, "")).replace(decimal, "."))
    negative = found["open"] is not None or (found["sign1"] or found["sign2"]) in ("-", "−")
    if not isfinite(number):
        return None
    return -number if negative else number


def _plain(text: str) -> bool:
    """Say whether a text is a number to a computer, too."""
    try:
        float(text)
    except ValueError:
        return False
    return True
