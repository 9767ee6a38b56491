"""The benchmarks are scripts beside each other: their folder goes on the path."""

import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


@pytest.fixture(autouse=True)
def _benchmarks_on_path(monkeypatch):
    if not BENCHMARKS.exists():
        pytest.skip("the benchmarks are in the source tree only")
    monkeypatch.setattr(sys, "path", [str(BENCHMARKS), *sys.path])
