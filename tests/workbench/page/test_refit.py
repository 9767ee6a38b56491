"""A refit of many rows in its own process: progress is shown, it can be cancelled, and begun again."""

import numpy as np
import pytest

from cogmap import LTCNClassifier
from tests.conftest import cleared
from tests.workbench.page.conftest import visited

N_ROWS, SLOW = 5_000, 120_000


@pytest.fixture(scope="module")
def many():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N_ROWS, 12))
    y = np.where(X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=N_ROWS) > 0, "yes", "no")
    return LTCNClassifier().fit(X, y), X, y


@pytest.mark.slow
def test_progress_is_shown_and_the_refit_is_cancelled_and_begun_again(tab, serving, many, tmp_path):
    from cogmap.workbench import Workbench

    bench = Workbench(*many, folder=tmp_path, n_folds=5)
    page = visited(cleared(tab, 1400), serving(bench))
    bar = page.get_by_role("progressbar", name="Refit")
    bar.wait_for(timeout=SLOW)
    assert float(bar.get_attribute("max")) > 1
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Fit again").wait_for(timeout=SLOW)
    assert bench.progress()["state"] == "cancelled"
    page.get_by_role("button", name="Fit again").click()
    bar.wait_for(timeout=SLOW)
    bar.wait_for(state="detached", timeout=SLOW)
    assert bench.progress()["state"] == "done"
    page.get_by_role("tab", name="History").click()
    assert "accuracy" in page.locator(".entry").first.text_content()
    assert page.complaints == []
    page.goto("about:blank")
    bench.close()
