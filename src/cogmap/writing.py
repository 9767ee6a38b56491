"""Files that appear only when they are complete."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def whole(path: Path) -> Iterator[Path]:
    """Yield a temporary name in the same folder; move it to `path` at the end, or remove it after an error.

    The end of the name stays: some writers choose the format by it.
    """
    unfinished = path.with_name(f".{secrets.token_hex(4)}-{path.name}")
    try:
        yield unfinished
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
