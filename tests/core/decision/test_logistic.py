"""The correction of scores against scikit-learn's logistic regression, differences, and laws."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression

from cogmap.core.decision.decision import class_covariance, decide
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
