"""``cogmap report``."""

from pathlib import Path
from typing import Any

import click

from .inputs import FILE, NEW_FILE, data_options, labelled, load_model
from .output import emit, json_option, say, show


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@click.option(
    "-o", "--output", type=NEW_FILE, metavar="FILE", default=Path("report.html"), show_default=True, help="The report."
)
@click.option("--target", metavar="COL", help="Column that holds the classes; by default the one of MODEL.")
@click.option("--title", metavar="TEXT", help="Title of the report.")
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="Folds of the cross-validation.")
@data_options
@json_option
def report(
    model: Path,
    data: Path,
    output: Path,
    target: str | None,
    title: str | None,
    folds: int,
    delimiter: str | None,
    header: bool | None,
    as_json: bool,
) -> None:
    r"""Write one HTML file about MODEL on DATA: quality, relevance, the map, rows explained, notes on the data.

    DATA are most often the rows that MODEL was fitted on: the quality is cross-validated on them. The file needs no
    network and can be sent to a colleague. Prints the report in short.

    \b
    Examples:
      cogmap report people.cogmap people.csv -o report.html
      cogmap report people.cogmap people.csv --json > facts.json
    """
    from ..report import write_report
    from ..report.words import summary

    classifier = load_model(model)
    X, y = labelled(classifier, data, target, delimiter, header)
    facts = write_report(classifier, X, y, output, title=title, n_folds=folds)
    say(f"Report written to {output}.")
    if as_json:
        emit({"report": str(output), **facts})
    else:
        show("\n".join([*summary(facts), *_noted(facts)]).replace("\u00a0", " "))


def _noted(facts: dict[str, Any]) -> list[str]:
    return [f"{', '.join(note['columns']) or 'rows'} ({note['kind']}): {note['text']}" for note in facts["notes"]]
