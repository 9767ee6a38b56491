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


def _cell(group: str, decimal: str) -> re.Pattern[str]:
    """Return the form of a whole number with its sign and unit."""
    grouped = rf"[1-9][0-9]{{0,2}}(?:(?:{group}[0-9]{{3}})+|(?:['’][0-9]{{3}})+|(?:{_SPACE}[0-9]{{3}})+)"
    if group == ",":
        grouped += r"|[1-9][0-9]?(?:,[0-9]{2})+,[0-9]{3}"  # lakh and crore
    digits = rf"(?:{grouped}|[0-9]+)(?:{decimal}[0-9]*)?|{decimal}[0-9]+|[0-9]+(?:{decimal}[0-9]*)?[eE][+-]?[0-9]+"
    return re.compile(
        rf"(?P<open>\()?(?P<sign1>{_SIGN}){_SPACE}?(?P<before>{_UNIT})?{_SPACE}?(?P<sign2>{_SIGN})"
        rf"(?P<digits>{digits}){_SPACE}?(?P<behind>{_UNIT})?(?P<close>\))?"
    )


_CELLS = {"point": _cell(",", r"\."), "comma": _cell(r"\.", ",")}
_GROUPS = dict.fromkeys(map(ord, "'’\u00a0\u202f\u2009 "))
_PLAIN = {"point": _GROUPS | {ord(","): None}, "comma": _GROUPS | {ord("."): None, ord(","): "."}}
"""What makes digits of a format such that Python reads: without groups, with a decimal point."""
_SURELY_FINITE = 300
"""Number of digits up to which a number without an exponent is finite."""
_ONE_GROUP = re.compile(r"[1-9][0-9]{0,2}([.,])[0-9]{3}")
"""What is a group of digits by one format and decimals by the other."""


def text_amount(text: str, form: str) -> float | None:
    """Return a number that is written in a format; None where it is none.

    Examples
    --------
    >>> text_amount("$1,234.50", "point"), text_amount("1.234,50 €", "comma"), text_amount("red", "point")
    (1234.5, 1234.5, None)
    """
    match = _matched(text, form)
    return None if match is None else _value(match, form)


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

    def add(self, texts: Iterable[str]) -> None:
        """Look at texts until one cannot be a number beside the others."""
        for text in texts:
            read = {form: match for form in self.formats if (match := _matched(text, form)) is not None}
            self.formats = set(read)
            if not read:
                return
            one = next(iter(read.values()))
            if unit := one["before"] or one["behind"]:
                self.units.add(unit)
            if len(read) == 2 and (group := _ONE_GROUP.fullmatch(one["digits"])):
                self.groups.add(group[1])
            self.marked = self.marked or bool(unit) or not _plain(text)

    @property
    def possible(self) -> bool:
        """Whether all texts are numbers in one way of writing."""
        return bool(self.formats)

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


def _matched(text: str, form: str) -> re.Match[str] | None:
    """Return sign, unit and digits of a number; None where it is none, or has two signs or two units."""
    match = _CELLS[form].fullmatch(text.strip())
    if match is None:
        return None
    opened, sign1, before, sign2, digits, behind, closed = match.groups()
    if (opened is None) != (closed is None) or (before and behind):
        return None
    if bool(sign1) + bool(sign2) + bool(opened) > 1:
        return None
    # Only an exponent, or very many digits, can make a number too large.
    large = len(digits) > _SURELY_FINITE or "e" in digits.lower()
    return None if large and not isfinite(_value(match, form)) else match


def _value(match: re.Match[str], form: str) -> float:
    number = float(match["digits"].translate(_PLAIN[form]))
    return -number if match["open"] or (match["sign1"] or match["sign2"]) in ("-", "−") else number


def _plain(text: str) -> bool:
    """Say whether a text is a number to a computer, too."""
    try:
        float(text)
    except ValueError:
        return False
    return True
