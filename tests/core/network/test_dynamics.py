import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.dynamics import FOLLOWED, contraction_bound, diagnose
from cogmap.core.network.reasoning import RULES, Network, trajectory
from tests import naive

TANH = ACTIVATIONS["tanh"]


def network(W, phi=1.0, activation=TANH):
    return Network(np.asarray(W, float), np.zeros(len(W)), phi, activation)


def test_one_fixed_point_for_all_rows(rng):
    net = network(0.4 * np.eye(3))
    dynamics = diagnose(net, rng.random((9, 3)), 60, 1e-9)
    assert (dynamics.period == 1).all()
    assert dynamics.unique
    assert dynamics.contraction == pytest.approx(0.4)
    assert "9 of 9 rows reach a fixed point, the same one" in str(dynamics)


def test_reached_at_is_the_first_state_that_stays(rng):
    net = network([[0.5]])
    initial = rng.random((5, 1))
    states, dynamics = trajectory(net, initial, 40), diagnose(net, initial, 40, 1e-6)
    for row, start in zip(states, dynamics.reached_at, strict=True):
        steps = np.abs(np.diff(row[:, 0]))
        assert (steps[start:] < 1e-6).all()
        assert start == 0 or steps[start - 1] >= 1e-6


def test_a_fixed_point_for_each_row_is_not_unique(rng):
    net = network(0.4 * np.eye(3), phi=0.5)
    dynamics = diagnose(net, rng.random((9, 3)), 60, 1e-9)
    assert (dynamics.period == 1).all()
    assert not dynamics.unique


def test_limit_cycle_and_its_period():
    """A rotation by a quarter turn with gain enough never dies out: period 4; its mirror: period 2."""
    turn = network([[0, 3.0], [-3.0, 0]])
    flip = network([[0, -3.0], [-3.0, 0]])
    start = np.array([[0.9, 0.3]])
    assert diagnose(turn, start, 60, 1e-9).period == [4]
    assert diagnose(flip, np.array([[0.9, 0.9]]), 60, 1e-9).period == [2]
    assert "limit cycle (period 4)" in str(diagnose(turn, start, 60, 1e-9))


def test_neither_within_the_iterations_given(rng):
    """A rotation by one radian, with gain, never closes."""
    net = network(1.5 * np.array([[np.cos(1), np.sin(1)], [-np.sin(1), np.cos(1)]]))
    dynamics = diagnose(net, rng.random((4, 2)), 60, 1e-9)
    assert (dynamics.period == 0).all()
    assert (dynamics.reached_at == -1).all()
    assert "4 rows settle on neither" in str(dynamics)
    assert not dynamics.unique


def verdict(states, tol):
    """Return period and beginning for one row, by comparing all of its states (T + 1, M) with each other."""
    n_states = len(states)
    for P in range(1, n_states // 2 + 1):
        for start in range(n_states - 2 * P + 1):
            if (np.abs(states[start + P :] - states[start:-P]) < tol).all():
                return P, start
    return 0, -1


@given(
    seed=st.integers(0, 2**32 - 1),
    name=st.sampled_from(sorted(ACTIVATIONS)),
    gain=st.floats(0.01, 6),
    n=st.sampled_from([1, 4, 193]),
    n_iter=st.integers(0, 30),
    tol=st.sampled_from([1e-12, 1e-6, 1e-2]),
)
@settings(max_examples=30)
def test_the_verdict_is_that_of_all_states_compared(seed, name, gain, n, n_iter, tol):
    rng = np.random.default_rng(seed)
    net = network(gain * rng.normal(size=(3, 3)), rng.choice([0.3, 1.0]), ACTIVATIONS[name])
    initial = rng.random((n, 3))
    found, states = diagnose(net, initial, n_iter, tol), trajectory(net, initial, n_iter)
    expected = [verdict(row, tol) for row in states]
    assert list(zip(found.period.tolist(), found.reached_at.tolist(), strict=True)) == expected
    np.testing.assert_allclose(found.moves, np.abs(np.diff(states, axis=1)).max(axis=(0, 2)), rtol=1e-9, atol=1e-15)


@pytest.mark.parametrize("gain", [0.1, 3.0])
def test_a_million_iterations_take_the_memory_of_a_few(gain, rng):
    """Whether the rows reach a fixed point or wander on."""
    net, initial = network(gain * rng.normal(size=(5, 5))), rng.random((100, 5))
    tracemalloc.start()
    dynamics = diagnose(net, initial, 10**6, 1e-9)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e6
    assert len(dynamics.moves) == FOLLOWED
    if gain < 1:
        assert (dynamics.period == 1).all()


def stepped(net, A, initial):
    """Take one step of the map from any state."""
    return net.phi * naive.f(A @ net.weights + net.bias, net.activation.name) + (1 - net.phi) * initial


@given(
    seed=st.integers(0, 2**32 - 1),
    name=st.sampled_from(sorted(ACTIVATIONS)),
    rule=st.sampled_from(RULES),
    phi=st.floats(0, 1),
    gain=st.floats(0.01, 3),
)
def test_no_step_stretches_a_difference_beyond_the_bound(seed, name, rule, phi, gain):
    rng = np.random.default_rng(seed)
    net = Network.from_rule(rule, gain * rng.normal(size=(4, 4)), rng.normal(size=4), phi, ACTIVATIONS[name])
    A, B, initial = rng.random((3, 1, 4))
    bound = contraction_bound(net)
    stretched = stepped(net, A, initial) - stepped(net, B, initial)
    # The bound holds in the norm that gives it: rows multiply from the left, so W's 1-norm is the ∞-norm's.
    ratios = [np.linalg.norm(stretched.ravel(), p) / np.linalg.norm((A - B).ravel(), p) for p in (1, 2, np.inf)]
    assert min(ratios) <= bound * (1 + 1e-9) + 1e-12


def test_memory_rule_is_bounded_with_the_identity_added(rng):
    W = rng.normal(size=(3, 3))
    net = Network.from_rule("kosko-memory", W, np.zeros(3), 0.3, ACTIVATIONS["sigmoid"])
    norms = [np.linalg.norm(W + np.eye(3), p) for p in (1, 2, np.inf)]
    assert contraction_bound(net) == pytest.approx(0.25 * min(norms))
