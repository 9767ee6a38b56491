"""Every view of an explanation shows the evidence that follows from the probabilities."""

import numpy as np
import pytest


@pytest.mark.slow
@pytest.mark.parametrize("number", [1, 2])
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_all_views_agree_with_the_probabilities(number):
    pytest.importorskip("cogmap.report.unseen")
    pytest.importorskip("shap", reason="shap is not installed")
    from evidence import differences, problems

    _, model, X, y = list(problems())[number]
    found = differences(model.fit(X, y), X, y)
    assert list(found) == ["text", "frames", "JSON", "waterfalls", "shap", "report"]
    assert found.pop("text") < 0.00501
    assert max(found.values()) < 1e-9


def test_the_evidence_of_probabilities_is_their_log_odds():
    from evidence import log_odds

    probability = np.array([[0.8, 0.2], [0.5, 0.5]])
    np.testing.assert_allclose(log_odds(probability, np.array([0, 1])), [np.log(4), 0])
    np.testing.assert_allclose(log_odds(np.array([[0.5, 0.25, 0.25]]), np.array([0])), np.log(2) * 2 / 3)
