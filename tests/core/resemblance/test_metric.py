"""The learned metric against kernel ridges solved naively, finite differences, and rows it has not seen."""

import numpy as np
import pytest
from scipy.linalg import expm, logm
from scipy.spatial.distance import cdist, pdist

from cogmap.core.constants import CASE_PENALTIES, METRIC_FLOOR, METRIC_FOLDS, METRIC_JUDGES, SQUARE_ROWS
from cogmap.core.resemblance import metric as metrics
from cogmap.core.resemblance.distance import Metric
from cogmap.core.resemblance.metric import (
    Examples,
    Kind,
    Ridge,
    first_metric,
    learn_metrics,
    mean_metric,
    n_choosing,
    spread,
    taught_metric,
)
from tests.core.resemblance.test_cases import CDIST, WEIGHTS, bordered, weights


def examples(rng, n=60, m=4, kind="fractional"):
    initial = rng.random((n, m))
    signal = np.sin(6 * initial[:, 0]) + 0.2 * initial[:, 1]
    codes = (signal + 0.1 * rng.normal(size=n) > 0).astype(np.intp)
    return Examples(initial, np.eye(2)[codes], weights(kind, n, rng)[0]), codes


KINDS = [Kind(False), Kind(True), Kind(False, "straight"), Kind(True, "axes")]


def some_metric(rng, m=4, distance="squared"):
    if distance == "axes":
        return Metric(rng.random(m), np.diag(rng.uniform(0.5, 2, m)), distance)
    return Metric(rng.random(m), np.eye(m) + rng.normal(size=(m, m)) / 5, distance)


def similar(metric, one, other):
    """Return exp(−distance) as scipy has it."""
    return np.exp(-cdist(metric(one), metric(other), CDIST[metric.distance]))


@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("distance", CDIST)
def test_a_ridge_is_the_bordered_system(distance, kind, rng):
    rows, _ = examples(rng, kind=kind)
    judged, _ = examples(rng, 20)
    metric = some_metric(rng, distance=distance)
    ridge = Ridge.of(rows, metric, judged)
    found = ridge.coefficients(5)
    Z, V = rows.initial, judged.initial
    a, q = bordered(similar(metric, Z, Z), rows.target, CASE_PENALTIES[5] / rows.weight)
    np.testing.assert_allclose(found[0], a, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found[1], q, rtol=1e-6)
    error = judged.weight @ ((similar(metric, V, Z) @ a + q - judged.target) ** 2).sum(axis=1)
    assert ridge.judgement(5).error == pytest.approx(error)
    np.testing.assert_allclose(ridge.judgement(5).coefficients, found[0], rtol=1e-9, atol=1e-12)


def test_the_slope_is_the_change_of_the_error_from_one_penalty_to_the_next(rng, monkeypatch):
    rows, judged = examples(rng)[0], examples(rng, 20)[0]
    ridge = Ridge.of(rows, some_metric(rng), judged)
    slope, h, errors = ridge.judgement(5).slope, 1e-4, []
    for step in (h, -h):
        monkeypatch.setattr(metrics, "CASE_PENALTIES", CASE_PENALTIES * (CASE_PENALTIES[1] / CASE_PENALTIES[0]) ** step)
        errors.append(ridge.judgement(5).error)
    assert slope == pytest.approx((errors[0] - errors[1]) / (2 * h), rel=1e-6)


@pytest.mark.parametrize("start", [0, 3, 9])
def test_the_penalty_is_that_of_the_least_error(start, rng, monkeypatch):
    monkeypatch.setattr(metrics, "METRIC_WORTH", 0.0)
    ridge = Ridge.of(examples(rng, 200)[0], some_metric(rng), examples(rng, 100)[0])
    errors = [ridge.judgement(penalty).error for penalty in range(len(CASE_PENALTIES))]
    error, found, (coefficients,) = metrics._penalised([ridge], start)
    assert found == np.argmin(errors)
    assert error == pytest.approx(min(errors), rel=1e-12)
    np.testing.assert_allclose(coefficients, ridge.coefficients(found)[0], rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize(("most", "at"), [(60, range(30)), (6, [0, 14, 29])])
@pytest.mark.parametrize("distance", CDIST)
def test_directions_are_the_outer_products_of_gradients(distance, most, at, rng, monkeypatch):
    """Against central differences of the scores; a row's resemblance to itself has no gradient."""
    monkeypatch.setattr(metrics, "METRIC_GRADIENTS", {29: 1, 30: most})
    rows, _ = examples(rng, 30)
    metric = some_metric(rng, distance=distance)
    ridge = Ridge.of(rows, metric)
    a = rng.normal(size=(30, 2))

    def score(x, i):
        others = np.delete(np.arange(30), i)
        return similar(metric, x[None], rows.initial[others])[0] @ a[others]

    expected, h = np.zeros((4, 4)), 1e-5
    for i in at:
        x = rows.initial[i]
        gradient = np.array([(score(x + h * e, i) - score(x - h * e, i)) / (2 * h) for e in np.eye(4)])
        expected += rows.weight[i] * gradient @ gradient.T
    expected = np.diag(np.diagonal(expected)) if distance == "axes" else expected
    np.testing.assert_allclose(ridge.directions(a, distance == "axes"), expected, rtol=1e-6, atol=1e-8)


def test_rows_that_agree_along_an_axis_pull_neither_way(rng):
    """Where all rows agree in a concept, scores cannot depend on it; a difference to one side would say they do."""
    rows, _ = examples(rng, 30)
    rows.initial[:, 2] = 0.3
    found = Ridge.of(rows, some_metric(rng, distance="axes")).directions(rng.normal(size=(30, 2)), True)
    assert found[2, 2] == 0 < np.diagonal(found)[[0, 1, 3]].min()


def test_of_many_rows_some_say_how_scores_change_along_axes(rng, monkeypatch):
    rows, _ = examples(rng, 30)
    ridge, a = Ridge.of(rows, some_metric(rng, distance="axes")), rng.normal(size=(30, 2))
    monkeypatch.setattr(metrics, "METRIC_GRADIENTS", {30: 6})
    few = ridge.directions(a, True)
    monkeypatch.undo()
    monkeypatch.setattr(metrics, "AXES_ROWS", 3)
    np.testing.assert_array_equal(ridge.directions(a, True), few)


def test_directions_of_single_concepts_are_the_diagonal(rng):
    rows, _ = examples(rng, 30)
    ridge = Ridge.of(rows, Metric(rng.random(4), np.diag(rng.uniform(0.5, 2, 4)), "squared"))
    a = rng.normal(size=(30, 3))
    expected = np.diag(np.diagonal(ridge.directions(a, False)))
    np.testing.assert_allclose(ridge.directions(a, True), expected, rtol=1e-12)


@pytest.mark.parametrize(("n_classes", "left"), [(2, 1), (5, 4)])
def test_classes_whose_coefficients_add_up_to_zero_are_one_fewer(n_classes, left, rng):
    a = rng.normal(size=(30, n_classes))
    a -= a.mean(axis=1, keepdims=True)
    found = metrics._combined(a)
    assert found.shape == (30, left)
    np.testing.assert_allclose(found @ found.T, a @ a.T, atol=1e-12)


@pytest.mark.parametrize("power", [0.5, 1.0])
@pytest.mark.parametrize("kind", KINDS)
def test_a_taught_metric_stretches_along_what_matters(kind, power, rng):
    rows, _ = examples(rng, 200, kind="ones")
    directions = np.outer([3.0, 4.0, 0, 0], [3.0, 4.0, 0, 0])
    metric = taught_metric(rows, directions, kind, power)
    assert metric.distance == kind.distance
    assert (pdist(metric(rows.initial)) ** 2).mean() == pytest.approx(1, rel=1 / 150)
    root = np.diag([0.75 ** (2 * power), 1, 0, 0]) if kind.single else directions / 25
    expected = root + METRIC_FLOOR * np.eye(4)
    np.testing.assert_allclose(metric.map / metric.map[1, 1], expected / expected[1, 1], atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_the_first_metric_has_unit_mean_square_distance(kind, rng):
    rows, _ = examples(rng, 300, kind="ones")
    assert (pdist(first_metric(rows, kind)(rows.initial)) ** 2).mean() == pytest.approx(1, rel=1 / 250)


@pytest.mark.parametrize("n", [40, 700, 2000, pytest.param(7000, marks=pytest.mark.slow)])
@pytest.mark.parametrize("distance", ["straight", "axes"])
def test_a_learned_metric_forgets_what_is_noise(distance, n, rng):
    rows, codes = examples(rng, n, kind="ones")
    every = learn_metrics(rows, codes, distance)
    taught = "squared" if distance == "straight" and n >= SQUARE_ROWS else distance
    for learned in every:
        assert {learned.metric.distance, *(own.distance for _, own in learned.folds)} == {taught}
        stretch = np.sqrt((learned.metric.map**2).sum(axis=1))
        assert stretch[0] > 3 * stretch[2:].max()
        if learned.folds:
            assert sorted(np.concatenate([judged for judged, _ in learned.folds])) == list(range(n))
    if n > max(METRIC_FOLDS):
        alone = [np.count_nonzero(learned.metric.map) == rows.initial.shape[1] for learned in every]
        assert alone == ([True] if distance == "axes" else [False, True])


@pytest.mark.parametrize("distance", ["straight", "axes"])
def test_a_fold_is_judged_by_a_metric_that_knows_nothing_of_it(distance, rng):
    """Where noise is all there is, honest scores are no better than the shares of the classes."""
    noise = Examples(rng.random((120, 30)), np.eye(2)[rng.integers(0, 2, 120)], np.ones(120))
    [learned] = learn_metrics(noise, noise.target.argmax(axis=1), distance)
    error = 0.0
    for judged, metric in learned.folds:
        others = noise.some(np.setdiff1d(np.arange(120), judged))
        ridge = Ridge.of(others, metric, noise.some(judged))
        error += ridge.judgement(learned.penalty).error
    assert error / 120 > 0.45


@pytest.mark.parametrize(
    ("sizes", "n"), [([600], 1), ([100, 100], 1), ([99, 99, 99], 2), ([9, 9, 9], 3), ([60, 30, 10, 5], 3)]
)
def test_as_few_folds_choose_as_have_rows_enough(sizes, n):
    assert METRIC_JUDGES == 100
    assert n_choosing(sizes) == n


@pytest.mark.parametrize("kind", KINDS)
def test_metrics_that_follow_are_taught_as_those_that_choose(kind, rng):
    lessons = [metrics.Lesson(examples(rng, 80)[0], examples(rng, 40)[0]) for _ in range(2)]
    walk = metrics._walk(lessons, kind)
    assert len(walk.penalties) > 1
    # Large steps are taken along the axes alone.
    assert walk.powers[0] == (1 if kind.distance == "axes" else 0.5)
    for lesson, expected in zip(lessons, walk.metrics, strict=True):
        found = metrics._followed(lesson.taught, walk)
        np.testing.assert_allclose(found.map, expected.map, rtol=1e-9, atol=1e-12)
        np.testing.assert_allclose(found.mean, expected.mean)


@pytest.mark.parametrize("kind", KINDS)
def test_the_mean_of_metrics_is_that_of_their_logarithms(kind, rng):
    rows, _ = examples(rng, 50)
    directions = [np.diag(rng.uniform(size=4)) if kind.single else np.cov(rng.normal(size=(4, 9))) for _ in range(3)]
    taught = [taught_metric(rows, one, kind, 0.5) for one in directions]
    found = mean_metric(rows, taught)
    expected = expm(sum(logm(one.map) for one in taught) / 3)
    np.testing.assert_allclose(found.map / np.trace(found.map), expected / np.trace(expected), atol=1e-12)
    assert found.distance == kind.distance


def test_samples_are_spread_over_the_classes():
    codes = np.repeat([0, 1, 2], [300, 150, 50])
    order = spread(codes)
    assert sorted(order) == list(range(500))
    np.testing.assert_allclose(np.bincount(codes[order[::5]]), [60, 30, 10], atol=1)
