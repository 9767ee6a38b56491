"""The examples that hypothesis draws: the same in every run, and more of them, from a seed, in a soak."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROPERTY = """
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

{first}


@settings(max_examples=40)
@given(st.integers(), st.floats(), st.text())
def test_draws(whole, real, text):
    with Path(__file__).with_suffix(".drawn").open("a") as file:
        print(ascii((whole, real, text)), file=file)
"""


@pytest.fixture
def drawn(tmp_path, monkeypatch):
    """Return a function that runs a property in a process of its own and returns what was drawn."""
    monkeypatch.setenv("PYTHONPATH", f"{ROOT / 'src'}:{ROOT}")
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")  # others take long to load, and draw nothing

    def run(*arguments, first="", ci=None):
        monkeypatch.delenv("CI", raising=False)
        if ci is not None:
            monkeypatch.setenv("CI", ci)
        file = tmp_path / "test_property.py"
        file.write_text(PROPERTY.format(first=first))
        file.with_suffix(".drawn").unlink(missing_ok=True)
        plugins = ["-p", "_hypothesis_pytestplugin", "-p", "tests.conftest", "-p", "no:cacheprovider"]
        command = ["-m", "pytest", *plugins, "--rootdir", tmp_path, *arguments]
        subprocess.run([sys.executable, *command, file], cwd=tmp_path, capture_output=True, check=True)
        return file.with_suffix(".drawn").read_text().splitlines()

    return run


@pytest.mark.slow
def test_every_run_draws_the_same_examples_whatever_was_imported_before(drawn):
    first = drawn()
    assert len(set(first)) > 30
    assert drawn(first="import cogmap.files.model, cogmap.estimators.tuned", ci="1") == first


@pytest.mark.slow
def test_a_soak_draws_ten_times_as_many_from_its_seed(drawn):
    one, two, again = (drawn("--hypothesis-profile=soak", f"--hypothesis-seed={seed}") for seed in (1, 2, 1))
    assert len(one) == len(two) == 400
    assert one == again
    assert one != two
