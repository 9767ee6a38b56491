"""What a pass computed for each block, on disk for the passes after it: constant memory without computing anew.

Small things stay in memory. Others go to temporary files without a name, which the system removes even if the process
is killed. They are read and written block by block, never mapped, so that they are no part of the process's memory.

Easy to get wrong: the memory order of an array is part of its bits, since a matrix product rounds otherwise for the
other order. A pickle keeps it.
"""

import os
import pickle
import shutil
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Self

from ..core.sums.sources import Memory, keep_small

IN_MEMORY = 64_000_000
"""Bytes up to which blocks are kept in memory. Two kinds are: rows and initial states."""

SPARE = 1.2
"""Free disk space that is asked for, as a multiple of what will be written."""


class Spill:
    """Keeps blocks in temporary files of a folder, until it is closed; a way to keep blocks (`core.sums.sources.Keep`).

    Parameters
    ----------
    folder : path, default=None
        Where to write; by default ``TMPDIR``, or else the system's folder for large temporary files.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        self.folder = Path(folder) if folder is not None else _default_folder()
        if self.folder is not None and not self.folder.is_dir():
            raise ValueError(f"scratch={str(folder)!r} is not a folder: create it first.")
        self._files = ExitStack()

    def __call__(self, start: Callable[[], Iterable[Any]], n_bytes: int) -> Callable[[], Iterable[Any]]:
        """Return a function that yields the same blocks; those of the first pass are kept."""
        if n_bytes <= IN_MEMORY:
            return Memory(start)
        if self.folder is None or shutil.disk_usage(self.folder).free < SPARE * n_bytes:
            return keep_small(start, n_bytes)
        return SpillFile(start, self._open)

    def _open(self) -> IO[bytes]:
        return self._files.enter_context(tempfile.TemporaryFile(dir=self.folder))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._files.close()


class SpillFile:
    """What the first whole pass yields, in a file for all later ones; computed anew where the disk is full."""

    def __init__(self, start: Callable[[], Iterable[Any]], open_file: Callable[[], IO[bytes]]) -> None:
        self.start = start
        self.open_file = open_file
        self.file: IO[bytes] | None = None

    def __call__(self) -> Iterator[Any]:
        """Yield it for every block."""
        return self._written() if self.file is None else _read(self.file)

    def _written(self) -> Iterator[Any]:
        file: IO[bytes] | None = self.open_file()
        for block in self.start():
            if file is not None:
                try:
                    pickle.dump(block, file, protocol=5)
                except OSError:
                    _give_up(file)
                    file = None
            yield block
        self.file = file


def _give_up(file: IO[bytes]) -> None:
    """Free the space of a file that could not be written; closing it would try to write the rest."""
    try:
        file.close()
    except OSError:
        file.close()


def _read(file: IO[bytes]) -> Iterator[Any]:
    # Other passes may read the same file in between.
    at, end = 0, file.seek(0, os.SEEK_END)
    while at < end:
        file.seek(at)
        block = pickle.load(file)
        at = file.tell()
        yield block


def _default_folder() -> Path | None:
    """Return a folder on a disk, if there is one: the usual one for temporary files is memory on some systems."""
    large = Path("/var/tmp")
    if "TMPDIR" not in os.environ and os.access(large, os.W_OK):
        return large
    try:
        return Path(tempfile.gettempdir())
    except FileNotFoundError:
        return None
