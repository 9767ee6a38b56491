"""The bytes of a file, to be opened again and again: on disk, or in memory where the file was read at once.

Easy to get wrong: a pipe. It can be read once only, so all of it must be in memory before anything is found out.
"""

import gzip
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import DataFileError
from .limits import check_readable, content_of


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
        try:
            with path.open("rb") as file:
                start = file.read(8)
        except OSError as error:
            raise DataFileError(f"{path} cannot be read: {error.strerror or error}.") from error
        zipped = start[:2] == b"\x1f\x8b"
        if path.suffix == ".gz" and not zipped:
            raise DataFileError(f"{path} is not a gzip file, although its name ends in .gz: rename or compress it.")
        return cls(path, start, zipped)

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
