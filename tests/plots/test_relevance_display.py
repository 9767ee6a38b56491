"""RelevanceDisplay on fitted classifiers, through `relevance` and `relevance_intervals`."""

import numpy as np
import pytest

from cogmap.plots import RelevanceDisplay


@pytest.mark.filterwarnings("ignore::cogmap.UnreliableRelevanceWarning")
@pytest.mark.parametrize("kind", ["model", "paper", "data"])
def test_bars_are_the_relevance_without_rows(fitted, kind):
    display = RelevanceDisplay.from_estimator(fitted, kind=kind, n_features=None)
    expected = dict(zip(fitted.feature_names_in_, fitted.relevance(kind=kind), strict=True))
    frame = display.frame()
    np.testing.assert_allclose(frame["relevance"], [expected[name] for name in frame["feature"]])
    assert display.low is None
    assert len(display.ax_.patches) == fitted.n_features_in_


@pytest.mark.parametrize("per_class", [False, True])
def test_intervals_come_from_the_rows(fitted, wine, per_class):
    X, y = wine
    options = {"kind": "model", "per_class": per_class, "n_bootstrap": 3, "level": 0.8, "random_state": 3}
    display = RelevanceDisplay.from_estimator(fitted, X, y, **options)
    estimate, low, high = fitted.relevance_intervals(X, y, **options)
    np.testing.assert_array_equal(display.relevance, estimate)
    np.testing.assert_array_equal(display.low, low)
    np.testing.assert_array_equal(display.high, high)
    assert (display.classes is not None) == per_class


def test_no_bootstrap_means_no_intervals(fitted, wine):
    X, _ = wine
    display = RelevanceDisplay.from_estimator(fitted, X, n_bootstrap=0)
    np.testing.assert_allclose(display.relevance, fitted.relevance(X, kind="model"))
    assert display.low is None
