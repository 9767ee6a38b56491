"""Every display takes a classifier of raw tables."""

import numpy as np
import pytest

from cogmap import LTCNClassifier, LTCNClassifierCV, TabularClassifier
from cogmap.plots import (
    CognitiveMapDisplay,
    OuterWeightsDisplay,
    PhiIterationDisplay,
    RelevanceDisplay,
    TrajectoryDisplay,
    WaterfallDisplay,
)
from tests.people import people


@pytest.fixture(scope="module")
def table():
    frame = people(200).drop(columns="id")
    return frame.drop(columns="survived"), frame["survived"]


@pytest.fixture(scope="module", params=[LTCNClassifier(max_iter=3, alpha=0.1), LTCNClassifierCV(cases=False)])
def model(request, table):
    return TabularClassifier(request.param).fit(*table)


def test_the_map_is_that_of_its_network(model, assert_legible):
    display = CognitiveMapDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.weights, model.classifier_.inner_weights_)
    assert "sex = female" in {text.get_text() for text in display.ax_.texts}
    assert_legible(display.figure_)


def test_states_are_those_of_its_concepts(model, table):
    X, y = table
    display = TrajectoryDisplay.from_estimator(model, X, y)
    np.testing.assert_array_equal(display.trajectory, model.classifier_.trajectory(model.encode(X)))
    assert display.names.tolist() == model.classifier_.concept_names_.tolist()
    assert (TrajectoryDisplay.from_estimator(model, X).labels == model.predict(X)).all()


@pytest.mark.parametrize("given", [False, True])
def test_relevance_is_that_of_the_columns(model, table, given):
    X = table[0] if given else None
    display = RelevanceDisplay.from_estimator(model, X)
    assert set(display.frame()["feature"]) == set(table[0].columns)
    np.testing.assert_allclose(display.relevance, model.relevance(X))


def test_outer_weights_are_those_of_its_network(model):
    display = OuterWeightsDisplay.from_estimator(model)
    np.testing.assert_array_equal(display.weights, model.classifier_.outer_weights_)
    assert display.classes.tolist() == ["no", "yes"]


@pytest.mark.parametrize("by", ["feature", "iteration"])
def test_a_waterfall_ends_at_the_log_odds(model, table, by):
    X, _ = table
    log_odds = np.diff(np.log(model.predict_proba(X.iloc[[7]])))[0, 0]
    display = WaterfallDisplay.from_estimator(model, X, row=7, label="yes", by=by)
    np.testing.assert_allclose(display.steps(50)[-1].end, log_odds, atol=1e-8)
    if by == "feature":
        assert f"sex = {X['sex'].iloc[7]}" in set(display.frame()["step"])
        assert display.ax_.get_xlabel() == "log-odds of yes against no"


def test_the_heat_map_sets_the_parameters_of_its_network(table):
    display = PhiIterationDisplay.from_estimator(
        TabularClassifier(LTCNClassifier()), *table, phis=(0.2, 0.8), iterations=(1, 2), cv=2
    )
    assert display.scores.shape == (2, 2)
    assert (display.scores > 0).all()
