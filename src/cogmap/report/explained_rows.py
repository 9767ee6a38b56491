"""Rows worth a look, and why they got their class: a typical one of each class, the least certain, the worst errors.

- typical: of the rows of a class that the model gets right, the nearest to their class's mean, each concept in units of
  its spread over all rows;
- least certain: the smallest difference between the two largest probabilities;
- worst errors: wrong rows with the smallest probability of the true class.

Easy to get wrong: the reasons must be for the same comparison as the sentence beside them, the predicted class against
the runner-up.
"""

from typing import Any

import numpy as np

from ..columns import spelled
from ..core.activation import Array
from ..explain import class_code
from .importance import quietly
from .subject import Codes, Subject

MOST_TYPICAL = 6
"""Classes, the most frequent first, of which a typical row is shown."""

MOST_ERRORS = 3
MOST_REASONS = 8


def chosen_rows(subject: Subject) -> list[tuple[int, str]]:
    """Return positions of the rows, each with what it stands for; no row twice."""
    roles = _typical(subject) + _least_certain(subject) + _worst_errors(subject)
    merged: dict[int, list[str]] = {}
    for position, role in roles:
        merged.setdefault(position, []).append(role)
    return [(position, "; ".join(names)) for position, names in merged.items()]


def _typical(subject: Subject) -> list[tuple[int, str]]:
    right = subject.probability.argmax(axis=1) == subject.codes
    initial = subject.network._networks[0].concepts(subject.encoded)
    spread = initial.std(axis=0)
    scaled: Array = initial / np.where(spread > 0, spread, 1.0)
    frequent = np.argsort(-np.bincount(subject.codes, minlength=len(subject.classes)), kind="stable")[:MOST_TYPICAL]
    found = []
    for k in sorted(frequent.tolist()):
        inside: Codes = np.flatnonzero((subject.codes == k) & right)
        if len(inside):
            centre = scaled[subject.codes == k].mean(axis=0)
            nearest = inside[((scaled[inside] - centre) ** 2).sum(axis=1).argmin()]
            found.append((int(nearest), f"typical of {subject.classes[k]}"))
    return found


def _least_certain(subject: Subject) -> list[tuple[int, str]]:
    ordered = np.sort(subject.probability, axis=1)
    return [(int((ordered[:, -1] - ordered[:, -2]).argmin()), "the least certain")]


def _worst_errors(subject: Subject) -> list[tuple[int, str]]:
    own = subject.probability[np.arange(len(subject.codes)), subject.codes]
    wrong = np.flatnonzero(subject.probability.argmax(axis=1) != subject.codes)
    worst = wrong[np.argsort(own[wrong], kind="stable")][:MOST_ERRORS]
    return [(int(i), "a bad error" if rank else "the worst error") for rank, i in enumerate(worst)]


def explained_rows(subject: Subject) -> dict[str, Any]:
    """Return the chosen rows with text and reasons, the number of errors, and what is doubtful about the reasons."""
    chosen = chosen_rows(subject)
    explanation = subject.model.explain(subject.rows([position for position, _ in chosen]))
    rows, caveats = quietly(lambda: [_row(subject, explanation, i, *pair) for i, pair in enumerate(chosen)])
    n_wrong = int((subject.probability.argmax(axis=1) != subject.codes).sum())
    return {
        "rows": rows,
        "compared": _compared(explanation),
        "n_wrong": n_wrong,
        "n_rows": len(subject.codes),
        "caveats": caveats,
    }


def _row(subject: Subject, explanation: Any, i: int, position: int, role: str) -> dict[str, Any]:
    first, second = (
        class_code(subject.network, label[i : i + 1].tolist()[0])
        for label in (explanation.predicted, explanation.runner_up)
    )
    values = explanation.attributions[i, :, first] - explanation.attributions[i, :, second]
    start = float(explanation.baseline_scores[i, first] - explanation.baseline_scores[i, second])
    order = np.argsort(-np.abs(values), kind="stable")
    shown = [j for j in order[:MOST_REASONS] if values[j]]
    names, own = explanation.feature_names, explanation.values[i]
    return {
        "position": position,
        "label": spelled(explanation.index[i]),
        "role": role,
        "true": subject.classes[subject.codes[position]],
        "predicted": subject.classes[first],
        "runner_up": subject.classes[second],
        "probability": float(subject.probability[position, first]),
        "text": explanation.to_text(i),
        "compared": _compared(explanation),
        "start": start,
        "reasons": [{"name": names[j], "value": written(own[j]), "adds": float(values[j])} for j in shown],
        "others": float(values.sum() - values[shown].sum()),
        "n_others": int((values != 0).sum()) - len(shown),
        "margin": float(explanation.scores[i, first] - explanation.scores[i, second]),
    }


def _compared(explanation: Any) -> str:
    return "other rows" if explanation.baseline_values is None else "a typical row"


def written(value: Any) -> str:
    """Return a value as text."""
    if value is None:
        return "missing"
    return f"{value:.4g}" if isinstance(value, (float, np.floating)) else spelled(value)
