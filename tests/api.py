"""Print the public API, one name or signature a line: `python -m tests.api > tests/api.txt`.

Public is what stands in `__all__` of `cogmap` and of the modules directly in it; of a class, the attributes without an
underscore in front that it has from cogmap, those that its docstring documents, and the fields of a dataclass; and the
classes of what public methods return. Annotations and what comes from scikit-learn are left out: other versions of the
libraries have others.
"""

import inspect
import re
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from importlib import import_module
from pkgutil import iter_modules
from typing import Any, get_type_hints

import cogmap

INTERNAL = {"check_parameters", "check_stored", "declared", "fit_source", "settings", "unfitted_network"}
"""Methods by which rooms of cogmap call each other: no promise to users."""


def modules() -> Iterator[tuple[str, Any]]:
    """Yield `cogmap` and the modules in it that say what is public."""
    yield "cogmap", cogmap
    for found in iter_modules(cogmap.__path__, "cogmap."):
        if not found.name.endswith("__main__") and hasattr(module := import_module(found.name), "__all__"):
            yield found.name, module


def signature(function: Any) -> str:
    """Return the parameters with their defaults, without annotations."""
    found = inspect.signature(function)
    plain = [parameter.replace(annotation=inspect.Parameter.empty) for parameter in found.parameters.values()]
    return str(found.replace(parameters=plain, return_annotation=inspect.Signature.empty))


def documented(kind: type) -> set[str]:
    """Return the attributes that numpydoc's section of them names."""
    section = re.search(r"\n\s*Attributes\n\s*-+\n(.*?)(?=\n\s*\w[\w ]*\n\s*-{3,}\n|\Z)", kind.__doc__ or "", re.DOTALL)
    if section is None:
        return set()
    lines = inspect.cleandoc("\n" + section[1]).splitlines()
    heads = [line.partition(" :")[0] for line in lines if re.match(r"\w[\w, ]* :", line)]
    return {name.strip() for head in heads for name in head.split(",")}


def returned(function: Any) -> list[type]:
    """Return the classes of cogmap that a function says it returns."""
    try:
        hint = get_type_hints(function).get("return")
    except NameError:  # a class of an optional library, which is imported for type checkers only
        return []
    kinds = [hint, *getattr(hint, "__args__", ())]
    return [kind for kind in kinds if inspect.isclass(kind) and kind.__module__.startswith("cogmap.")]


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """Yield what a class has from cogmap, without an underscore in front."""
    for name, member in inspect.getmembers_static(kind):
        home = next((base for base in kind.__mro__ if name in vars(base)), object)
        routed = re.fullmatch("set_.*_request", name)  # scikit-learn puts these into every class
        if name[0] != "_" and name not in INTERNAL and not routed and home.__module__.startswith("cogmap"):
            yield name, member


def of_class(path: str, kind: type, queue: list[type]) -> Iterator[str]:
    """Yield the lines of a class, and note what its methods return."""
    bases = [base.__name__ for base in kind.__mro__[1:-1] if base.__module__ == "builtins"]
    yield f"{path}: {bases[0]}" if bases else path + signature(kind)
    names = {field.name for field in fields(kind)} if is_dataclass(kind) else set()
    for name, member in members(kind):
        function = getattr(member, "__func__", member)
        if inspect.isfunction(function):
            queue.extend(returned(function))
            yield f"{path}.{name}{signature(function)}"
        else:
            names.add(name)
    yield from (f"{path}.{name}" for name in names | documented(kind) if name[0] != "_")


def listing() -> list[str]:
    """Return every line, sorted."""
    lines: set[str] = set()
    queue: list[type] = []
    named: set[type] = set()
    for home, module in modules():
        for name in module.__all__:
            thing, path = getattr(module, name), f"{home}.{name}"
            if inspect.isclass(thing):
                lines.update([path] if thing in named else of_class(path, thing, queue))
                named.add(thing)
            elif inspect.isfunction(thing):
                queue.extend(returned(thing))
                lines.add(path + signature(thing))
            else:
                lines.add(path)
    while queue:
        if (kind := queue.pop()) not in named:
            named.add(kind)
            lines.update(of_class(f"(returned) {kind.__name__}", kind, queue))
    return sorted(lines)


if __name__ == "__main__":
    print("\n".join(listing()))  # noqa: T201 - it is for a file
