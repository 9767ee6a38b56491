"""Explanations add up, agree with what they describe, and say so in frames and shap's object."""

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, softmax
from sklearn.base import clone
from sklearn.datasets import load_iris

from cogmap import IllConditionedWarning, LTCNClassifier, LTCNClassifierCV, UnreliableRelevanceWarning
from cogmap.explain.evidence import spread_rows
from tests import own_metrics
from tests.explain.conftest import ROWS


def log_odds(probability, k):
    """Return the evidence for class k, from probabilities alone."""
    log = np.log(probability)
    return log[:, k] - (log[:, 1 - k] if log.shape[1] == 2 else log.mean(axis=1))


def assert_adds_up(model, X, explanation):
    """Check that every view adds up to the evidence, and that this is what the probabilities say."""
    scores = model.decision_function(X)
    scores = scores if scores.ndim == 2 else np.stack([-scores / 2, scores / 2], axis=1)
    probability = model.predict_proba(X)
    for k, label in enumerate(explanation.classes):
        code = int(np.flatnonzero(model.classes_ == label)[0])
        own = explanation.evidence[:, k]
        against = np.delete(scores, code, axis=1)[:, 0] if scores.shape[1] == 2 else scores.mean(axis=1)
        np.testing.assert_allclose(own, scores[:, code] - against, atol=1e-9 * np.abs(scores).max())
        # A probability of 1 − 1e-17 is 1, so where others are that small its logarithm says nothing.
        sure = probability.min(axis=1) > 1e-12
        np.testing.assert_allclose(own[sure], log_odds(probability[sure], code), rtol=1e-9, atol=1e-9)
        terms = explanation.contributions(label)
        rest = explanation.base[k] + explanation.cases[:, k]
        largest = np.maximum(np.abs(terms).max(axis=(1, 2), initial=0.0), np.abs(explanation.base[k]))
        assert (np.abs(terms.sum(axis=(1, 2)) + rest - own) <= 1e-10 * largest + 1e-12).all()
        total = explanation.attributions[:, :, k].sum(axis=1) + explanation.baseline_scores[:, k]
        np.testing.assert_allclose(total, own, rtol=0, atol=1e-11 * np.abs(explanation.scores).max())


def test_both_views_add_up_to_the_evidence(explained, wine):
    model, explanation = explained
    assert_adds_up(model, wine[0][ROWS], explanation)
    np.testing.assert_allclose(softmax(explanation.evidence, axis=1), model.predict_proba(wine[0][ROWS]), atol=1e-12)


def test_one_class_against_another_is_the_difference_of_their_evidence(explained):
    model, explanation = explained
    first, second = model.classes_[:2]
    expected = explanation.contributions(first) - explanation.contributions(second)
    np.testing.assert_allclose(explanation.contributions(first, second), expected, atol=1e-9 * np.abs(expected).max())


def test_a_constant_feature_is_attributed_nothing(explained):
    assert not explained[1].attributions[:, -1].any()


def test_the_frame_has_a_line_for_every_term(explained, wine):
    model, explanation = explained
    frame = explanation.to_frame()
    assert list(frame.columns) == ["row", "class", "concept", "iteration", "contribution"]
    assert not frame.duplicated(["row", "class", "concept", "iteration"]).any()
    total = frame.groupby(["row", "class"]).contribution.sum().unstack()
    np.testing.assert_allclose(total.loc[wine[0].index[ROWS], model.classes_], explanation.evidence, atol=1e-6)
    assert set(frame.concept) <= {*model.concept_names_, "(base)", "(cases)"}
    assert (frame.iteration.isna() == frame.concept.str.startswith("(")).all()


def test_the_features_frame_has_values_evidence_and_odds(explained, wine):
    model, explanation = explained
    frame = explanation.features_frame()
    assert list(frame.columns) == ["row", "class", "feature", "value", "evidence", "odds_factor"]
    assert len(frame) == len(explanation) * 15 * 3
    line = frame[(frame.row == 49) & (frame["class"] == "barolo") & (frame.feature == "proline")]
    assert line.value.item() == wine[0].proline[49]
    k = list(model.classes_).index("barolo")
    assert line.evidence.item() == explanation.attributions[3, 12, k]
    assert line.odds_factor.item() == pytest.approx(np.exp(line.evidence.item()))
    total = frame.groupby(["row", "class"]).evidence.sum().unstack()
    np.testing.assert_allclose(total.loc[wine[0].index[ROWS], model.classes_], explanation.evidence, atol=1e-10)
    assert frame[frame.feature == "(other rows)"].value.isna().all()


def test_trajectory_and_dynamics_are_those_of_the_rows(explained, wine):
    model, explanation = explained
    X = wine[0][ROWS]
    np.testing.assert_array_equal(explanation.trajectory, model.trajectory(X))
    np.testing.assert_array_equal(explanation.dynamics.reached_at, model.diagnose(X).reached_at)
    np.testing.assert_array_equal(explanation.predicted, model.predict(X))


@pytest.mark.parametrize(
    ("name", "activation"),
    [
        ("banana", "sigmoid"),
        ("vehicle", "tanh"),
        ("yeast", "sigmoid"),
        ("plant-margin", "tanh"),
    ],
)
def test_explanations_of_the_papers_data_add_up(paper_data, name, activation):
    X, y = paper_data(name)
    order = np.random.default_rng(0).permutation(len(X))
    model = LTCNClassifier(activation=activation, max_iter=20).fit(X[order[:600]], y[order[:600]])
    rows = X[order[-10:]]
    few = model.classes_[:: max(1, len(model.classes_) // 5)]
    assert_adds_up(model, rows, model.explain(rows, classes=few if name.startswith("plant") else None))
    assert name != "plant-margin" or len(model.classes_) == 100


@pytest.mark.slow
@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
def test_explanations_of_a_hundred_classes_and_twenty_iterations_add_up(paper_data, activation):
    X, y = paper_data("plant-shape")
    model = LTCNClassifier(activation=activation, alpha=1.0, max_iter=20, tol=0.0).fit(X[::4], y[::4])
    assert model.n_iter_ == 20
    assert_adds_up(model, X[:8], model.explain(X[:8], classes=model.classes_[::20]))


@pytest.mark.parametrize("estimator", [LTCNClassifierCV(), LTCNClassifier(cases=True)])
def test_stacks_and_cases_of_the_papers_data_add_up(paper_data, estimator):
    X, y = paper_data("vehicle")
    model = clone(estimator).fit(X[::4], y[::4])
    assert_adds_up(model, X[:100:10], model.explain(X[:100:10]))


def test_members_that_share_a_network_share_its_concepts(wine):
    X, y = wine
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cogmap.estimators.tuned.stack_weights", lambda members: np.full(len(members), 0.5))
        model = LTCNClassifierCV(inner="slopes", terms=None, pairs=False).fit(X[::4], y[::4])
    assert len(model.fitted_.members) == 3
    assert len(model.fitted_.networks) == 1
    explanation = model.explain(X[ROWS])
    assert np.abs(explanation.cases).max() > 0
    assert explanation.contributions("barolo").shape == (12, model.n_iter_ + 1, 13)
    assert_adds_up(model, X[ROWS], explanation)


def test_only_the_classes_asked_for_are_attributed(wine):
    X, y = wine
    model = LTCNClassifier(max_iter=3).fit(X, y)
    everything, few = model.explain(X[:4]), model.explain(X[:4], classes=["grignolino"])
    assert few.attributions.shape == (4, 14, 1)
    np.testing.assert_allclose(few.attributions[:, :, 0], everything.attributions[:, :, 2], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(few.base, everything.base[[2]])
    assert few.to_text(0) == everything.to_text(0)


def test_rows_are_compared_with_training_rows(wine):
    """Without iterations and gate the evidence is a sum over features, so that Shapley's values have a closed form."""
    X, y = wine
    model = LTCNClassifier(max_iter=0, scaling="minmax", alpha=1.0).fit(X, y)
    found = model.explain(X[:5])
    assert found.baseline_values is None
    background = pd.DataFrame(spread_rows(model.fitted_, 32), columns=X.columns)
    np.testing.assert_allclose(found.baseline_scores[0], model.explain(background).evidence.mean(axis=0), atol=1e-9)
    # The last column is 1.5 everywhere, and so is the constant of the regression.
    slopes = np.linalg.lstsq(X.to_numpy(), model.explain(X).evidence, rcond=None)[0][:13]
    expected = (X[:5] - background.mean()).to_numpy()[:, :13, None] * slopes
    np.testing.assert_allclose(found.attributions[:, :13], expected, atol=1e-7)


def test_a_given_row_is_the_baseline(wine):
    X, y = wine
    model = LTCNClassifier(max_iter=3).fit(X, y)
    for baseline in (X.iloc[100].to_numpy(), X.iloc[[100]]):
        found = model.explain(X.iloc[[3, 100]], baseline=baseline)
        np.testing.assert_allclose(found.baseline_scores[0], model.explain(X.iloc[[100]]).evidence[0], atol=1e-9)
        assert not found.attributions[1].any()
        np.testing.assert_array_equal(found.baseline_values, X.iloc[100])
    strongest = int(found.attributions[0, :, list(model.classes_).index(found.predicted[0])].argmax())
    assert (
        f"{X.columns[strongest]} = {X.iloc[3, strongest]:.4g} instead of {X.iloc[100, strongest]:.4g} (+"
        in found.to_text(0)
    )
    assert "the row to compare with has" in found.to_text(0)


def test_the_gate_is_shown():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3)) ** 3
    y = (X[:, 0] ** 2 + X[:, 1] > 1).astype(int)
    model = LTCNClassifier(scaling="minmax").fit(X[:300], y[:300])
    explanation = model.explain(X)
    stopped = explanation.stopped_at[:, 0]
    assert (stopped >= 0).any()
    row = int(np.flatnonzero(stopped > 0)[0])
    assert not explanation.contributions(1)[row, stopped[row] :].any()
    assert f"ended before step {stopped[row]}," in explanation.to_text(row, details=True)
    assert "ended" not in explanation.to_text(int(np.flatnonzero(stopped < 0)[0]), details=True)


def test_similar_cases_are_training_rows(wine):
    X, y = wine
    for estimator in (LTCNClassifier(cases=True), LTCNClassifier(cases=True, terms=3, scaling="minmax")):
        model = estimator.fit(X[::2], y[::2])
        explanation = model.explain(X[1::2])
        found = explanation.similar_cases(3, count=4)
        assert len(found) == 4
        distance = np.abs(found[X.columns].to_numpy()[:, None] - X[::2].to_numpy()).max(axis=2).min(axis=1)
        np.testing.assert_allclose(distance, 0, atol=1e-6)
        every = explanation.similar_cases(3, count=10_000)
        k = list(model.classes_).index(explanation.predicted[3])
        np.testing.assert_allclose(every.contribution.sum(), explanation.cases[3, k])
    itself = model.explain(X[::2]).similar_cases(0, count=100)
    assert itself.resemblance.max() == pytest.approx(1, abs=1e-6)


def test_similar_cases_of_regions_with_metrics_of_their_own_are_training_rows():
    model, X, _ = own_metrics.fitted_stack()
    found = model.explain(X[:1]).similar_cases(0, count=1000)
    assert len(found) == 2 * len(X)  # by either distance
    distance = np.abs(found[["x0", "x1", "x2", "x3"]].to_numpy()[:, None] - X).max(axis=2).min(axis=1)
    np.testing.assert_allclose(distance, 0, atol=1e-6)
    assert found.resemblance.max() == pytest.approx(1, abs=1e-6)


def test_without_cases_there_are_none_to_show(wine):
    X, y = wine
    with pytest.raises(ValueError, match="remembers no cases"):
        LTCNClassifier(max_iter=1).fit(X, y).explain(X[:1]).similar_cases()


def test_shap_gets_values_that_add_up(explained, wine):
    shap = pytest.importorskip("shap", reason="shap is not installed")
    model, explanation = explained
    found = explanation.to_shap()
    assert isinstance(found, shap.Explanation)
    assert found.feature_names == [*wine[0].columns]
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(softmax(total, axis=1), model.predict_proba(wine[0][ROWS]), atol=1e-9)


def test_shap_gets_the_margin_of_two_classes_and_draws_it(wine):
    shap = pytest.importorskip("shap", reason="shap is not installed")
    pytest.importorskip("matplotlib").use("Agg")
    plt = pytest.importorskip("matplotlib.pyplot")
    X, y = wine
    model = LTCNClassifier(max_iter=3).fit(X, y == "barolo")
    X = X[::4]
    found = model.explain(X).to_shap()
    total = found.values.sum(axis=1) + found.base_values
    np.testing.assert_allclose(total, model.decision_function(X), atol=1e-9)
    np.testing.assert_allclose(expit(total), model.predict_proba(X)[:, 1], atol=1e-9)
    for plot, part in ((shap.plots.waterfall, found[0]), (shap.plots.bar, found), (shap.plots.beeswarm, found)):
        plt.figure()  # shap draws on the current one
        plot(part, show=False)
    plt.close("all")


def test_irregular_reasoning_adds_up_too(rng):
    X, y = load_iris(return_X_y=True)
    model = LTCNClassifier(inner=40 * rng.normal(size=(4, 4)), alpha=1.0, activation="tanh").fit(X, y)
    assert_adds_up(model, X[:5], model.explain(X[:5]))


def test_rounding_that_decides_scores_is_said():
    X, y = load_iris(return_X_y=True)
    with pytest.warns(IllConditionedWarning):
        rounded = LTCNClassifier.paper(inner="slopes").fit(X, y)
    with pytest.warns(UnreliableRelevanceWarning, match="condition number"):
        assert rounded.explain(X[:5]).attributions.shape == (5, 4, 3)


def test_a_row_alone_and_among_others_is_explained_alike(wine):
    X, y = wine
    model = LTCNClassifier(max_iter=3).fit(X, y)
    together, alone = model.explain(X[:6]), model.explain(X[4:5])
    np.testing.assert_allclose(alone.attributions[0], together.attributions[4], atol=1e-10)
    assert model.explain(X[:6]).to_text(4) == together.to_text(4)


def test_bad_requests_are_named(wine):
    X, y = wine
    model = LTCNClassifier(max_iter=1).fit(X, y)
    with pytest.raises(ValueError, match="Class 'chianti' is unknown"):
        model.explain(X, classes=["chianti"])
    with pytest.raises(ValueError, match="Class 'chianti' is unknown"):
        model.explain(X[:1]).contributions("chianti")
    with pytest.raises(ValueError, match="baseline has 2 rows"):
        model.explain(X, baseline=X[:2])


@pytest.mark.parametrize(("library", "call"), [("pandas", "to_frame"), ("shap", "to_shap"), ("pandas", "flips")])
def test_a_missing_library_names_the_extra(wine, monkeypatch, library, call):
    X, y = wine
    explanation = LTCNClassifier(max_iter=1).fit(X, y).explain(X[:1])
    monkeypatch.setitem(sys.modules, library, None)
    with pytest.raises(ImportError, match=r'pip install "cogmap\[explain\]"'):
        getattr(explanation, call)()


def test_a_later_fit_changes_no_explanation(wine):
    X, y = wine
    model = LTCNClassifier(max_iter=2).fit(X, y)
    before, after = model.explain(X[:5]), model.explain(X[:5])
    expected = before.attributions
    model.set_params(max_iter=0).fit(X, y[::-1])
    np.testing.assert_array_equal(after.attributions, expected)


def test_labels_are_those_of_the_frame_and_otherwise_positions(wine):
    X, y = wine
    model = LTCNClassifier(max_iter=1).fit(X, y)
    assert model.explain(X[5:8]).index.tolist() == [5, 6, 7]
    polars = pytest.importorskip("polars")
    assert model.explain(polars.from_pandas(X[5:8])).index.tolist() == [0, 1, 2]
    assert len(model.explain(X[5:8])) == 3
