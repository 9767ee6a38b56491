from itertools import islice

import numpy as np
import pytest

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import RULES, Network, states, trajectory, until_fixed_point
from tests import naive


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("rule", RULES)
def test_trajectory_equals_the_rule_written_as_loops(rule, activation, rng):
    X, W, b = rng.random((6, 4)), rng.normal(size=(4, 4)), rng.normal(size=4)
    network = Network.from_rule(rule, W, b, 0.7, ACTIVATIONS[activation])
    expected = naive.states(X, W, b, 0.7, 5, activation, rule)
    np.testing.assert_allclose(trajectory(network, X, 5), np.stack(expected, axis=1), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_states_are_those_of_numpy_in_every_space(activation, space, rng):
    X = rng.random((6, 4))
    network = Network(rng.normal(size=(4, 4)), rng.normal(size=4), 0.7, ACTIVATIONS[activation])
    there = [space.host(state) for state in islice(states(network, space.put(X), space), 6)]
    np.testing.assert_allclose(np.stack(there, axis=1), trajectory(network, X, 5), rtol=1e-12, atol=1e-14)


def test_phi_zero_never_leaves_the_initial_state(rng):
    X = rng.random((5, 3))
    network = Network(rng.normal(size=(3, 3)), rng.normal(size=3), 0.0, ACTIVATIONS["tanh"])
    assert len(until_fixed_point(network, X, max_iter=20, tol=1e-9)) == 1


def test_stops_at_the_first_state_that_no_row_leaves(rng):
    X = rng.random((50, 3))
    network = Network(0.5 * rng.normal(size=(3, 3)), np.zeros(3), 0.9, ACTIVATIONS["sigmoid"])
    every = trajectory(network, X, 100)
    change = np.abs(np.diff(every, axis=1)).max(axis=(0, 2))
    for tol in (1e-2, 1e-5, 1e-9):
        found = until_fixed_point(network, X, max_iter=100, tol=tol)
        assert change[len(found) - 1] < tol
        assert (change[: len(found) - 1] >= tol).all()


def test_tol_zero_runs_to_the_end(rng):
    network = Network(np.zeros((2, 2)), np.zeros(2), 1.0, ACTIVATIONS["sigmoid"])
    assert len(until_fixed_point(network, rng.random((3, 2)), max_iter=7, tol=0)) == 8
