"""Recurrence-aware Long-Term Cognitive Networks: glass-box classifiers for tabular data."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .errors import (
        DataFileError,
        IllConditionedWarning,
        KnowledgeWarning,
        ManyClassesWarning,
        ModelFileError,
        NoInformationWarning,
        RestartWarning,
        TooLargeError,
        UnreliableRelevanceWarning,
        UnseenValueWarning,
        UnusableColumnError,
    )
    from .estimators.classifier import LTCNClassifier
    from .estimators.loading import load
    from .estimators.tabular import TabularClassifier
    from .estimators.tuned import LTCNClassifierCV
    from .knowledge import Knowledge
    from .maps import CognitiveMap, compare_maps, map_of, merge_maps, read_map, simulate, write_map
    from .workbench.widget import workbench

    __version__: str

_HOMES = {
    "CognitiveMap": "maps",
    "DataFileError": "errors",
    "IllConditionedWarning": "errors",
    "Knowledge": "knowledge",
    "KnowledgeWarning": "errors",
    "LTCNClassifier": "estimators.classifier",
    "LTCNClassifierCV": "estimators.tuned",
    "ManyClassesWarning": "errors",
    "ModelFileError": "errors",
    "NoInformationWarning": "errors",
    "RestartWarning": "errors",
    "TabularClassifier": "estimators.tabular",
    "TooLargeError": "errors",
    "UnreliableRelevanceWarning": "errors",
    "UnseenValueWarning": "errors",
    "UnusableColumnError": "errors",
    "compare_maps": "maps",
    "load": "estimators.loading",
    "map_of": "maps",
    "merge_maps": "maps",
    "read_map": "maps",
    "simulate": "maps",
    "write_map": "maps",
}
__all__ = [
    "CognitiveMap",
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
    "compare_maps",
    "load",
    "map_of",
    "merge_maps",
    "read_map",
    "simulate",
    "workbench",
    "write_map",
]


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: scikit-learn takes a second to load, and brings in pandas."""
    if name == "workbench":  # a room that can be called
        return import_module(f".{name}", __name__)
    if name == "__version__":
        return _installed_version()
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def _installed_version() -> str:
    """Return the version that the installation was given from git's tags; source without one has none to tell."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(__name__)
    except PackageNotFoundError:
        return "0+unknown"
