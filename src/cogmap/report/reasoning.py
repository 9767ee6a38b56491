"""What the states do while the network reasons, and how the evidence for each class forms meanwhile.

Over the rows of a class, the evidence for it is, in the mean, base + Σ_t (what iteration t adds) + (what remembered
rows add).

Easy to get wrong: iterations that change the states need not change the decision. The states move for as long as
`max_iter` allows; the decision reads no more iterations than leave-one-out found useful.
"""

from typing import Any

import numpy as np

from ..core.network.dynamics import exponent_words
from .subject import Codes, Subject, spread

ROWS = 1000
"""Most rows whose states are looked at."""

CLASS_ROWS = 200
"""Most rows of one class over which the evidence for it is the mean."""


def dynamics(subject: Subject) -> dict[str, Any]:
    """Return the verdict of `diagnose`, counted, and how far states still move at each iteration."""
    rows = subject.encoded[spread(len(subject.codes), ROWS)]
    network = subject.network
    verdict = network.fitted_.diagnose(rows)
    fixed, cycles = verdict.period == 1, verdict.period > 1
    return {
        "text": str(verdict),
        "n_rows": len(rows),
        "n_fixed": int(fixed.sum()),
        "latest": int(verdict.reached_at[fixed].max()) if fixed.any() else None,
        "n_cycles": int(cycles.sum()),
        "periods": np.unique(verdict.period[cycles]).tolist(),
        "n_neither": int((verdict.period == 0).sum()),
        "exponent": exponent_words(float(np.nanmax(verdict.exponent))) if not np.isnan(verdict.exponent).all() else "",
        "unique": bool(verdict.unique),
        "contraction": float(verdict.contraction),
        "largest_move": verdict.moves.tolist(),
        "n_iterations_read": network.fitted_.n_iter,
    }


def formation(subject: Subject) -> list[dict[str, Any]]:
    """Return how the evidence for each class that has rows forms, in the mean over these rows."""
    present = [k for k in range(len(subject.classes)) if (subject.codes == k).any()]
    return [_formed(subject, k) for k in present]


def _formed(subject: Subject, k: int) -> dict[str, Any]:
    own: Codes = np.flatnonzero(subject.codes == k)
    label = subject.model.classes_[k : k + 1].tolist()[0]
    explanation = subject.model.explain(subject.rows(own[spread(len(own), CLASS_ROWS)]), classes=[label])
    return {
        "name": subject.classes[k],
        "n_rows": len(own),
        "unit": explanation.unit(label),
        "base": float(explanation.base[0]),
        "steps": explanation.contributions(label).sum(axis=2).mean(axis=0).tolist(),
        "cases": float(explanation.cases[:, 0].mean()),
        "evidence": float(explanation.evidence[:, 0].mean()),
    }
