"""The page of the study's results shows what the tables print from the results that are committed."""

from pathlib import Path

import pytest

from cogmap.study.claims import claims_table
from cogmap.study.results import frame
from cogmap.study.tables import TABLES, markdown, ranks_note, select

ROOT = Path(__file__).parents[2]
RESULTS, PAGE = ROOT / "benchmarks" / "results" / "study.csv", ROOT / "docs" / "study.md"

pytestmark = pytest.mark.skipif(not RESULTS.exists(), reason="the results are in the source tree only")


@pytest.fixture(scope="module")
def results():
    return frame(RESULTS)


@pytest.mark.parametrize("name", ["all", "binary", "leak", "ablation", "ranks"])
def test_the_page_shows_the_table(name, results):
    found = select(results)
    page = PAGE.read_text(encoding="utf-8")
    assert markdown(TABLES[name](found)) in page
    assert name != "ranks" or ranks_note(found) in page


@pytest.mark.slow
def test_the_page_shows_the_claims(results):
    assert markdown(claims_table(results)) in PAGE.read_text(encoding="utf-8")


@pytest.mark.slow
def test_writing_the_page_anew_puts_a_wrong_number_right_and_nothing_else(monkeypatch, results):
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    from study_page import rewritten

    page = PAGE.read_text(encoding="utf-8")
    wrong = page.replace("| LTCN | 1e-15 | 30 | 0.623 |", "| LTCN | 1e-15 | 30 | 0.999 |")
    assert wrong != page
    assert rewritten(wrong, results) == page
