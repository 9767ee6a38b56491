"""WaterfallDisplay on explanations of fitted classifiers."""

import numpy as np
import pytest

from cogmap import LTCNClassifierCV
from cogmap.plots import WaterfallDisplay


@pytest.mark.parametrize("stacked", [False, True])
def test_the_waterfall_ends_at_the_score_that_decides(fitted, wine, stacked):
    X, y = wine
    model = LTCNClassifierCV().fit(X, y) if stacked else fitted
    scores = model.decision_function(X[:5])
    explanation = model.explain(X[:5])
    for row in range(5):
        display = WaterfallDisplay.from_explanation(explanation, row, model.classes_[1])
        assert display.contributions.shape == (model.n_iter_ + 1, len(model.concept_names_))
        np.testing.assert_allclose(display.score, scores[row, 1])
        np.testing.assert_allclose(display.steps()[-1].end, scores[row, 1], atol=1e-8 * np.abs(scores).max())
