"""Kinds of values in a model file: how each becomes JSON and arrays, and what is refused on the way back.

A kind encodes a value that sits at a dotted path, ``model.fitted.outer_bias_``, as a JSON node; an array goes to the
file's tensor of that name, and its node describes it. Decoding checks everything: a shape is a tuple of names and
numbers, and a name stands for one size throughout a scope, bound where it is first met.

Easy to get wrong: an array without entries takes no bytes, whatever its other dimensions claim, so these are bounded.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from math import isfinite
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelFileError

Json = Any
DTYPES = {"BOOL": np.dtype("?"), "I64": np.dtype("<i8"), "F64": np.dtype("<f8")}
EMPTY_LIMIT = 1 << 16
WHOLE_LIMIT = 1 << 53


@dataclass
class Arrays:
    """The arrays of a file: dtype and shape of each, and a way to read it; each may be taken once."""

    described: dict[str, tuple[str, tuple[int, ...]]]
    read: Callable[[str, str, tuple[int, ...]], NDArray[Any]]

    def take(self, name: str, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
        """Read the array of this name, whose dtype and shape must be these."""
        known = self.described.pop(name, None)
        if known != (dtype, shape):
            held = "lacks it" if known is None else f"holds {known[0]} {list(known[1])}"
            raise ModelFileError(f"{name} is announced as {dtype} {list(shape)}, and the file {held}.")
        return self.read(name, dtype, shape)


@dataclass(frozen=True)
class Scope:
    """Where decoding stands: the path, the file's arrays, and the sizes that are known."""

    path: str
    arrays: Arrays
    sizes: dict[str, int] = field(default_factory=dict)

    def at(self, name: object) -> "Scope":
        """Return the scope of a part."""
        return replace(self, path=f"{self.path}.{name}")

    def own(self, sizes: Mapping[str, int]) -> "Scope":
        """Return a scope whose sizes start from these and are its own."""
        return replace(self, sizes=dict(sizes))

    def bind(self, name: str | int, size: int) -> None:
        """Check a size against its name's, or give the name this size."""
        expected = name if isinstance(name, int) else self.sizes.setdefault(name, size)
        if size != expected:
            raise ModelFileError(f"{self.path} has size {size} where {expected} is expected ({name}).")

    def need(self, condition: bool, what: str) -> None:
        """Refuse the file unless a condition holds; `what` says what the value must be."""
        if not condition:
            raise ModelFileError(f"{self.path} must be {what}.")

    def entries(self, node: Json, required: set[str], optional: frozenset[str] = frozenset()) -> dict[str, Json]:
        """Return a JSON object that has all required keys and no unknown one."""
        self.need(isinstance(node, dict), "a JSON object")
        if wrong := sorted(required - set(node)):
            raise ModelFileError(f"{self.path} lacks {wrong[0]!r}.")
        if wrong := sorted(set(node) - required - optional):
            raise ModelFileError(f"{self.path} has the unknown key {wrong[0][:80]!r}.")
        return dict(node)

    def items(self, node: Json, size: str | int | None = None) -> list[Json]:
        """Return a JSON array, of a given size where one is given."""
        self.need(isinstance(node, list), "a JSON array")
        if size is not None:
            self.bind(size, len(node))
        return list(node)


Sink = dict[str, NDArray[Any]]
"""Where encoding puts arrays, by their paths."""


class Kind(Protocol):
    """A way to write a value and to read it again."""

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return the JSON node of a value, its arrays put into `arrays`."""

    def decode(self, node: Json, scope: Scope) -> Any:
        """Return the value, or raise `ModelFileError`."""


@dataclass(frozen=True)
class Whole:
    """A whole number, 0 or larger; with a name, it binds a size."""

    size: str | None = None

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return the number."""
        return int(value)

    def decode(self, node: Json, scope: Scope) -> int:
        """Return the number."""
        scope.need(type(node) is int and 0 <= node <= WHOLE_LIMIT, "a whole number, 0 or larger")
        if self.size is not None:
            scope.bind(self.size, node)
        return int(node)


@dataclass(frozen=True)
class Real:
    """A number, finite unless said otherwise; infinity and NaN are written as text."""

    finite: bool = True
    low: float = -np.inf
    high: float = np.inf

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return the number, or its name where JSON has no digits for it."""
        value = float(value)
        return value if isfinite(value) else str(value)

    def decode(self, node: Json, scope: Scope) -> float:
        """Return the number."""
        if not self.finite and isinstance(node, str) and node in ("inf", "-inf", "nan"):
            return float(node)
        scope.need(type(node) is float and isfinite(node), "a finite number with a decimal point")
        scope.need(self.low <= node <= self.high, f"a number from {self.low:g} to {self.high:g}")
        return float(node)


@dataclass(frozen=True)
class Maybe:
    """None, or a value of a kind."""

    kind: Kind

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return null or the value's node."""
        return None if value is None else self.kind.encode(value, path, arrays)

    def decode(self, node: Json, scope: Scope) -> Any:
        """Return None or the value."""
        return None if node is None else self.kind.decode(node, scope)


@dataclass(frozen=True)
class Choice:
    """One of a few known objects, written by its name."""

    objects: Mapping[str, Any]

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return the name."""
        for name, known in self.objects.items():
            if known == value:
                return name
        raise ModelFileError(f"{path} is {value!r}, which no file can hold.")

    def decode(self, node: Json, scope: Scope) -> Any:
        """Return the object."""
        scope.need(isinstance(node, str) and node in self.objects, f"one of {', '.join(self.objects)}")
        return self.objects[node]


@dataclass(frozen=True)
class Array:
    """An array of a dtype and a shape; numbers must be finite."""

    dtype: str
    shape: tuple[str | int, ...] | None

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Put the array among the file's and return its description."""
        value = np.asarray(value)
        if not np.can_cast(value.dtype, DTYPES[self.dtype], "safe"):
            raise ModelFileError(f"{path} has dtype {value.dtype}, which is not {self.dtype}.")
        # Column-major arrays are those that a product would hand over to BLAS as transposed.
        columns = value.ndim == 2 and not value.flags.c_contiguous and value.strides[0] < value.strides[1]
        arrays[path] = stored = np.ascontiguousarray(value, dtype=DTYPES[self.dtype]).reshape(value.shape)
        return {
            "dtype": self.dtype,
            "shape": list(value.shape),
            "order": "F" if columns else "C",
            "sha256": sha256(_bytes(stored)).hexdigest(),
        }

    def decode(self, node: Json, scope: Scope) -> NDArray[Any]:
        """Return the array as it was in memory."""
        node = scope.entries(node, {"dtype", "shape", "order", "sha256"})
        scope.need(node["dtype"] == self.dtype, f"an array of {self.dtype}")
        scope.need(node["order"] in ("C", "F"), "an array of order C or F")
        shape = tuple(Whole().decode(size, scope.at("shape")) for size in scope.items(node["shape"]))
        if self.shape is not None:
            scope.need(len(shape) == len(self.shape), f"an array of {len(self.shape)} dimensions")
            for name, size in zip(self.shape, shape, strict=True):
                scope.bind(name, size)
        scope.need(0 not in shape or max(shape) <= EMPTY_LIMIT, "an array with entries, or a small one")
        return self._taken(node, shape, scope)

    def _taken(self, node: Json, shape: tuple[int, ...], scope: Scope) -> NDArray[Any]:
        array = scope.arrays.take(scope.path, self.dtype, shape)
        scope.need(sha256(_bytes(array)).hexdigest() == node["sha256"], "what its SHA-256 says: the file is damaged")
        # A true value other than 1 would make numpy count a mask's entries wrongly, and write beyond its selection.
        scope.need(self.dtype != "BOOL" or bool((array.view(np.uint8) <= 1).all()), "an array of 0 and 1")
        scope.need(bool(np.isfinite(array).all()), "an array of finite numbers")
        return np.asfortranarray(array) if node["order"] == "F" else array


def _bytes(array: NDArray[Any]) -> Any:
    """Return the memory of an array in C order; one without entries has no buffer that can be viewed."""
    return array.data if array.size else b""


@dataclass(frozen=True)
class Ragged:
    """A tuple of arrays of one dimension and different lengths, written as one array and their lengths."""

    dtype: str
    size: str

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Put both arrays among the file's and return their descriptions."""
        joined = np.concatenate([np.empty(0, DTYPES[self.dtype]), *value])
        lengths = np.array([len(part) for part in value], dtype=np.int64)
        return {
            "entries": Array(self.dtype, ("*",)).encode(joined, f"{path}.entries", arrays),
            "lengths": Array("I64", ("*",)).encode(lengths, f"{path}.lengths", arrays),
        }

    def decode(self, node: Json, scope: Scope) -> tuple[NDArray[Any], ...]:
        """Return the arrays."""
        node = scope.entries(node, {"entries", "lengths"})
        lengths = Array("I64", (self.size,)).decode(node["lengths"], scope.at("lengths"))
        joined = Array(self.dtype, (scope.at("entries").path,)).decode(node["entries"], scope.at("entries"))
        sound = bool(((lengths >= 0) & (lengths <= len(joined))).all()) and int(lengths.sum()) == len(joined)
        scope.need(sound, "arrays whose lengths add up to that of their entries")
        return tuple(part.copy() for part in np.split(joined, np.cumsum(lengths)[:-1])) if len(lengths) else ()


@dataclass(frozen=True)
class Record:
    """An object with known attributes; `check` refuses those that do not belong together.

    `added` has the attributes that earlier files lack, and what they were then.
    """

    make: Callable[..., Any]
    fields: Mapping[str, Kind]
    check: Callable[[Any, Scope], None] | None = None
    added: Mapping[str, Json] = field(default_factory=dict)

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return a JSON object of the attributes."""
        return {name: kind.encode(getattr(value, name), f"{path}.{name}", arrays) for name, kind in self.fields.items()}

    def decode(self, node: Json, scope: Scope) -> Any:
        """Return the object."""
        required = set(self.fields) - set(self.added)
        node = {**self.added, **scope.entries(node, required, frozenset(self.added))}
        value = self.make(**{name: kind.decode(node[name], scope.at(name)) for name, kind in self.fields.items()})
        if self.check is not None:
            self.check(value, scope)
        return value


@dataclass(frozen=True)
class OneOf:
    """An object of one of several types, written with the name of its type."""

    records: Mapping[str, Record]

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return the type's name and the object's node."""
        for name, record in self.records.items():
            if type(value) is record.make:
                return {"type": name, "value": record.encode(value, f"{path}.value", arrays)}
        raise ModelFileError(f"{path} is a {type(value).__name__}, which no file can hold.")

    def decode(self, node: Json, scope: Scope) -> Any:
        """Return the object."""
        node = scope.entries(node, {"type", "value"})
        record = Choice(self.records).decode(node["type"], scope.at("type"))
        return record.decode(node["value"], scope.at("value"))


@dataclass(frozen=True)
class Revision:
    """A record whose fields changed: `before` reads those of earlier formats, which alone have the key `sign`."""

    record: Record
    sign: str
    before: Record

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return the node of the present format."""
        return self.record.encode(value, path, arrays)

    def decode(self, node: Json, scope: Scope) -> Any:
        """Return the object of either."""
        earlier = isinstance(node, dict) and self.sign in node
        return (self.before if earlier else self.record).decode(node, scope)
