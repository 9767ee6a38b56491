"""What experts stated, and what it changed: two models on the same rows, without the statements and with them.

Easy to get wrong: the given model may come from other rows, which alone would change it. Both models are therefore
fitted here; where the rows are those of the given model, the second is that model again. Their scores are
cross-validated.
"""

import warnings
from copy import copy
from typing import Any

from sklearn.base import clone

from ..quality.comparison import METRICS
from .subject import Subject

SHOWN = 8


def statements(subject: Subject, n_folds: int) -> dict[str, Any]:
    """Return the statements, and what they change; `changes` is None where nothing is stated."""
    stated = subject.network.knowledge_
    return {
        "statements": [
            {
                "claim": one.claim,
                "author": one.author,
                "date": None if one.date is None else str(one.date),
                "reason": one.reason,
            }
            for one in stated
        ],
        "changes": _changes(subject, n_folds) if len(stated) else None,
    }


def _changes(subject: Subject, n_folds: int) -> dict[str, Any]:
    with warnings.catch_warnings():
        # The same warnings came when the model was fitted.
        warnings.simplefilter("ignore")
        without, stated = (_fitted(subject, knowledge) for knowledge in (None, subject.network.knowledge_))
        comparison = without.compare(stated, subject.inputs, subject.labels, n_folds=n_folds or None)
    changed = (item for item in comparison.relevance.items() if item[1].before != item[1].after)
    moved = sorted(changed, key=lambda item: -abs(item[1].after - item[1].before))
    return {
        "n_rows": comparison.n_rows,
        "measured": comparison.measured,
        "scores": [{"name": name, **getattr(comparison, name)._asdict()} for name in METRICS],
        "n_changed_rows": len(comparison.rows),
        "n_changed_edges": len(comparison.edges),
        "edges": [edge._asdict() for edge in comparison.edges[:SHOWN]],
        "relevance": [{"name": name, **change._asdict()} for name, change in moved[:SHOWN]],
    }


def _fitted(subject: Subject, knowledge: Any) -> Any:
    """Return the model, fitted anew under this knowledge; columns keep the concepts that the statements name."""
    network = clone(subject.network).set_params(knowledge=knowledge)
    if not subject.is_tabular:
        return network.fit(subject.inputs, subject.labels)
    model = copy(subject.model)
    model.classifier_ = network.fit(subject.model.encode(subject.inputs), subject.labels)
    return model
