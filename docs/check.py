"""Open every page of the built site as a reader does, and fail on what a reader would stumble over.

Run: make docs-check, or python docs/check.py [--pictures FOLDER] [PAGE …]

Links are checked in the files: the page and the place in it must be there. Then Chromium opens each page from the
disk, wide and narrow, in the light and in the dark: no message on the console, no request that leaves the folder,
nothing that is wider than the window, no code that is cut off. The search must find what the site is about.

Easy to get wrong: a page that is too wide hides it where an ancestor has `overflow: hidden`. So each block of code is
asked where its end is, and whether one can scroll there.
"""

import argparse
import re
import shutil
import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

SITE = Path(__file__).parent / "_build" / "html"
WIDTHS = (1400, 400)
SEARCHED = ("relevance", "ONNX", "missing values", "waterfall")

TOO_WIDE = """() => {
  const found = [], wide = document.documentElement.scrollWidth - window.innerWidth;
  if (wide > 0) found.push(`the page is ${wide} px wider than the window`);
  for (const text of document.querySelectorAll(".bd-article-container")) {
    const over = text.scrollWidth - text.clientWidth;
    if (over > 1) found.push(`the text is ${over} px wider than its column`);
  }
  for (const block of document.querySelectorAll(".bd-article pre, .bd-article table, .bd-article img, .formula")) {
    const box = block.getBoundingClientRect();
    if (!box.width) continue;
    const style = (e) => getComputedStyle(e).overflowX;
    const inner = block.scrollWidth > block.clientWidth + 1 && /hidden|clip/.test(style(block));
    let cut = inner ? block : null;
    for (let up = block.parentElement; up && !cut && !/auto|scroll/.test(style(up)); up = up.parentElement)
      if (/hidden|clip/.test(style(up)) && box.right > up.getBoundingClientRect().right + 1) cut = up;
    if (cut) found.push(`${block.tagName.toLowerCase()} is cut off: ${block.textContent.trim().slice(0, 60)}`);
  }
  return found;
}"""


class Page(HTMLParser):
    """The ids of a page, where it leads, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note one element."""
        given = {name: value or "" for name, value in attrs}
        self.ids |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") in ("stylesheet", "icon", "shortcut icon", "preload"):
            self.loaded.append(given["href"])
        elif "src" in given:
            self.loaded.append(given["src"])


def broken_links(pages: dict[Path, Page]) -> Iterator[str]:
    """Say which links lead nowhere, and what would be loaded from another host."""
    for path, page in pages.items():
        for link in (*page.links, *page.loaded):
            parts = urlsplit(link)
            if parts.scheme in ("http", "https"):
                if link in page.loaded:
                    yield f"{path.relative_to(SITE)}: loads {link} from another host"
                continue
            if parts.scheme:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.is_file():
                yield f"{path.relative_to(SITE)}: {link} is not there"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].ids:
                yield f"{path.relative_to(SITE)}: {link} has no such place"


def broken_listing() -> Iterator[str]:
    """Say which pages llms.txt names that are not there."""
    listing = (SITE / "llms.txt").read_text(encoding="utf-8")
    found = re.findall(r"\]\((.*?)\)", listing)
    yield from (f"llms.txt: {link} is not there" for link in found if not (SITE / link).is_file())
    if len(found) < 50:
        yield f"llms.txt names {len(found)} pages only"


class Reader:
    """A browser window, and what it complained about."""

    def __init__(self, browser: Any, width: int, theme: str) -> None:
        self.name = f"{width} px, {theme}"
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=theme)
        self.tab = context.new_page()
        self.heard: list[str] = []
        self.tab.on("console", lambda said: self.hear(said.type in ("error", "warning"), said.text))
        self.tab.on("pageerror", lambda error: self.hear(True, str(error)))
        self.tab.on("request", lambda asked: self.hear(not asked.url.startswith(("file:", "data:")), asked.url))
        # What the browser gives up because the next page is opened did not fail.
        self.tab.on("requestfailed", lambda asked: self.hear("ABORTED" not in (asked.failure or ""), asked.url))

    def hear(self, wrong: bool, message: str) -> None:
        """Keep what the browser says, if it is wrong."""
        if wrong:
            self.heard.append(message)

    def open(self, path: Path, query: str = "") -> Iterator[str]:
        """Open a page, and say what is wrong with it."""
        self.heard.clear()
        self.tab.goto(path.as_uri() + query, wait_until="load")
        for problem in (*self.tab.evaluate(TOO_WIDE), *self.heard):
            yield f"{path.relative_to(SITE)} ({self.name}): {problem}"

    def search(self, words: str) -> Iterator[str]:
        """Search from a file, and say if nothing was found."""
        yield from self.open(SITE / "search.html", f"?q={words.replace(' ', '+')}")
        try:
            self.tab.wait_for_selector("#search-results li a", timeout=10_000)
        except Exception:
            yield f"the search ({self.name}) finds nothing for {words!r}"

    def theme(self) -> str:
        """Return whether the page is light or dark, by its background."""
        colour = self.tab.evaluate("getComputedStyle(document.body).backgroundColor")
        return "dark" if sum(map(int, re.findall(r"\d+", colour)[:3])) < 300 else "light"


def seen_problems(browser: Any, paths: list[Path], pictures: Path | None) -> Iterator[str]:
    """Open pages wide and narrow, search, and look at one page in the dark."""
    for width in WIDTHS:
        reader = Reader(browser, width, "light")
        for path in paths:
            yield from reader.open(path)
            if pictures:
                name = str(path.relative_to(SITE).with_suffix("")).replace("/", "-")
                reader.tab.screenshot(path=pictures / f"{name}-{width}.png", full_page=True)
        for words in SEARCHED:
            yield from reader.search(words)
    for theme in ("light", "dark"):
        reader = Reader(browser, WIDTHS[0], theme)
        yield from reader.open(SITE / "index.html")
        if reader.theme() != theme:
            yield f"the page is {reader.theme()} where the reader asks for {theme}"
        if pictures:
            reader.tab.screenshot(path=pictures / f"index-{theme}.png")


def main() -> None:
    """Print what is wrong; exit with 1 if anything is."""
    arguments = argparse.ArgumentParser(description="Open every page of the built site.")
    arguments.add_argument("pages", nargs="*", help="pages to open, as learn/index.html; all by default")
    arguments.add_argument("--pictures", type=Path, help="folder for a picture of each page")
    given = arguments.parse_args()
    from playwright.sync_api import sync_playwright

    chromium = shutil.which("chromium") or sys.exit("docs/check.py needs chromium on the path.")
    paths = sorted(path for path in SITE.rglob("*.html") if "_static" not in path.parts)
    problems = [*broken_links({path: Page(path.read_text(encoding="utf-8")) for path in paths}), *broken_listing()]
    chosen = [SITE / page for page in given.pages] or paths
    if given.pictures:
        given.pictures.mkdir(parents=True, exist_ok=True)
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium)
        problems += seen_problems(browser, chosen, given.pictures)
        browser.close()
    print("\n".join(dict.fromkeys(problems)))
    print(f"{len(chosen)} pages, each at {' and '.join(map(str, WIDTHS))} px: {len(problems)} problems")
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
