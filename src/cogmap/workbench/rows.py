"""All rows as a table: truth, prediction and probability, with filters.

Easy to get wrong: a model is certain of rows that it was fitted to. Where the version was cross-validated, predictions
are those of models that did not see the row.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..core.types import Array
from ..knowledge.names import no_column
from .comparing import Version
from .sheet import Sheet

FILTERS = ("all", "errors", "uncertain")
SORTS = ("row", "truth", "predicted", "probability")
UNCERTAIN = 0.75
"""A prediction with a smaller probability is uncertain."""

MOST_ROWS = 500
"""Rows that one answer holds."""


def rows(
    version: Version,
    sheet: Sheet,
    *,
    chosen: str = "all",
    truth: str | None = None,
    search: str = "",
    sort: str = "row",
    descending: bool = False,
    offset: int = 0,
    limit: int = 50,
    by: str | None = None,
) -> dict[str, Any]:
    """Return some rows of the table as plain data; see `Workbench.rows`."""
    subject, (by, predicted, own) = version.subject, _predictions(version, by)
    _check(chosen, FILTERS, "filter")
    masks = {"all": np.ones(len(own), bool), "errors": predicted != subject.codes, "uncertain": own < UNCERTAIN}
    wanted = masks[chosen] & _of_class(version, truth) & _matching(sheet, search)
    order = _ordered(version, sheet, sort, predicted, own)
    order = order[wanted[order]]
    order = order[::-1] if descending else order
    shown = order[max(offset, 0) :][: min(max(limit, 0), MOST_ROWS)]
    return {
        "total": len(order),
        "offset": max(offset, 0),
        "by": by,
        "columns": list(sheet.names),
        "counts": {name: int(mask.sum()) for name, mask in masks.items()},
        "rows": [
            {
                "row": int(i),
                "truth": subject.classes[subject.codes[i]],
                "predicted": subject.classes[predicted[i]],
                "probability": float(own[i]),
                "right": bool(predicted[i] == subject.codes[i]),
                "values": [cells[i] for cells in sheet.cells],
            }
            for i in shown
        ],
    }


def _predictions(version: Version, by: str | None) -> tuple[str, NDArray[np.intp], Array]:
    """Return whose predictions are shown, the class that each row is given, and the probability of that."""
    measured = version.measured
    unseen = measured if measured is not None and measured.n_folds > 0 and by != "model" else None
    if by == "unseen" and unseen is None:
        raise ValueError("The rows are not cross-validated (yet): wait for it, or look at the model's own predictions.")
    source = version.subject if unseen is None else unseen
    own: Array = source.probability[np.arange(len(source.predicted)), source.predicted]
    return "model" if unseen is None else "unseen", source.predicted, own


def _check(value: str, known: tuple[str, ...], what: str) -> None:
    if value not in known:
        raise ValueError(f"{what}={value!r} is unknown: use one of {', '.join(map(repr, known))}.")


def _of_class(version: Version, truth: str | None) -> NDArray[np.bool_]:
    subject = version.subject
    if truth is None:
        return np.ones(len(subject.codes), bool)
    _check(truth, tuple(subject.classes), "class")
    return np.asarray(subject.codes == subject.classes.index(truth))


def _matching(sheet: Sheet, search: str) -> NDArray[np.bool_]:
    """Say for each row whether a cell of it holds a text, in whatever case."""
    text = search.strip().casefold()
    if not text:
        return np.ones(len(sheet.cells[0]), bool)
    found = [[cell is not None and text in _written(cell) for cell in cells] for cells in sheet.cells]
    matching: NDArray[np.bool_] = np.any(found, axis=0)
    return matching


def _written(cell: Any) -> str:
    return f"{cell:g}" if isinstance(cell, float) else str(cell).casefold()


def _ordered(version: Version, sheet: Sheet, sort: str, predicted: NDArray[np.intp], own: Array) -> NDArray[np.intp]:
    """Return the positions of all rows in order; missing cells come last."""
    keys = {"row": np.arange(len(own)), "truth": version.subject.codes, "predicted": predicted, "probability": own}
    if sort in keys:
        return np.argsort(keys[sort], kind="stable")
    if sort not in sheet.names:
        raise ValueError(no_column(sort, (*SORTS, *sheet.names)))
    cells = sheet.cells[sheet.names.index(sort)]
    return np.array(sorted(range(len(cells)), key=lambda i: (cells[i] is None, 0 if cells[i] is None else cells[i])))
