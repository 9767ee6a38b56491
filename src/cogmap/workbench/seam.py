"""The one seam between Python and what shows a workbench: `call(name, payload)`, for the page and for notebooks.

Every name is a method of `Workbench`, and the payload its arguments. What comes from outside is checked against the
method's own signature.

Easy to get wrong: an error's text may be shown to anybody who sees the page. Mistakes are sentences for the user; of
anything else only the kind is told, and the rest goes to the log.
"""

import inspect
import keyword
import logging
from collections.abc import Mapping
from functools import cache
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from ..errors import TooLargeError
from ..knowledge.names import did_you_mean
from .held import plain
from .history import ConflictError

log = logging.getLogger("cogmap.workbench")

NAMES = (
    *("state", "progress", "map", "history", "compare", "what_if", "changes", "explain", "rows"),
    *("fix", "forbid", "sign", "bound", "irrelevant", "bias", "withdraw", "add_knowledge", "undo", "redo"),
    *("cancel", "refit", "scenarios", "save_scenario", "remove_scenario", "compare_scenarios"),
    *("maps", "load_map", "remove_map", "show_map", "merge_maps", "compare_maps", "simulate", "files", "export"),
)
"""Everything that can be called."""

WORDS = {str: "text", bool: "true or false", int: "a whole number", float: "a number", type(None): "nothing"}


class UnknownCallError(LookupError):
    """There is no such call."""


def call(bench: Any, name: str, payload: Any) -> dict[str, Any]:
    """Call a method of a workbench by its name; return plain data."""
    if name not in NAMES:
        raise UnknownCallError(f"There is no call {str(name)[:60]!r}{did_you_mean(name, NAMES)}.")
    if not isinstance(payload, Mapping):
        raise ValueError("The payload is no object: give the arguments by name.")
    return dict(plain(getattr(bench, name)(**_arguments(getattr(type(bench), name), name, payload))))


def answer(bench: Any, name: str, payload: Any) -> tuple[int, dict[str, Any]]:
    """Return the status, as of HTTP, and what a call gives: its data, or an error in one sentence."""
    try:
        return 200, call(bench, name, payload)
    except UnknownCallError as error:
        return 404, failure("refused", str(error.args[0]))
    except ConflictError as error:
        return 409, failure("conflict", str(error))
    except TooLargeError as error:
        return 400, failure("mistake", str(error))
    except (ValueError, TypeError) as error:
        return 400, failure("mistake", str(error))
    except (OSError, ModuleNotFoundError, MemoryError) as error:
        log.warning("%s failed: %s", name, type(error).__name__)
        return 500, failure("failure", f"That did not work: {error}.")
    except Exception as error:  # whatever it is, the page must say something
        log.exception("%s failed", name)
        return 500, failure(
            "failure", f"That did not work ({type(error).__name__}); the log of the workbench says more."
        )


def failure(kind: str, message: str) -> dict[str, Any]:
    """Return an error as plain data."""
    return {"error": {"kind": kind, "message": message}}


def _arguments(method: Any, name: str, payload: Mapping[str, Any]) -> dict[str, Any]:
    """Return the payload as arguments; name the first that is unknown, absent, or of another type."""
    hints, needed = _signature(method)
    given = {f"{key}_" if keyword.iskeyword(key) else key: value for key, value in payload.items()}
    for key, value in given.items():
        if key not in hints:
            raise ValueError(f"{name!r} takes no {key[:60]!r}{did_you_mean(key, hints)}: leave it out.")
        if not _fits(value, hints[key]):
            raise ValueError(f"{key.rstrip('_')!r} of {name!r} must be {_words(hints[key])}.")
    for key in needed:
        if key not in given:
            raise ValueError(f"{name!r} needs {key.rstrip('_')!r}: give it.")
    return given


@cache
def _signature(method: Any) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Return the types of a method's arguments, and those that it needs."""
    hints, parameters = get_type_hints(method), inspect.signature(method).parameters
    own = {key: hints[key] for key in parameters if key != "self"}
    return own, tuple(key for key in own if parameters[key].default is inspect.Parameter.empty)


def _fits(value: Any, hint: Any) -> bool:
    """Whether a value of JSON is of a type."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return any(_fits(value, one) for one in get_args(hint))
    if hint is Any:
        return True
    if hint in (int, float):
        return isinstance(value, (int, float) if hint is float else int) and not isinstance(value, bool)
    if origin is not None and issubclass(origin, Mapping):
        return isinstance(value, Mapping) and all(_fits(one, get_args(hint)[1]) for one in value.values())
    if origin is not None:
        return isinstance(value, (list, tuple)) and all(_fits(one, get_args(hint)[0]) for one in value)
    return isinstance(value, hint)


def _words(hint: Any) -> str:
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return " or ".join(_words(one) for one in get_args(hint))
    if origin is not None:
        return "an object" if issubclass(origin, Mapping) else "a list"
    return WORDS.get(hint, "something else")
