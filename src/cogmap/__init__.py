"""Recurrence-aware Long-Term Cognitive Networks: glass-box classifiers for tabular data."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .classifier import LTCNClassifier
    from .errors import DataFileError, ModelFileError, TooLargeError, UnusableColumnError
    from .knowledge import Knowledge
    from .persistence import load
    from .tabular import TabularClassifier
    from .tuning import LTCNClassifierCV
    from .warnings import (
        IllConditionedWarning,
        KnowledgeWarning,
        ManyClassesWarning,
        NoInformationWarning,
        RestartWarning,
        UnreliableRelevanceWarning,
        UnseenValueWarning,
    )

__version__ = "0.1.0"

_HOMES = {
    "DataFileError": "errors",
    "IllConditionedWarning": "warnings",
    "Knowledge": "knowledge",
    "KnowledgeWarning": "warnings",
    "LTCNClassifier": "classifier",
    "LTCNClassifierCV": "tuning",
    "ManyClassesWarning": "warnings",
    "ModelFileError": "errors",
    "NoInformationWarning": "warnings",
    "RestartWarning": "warnings",
    "TabularClassifier": "tabular",
    "TooLargeError": "errors",
    "UnreliableRelevanceWarning": "warnings",
    "UnseenValueWarning": "warnings",
    "UnusableColumnError": "errors",
    "load": "persistence",
}
__all__ = [
    "DataFileError",
    "IllConditionedWarning",
    "Knowledge",
    "KnowledgeWarning",
    "LTCNClassifier",
    "LTCNClassifierCV",
    "ManyClassesWarning",
    "ModelFileError",
    "NoInformationWarning",
    "RestartWarning",
    "TabularClassifier",
    "TooLargeError",
    "UnreliableRelevanceWarning",
    "UnseenValueWarning",
    "UnusableColumnError",
    "load",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: scikit-learn takes a second to load, and brings in pandas."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
