"""The page as text: complete by itself, and free of any markup but the template's."""

import base64
import hashlib
import json
import re
from importlib import resources
from itertools import pairwise

import numpy as np
import pytest

from cogmap import Knowledge, LTCNClassifier, TabularClassifier
from cogmap.report import report_facts, to_html, write_report
from cogmap.report.words import summary
from tests.report.conftest import CLOSES, HOSTILE, QUOTES, Elements

CSS = (resources.files("cogmap.report") / "templates" / "report.css").read_text(encoding="utf-8")


@pytest.fixture(scope="module", params=["iris", "people", "hostile"])
def page(pages, request):
    return pages[request.param][0].read_text(encoding="utf-8")


def test_it_is_one_complete_file(page):
    assert page.startswith("<!doctype html>")
    assert len(page.encode()) < 2e6
    for tag, attributes in Elements(page).elements:
        assert tag not in ("link", "img", "iframe", "object", "embed", "base", "form")
        assert "src" not in attributes
        assert attributes.get("href", "#").startswith("#")
    assert not re.search(r"url\((?!#)|@import|https?:", page)


def test_links_lead_somewhere_and_ids_are_unique(page):
    elements = Elements(page).elements
    ids = [attributes["id"] for _, attributes in elements if "id" in attributes]
    assert len(ids) == len(set(ids))
    pointed = [a["href"][1:] for t, a in elements if t == "a"]
    pointed += [a[key] for _, a in elements for key in ("aria-labelledby", "for") if key in a]
    pointed += re.findall(r"url\(#([\w-]+)\)", page)
    assert set(pointed) <= set(ids)


def test_headings_are_in_order_and_pictures_have_names(page):
    elements = Elements(page).elements
    levels = [int(tag[1]) for tag, _ in elements if re.fullmatch("h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(later - earlier <= 1 for earlier, later in pairwise(levels))
    for tag, attributes in elements:
        if tag == "svg":
            assert attributes.get("aria-label") or attributes.get("aria-hidden") == "true"
        if tag in ("article", "section", "nav"):
            assert attributes.keys() & {"aria-label", "aria-labelledby"}
    assert ("html", {"lang": "en"}) in elements


def test_only_its_own_script_may_run(page):
    elements = Elements(page)
    assert [a.get("type") for t, a in elements.elements if t == "script"] == ["application/json", None]
    assert not [a for _, a in elements.elements if any(key.startswith("on") for key in a)]
    script = page.rpartition("<script>")[2].partition("</script>")[0]
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    (policy,) = (a["content"] for t, a in elements.elements if a.get("http-equiv") == "Content-Security-Policy")
    assert f"script-src 'sha256-{digest}'" in policy
    assert policy.startswith("default-src 'none'")


def test_text_from_data_is_shown_as_text(pages):
    path, facts = pages["hostile"]
    page = path.read_text(encoding="utf-8")
    elements = Elements(page)
    shown = "".join("".join(parts) for tag, parts in elements.text.items() if tag not in ("script", "style"))
    for text in (HOSTILE, QUOTES, CLOSES):
        assert text in shown
    assert f"port = {CLOSES}" in {a.get("data-name") for _, a in elements.elements}
    assert "<b>" not in page
    embedded = page.partition('id="facts">')[2].partition("</script>")[0]
    assert "<" not in embedded
    assert json.loads(embedded) == facts


def test_the_page_shows_what_was_computed(pages):
    path, facts = pages["people"]
    words = " ".join(re.sub(r"<[^>]*>", " ", path.read_text(encoding="utf-8").partition("<script")[0]).split())
    found = facts["quality"]["cross_validated"]
    for name in ("accuracy", "kappa", "log_loss", "calibration_error"):
        assert f"{found[name]:.3f}" in words
    for row in facts["explained"]["rows"]:
        assert f"Row {row['label']}: {row['role']}" in words
    for statement in facts["knowledge"]["statements"]:
        assert statement["claim"] in words
    for note in facts["notes"]:
        assert note["text"] in words


TECHNICAL = re.compile(
    r"fixed point|limit cycle|every row begins|iteration|innovation|φ|Ω|LTCN|Classifier|[a-z_]+='|cogmap [a-z]|"
    r"\b(None|True|False)\b"
)


def lay_words(page):
    """Return the words above the technical part."""
    shown = page.partition("</style>")[2].partition('<section id="technical"')[0]
    return re.sub(r"<[^>]*>", " ", shown).split()


def test_what_is_read_first_needs_no_technical_words(pages):
    for name in ("iris", "people"):
        page = pages[name][0].read_text(encoding="utf-8")
        words = " ".join(lay_words(page))
        assert not TECHNICAL.search(words), TECHNICAL.search(words)
        assert "<code>" not in page.partition('<section id="technical"')[0]
        assert not TECHNICAL.search(" ".join(summary(pages[name][1])))
        technical = page.partition('<section id="technical"')[2]
        assert technical.index("<details>") < technical.index("How the decision forms")


def test_rows_say_that_their_models_did_not_see_them(pages):
    for path, _ in pages.values():
        words = " ".join(lay_words(path.read_text(encoding="utf-8")))
        assert "predicted and explained by a model that did not see it: one of the 5 of the cross-validation" in words


def test_evidence_is_shown_with_its_unit_and_the_odds(pages):
    path, facts = pages["people"]
    words = " ".join(lay_words(path.read_text(encoding="utf-8"))).replace("&nbsp;", " ")
    for row in facts["explained"]["rows"]:
        assert f"Evidence: {row['unit']}." in words
        first = row["reasons"][0]
        factor = np.exp(abs(first["adds"]))
        mark = "×" if first["adds"] > 0 else "÷"
        number = f"{factor:.0f}" if factor >= 9.95 else f"{factor:.1f}".removesuffix(".0")
        shown = f"{first['adds']:+.2f} {mark}\u00a0{number}".replace("-", "−")
        assert shown in words or shown.replace("\u00a0", " ") in words


def test_title_is_given_or_names_the_target(pages, stack, iris, tmp_path):
    assert "<title>Model report: target</title>" in pages["iris"][0].read_text(encoding="utf-8")
    facts = pages["iris"][1]
    assert "<h1>A &lt;b&gt; title</h1>" in to_html(facts, title="A <b> title")


def luminance(colour):
    parts = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
    return np.dot([0.2126, 0.7152, 0.0722], linear)


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_colours_of_text_have_enough_contrast():
    named = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", CSS))
    for text in ("ink", "muted", "accent"):
        for ground in ("paper", "soft"):
            assert contrast(named[text], named[ground]) >= 4.5
    assert contrast(named["warn"], named["warn-soft"]) >= 4.5


def test_colours_of_lines_and_bars_have_enough_contrast():
    named = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6})", CSS))
    lines = re.findall(r"\.c\d \{ stroke: (#[0-9a-f]{6})", CSS)
    assert len(lines) == 6
    for colour in [*lines, named["raises"], named["lowers"], named["neutral"]]:
        assert contrast(colour, named["soft"]) >= 3


def test_a_file_is_replaced_only_by_a_complete_one(stack, iris, tmp_path, monkeypatch):
    path = tmp_path / "report.html"
    path.write_text("old")
    with pytest.raises(ValueError, match="There is no column 'kind'"):
        write_report(stack, iris, "kind", path)
    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert path.read_text() == "old"
    with pytest.raises(ValueError, match="is not a folder: create it first"):
        write_report(stack, iris, "target", tmp_path / "no" / "report.html")


def test_the_extra_is_named_where_jinja2_is_absent(stack, iris, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "jinja2", None)
    with pytest.raises(ImportError, match=r'pip install "cogmap\[report\]"'):
        write_report(stack, iris, "target", tmp_path / "report.html")


@pytest.mark.parametrize("columns", [1, 2])
def test_models_of_few_concepts_have_a_report(columns, iris):
    X, y = iris.iloc[:, :columns], iris["target"]
    page = to_html(report_facts(LTCNClassifier(max_iter=2, alpha=0.1).fit(X, y), X, y))
    assert page.count('class="node"') == columns


@pytest.mark.filterwarnings("ignore::cogmap.errors.NoInformationWarning")
def test_a_model_that_may_use_no_column_has_a_report(passengers):
    X, y = passengers[["fare", "class"]], passengers["survived"]
    knowledge = Knowledge().irrelevant("fare").irrelevant("class")
    model = TabularClassifier(LTCNClassifier(knowledge=knowledge)).fit(X, y)
    page = to_html(report_facts(model, X, y))
    assert "No column matters" in page


@pytest.mark.slow
def test_many_columns_and_classes_stay_one_small_file(rng):
    y = np.repeat(np.arange(24), 6)
    X = rng.normal(size=(144, 60)) + np.eye(24, 60)[y] * 3
    page = to_html(report_facts(LTCNClassifier(max_iter=2, alpha=1.0).fit(X, y), X, y, n_folds=2))
    assert len(page.encode()) < 1e6
    assert "The most frequent mistakes" in page
    assert "Confusion matrix" not in page
    assert page.count('<article class="row"') <= 10


@pytest.mark.filterwarnings("ignore::cogmap.IllConditionedWarning")
def test_the_papers_configuration_has_a_report_with_its_caveats(iris):
    X, y = iris.drop(columns="target"), iris["target"]
    facts = report_facts(LTCNClassifier.paper(max_iter=50).fit(X, y), X, y)
    assert any(kind["caveats"] for kind in facts["relevance"])
    assert 'class="caveat"' in to_html(facts)
    assert not TECHNICAL.search(" ".join(lay_words(to_html(facts))))
