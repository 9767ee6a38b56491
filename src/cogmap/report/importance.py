"""Relevance of the columns by the three kinds, each with what is doubtful about it.

Easy to get wrong: the paper's Ω adds up weights that cancel each other. Where they do, it ranks columns by what is not
left in the decision, and is left out.
"""

import warnings
from collections.abc import Callable
from typing import Any

from ..core.explain.relevance import KINDS, weights_cancel
from ..intake.checks import feature_names
from .subject import Subject


def importance(subject: Subject) -> list[dict[str, Any]]:
    """Return for each kind that can be trusted the relevance of every column, the largest first, and its caveats."""
    cancel = weights_cancel(subject.network.outer_weights_)
    return [_kind(subject, kind) for kind in KINDS if not (kind == "paper" and cancel)]


def _kind(subject: Subject, kind: Any) -> dict[str, Any]:
    relevance, caveats = quietly(lambda: subject.model.relevance(kind=kind))
    total = float(relevance.sum()) or 1.0
    names = feature_names(subject.model)
    unused = {column.name for column in getattr(subject.model, "columns_", ()) if not column.needed}
    columns = [
        {"name": name, "relevance": float(value), "share": float(value) / total}
        for name, value in sorted(zip(names, relevance, strict=True), key=lambda pair: -pair[1])
        if name not in unused
    ]
    return {"kind": kind, "columns": columns, "caveats": caveats}


def quietly(compute: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Return a result, and the warnings on the way as sentences: a report shows them where they matter."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        result = compute()
    return result, sorted({str(warning.message) for warning in caught})
