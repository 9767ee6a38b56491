"""The page on maps shows what its example prints."""

import contextlib
import io
import re
from pathlib import Path

import pytest

from cogmap.maps import MERGE_RULES, cognitive_map, files

PAGE = Path(__file__).parents[2] / "docs" / "maps.md"

pytestmark = pytest.mark.skipif(not PAGE.exists(), reason="the documentation is in the source tree only")


def test_the_example_prints_what_the_page_shows():
    page = PAGE.read_text(encoding="utf-8")
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(re.search(r"```python\n(.*?)```", page, re.DOTALL)[1], {})
    assert printed.getvalue() == re.search(r"```text\n(.*?)```", page, re.DOTALL)[1]


def test_every_choice_is_on_the_page():
    page = PAGE.read_text(encoding="utf-8")
    for choice in (*MERGE_RULES, *files.FORMS, *cognitive_map.RULES, *cognitive_map.ACTIVATIONS):
        assert f'`"{choice}"`' in page, choice
