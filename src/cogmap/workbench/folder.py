"""The one folder in which a workbench reads and writes: names of files, and never a path.

Easy to get wrong: a name may lead elsewhere without a slash, as a link does, or a device of Windows. A file is
therefore looked at where it really is.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

MOST_LISTED = 500
"""Files of a folder that are listed."""

LARGEST = 64 * 2**20
"""Bytes of the largest file that is read."""


@dataclass(frozen=True)
class Folder:
    """A folder, and the files in it that must stay as they are."""

    path: Path
    kept: tuple[Path, ...] = ()

    @classmethod
    def of(cls, path: Path, kept: Sequence[Path] = ()) -> "Folder":
        """Return a folder that exists."""
        if not path.is_dir():
            raise ValueError(f"{path} is not a folder: create it first.")
        return cls(path.resolve(), tuple(one.resolve() for one in kept))

    def files(self) -> list[Path]:
        """Return the files in it that are no links and not hidden."""
        inside = sorted(one for one in self.path.iterdir() if not one.name.startswith("."))
        return [one for one in inside if one.is_file() and not one.is_symlink()][:MOST_LISTED]

    def to_read(self, name: str) -> Path:
        """Return a file in the folder that is there."""
        path = self._named(name)
        if not path.is_file():
            raise ValueError(f"There is no file {name!r} in {self.path}.")
        if path.stat().st_size > LARGEST:
            raise ValueError(f"{name!r} has more than {LARGEST >> 20} MB: give a smaller file.")
        return path

    def to_write(self, name: str, suffixes: Sequence[str], *, replace: bool) -> Path:
        """Return a file in the folder that may be written, with one of these ends of its name."""
        path = self._named(name)
        if not any(name.lower().endswith(suffix) and len(name) > len(suffix) for suffix in suffixes):
            raise ValueError(f"{name!r} must end with {' or '.join(suffixes)}: name the file so.")
        if path in self.kept:
            raise ValueError(f"{name!r} is a file of this session, which stays as it is: choose another name.")
        if path.exists() and not (replace and path.is_file()):
            raise ValueError(f"{name!r} is there already: choose another name, or say that it may be replaced.")
        return path

    def _named(self, name: str) -> Path:
        """Return a path in the folder; refuse what leads out of it."""
        plain = name and not set(name) & set('/\\:*?"<>|') and all(sign.isprintable() for sign in name)
        if not plain or name.startswith(".") or name != name.strip() or len(name.encode(errors="replace")) > 200:
            raise ValueError(
                f"{name[:80]!r} is no name of a file: give a plain name, without a folder, for {self.path}."
            )
        path = self.path / name
        if path.is_symlink() or path.resolve().parent != self.path:
            raise ValueError(f"{name!r} leads out of {self.path}: name a file in it.")
        return path
