"""Files that appear only when they are complete.

A file is written as ``.cogmap-<8 digits>-<name>`` beside its target and moved into place; its writer holds a lock on it
meanwhile.

Easy to get wrong: a process that is killed removes nothing. The next writer of the same target therefore removes what
earlier ones left; a lock, which ends with its process, tells that from the file of a writer at work.
"""

import os
import secrets
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

if sys.platform != "win32":  # where no file can be removed that is open, which is lock enough
    from fcntl import LOCK_EX, LOCK_NB, flock

PREFIX = ".cogmap-"


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a temporary name in the same folder; move it to `path` at the end, or remove it after an error.

    The file is there already, empty. The end of the name stays: some writers choose the format by it.
    """
    if not path.parent.is_dir():
        raise FileNotFoundError(f"{path.parent} is not a folder: create it first.")
    _remove_litter(path)
    unfinished, descriptor = _begun(path)
    try:
        try:
            yield unfinished
        finally:
            os.close(descriptor)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)


def _begun(path: Path) -> tuple[Path, int]:
    """Create a locked file; return its name and its descriptor."""
    while True:
        unfinished = path.with_name(f"{PREFIX}{secrets.token_hex(4)}-{path.name}")
        descriptor = os.open(unfinished, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o666)
        if sys.platform != "win32":
            with suppress(OSError):  # some network file systems have no locks; nothing is taken for litter there
                flock(descriptor, LOCK_EX)
        # Before it was locked, another writer may have taken it for litter.
        if unfinished.exists():
            return unfinished, descriptor
        os.close(descriptor)


def _remove_litter(path: Path) -> None:
    """Remove what writers of the same target left who did not come to their end."""
    digits = "[0-9a-f]" * 8
    for left in path.parent.glob(f"{PREFIX}{digits}-*"):
        if left.name[len(PREFIX) + 9 :] == path.name:
            with suppress(OSError):
                _remove_unlocked(left)


def _remove_unlocked(path: Path) -> None:
    """Remove a file that nobody is writing; raise OSError where somebody is."""
    if sys.platform == "win32":
        path.unlink()
        return
    descriptor = os.open(path, os.O_RDWR)
    try:
        flock(descriptor, LOCK_EX | LOCK_NB)
        path.unlink()
    finally:
        os.close(descriptor)
