import contextlib
import io
import re
from pathlib import Path

import pytest

from cogmap import Knowledge

DOCS = Path(__file__).parents[1] / "docs"
BLOCK = r"```{}\n(.*?)```"

pytestmark = pytest.mark.skipif(not DOCS.exists(), reason="the documentation is in the source tree only")


def test_the_example_of_an_edit_prints_what_the_page_shows(tmp_path, monkeypatch):
    page = (DOCS / "knowledge.md").read_text(encoding="utf-8")
    rules = re.search(BLOCK.format("toml"), page, re.DOTALL)[1]
    stated, example = re.findall(BLOCK.format("python"), page, re.DOTALL)
    (tmp_path / "rules.toml").write_text(rules, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(example, {})
    assert printed.getvalue() == re.search(BLOCK.format("text"), page, re.DOTALL)[1]
    names: dict[str, object] = {"Knowledge": Knowledge}
    exec(stated, names)
    assert names["knowledge"] == Knowledge.load("rules.toml")


def test_the_example_of_an_explanation_prints_what_the_page_shows():
    page = (DOCS / "explanations.md").read_text(encoding="utf-8")
    example = next(code for code in re.findall(BLOCK.format("python"), page, re.DOTALL) if "to_text" in code)
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(example, {})
    assert printed.getvalue().split() == re.search(BLOCK.format("text"), page, re.DOTALL)[1].split()


def test_the_example_of_a_raw_table_prints_what_the_page_shows():
    page = (DOCS / "tabular.md").read_text(encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(re.search(BLOCK.format("python"), page, re.DOTALL)[1], {})
    assert printed.getvalue() == re.search(BLOCK.format("text"), page, re.DOTALL)[1]
