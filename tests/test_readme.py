import contextlib
import io
import re
import shlex
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"


@pytest.mark.skipif(not README.exists(), reason="the README is in the source tree only")
def test_the_example_prints_what_the_readme_shows():
    code, shown = re.search(r"```python\n(.*?)```\n\n```text\n(.*?)```", README.read_text(), re.DOTALL).groups()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(code, {})
    assert printed.getvalue() == shown


def collapsed(text):
    return " ".join(text.split())


@pytest.mark.slow
@pytest.mark.skipif(not README.exists(), reason="the README is in the source tree only")
def test_the_commands_print_what_the_readme_shows(tmp_path, monkeypatch):
    runner = pytest.importorskip("click.testing").CliRunner()
    for library in ("safetensors", "jinja2", "networkx", "onnx"):
        pytest.importorskip(library)
    palmerpenguins = pytest.importorskip("palmerpenguins")
    from cogmap.cli import main

    section = README.read_text(encoding="utf-8").partition("## From a CSV file to a report")[2]
    session = re.search(r"```console\n(.*?)```", section, re.DOTALL)[1]
    steps = re.findall(r"^\$ cogmap (.*)\n((?:(?!\$ ).*\n)*)", session, re.MULTILINE)
    assert [command.split()[0] for command, _ in steps] == ["evaluate", "fit", "explain", "report", "export"]
    monkeypatch.chdir(tmp_path)
    palmerpenguins.load_penguins_raw().to_csv("penguins.csv", index=False)
    for command, shown in steps:
        result = runner.invoke(main, shlex.split(command))
        assert result.exit_code == 0, result.output
        pattern = ".*".join(re.escape(collapsed(part)) for part in shown.split("…"))
        assert re.fullmatch(pattern.replace(r".*\ ", ".*"), collapsed(result.output), re.DOTALL), result.output
    assert Path("penguins.html").stat().st_size > 50_000
