import doctest
import sys
from importlib.util import find_spec

import numpy as np
import pandas as pd
import pytest
from scipy import stats

pytest.importorskip("matplotlib")


def test_the_examples_hold():
    import phishing

    found = doctest.testmod(phishing)
    assert found.attempted > 0
    assert found.failed == 0


def test_weights_that_never_settle_do_not_repeat(rng):
    from phishing import first_repeated

    assert first_repeated(rng.normal(size=(10, 4, 2))) is None


def test_equal_weights_repeat_from_the_first_iteration_on():
    from phishing import first_repeated

    assert first_repeated(np.ones((10, 4, 2))) == 1


@pytest.mark.parametrize(("draw", "normal"), [("normal", True), ("laplace", False)])
def test_distribution_tells_normal_numbers_from_others(rng, draw, normal):
    from phishing import distribution

    found = distribution(getattr(rng, draw)(size=2000))
    assert (float(found["D'Agostino p"]) > 0.05) == normal
    assert (found["Anderson–Darling A² (normal at 5 %: .75)"] < 0.752) == normal
    assert abs(found["mean over its standard error"]) < 3


def test_anderson_darling_is_that_of_scipy(rng):
    from phishing import anderson_darling

    values = rng.standard_t(5, size=300)
    expected = stats.goodness_of_fit(stats.norm, values, statistic="ad", n_mc_samples=5, rng=rng).statistic
    assert anderson_darling((values - values.mean()) / values.std(ddof=1)) == pytest.approx(expected, rel=1e-9)


@pytest.mark.skipif(find_spec("weka") is not None, reason="python-weka-wrapper3 is installed here")
def test_without_weka_the_report_says_so():
    from phishing import weka_selection

    X = pd.DataFrame({"a": [0.0, 1.0], "b": [1.0, 0.0]})
    assert "--weka-python" in weka_selection(X, np.array([0, 1]), sys.executable)
    assert "no-such-python" in weka_selection(X, np.array([0, 1]), "no-such-python")


def test_solutions_at_numpys_cut_off_are_the_papers_readout(rng, monkeypatch):
    """At 1e-15 they are the outer weights of the estimator; with larger cut-offs fewer singular values are kept."""
    import phishing

    from cogmap import LTCNClassifier

    monkeypatch.setattr(phishing, "N_ITER", 2)
    X = pd.DataFrame(rng.uniform(size=(200, 4)), columns=list("abcd"))
    y = (X["a"] + 0.3 * rng.normal(size=200) > 0.5).to_numpy(int)
    found = list(phishing.solutions(X, y, "slopes"))
    model = phishing.fitted(LTCNClassifier.paper(phi=phishing.PHI, max_iter=2, inner="slopes", tol=0.0), X, y)
    np.testing.assert_allclose(found[0][2], model.outer_weights_, rtol=1e-5, atol=1e-8)
    np.testing.assert_allclose(found[0][1], model.inner_weights_)
    kept = [rank for rank, _, _ in found]
    assert kept == sorted(kept, reverse=True)
    assert kept[0] > kept[-1]
