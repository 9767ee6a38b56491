"""The map and the matrix: what is drawn is what the model has, and all of it can be reached."""

import numpy as np
import pytest

from tests.workbench.page.conftest import HOSTILE, eventually, show

PLACES = """nodes => nodes.map((node) => { const c = node.querySelector("circle");
  return [Number(c.getAttribute("cx")), Number(c.getAttribute("cy"))]; })"""
MIDDLE = """e => { const p = e.getPointAtLength(e.getTotalLength() / 2).matrixTransform(e.getScreenCTM());
  return [p.x, p.y]; }"""


def weights(page):
    """Return the inner weights of the first network, without those on oneself."""
    inner = np.array(page.bench.map()["networks"][0]["weights"])
    np.fill_diagonal(inner, 0.0)
    return inner


def names(page):
    return [one["name"] for one in page.bench.map()["networks"][0]["concepts"]]


def places(page):
    return np.array(page.locator(".node").evaluate_all(PLACES))


def middle_of(page, source, target):
    line = page.locator(f".edge[data-source='{source}'][data-target='{target}'] .line")
    return line.evaluate(MIDDLE)


def test_the_threshold_hides_weak_edges(opened):
    page = opened("people")
    inner = np.abs(weights(page))
    slider = page.get_by_label("Threshold")
    for step in (0, 60, 200):
        slider.fill(str(step))
        expected = int(((inner >= step / 200 * inner.max()) & (inner > 0)).sum())
        assert page.locator(".edge").count() == expected
        assert f"{expected} of {int((inner > 0).sum())} edges" in page.locator(".threshold output").text_content()
    slider.focus()
    page.keyboard.press("Home")
    assert page.locator(".edge").count() == (inner > 0).sum()


def test_a_node_is_dragged_and_the_others_stay(opened):
    page = opened("iris")
    before = places(page)
    x, y = (
        page.locator(".node circle")
        .nth(1)
        .evaluate("c => { const b = c.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; }")
    )
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x - 60, y + 40, steps=4)
    page.mouse.up()
    moved = places(page) - before
    assert moved[1] == pytest.approx([-60, 40], abs=1.5)
    assert np.delete(moved, 1, axis=0) == pytest.approx(0)
    assert page.get_by_text("Nothing selected").is_visible()
    page.locator(".node").nth(1).focus()
    page.keyboard.press("Alt+ArrowRight")
    assert places(page)[1] - before[1] == pytest.approx([-48, 40], abs=1.5)
    page.get_by_role("button", name="Ring").click()
    assert places(page) == pytest.approx(before, abs=0.2)


def test_zooming_spreads_the_nodes_and_fitting_brings_them_back(opened):
    page = opened("iris")
    before = places(page)
    for zoom in (lambda: page.get_by_role("button", name="Zoom in").click(), lambda: page.keyboard.press("+")):
        page.locator(".node").first.focus()
        zoom()
        assert np.ptp(places(page), axis=0) == pytest.approx(1.25 * np.ptp(before, axis=0), rel=1e-2)
        page.get_by_role("button", name="Fit").click()
        assert places(page) == pytest.approx(before, abs=0.2)
    box = page.locator(".network").bounding_box()
    page.mouse.move(box["x"] + 30, box["y"] + 30)
    page.mouse.wheel(0, -400)
    wanted = pytest.approx(np.e * np.ptp(before, axis=0), rel=2e-2)
    eventually(page, lambda: np.ptp(places(page), axis=0), wanted)


def test_searching_lights_what_is_found_and_enter_selects_it(opened):
    page = opened("iris")
    page.get_by_label("Search").fill("WIDTH")
    wanted = [name for name in names(page) if "width" in name]
    assert (
        page.locator(".node.lit").evaluate_all("all => all.map((n) => n.getAttribute('aria-label').split(',')[0])")
        == wanted
    )
    page.keyboard.press("Enter")
    assert page.locator(".panel h3").text_content() == wanted[0]


def test_the_neighbourhood_leaves_out_all_others(opened):
    page = opened("people")
    page.get_by_label("Threshold").fill("90")
    inner = np.abs(weights(page))
    strong = inner >= 90 / 200 * inner.max()
    centre = int(np.argmax(strong.sum(axis=0) + strong.sum(axis=1)))
    page.locator(f".node[data-concept='{centre}']").click()
    page.get_by_label("Only the neighbourhood").check()
    near = {centre, *np.flatnonzero(strong[centre]), *np.flatnonzero(strong[:, centre])}
    shown = page.locator(".node:not(.hidden)").evaluate_all("all => all.map((n) => Number(n.dataset.concept))")
    assert set(shown) == near
    assert len(near) < len(inner)
    assert page.locator(".edge").count() == strong[centre].sum() + strong[:, centre].sum()


def test_clicking_an_edge_shows_its_weight(opened):
    page = opened("people")
    inner = weights(page)
    source, target = np.unravel_index(np.argmax(np.abs(inner)), inner.shape)
    page.mouse.click(*middle_of(page, source, target))
    ends = page.locator(".panel .ends button").all_text_contents()
    assert ends == [names(page)[source], names(page)[target]]
    said = page.locator(".panel .weight span").text_content().replace("−", "-")
    assert float(said) == pytest.approx(inner[source, target], rel=6e-3)
    assert page.locator(".edge.lit").count() == 1


def test_nodes_grow_when_the_relevance_is_there(opened):
    page = opened("iris", refit=True)
    relevance = [one["relevance"] for one in page.bench.map()["networks"][0]["concepts"]]
    radii = page.locator(".node circle").evaluate_all("all => all.map((c) => Number(c.getAttribute('r')))")
    area = (np.array(radii) / max(radii) * 15 - 5) ** 2
    assert area / area.max() == pytest.approx(np.array(relevance) / max(relevance), abs=0.03)


def test_concepts_are_reached_and_selected_with_the_keyboard(opened):
    page = opened("iris")
    page.locator(".node[tabindex='0']").focus()
    seen = []
    for _ in names(page):
        seen.append(page.evaluate("document.activeElement.getAttribute('aria-label').split(',')[0]"))
        last = page.evaluate_handle("document.activeElement")
        page.keyboard.press("ArrowRight")
        eventually(page, lambda last=last: last.evaluate("e => e === document.activeElement"), wanted=False)
    assert sorted(seen) == sorted(names(page))
    page.keyboard.press("Enter")
    assert page.locator(".panel h3").text_content() == seen[0]
    assert page.evaluate("document.activeElement.textContent") == seen[0]
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.getAttribute('aria-label')").startswith(seen[0])


def test_the_matrix_shows_every_weight_and_is_walked_with_the_keyboard(opened):
    page = opened("iris")
    page.get_by_role("button", name="Matrix").click()
    page.get_by_label("Order").select_option("data")
    inner = np.array(page.bench.map()["networks"][0]["weights"])
    cells = page.locator("[role=gridcell]").evaluate_all("all => all.map((cell) => cell.getAttribute('aria-label'))")
    said = [float(cell.rsplit(": ", 1)[1].replace("−", "-")) for cell in cells]
    assert said == pytest.approx(inner.ravel(), rel=6e-3)
    grid = page.get_by_role("grid")
    grid.focus()
    page.keyboard.press("Control+Home")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("End")
    page.keyboard.press("Enter")
    assert page.locator(".panel .ends button").all_text_contents() == [names(page)[1], names(page)[-1]]
    page.keyboard.press("Escape")
    # The page gives the focus back when it has drawn itself again.
    page.wait_for_function("document.activeElement.getAttribute('role') === 'grid'")


@pytest.mark.slow
def test_two_hundred_concepts_are_drawn_in_part(opened):
    page = opened("wide")
    assert page.locator(".node").count() == 200
    page.get_by_label("Threshold").fill("0")
    assert page.locator(".edge").count() == 800
    assert "the strongest 800 are drawn" in page.locator(".threshold output").text_content()
    boxes = page.locator(".names text").evaluate_all("all => all.map((t) => t.getBoundingClientRect().toJSON())")
    overlaps = [
        (a, b)
        for k, a in enumerate(boxes)
        for b in boxes[:k]
        if a["left"] < b["right"] and b["left"] < a["right"] and abs(a["top"] - b["top"]) < 10
    ]
    assert len(boxes) > 10
    assert overlaps == []
    page.get_by_role("button", name="Matrix").click()
    assert 100 < page.locator("[role=gridcell]").count() < 2500
    page.get_by_role("grid").focus()
    page.keyboard.press("Control+End")
    page.locator("[aria-rowindex='201'] [aria-colindex='201']").wait_for()  # drawn once the grid has scrolled there
    active = page.get_by_role("grid").get_attribute("aria-activedescendant")
    assert page.locator(f"[id='{active}']").is_visible()
    assert page.locator(f"[id='{active}']").get_attribute("aria-colindex") == "201"
    assert page.complaints == []


def test_markup_in_names_stays_text(opened):
    page = opened("people")
    labels = page.locator(".node").evaluate_all("all => all.map((n) => n.getAttribute('aria-label'))")
    assert sum(HOSTILE in label for label in labels) == 1
    for view in ("What if", "Rows", "Map"):
        show(page, view)
    assert page.title() == "cogmap workbench"
    assert page.locator("img").count() == 0
