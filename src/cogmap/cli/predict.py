"""``cogmap predict``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .inputs import FILE, NEW_FILE, columns_for, data_options, load_model, read_data
from .output import emit, hand_over, json_option, say, write_whole

if TYPE_CHECKING:
    import pandas as pd

PROBABILITY = "probability of "
"""How the names of columns of probabilities begin."""

FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""How text begins that a spreadsheet takes for a formula."""


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@click.option("-o", "--output", type=NEW_FILE, metavar="FILE", help="Write a CSV file instead of printing.")
@click.option("--proba", is_flag=True, help="Also give the probability of each class.")
@click.option("--keep", multiple=True, metavar="COL", help="Copy a column of DATA to the result; may be repeated.")
@click.option("--safe", is_flag=True, help="Put an apostrophe before text that a spreadsheet would run as a formula.")
@data_options
@json_option
def predict(
    model: Path,
    data: Path,
    output: Path | None,
    proba: bool,
    keep: tuple[str, ...],
    delimiter: str | None,
    header: bool | None,
    safe: bool,
    as_json: bool,
) -> None:
    r"""Predict the class of each row of DATA with MODEL.

    Columns are found by name, in any order. CSV has six decimals of a probability; --json has all digits.

    A value such as =HYPERLINK(…) in a kept column or as a class runs when a spreadsheet opens the file: use --safe for
    data of strangers.

    \b
    Examples:
      cogmap predict people.cogmap new.csv > predicted.csv
      cogmap predict people.cogmap new.csv -o predicted.csv --proba --keep id
    """
    import pandas as pd

    from ..knowledge.names import no_column
    from ..tables.columns import spelled

    classifier, frame = load_model(model), read_data(data, delimiter, header)
    unknown = [name for name in keep if name not in frame]
    if unknown:
        raise ValueError(no_column(unknown[0], frame.columns))
    X = columns_for(classifier, frame)
    result = pd.DataFrame({"row": range(len(frame))} | {name: frame[name].to_numpy() for name in keep})
    result["predicted"] = classifier.predict(X)
    if proba:
        for name, values in zip(classifier.classes_, classifier.predict_proba(X).T, strict=True):
            result[f"{PROBABILITY}{spelled(name)}"] = values
    written = as_csv(result, safe=safe)
    if output is not None:
        write_whole(output, lambda path: path.write_text(written, encoding="utf-8"))
        say(f"{len(result)} predictions written to {output}.")
    if as_json:
        emit(result.astype(object).where(result.notna(), None).to_dict("records"))
    elif output is None:
        hand_over(written)


def as_csv(result: "pd.DataFrame", *, safe: bool) -> str:
    """Return predictions as CSV; probabilities with six decimals, which add up to 1 within rounding."""
    shown = result.copy()
    for name in shown.columns:
        if str(name).startswith(PROBABILITY):
            shown[name] = [f"{value:.6f}" for value in shown[name]]
        elif safe:
            shown[name] = [_harmless(value) for value in shown[name]]
    if safe:
        shown.columns = [_harmless(name) for name in shown.columns]
    text: str = shown.to_csv(index=False)
    return text


def _harmless(value: Any) -> Any:
    """Return text that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
