"""Values that users choose: parameters, class labels, names.

JSON has no tuples, no infinity and no dictionaries with numbers as keys, so these are JSON objects with one key, their
tag: ``{"tuple": [1, 2]}``. Numbers, text, true, false, null and lists are written as they are.

Easy to get wrong: a short text can stand for much memory, as a range or as labels padded to the longest; both are
bounded.
"""

from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelFileError
from ...knowledge import Knowledge
from ...knowledge.text import from_json
from .kinds import Array, Json, Scope, Sink, Whole

DEPTH = 8
RANGE_LIMIT = 1 << 16
LABEL_BYTES = 1 << 26
NOT_FINITE = ("inf", "-inf", "nan")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
FLOATS = ("float16", "float32", "float64")
ESTIMATORS = {
    "LTCNClassifier": "cogmap.estimators.classifier",
    "LTCNClassifierCV": "cogmap.estimators.tuned",
    "TabularClassifier": "cogmap.estimators.tabular",
}
"""The estimators that a file may hold, and the modules that they come from."""
TAGS = ("float", "tuple", "range", "dict", "array", "objects", "knowledge", "estimator")
"""What an object with one key may be; for each there is a method that decodes it."""
TENSORS = {"b": "BOOL", "i": "I64", "f": "F64"}


@dataclass(frozen=True)
class Content:
    """An estimator as plain values: its class, parameters and fitted attributes, and where in the file it is."""

    name: str
    parameters: dict[str, Any]
    attributes: dict[str, Any]
    path: str


@dataclass(frozen=True)
class Value:
    """None, a number, text, knowledge, an unfitted estimator, or a list, tuple, dict, range or array of them."""

    depth: int = DEPTH

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return the node of a value."""
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or isinstance(value, (bool, str)):
            return value
        if isinstance(value, int):
            return int(value)
        if isinstance(value, float):
            return float(value) if isfinite(value) else {"float": str(float(value))}
        if self.depth == 0:
            raise ModelFileError(f"{path} is nested more than {DEPTH} deep.")
        return self._encode_container(value, path, arrays)

    def _encode_container(self, value: Any, path: str, arrays: Sink) -> Json:
        if isinstance(value, range):
            return {"range": [value.start, value.stop, value.step]}
        if isinstance(value, dict):
            pairs = [[key, entry] for key, entry in value.items()]
            return {"dict": self._encode_all([part for pair in pairs for part in pair], f"{path}.dict", arrays)}
        if isinstance(value, tuple):
            return {"tuple": self._encode_all(value, f"{path}.tuple", arrays)}
        if isinstance(value, list):
            return self._encode_all(value, path, arrays)
        if isinstance(value, Knowledge):
            return {"knowledge": value.to_json()}
        if hasattr(value, "get_params"):
            return {"estimator": self.encode_estimator(value, f"{path}.estimator", arrays)}
        if hasattr(value, "__array__"):
            return self._encode_array(np.asarray(value), path, arrays)
        raise ModelFileError(f"{path} is a {type(value).__name__}, which no file can hold.")

    def encode_estimator(self, estimator: Any, path: str, arrays: Sink) -> dict[str, Json]:
        """Return the class and the parameters of an estimator."""
        name = type(estimator).__name__
        if ESTIMATORS.get(name) != type(estimator).__module__:
            raise ModelFileError(f"{path} is a {name}, which no file can hold.")
        inner, parameters = Value(self.depth - 1), estimator.get_params(deep=False).items()
        nodes = {key: inner.encode(value, f"{path}.parameters.{key}", arrays) for key, value in parameters}
        return {"class": name, "parameters": nodes}

    def _encode_all(self, values: Any, path: str, arrays: Sink) -> list[Json]:
        inner = Value(self.depth - 1)
        return [inner.encode(value, f"{path}.{i}", arrays) for i, value in enumerate(values)]

    def _encode_array(self, value: NDArray[Any], path: str, arrays: Sink) -> Json:
        if (dtype := TENSORS.get(value.dtype.kind)) is not None:
            return {"array": Array(dtype, None).encode(value, f"{path}.array", arrays)}
        if value.dtype.kind not in "OU":
            raise ModelFileError(f"{path} is an array of {value.dtype}, which no file can hold.")
        entries = self._encode_all(value.ravel().tolist(), f"{path}.objects.entries", arrays)
        return {"objects": {"shape": list(value.shape), "entries": entries}}

    def decode(self, node: Json, scope: Scope) -> Any:
        """Return the value."""
        if node is None or isinstance(node, (bool, str)):
            return node
        if isinstance(node, int):
            scope.need(abs(node) < 1 << 64, "a number of 64 bits")
            return node
        if isinstance(node, float):
            scope.need(isfinite(node), "a finite number")
            return node
        scope.need(self.depth > 0, f"nested at most {DEPTH} deep")
        if isinstance(node, list):
            return self._decode_all(node, scope)
        scope.need(len(node) == 1 and next(iter(node)) in TAGS, f"an object with one of the keys {', '.join(TAGS)}")
        ((tag, content),) = node.items()
        return getattr(self, f"_decode_{tag}")(content, scope.at(tag))

    def decode_estimator(self, node: Json, scope: Scope) -> Content:
        """Return the content of an estimator that is not fitted."""
        node = scope.entries(node, {"class", "parameters"})
        name = node["class"]
        scope.need(isinstance(name, str) and name in ESTIMATORS, f"one of {', '.join(ESTIMATORS)}")
        inner, at = Value(self.depth - 1), scope.at("parameters")
        at.need(isinstance(node["parameters"], dict), "a JSON object")
        parameters = dict(node["parameters"])
        if parameters.get("decision_metric") == "log_loss":
            # Of format 1, where only this metric left probabilities calibrated and their largest to decide.
            parameters["decision_metric"] = "accuracy"
        return Content(
            name, {key: inner.decode(value, at.at(key)) for key, value in parameters.items()}, {}, scope.path
        )

    def _decode_all(self, node: Json, scope: Scope) -> list[Any]:
        inner = Value(self.depth - 1)
        return [inner.decode(entry, scope.at(i)) for i, entry in enumerate(scope.items(node))]

    def _decode_estimator(self, node: Json, scope: Scope) -> Content:
        return self.decode_estimator(node, scope)

    def _decode_float(self, node: Json, scope: Scope) -> float:
        scope.need(isinstance(node, str) and node in NOT_FINITE, f"one of {', '.join(NOT_FINITE)}")
        return float(node)

    def _decode_tuple(self, node: Json, scope: Scope) -> tuple[Any, ...]:
        return tuple(self._decode_all(node, scope))

    def _decode_range(self, node: Json, scope: Scope) -> range:
        ends = scope.items(node, 3)
        scope.need(all(type(end) is int and abs(end) < 1 << 31 for end in ends) and ends[2] != 0, "three whole numbers")
        numbers = range(*ends)
        scope.need(len(numbers) <= RANGE_LIMIT, f"a range of at most {RANGE_LIMIT} numbers")
        return numbers

    def _decode_dict(self, node: Json, scope: Scope) -> dict[Any, Any]:
        flat = self._decode_all(node, scope)
        scope.need(len(flat) % 2 == 0, "keys and values in turn")
        keys = flat[::2]
        scope.need(all(isinstance(key, (str, int, float)) for key in keys), "keys that are text or numbers")
        entries = dict(zip(keys, flat[1::2], strict=True))
        scope.need(len(entries) == len(keys), "keys that differ")
        return entries

    def _decode_array(self, node: Json, scope: Scope) -> NDArray[Any]:
        dtype = node.get("dtype") if isinstance(node, dict) else None
        scope.need(isinstance(dtype, str) and dtype in TENSORS.values(), "an array of BOOL, I64 or F64")
        return Array(str(dtype), None).decode(node, scope)

    def _decode_objects(self, node: Json, scope: Scope) -> NDArray[Any]:
        node = scope.entries(node, {"shape", "entries"})
        entries = self._decode_all(node["entries"], scope.at("entries"))
        shape = [Whole().decode(size, scope.at("shape")) for size in scope.items(node["shape"])]
        scope.need(len(shape) <= 8 and all(size > 0 for size in shape), "objects in at most 8 dimensions")
        size = 1
        for length in shape:
            size *= length
        scope.need(size == len(entries), "as many objects as its shape says")
        objects = np.empty(size, dtype=object)
        objects[:] = entries
        return objects.reshape(shape)

    def _decode_knowledge(self, node: Json, scope: Scope) -> Knowledge:
        scope.need(isinstance(node, str), "text")
        try:
            return Knowledge(from_json(node))
        except (TypeError, ValueError, RecursionError) as error:
            raise ModelFileError(f"{scope.path} is no knowledge: {str(error)[:300]}") from error


@dataclass(frozen=True)
class Names:
    """An array of text."""

    size: str

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return a list of text."""
        return [str(name) for name in value]

    def decode(self, node: Json, scope: Scope) -> NDArray[Any]:
        """Return the array, of dtype object."""
        names = scope.items(node, self.size)
        scope.need(all(isinstance(name, str) for name in names), "a list of text")
        array = np.empty(len(names), dtype=object)
        array[:] = names
        return array


@dataclass(frozen=True)
class NameList:
    """A tuple of text."""

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return the list."""
        return [str(name) for name in value]

    def decode(self, node: Json, scope: Scope) -> tuple[str, ...]:
        """Return the tuple."""
        names = scope.items(node)
        scope.need(all(isinstance(name, str) for name in names), "a list of text")
        return tuple(map(str, names))


@dataclass(frozen=True)
class Labels:
    """Class labels in increasing order: whole numbers, numbers, text or truth values, with their dtype."""

    size: str

    def encode(self, value: Any, path: str, arrays: Sink) -> Json:
        """Return dtype and values."""
        dtype = "str" if value.dtype.kind == "U" else value.dtype.name
        if dtype not in ("bool", "str", "object", *INTEGERS, *FLOATS):
            raise ModelFileError(f"classes of dtype {value.dtype} cannot be stored: use text or numbers.")
        return {"dtype": dtype, "values": Value(1).encode(value.tolist(), path, arrays)}

    def decode(self, node: Json, scope: Scope) -> NDArray[Any]:
        """Return the labels."""
        node = scope.entries(node, {"dtype", "values"})
        values, dtype = scope.items(node["values"], self.size), node["dtype"]
        scope.need(isinstance(dtype, str) and dtype in LABEL_TYPES, f"labels of dtype {', '.join(LABEL_TYPES)}")
        scope.need(all(type(value) in LABEL_TYPES[dtype] for value in values), f"labels that are {dtype}")
        scope.need(len({type(value) for value in values}) < 2, "labels of one type: all text, or all numbers")
        longest = max((len(value) for value in values if isinstance(value, str)), default=0)
        scope.need(4 * longest * len(values) <= LABEL_BYTES, "labels of a sensible length")
        try:
            labels = np.array(values, dtype=dtype)
            sound = labels.tolist() == values and len(labels) > 1 and bool((np.unique(labels) == labels).all())
        except (OverflowError, TypeError, ValueError):
            sound = False
        scope.need(sound, f"two or more different labels of dtype {dtype} in increasing order")
        return labels


LABEL_TYPES: dict[str, tuple[type, ...]] = {
    "bool": (bool,),
    "str": (str,),
    "object": (str, int, float, bool),
    **dict.fromkeys(INTEGERS, (int,)),
    **dict.fromkeys(FLOATS, (float,)),
}
