import tracemalloc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogmap.core.network import dynamics as module
from cogmap.core.network.activation import ACTIVATIONS, STEPS
from cogmap.core.network.dynamics import FOLLOWED, contraction_bound, diagnose, largest_exponent, merged
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


def jacobian(net, A, initial, step=1e-6):
    """Return ∂(next state) / ∂(state) by central differences; row j is what a change of concept j does."""
    moved = [stepped(net, A + d, initial) - stepped(net, A - d, initial) for d in step * np.eye(len(A))]
    return np.array(moved) / (2 * step)


@pytest.mark.parametrize("gain", [0.5, 1.5, 4.0])
def test_the_exponent_where_a_state_stays_is_that_of_the_largest_eigenvalue(gain):
    """At 0, where tanh stays however unstable it is, the Jacobian is W: a turn with a known gain."""
    turn = gain * np.array([[np.cos(1), np.sin(1)], [-np.sin(1), np.cos(1)]])
    assert largest_exponent(network(turn), np.zeros((1, 2))) == pytest.approx(np.log(gain), abs=1e-12)


def test_the_exponent_where_a_state_stays_is_that_of_any_largest_eigenvalue():
    W = 1.5 * np.random.default_rng(0).normal(size=(5, 5))
    expected = np.log(np.abs(np.linalg.eigvals(W)).max())
    assert largest_exponent(network(W), np.zeros((1, 5)), 100, 20_000) == pytest.approx(expected, abs=1e-3)


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_the_exponent_of_a_fixed_point_and_of_a_cycle(name, rng):
    """The Jacobians of one turn of the cycle, by finite differences, multiplied."""
    for W, phi in ((rng.normal(size=(3, 3)), 0.7), (np.array([[0, 9.0, 0], [-9.0, 0, 0], [1.0, 0, 0.5]]), 1.0)):
        net = Network(W, np.array([0.1, -0.2, 0.3]), phi, ACTIVATIONS[name])
        initial = rng.random((1, 3))
        period = int(diagnose(net, initial, 400, 1e-10).period[0])
        assert period >= 1
        cycle = trajectory(net, initial, 400)[0, -period:]
        product = np.linalg.multi_dot([np.eye(3), *(jacobian(net, A, initial[0]) for A in cycle)])
        expected = np.log(np.abs(np.linalg.eigvals(product)).max()) / period
        found = largest_exponent(net, initial, 400, 12 * 500)
        assert found == pytest.approx(expected, abs=2e-3)


@pytest.mark.parametrize("name", sorted(ACTIVATIONS))
def test_the_exponent_of_chaos_is_the_growth_of_a_small_difference(name, rng):
    """Two trajectories side by side, brought near each other again after each step."""
    gain = {"tanh": 4.0, "sigmoid": 40.0}[name]
    M, n_iter, apart = 30, 25, 1e-7
    net = Network(gain * rng.normal(size=(M, M)) / np.sqrt(M), rng.normal(size=M), 0.95, ACTIVATIONS[name])
    initial = rng.random((3, M))
    direction = np.random.default_rng(0).normal(size=M)
    for row in initial:
        A, d, growth = row, direction / np.linalg.norm(direction), 0.0
        for _ in range(n_iter):
            moved = stepped(net, A + apart / 2 * d, row) - stepped(net, A - apart / 2 * d, row)
            A, size = stepped(net, A, row), np.linalg.norm(moved)
            d, growth = moved / size, growth + np.log(size / apart)
        assert largest_exponent(net, row[None], 0, n_iter) == pytest.approx(growth / n_iter, abs=1e-5)


def test_rows_that_wander_have_exponents_and_others_none(rng, monkeypatch):
    turn = 1.5 * np.array([[np.cos(1), np.sin(1)], [-np.sin(1), np.cos(1)]])
    around = diagnose(network(turn), rng.random((7, 2)), 60, 1e-9)
    assert (np.abs(around.exponent) < 0.02).all()  # a circle that never closes neither grows nor shrinks
    assert "neither chaotic nor settling" in str(around)
    slow = diagnose(network(0.9 * np.eye(2)), rng.random((7, 2)), 10, 1e-9)
    np.testing.assert_allclose(slow.exponent, np.log(0.9), atol=1e-3)
    assert ": settles later)" in str(slow)
    wild = diagnose(network(4 * rng.normal(size=(40, 40)) / 6), rng.random((7, 40)), 60, 1e-9)
    assert (wild.exponent > 0.1).all()
    assert ": chaotic)" in str(wild)
    assert np.isnan(diagnose(network(0.4 * np.eye(2)), rng.random((7, 2)), 60, 1e-9).exponent).all()
    np.testing.assert_array_equal(merged([around, wild]).exponent, wild.exponent)
    monkeypatch.setattr(module, "EXPONENT_ROWS", 3)
    some = diagnose(network(turn), rng.random((7, 2)), 60, 1e-9)
    assert np.flatnonzero(~np.isnan(some.exponent)).tolist() == [0, 3, 6]


def test_steps_forget_where_they_began(rng):
    net = network(rng.normal(size=(3, 3)), activation=STEPS["trivalent"])
    assert largest_exponent(net, rng.random((2, 3))).tolist() == [-np.inf, -np.inf]
    assert contraction_bound(net) == np.inf
    assert contraction_bound(network(np.zeros((2, 2)), activation=STEPS["bivalent"])) == 0
