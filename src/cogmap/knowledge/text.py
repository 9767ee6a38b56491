"""Statements as text: TOML that a person can write by hand, and JSON.

Both hold a list named `statement`, in which each entry has `kind`, the names, where needed a `value`, and if known
`author`, `date` and `reason`. Numbers are written with all their digits, so that they come back as they were.
"""

import json
import tomllib
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from reprlib import repr as brief
from typing import Any, NamedTuple

from .names import near_names
from .statement import KINDS, OF_ONE, RELATIONS, Statement

RECORD = ("author", "date", "reason")

HEADER = """\
# What experts state about the edges of a cognitive map; cogmap.Knowledge.load reads it.
#
# Each [[statement]] has a kind, and names features (or single terms, "alcohol is low"):
#   fix         source, target, value   the weight is exactly this
#   forbid      source, target          there is no such edge
#   sign        source, target, value   "+": not negative; "-": not positive
#   at_least    source, target, value   the weight is this or larger
#   at_most     source, target, value   the weight is this or smaller
#   irrelevant  feature                 no edges, and no say in any prediction
#   bias        feature, value          what it tends to by itself is exactly this
# author, date (2026-01-31) and reason are for the record.
"""


class Format(NamedTuple):
    """How to write statements, and how to read them."""

    write: Callable[[Iterable[Statement]], str]
    read: Callable[[str], list[Statement]]


def to_toml(statements: Iterable[Statement]) -> str:
    """Write statements as commented TOML."""
    blocks = [
        "\n".join(["[[statement]]", *(f"{key} = {_toml_value(key, value)}" for key, value in _entry(s).items())]) + "\n"
        for s in statements
    ]
    return "\n".join([HEADER, *blocks])


def to_json(statements: Iterable[Statement]) -> str:
    """Write statements as JSON."""
    return json.dumps({"statement": [_entry(s) for s in statements]}, indent=2, ensure_ascii=False) + "\n"


def from_toml(content: str) -> list[Statement]:
    """Read statements from TOML."""
    try:
        return _statements(_parsed(tomllib.loads, content))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"this is not valid TOML, {error}: correct it there.") from error


def from_json(content: str) -> list[Statement]:
    """Read statements from JSON."""
    return _statements(json_values(content))


def json_values(content: str) -> Any:
    """Return what a text in JSON holds; refuse what is no JSON, or has a key twice."""
    try:
        return _parsed(partial(json.loads, object_pairs_hook=_once), content)
    except json.JSONDecodeError as error:
        raise ValueError(f"this is not valid JSON, {error}: correct it there.") from error


def _parsed(parse: Callable[[str], Any], content: str) -> Any:
    """Return what a file of statements holds; its nesting and its numbers have limits, of Python."""
    try:
        return parse(content.removeprefix("\ufeff"))
    except RecursionError:
        raise ValueError("values are nested too deeply: use plain values only.") from None
    except (json.JSONDecodeError, tomllib.TOMLDecodeError):
        raise
    except ValueError as error:
        if "integer string conversion" not in str(error):
            raise
        raise ValueError("a whole number has more digits than can be read: write a weight such as 0.5.") from None


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Return the keys and values of an object; of a key that comes twice, JSON would keep the last in silence."""
    twice = [key for key, count in Counter(key for key, _ in pairs).items() if count > 1]
    if twice:
        raise ValueError(f"the key {twice[0]!r} is there twice: leave one of them out.")
    return dict(pairs)


def _entry(statement: Statement) -> dict[str, Any]:
    """Return the keys and values of a statement in a file."""
    names = ("feature",) if statement.kind in OF_ONE else ("source", "target")
    entry: dict[str, Any] = {"kind": statement.kind, **dict(zip(names, statement.names, strict=True))}
    entry |= {"value": statement.value, "author": statement.author}
    entry |= {"date": statement.date and str(statement.date), "reason": statement.reason}
    return {key: value for key, value in entry.items() if value is not None}


def _toml_value(key: str, value: str | float) -> str:
    if key == "date" or not isinstance(value, str):
        return str(value)
    # JSON escapes all that TOML wants escaped, but for one character.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _statements(content: Any) -> list[Statement]:
    if not isinstance(content, dict):
        raise ValueError("a file of statements holds a list named 'statement', as [[statement]] in TOML.")
    for key in content:
        if key != "statement":
            raise ValueError(f"{key!r} is not known here: begin each statement with [[statement]].")
    entries = content.get("statement", [])
    if not isinstance(entries, list):
        raise ValueError("'statement' is not a list: begin each statement with [[statement]], in double brackets.")
    return [_numbered(number, entry) for number, entry in enumerate(entries, start=1)]


def _numbered(number: int, entry: Any) -> Statement:
    try:
        return _statement(entry)
    except ValueError as error:
        raise ValueError(f"statement {number}: {error}") from error


def _statement(entry: Any) -> Statement:
    if not isinstance(entry, dict):
        raise ValueError(f"this is {brief(entry)}: write keys and values.")
    kind = entry.get("kind")
    if kind not in KINDS:
        said = "it has no kind" if kind is None else f"kind={brief(kind)} is unknown"
        raise ValueError(f"{said}: use one of {', '.join(map(repr, KINDS))}.")
    needed = ["feature"] if kind in OF_ONE else ["source", "target"]
    needed += ["value"] if kind in (*RELATIONS, "sign") else []
    for key in entry:
        if key not in (allowed := ("kind", *needed, *RECORD)):
            near = near_names(key, allowed)
            way_out = f"did you mean {near[0]!r}?" if near else f"use {', '.join(map(repr, allowed))}."
            raise ValueError(f"{key!r} is no key of '{kind}': {way_out}")
    for key in needed:
        if key not in entry:
            raise ValueError(f"'{kind}' needs {key!r}: add it.")
    given = dict(entry)
    given["source"] = given.pop("feature", given.get("source"))
    return Statement(**given)
