"""What commands read: data, models, and the options that say how."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .console import InputFile, NewFile
from .output import say

if TYPE_CHECKING:
    import pandas as pd

    from ..tables.table import Table

FILE, NEW_FILE = InputFile(), NewFile()
SHEET = "cogmap.sheet"
"""Where the context keeps the sheet, so that commands need not hand it on."""


def _keep_sheet(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    context.meta[SHEET] = value


def data_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options that say how to read DATA."""
    for option in (
        click.option(
            "--sheet",
            metavar="NAME",
            callback=_keep_sheet,
            expose_value=False,
            help="Sheet of a workbook; the first by default.",
        ),
        click.option("--header/--no-header", default=None, help="Whether DATA has names in its first row."),
        click.option("--delimiter", help="What separates the values of a CSV file; found out by default."),
    ):
        command = option(command)
    return command


def read_data(path: Path, delimiter: str | None, header: bool | None) -> "pd.DataFrame":
    """Read a table; say on stderr what was decided."""
    from ..tables.table import read_table

    return said(read_table(path, delimiter=delimiter, header=header, sheet=sheet_given()))


def said(table: "Table") -> "pd.DataFrame":
    """Return the frame of a table; say on stderr what was decided."""
    for note in table.notes:
        say(note)
    return table.frame


def sheet_given() -> str | None:
    """Return the sheet that --sheet names."""
    found: str | None = click.get_current_context().meta.get(SHEET)
    return found


def with_target(frame: "pd.DataFrame", target: str, *, classes: bool = True) -> tuple["pd.DataFrame", "pd.Series"]:
    """Split a table into columns and classes; rows without a class are left out, and counted on stderr.

    `classes` says that the column holds classes, whatever it looks like: a model's target does.
    """
    import pandas as pd

    from ..knowledge.names import no_column
    from ..tables.target import Target

    if target not in frame:
        raise ValueError(no_column(target, frame.columns))
    known = frame[target].notna()
    found = Target(target, classes=classes)
    found.add(frame.loc[known, target], int((~known).sum()))
    found.check()
    for note in found.notes:
        say(note)
    if not known.all():
        frame = frame[known].reset_index(drop=True)
    return frame.drop(columns=target), pd.Series(found.labels(frame[target]), name=target)


def load_model(path: Path) -> Any:
    """Load a model file."""
    from .. import load

    return load(path)


def target_of(model: Any, given: str | None) -> str:
    """Return the name of the target, from the option or from the model."""
    name = given or getattr(model, "target_name_", None)
    if name is None:
        raise ValueError("The model does not know its target's name: say it with --target.")
    return str(name)


def columns_for(model: Any, frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return the columns that a model needs; say on stderr which ones it does not know."""
    from ..tables.frames import listed

    target = getattr(model, "target_name_", None)
    if hasattr(model, "differing_columns"):
        lacking, unknown = model.differing_columns(frame.columns)
    else:
        names = list(getattr(model, "feature_names_in_", frame.columns))
        lacking = [str(name) for name in names if name not in frame]
        unknown = [name for name in frame.columns if name not in names]
    if lacking:
        shown = listed(lacking, near=unknown)
        raise ValueError(f"X lacks {shown}: give the columns that the model was fitted on, by name.")
    if not hasattr(model, "differing_columns"):
        frame = frame[[*names, *unknown]]
    extra = [name for name in unknown if name != target]
    if extra:
        say(f"Columns that the model does not know are left out: {', '.join(map(repr, extra))}.")
    return frame.drop(columns=list(unknown))
