"""The report in a real browser: it runs, reacts, fits, and can be used with the keyboard and read."""

import json

import pytest

from tests.conftest import cleared
from tests.report.conftest import QUOTES

CONTRAST = """
() => {
  const channel = (c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  const luminance = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
  const numbers = (text) => (text.match(/[\\d.]+/g) || []).map(Number);
  const ground = (element) => {
    for (let e = element; e; e = e.parentElement) {
      const circle = e.matches(".node") && element.matches(".inside") ? e.querySelector("circle") : null;
      const found = numbers(circle ? getComputedStyle(circle).fill : getComputedStyle(e).backgroundColor);
      if (found.length === 3 || found[3] === 1) return found.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const worst = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const element = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || !element.getClientRects().length) continue;
    if (element.matches("script, style, title")) continue;
    const style = getComputedStyle(element);
    const colour = numbers(element.closest("svg") ? style.fill : style.color).slice(0, 3);
    const [high, low] = [luminance(colour), luminance(ground(element))].sort((a, b) => b - a);
    worst.push([(high + 0.05) / (low + 0.05), walker.currentNode.data.trim().slice(0, 30), colour, ground(element)]);
  }
  return worst.sort((a, b) => a[0] - b[0]).slice(0, 5);
}
"""


@pytest.fixture
def opened(tab, pages):
    """Return a function that opens a report at a width; what it asks the network for is a complaint."""

    def asked(request):
        if not request.url.startswith(("file:", "about:")):
            tab.complaints.append(request.url)

    def open_page(name, width=1400):
        cleared(tab, width).goto(pages[name][0].as_uri())
        return tab

    tab.on("request", asked)
    yield open_page
    tab.remove_listener("request", asked)


def at_widths(page, *widths):
    """Yield each width when the page has it."""
    for width in widths:
        page.set_viewport_size({"width": width, "height": 900})
        yield width


@pytest.mark.parametrize("name", ["iris", "people", "hostile"])
def test_no_complaint_no_overflow_and_enough_contrast(opened, name):
    page = opened(name)
    assert page.title().startswith("Model report: ")
    for width in at_widths(page, 1400, 400):
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        for ratio, *what in page.evaluate(CONTRAST):
            assert ratio >= 4.5, (width, what)
    assert page.complaints == []


@pytest.mark.parametrize("width", [400, 1400])
def test_text_is_large_enough_to_read(opened, width):
    page = opened("people", width)
    smallest = page.evaluate(
        """() => Math.min(...[...document.querySelectorAll("p, td, th, li, dd, figcaption, summary, svg text")]
             .filter((e) => e.getClientRects().length && e.textContent.trim())
             .map((e) => {
               const svg = e.closest("svg");
               const scale = svg ? svg.getScreenCTM().a : 1;
               return parseFloat(getComputedStyle(e).fontSize) * scale;
             }))"""
    )
    assert smallest >= 10


BROKEN = """
() => {
  const broken = [];
  for (const part of document.querySelectorAll("details")) part.open = true;
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode;
    if (node.parentElement.closest("script, style, svg") || !node.parentElement.getClientRects().length) continue;
    for (const word of node.data.matchAll(/[^\\s-]+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      const lines = new Set([...range.getClientRects()].map((box) => Math.round(box.top)));
      if (lines.size > 1) broken.push(word[0]);
    }
  }
  return broken;
}
"""


@pytest.mark.parametrize("name", ["iris", "people"])
def test_no_word_is_broken(opened, name):
    page = opened(name)
    for width in at_widths(page, 1400, 700, 400, 360):
        assert (width, page.evaluate(BROKEN)) == (width, [])


@pytest.mark.parametrize("name", ["iris", "people"])
def test_tables_show_that_they_scroll(opened, name):
    page = opened(name, 400)
    page.evaluate("for (const part of document.querySelectorAll('details')) part.open = true")
    page.wait_for_timeout(100)
    found = page.evaluate(
        """() => [...document.querySelectorAll("table")].filter((t) => t.getClientRects().length).map((table) => {
          const box = table.closest(".scroll");
          if (!box) return ["no box", table.getBoundingClientRect().right <= innerWidth];
          const hint = box.parentElement.querySelector(".sideways");
          const over = box.scrollWidth > box.clientWidth + 1;
          return [table.innerText.slice(0, 30), over === hint.getClientRects().length > 0, over];
        })"""
    )
    assert all(right for _, right, *_ in found), found
    assert any(over[-1] for over in found if len(over) == 3)


def test_a_single_networks_map_is_as_wide_as_the_page(opened):
    page = opened("people", 1400)
    wide, section = page.evaluate(
        "['.network', '#map'].map((s) => document.querySelector(s).getBoundingClientRect().width)"
    )
    assert wide >= section - 1


def shown_edges(page):
    return (
        page.locator(".map")
        .first.locator(".edge")
        .evaluate_all("edges => edges.filter((e) => getComputedStyle(e).display !== 'none').length")
    )


def test_the_slider_hides_weak_edges(opened, pages):
    page = opened("people")
    weights = [abs(edge["weight"]) for edge in pages["people"][1]["maps"][0]["edges"]]
    slider = page.locator(".map input").first
    before = shown_edges(page)
    assert f"{before} of {len(weights)} edges" in page.locator(".map output").first.text_content()
    for value in (0, 37, 100):
        slider.fill(str(value))
        expected = sum(w >= value / 100 * max(weights) for w in weights)
        assert shown_edges(page) == expected
        assert f"{expected} of {len(weights)} edges" in page.locator(".map output").first.text_content()
    assert 0 < expected < before < len(weights)


def test_the_slider_works_with_the_keyboard(opened):
    page = opened("people")
    slider = page.locator(".map input").first
    slider.focus()
    page.keyboard.press("Home")
    everything = shown_edges(page)
    page.keyboard.press("End")
    assert 0 < shown_edges(page) < everything


def test_pointing_at_an_edge_shows_its_weight(opened, pages):
    page = opened("people")
    one = pages["people"][1]["maps"][0]
    strongest = one["edges"][0]
    path = page.locator(
        f".map >> nth=0 >> .edge[data-source='{strongest['source']}'][data-target='{strongest['target']}']"
    )
    # An arrow is a thin curve: the pointer goes to its middle, not to that of its box.
    place = path.evaluate(
        """e => { const p = e.getPointAtLength(e.getTotalLength() / 2).matrixTransform(e.getScreenCTM());
                  return [p.x, p.y]; }"""
    )
    page.evaluate("([x, y]) => scrollTo(0, y - 300)", place)
    x, y = path.evaluate(
        """e => { const p = e.getPointAtLength(e.getTotalLength() / 2).matrixTransform(e.getScreenCTM());
                  return [p.x, p.y]; }"""
    )
    page.mouse.move(x, y)
    names = [one["concepts"][strongest[end]]["name"] for end in ("source", "target")]
    verb, sign = ("lowers", "−") if strongest["weight"] < 0 else ("raises", "+")
    expected = f"{names[0]} {verb} {names[1]}: weight {sign}{abs(strongest['weight']):#.3g}."
    assert page.locator(".readout").first.text_content() == expected


def test_concepts_are_stepped_through_with_the_keyboard(opened, pages):
    page = opened("iris")
    concepts = [concept["name"] for concept in pages["iris"][1]["maps"][0]["concepts"]]
    first = page.locator(".map").first
    first.locator(".node").first.focus()
    for name in [*concepts, concepts[0]]:
        assert first.locator(".readout").text_content().startswith(f"{name}, ")
        assert page.evaluate("document.activeElement.dataset.name") == name
        page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.dataset.name") == concepts[0]
    assert page.evaluate("getComputedStyle(document.activeElement.querySelector('circle')).strokeWidth") == "4px"
    assert first.locator(".edge.lit").count() > 0


def test_tab_reaches_everything_that_can_be_used_and_shows_it(opened):
    page = opened("iris")
    reached = []
    for _ in range(60):
        page.keyboard.press("Tab")
        tag, name, outline = page.evaluate(
            """() => { const e = document.activeElement;
              return [e.tagName, e.className.baseVal ?? e.className, getComputedStyle(e).outlineStyle]; }"""
        )
        if tag == "BODY":
            break
        reached.append(tag if tag != "g" else "node")
        assert outline == "solid" or name.startswith("node")
    maps = page.locator("figure.map svg.network").count()
    assert reached.count("node") == maps >= reached.count("INPUT") > 0
    assert {"A", "SUMMARY"} <= set(reached)


def test_it_can_be_read_without_scripts(browser, pages):
    page = browser.new_page(java_script_enabled=False)
    page.goto(pages["people"][0].as_uri())
    assert page.locator(".slider").first.is_hidden()
    assert page.locator(".network").first.is_visible()
    edge = pages["people"][1]["maps"][0]["edges"][0]
    assert (
        page.locator(".map details")
        .first.locator("td.number")
        .first.text_content()
        .endswith(f"{abs(edge['weight']):.3g}")
    )
    page.context.close()


def test_markup_in_the_data_stays_text(opened, pages):
    page = opened("hostile")
    assert page.title() == f"Model report: {QUOTES}"
    assert page.locator("img").count() == page.locator("b").count() == 0
    assert json.loads(page.locator("#facts").text_content()) == pages["hostile"][1]


def test_it_prints_without_controls_and_with_tables_open(opened, tmp_path):
    page = opened("iris")
    page.emulate_media(media="print")
    page.set_viewport_size({"width": 672, "height": 900})  # an A4 page within its margins
    assert page.evaluate("document.documentElement.scrollWidth") <= 672
    assert page.locator("nav").is_hidden()
    assert page.locator(".slider").first.is_hidden()
    page.pdf(path=tmp_path / "report.pdf", format="A4")
    assert (tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")
    assert page.locator("details:not([open])").count() == 0
