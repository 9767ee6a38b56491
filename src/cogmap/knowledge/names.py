"""Names that a user may have meant: "did you mean 'Species'?" for 'species'.

Easy to get wrong: names that differ by case, spaces or marks only are the same to a person, however short they are.
"""

import difflib
from collections.abc import Iterable

SIMILAR = 0.7
"""Least similarity, of at most 1, of a name that is suggested."""

MOST_SUGGESTED, MOST_LISTED = 3, 20
"""Most names that are suggested for one, and most that a message lists."""


def near_names(name: object, known: Iterable[object]) -> list[str]:
    """Return the known names that `name` may stand for, the nearest first, three at most.

    Examples
    --------
    >>> near_names("species", ["Species", "island", "sex"])
    ['Species']
    """
    by_key: dict[str, list[str]] = {}
    for text in dict.fromkeys(map(str, known)):
        by_key.setdefault(_key(text), []).append(text)
    own = _key(str(name))
    keys = [own] if own in by_key else difflib.get_close_matches(own, by_key, MOST_SUGGESTED, SIMILAR)
    return [text for key in keys for text in by_key[key]][:MOST_SUGGESTED]


def did_you_mean(name: object, known: Iterable[object]) -> str:
    """Return " (did you mean 'Species'?)", to be put behind a name that is not known; empty where none is near.

    Examples
    --------
    >>> did_you_mean("species", ["Species", "island", "sex"])
    " (did you mean 'Species'?)"
    >>> did_you_mean("weight", ["Species", "island", "sex"])
    ''
    """
    near = near_names(name, known)
    return f" (did you mean {' or '.join(map(repr, near))}?)" if near else ""


def no_column(name: object, known: Iterable[object]) -> str:
    """Return the sentence that says that there is no such column, and which there are.

    Examples
    --------
    >>> no_column("species", ["Species", "island"])
    "There is no column 'species' (did you mean 'Species'?): the columns are 'Species', 'island'."
    """
    names = [str(text) for text in known]
    shown = ", ".join(map(repr, names[:MOST_LISTED]))
    more = f" and {len(names) - MOST_LISTED} more" if len(names) > MOST_LISTED else ""
    return f"There is no column {str(name)!r}{did_you_mean(name, names)}: the columns are {shown}{more}."


def _key(name: str) -> str:
    """Return a name without what people overlook."""
    return "".join(letter for letter in name.casefold() if letter.isalnum()) or name
