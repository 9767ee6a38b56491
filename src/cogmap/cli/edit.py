"""``cogmap edit``."""

from pathlib import Path

import click

from .inputs import FILE, NEW_FILE, columns_for, data_options, load_model, read_data, target_of, with_target
from .output import emit, json_option, say, show


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@click.argument("knowledge", type=FILE)
@click.option("-o", "--output", type=NEW_FILE, metavar="FILE", help="Where to write the new model.")
@click.option("--target", metavar="COL", help="Column that holds the classes; by default the one of MODEL.")
@data_options
@json_option
def edit(
    model: Path,
    data: Path,
    knowledge: Path,
    output: Path | None,
    target: str | None,
    delimiter: str | None,
    header: bool | None,
    as_json: bool,
) -> None:
    r"""Correct MODEL by the statements in KNOWLEDGE, learning the rest from DATA again, and show what changes.

    DATA are the rows that MODEL was fitted on.

    \b
    Example:
      cogmap edit people.cogmap people.csv expert.toml -o corrected.cogmap
    """
    from .. import Knowledge

    before = load_model(model)
    X, y = with_target(read_data(data, delimiter, header), target_of(before, target))
    X = columns_for(before, X)
    after = before.edit(Knowledge.load(knowledge), X, y)
    if output is not None:
        after.save(output, data=data)
        say(f"Corrected model written to {output}.")
    else:
        say("No model was written: use -o FILE to keep it.")
    comparison = before.compare(after, X, y)
    if as_json:
        parts = {part: comparison.to_frame(part).reset_index() for part in ("scores", "rows", "relevance", "edges")}
        changes = {part: frame.to_dict("records") for part, frame in parts.items()}
        emit({"model": None if output is None else str(output), **changes})
    else:
        show(str(comparison))
