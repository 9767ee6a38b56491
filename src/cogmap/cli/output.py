"""What commands print and write: results on stdout, messages on stderr, files moved into place when complete.

Easy to get wrong: printing by ``click.echo``, which passes control characters of a user's file on to the terminal.
"""

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any, Self, TextIO

import click

from ..writing import whole
from .console import check_new_file, printable, printable_json

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def say(*messages: str) -> None:
    """Print messages on stderr, each on a line of its own."""
    for message in messages:
        click.echo(printable(message), err=True)


def show(text: str) -> None:
    """Print a result on stdout, for people."""
    click.echo(printable(text))


def hand_over(text: str) -> None:
    """Print a result on stdout, for programs: as it is, but on a terminal."""
    # Not by click, which takes out what looks like a colour.
    sys.stdout.write(printable(text) if sys.stdout.isatty() else text)


def emit(result: Any) -> None:
    """Print a result as JSON on stdout; numbers that JSON cannot hold become null."""
    click.echo(json_text(result))


def json_text(result: Any) -> str:
    """Return a result as JSON that a terminal may show."""
    return printable_json(json.dumps(plain(result), indent=2, ensure_ascii=False, allow_nan=False))


class JsonList:
    """Prints a list as JSON on stdout, some items at a time."""

    def __init__(self) -> None:
        self.begun = False

    def __enter__(self) -> Self:
        return self

    def __call__(self, items: list[Any]) -> None:
        """Print items; there is at least one."""
        text = json_text(items).removeprefix("[\n").removesuffix("\n]")
        click.echo((",\n" if self.begun else "[\n") + text, nl=False)
        self.begun = True

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        """End the list, unless it is broken off."""
        if kind is None:
            click.echo("\n]")


def plain(value: Any) -> Any:
    """Return a result as what JSON knows: dicts, lists, text, finite numbers, null."""
    if is_dataclass(value) and not isinstance(value, type):
        return plain(asdict(value))
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and (value != value or abs(value) == float("inf")):
        return None
    return value if value is None or isinstance(value, (str, bool, int, float)) else str(value)


def table_text(header: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """Return rows as an aligned table; numbers with three decimals."""
    from ..quality.evaluation import aligned

    return aligned([[_cell(value) for value in row] for row in (header, *rows)])


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value).translate({9: "\\t", 10: "\\n"})


@contextmanager
def whole_text(path: Path) -> Iterator[TextIO]:
    """Yield a text file that appears only when it is complete."""
    check_new_file(path)
    with whole(path) as unfinished, unfinished.open("w", encoding="utf-8") as file:
        yield file


def write_whole(path: Path, write: Callable[[Path], Any]) -> None:
    """Let `write` make a file that appears only when it is complete."""
    check_new_file(path)
    with whole(path) as unfinished:
        write(unfinished)
