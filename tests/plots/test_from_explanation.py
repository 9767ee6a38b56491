"""WaterfallDisplay on explanations of fitted classifiers: both ways end at the evidence, which is in log-odds."""

from itertools import product

import numpy as np
import pytest

from cogmap import LTCNClassifierCV
from cogmap.plots import WaterfallDisplay


@pytest.mark.parametrize("stacked", [False, True])
def test_the_waterfall_ends_at_the_log_odds(fitted, wine, stacked):
    X, y = wine
    model = LTCNClassifierCV().fit(X[::2], y[::2]) if stacked else fitted
    logs = np.log(model.predict_proba(X[60:65]))
    expected = logs[:, 1] - logs.mean(axis=1)
    explanation = model.explain(X[60:65])
    for row, by in product(range(5), ["feature", "iteration"]):
        display = WaterfallDisplay.from_explanation(explanation, row, model.classes_[1], by=by)
        np.testing.assert_allclose(display.evidence, expected[row], atol=1e-9)
        np.testing.assert_allclose(display.steps()[-1].end, expected[row], atol=1e-8 * np.abs(expected).max())
        assert display.ax_.get_xlabel() == explanation.unit(1)
        assert display.ax_.get_xlabel().endswith(" 1 against the average of all classes")


def test_of_an_estimator_the_predicted_class_is_drawn(fitted, wine):
    X, _ = wine
    display = WaterfallDisplay.from_estimator(fitted, X, row=61)
    assert display.class_name == str(fitted.predict(X[61:62])[0])
    again = WaterfallDisplay.from_explanation(fitted.explain(X), 61, fitted.predict(X[61:62])[0])
    np.testing.assert_allclose(display.contributions, again.contributions, atol=1e-9)
    other = WaterfallDisplay.from_estimator(fitted, X, row=61, label=2, by="iteration")
    assert (other.class_name, other.by) == ("2", "iteration")
