"""Accumulated local effects against functions whose effects are known, a naive computation, and laws."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogmap.core.explain.effect_axis import category_axis, number_axis, quantile_points, weighted_quantile
from cogmap.core.explain.effects import first_order, joint, read_both


def column(function):
    """Return a prediction of one column."""
    return lambda rows: np.asarray(function(*rows.T), dtype=float)[:, None]


def effect_of(function, rows, j, weight=None, bins=10):
    weight = np.ones(len(rows)) if weight is None else weight
    axis = number_axis(rows[:, j], rows[:, [j]], weight, bins)
    return axis, first_order(column(function), rows, np.array([j]), axis, weight)


def naive(function, rows, j, edges):
    """Return the curve at the edges, by loops over bins and rows; a row at an edge is in both bins."""
    curve = [0.0]
    for low, high in pairwise(edges):
        changes = []
        for row in rows:
            if low <= row[j] <= high:
                up, down = row.copy(), row.copy()
                up[j], down[j] = high, low
                changes.append(function(*up) - function(*down))
        curve.append(curve[-1] + np.mean(changes))
    read = np.mean([np.interp(row[j], edges, curve) for row in rows])
    return np.array(curve) + np.mean([function(*row) for row in rows]) - read


@pytest.fixture
def correlated(rng):
    """Return two features that go along with each other, and a third one."""
    x = rng.uniform(-1, 1, 400)
    return np.stack([x, x + 0.1 * rng.normal(size=400), rng.normal(size=400)], axis=1)


def test_a_sum_has_its_terms_as_effects_even_where_features_are_correlated(correlated):
    terms = (lambda x: 3 * x**2, lambda x: np.sin(2 * x), lambda x: -x)
    for j, term in enumerate(terms):
        axis, found = effect_of(lambda *x: sum(f(v) for f, v in zip(terms, x, strict=True)), correlated, j)
        points = axis.blocks[:, 0]
        np.testing.assert_allclose(np.diff(found.curve[:, 0]), np.diff(term(points)), atol=1e-12)


def test_a_product_acts_as_where_its_rows_are_and_not_as_partial_dependence(correlated):
    """Apley and Zhu's first example: f = x₁x₂ with x₂ ≈ x₁ moves like x₁²; over all x₂ it does not move at all."""
    axis, found = effect_of(lambda a, b, c: a * b, correlated, 0, bins=20)
    points = axis.blocks[:, 0]
    partial = np.array([(point * correlated[:, 1]).mean() for point in points])
    expected = points**2 / 2
    curve = found.curve[:, 0]
    assert np.abs(curve - curve.mean() - (expected - expected.mean())).max() < 0.03
    assert np.corrcoef(partial, expected)[0, 1] < 0.5


@pytest.mark.parametrize("j", [0, 1])
def test_the_curve_is_that_of_a_naive_computation(correlated, j):
    def function(a, b, c):
        return a * b - b**2 + np.exp(a * c)

    axis, found = effect_of(function, correlated, j)
    np.testing.assert_allclose(found.curve[:, 0], naive(function, correlated, j, axis.blocks[:, 0]), atol=1e-12)


def test_the_band_is_the_spread_of_the_rows_next_to_a_point(rng):
    rows = np.stack([np.repeat([1.0, 2.0, 4.0], 100), rng.normal(size=300)], axis=1)
    _, found = effect_of(lambda a, b: a + a * b, rows, 0)
    for k, value in enumerate([1.0, 2.0, 4.0]):
        own = value + value * rows[rows[:, 0] == value, 1]
        for end, level in ((found.low, 0.1), (found.high, 0.9)):
            expected = np.quantile(own, level, method="inverted_cdf") - own.mean()
            assert end[k, 0] - found.curve[k, 0] == pytest.approx(expected, abs=1e-12)
    alike = effect_of(lambda a, b: a, rows, 0)[1]
    np.testing.assert_allclose(alike.low, alike.curve, atol=1e-12)
    np.testing.assert_allclose(alike.high, alike.curve, atol=1e-12)


@st.composite
def tables(draw):
    n = draw(st.integers(1, 30))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng(seed)
    rows = np.round(rng.normal(size=(n, 3)), draw(st.integers(0, 6)))
    return rows, rng.integers(1, 4, n).astype(float), rng


def curved(a, b, c):
    return np.tanh(a + b * c) + a * c


@given(tables(), st.integers(1, 12))
def test_the_mean_over_the_rows_is_the_mean_prediction(table, bins):
    rows, weight, _ = table
    axis, found = effect_of(curved, rows, 0, weight, bins)
    expected = np.average(curved(*rows.T), weights=weight)
    assert np.average(axis.read(found.curve)[:, 0], weights=weight) == pytest.approx(expected, abs=1e-10)
    assert found.mean[0] == pytest.approx(expected, abs=1e-12)


@settings(max_examples=40)
@given(tables(), st.integers(1, 12))
def test_weights_are_repeated_rows_and_order_does_not_matter(table, bins):
    rows, weight, rng = table
    _, found = effect_of(curved, rows, 0, weight, bins)
    repeated = rng.permutation(np.repeat(rows, weight.astype(int), axis=0))
    _, again = effect_of(curved, repeated, 0, None, bins)
    for one, other in zip(found, again, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-10)


@given(tables(), st.integers(1, 12))
def test_a_feature_that_the_prediction_does_not_read_is_flat(table, bins):
    rows, weight, _ = table
    _, found = effect_of(lambda a, b, c: np.tanh(b + c), rows, 0, weight, bins)
    np.testing.assert_allclose(found.curve, np.broadcast_to(found.mean, found.curve.shape), atol=1e-10)


@settings(max_examples=40)
@given(tables(), st.integers(1, 12))
def test_a_mirrored_feature_has_the_mirrored_effect_where_each_value_is_a_point(table, bins):
    rows, weight, _ = table
    bins = max(bins, len(rows))
    _, found = effect_of(curved, rows, 0, weight, bins)
    _, mirrored = effect_of(lambda a, b, c: curved(-a, b, c), rows * [-1, 1, 1], 0, weight, bins)
    np.testing.assert_allclose(found.curve, mirrored.curve[::-1], atol=1e-10)


@given(tables(), st.integers(1, 12))
def test_points_are_values_with_the_ends_and_few(table, bins):
    rows, weight, _ = table
    points = quantile_points(rows[:, 0], weight, bins)
    assert set(points) <= set(rows[:, 0])
    assert (points[0], points[-1]) == (rows[:, 0].min(), rows[:, 0].max())
    assert len(points) <= bins + 1
    assert (np.diff(points) > 0).all()


@given(tables(), st.floats(0, 1))
def test_a_quantile_is_that_of_repeated_values(table, level):
    rows, weight, _ = table
    repeated = np.sort(np.repeat(rows[:, 0], weight.astype(int)))
    expected = repeated[max(int(np.ceil(level * len(repeated) - 1e-9)) - 1, 0)]
    below = repeated[max(int(np.floor(level * len(repeated))) - 1, 0)]
    assert weighted_quantile(rows[:, 0], weight, level) in (expected, below)


def test_a_missing_number_is_compared_with_the_middle_value(rng):
    values = np.where(rng.random(200) < 0.2, np.nan, rng.normal(size=200))
    absent = np.isnan(values)
    other = rng.normal(size=200)
    rows = np.stack([np.where(absent, 0.3, values), absent, other], axis=1)
    weight = np.ones(200)
    axis = number_axis(values, rows[:, :2], weight, 8)

    def function(a, missing, c):
        return 2 * a + 5 * missing + missing * c

    found = first_order(column(function), rows, np.array([0, 1]), axis, weight)
    middle = np.abs(axis.blocks[:-1, 0] - np.median(values[~absent])).argmin()
    taken = absent | (values == axis.blocks[middle, 0])
    expected = 2 * (0.3 - axis.blocks[middle, 0]) + 5 + other[taken].mean()
    assert found.curve[-1, 0] - found.curve[middle, 0] == pytest.approx(expected, abs=1e-12)
    assert axis.blocks[-1].tolist() == [0.3, 1.0]
    np.testing.assert_allclose(np.diff(found.curve[:-1, 0]), 2 * np.diff(axis.blocks[:-1, 0]), atol=1e-12)


def categories(rng, n=600):
    """Return codes of four categories along a line, and another feature that moves with them: 0, 3, 1, 2 in order."""
    codes = rng.integers(0, 4, n)
    place = np.array([0.0, 2.0, 3.0, 1.0])[codes]
    return codes, place + 0.4 * rng.normal(size=n)


def category_effect(function, codes, other, weight=None):
    weight = np.ones(len(codes)) if weight is None else weight
    indicators = np.eye(codes.max() + 1)[codes]
    rows = np.c_[indicators, other]
    axis = category_axis(codes, indicators, other[:, None], weight)
    places = np.arange(indicators.shape[1])
    predict = column(lambda *x: function(np.argmax(x[:-1], axis=0), x[-1]))
    return axis, first_order(predict, rows, places, axis, weight)


def test_categories_are_compared_with_those_of_similar_rows(rng):
    axis, _ = category_effect(lambda code, x: x, *categories(rng))
    assert axis.steps.tolist() == [[0, 3], [1, 2], [1, 3]]


def test_categories_of_a_sum_have_its_terms(rng):
    codes, other = categories(rng)
    terms = np.array([1.0, -2.0, 0.5, 4.0])
    _, found = category_effect(lambda code, x: terms[code] + np.sin(x), codes, other)
    np.testing.assert_allclose(found.curve[:, 0] - found.curve[0, 0], terms - terms[0], atol=1e-12)
    own = terms[codes] + np.sin(other)
    assert np.average(found.curve[codes, 0]) == pytest.approx(own.mean(), abs=1e-12)


def test_categories_are_not_judged_by_rows_that_do_not_exist(rng):
    """A model that is wild where no row is: an intervention on all rows shows that, local steps do not."""
    codes, other = categories(rng)
    place = np.array([0.0, 2.0, 3.0, 1.0])

    def function(code, x):
        return place[code] + 100 * (np.abs(x - place[code]) > 2.6)

    assert (np.abs(other - place[codes]) < 1.6).all()
    _, found = category_effect(function, codes, other)
    np.testing.assert_allclose(found.curve[:, 0] - found.curve[0, 0], place - place[0], atol=1e-12)
    everywhere = np.array([function(np.full(len(codes), k), other).mean() for k in range(4)])
    assert np.abs(everywhere - everywhere[0] - place).max() > 10


@settings(max_examples=40)
@given(tables())
def test_repeated_rows_of_categories_are_weights(table):
    rows, weight, rng = table
    codes = np.unique(np.round(rows[:, 1]), return_inverse=True)[1]
    _, found = category_effect(lambda code, x: np.tanh(code - x), codes, rows[:, 0], weight)
    order = rng.permutation(np.repeat(np.arange(len(rows)), weight.astype(int)))
    _, again = category_effect(lambda code, x: np.tanh(code - x), codes[order], rows[order, 0])
    np.testing.assert_allclose(found.curve, again.curve, atol=1e-10)


def joint_effect(function, rows, bins=5, weight=None):
    weight = np.ones(len(rows)) if weight is None else weight
    axes = tuple(number_axis(rows[:, j], rows[:, [j]], weight, bins) for j in (0, 1))
    places = np.array([0]), np.array([1])
    return axes, joint(column(function), rows, places, axes, weight)


def test_a_product_and_a_sum_are_their_own_surface(correlated):
    def function(a, b, c):
        return 2 * a - b + 3 * a * b + np.sin(c)

    (one, other), found = joint_effect(function, correlated)
    a, b = np.meshgrid(one.blocks[:, 0], other.blocks[:, 0], indexing="ij")
    surface, known = found.surface[..., 0], ~np.isnan(found.surface[..., 0])
    assert not known.all()
    apart = surface - (2 * a - b + 3 * a * b)
    assert np.ptp(apart[known]) < 1e-10
    read = read_both(found.surface, one, other)[:, 0]
    assert read.mean() == pytest.approx(function(*correlated.T).mean(), abs=1e-10)


def test_the_interaction_is_what_neither_feature_does_alone(rng):
    rows = rng.uniform(-1, 1, (500, 3))
    (one, other), found = joint_effect(lambda a, b, c: np.exp(a) + b**2 + c, rows)
    np.testing.assert_allclose(found.together, 0.0, atol=1e-10)
    (one, other), found = joint_effect(lambda a, b, c: a + 4 * a * b, rows)
    second = np.diff(np.diff(found.together[..., 0], axis=0), axis=1)
    np.testing.assert_allclose(second, 4 * np.outer(np.diff(one.blocks[:, 0]), np.diff(other.blocks[:, 0])), atol=1e-10)
    assert read_both(found.together, one, other).mean() == pytest.approx(0.0, abs=1e-10)


def test_the_interaction_of_a_product_of_features_around_0_is_the_product():
    grid = np.stack(np.meshgrid(np.linspace(-1, 1, 9), np.linspace(-1, 1, 9)), axis=-1).reshape(-1, 2)
    (one, other), found = joint_effect(lambda a, b: a + 4 * a * b, grid, bins=8)
    np.testing.assert_allclose(found.together[..., 0], 4 * np.outer(one.blocks, other.blocks), atol=1e-10)


def test_parts_that_no_row_connects_have_the_means_of_their_rows(rng):
    parts = np.repeat([0.0, 10.0], 50)
    rows = parts[:, None] + rng.uniform(0, 1, (100, 2))
    axes, found = joint_effect(lambda a, b: a + 7 * (a > 5), rows, bins=20)
    read, own = read_both(found.surface, *axes)[:, 0], rows[:, 0] + 7 * (rows[:, 0] > 5)
    for part in (parts == 0, parts == 10):
        assert read[part].mean() == pytest.approx(own[part].mean(), abs=1e-9)


@settings(max_examples=40)
@given(tables(), st.integers(1, 4))
def test_a_surface_of_weighted_rows_is_that_of_repeated_ones(table, bins):
    rows, weight, rng = table
    _, found = joint_effect(curved, rows, bins, weight)
    _, again = joint_effect(curved, rng.permutation(np.repeat(rows, weight.astype(int), axis=0)), bins)
    np.testing.assert_allclose(found.surface, again.surface, atol=1e-8)
    np.testing.assert_allclose(found.together, again.together, atol=1e-8)
