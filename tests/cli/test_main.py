import json
import re
import subprocess
import sys

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
    assert "comes to rest for 178 of 178 rows" in result.output
    assert "fixed point" not in result.output
    assert {path.name for path in (tmp_path / "new").iterdir()} == {"map.png", "trajectory.png"}


def test_demo_as_json(tmp_path):
    found = json.loads(runner.invoke(main, ["demo", "--output", str(tmp_path), "--json"]).stdout)
    assert sum(found["relevance"].values()) == pytest.approx(1)
    assert found["rows"] == 178


def test_help_names_the_commands():
    text = runner.invoke(main, ["--help"]).output
    for command in ("demo", "fit", "predict", "evaluate", "explain", "edit", "report", "export"):
        assert f"\n  {command} " in text


def test_help_imports_nothing_heavy():
    code = "import sys; from cogmap.cli import main; main(['--help'], standalone_mode=False); print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numpy", "scipy", "sklearn", "pandas", "matplotlib", "onnx", "pyarrow", "jinja2"} & set(loaded)


def test_version():
    from cogmap import __version__

    assert __version__ in runner.invoke(main, ["--version"]).output
