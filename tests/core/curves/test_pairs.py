"""Curves and surfaces: knots where the values are, and columns that are what numpy interpolates."""

import itertools

import numpy as np
import pytest

from cogmap.core.concepts.scaling import Scaling, identity, knot_heights, rank_knots
from cogmap.core.curves.pairs import LEAST_GAP, PairReadout, Pieces, all_pairs, knots, thinned
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network
from cogmap.core.sums.space import NUMPY

CURVES = (np.array([0.0, 0.2, 0.7, 1.0]), np.array([0.0, 1.0]), np.array([-0.5, 0.1, 0.4]))
SURFACES = (np.array([0.0, 0.7, 1.0]), np.array([0.0, 1.0]), np.array([-0.5, 0.4]))


def halfway(*columns):
    found = [knot_heights("halfway", *rank_knots(NUMPY, column, None)) for column in columns]
    return Scaling(tuple(values for values, _ in found), tuple(heights for _, heights in found))


def ramp(column, low, high):
    return np.interp(column, [low, high], [0.0, 1.0])


@pytest.fixture
def pieces(rng):
    return Pieces(CURVES, SURFACES, rng.random(6 + 4), np.array([[0, 1], [0, 2]]))


def test_columns_are_ramps_and_their_products(pieces, space, rng):
    A = rng.uniform(-1, 2, size=(300, 3))
    expected = []
    for j, own in enumerate(CURVES):
        expected += [ramp(A[:, j], *ends) for ends in itertools.pairwise(own)]
    expected = [column - mean for column, mean in zip(expected, pieces.means, strict=False)]
    a, b, c, d = (
        ramp(A[:, j], *ends) - mean
        for j, ends, mean in zip((0, 0, 1, 2), ((0, 0.7), (0.7, 1), (0, 1), (-0.5, 0.4)), pieces.means[6:], strict=True)
    )
    expected += [a * c, b * c, a * d, b * d]
    there = pieces.fill(space, space.put(A), 0)
    np.testing.assert_allclose(space.host(there), np.stack(expected, axis=1), atol=1e-14)
    assert pieces.owners.tolist() == [[0, 0]] * 3 + [[1, 1]] + [[2, 2]] * 2 + [[0, 1]] * 2 + [[0, 2]] * 2
    assert pieces.ends.tolist() == [6, 8, 10]


def test_a_curve_is_piecewise_linear_and_a_surface_bilinear(pieces, rng):
    """Between knots the score is linear in one state, and in the product of two."""
    readout = PairReadout(CURVES, SURFACES, pieces.means, pieces.pairs, rng.normal(size=(10, 2)), rng.normal(size=2))
    network = Network(np.zeros((3, 3)), np.zeros(3), 0.8, ACTIVATIONS["sigmoid"])

    def score(*state):
        return readout.terms(NUMPY, network, np.array([state])).scores(NUMPY, 1)[0]

    np.testing.assert_allclose(score(0.3, 0, 0) + score(0.5, 0, 0), 2 * score(0.4, 0, 0))
    corners = [score(a, b, 0.2) for a in (0.3, 0.5) for b in (0.1, 0.9)]
    np.testing.assert_allclose(np.sum(corners, axis=0), 4 * score(0.4, 0.5, 0.2))
    assert not np.allclose(score(0.6, 0, 0) + score(0.8, 0, 0), 2 * score(0.7, 0, 0))
    weights, bias = readout.outer(network)
    assert not weights.any()
    assert (bias == readout.constant).all()
    assert readout.n_iter == 0


def test_few_values_have_a_knot_each(rng):
    coin, die = rng.integers(0, 2, 500), rng.integers(1, 7, 500)
    scaling = halfway(coin.astype(float), die.astype(float))
    of_coin, of_die = knots(scaling, 24, 0)
    np.testing.assert_allclose(of_coin, [0, 1])
    np.testing.assert_allclose(of_die, np.unique(np.interp(die, scaling.values[1], scaling.heights[1])))


def test_values_that_are_told_apart_have_a_knot_each(rng):
    """More than a curve may have otherwise, but not one value more than is said."""
    hours, wage = rng.integers(0, 40, 2000).astype(float), rng.normal(size=2000)
    scaling = halfway(hours, wage)
    of_hours, of_wage = knots(scaling, 16, 40)
    np.testing.assert_allclose(of_hours, np.unique(np.interp(hours, scaling.values[0], scaling.heights[0])))
    assert len(of_wage) <= 16
    assert len(knots(scaling, 16, 39)[0]) <= 16


def test_knots_reach_into_the_tail(rng):
    """Nine rows of ten have the value 0; the others are spread over three powers of ten."""
    amount = np.where(rng.random(5000) < 0.9, 0.0, 10 ** rng.uniform(0, 3, 5000))
    (own,) = knots(halfway(amount), 16, 0)
    assert len(own) <= 16
    assert (np.diff(own) >= LEAST_GAP).all()
    assert own[0] == 0
    assert own[-1] == pytest.approx(1)
    below = np.interp(10.0, *[k[0] for k in (halfway(amount).values, halfway(amount).heights)])
    assert np.count_nonzero(own < below) >= 3
    assert np.count_nonzero(own > below) >= 8


def test_where_values_are_not_known_knots_are_even():
    (own,) = knots(identity(1, -1.0, 1.0), 24, 0)
    np.testing.assert_allclose(own, np.linspace(-1, 1, 8))


def test_knots_keep_their_distance():
    heights = np.array([0.0, 1e-9, 0.3, 0.3 + 1e-8, 1.0 - 1e-9, 1.0])
    (own,) = knots(Scaling((np.arange(6.0),), (heights,)), 24, 0)
    np.testing.assert_allclose(own, [0, 0.3, 1], atol=1e-7)


def test_thinned_knots_are_some_of_them():
    own = np.linspace(0, 1, 24) ** 2
    few = thinned(own, 6)
    assert len(few) == 6
    assert np.isin(few, own).all()
    assert (few[[0, -1]] == own[[0, -1]]).all()
    assert thinned(own, 24) is own


def test_all_pairs():
    assert all_pairs(3).tolist() == [[0, 1], [0, 2], [1, 2]]
    assert all_pairs(1).shape == (0, 2)
