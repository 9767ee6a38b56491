"""The page for everybody: no violation that axe-core finds, no overflow, no complaint, at any width and in the dark."""

import pytest

from tests.workbench.page.conftest import show

VIEWS = ["Map", "What if", "Before and after", "Rows", "History", "Maps", "Files"]


def violations(page, axe, rules=None):
    if not page.evaluate("typeof axe === 'object'"):
        page.evaluate(axe)
    found = page.evaluate(
        "rules => axe.run(document, {resultTypes: ['violations'], ...(rules && {runOnly: rules})})", rules
    )["violations"]
    return [(one["id"], [(n["html"][:160], n["failureSummary"][:300]) for n in one["nodes"][:3]]) for one in found]


def open_used(opened, **options):
    """Open a workbench in which something was stated and kept."""
    page = opened("people", **options)
    page.bench.forbid("age", "class", author="A. Steward", reason="berths were sold to all ages")
    page.bench.save_scenario(name="a child", values={"age": 4})
    page.reload()
    return page


@pytest.mark.slow
@pytest.mark.parametrize(("scheme", "rules"), [("light", None), ("dark", ["color-contrast"])])
def test_every_view_can_be_used_by_all(opened, axe, scheme, rules):
    page = open_used(opened, color_scheme=scheme)
    for view in VIEWS:
        show(page, view)
        assert (view, violations(page, axe, rules)) == (view, [])
    show(page, "Map")
    page.locator(".node").first.click()
    assert violations(page, axe, rules) == []
    page.locator(".panel .edges button").first.click()
    page.get_by_role("button", name="Matrix").click()
    assert violations(page, axe, rules) == []
    assert page.complaints == []


@pytest.mark.slow
def test_every_view_fits(opened):
    page = open_used(opened)
    for view in VIEWS:
        show(page, view)
        for width in (400, 1400, 2400):
            page.set_viewport_size({"width": width, "height": 900})
            assert (view, page.evaluate("document.documentElement.scrollWidth")) <= (view, width)
    assert page.complaints == []
