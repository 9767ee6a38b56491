"""What a model says of one row, and why: probabilities, evidence, and the states of every concept.

Easy to get wrong: the decision reads fewer iterations than the states need to settle. Both are there: `read` says how
many of the states count.
"""

import warnings
from dataclasses import replace
from typing import Any

import numpy as np

from ..core.fit.fitted import Fitted, probabilities
from ..core.network.dynamics import diagnose
from ..core.network.reasoning import trajectory
from ..core.types import Array
from ..explain.columns import by_columns
from ..explain.explanation import explain
from ..report.explained_rows import written
from ..report.subject import Subject
from .sheet import Cells, Sheet

STATES = 20
"""Iterations that are shown, where the model allows so many."""

DIGITS = 6
"""Digits of a state behind the point."""

PARTS = ("evidence", "trajectory")


def what_if(
    subject: Subject,
    sheet: Sheet,
    cells: Cells,
    *,
    label: str | None = None,
    parts: tuple[str, ...] = PARTS,
    row: int | None = None,
) -> dict[str, Any]:
    """Return what the model says of a row of cells, with a paragraph where it has a number.

    `label` is the class whose evidence is shown.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        explanation = _explained(subject, sheet, cells)
        probability, classes = probabilities(explanation.scores)[0], subject.classes
        predicted = int(subject.model.fitted_.decision.codes(explanation.scores)[0])
        answer = {
            "values": cells,
            "predicted": classes[predicted],
            "probabilities": [{"class": c, "probability": float(p)} for c, p in zip(classes, probability, strict=True)],
        }
        if "evidence" in parts:
            code = predicted if label is None else _code(classes, label)
            answer["evidence"] = _evidence(explanation, code, classes[code])
        if "trajectory" in parts:
            answer["trajectory"] = trajectories(subject.model.fitted_, explanation.X)
        if row is not None:
            answer["text"] = replace(explanation, index=np.array([row])).to_text(0)
    answer["notes"] = list(dict.fromkeys(str(one.message) for one in caught if issubclass(one.category, UserWarning)))
    return answer


def _explained(subject: Subject, sheet: Sheet, cells: Cells) -> Any:
    """Return the explanation of a row of cells, as the model's own `explain` gives it for such a row."""
    numbers = explain(subject.model.fitted_, sheet.encoded(cells), np.array([0]), None, None)
    if not subject.is_tabular:
        return numbers
    return by_columns(numbers, subject.model.columns_, sheet.frame(cells), None)


def _code(classes: list[str], label: str) -> int:
    if label not in classes:
        raise ValueError(f"There is no class {label!r}: the classes are {', '.join(map(repr, classes))}.")
    return classes.index(label)


def _evidence(explanation: Any, code: int, name: str) -> dict[str, Any]:
    """Return what each column adds to the evidence for a class, the largest first."""
    label = explanation.fitted.classes[code]
    one = replace(explanation, classes=explanation.fitted.classes[[code]])
    adds, row, names = one.attributions[0, :, 0], one.values[0], one.feature_names
    order = np.argsort(-np.abs(adds), kind="stable").tolist()
    return {
        "class": name,
        "unit": one.unit(label),
        "start": float(one.baseline_scores[0, 0]),
        "total": float(one.evidence[0, 0]),
        "parts": [{"name": names[j], "value": written(row[j]), "adds": float(adds[j])} for j in order],
    }


def trajectories(fitted: Fitted, row: Array) -> list[dict[str, Any]]:
    """Return the states of a row in each network, iteration by iteration, and how they end."""
    n_states = max(fitted.n_iter, min(fitted.longest, STATES))
    tol = max(fitted.tol, float(np.finfo(np.float64).eps))
    answers = []
    for name, concepts, model in zip(fitted.network_names, fitted.own_names, fitted.networks, strict=True):
        initial = model.concepts(row)
        period = int(diagnose(model.network, initial, fitted.longest, tol).period[0])
        answers.append(
            {
                "network": name,
                "concepts": concepts,
                "states": trajectory(model.network, initial, n_states)[0].round(DIGITS).tolist(),
                "read": fitted.n_iter,
                "verdict": verdict(period),
            }
        )
    return answers


def verdict(period: int) -> str:
    """Return in words how a trajectory ends, by the number of states that come again."""
    return "fixed point" if period == 1 else "cycle" if period > 1 else "neither"
