"""Print the lowest version of every library that pyproject.toml declares, as requirements for pip.

Run: python .ci/lowest.py [--without EXTRA …]

Easy to get wrong: a bound that nobody installs is a guess. Every library therefore has one, the same wherever it is
named, and `make test-lowest` installs exactly these.
"""

import argparse
import re
import tomllib
from collections.abc import Iterable
from pathlib import Path

REQUIREMENT = re.compile(r"(?P<library>[\w.-]+)(?P<extras>\[[\w,.-]+\])?(>=|==)(?P<version>[\w.]+)")


def lowest(requirements: Iterable[str]) -> list[str]:
    """Return each library pinned to its lower bound; cogmap's own extras are no libraries."""
    bounds: dict[str, str] = {}
    found = set()
    for requirement in requirements:
        if re.match(r"cogmap\b", requirement):
            continue
        match = REQUIREMENT.fullmatch(requirement.partition(";")[0].strip())
        if match is None:
            raise SystemExit(
                f"{requirement!r} in pyproject.toml must be a library and its lowest version: 'name>=1.2'."
            )
        library, version = match["library"], match["version"]
        if bounds.setdefault(library, version) != version:
            raise SystemExit(f"{library} has two lowest versions in pyproject.toml: {bounds[library]} and {version}.")
        found.add(f"{library}{match['extras'] or ''}=={version}")
    return sorted(found)


def declared(without: Iterable[str]) -> list[str]:
    """Return the requirements of the core, of the extras but some, and of the tests."""
    document = tomllib.loads(Path("pyproject.toml").read_text(encoding="utf-8"))
    extras = document["project"]["optional-dependencies"]
    if unknown := sorted(set(without) - set(extras)):
        raise SystemExit(f"pyproject.toml has no extra {unknown[0]!r}.")
    chosen = [extras[name] for name in extras if name not in without]
    return sum(chosen, document["project"]["dependencies"] + document["dependency-groups"]["test"])


def main() -> None:
    """Print one requirement a line."""
    arguments = argparse.ArgumentParser(description="Print the lowest version of every library.")
    arguments.add_argument("--without", nargs="*", default=[], metavar="EXTRA", help="extras to leave out")
    print("\n".join(lowest(declared(arguments.parse_args().without))))


if __name__ == "__main__":
    main()
