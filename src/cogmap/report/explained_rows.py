"""Rows worth a look, and why they got their class: a typical one of each class, the least certain, the worst errors.

All of it comes from models that did not see the row (`unseen`):

- typical: of the rows of a class that are predicted right, the nearest to their class's mean, each concept in units of
  its spread over all rows;
- least certain: the smallest difference between the two largest probabilities;
- worst errors: wrong rows with the smallest probability of the true class.

Easy to get wrong: evidence adds up to what the same model says of the row. The rows shown come from several models,
each with a start of its own.
"""

from typing import Any

import numpy as np

from ..core.types import Array
from ..explain.evidence import by_size
from ..explain.words import odds_words
from ..plots.waterfall import compared_with
from ..tables.columns import spelled
from .importance import quietly
from .subject import Codes, Subject
from .unseen import Unseen

MOST_TYPICAL = 6
"""Classes, the most frequent first, of which a typical row is shown."""

MOST_ERRORS = 3
MOST_REASONS = 8


def chosen_rows(subject: Subject, told: Unseen) -> list[tuple[int, str]]:
    """Return positions of the rows, each with what it stands for; no row twice."""
    roles = _typical(subject, told) + _least_certain(told) + _worst_errors(subject, told)
    merged: dict[int, list[str]] = {}
    for position, role in roles:
        merged.setdefault(position, []).append(role)
    return [(position, "; ".join(names)) for position, names in merged.items()]


def _typical(subject: Subject, told: Unseen) -> list[tuple[int, str]]:
    right = told.predicted == subject.codes
    initial = subject.model.fitted_.networks[0].concepts(subject.encoded)
    spread = initial.std(axis=0)
    scaled: Array = initial / np.where(spread > 0, spread, 1.0)
    frequent = np.argsort(-np.bincount(subject.codes, minlength=len(subject.classes)), kind="stable")[:MOST_TYPICAL]
    rows = []
    for k in sorted(frequent.tolist()):
        inside: Codes = np.flatnonzero((subject.codes == k) & right)
        if len(inside):
            centre = scaled[subject.codes == k].mean(axis=0)
            nearest = inside[((scaled[inside] - centre) ** 2).sum(axis=1).argmin()]
            rows.append((int(nearest), f"typical of {subject.classes[k]}"))
    return rows


def _least_certain(told: Unseen) -> list[tuple[int, str]]:
    ordered = np.sort(told.probability, axis=1)
    return [(int((ordered[:, -1] - ordered[:, -2]).argmin()), "the least certain")]


def _worst_errors(subject: Subject, told: Unseen) -> list[tuple[int, str]]:
    own = told.probability[np.arange(len(subject.codes)), subject.codes]
    wrong = np.flatnonzero(told.predicted != subject.codes)
    worst = wrong[np.argsort(own[wrong], kind="stable")][:MOST_ERRORS]
    return [(int(i), "a bad error" if rank else "the worst error") for rank, i in enumerate(worst)]


def explained_rows(subject: Subject, told: Unseen) -> dict[str, Any]:
    """Return the chosen rows with text and reasons, the number of errors, and what is doubtful about the reasons."""
    chosen = chosen_rows(subject, told)
    rows, caveats = quietly(lambda: _rows(subject, told, chosen))
    return {
        "rows": rows,
        "compared": rows[0]["compared"],
        "n_folds": told.n_folds,
        "n_wrong": int((told.predicted != subject.codes).sum()),
        "n_rows": len(subject.codes),
        "caveats": caveats,
    }


def _rows(subject: Subject, told: Unseen, chosen: list[tuple[int, str]]) -> list[dict[str, Any]]:
    explanations = told.explanations(subject, [position for position, _ in chosen])
    return [_row(subject, told, *explanations[position], position, role) for position, role in chosen]


def _row(subject: Subject, told: Unseen, explanation: Any, i: int, position: int, role: str) -> dict[str, Any]:
    label = explanation.predicted[i : i + 1].tolist()[0]
    explained = int(np.flatnonzero(explanation.classes == label)[0])
    code = int(told.predicted[position])
    values = explanation.attributions[i, :, explained]
    shown, rest = by_size(values, MOST_REASONS)
    return {
        "position": position,
        "label": spelled(explanation.index[i]),
        "role": role,
        "true": subject.classes[subject.codes[position]],
        "predicted": subject.classes[code],
        "probability": float(told.probability[position, code]),
        "text": explanation.to_text(i),
        "compared": compared_with(explanation),
        "unit": explanation.unit(label),
        "start": float(explanation.baseline_scores[i, explained]),
        "reasons": [_reason(explanation, i, j, float(values[j]), label) for j in shown],
        "others": float(values[rest].sum()),
        "n_others": len(rest),
        "evidence": float(explanation.evidence[i, explained]),
    }


def _reason(explanation: Any, i: int, j: int, adds: float, label: Any) -> dict[str, Any]:
    """Return one feature's name, value and evidence, and what that does to the odds."""
    value = written(explanation.values[i][j])
    return {"name": explanation.feature_names[j], "value": value, "adds": adds, "odds": odds_words(adds, label)}


def written(value: Any) -> str:
    """Return a value as text."""
    if value is None:
        return "missing"
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else spelled(value)
