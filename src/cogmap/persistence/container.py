"""The container: one safetensors file whose metadata has the entry ``cogmap``, a digest and a JSON document.

    cogmap = hexadecimal SHA-256 of the document ‖ newline ‖ document

Easy to get wrong: a length in a damaged file is any number. Each is compared with the size of the file before anything
of that size is allocated, and arrays are read one by one, only after the document has told their shapes. The library
judges the header, but does not read the arrays: where memory is short, it panics, and no `except Exception` sees that.
"""

import json
import os
from collections.abc import Callable, Mapping
from hashlib import sha256
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ModelFileError
from ..writing import whole
from .kinds import DTYPES, Arrays

KEY = "cogmap"

HEADER_LIMIT = 1 << 24
"""Most bytes of the header, the document among them: the names of a hundred thousand concepts fit."""

BRACKET_LIMIT = 1 << 20
"""Most opening brackets in the document: each may be an object of Python, thirty times as large as its two bytes."""


def write(path: Path, document: Any, arrays: Mapping[str, NDArray[Any]], *, check: Callable[[Path], object]) -> None:
    """Write a file under a temporary name in the same folder, let `check` read it, and move it into place."""
    text = json.dumps(document, allow_nan=False, separators=(",", ":"))
    sealed = f"{sha256(text.encode()).hexdigest()}\n{text}"
    content = _safetensors().numpy.save(dict(arrays), metadata={KEY: sealed})
    with whole(path) as unfinished:
        with unfinished.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        check(unfinished)


def read(path: Path) -> tuple[Any, Arrays]:
    """Return the document of a file, checked against its digest, and its arrays, which are read when they are taken."""
    safetensors = _safetensors()
    header = _header(path)
    try:
        with safetensors.safe_open(path, framework="numpy") as file:
            found = file.metadata() or {}
            described = {name: _described(file, name) for name in file.keys()}  # noqa: SIM118
    except safetensors.SafetensorError as error:
        # The library quotes the file, at any length.
        raise ModelFileError(f"it is damaged, or no cogmap model ({str(error)[:200]}).") from error
    if set(found) != {KEY}:
        raise ModelFileError("it is no cogmap model: its safetensors metadata must have the entry 'cogmap' alone.")
    places = {name: entry["data_offsets"][0] for name, entry in json.loads(header).items() if name in described}

    def array(name: str, dtype: str, shape: tuple[int, ...]) -> NDArray[Any]:
        entries = np.fromfile(path, DTYPES[dtype], prod(shape), offset=8 + len(header) + places[name])
        if len(entries) < prod(shape):
            raise ModelFileError("it was changed while it was read.")
        return entries.reshape(shape)

    return _opened(found[KEY]), Arrays(described, array)


def _safetensors() -> Any:
    try:
        import safetensors
        import safetensors.numpy
    except ImportError as error:
        raise ImportError('Model files need the safetensors library: pip install "cogmap[files]".') from error
    return safetensors


def _described(file: Any, name: str) -> tuple[str, tuple[int, ...]]:
    found = file.get_slice(name)
    return found.get_dtype(), tuple(found.get_shape())


def _header(path: Path) -> bytes:
    """Return the header, once its length is known to be sensible."""
    if path.exists() and not path.is_file():
        raise ModelFileError("it is no file.")
    with path.open("rb") as file:
        size, length = os.fstat(file.fileno()).st_size, int.from_bytes(file.read(8), "little")
        if size < 8 or 8 + length > size:
            raise ModelFileError(f"it is damaged, or no cogmap model: its {size} bytes are fewer than it announces.")
        if length > HEADER_LIMIT:
            raise ModelFileError(f"its header has {length} bytes, more than the {HEADER_LIMIT} that are read.")
        return file.read(length)


def _opened(sealed: str) -> Any:
    digest, _, text = sealed.partition("\n")
    # Lone surrogates cannot be encoded; they are no part of what was written.
    if sha256(text.encode(errors="replace")).hexdigest() != digest:
        raise ModelFileError("it is damaged: its document does not match its SHA-256.")
    if text.count("[") + text.count("{") > BRACKET_LIMIT:
        raise ModelFileError(f"its document has more than {BRACKET_LIMIT} lists and objects.")
    try:
        return json.loads(text, object_pairs_hook=_without_repetition, parse_constant=_refuse_constant)
    except RecursionError as error:
        raise ModelFileError("its document is nested too deeply.") from error
    except ValueError as error:
        raise ModelFileError(f"its document is no JSON that cogmap writes ({error}).") from error


def _without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key occurs twice in one object")
    return found


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON number")
