"""``cogmap evaluate``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .inputs import FILE, data_options, load_model, read_data, target_of, with_target
from .network import classes_option, network_options, refuse_given, say_dropped, unfitted
from .output import emit, json_option, plain, say, show
from .passes import DataPasses, NetworkRows

if TYPE_CHECKING:
    import pandas as pd

    from ..quality.evaluation import Evaluation


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
    confusion matrix and the calibration. Give a MODEL data that it was not fitted on; the file may have any size.

    \b
    Examples:
      cogmap evaluate people.csv --target survived
      cogmap evaluate people.cogmap later.csv --json
    """
    if len(files) > 2:
        raise click.UsageError(f"{len(files)} files were given: use MODEL and DATA, or DATA alone.")
    if len(files) == 2:
        refuse_given(network, "is for a network to be fitted, and MODEL is: leave it out.")
        worth = _of_model(load_model(files[0]), DataPasses(files[1], delimiter, header), target)
    else:
        if target is None:
            raise click.UsageError("Missing option '--target': the column that holds the classes.")
        X, y = with_target(read_data(files[0], delimiter, header), target, classes=classes)
        worth = _cross_validated(X, y, folds, seed, network)
    if as_json:
        emit(plain(worth) | {"remark": worth.remark})
    else:
        show(str(worth))


def _cross_validated(X: "pd.DataFrame", y: "pd.Series", folds: int, seed: int, network: dict[str, Any]) -> "Evaluation":
    """Evaluate a network that the options describe, on all rows at once."""
    from ..quality.evaluation import cross_validate

    say(f"{folds}-fold cross-validation of {len(X)} rows.")
    chosen = unfitted(X, **network)
    say_dropped(chosen.describe(X) if chosen.drop_unusable else ())
    return cross_validate(chosen, X, y, n_folds=folds, seed=seed)


def _of_model(model: Any, passes: DataPasses, target: str | None) -> "Evaluation":
    """Evaluate a model on a file, some rows at a time."""
    from ..knowledge.names import no_column
    from ..quality.evaluation import KnownClasses, Outcomes
    from ..tables.columns import spelled
    from ..tables.target import Target

    name = target_of(model, target)
    if name not in passes.names:
        raise ValueError(no_column(name, passes.names))
    rows = NetworkRows(model, [column for column in passes.names if column != name])
    labels, classes = Target(name, classes=True), KnownClasses(model.classes_)
    outcomes = Outcomes(len(model.classes_))
    passes.scan()
    for part in passes.parts():
        known = part[part[name].notna()]
        labels.add(known[name], len(part) - len(known))
        codes = classes.codes(known[name])
        if len(known) and not classes.unknown:  # of which all rows are to be counted, but no more to be predicted
            encoded = rows(known)
            outcomes.add(rows.network.predict_proba(encoded), codes, classes.codes(rows.network.predict(encoded)))
    labels.check()
    say(*labels.notes, *(rows.remark,) * bool(rows.remark))
    classes.check()
    rows.unseen.warn()
    return outcomes.evaluation([spelled(value) for value in model.classes_])
