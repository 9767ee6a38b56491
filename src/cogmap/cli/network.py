"""Options that say which network to fit, and what the columns are."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .inputs import FILE
from .output import say

if TYPE_CHECKING:
    import pandas as pd

    from ..tables.columns import Column

OPTIONS = (
    click.option("--target", required=False, metavar="COL", help="Column that holds the classes."),
    click.option("--drop", multiple=True, metavar="COL", help="Leave a column out; may be repeated."),
    click.option("--only", multiple=True, metavar="COL", help="Use these columns only; may be repeated."),
    click.option("--categorical", multiple=True, metavar="COL", help="Take a column as categories; may be repeated."),
    click.option("--numeric", multiple=True, metavar="COL", help="Take a column as numbers; may be repeated."),
    click.option(
        "--max-categories",
        type=click.IntRange(2),
        default=20,
        show_default=True,
        help="Most concepts of one column; rarer values become 'other'.",
    ),
    click.option("--drop-unusable", is_flag=True, help="Leave out columns that cannot be used, and say which."),
    click.option("--knowledge", type=FILE, help="File of an expert's statements about the network."),
    click.option(
        "--tune/--no-tune",
        default=True,
        show_default=True,
        help="Compare several networks by leave-one-out and stack them, or fit one.",
    ),
    click.option("--cases/--no-cases", default=None, help="Whether the model may remember training rows (if tuned)."),
    click.option("--phi", type=click.FloatRange(0, 1), help="Nonlinearity, 0 to 1.  [default: 0.8]"),
    click.option("--max-iter", type=click.IntRange(0), help="Most iterations.  [default: 20]"),
    click.option("--terms", type=click.IntRange(3), help="Linguistic terms of each number, such as 3."),
    click.option("--activation", type=click.Choice(["sigmoid", "tanh"]), help="Activation of the concepts."),
    click.option(
        "--inner",
        type=click.Choice(["slopes", "regression", "stable-regression", "correlation"]),
        help="How the weights between concepts are learned.",
    ),
    click.option(
        "--metric",
        "decision_metric",
        type=click.Choice(["accuracy", "balanced_accuracy", "kappa"]),
        help="What predicted classes are to be good at; probabilities stay as they are.  [default: accuracy]",
    ),
    click.option("--balanced", is_flag=True, help="Give all classes the same weight."),
)


SHOWN = 10
"""Rows that show, without a look at the others, that a column varies."""

classes_option = click.option(
    "--classes", is_flag=True, help="The target holds classes, although it has many numbers or values."
)


def network_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the network and its columns."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


def refuse_given(names: Iterable[str], reason: str) -> None:
    """Raise an error where one of these options was given."""
    context = click.get_current_context()
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name in names and source is click.core.ParameterSource.COMMANDLINE:
            raise click.UsageError(f"{parameter.opts[0]} {reason}")


def unfitted(
    frame: "pd.DataFrame",
    *,
    drop: tuple[str, ...],
    only: tuple[str, ...],
    categorical: tuple[str, ...],
    numeric: tuple[str, ...],
    max_categories: int,
    drop_unusable: bool,
    knowledge: Path | None,
    tune: bool,
    cases: bool | None,
    balanced: bool,
    **network: Any,
) -> Any:
    """Return the classifier that the options describe; `frame` has the columns without the target."""
    from .. import LTCNClassifier, LTCNClassifierCV, TabularClassifier
    from ..knowledge.names import no_column

    unknown = [name for name in (*drop, *only, *categorical, *numeric) if name not in frame]
    if unknown:
        raise ValueError(no_column(unknown[0], frame.columns))
    if only:
        drop = tuple(name for name in frame.columns if name not in only or name in drop)
    _check_width(frame.drop(columns=list(drop)), network.get("terms"))
    given = {name: value for name, value in network.items() if value is not None}
    if balanced:
        given["class_weight"] = "balanced"
    if cases is not None:
        given["cases"] = ("auto" if cases else False) if tune else cases
    if knowledge is not None:
        from .. import Knowledge

        given["knowledge"] = Knowledge.load(knowledge)
    classifier = LTCNClassifierCV(**given) if tune else LTCNClassifier(**given)
    return TabularClassifier(
        classifier,
        categorical=categorical,
        numeric=numeric,
        drop=drop,
        max_categories=max_categories,
        drop_unusable=drop_unusable,
    )


def say_dropped(columns: "Iterable[Column]") -> None:
    """Say on stderr which columns were left out because they cannot be used, and why."""
    for column in columns:
        if column.kind == "dropped" and column.remark:
            say(f"Column {column.name!r} is left out: it {column.remark}.")


def _check_width(frame: "pd.DataFrame", terms: int | None) -> None:
    """Refuse a table of too many columns before each of them is looked at; those whose first rows differ count."""
    from ..intake.memory import check_memory

    head = frame.iloc[:SHOWN]
    if len(head):
        check_memory(len(frame), int((head.notna() & (head != head.iloc[0])).any().sum()), terms)
