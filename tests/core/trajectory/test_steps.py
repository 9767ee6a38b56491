"""Both ways to take an iteration in numpy: against the operations of other libraries, and where each is taken."""

from itertools import islice

import numpy as np
import pytest

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network, trajectory
from cogmap.core.sums.space import NUMPY
from cogmap.core.trajectory.increments import Course, increments, operations
from cogmap.core.trajectory.steps import MOST_PHI, NEAR, Reach


def network_of(rng, phi, activation="sigmoid", size=0.3, n=5):
    return Network(size * rng.normal(size=(n, n)), rng.normal(size=n), phi, ACTIVATIONS[activation])


def by_operations(course, initial, n_iter):
    """Take all iterations by the operations that every library has."""
    f = course.network.activation
    g = (initial - course.reference) @ course.first
    start, last = course.rest * g, operations(np, g, g, np.zeros_like(g), *course.about(0))
    last = last._replace(moved=(f.offset - initial) / f.scale + (course.about(0).r + last.e))
    yield last
    for t in range(1, n_iter):
        arguments = last.e @ course.later + start, last.moved @ course.later
        last = operations(np, *arguments, last.e, *course.about(t))
        yield last


@pytest.mark.parametrize("tile", [1, 40])
@pytest.mark.parametrize("phi", [0.3, 0.8, 0.9, 1.0])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_both_ways_do_what_the_operations_do(activation, phi, tile, rng):
    """Relative to the largest of each iteration: late ones are many orders below the first."""
    network, initial = network_of(rng, phi, activation), rng.random((40, 5))
    course = Course(NUMPY, network, initial.mean(axis=0), tile=tile)
    ours = islice(increments(course, initial), 1, 15)
    for one, other in zip(ours, by_operations(course, initial, 14), strict=True):
        for found, expected in zip(one, other, strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=2e-14 * np.abs(expected).max())
    assert any(course.shared(t).way.near for t in range(14)) == (phi <= MOST_PHI)


def test_a_step_is_near_where_no_argument_can_be_large(rng):
    network, initial = network_of(rng, 0.8, size=1.5), rng.choice([0.0, 1.0], (2000, 5))
    reach, A = Reach(network), trajectory(network, initial, 12)
    ways = [reach.next() for _ in range(10)]
    assert not ways[0].near
    assert ways[-1].near
    for t, way in enumerate(ways, start=1):
        d = network.activation.slope * (A[:, t] - A[:, t - 1]) @ network.weights
        assert not way.near or np.abs(d).max() <= NEAR


@pytest.mark.parametrize("size", [0.1, 60.0])
def test_states_beyond_the_range_of_the_activation_are_followed_the_safe_way(size, rng):
    """No concept has such states, but who follows rows of their own may."""
    network, initial = network_of(rng, 0.8, size=0.2), size * rng.normal(size=(30, 5))
    course = Course(NUMPY, network, initial.mean(axis=0))
    for (E, moved, _), other in zip(
        islice(increments(course, initial), 1, 9), by_operations(course, initial, 8), strict=True
    ):
        np.testing.assert_allclose(E, other.E, rtol=0, atol=1e-13 * np.abs(other.E).max())
        np.testing.assert_allclose(moved, other.moved, rtol=0, atol=1e-13 * np.abs(other.moved).max())


def test_large_networks_have_a_bound_that_takes_no_singular_values(rng, monkeypatch):
    network = network_of(rng, 0.8, n=40)
    exact = Reach(network)._norm
    monkeypatch.setattr("cogmap.core.trajectory.steps.EXACT_NORM", 10)
    assert exact <= Reach(network)._norm <= 10 * exact
