"""``cogmap fit``."""

from pathlib import Path
from typing import Any

import click

from ..intake.memory import BLOCK, in_words
from .console import Memory
from .inputs import FILE, NEW_FILE, at_once, data_options, open_data, with_target
from .network import classes_option, network_options, refuse_given, say_dropped, unfitted
from .output import emit, json_option, say, show, table_text

TUNED_ROW = 24_000
"""Memory in bytes that comparing networks takes for each row held at once: five times 600 innovations of 8 bytes."""


@click.command()
@click.argument("data", type=FILE)
@network_options
@classes_option
@click.option("--model", type=NEW_FILE, metavar="FILE", help="Where to write the model, such as people.cogmap.")
@click.option(
    "--memory",
    type=Memory(),
    default="4GB",
    show_default=True,
    help="A file that takes more than this at once is fitted in passes.",
)
@data_options
@json_option
def fit(
    data: Path,
    target: str | None,
    model: Path | None,
    memory: int,
    delimiter: str | None,
    header: bool | None,
    classes: bool,
    as_json: bool,
    **network: Any,
) -> None:
    r"""Fit a network to DATA (CSV, also .gz, Excel, Parquet, Arrow or Feather) and show what it learned.

    Text becomes categories, missing values are filled, and all of that is part of the model.

    A file that takes more memory than --memory is read in several passes, with the same result; only --cases with
    --no-tune needs all rows at once. Temporary files then take about as much space as the table, several times.

    \b
    Examples:
      cogmap fit people.csv --target survived --model people.cogmap
      cogmap fit people.csv --target survived --drop name --categorical class
      cogmap fit wine.parquet --target kind --no-tune --terms 3 --json
    """
    if target is None:
        raise click.UsageError("Missing option '--target': the column that holds the classes.")
    opened = open_data(data, delimiter, header)
    need = opened.n_bytes + (TUNED_ROW * min(opened.n_rows, BLOCK) if network["tune"] else 0)
    if need <= memory:
        X, y = with_target(at_once(opened), target, classes=classes)
        classifier, n_rows = unfitted(X, **network).fit(X, y), len(X)
    else:
        classifier, n_rows = _fit_in_passes(opened, target, classes, need, memory, network)
    say_dropped(classifier.columns_)
    if model is not None:
        classifier.save(model, data=data)
        say(f"Model written to {model}.")
    summary = summarised(classifier, n_rows)
    if as_json:
        emit({"data": str(data), "model": None if model is None else str(model), **summary})
        return
    show(f"{data}: {n_rows} rows; {len(classifier.classes_)} classes of {target!r}\n")
    rows = [
        [c["name"], c["kind"], c["concepts"], c["relevance"], c["note"]]
        for c in summary["columns"]
        if c["kind"] != "dropped"
    ]
    show(table_text(["column", "kind", "concepts", "relevance", ""], rows))
    show(f"\nnetwork: {_n(summary['concepts'], 'concept')}, {_n(summary['iterations'], 'iteration')}")
    if model is None:
        say("No model was written: use --model FILE to keep it.")


def _n(number: int, thing: str) -> str:
    return f"{number} {thing}{'s' * (number != 1)}"


def _fit_in_passes(
    opened: Any, target: str, classes: bool, need: int, memory: int, network: dict[str, Any]
) -> tuple[Any, int]:
    """Fit in passes over a file; return the classifier, and the number of rows."""
    import pandas as pd

    from ..estimators import tabular_stream

    over = f"about {in_words(need)} of memory, more than --memory {in_words(memory)}"
    if network["cases"] and not network["tune"]:
        refuse_given(
            ["cases"], f"with --no-tune needs all rows at once, which takes {over}: leave it out, or allow more."
        )
    columns = pd.DataFrame(columns=[name for name in opened.names if name != target])
    chosen = unfitted(columns, **network)
    say(f"At once, the fit takes {over}: it goes in passes over the file.")
    fitted = tabular_stream.fit(opened, chosen, target=target, classes=classes, progress=True)
    say(*fitted.notes)
    return fitted.classifier, fitted.n_rows


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
        "iterations": classifier.classifier_.fitted_.n_iter,
    }
