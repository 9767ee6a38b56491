"""The decision against scikit-learn: metrics, linear discriminant analysis, log loss."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import log_softmax, softmax
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import accuracy_score, balanced_accuracy_score, cohen_kappa_score

from cogmap.core.decision import decision as decision_module
from cogmap.core.decision.decision import (
    METRICS,
    calibrate,
    class_covariance,
    class_shares,
    decide,
    evidence_directions,
    judged_rows,
    optimal_scores,
    score_labels,
)
from cogmap.core.sums.rows import JudgeScores

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
    np.testing.assert_allclose(class_shares(np.array([0, 0]), np.ones(2), 3), [1, 0, 0])


def test_directions_that_belong_together_share_their_mean():
    means = decision_module._within(np.array([0, 2, 2, 2, 3, 3]), np.array([5.0, 1.0, 2.0, 6.0, -1.0, 0.0]))
    np.testing.assert_allclose(means, [5, 3, 3, 3, -0.5, -0.5])


def discriminant(raw, fitted, codes, weight, metric, corrected=True):
    """Weights are frequencies: one copy of a row is what leaving it out takes away."""
    judged = judged_rows(raw, fitted, codes, weight, np.minimum(1.0, weight))
    return decide(judged, class_covariance(fitted, codes, weight), metric, np.array([0.0, 1.0]), corrected)


def largest(raw, codes, weight, scale=(0.0, 1.0)):
    return decide(JudgeScores(raw, codes, weight), np.eye(raw.shape[1]), None, np.array(scale))


def smoothed_loss(scores, codes, weight):
    """Return the log loss by its definition, each row being of every class with a share of 1 / (n + 2)."""
    n, prior = weight.sum(), np.bincount(codes, weight) / weight.sum()
    target = np.eye(scores.shape[1])[codes] * (1 - 1 / (n + 2)) + prior / (n + 2)
    return -weight @ (target * log_softmax(scores, axis=1)).sum(axis=1) / n


@pytest.mark.parametrize("counts", [(60, 60), (150, 20), (80, 50, 30), (40, 90, 25, 60)])
def test_decoded_scores_are_those_of_linear_discriminant_analysis(counts, rng):
    """Optimal scoring of least-squares scores is Fisher's discriminant; s and c weigh its densities and the prior."""
    X, codes = gaussian_classes(rng, counts)
    raw, prior = regression_scores(X, codes), np.bincount(codes) / len(codes)
    decision = discriminant(raw, raw, codes, np.ones(len(X)), "accuracy", corrected=False)
    means = np.array([X[codes == k].mean(axis=0) for k in range(len(counts))])
    within = (X - means[codes]).T @ (X - means[codes])
    between = (means[codes] - X.mean(axis=0)).T @ (means[codes] - X.mean(axis=0)) / len(X)
    # One more row, as far from its class as classes are from each other, belongs to the covariance along each variable.
    pooled = np.linalg.pinv((within + between) / (len(X) - len(counts) + 1))
    apart = X[:, None] - means
    density = -np.einsum("nki,ij,nkj->nk", apart, pooled, apart) / 2
    parts = np.stack([density, np.broadcast_to(np.log(prior), density.shape)])
    best = minimize(
        lambda f: smoothed_loss(np.tensordot(f, parts, axes=1), codes, np.ones(len(X))), [1.0, 1.0], tol=1e-14
    )
    expected = np.tensordot(best.x, parts, axes=1)
    found = log_softmax(decision(raw), axis=1)
    np.testing.assert_allclose(found, log_softmax(expected, axis=1), rtol=2e-4, atol=2e-4)
    lda = LinearDiscriminantAnalysis(priors=np.full(len(counts), 1 / len(counts))).fit(X, codes)
    neutral = decision(raw) - best.x[1] * np.log(prior)
    assert (neutral.argmax(axis=1) == lda.predict(X)).mean() > 0.98


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
        np.testing.assert_allclose(weighted.shift, repeated.shift, rtol=1e-7, atol=1e-8)


@given(
    st.integers(0, 10_000),
    st.sampled_from([(6, 6), (40, 5), (12, 9, 7)]),
    st.floats(0.3, 30),
    st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_calibration_has_the_least_smoothed_log_loss(seed, counts, strength, unit):
    """Convex, so no other factors are better: neither near ones nor far ones."""
    rng = np.random.default_rng(seed)
    scores, codes = noisy_scores(rng, counts, strength)
    weight = rng.uniform(0.2, 3.0, len(codes))
    log_prior = np.log(np.bincount(codes, weight) / weight.sum())
    judged = JudgeScores(scores, codes, weight)
    factors = calibrate([unit * scores, log_prior[None]], judged, np.array([0.0, 1.0]))
    assert factors[0] >= 0

    def loss(s, c):
        return smoothed_loss(s * unit * scores + c * log_prior, codes, weight)

    least = loss(*factors)
    steps = (-1.0, -0.1, -1e-3, 1e-3, 0.1, 1.0)
    tried = [factors + np.array([a / unit, b]) * step for step in steps for a, b in ((1, 0), (0, 1), (1, 1), (1, -1))]
    assert all(least <= loss(*f) + 1e-10 for f in tried if f[0] >= 0)


@given(st.integers(0, 10_000), st.sampled_from([(20, 20), (40, 5), (12, 9, 7)]))
def test_bounded_factors_have_the_least_log_loss_of_those_that_are_not_negative(seed, counts):
    """At the bound the loss may only grow, elsewhere it is level: by differences."""
    rng = np.random.default_rng(seed)
    scores, codes = noisy_scores(rng, counts, 1.0)
    parts = [scores, scores + rng.normal(size=scores.shape), rng.normal(size=scores.shape), -scores]
    weight = rng.uniform(0.2, 3.0, len(codes))
    factors = calibrate(parts, JudgeScores(scores, codes, weight), np.array([0.0, 0.2, 0.0, 1.0]), 4)

    def loss(given):
        return smoothed_loss(np.tensordot(given, parts, 1), codes, weight)

    slope = np.array([(loss(factors + step) - loss(factors - step)) / 2e-4 for step in 1e-4 * np.eye(4)])
    assert (factors >= 0).all()
    assert np.where(factors > 0, np.abs(slope), -slope).max() < 1e-5


@pytest.mark.parametrize("metric", [None, *METRICS])
def test_probabilities_stay_calibrated_whatever_the_metric(metric, rng):
    """Only the label moves with the metric: over the rows, probabilities add up to the classes' shares."""
    raw, codes = noisy_scores(rng, (400, 60, 40), 2.0)
    weight = np.ones(len(codes))
    decision = discriminant(raw, raw, codes, weight, metric) if metric else largest(raw, codes, weight)
    if metric:
        reference = discriminant(raw, raw, codes, weight, "accuracy")
        np.testing.assert_array_equal(decision(raw), reference(raw))
        shares = np.bincount(codes) / len(codes)
        # The least log loss over the offset of a class balances its probabilities with its share, but for a ridge.
        np.testing.assert_allclose(softmax(decision(raw), axis=1).mean(axis=0), shares, atol=1e-4)
        # Without it, the factor of log prior balances Σ p · log prior with that of the classes.
        plain = softmax(discriminant(raw, raw, codes, weight, metric, corrected=False)(raw), axis=1)
        assert plain.mean(axis=0) @ np.log(shares) == pytest.approx(shares @ np.log(shares), abs=1e-6)
    if metric in (None, "accuracy"):
        np.testing.assert_array_equal(decision.codes(decision(raw)), decision(raw).argmax(axis=1))


def test_the_largest_score_decides_as_it_is(rng):
    raw, codes = noisy_scores(rng, (30, 40))
    for scale in ((0.0, 1.0), (-4.6, 4.6)):
        decision = largest(raw, codes, np.ones(70), scale)
        np.testing.assert_array_equal(decision.codes(decision(raw)), raw.argmax(axis=1))
        decided = scale[0] + (scale[1] - scale[0]) * raw
        ratio = np.ptp(decision(raw), axis=1) / np.ptp(decided, axis=1)
        np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)


def test_scores_that_all_tie_give_finite_decisions():
    codes, weight = np.array([0, 1] * 3), np.ones(6)
    assert np.isfinite(largest(np.zeros((6, 2)), codes, weight)(np.ones((1, 2)))).all()
    decision = discriminant(np.zeros((6, 2)), np.zeros((6, 2)), codes, weight, "kappa")
    np.testing.assert_allclose(softmax(decision(np.zeros((1, 2))), axis=1), [[0.5, 0.5]])
    assert not decision.informed


def test_without_separation_the_priors_are_the_probabilities():
    codes = np.repeat([0, 1], [8, 2])
    outside = np.where(codes[:, None] == [0, 1], 0.7, 0.9)  # leaving a row out lowers its own class
    decision = discriminant(outside, np.tile([0.8, 0.2], (10, 1)), codes, np.ones(10), "kappa")
    np.testing.assert_allclose(softmax(decision(outside), axis=1), np.tile([0.8, 0.2], (10, 1)))


@pytest.mark.parametrize("counts", [(20, 20), (30, 10), (12, 12, 12)])
@pytest.mark.parametrize("metric", METRICS)
def test_scores_that_point_away_from_the_class_are_not_turned_around(counts, metric):
    """The fit is perfect, and what a row gets when it is left out is the mean of all others: no information."""
    codes = np.repeat(np.arange(len(counts)), counts)
    fitted = np.eye(len(counts))[codes]
    outside = (fitted.sum(axis=0) - fitted) / (len(codes) - 1)
    decision = discriminant(outside, fitted, codes, np.ones(len(codes)), metric)
    assert not decision.informed
    shares = np.bincount(codes) / len(codes)
    np.testing.assert_allclose(softmax(decision(fitted), axis=1), np.tile(shares, (len(codes), 1)))


@given(st.integers(0, 10_000), st.sampled_from([(5, 5), (20, 6), (9, 40)]), st.floats(-3, 3))
def test_more_score_for_one_of_two_classes_never_makes_it_less_likely(seed, counts, strength):
    rng = np.random.default_rng(seed)
    outside, codes = noisy_scores(rng, counts, strength)
    fitted = noisy_scores(rng, counts, rng.uniform(0, 3))[0]
    fitted -= (fitted.sum(axis=1, keepdims=True) - 1) / 2
    # A least-squares fit has a positive covariance with its target.
    if class_covariance(fitted, codes, np.ones(len(codes)))[0, 0] < 0:
        fitted = fitted[:, ::-1]
    decision = discriminant(outside, fitted, codes, np.ones(len(codes)), "accuracy")
    less = rng.normal(size=(20, 2))
    more = less + np.array([0.7, 0.0])
    assert (softmax(decision(more), axis=1)[:, 0] >= softmax(decision(less), axis=1)[:, 0] - 1e-12).all()


def test_a_class_of_one_row_is_judged_from_inside(rng):
    raw, codes = noisy_scores(rng, (30, 30, 1))
    fitted = np.eye(3)[codes]
    judged = judged_rows(raw, fitted, codes, np.ones(61), np.ones(61))
    np.testing.assert_array_equal(judged.raw[:60], raw[:60])
    np.testing.assert_array_equal(judged.raw[60], fitted[60])


@pytest.mark.parametrize("metric", ["kappa", "balanced_accuracy"])
@pytest.mark.parametrize("seed", range(5))
def test_the_shift_serves_the_metric_on_imbalanced_classes(seed, metric):
    """Within two standard errors of every multiple of the log prior, and better than none."""
    raw, codes = noisy_scores(np.random.default_rng(seed), (900, 60, 40), strength=1.5)
    decision = discriminant(raw, raw, codes, np.ones(1000), metric)
    log_prior = np.log(np.bincount(codes) / 1000)
    ratio = (decision.shift - decision.shift.mean()) / (log_prior - log_prior.mean())
    np.testing.assert_allclose(ratio, ratio[0], rtol=1e-9)
    predicted = decision.codes(decision(raw))
    reached = LABEL_METRICS[metric](codes, predicted)
    others = [
        LABEL_METRICS[metric](codes, (decision(raw) + t * log_prior).argmax(axis=1)) for t in np.linspace(-1.5, 0.5, 21)
    ]
    hit, counts = np.mean(predicted == codes), np.array([900, 60, 40])
    error = np.sqrt(hit * (1 - hit) / 1000) / (1 - ((counts / 1000) ** 2).sum())
    error = np.sqrt((0.25 / counts).sum()) / 3 if metric == "balanced_accuracy" else error
    assert reached >= max(others) - 2 * error
    if metric == "balanced_accuracy":
        assert reached > LABEL_METRICS[metric](codes, decision(raw).argmax(axis=1)) + 0.1


def test_perfect_scores_stay_finite_and_modest():
    """45 rows without a contradiction are worth no more than about one error in 47."""
    codes = np.repeat([0, 1, 2], [30, 10, 5])
    raw = 9.2 * np.eye(3)[codes] - 4.6
    for metric in METRICS:
        decision = discriminant(raw, raw, codes, np.ones(45), metric)
        probability = softmax(decision(raw), axis=1)
        np.testing.assert_array_equal(decision.codes(decision(raw)), codes)
        assert 1 / 500 < 1 - probability[np.arange(45), codes].min() < 0.05


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
    expected, found = log_softmax(decision(new), axis=1), log_softmax(again(new[:, classes]), axis=1)
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
    np.testing.assert_array_equal(again.codes(decoded), decision.codes(decision(new)))
    np.testing.assert_allclose(log_softmax(decoded, axis=1), log_softmax(decision(new), axis=1), rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_evidence_is_the_log_odds_of_a_class(n_classes, rng):
    scores = 3 * rng.normal(size=(20, n_classes))
    log_probability = log_softmax(scores, axis=1)
    evidence = scores @ evidence_directions(n_classes)
    for k in range(n_classes):
        others = log_probability[:, 1 - k] if n_classes == 2 else log_probability.mean(axis=1)
        np.testing.assert_allclose(evidence[:, k], log_probability[:, k] - others, atol=1e-12)
    if n_classes > 2:
        np.testing.assert_allclose(softmax(evidence, axis=1), softmax(scores, axis=1), atol=1e-14)


def orthonormal_scorings(rng, prior):
    """Return scorings θ of the classes, orthonormal under the prior, and orthogonal to the constant one."""
    root = np.sqrt(prior)
    Q = np.linalg.qr(np.c_[root, rng.normal(size=(len(prior), len(prior) - 1))])[0][:, 1:]
    return Q / root[:, None]


def between_of(theta, values, prior):
    """Return the covariance of the one-hot with scores that explain these shares of the scorings' variance."""
    return (prior[:, None] * theta * values) @ (prior[:, None] * theta).T


@pytest.mark.parametrize(
    ("values", "groups"),
    [
        ([1.0, 1.0, 1.0], [0, 0, 0]),
        ([1.0, 1.0, 0.4], [0, 0, 1]),
        ([0.8, 0.3, 0.3], [0, 1, 1]),
        ([0.8, 0.5, 0.2], [0, 1, 2]),
        ([0.8, 0.5, 1e-9], [0, 1]),
    ],
)
def test_scorings_along_which_scores_differ_equally_belong_together(values, groups, rng):
    prior = np.array([0.4, 0.3, 0.2, 0.1])
    known = orthonormal_scorings(rng, prior)
    theta, group = optimal_scores(between_of(known, values, prior), prior)
    assert (group - group[0]).tolist() == groups
    np.testing.assert_allclose((prior[:, None] * theta).T @ theta, np.eye(len(groups)), atol=1e-10)
    for k in set(groups):
        mine, theirs = theta[:, np.array(groups) == k], known[:, : len(groups)][:, np.array(groups) == k]
        # The same span, whatever basis of it: each is what the other explains of it.
        np.testing.assert_allclose(mine @ (mine.T @ (prior[:, None] * theirs)), theirs, atol=1e-6)


def test_a_perfect_fit_makes_all_scorings_one_group(rng):
    codes, weight = np.repeat([0, 1, 2, 3], [40, 30, 20, 10]), rng.uniform(0.5, 2, 100)
    one_hot = np.eye(4)[codes]
    theta, group = optimal_scores(class_covariance(one_hot, codes, weight), class_shares(codes, weight, 4))
    assert theta.shape == (4, 3)
    assert len(set(group.tolist())) == 1


@pytest.mark.parametrize("seed", range(5))
def test_the_basis_of_a_group_does_not_change_the_decision(seed):
    """A perfect fit whose scores from outside are not perfect: rounding alone chooses θ within the group."""
    rng = np.random.default_rng(seed)
    raw, codes = noisy_scores(rng, [60, 40, 30, 20], strength=2.0)
    judged, prior = JudgeScores(raw, codes, np.ones(150)), class_shares(codes, np.ones(150), 4)
    between = class_covariance(np.eye(4)[codes], codes, np.ones(150))
    theta, group = optimal_scores(between, prior)
    expected = decision_module._discriminants(judged, theta, group, prior).densities
    rotated = theta @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    found = decision_module._discriminants(judged, rotated, group, prior).densities
    for mine, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(mine, theirs, atol=1e-10)
    noise = 1e-13 * rng.normal(size=(4, 4))
    one, other = (
        decide(judged, covariance, "accuracy", np.array([0.0, 1.0])) for covariance in (between, between + noise)
    )
    np.testing.assert_allclose(other(raw), one(raw), atol=1e-8 * np.abs(one(raw)).max())
    assert one.informed


def test_variables_of_different_groups_are_each_divided_by_their_own_spread(rng):
    """Here the rotation matters: without groups, each variable has a spread of its own."""
    raw, codes = noisy_scores(rng, [60, 40, 30, 20], strength=2.0)
    raw[:, 0] *= 3
    judged, prior = JudgeScores(raw, codes, np.ones(150)), class_shares(codes, np.ones(150), 4)
    theta = orthonormal_scorings(rng, prior)
    rotated = theta @ np.linalg.qr(rng.normal(size=(3, 3)))[0]
    apart = np.arange(3)
    one, other = (
        decision_module._discriminants(judged, basis, apart, prior).densities[0] for basis in (theta, rotated)
    )
    assert np.abs(one - other).max() > 1e-3


@pytest.mark.parametrize("scale", [(0.0, 1.0), (-1.0, 2.0), (0.2, 0.5)])
def test_the_largest_score_decides_with_the_sharpness_of_the_smallest_log_loss(scale, rng):
    """Scores are on the scale of the one-hot; the decision sees them between `zero` and `one`."""
    codes, weight = rng.integers(0, 3, 120), rng.uniform(0.5, 2, 120)
    raw = 0.4 * np.eye(3)[codes] + rng.normal(scale=0.3, size=(120, 3))
    zero, one = scale
    shown = zero + (one - zero) * raw
    best = minimize(lambda s: smoothed_loss(s * shown, codes, weight), [1.0], tol=1e-14)
    decision = largest(raw, codes, weight, scale)
    np.testing.assert_allclose(decision(raw), best.x * shown, rtol=2e-4)
    np.testing.assert_array_equal(decision.codes(decision(raw)), raw.argmax(axis=1))


def test_the_largest_score_decides_also_where_it_says_nothing(rng):
    """The scores speak against the classes: no factor makes sense, and log-odds differ by a thousandth at most."""
    codes = rng.integers(0, 3, 120)
    raw = rng.normal(scale=0.1, size=(120, 3)) - np.eye(3)[codes] + 5 * rng.random((120, 1))
    decision = largest(raw, codes, np.ones(120), (-1.0, 2.0))
    np.testing.assert_array_equal(decision.codes(decision(raw)), raw.argmax(axis=1))
    assert np.ptp(decision(raw), axis=1).max() == pytest.approx(1e-3)
