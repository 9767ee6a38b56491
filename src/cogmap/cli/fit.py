"""``cogmap fit``."""

from pathlib import Path
from typing import Any

import click

from .inputs import FILE, NEW_FILE, data_options, read_data, with_target
from .network import network_options, unfitted
from .output import emit, json_option, say, table_text


@click.command()
@click.argument("data", type=FILE)
@network_options
@click.option("--model", type=NEW_FILE, metavar="FILE", help="Where to write the model, such as people.cogmap.")
@data_options
@json_option
def fit(
    data: Path,
    target: str | None,
    model: Path | None,
    delimiter: str | None,
    header: bool | None,
    as_json: bool,
    **network: Any,
) -> None:
    r"""Fit a network to DATA (CSV, also .gz, Parquet, Arrow or Feather) and show what it learned.

    Text becomes categories, missing values are filled, and all of that is part of the model.

    \b
    Examples:
      cogmap fit people.csv --target survived --model people.cogmap
      cogmap fit people.csv --target survived --drop name --categorical class
      cogmap fit wine.parquet --target kind --no-tune --terms 3 --json
    """
    if target is None:
        raise click.UsageError("Missing option '--target': the column that holds the classes.")
    X, y = with_target(read_data(data, delimiter, header), target)
    classifier = unfitted(X, **network).fit(X, y)
    if model is not None:
        classifier.save(model, data=data)
        say(f"Model written to {model}.")
    summary = summarised(classifier, len(X))
    if as_json:
        emit({"data": str(data), "model": None if model is None else str(model), **summary})
        return
    click.echo(f"{data}: {len(X)} rows; {len(classifier.classes_)} classes of {target!r}\n")
    rows = [
        [c["name"], c["kind"], c["concepts"], c["relevance"], c["note"]]
        for c in summary["columns"]
        if c["kind"] != "dropped"
    ]
    click.echo(table_text(["column", "kind", "concepts", "relevance", ""], rows))
    click.echo(f"\nnetwork: {summary['concepts']} concepts, {summary['iterations']} iterations")
    if model is None:
        say("No model was written: use --model FILE to keep it.")


def summarised(classifier: Any, n_rows: int) -> dict[str, Any]:
    """Return what a fitted classifier is, as plain data; columns by falling relevance."""
    shares = classifier.feature_importances_
    columns = [
        {"name": c.name, "kind": c.kind, "concepts": len(c.concepts), "relevance": float(share), "note": c.note}
        for c, share in zip(classifier.columns_, shares, strict=True)
    ]
    return {
        "rows": n_rows,
        "target": classifier.target_name_,
        "classes": classifier.classes_,
        "columns": sorted(columns, key=lambda column: -column["relevance"]),
        "concepts": len(classifier.classifier_.concept_names_),
        "iterations": classifier.classifier_.n_iter_,
    }
