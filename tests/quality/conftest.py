"""Models whose relevance is a mean over few rows: what is compared is that it is the models' own."""

import pytest

from cogmap.explain import relevance


@pytest.fixture(scope="package", autouse=True)
def _few_scores():
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(relevance, "SCORES", 2**12)
        yield
