"""The container: one safetensors file whose metadata has the entry ``cogmap``, a digest and a JSON document.

    cogmap = hexadecimal SHA-256 of the document ‖ newline ‖ document

Easy to get wrong: a length in a damaged file is any number. Each is compared with the size of the file before anything
of that size is allocated, and arrays are read one by one, only after the document has told their shapes. And a file may
be replaced while it is read: it is opened once, and all of it comes from there.
"""

import json
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from hashlib import sha256
from math import isfinite, prod
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...errors import ModelFileError
from ...writing import whole
from .kinds import DTYPES, WHOLE_LIMIT, Arrays

KEY = "cogmap"

HEADER_LIMIT = 1 << 24
"""Most bytes of the header, the document among them: the names of a hundred thousand concepts fit."""

BRACKET_LIMIT = 1 << 20
"""Most opening brackets in the document: each may be an object of Python, thirty times as large as its two bytes."""

DIMENSIONS = 8
"""Most dimensions of an array."""


def write(path: Path, document: Any, arrays: Mapping[str, NDArray[Any]], *, check: Callable[[Path], object]) -> None:
    """Write a file under a temporary name in the same folder, let `check` read it, and move it into place."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    sealed = f"{sha256(text.encode()).hexdigest()}\n{text}"
    content = _safetensors().save(dict(arrays), metadata={KEY: sealed})
    with whole(path) as unfinished:
        with unfinished.open("wb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        check(unfinished)


def _safetensors() -> Any:
    try:
        import safetensors.numpy
    except ImportError as error:
        raise ImportError('Model files need the safetensors library: pip install "cogmap[files]".') from error
    return safetensors.numpy


@contextmanager
def opened(path: Path) -> Iterator[tuple[Any, Arrays]]:
    """Yield the document of a file, checked against its digest, and its arrays, which are read when they are taken."""
    if path.exists() and not path.is_file():
        raise ModelFileError("it is no file.")
    with path.open("rb") as file:
        header, start, size = _header(file)
        sealed = _sealed(header.pop("__metadata__", None))
        tensors = _tensors(header, size - start)

        def array(name: str, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
            file.seek(start + tensors[name].start)
            entries = np.fromfile(file, DTYPES[dtype], prod(shape))
            if len(entries) < prod(shape):
                raise ModelFileError("it was changed while it was read.")
            return entries.reshape(shape)

        described = {name: (tensor.dtype, tensor.shape) for name, tensor in tensors.items()}
        yield _unsealed(sealed), Arrays(described, array)


def _header(file: BinaryIO) -> tuple[dict[str, Any], int, int]:
    """Return the header, where the data start, and the size of the file."""
    size, length = os.fstat(file.fileno()).st_size, int.from_bytes(file.read(8), "little")
    if size < 8 or 8 + length > size:
        raise ModelFileError(f"it is damaged, or no cogmap model: its {size} bytes are fewer than it announces.")
    if length > HEADER_LIMIT:
        raise ModelFileError(f"its header has {length} bytes, more than the {HEADER_LIMIT} that are read.")
    try:
        header = _parsed(file.read(length).decode(), "header")
    except UnicodeDecodeError as error:
        raise ModelFileError("it is damaged, or no cogmap model: its header is no text.") from error
    if not isinstance(header, dict):
        raise ModelFileError("it is damaged, or no cogmap model: its header is no JSON object.")
    return header, 8 + length, size


def _sealed(metadata: Any) -> str:
    if not (isinstance(metadata, dict) and set(metadata) == {KEY} and isinstance(metadata[KEY], str)):
        raise ModelFileError("it is no cogmap model: its safetensors metadata must have the entry 'cogmap' alone.")
    sealed: str = metadata[KEY]
    return sealed


class TensorPlace(NamedTuple):
    """An array of the file: where its bytes are among the data, and what they mean."""

    start: int
    stop: int
    dtype: str
    shape: tuple[int, ...]


def _tensors(header: dict[str, Any], n_bytes: int) -> dict[str, TensorPlace]:
    """Return the arrays of a header; they must fill the data, without gaps and one after another."""
    tensors = {name: _tensor(name, entry) for name, entry in header.items()}
    place = 0
    for tensor in sorted(tensors.values()):
        if tensor.start != place:
            raise ModelFileError("it is damaged, or no cogmap model: its arrays overlap, or leave gaps.")
        place = tensor.stop
    if place != n_bytes:
        raise ModelFileError(
            f"it is damaged, or no cogmap model: its header describes {place} bytes, and {n_bytes} follow it."
        )
    return tensors


def _tensor(name: str, entry: Any) -> TensorPlace:
    sound = isinstance(entry, dict) and entry.keys() == {"dtype", "shape", "data_offsets"}
    sound = sound and entry["dtype"] in tuple(DTYPES) and _are_sizes(entry["shape"])
    sound = sound and _are_sizes(entry["data_offsets"]) and len(entry["data_offsets"]) == 2
    if sound:
        start, stop = entry["data_offsets"]
        tensor = TensorPlace(start, stop, entry["dtype"], tuple(entry["shape"]))
        if tensor.stop - tensor.start == prod(tensor.shape) * DTYPES[tensor.dtype].itemsize:
            return tensor
    raise ModelFileError(
        f"it is damaged, or no cogmap model: its header describes {name[:80]!r} in no way that is one."
    )


def _are_sizes(node: Any) -> bool:
    few = isinstance(node, list) and len(node) <= DIMENSIONS
    return few and all(type(size) is int and 0 <= size <= WHOLE_LIMIT for size in node)


def _unsealed(sealed: str) -> Any:
    digest, _, text = sealed.partition("\n")
    # Lone surrogates cannot be encoded; they are no part of what was written.
    if sha256(text.encode(errors="replace")).hexdigest() != digest:
        raise ModelFileError("it is damaged: its document does not match its SHA-256.")
    document = _parsed(text, "document")
    try:
        json.dumps(document, ensure_ascii=False).encode()
    except UnicodeEncodeError as error:
        near = error.object[max(error.start - 20, 0) : error.end]
        raise ModelFileError(f"its document holds half a character, a lone surrogate: {near!a}.") from error
    return document


def _parsed(text: str, name: str) -> Any:
    if text.count("[") + text.count("{") > BRACKET_LIMIT:
        raise ModelFileError(f"its {name} has more than {BRACKET_LIMIT} lists and objects.")
    try:
        return json.loads(
            text, object_pairs_hook=_without_repetition, parse_constant=_refuse_constant, parse_float=_finite
        )
    except RecursionError as error:
        raise ModelFileError(f"its {name} is nested too deeply.") from error
    except ValueError as error:
        raise ModelFileError(f"it is damaged, or its {name} is no JSON that cogmap writes ({error}).") from error


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    entries = dict(pairs)
    if len(entries) < len(pairs):
        raise ValueError("a key occurs twice in one object")
    return entries


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")


def _finite(text: str) -> float:
    value = float(text)
    if not isfinite(value):
        raise ValueError(f"{text[:40]} is no number of 64 bits")
    return value
