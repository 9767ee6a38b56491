import re

import pytest

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
runner = pytest.importorskip("click.testing").CliRunner()

from cogmap.cli import main  # noqa: E402  (after the check that click is there)


def test_demo_prints_scores_and_names_and_draws_two_pictures(tmp_path):
    result = runner.invoke(main, ["demo", "--output", str(tmp_path / "new")])
    assert result.exit_code == 0, result.output
    assert float(re.search(r"kappa ([\d.]+)", result.output)[1]) > 0.9
    assert "flavanoids" in result.output
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"map.png", "trajectory.png"}


def test_help_names_the_commands():
    assert "demo" in runner.invoke(main, ["--help"]).output


def test_version():
    from cogmap import __version__

    assert __version__ in runner.invoke(main, ["--version"]).output
