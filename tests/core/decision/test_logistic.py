"""The correction of scores against scikit-learn's logistic regression, differences, and laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax, softmax
from sklearn.linear_model import LogisticRegression

from cogmap.core.constants import CORRECTION_RIDGES
from cogmap.core.decision import decision as decision_module
from cogmap.core.decision.decision import class_covariance, class_shares, decide, optimal_scores
from cogmap.core.decision.logistic import Problem, correct
from cogmap.core.sums.rows import JudgeScores


def problem(rng, counts, ridge, strength=1.0):
    codes = np.repeat(np.arange(len(counts)), counts)
    X = strength * np.eye(len(counts))[codes][:, 1:] + rng.normal(size=(len(codes), len(counts) - 1))
    columns = np.column_stack([X, np.ones(len(X))])
    aim = 0.98 * np.eye(len(counts))[codes] + 0.02 / len(counts)
    scores = rng.normal(size=aim.shape)
    return Problem(columns, scores, aim, rng.uniform(0.3, 3.0, len(X)), np.full(len(counts), ridge)), codes


@pytest.mark.parametrize("counts", [(30, 20, 25), (15, 12, 18, 14, 11)])
@pytest.mark.parametrize("ridge", [0.5, 30.0])
def test_from_nothing_it_is_multinomial_logistic_regression(counts, ridge, rng):
    known, codes = problem(rng, counts, ridge)
    plain = known._replace(scores=np.zeros_like(known.scores), aim=np.eye(len(counts))[codes])
    theirs = LogisticRegression(C=1 / ridge, fit_intercept=False, tol=1e-10, max_iter=10_000)
    theirs.fit(plain.columns, codes, plain.weight)
    np.testing.assert_allclose(correct(plain).T, theirs.coef_, atol=1e-5)


@given(
    st.integers(0, 10_000),
    st.sampled_from([(6, 6), (30, 4, 9), (8, 5, 6, 7, 9, 4)]),
    st.sampled_from([0.01, 30.0]),
    st.sampled_from([0.1, 5.0, 100.0]),
)
def test_the_loss_is_level_where_it_ends(seed, counts, ridge, strength):
    """By differences of the loss written out; classes may be as far apart as no row contradicts."""
    known, _ = problem(np.random.default_rng(seed), counts, ridge, strength)

    def loss(theta):
        logs = log_softmax(known.scores + known.columns @ theta, axis=1)
        return -known.weight @ (known.aim * logs).sum(axis=1) + ridge * (theta**2).sum() / 2

    found = correct(known)
    for place in np.ndindex(found.shape):
        step = np.zeros_like(found)
        step[place] = 1e-4
        slope = (loss(found + step) - loss(found - step)) / 2e-4
        assert abs(slope) < 2e-4 * known.weight.sum()


def test_weight_k_equals_a_row_repeated_k_times(rng):
    known, _ = problem(rng, (20, 15, 18), 3.0)
    times = rng.integers(1, 4, len(known.weight))
    repeated = Problem(*(np.repeat(part, times, axis=0) for part in known[:3]), np.ones(times.sum()), known.ridge)
    expected = correct(known._replace(weight=times.astype(float)))
    np.testing.assert_allclose(correct(repeated), expected, atol=1e-8)


@given(st.integers(0, 10_000), st.sampled_from([(40, 40), (90, 12)]), st.floats(0.3, 5))
def test_of_two_classes_nothing_is_corrected(seed, counts, strength):
    """They have one discriminant variable, whose factor and offset the calibration has chosen."""
    rng = np.random.default_rng(seed)
    codes = np.repeat([0, 1], counts)
    raw = strength * np.eye(2)[codes] + rng.normal(size=(len(codes), 2))
    judged, between = JudgeScores(raw, codes, np.ones(len(raw))), class_covariance(raw, codes, np.ones(len(raw)))
    one, other = (decide(judged, between, "accuracy", np.array([0.0, 1.0]), how) for how in (True, False))
    np.testing.assert_array_equal(one(raw), other(raw))


@pytest.mark.parametrize("ridge", [0.01, 0.5])
def test_the_gradient_is_zero_but_for_rounding(ridge):
    """Where Newton's method ends one more step has been taken, so that it does not matter where it ended."""
    for seed in range(8):
        known, _ = problem(np.random.default_rng(seed), (30, 20, 25), ridge)
        found = correct(known)
        missed = softmax(known.scores + known.columns @ found, axis=1) - known.aim
        gradient = known.columns.T @ (known.weight[:, None] * missed) + ridge * found
        assert np.abs(gradient).max() < 1e-10 * known.weight.sum()


def test_scores_that_are_far_off_are_made_better():
    """The loss is so large that its rounding hides the last steps."""
    for seed in range(10):
        known, _ = problem(np.random.default_rng(seed), (30, 20, 25), 1e-3)
        known = known._replace(scores=1e6 * known.scores)
        found = correct(known)
        before, after = (
            -known.weight @ (known.aim * log_softmax(known.scores + known.columns @ theta, axis=1)).sum(axis=1)
            for theta in (np.zeros_like(found), found)
        )
        assert after < before


@pytest.mark.parametrize("counts", [(12, 9, 7), (15, 12, 18, 14)])
def test_what_is_added_to_a_decision_has_the_least_penalised_loss(counts, rng):
    """Ridges are of variables with a spread of 1 within classes; a row is of any class with a share of 1 / (n + 2)."""
    codes, weight = np.repeat(np.arange(len(counts)), counts), rng.uniform(0.3, 2.0, sum(counts))
    raw, one_hot = np.eye(len(counts))[codes] + rng.normal(size=(len(codes), len(counts))), np.eye(len(counts))[codes]
    judged, between = JudgeScores(raw, codes, weight), class_covariance(raw, codes, weight)
    n, prior = weight.sum(), class_shares(codes, weight, len(counts))
    plain, corrected = (decide(judged, between, "accuracy", np.array([0.0, 1.0]), *how) for how in ((False,), ()))
    variables = raw @ optimal_scores(between, prior)[0]
    means = (one_hot * weight[:, None]).T @ variables / (n * prior)[:, None]
    centred = variables - prior @ means
    # One more row, as far from its class as the classes are from each other.
    spread = weight @ (variables - means[codes]) ** 2 + prior @ (means - prior @ means) ** 2
    x = np.c_[centred / np.sqrt(spread / (n - len(counts) + 1)), np.ones(len(raw))]
    added = np.linalg.lstsq(x, corrected(raw) - plain(raw), rcond=None)[0]
    np.testing.assert_allclose(x @ added, corrected(raw) - plain(raw), atol=1e-10)
    aim = one_hot * (1 - 1 / (n + 2)) + prior / (n + 2)
    ridges = np.r_[np.full(len(counts) - 1, CORRECTION_RIDGES[0]), CORRECTION_RIDGES[1]]
    slope = x.T @ (weight[:, None] * (softmax(corrected(raw), axis=1) - aim)) + ridges[:, None] * added
    np.testing.assert_allclose(slope, 0, atol=1e-9 * n)
    assert np.abs(added).max() > 1e-3


@pytest.mark.parametrize(("most", "changes"), [(3, True), (2, False)])
def test_many_classes_are_not_corrected(most, changes, rng, monkeypatch):
    monkeypatch.setattr(decision_module, "CORRECTED_CLASSES", most)
    codes = np.arange(60) % 3
    judged = JudgeScores(np.eye(3)[codes] + rng.normal(size=(60, 3)), codes, np.ones(60))
    ways = (decide(judged, class_covariance(*judged), "accuracy", np.array([0.0, 1.0]), how) for how in (True, False))
    one, other = (decision(judged.raw) for decision in ways)
    assert (np.abs(one - other).max() > 1e-6) == changes


def test_classes_that_are_no_gaussians_are_told_apart_better(rng):
    """A ring around two others has one density along no direction: rows that were not seen are more probable."""
    codes = np.arange(1500) % 3
    spread = np.array([0.05, 0.05, 1.0])[codes]
    raw = np.eye(3)[codes] * np.array([1.0, 1.0, 0.3]) + spread[:, None] * rng.normal(size=(1500, 3))
    seen = np.arange(1500) < 750
    judged = JudgeScores(raw[seen], codes[seen], np.ones(750))
    between = class_covariance(*judged)

    def loss(corrected):
        decision = decide(judged, between, "accuracy", np.array([0.0, 1.0]), corrected)
        logs = log_softmax(decision(raw[~seen]), axis=1)
        return -logs[np.arange(750), codes[~seen]].mean()

    assert loss(True) < 0.98 * loss(False)
