"""The container: one safetensors file whose metadata has the entry ``cogmap``, a digest and a JSON document.

    cogmap = hexadecimal SHA-256 of the document ‖ newline ‖ document

Easy to get wrong: a length in a damaged file is any number. Each is compared with the size of the file before anything
of that size is allocated, and arrays are read one by one, only after the document has told their shapes.
"""

import json
import os
import secrets
from collections.abc import Callable, Mapping
from hashlib import sha256
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from ..errors import ModelFileError
from .kinds import Arrays

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
    temporary = path.with_name(f".{path.name}.{secrets.token_hex(4)}")
    try:
        with temporary.open("xb") as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        check(temporary)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def read(path: Path) -> tuple[Any, Arrays]:
    """Return the document of a file, checked against its digest, and its arrays, which are read when they are taken."""
    safetensors = _safetensors()
    _check_header_length(path)
    try:
        file = safetensors.safe_open(path, framework="numpy")
        found = file.metadata() or {}
        arrays = Arrays({name: _described(file, name) for name in file.keys()}, file.get_tensor)  # noqa: SIM118
    except safetensors.SafetensorError as error:
        # The library quotes the file, at any length.
        raise ModelFileError(f"it is damaged, or no cogmap model ({str(error)[:200]}).") from error
    if set(found) != {KEY}:
        raise ModelFileError("it is no cogmap model: its safetensors metadata must have the entry 'cogmap' alone.")
    return _opened(found[KEY]), arrays


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


def _check_header_length(path: Path) -> None:
    if path.exists() and not path.is_file():
        raise ModelFileError("it is no file.")
    with path.open("rb") as file:
        size, first = os.fstat(file.fileno()).st_size, file.read(8)
    length = int.from_bytes(first, "little")
    if size < 8 or 8 + length > size:
        raise ModelFileError(f"it is damaged, or no cogmap model: its {size} bytes are fewer than it announces.")
    if length > HEADER_LIMIT:
        raise ModelFileError(f"its header has {length} bytes, more than the {HEADER_LIMIT} that are read.")


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
