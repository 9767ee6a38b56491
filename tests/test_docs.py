import ast
import contextlib
import io
import re
from importlib import import_module
from pathlib import Path

import pytest

import cogmap
from cogmap import Knowledge

ROOT = Path(__file__).parents[1]
DOCS, EXAMPLES = ROOT / "docs", ROOT / "examples"
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


def test_every_public_name_is_in_the_reference():
    page = (DOCS / "reference" / "api.rst").read_text(encoding="utf-8")
    listed = set(re.findall(r"^   ([\w.]+)$", page, re.MULTILINE))
    assert set(cogmap.__all__) <= {name.rpartition(".")[2] for name in listed}
    assert {f"plots.{name}" for name in import_module("cogmap.plots").__all__} <= listed
    for name in listed:
        found: object = cogmap
        for part in name.split("."):
            found = getattr(found, part, None) or import_module(f"{found.__name__}.{part}")


def test_every_error_and_warning_is_provoked_on_their_page():
    page = (EXAMPLES / "how-to" / "errors.py").read_text(encoding="utf-8")
    named = {name for name in cogmap.__all__ if name.endswith(("Error", "Warning"))}
    assert named == set(re.findall(r":class:`~cogmap\.(\w+)`", page))


@pytest.mark.parametrize(
    "page", ["CONTRIBUTING.md", "README.md", *(f"docs/{p.name}" for p in sorted(DOCS.glob("*.md")))]
)
def test_links_between_pages_lead_to_files(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for link in re.findall(r"\]\(([^)#\s]+)(?:#[\w-]+)?\)", text):
        assert "://" in link or ((ROOT / page).parent / link).exists() or link.startswith("gallery/"), link


def test_examples_are_scripts_that_compile_and_begin_with_a_question_or_a_task():
    scripts = sorted(EXAMPLES.glob("*/*.py"))
    assert len([path for path in scripts if path.parent.name == "gallery"]) >= 12
    for path in scripts:
        title, line = ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))).splitlines()[:2]
        assert line == "=" * len(title), path.name
        assert path.parent.name != "gallery" or title.endswith("?"), title
