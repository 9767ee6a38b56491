"""``cogmap explain``."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .inputs import FILE, NEW_FILE, columns_for, data_options, load_model, read_data
from .output import emit, json_option, say, show, table_text, write_whole
from .passes import DataPasses

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd


@click.command()
@click.argument("model", type=FILE)
@click.argument("data", type=FILE, required=False)
@click.option("--row", "rows", type=int, multiple=True, metavar="I", help="Row of DATA, from 0; may be repeated.")
@click.option(
    "--kind",
    type=click.Choice(["model", "data", "paper"]),
    default="model",
    show_default=True,
    help="Relevance by the evidence that a column adds, by what carries it in the data, or by the paper's weights.",
)
@click.option("--effect", "effects", metavar="COL", multiple=True, help="Say how a column acts; may be repeated.")
@click.option("--details", is_flag=True, help="Also say when in the reasoning the evidence for a row came about.")
@click.option("--picture", type=NEW_FILE, metavar="FILE", help="Also draw it, into a file such as why.png.")
@data_options
@json_option
def explain(
    model: Path,
    data: Path | None,
    rows: tuple[int, ...],
    kind: str,
    effects: tuple[str, ...],
    details: bool,
    picture: Path | None,
    delimiter: str | None,
    header: bool | None,
    as_json: bool,
) -> None:
    r"""Say which columns matter for MODEL as a whole, how a column acts, or why rows of DATA got their class.

    \b
    Examples:
      cogmap explain people.cogmap
      cogmap explain people.cogmap people.csv --row 0 --row 7
      cogmap explain people.cogmap people.csv --row 0 --picture why.png
      cogmap explain people.cogmap people.csv --effect age --picture age.png
    """
    if rows and effects:
        raise click.UsageError("--effect is about all rows of DATA: leave out --row.")
    if rows and data is None:
        raise click.UsageError("--row needs DATA: the file that holds the row.")
    if len(rows) > 1 and picture is not None:
        raise click.UsageError("--picture draws one row: give --row once.")
    classifier = load_model(model)
    if rows and data is not None:
        chosen = DataPasses(data, delimiter, header).rows(rows)
        _explain_rows(classifier, columns_for(classifier, chosen), picture, as_json, details)
        return
    X = None if data is None else columns_for(classifier, read_data(data, delimiter, header))
    if effects:
        _explain_effects(classifier, X, effects, picture, as_json)
    else:
        _explain_model(classifier, X, kind, picture, as_json)


def _explain_model(classifier: Any, X: "pd.DataFrame | None", kind: str, picture: Path | None, as_json: bool) -> None:
    """Show the relevance of each column, the largest first."""
    from ..intake.checks import feature_names

    relevance, names = classifier.relevance(X, kind=kind), feature_names(classifier)
    shares = relevance / (relevance.sum() or 1.0)
    used = [column.needed for column in getattr(classifier, "columns_", ())] or [True] * len(names)
    order = [j for j in (-relevance).argsort(kind="stable") if used[j]]
    lines = [[names[j], float(relevance[j]), float(shares[j])] for j in order]
    if picture is not None:
        import numpy as np

        from ..plots import RelevanceDisplay

        shown = np.array([names[j] for j in order], dtype=object)
        _draw(lambda: RelevanceDisplay(relevance[order], shown, kind=kind).plot(), picture)  # type: ignore[arg-type]
    if as_json:
        emit({"kind": kind, "columns": [{"name": n, "relevance": r, "share": s} for n, r, s in lines]})
    else:
        show(table_text(["column", "relevance", "share"], lines))


def _explain_effects(
    classifier: Any, X: "pd.DataFrame | None", columns: tuple[str, ...], picture: Path | None, as_json: bool
) -> None:
    """Show the average predicted probability of each class as a column moves."""
    from ..effects.effects import feature_effect

    curves = [feature_effect(classifier, X, column) for column in columns]
    if picture is not None:
        from ..plots import EffectDisplay

        _draw(lambda: EffectDisplay(curves).plot(), picture)
    if as_json:
        emit([{"column": one.feature, "kind": one.kind, "values": one.frame().to_dict("records")} for one in curves])
        return
    for k, one in enumerate(curves):
        header = [one.feature, "rows", *(f"probability of {label}" for label in one.classes)]
        lines = [
            [label, f"{rows:g}", *map(float, line)]
            for label, rows, line in zip(one.labels, one.rows, one.effect, strict=True)
        ]
        if len(one.classes) == 1:
            header.append("middle 80 % of rows")
            for line, low, high in zip(lines, one.low[:, 0], one.high[:, 0], strict=True):
                line.append(f"{low:.3f} to {high:.3f}")
        show(table_text(header, lines) + "\n" * (k + 1 < len(curves)))


def _explain_rows(classifier: Any, X: "pd.DataFrame", picture: Path | None, as_json: bool, details: bool) -> None:
    """Show why rows got their class: a paragraph, and the evidence that each column adds for that class."""
    explanation = classifier.explain(X)
    probability = classifier.predict_proba(X)
    results = [_explained(explanation, probability, i, details) for i in range(len(X))]
    if picture is not None:
        _draw(lambda: _waterfall(explanation), picture)
    if as_json:
        emit(results)
        return
    show("\n\n".join(f"{result['text']}\n\n{_evidence_table(result)}" for result in results))


def _explained(explanation: Any, probability: "np.ndarray[Any, Any]", i: int, details: bool) -> dict[str, Any]:
    from ..explain.words import odds_factor

    label = explanation.predicted[i]
    code = list(explanation.classes).index(label)
    evidence = explanation.attributions[i, :, code]
    columns = [
        {"name": name, "value": value, "evidence": float(adds), "odds_factor": float(odds_factor(adds))}
        for name, value, adds in zip(explanation.feature_names, explanation.values[i], evidence, strict=True)
    ]
    return {
        "row": explanation.index[i],
        "class": label,
        "probability": float(probability[i, code]),
        "unit": explanation.unit(label),
        "evidence": float(explanation.evidence[i, code]),
        "other_rows": float(explanation.baseline_scores[i, code]),
        "columns": sorted(columns, key=lambda column: -abs(column["evidence"])),
        "text": explanation.to_text(i, details=details),
    }


def _evidence_table(result: dict[str, Any]) -> str:
    """Return a line for each column, for what other rows have, and for the sum, under what they are measured in."""
    from ..explain.text import written
    from ..explain.words import odds_words, signed

    label = result["class"]
    lines = [(c["name"], written(c["value"]), c["evidence"]) for c in result["columns"]]
    lines.append(("(other rows)", "", result["other_rows"]))
    table = [[name, value, signed(adds), odds_words(adds, label)] for name, value, adds in lines]
    table.append(["in all", "", signed(result["evidence"]), ""])
    return f"Evidence in {result['unit']}:\n{table_text(['column', 'value', 'evidence', 'odds'], table)}"


def _waterfall(explanation: Any) -> Any:
    """Draw how the evidence for the first row's class comes about."""
    from ..plots import WaterfallDisplay

    return WaterfallDisplay.from_explanation(explanation, 0, explanation.predicted[0])


def _draw(make: Any, path: Path) -> None:
    """Draw a display without a screen, into a file."""
    try:
        import matplotlib as mpl
    except ImportError as error:
        raise ImportError('Pictures need matplotlib: pip install "cogmap[plot]".') from error
    mpl.use("Agg")
    figure = make().figure_
    write_whole(path, lambda unfinished: figure.savefig(unfinished, dpi=150, bbox_inches="tight"))
    say(f"Picture written to {path}.")
