r"""What the commands share: text that a terminal may show, files that can be read or written, amounts of memory.

Easy to get wrong: text from a file. Names of columns, values and messages may hold control characters, by which a
terminal moves its cursor, hides text or shows it backwards. Whatever is printed goes through `printable`.
"""

import os
import re
import shutil
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any, BinaryIO

import click

UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""Control characters but tab and line end, those that turn the direction of writing, and halves of characters."""

UNITS = {"": 1, "k": 10**3, "m": 10**6, "g": 10**9, "t": 10**12}
"""Amounts of memory, by how their units begin."""

CHUNK = 1 << 20
"""Bytes of a pipe to copy at a time."""


def printable(text: str) -> str:
    r"""Return text with control characters written out, such as \x1b."""
    return UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode("ascii"), text)


def printable_json(text: str) -> str:
    """Return JSON with control characters as escapes, which JSON reads back as they were."""
    return UNSAFE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)


def check_new_file(path: Path) -> None:
    """Raise an error where no file can be written."""
    folder = path.resolve().parent
    if path.is_dir():
        raise ValueError(f"{path} is a folder: name a file.")
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is a device or a pipe, and a result is written beside its name first: name a file.")
    if not folder.is_dir():
        raise ValueError(f"{folder} is not a folder: create it first.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ValueError(f"The folder {folder} does not allow to write into it: choose another.")


def check_new_folder(path: Path) -> None:
    """Raise an error where neither this folder nor one above it can be written into."""
    there = path.resolve()
    while not there.exists() and there != there.parent:
        there = there.parent
    if not there.is_dir():
        raise ValueError(f"{there} is not a folder: choose another.")
    if not os.access(there, os.W_OK | os.X_OK):
        raise ValueError(f"The folder {there} does not allow to write into it: choose another.")


class NewPath(click.Path):
    """What is to be written; that it can be is checked before any work."""

    def check(self, path: Path) -> None:
        """Raise an error where it cannot be written."""
        raise NotImplementedError

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        try:
            self.check(path)
        except ValueError as error:
            self.fail(printable(str(error)), param, ctx)
        return path


class NewFile(NewPath):
    """A file to write."""

    def __init__(self, *, create_folder: bool = False) -> None:
        super().__init__(path_type=Path)
        self.create_folder = create_folder

    def check(self, path: Path) -> None:
        """Raise an error where it cannot be written."""
        if self.create_folder:
            check_new_folder(path.parent)
        if path.exists() or not self.create_folder:
            check_new_file(path)


class NewFolder(NewPath):
    """A folder to write into, made where there is none."""

    def __init__(self) -> None:
        super().__init__(path_type=Path, file_okay=False)

    def check(self, path: Path) -> None:
        """Raise an error where it cannot be written into."""
        check_new_folder(path)


class InputFile(click.Path):
    """A file to read. What comes through a pipe, or for "-" from stdin, is copied to a temporary file first.

    Files are read more than once: to find out what they are, in passes, and for their digest.
    """

    def __init__(self) -> None:
        super().__init__(exists=True, dir_okay=False, allow_dash=True, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path of the file, or of the copy."""
        path = Path(os.fsdecode(super().convert(value, param, ctx)))
        if str(path) == "-":
            return self._copied(sys.stdin.buffer, "stdin", param, ctx)
        mode = path.stat().st_mode
        if stat.S_ISREG(mode):
            return path
        if not (stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)):
            self.fail(f"{str(path)!r} is a terminal or another device: give a file or a pipe.", param, ctx)
        with path.open("rb") as pipe:
            return self._copied(pipe, "pipe", param, ctx)

    def _copied(self, pipe: BinaryIO, name: str, param: click.Parameter | None, ctx: click.Context | None) -> Path:
        folder = tempfile.TemporaryDirectory(prefix="cogmap-")
        if ctx is not None:
            ctx.find_root().call_on_close(folder.cleanup)
        most, n_bytes, copy = shutil.disk_usage(folder.name).free // 2, 0, Path(folder.name) / name
        with copy.open("wb") as file:
            while chunk := pipe.read(CHUNK):
                n_bytes += len(chunk)
                if n_bytes > most:
                    self.fail(f"the {name} gives more than half of the free space in {folder.name}.", param, ctx)
                file.write(chunk)
        return copy


class Memory(click.ParamType):  # type: ignore[type-arg]  # click 8.2 takes no arguments
    """An amount of memory as a number of bytes."""

    name = "SIZE"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Read it."""
        if isinstance(value, int):
            return value
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)i?b?\s*", str(value).lower())
        if match is None:
            self.fail(f"{value!r} is not an amount of memory: give it as 500MB or 2GB.", param, ctx)
        return round(float(match[1]) * UNITS[match[2]])
