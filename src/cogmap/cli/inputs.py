"""What commands read: data, models, and the options that say how."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .console import InputFile, NewFile
from .output import say

if TYPE_CHECKING:
    import pandas as pd

    from ..tables.parts import TableParts

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
    """Read a table at once; say on stderr what was decided."""
    from ..tables.table import read_table

    table = read_table(path, delimiter=delimiter, header=header, sheet=sheet_given())
    say(*table.notes)
    return table.frame


def open_data(path: Path, delimiter: str | None, header: bool | None) -> "TableParts":
    """Open a table that is read some rows at a time."""
    from ..tables.parts import open_parts

    return open_parts(path, delimiter=delimiter, header=header, sheet=sheet_given())


def at_once(table: "TableParts") -> "pd.DataFrame":
    """Read a table that was opened; say on stderr what was decided."""
    frame = table.at_once()
    say(*table.notes)
    return frame


def sheet_given() -> str | None:
    """Return the sheet that --sheet names."""
    sheet: str | None = click.get_current_context().meta.get(SHEET)
    return sheet


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
    labels = Target(target, classes=classes)
    labels.add(frame.loc[known, target], int((~known).sum()))
    labels.check()
    say(*labels.notes)
    if not known.all():
        frame = frame[known].reset_index(drop=True)
    return frame.drop(columns=target), pd.Series(labels.labels(frame[target]), name=target)


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
    columns, remark = known_columns(model, list(frame.columns))
    if remark:
        say(remark)
    return frame[columns]


def labelled(
    model: Any, path: Path, target: str | None, delimiter: str | None, header: bool | None
) -> tuple["pd.DataFrame", "pd.Series"]:
    """Read a table at once: the columns that a model needs, and the classes."""
    name = target_of(model, target)
    X, y = with_target(read_data(path, delimiter, header), name)
    return columns_for(model, X), y


def known_columns(model: Any, names: list[Any]) -> tuple[list[Any], str]:
    """Return those names of columns that a model knows, and a remark about others; refuse a table that lacks some."""
    from ..tables.frames import listed

    if hasattr(model, "differing_columns"):
        lacking, unknown = model.differing_columns(names)
        columns = [name for name in names if str(name) not in set(unknown)]
    else:
        columns = list(getattr(model, "feature_names_in_", names))
        lacking = [str(name) for name in columns if name not in names]
        unknown = [name for name in names if name not in columns]
    if lacking:
        shown = listed(lacking, near=unknown)
        raise ValueError(f"X lacks {shown}: give the columns that the model was fitted on, by name.")
    extra = [name for name in unknown if name != getattr(model, "target_name_", None)]
    shown = ", ".join(map(repr, extra))
    return columns, f"Columns that the model does not know are left out: {shown}." if extra else ""
