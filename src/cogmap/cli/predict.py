"""``cogmap predict``."""

from pathlib import Path

import click

from .inputs import FILE, NEW_FILE, columns_for, data_options, load_model, read_data
from .output import emit, json_option, say, write_whole


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@click.option("-o", "--output", type=NEW_FILE, metavar="FILE", help="Write a CSV file instead of printing.")
@click.option("--proba", is_flag=True, help="Also give the probability of each class.")
@click.option("--keep", multiple=True, metavar="COL", help="Copy a column of DATA to the result; may be repeated.")
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
    as_json: bool,
) -> None:
    r"""Predict the class of each row of DATA with MODEL.

    Columns are found by name, in any order.

    \b
    Examples:
      cogmap predict people.cogmap new.csv > predicted.csv
      cogmap predict people.cogmap new.csv -o predicted.csv --proba --keep id
    """
    import pandas as pd

    from ..columns import spelled
    from ..names import no_column

    classifier, frame = load_model(model), read_data(data, delimiter, header)
    unknown = [name for name in keep if name not in frame]
    if unknown:
        raise ValueError(no_column(unknown[0], frame.columns))
    X = columns_for(classifier, frame)
    result = pd.DataFrame({"row": range(len(frame))} | {name: frame[name].to_numpy() for name in keep})
    result["predicted"] = classifier.predict(X)
    if proba:
        for name, values in zip(classifier.classes_, classifier.predict_proba(X).T, strict=True):
            result[f"probability of {spelled(name)}"] = values
    if output is not None:
        write_whole(output, lambda path: result.to_csv(path, index=False))
        say(f"{len(result)} predictions written to {output}.")
    if as_json:
        emit(result.astype(object).where(result.notna(), None).to_dict("records"))
    elif output is None:
        click.echo(result.to_csv(index=False), nl=False)
