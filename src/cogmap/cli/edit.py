"""``cogmap edit``."""

from pathlib import Path

import click

from .inputs import FILE, NEW_FILE, data_options, labelled, load_model
from .output import emit, json_option, say, show


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE)
@click.argument("knowledge", type=FILE)
@click.option("-o", "--output", type=NEW_FILE, metavar="FILE", help="Where to write the new model.")
@click.option("--target", metavar="COL", help="Column that holds the classes; by default the one of MODEL.")
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="Folds of the cross-validation.")
@click.option("--test", type=FILE, metavar="FILE", help="Measure on the rows of FILE instead, which no model has seen.")
@data_options
@json_option
def edit(
    model: Path,
    data: Path,
    knowledge: Path,
    output: Path | None,
    target: str | None,
    folds: int,
    test: Path | None,
    delimiter: str | None,
    header: bool | None,
    as_json: bool,
) -> None:
    r"""Correct MODEL by the statements in KNOWLEDGE, learning the rest from DATA again, and show what changes.

    DATA are the rows that MODEL was fitted on. What the correction is worth is cross-validated on them: the model
    before and the one after are fitted anew without each fold, and predict it. --test names a file of other rows, which
    the two models themselves then predict.

    \b
    Examples:
      cogmap edit people.cogmap people.csv expert.toml -o corrected.cogmap
      cogmap edit people.cogmap people.csv expert.toml --test later.csv
    """
    import numpy as np

    from .. import Knowledge
    from ..quality.folds import possible_folds

    before = load_model(model)
    X, y = labelled(before, data, target, delimiter, header)
    after = before.edit(Knowledge.load(knowledge), X, y)
    if output is not None:
        after.save(output, data=data)
        say(f"Corrected model written to {output}.")
    else:
        say("No model was written: use -o FILE to keep it.")
    if test is None:
        possible, reason = possible_folds(np.asarray(y), folds)
        if reason is not None:
            say(f"There is no cross-validation: {reason}")
        comparison = before.compare(after, X, y, n_folds=possible or None)
    else:
        comparison = before.compare(after, *labelled(before, test, target, delimiter, header))
    if as_json:
        parts = {part: comparison.to_frame(part).reset_index() for part in ("scores", "rows", "relevance", "edges")}
        changes = {part: frame.to_dict("records") for part, frame in parts.items()}
        emit({"model": None if output is None else str(output), "measured": comparison.measured, **changes})
    else:
        show(str(comparison))
