"""The workbench in a notebook: the page's modules in a widget, and calls as its messages."""

import re
import sys

import pytest

import cogmap
from cogmap.workbench import Workbench, seam
from cogmap.workbench.server import page_files
from tests.workbench.conftest import EDGE, SAID

pytest.importorskip("anywidget", reason="a notebook needs anywidget")


@pytest.fixture
def widget(network, iris):
    widget = cogmap.workbench(network, *iris, refit=False)
    yield widget
    widget.close()


def asked(widget, monkeypatch, **content):
    answers = []
    monkeypatch.setattr(type(widget), "send", lambda self, content, buffers=None: answers.append(content))
    widget._handle_custom_msg(content, [])
    return answers[0]


def test_messages_are_calls(widget, monkeypatch):
    answer = asked(widget, monkeypatch, id="a-1", name="forbid", payload={"source": EDGE[0], "target": EDGE[1], **SAID})
    assert answer["id"] == "a-1"
    assert answer["answer"]["version"] == 1
    assert widget.bench.state()["version"] == 1
    wrong = asked(widget, monkeypatch, id="a-2", name="rows", payload={"filter": "odd"})
    assert wrong["answer"]["error"]["kind"] == "mistake"
    assert asked(widget, monkeypatch, id="a-3")["answer"]["error"]["kind"] == "refused"


def test_the_widget_holds_all_modules_that_the_page_imports(widget):
    assert "app.js" in widget.sources
    assert "main.js" not in widget.sources
    assert widget.style == page_files()["app.css"].decode()
    for name, source in widget.sources.items():
        folder = name.rpartition("/")[0]
        for path in re.findall(r'(?:\bfrom\s*|\bimport\s*)"(\.[^"]+)"', source):
            parts = [*folder.split("/")] if folder else []
            for part in path.split("/"):
                if part == "..":
                    parts.pop()
                elif part != ".":
                    parts.append(part)
            assert "/".join(parts) in widget.sources, (name, path)


def test_the_room_can_be_called_and_is_a_room():
    assert callable(cogmap.workbench)
    assert cogmap.__getattr__("workbench") is cogmap.workbench is sys.modules["cogmap.workbench"]
    assert cogmap.workbench.Workbench is Workbench


SHELL = "<!doctype html><meta charset='utf-8'><title>notebook</title><div id='cell'></div>"
BEGIN = """async ([esm, sources, style]) => {
  const heard = [];
  const model = {
    get: (name) => ({ sources, style })[name],
    on: (_, hear) => heard.push(hear),
    off: () => {},
    send: async (content) => {
      const answer = await window.python(content);
      heard.forEach((hear) => hear(answer));
    },
  };
  const url = URL.createObjectURL(new Blob([esm], { type: "text/javascript" }));
  const widget = await import(url);
  window.takeAway = await widget.default.render({ model, el: document.getElementById("cell") });
}"""


def test_a_browser_shows_the_widget(browser, network, iris):
    """As a notebook does it: the module from a blob, a model that sends messages, and nothing else."""
    widget, asked, errors = cogmap.workbench(network, *iris, refit=False), [], []

    def python(content):
        asked.append(content["name"])
        return {"id": content["id"], "answer": seam.answer(widget.bench, content["name"], content["payload"])[1]}

    page = browser.new_page()
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.expose_function("python", python)
    page.route("http://notebook.test/", lambda route: route.fulfill(body=SHELL, content_type="text/html"))
    page.goto("http://notebook.test/")
    page.evaluate(BEGIN, [widget._esm, widget.sources, widget.style])
    page.get_by_text("petal width (cm)").first.wait_for()
    page.evaluate("window.takeAway()")
    assert page.locator("#cell").inner_html() == ""
    page.close()
    widget.close()
    assert errors == []
    assert "state" in asked
    assert "map" in asked
