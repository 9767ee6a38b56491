"""``cogmap evaluate``."""

from pathlib import Path
from typing import Any

import click

from .inputs import FILE, columns_for, data_options, load_model, read_data, target_of, with_target
from .network import classes_option, network_options, refuse_given, say_dropped, unfitted
from .output import emit, json_option, plain, say, show


@click.command()
@click.argument("files", nargs=-1, required=True, type=FILE, metavar="[MODEL] DATA")
@network_options
@classes_option
@click.option("--folds", type=click.IntRange(2), default=5, show_default=True, help="Folds, if there is no MODEL.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which rows share a fold.")
@data_options
@json_option
def evaluate(
    files: tuple[Path, ...],
    target: str | None,
    folds: int,
    seed: int,
    delimiter: str | None,
    header: bool | None,
    classes: bool,
    as_json: bool,
    **network: Any,
) -> None:
    r"""Say how good a model is on DATA; without MODEL, by cross-validation of a network that the options describe.

    Prints accuracy, kappa, balanced accuracy and log loss beside those of always naming the most frequent class, the
    confusion matrix and the calibration. Give a MODEL data that it was not fitted on.

    \b
    Examples:
      cogmap evaluate people.csv --target survived
      cogmap evaluate people.cogmap later.csv --json
    """
    from ..quality import evaluation

    if len(files) > 2:
        raise click.UsageError(f"{len(files)} files were given: use MODEL and DATA, or DATA alone.")
    frame = read_data(files[-1], delimiter, header)
    if len(files) == 2:
        refuse_given(network, "is for a network to be fitted, and MODEL is: leave it out.")
        model = load_model(files[0])
        X, y = with_target(frame, target_of(model, target))
        found = evaluation.evaluate(model, columns_for(model, X), y)
    else:
        if target is None:
            raise click.UsageError("Missing option '--target': the column that holds the classes.")
        X, y = with_target(frame, target, classes=classes)
        say(f"{folds}-fold cross-validation of {len(X)} rows.")
        chosen = unfitted(X, **network)
        say_dropped(chosen.describe(X) if chosen.drop_unusable else ())
        found = evaluation.cross_validate(chosen, X, y, n_folds=folds, seed=seed)
    if as_json:
        emit(plain(found) | {"remark": found.remark})
    else:
        show(str(found))
