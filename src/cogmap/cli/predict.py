"""``cogmap predict``."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .inputs import FILE, NEW_FILE, data_options, load_model
from .output import JsonList, hand_over, json_option, say, whole_text
from .passes import DataPasses, NetworkRows

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

    The file may have any size: it is looked through, then predicted some rows at a time.

    Columns are found by name, in any order. CSV has six decimals of a probability; --json has all digits.

    A value such as =HYPERLINK(…) in a kept column or as a class runs when a spreadsheet opens the file: use --safe for
    data of strangers.

    \b
    Examples:
      cogmap predict people.cogmap new.csv > predicted.csv
      cogmap predict people.cogmap new.csv -o predicted.csv --proba --keep id
    """
    from ..knowledge.names import no_column

    classifier, passes = load_model(model), DataPasses(data, delimiter, header)
    unknown = [name for name in keep if name not in passes.names]
    if unknown:
        raise ValueError(no_column(unknown[0], passes.names))
    rows = NetworkRows(classifier, passes.names)
    passes.scan()
    if rows.remark:
        say(rows.remark)
    with ExitStack() as files:
        sinks: list[Callable[[pd.DataFrame], None]] = []
        if output is not None:
            sinks.append(CsvSink(files.enter_context(whole_text(output)).write, safe=safe))
        if as_json:
            add = files.enter_context(JsonList())
            sinks.append(lambda result: add(result.astype(object).where(result.notna(), None).to_dict("records")))
        elif output is None:
            sinks.append(CsvSink(hand_over, safe=safe))
        n_rows = 0
        for result in results(passes, rows, keep, proba=proba):
            n_rows += len(result)
            for sink in sinks:
                sink(result)
    rows.unseen.warn()
    if output is not None:
        say(f"{n_rows} predictions written to {output}.")


def results(passes: DataPasses, rows: NetworkRows, keep: Sequence[str], *, proba: bool) -> "Iterator[pd.DataFrame]":
    """Yield the lines of the result, part by part."""
    import pandas as pd

    from ..tables.columns import spelled

    begin = 0
    for part in passes.parts():
        kept = {name: _steady(part[name]) if passes.cut else part[name].to_numpy() for name in keep}
        result = pd.DataFrame({"row": range(begin, begin + len(part))} | kept)
        encoded = rows(part)
        result["predicted"] = rows.network.predict(encoded)
        if proba:
            for name, values in zip(rows.network.classes_, rows.network.predict_proba(encoded).T, strict=True):
                result[f"{PROBABILITY}{spelled(name)}"] = values
        begin += len(part)
        yield result


def _steady(values: "pd.Series") -> Any:
    """Return values that are written in one way in each part: pandas writes dates as all dates of a part allow."""
    if values.dtype.kind not in "mM":
        return values.to_numpy()
    return values.astype(object).where(values.notna(), None).map(str, na_action="ignore").to_numpy()


class CsvSink:
    """Writes results as CSV, part by part."""

    def __init__(self, write: Callable[[str], Any], *, safe: bool) -> None:
        self.write, self.safe = write, safe
        self.begun = False

    def __call__(self, result: "pd.DataFrame") -> None:
        """Write a part."""
        self.write(as_csv(result, safe=self.safe, header=not self.begun))
        self.begun = True


def as_csv(result: "pd.DataFrame", *, safe: bool, header: bool = True) -> str:
    """Return predictions as CSV; probabilities with six decimals, which add up to 1 within rounding."""
    shown = result.copy()
    for name in shown.columns:
        if str(name).startswith(PROBABILITY):
            shown[name] = [f"{value:.6f}" for value in shown[name]]
        elif safe:
            shown[name] = [_harmless(value) for value in shown[name]]
    if safe:
        shown.columns = [_harmless(name) for name in shown.columns]
    text: str = shown.to_csv(index=False, header=header)
    return text


def _harmless(value: Any) -> Any:
    """Return text that no spreadsheet takes for a formula."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value
