"""The decision against scikit-learn: metrics, linear discriminant analysis, log loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import accuracy_score, balanced_accuracy_score, cohen_kappa_score, log_loss

from cogmap.core.constants import PRIOR_EXPONENTS
from cogmap.core.decision import METRICS, argmax_decision, class_shares, discriminant_decision, score_labels

LABEL_METRICS = {
    "kappa": cohen_kappa_score,
    "accuracy": accuracy_score,
    "balanced_accuracy": balanced_accuracy_score,
}


def gaussian_classes(rng, counts, n_features=4, distance=1.5):
    """Return rows of Gaussian classes with one covariance, and their codes."""
    codes = np.repeat(np.arange(len(counts)), counts)
    means = distance * rng.normal(size=(len(counts), n_features))
    noise = rng.normal(size=(len(codes), n_features)) @ rng.normal(size=(n_features, n_features))
    return means[codes] + noise, codes


def regression_scores(X, codes, weight=None):
    """Return the least-squares scores of the classes, as a readout gives them, on the scale of f⁻¹."""
    root = np.sqrt(np.ones(len(X)) if weight is None else weight)[:, None]
    F = np.c_[np.ones(len(X)), X]
    target = 9.2 * np.eye(codes.max() + 1)[codes] - 4.6
    return F @ np.linalg.lstsq(F * root, target * root, rcond=None)[0]


def noisy_scores(rng, counts, strength=1.0):
    """Return class scores as leave-one-out has them: one-hot plus noise."""
    codes = np.repeat(np.arange(len(counts)), counts)
    return strength * np.eye(len(counts))[codes] + rng.normal(size=(len(codes), len(counts))), codes


@given(
    pairs=st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3), st.floats(0.1, 5)), min_size=2, max_size=30).filter(
        lambda pairs: {p for p, _, _ in pairs} <= {c for _, c, _ in pairs} and len({c for _, c, _ in pairs}) > 1
    )
)
def test_metrics_equal_scikit_learn(pairs):
    predicted, codes, weight = (np.array(column) for column in zip(*pairs, strict=True))
    for metric, reference in LABEL_METRICS.items():
        expected = reference(codes, predicted, sample_weight=weight)
        assert score_labels(metric, predicted, codes, weight) == pytest.approx(expected, abs=1e-10)


def test_kappa_of_a_single_class_is_zero():
    assert score_labels("kappa", np.zeros(4, dtype=int), np.zeros(4, dtype=int), np.ones(4)) == 0


def test_class_shares_are_shares_of_the_weight():
    shares = class_shares(np.array([0, 1, 1, 3]), np.array([2.0, 1.0, 0.5, 0.5]), 4)
    np.testing.assert_allclose(shares, [0.5, 0.375, 0, 0.125])


def discriminant(raw, fitted, codes, weight, metric):
    """Weights are frequencies: one copy of a row is what leaving it out takes away."""
    return discriminant_decision(raw, fitted, codes, weight, np.minimum(1.0, weight), metric)


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize("counts", [(60, 60), (150, 20), (80, 50, 30), (40, 90, 25, 60)])
def test_decoded_scores_are_those_of_linear_discriminant_analysis(counts, metric, rng):
    """Optimal scoring of least-squares scores is Fisher's discriminant; the exponent τ makes the prior π^τ."""
    X, codes = gaussian_classes(rng, counts)
    raw = regression_scores(X, codes)
    decision = discriminant(raw, raw, codes, np.ones(len(X)), metric)
    decoded, prior = decision(raw), np.bincount(codes) / len(codes)
    means = np.array([X[codes == k].mean(axis=0) for k in range(len(counts))])
    pooled = np.linalg.inv((X - means[codes]).T @ (X - means[codes]) / (len(X) - len(counts)))
    apart = X[:, None] - means
    expected = decision.prior_exponent * np.log(prior) - np.einsum("nki,ij,nkj->nk", apart, pooled, apart) / 2
    np.testing.assert_allclose(log_softmax(decoded, axis=1), log_softmax(expected, axis=1), rtol=1e-7, atol=1e-7)
    # scikit-learn's versions differ in the divisor of the covariance, which without a prior does not matter.
    lda = LinearDiscriminantAnalysis(priors=np.full(len(counts), 1 / len(counts))).fit(X, codes)
    neutral = decoded - decision.prior_exponent * np.log(prior)
    np.testing.assert_array_equal(neutral.argmax(axis=1), lda.predict(X))
    assert PRIOR_EXPONENTS.min() <= decision.prior_exponent <= PRIOR_EXPONENTS.max()


def test_weight_k_equals_a_row_repeated_k_times(rng):
    X, codes = gaussian_classes(rng, (80, 50, 30))
    times = rng.integers(1, 4, len(X))
    weight = times.astype(float)
    raw = regression_scores(X, codes, weight)
    for metric in METRICS:
        weighted = discriminant(raw, raw, codes, weight, metric)
        again = np.repeat(raw, times, axis=0)
        repeated = discriminant(again, again, np.repeat(codes, times), np.ones(times.sum()), metric)
        np.testing.assert_allclose(weighted(raw), repeated(raw), rtol=1e-7, atol=1e-8)
        assert weighted.sharpness == pytest.approx(repeated.sharpness, rel=1e-5)


@pytest.mark.parametrize("counts", [(60, 60), (200, 15), (50, 30, 70)])
def test_sharpness_has_the_least_log_loss(counts, rng):
    raw, codes = noisy_scores(rng, counts)
    weight = rng.uniform(0.2, 3.0, len(codes))

    def loss(scores, factor):
        return log_loss(codes, softmax(factor * scores, axis=1), sample_weight=weight)

    for decision in (
        argmax_decision(raw, codes, weight, np.array([0.0, 1.0])),
        discriminant(raw, raw, codes, weight, "kappa"),
    ):
        scores, least = decision(raw), loss(decision(raw), decision.sharpness)
        assert all(least <= loss(scores, f) for f in np.logspace(-3, 3, 50))
        up, down = (loss(scores, decision.sharpness * (1 + step)) for step in (0.01, -0.01))
        assert abs(up - down) < 0.02 * (up + down - 2 * least)


def test_argmax_decision_takes_the_scores_as_they_are(rng):
    raw, codes = noisy_scores(rng, (30, 40))
    np.testing.assert_array_equal(argmax_decision(raw, codes, np.ones(70), np.array([0.0, 1.0]))(raw), raw)
    moved = argmax_decision(raw, codes, np.ones(70), np.array([-4.6, 4.6]))
    np.testing.assert_allclose(moved(np.array([[0.0, 1.0]])), [[-4.6, 4.6]])


def test_scores_that_all_tie_give_finite_decisions():
    codes = np.array([0, 1] * 3)
    assert np.isfinite(argmax_decision(np.zeros((6, 2)), codes, np.ones(6), np.array([0.0, 1.0])).sharpness)
    decision = discriminant(np.zeros((6, 2)), np.zeros((6, 2)), codes, np.ones(6), "kappa")
    np.testing.assert_allclose(softmax(decision.sharpness * decision(np.zeros((1, 2))), axis=1), [[0.5, 0.5]])


def test_without_separation_the_priors_are_the_probabilities():
    codes = np.repeat([0, 1], [8, 2])
    outside = np.where(codes[:, None] == [0, 1], 0.7, 0.9)  # leaving a row out lowers its own class
    decision = discriminant(outside, np.tile([0.8, 0.2], (10, 1)), codes, np.ones(10), "kappa")
    np.testing.assert_allclose(softmax(decision.sharpness * decision(outside), axis=1), np.tile([0.8, 0.2], (10, 1)))


def test_a_class_of_one_row_is_judged_from_inside(rng):
    raw, codes = noisy_scores(rng, (30, 30, 1))
    fitted = np.eye(3)[codes]
    assert discriminant(np.zeros_like(raw), fitted, codes, np.ones(61), "accuracy")(fitted[-1:]).argmax() == 2


@pytest.mark.parametrize("seed", range(5))
def test_log_loss_is_not_worse_than_with_any_other_exponent(seed):
    raw, codes = noisy_scores(np.random.default_rng(seed), (160, 30, 60))
    decision = discriminant(raw, raw, codes, np.ones(250), "log_loss")
    log_prior = np.log(np.bincount(codes) / 250)
    neutral = decision(raw) - decision.prior_exponent * log_prior
    found = log_loss(codes, softmax(decision.sharpness * decision(raw), axis=1))
    for exponent in PRIOR_EXPONENTS:
        scores = neutral + exponent * log_prior
        best = minimize_scalar(
            lambda f, scores=scores: log_loss(codes, softmax(f * scores, axis=1)), bounds=(0, 20), method="bounded"
        )
        assert found <= best.fun + 1e-9


@pytest.mark.parametrize("metric", LABEL_METRICS)
@pytest.mark.parametrize("seed", range(5))
def test_exponent_serves_the_metric_on_imbalanced_classes(seed, metric):
    """Within one standard error of every exponent that could have been taken, and better than the plain prior."""
    raw, codes = noisy_scores(np.random.default_rng(seed), (900, 60, 40), strength=1.5)
    decision = discriminant(raw, raw, codes, np.ones(1000), metric)
    log_prior = np.log(np.bincount(codes) / 1000)
    neutral = decision(raw) - decision.prior_exponent * log_prior
    reached = LABEL_METRICS[metric](codes, decision(raw).argmax(axis=1))
    others = [LABEL_METRICS[metric](codes, (neutral + t * log_prior).argmax(axis=1)) for t in PRIOR_EXPONENTS]
    hit = np.mean(decision(raw).argmax(axis=1) == codes)
    chance = 0.9**2 + 0.06**2 + 0.04**2 if metric == "kappa" else 0.0
    assert reached >= max(others) - np.sqrt(hit * (1 - hit) / 1000) / (1 - chance)
    if metric == "balanced_accuracy":
        assert decision.prior_exponent < 0.5
        assert reached > others[PRIOR_EXPONENTS.tolist().index(1.0)] + 0.1


def test_perfect_scores_stay_finite_and_are_decoded_exactly(rng):
    codes = np.repeat([0, 1, 2], [30, 10, 5])
    raw = 9.2 * np.eye(3)[codes] - 4.6
    for metric in METRICS:
        decision = discriminant(raw, raw, codes, np.ones(45), metric)
        assert np.isfinite(decision(raw)).all()
        assert np.isfinite([decision.prior_exponent, decision.sharpness]).all()
        np.testing.assert_array_equal(decision(raw).argmax(axis=1), codes)
        assert softmax(decision.sharpness * decision(raw), axis=1)[np.arange(45), codes].min() > 0.99


@pytest.mark.parametrize("noise", [0.0, 1e-12, 1.0])
@pytest.mark.parametrize("metric", METRICS)
def test_order_of_rows_and_of_classes_does_not_matter(metric, noise, rng):
    """A perfect fit leaves the rotation of the discriminant variables undetermined; the decision must not see it."""
    codes = np.repeat([0, 1, 2, 3], [30, 30, 30, 10])
    raw = 9.2 * np.eye(4)[codes] - 4.6 + noise * rng.normal(size=(100, 4))
    decision = discriminant(raw, raw, codes, np.ones(100), metric)
    new = rng.normal(size=(50, 4))
    order, classes = rng.permutation(100), np.array([2, 0, 3, 1])
    again = discriminant(
        raw[order][:, classes], raw[order][:, classes], np.argsort(classes)[codes[order]], np.ones(100), metric
    )
    expected = log_softmax(decision.sharpness * decision(new), axis=1)
    found = log_softmax(again.sharpness * again(new[:, classes]), axis=1)
    np.testing.assert_allclose(found, expected[:, classes], atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("metric", METRICS)
@pytest.mark.parametrize(("factor", "shift"), [(0.1, 0.0), (25.0, 0.0), (1.0, 3.0), (4.0, -7.0)])
def test_affine_change_of_the_raw_scores_does_not_change_the_decision(factor, shift, metric, rng):
    raw, codes = noisy_scores(rng, (120, 40, 30))
    new, weight = rng.normal(size=(200, 3)), rng.uniform(0.5, 2.0, 190)
    shift = shift * np.array([1.0, -0.3, 0.7])
    decision = discriminant(raw, raw, codes, weight, metric)
    changed = factor * raw + shift
    again = discriminant(changed, changed, codes, weight, metric)
    decoded = again(factor * new + shift)
    np.testing.assert_array_equal(decoded.argmax(axis=1), decision(new).argmax(axis=1))
    np.testing.assert_allclose(log_softmax(decoded, axis=1), log_softmax(decision(new), axis=1), rtol=1e-8, atol=1e-8)
