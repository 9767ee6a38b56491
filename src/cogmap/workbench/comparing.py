"""Before and after: two versions of a model, as plain data."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..core.types import Array
from ..effects.results import FeatureEffect
from ..quality.comparison import changed_edges
from ..report.subject import Subject
from .measuring import Measured

MOST_ROWS = MOST_EDGES = 200
"""Rows and edges that are listed, the largest changes first."""

TIE = 1e-12
"""Scores closer than this are equal but for rounding."""


@dataclass(frozen=True)
class Version:
    """A fitted version of the model, and what is known of it by now."""

    subject: Subject
    relevance: Array | None = None
    measured: Measured | None = None
    warnings: tuple[str, ...] = field(default=())


def compared(before: Version, after: Version) -> dict[str, Any]:
    """Return what changes from one measured version to another."""
    old, new = before.measured, after.measured
    assert old is not None
    assert new is not None
    edges = changed_edges(before.subject.model.fitted_.edges, after.subject.model.fitted_.edges)
    rows = _rows(after.subject, old, new)
    return {
        "measured": new.sentence,
        "scores": [_score(name, old.scores[name], new.scores[name]) for name in new.scores],
        "n_rows": len(new.predicted),
        "n_changed_rows": len(rows),
        "rows": rows[:MOST_ROWS],
        "relevance": _relevance(before, after),
        "n_changed_edges": len(edges),
        "edges": [edge._asdict() for edge in edges[:MOST_EDGES]],
        "effects": [
            _effect(old.effects[name], effect, after.subject.classes)
            for name, effect in new.effects.items()
            if name in old.effects and old.effects[name].effect.shape == effect.effect.shape
        ],
        "warnings": list(after.warnings),
    }


def _score(name: str, before: float, after: float) -> dict[str, Any]:
    gain = before - after if name == "log_loss" else after - before
    better = None if abs(gain) <= TIE else gain > 0
    return {"name": name.replace("_", " "), "before": before, "after": after, "better": better}


def _rows(subject: Subject, old: Measured, new: Measured) -> list[dict[str, Any]]:
    """Return the rows whose class changes, those first whose probability of the true class changes most."""
    changed = np.flatnonzero(old.predicted != new.predicted)
    true = subject.codes[changed]
    moved = np.abs(new.probability[changed, true] - old.probability[changed, true])
    return [
        {
            "row": int(i),
            "truth": subject.classes[subject.codes[i]],
            "before": subject.classes[old.predicted[i]],
            "after": subject.classes[new.predicted[i]],
            "probability_before": float(old.probability[i, old.predicted[i]]),
            "probability_after": float(new.probability[i, new.predicted[i]]),
        }
        for i in changed[np.argsort(-moved, kind="stable")]
    ]


def _relevance(before: Version, after: Version) -> list[dict[str, Any]]:
    if before.relevance is None or after.relevance is None:
        return []
    names = _feature_names(after.subject)
    pairs = zip(names, before.relevance.tolist(), after.relevance.tolist(), strict=True)
    lines = [{"name": name, "before": old, "after": new} for name, old, new in pairs]
    return sorted(lines, key=lambda line: -abs(line["after"] - line["before"]))


def _feature_names(subject: Subject) -> list[str]:
    columns = getattr(subject.model, "columns_", None)
    return list(subject.frame.columns) if columns is None else [column.name for column in columns]


def _effect(old: FeatureEffect, new: FeatureEffect, classes: list[str]) -> dict[str, Any]:
    """Return the effect on the class for which it changes most; of equals, the last."""
    moved = np.abs(new.effect - old.effect).max(axis=0)
    k = len(moved) - 1 - int(moved[::-1].argmax())
    return {
        "name": new.feature,
        "is_number": new.is_number,
        "labels": new.labels,
        "values": new.numbers.tolist() if new.is_number else None,
        "class": classes[k],
        "before": old.effect[:, k].tolist(),
        "after": new.effect[:, k].tolist(),
    }
