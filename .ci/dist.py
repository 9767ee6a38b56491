"""Check an sdist and a wheel before anybody installs them.

Run: python .ci/dist.py [--release] FOLDER

`--release` also asks what only a version to be published must have: a plain number from a tag, a section of its own in
CHANGELOG.md, and the addresses that readers of the package's page look for.
"""

import argparse
import email
import json
import re
import sys
import tarfile
import tomllib
from collections.abc import Iterator
from email.message import Message
from pathlib import Path
from zipfile import ZipFile

ADDRESSES = {"Changelog", "Documentation", "Issues", "Source"}
NEEDED = ("cogmap/__init__.py", "cogmap/py.typed", "cogmap/report/templates/report.js")


def of_wheel(path: Path) -> Iterator[str]:
    """Yield what is wrong with a wheel."""
    with ZipFile(path) as wheel:
        names = wheel.namelist()
        boms = [name for name in names if name.endswith(".dist-info/sboms/cogmap.cdx.json")]
        parts = json.loads(wheel.read(boms[0]))["components"] if boms else []
    tops = {name.partition("/")[0] for name in names if ".dist-info/" not in name}
    if tops != {"cogmap"}:
        yield f"{path.name} has more than the package: {', '.join(sorted(tops))}."
    yield from (f"{path.name} lacks {name}." for name in NEEDED if name not in names)
    if not any(name.endswith(".dist-info/licenses/LICENSE") for name in names):
        yield f"{path.name} lacks the licence."
    if not boms:
        yield f"{path.name} lacks an SBOM."
    listed = {part["name"] for part in parts}
    vendored = [name for name in names if "/vendor/" in name and not name.endswith("/LICENSES.txt")]
    yield from (f"{name} is vendored, but not in the SBOM." for name in vendored if name not in listed)


def of_sdist(path: Path) -> Iterator[str]:
    """Yield what is wrong with an sdist: a wheel must come out of it, and its tests must be there."""
    with tarfile.open(path) as sdist:
        names = {name.partition("/")[2] for name in sdist.getnames()}
    needed = ("pyproject.toml", "hatch_build.py", "LICENSE", "tests/conftest.py", *(f"src/{name}" for name in NEEDED))
    yield from (f"{path.name} lacks {name}." for name in needed if name not in names)


def of_release(metadata: Message) -> Iterator[str]:
    """Yield why this version should not be published."""
    version = metadata["Version"]
    if not re.fullmatch(r"\d+\.\d+\.\d+((a|b|rc)\d+)?", version):
        yield f"Version {version} is not that of a tag: build from a clean checkout of one, with all tags."
    changes = Path("CHANGELOG.md").read_text(encoding="utf-8")
    if not re.search(rf"^## \[{re.escape(version)}\] - \d{{4}}-\d\d-\d\d$", changes, re.MULTILINE):
        yield f"CHANGELOG.md has no section '## [{version}] - YYYY-MM-DD'."
    urls = set(tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))["project"]["urls"])
    if missing := sorted(ADDRESSES - urls):
        yield f"[project.urls] in pyproject.toml lacks {', '.join(missing)}: name where the project is hosted."


def main() -> None:
    """Print what is wrong, and fail where anything is."""
    arguments = argparse.ArgumentParser(description="Check an sdist and a wheel.")
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--release", action="store_true", help="also check what a published version must have")
    given = arguments.parse_args()
    wheels, sdists = list(given.folder.glob("cogmap-*.whl")), list(given.folder.glob("cogmap-*.tar.gz"))
    if (len(wheels), len(sdists)) != (1, 1):
        sys.exit(f"{given.folder} must have one wheel and one sdist; it has {len(wheels)} and {len(sdists)}.")
    wrong = [*of_wheel(wheels[0]), *of_sdist(sdists[0])]
    if given.release:
        with ZipFile(wheels[0]) as wheel:
            (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
            wrong += of_release(email.message_from_bytes(wheel.read(name)))
    sys.exit("\n".join(wrong) or 0)


if __name__ == "__main__":
    main()
