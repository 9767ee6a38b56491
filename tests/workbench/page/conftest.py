"""Workbenches behind their real server, and pages of it in a real browser.

Nothing is fitted again, unless asked for, and such fits end before the call that began them: nothing is waited for.
"""

import secrets
import threading
from importlib import resources

import numpy as np
import pandas as pd
import pytest

from cogmap import LTCNClassifier, TabularClassifier
from tests.conftest import cleared
from tests.people import people
from tests.workbench.conftest import opened as open_bench

pytest.importorskip("starlette", reason="the workbench's server needs starlette")
uvicorn = pytest.importorskip("uvicorn", reason="the workbench's server needs uvicorn")

HOSTILE = "<img src=x onerror=\"document.title='broken'\">"


class Stage:
    """An application that is another one at a time."""

    async def __call__(self, scope, receive, send):
        await self.app(scope, receive, send)


@pytest.fixture(scope="session")
def serving():
    """Return a function that serves a workbench, instead of the one before, and gives the URL that it would print."""
    from cogmap.workbench.server import application, listening

    stage, listener = Stage(), listening()
    port = listener.getsockname()[1]
    server = uvicorn.Server(uvicorn.Config(stage, ws="none", lifespan="off", log_config=None, access_log=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()

    def serve(bench):
        token = secrets.token_urlsafe(8)
        stage.app = application(bench, token, port)
        return f"http://127.0.0.1:{port}/#token={token}"

    yield serve
    server.should_exit = True
    thread.join(20)
    listener.close()


@pytest.fixture(scope="session")
def raw():
    """Return a model of a raw table with text, numbers, dates and missing values, and a name that is markup."""
    table = people(160).drop(columns="id").rename(columns={"fare": HOSTILE})
    table["joined"] = np.where(np.arange(len(table)) % 3 == 0, "2024-01-05", "2025-11-30")
    rows = table.drop(columns="survived"), table["survived"]
    return TabularClassifier(LTCNClassifier(max_iter=3, alpha=0.1)).fit(*rows), *rows


@pytest.fixture(scope="session")
def wide():
    """Return a model of a table with 200 columns that are linked."""
    rng = np.random.default_rng(0)
    hidden = rng.normal(size=(160, 8))
    values = hidden @ rng.normal(size=(8, 200)) + rng.normal(size=(160, 200))
    rows = pd.DataFrame(values).add_prefix("measurement "), np.where(hidden[:, 0] > 0, "yes", "no")
    return LTCNClassifier(max_iter=3, alpha=0.1).fit(*rows), *rows


@pytest.fixture(scope="session")
def models(network, iris, raw, wide):
    return {"iris": (network, *iris), "people": raw, "wide": wide}


DRAWN = """() => new Promise((done) =>
    requestAnimationFrame(() => setTimeout(() => requestAnimationFrame(() => setTimeout(done)))))"""
"""What ends when a page has drawn what it knows, and has moved the focus, which it does after a frame."""


@pytest.fixture
def patient_keyboard(tab, monkeypatch):
    """Let a page draw itself after every key, as people do."""
    keyboard = type(tab.keyboard)
    press = keyboard.press

    def pressed(self, key):
        press(self, key)
        tab.evaluate(DRAWN)

    monkeypatch.setattr(keyboard, "press", pressed)


@pytest.fixture
def opened(tab, serving, models, tmp_path, patient_keyboard):
    """Return a function that opens a workbench; the page keeps what the browser complains about."""
    closing = []

    def open_page(name, *, width=1400, session=None, refit=False, **media):
        bench = open_bench(*models[name], session=session, folder=tmp_path, title=name, n_folds=2, refit=refit)
        closing.append(bench.close)
        tab.bench, tab.url_of_bench = bench, serving(bench)
        return visited(cleared(tab, width, reduced_motion="reduce", **media), tab.url_of_bench)

    yield open_page
    tab.evaluate("() => { localStorage.clear(); sessionStorage.clear(); }")
    tab.goto("about:blank")
    for close in closing:
        close()


def visited(page, url):
    """Return the page at the URL of a workbench, when it is drawn."""
    page.goto(url)
    page.wait_for_selector("[role=tab]")
    return page


@pytest.fixture(scope="session")
def axe():
    """Return the text of axe-core, which finds what people with disabilities cannot use."""
    package = pytest.importorskip("axe_playwright_python", reason="axe-core comes with axe-playwright-python")
    return (resources.files(package) / "axe.min.js").read_text(encoding="utf-8")


def eventually(page, look, wanted):
    """Wait until what one sees is what is wanted; fail with the last that was seen."""
    for _ in range(160):
        if look() == wanted:
            return
        page.wait_for_timeout(50)
    assert look() == wanted


def show(page, view):
    """Go to a view and wait until its answers are there."""
    page.get_by_role("tab", name=view, exact=True).click()
    page.locator(".wait").first.wait_for(state="detached")
