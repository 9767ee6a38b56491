#!/usr/bin/env -S uv run --script
# /// script
# dependencies = ["nox>=2025.2.9"]
# ///
"""What the workflows run, each in an environment of its own: `nox -s lint`, `nox -s tests-3.13 -- tests/core`.

The Makefile has the daily commands and needs nothing but Python; nox adds the range of versions and the release.
"""

import shutil
from pathlib import Path

import nox

nox.needs_version = ">=2025.2.9"
nox.options.default_venv_backend = "uv|virtualenv"

PROJECT = nox.project.load_toml("pyproject.toml")
PYTHONS = ["3.11", "3.12", "3.13", "3.14"]
ONE_THREAD = {"OPENBLAS_NUM_THREADS": "1", "MPLBACKEND": "Agg"}


def group(session: nox.Session, *names: str) -> None:
    """Install dependency groups, with whichever pip the environment has."""
    session.install(*(requirement for name in names for requirement in nox.project.dependency_groups(PROJECT, name)))


@nox.session(python=PYTHONS)
def tests(session: nox.Session) -> None:
    """Run the suite, or the tests that are named, with the newest libraries."""
    session.install("--upgrade", "--editable", ".[cli]", *nox.project.dependency_groups(PROJECT, "test"))
    session.run("pytest", "-m", "", *(session.posargs or ["-n", "auto"]), env=ONE_THREAD)


@nox.session(python="3.11", default=False)
def lowest(session: nox.Session) -> None:
    """Run the suite with exactly the lowest versions that pyproject.toml declares."""
    listed = session.run("python", ".ci/lowest.py", "--without", "study", "spark", silent=True)
    requirements = Path(session.create_tmp(), "lowest.txt")
    requirements.write_text(str(listed), encoding="utf-8")
    session.install("--requirement", str(requirements), "--editable", ".")
    session.run("pytest", "-m", "", *(session.posargs or ["-n", "auto"]), env=ONE_THREAD)


@nox.session
def lint(session: nox.Session) -> None:
    """Check style, types and the direction of imports."""
    session.install("--editable", ".[cli]", *nox.project.dependency_groups(PROJECT, "lint", "test"))
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("mypy")
    session.run("lint-imports")


@nox.session
def workflows(session: nox.Session) -> None:
    """Look for holes in .github/, without asking the network."""
    group(session, "workflows")
    session.run("zizmor", "--offline", "--persona=pedantic", ".github")


@nox.session
def build(session: nox.Session) -> None:
    """Build sdist and wheel, check both, and run the demo from the wheel where nothing else is installed."""
    session.install("build", "twine")
    shutil.rmtree("dist", ignore_errors=True)
    session.run("python", "-m", "build", "--outdir", "dist")
    session.run("python", ".ci/dist.py", "dist")
    session.run("twine", "check", "--strict", *map(str, Path("dist").glob("cogmap-*")))
    (wheel,) = Path("dist").glob("cogmap-*.whl")
    session.install(f"cogmap[cli] @ {wheel.resolve().as_uri()}")
    with session.chdir(session.create_tmp()):
        session.run("cogmap", "demo", "--output", "demo")
        session.run("python", "-c", "import pathlib; assert pathlib.Path('demo/map.png').stat().st_size > 0")


@nox.session(default=False)
def release(session: nox.Session) -> None:
    """Refuse what must not be published: `nox -s release -- dist`, after `build` of a tag."""
    session.run("python", ".ci/dist.py", "--release", *(session.posargs or ["dist"]))


@nox.session(default=False)
def coverage(session: nox.Session) -> None:
    """Measure branches: of the tests that are named, or of all."""
    session.install("--editable", ".[cli]", *nox.project.dependency_groups(PROJECT, "coverage", "test"))
    session.run("coverage", "erase")
    session.run("coverage", "run", "-m", "pytest", "-m", "", *session.posargs, env=ONE_THREAD)
    session.run("coverage", "combine")
    session.run("coverage", "report", "--skip-covered")


@nox.session(default=False)
def mutation(session: nox.Session) -> None:
    """Change the mathematics one place at a time, and see whether its own tests notice ([tool.mutmut])."""
    session.install("--editable", ".[cli]", *nox.project.dependency_groups(PROJECT, "mutation", "test"))
    session.run("mutmut", "run", "--max-children=1", *session.posargs, env=ONE_THREAD)
    session.run("mutmut", "results")


if __name__ == "__main__":
    nox.main()
