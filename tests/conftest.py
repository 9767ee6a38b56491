"""Shared data: scikit-learn's own sets always, the paper's where COGMAP_DATA points at them.

Easy to get wrong: hypothesis also draws the constants of those modules that are imported at the time, and tests that
ran before in the same process decide which these are. Without them, every run draws the same examples.
"""

import os
import shutil
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.internal.conjecture import providers

# How long an example takes is a matter of the machine, so there is no deadline.
ANYWHERE = settings(max_examples=50, deadline=None, suppress_health_check=[HealthCheck.too_slow], database=None)
settings.register_profile("same", ANYWHERE, derandomize=True)
settings.register_profile("soak", ANYWHERE, print_blob=True)
settings.load_profile("same")
providers._get_local_constants = lambda: providers._local_constants

SOAK = 10
"""How many times as many examples a soak draws."""


def pytest_collection_modifyitems(config, items):
    """Let every property draw more examples in a soak, those too that ask for a number of their own."""
    if config.getoption("--hypothesis-profile") != "soak":
        return
    functions = {getattr(item, "obj", None) for item in items}
    for function in (each for each in functions if getattr(each, "is_hypothesis_test", False)):
        chosen = function._hypothesis_internal_use_settings
        function._hypothesis_internal_use_settings = settings(chosen, max_examples=SOAK * chosen.max_examples)


@pytest.fixture(scope="session")
def paper_data():
    """Return a loader of the paper's datasets by name; skip where they are not on this machine."""
    import pandas as pd

    directory = os.environ.get("COGMAP_DATA")
    if not directory or not Path(directory).is_dir():
        pytest.skip("COGMAP_DATA does not point at the paper's datasets")

    def load(name):
        table = pd.read_csv(Path(directory) / f"{name}.csv.gz", header=None)
        return table.iloc[:, :-1].to_numpy(float), table.iloc[:, -1].to_numpy()

    return load


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def browser():
    """Return the machine's browser; there is one for all tests, because playwright runs once in a process."""
    if shutil.which("chromium") is None:
        pytest.skip("chromium is not on this machine")
    api = pytest.importorskip("playwright.sync_api", reason="chromium is driven by playwright, which is not installed")
    with api.sync_playwright() as playwright:
        found = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        yield found
        found.close()


@pytest.fixture(scope="session")
def tab(browser):
    """Return a page that keeps what the browser complains about; to load another in it is quicker than a new one."""
    page = browser.new_context().new_page()
    page.set_default_timeout(60_000)
    page.complaints = []
    page.on("console", lambda message: page.complaints.append(message.text))
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    return page


def cleared(tab, width, **media):
    """Return the page as it was in the beginning, at a width and with media such as a colour scheme."""
    tab.goto("about:blank")
    tab.set_viewport_size({"width": width, "height": 900})
    tab.emulate_media(media="null", **({"color_scheme": "light", "reduced_motion": "no-preference"} | media))
    tab.mouse.move(0, 0)
    tab.complaints.clear()
    return tab
