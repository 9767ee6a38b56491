"""Print the lowest version that pyproject.toml declares of every library: a file of constraints for pip.

Run: python .ci/lowest.py EXTRA … (the extras to leave out, besides those of cogmap itself)

Easy to get wrong: a bound that nobody installs is a guess. Every requirement therefore has one, and all of a library
are the same.
"""

import re
import sys
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path

REQUIREMENT = re.compile(r"(?P<name>[\w.-]+)(?P<extras>\[.*\])?>=(?P<version>[\w.]+)")


def lowest(requirements: Iterable[str]) -> Iterator[str]:
    """Yield each library once, pinned to its lower bound."""
    found: dict[str, str] = {}
    for requirement in requirements:
        if re.match(r"cogmap\b", requirement):
            continue
        if (match := REQUIREMENT.fullmatch(requirement)) is None:
            raise SystemExit(f"{requirement!r} in pyproject.toml must be a name and its lowest version, as 'name>=1.2'.")
        name, extras, version = match["name"], match["extras"] or "", match["version"]
        if found.setdefault(name, version) != version:
            raise SystemExit(f"{name} has two lower bounds in pyproject.toml, {found[name]} and {version}.")
        yield f"{name}{extras}=={version}"


def main() -> None:
    """Print the libraries of the core and of all extras but those that the command line names."""
    project = tomllib.loads(Path("pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    if unknown := set(sys.argv[1:]) - set(extras):
        raise SystemExit(f"pyproject.toml has no extra {', '.join(sorted(unknown))}.")
    chosen = [requirements for extra, requirements in extras.items() if extra not in sys.argv[1:]]
    print("\n".join(sorted(set(lowest(sum(chosen, project["dependencies"]))))))


if __name__ == "__main__":
    main()
