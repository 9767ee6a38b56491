"""What commands print and write: results on stdout, messages on stderr, files moved into place when complete."""

import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, is_dataclass
from pathlib import Path
from typing import Any

import click

from ..writing import whole

json_option = click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")


def say(message: str) -> None:
    """Print a message on stderr."""
    click.echo(message, err=True)


def emit(result: Any) -> None:
    """Print a result as JSON on stdout; numbers that JSON cannot hold become null."""
    click.echo(json.dumps(plain(result), indent=2, ensure_ascii=False, allow_nan=False))


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
    from ..evaluation import aligned

    return aligned([list(header), *([_cell(value) for value in row] for row in rows)])


def _cell(value: Any) -> str:
    return f"{value:.3f}" if isinstance(value, float) else str(value)


def write_whole(path: Path, write: Callable[[Path], Any]) -> None:
    """Let `write` make a file that appears only when it is complete."""
    if not path.resolve().parent.is_dir():
        raise ValueError(f"{path.resolve().parent} is not a folder: create it first.")
    with whole(path) as unfinished:
        write(unfinished)
