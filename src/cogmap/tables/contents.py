"""The bytes of a file, to be opened again and again: on disk, or in memory where the file was read at once.

Easy to get wrong: a pipe. It can be read once only, so all of it must be in memory before anything is found out.
"""

import gzip
import io
import stat
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DataFileError
from ..intake.memory import available
from .limits import CHUNK, HARMLESS, TEXT_BYTES, allowed_size, check_room, check_size

GZIP = b"\x1f\x8b"
"""How gzip files begin."""


@dataclass(frozen=True)
class Contents:
    """What a file holds.

    Attributes
    ----------
    path : Path
        The file.
    start : bytes
        Its first bytes.
    zipped : bool
        Whether `open` has to decompress it.
    held : bytes or None
        All of it, decompressed, where it was read at once.
    """

    path: Path
    start: bytes
    zipped: bool = False
    held: bytes | None = None

    @classmethod
    def on_disk(cls, path: Path) -> "Contents":
        """Look at a file that stays where it is."""
        check_readable(path, again=True)
        with _opening(path), path.open("rb") as file:
            start = file.read(8)
        return cls(path, start, _is_zipped(path, start))

    @classmethod
    def in_memory(cls, path: Path) -> "Contents":
        """Read a file or a pipe at once."""
        content = content_of(path)
        return cls(path, content[:8], held=content)

    def open(self) -> Any:
        """Return a file of the bytes, decompressed."""
        if self.held is not None:
            return io.BytesIO(self.held)
        return gzip.open(self.path, "rb") if self.zipped else self.path.open("rb")

    @property
    def size(self) -> int:
        """Number of bytes, before they are decompressed."""
        return self.path.stat().st_size if self.held is None else len(self.held)


def check_readable(path: Path, *, again: bool) -> None:
    """Refuse folders and devices, and pipes where the file is to be read `again`."""
    with _opening(path):
        mode = path.stat().st_mode
    if stat.S_ISDIR(mode):
        raise DataFileError(f"{path} cannot be read: it is a folder.")
    if stat.S_ISREG(mode):
        return
    if not stat.S_ISFIFO(mode):
        raise DataFileError(f"{path} cannot be read: it is a device.")
    if again:
        raise DataFileError(f"{path} is a pipe, which can be read once only: save what it gives to a file.")


def content_of(path: Path) -> bytes:
    """Return the bytes of a file or a pipe, decompressed where they are gzip."""
    check_readable(path, again=False)
    there = available()
    most = HARMLESS if there is None else there // TEXT_BYTES
    with _opening(path), path.open("rb") as file:
        content = _taken(file, most)
    check_room(path, TEXT_BYTES * len(content))
    if not _is_zipped(path, content):
        return content
    allowed = allowed_size(len(content))
    with unzipping(path), gzip.GzipFile(fileobj=io.BytesIO(content)) as unpacked:
        whole = _taken(unpacked, min(allowed, most))
    check_size(path, len(whole), allowed)
    check_room(path, TEXT_BYTES * len(whole))
    return whole


def _is_zipped(path: Path, content: bytes) -> bool:
    zipped = content.startswith(GZIP)
    if path.suffix == ".gz" and not zipped:
        raise DataFileError(f"{path} is not a gzip file, although its name ends in .gz: rename or compress it.")
    return zipped


def _taken(file: Any, most: int) -> bytes:
    """Return what a file holds, or a little more than `most` bytes of it; a read at once would ask for all memory."""
    parts, size = [], 0
    while size <= most and (part := file.read(CHUNK)):
        parts.append(part)
        size += len(part)
    return b"".join(parts)


@contextmanager
def _opening(path: Path) -> Iterator[None]:
    """Turn what the system says about a file that cannot be read into a `DataFileError`."""
    try:
        yield
    except OSError as error:
        raise DataFileError(f"{path} cannot be read: {error.strerror or error}.") from error


@contextmanager
def unzipping(path: Path) -> Iterator[None]:
    """Turn the errors of a damaged gzip file into a `DataFileError`."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise DataFileError(f"{path} is a damaged gzip file: {error}.") from error


@contextmanager
def refusing(fault: str) -> Iterator[None]:
    """Turn whatever a library raises, errors of its own among them, into a `DataFileError` that states the fault."""
    try:
        yield
    except MemoryError:
        raise
    except Exception as error:
        reason = (str(error).splitlines() or [type(error).__name__])[0].rstrip(".")
        raise DataFileError(f"{fault}: {reason}.") from error
