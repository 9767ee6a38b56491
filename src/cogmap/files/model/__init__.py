"""The `.cogmap` file: one fitted estimator, as arrays (safetensors) and JSON; `docs/files.md` has the format.

Loading executes nothing. Every value has a kind and every array a dtype and a shape in terms of named sizes
(`schema`); what does not fit is refused with one sentence, and so is what does not match its digest.

Easy to get wrong: a loaded model predicts to the last bit only if its arrays lie in memory as those did that were
saved. A matrix product may round differently for a transposed operand, so the order of each array is part of the file.
"""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import file_digest
from pathlib import Path
from typing import Any

from ...errors import ModelFileError
from .container import opened, write
from .document import from_document, to_document
from .values import Content

__all__ = ["Content", "metadata", "read", "refusals", "save"]


def save(
    estimator: Any,
    path: str | os.PathLike[str],
    *,
    data: str | os.PathLike[str] | None = None,
    check: Callable[[], None],
) -> Path:
    """Write a fitted estimator to one file, which `cogmap.load` reads.

    The file appears under its name only once it is complete and has been read back.

    Parameters
    ----------
    estimator : LTCNClassifier or LTCNClassifierCV
        A fitted estimator.
    path : path-like
        Name of the file, by custom ending in ``.cogmap``; a file of that name is replaced.
    data : path-like, default=None
        The file that the estimator was fitted on, if it was one: its SHA-256 is kept in the model file.
    check : callable
        Raises a `ModelFileError` where the estimator cannot be made again from its parameters.

    Returns
    -------
    Path
        The path.
    """
    path = Path(path)
    try:
        document, arrays = to_document(estimator, None if data is None else _sha256(Path(data)))

        def read_back(unfinished: Path) -> None:
            _read(unfinished)
            check()

        write(path, document, arrays, check=read_back)
    except ModelFileError as error:
        raise ModelFileError(f"The model cannot be saved as {str(path)!r}: {error}") from error
    return path


def read(path: str | os.PathLike[str]) -> Content:
    """Return what a file holds as plain values, once they are known to be sound; `cogmap.load` makes it an estimator.

    Parameters
    ----------
    path : path-like
        Name of a file that `save` wrote.

    Returns
    -------
    Content
        Class, parameters and fitted attributes.

    Raises
    ------
    ModelFileError
        If the file is damaged, from a newer version, or no model file.
    """
    with refusals(path):
        return _read(Path(path))[1]


def metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the JSON document of a model file, once the file is known to be sound; see `docs/files.md`."""
    with refusals(path):
        return _read(Path(path))[0]


@contextmanager
def refusals(path: str | os.PathLike[str]) -> Iterator[None]:
    """Say of which file it is that an error was raised."""
    try:
        yield
    except ModelFileError as error:
        raise ModelFileError(f"{str(path)!r} cannot be loaded: {error}") from error
    except MemoryError as error:
        raise ModelFileError(f"{str(path)!r} cannot be loaded: it needs more memory than there is.") from error


def _read(path: Path) -> tuple[dict[str, Any], Content]:
    with opened(path) as (document, arrays):
        return document, from_document(document, arrays)


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return file_digest(file, "sha256").hexdigest()
