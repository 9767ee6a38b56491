"""Processes of the study that fork from a server which has imported what they need, instead of starting anew."""

import multiprocessing
from types import SimpleNamespace

import pytest

from cogmap.study import runner

IMPORTED = ["cogmap.cli", "cogmap.study.protocol", "cogmap.study.runner", "sklearn.linear_model", "sklearn.tree"]


@pytest.fixture(autouse=True)
def quick_processes(monkeypatch):
    """Start processes in no time where the system can fork; a run by the command line starts them as users do."""
    if "forkserver" in multiprocessing.get_all_start_methods():
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(IMPORTED)
        names = SimpleNamespace(get_context=lambda _: context, parent_process=multiprocessing.parent_process)
        monkeypatch.setattr(runner, "multiprocessing", names)
