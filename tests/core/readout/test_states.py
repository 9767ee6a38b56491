import numpy as np
import pytest

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.readout.states import final_state, inverse_one_hot, moore_penrose
from tests import naive


def problem(rng, n=80, m=3, n_states=3):
    return [rng.random((n, m)) for _ in range(n_states)], rng.normal(size=(n, 2)), np.ones(n)


def test_solution_is_the_pseudoinverse_of_h_and_ones(rng):
    states, target, weight = problem(rng)
    fit = moore_penrose(states, target, weight, np.minimum(1, weight))
    H = np.hstack([*states, np.ones((80, 1))])
    expected = np.linalg.pinv(H) @ target
    np.testing.assert_allclose(fit.readout.weights.reshape(9, 2), expected[:-1], rtol=1e-9)
    np.testing.assert_allclose(fit.readout.bias, expected[-1], rtol=1e-9)
    np.testing.assert_allclose(fit.readout.of_states(states), H @ expected, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(fit.fitted, H @ expected, rtol=1e-9, atol=1e-12)
    assert fit.rank == 10
    assert fit.condition == pytest.approx(np.linalg.cond(H))


@pytest.mark.parametrize("weighted", [False, True])
def test_leave_one_out_equals_explicit_refits(weighted, rng):
    states, target, weight = problem(rng, n=40)
    if weighted:
        weight = rng.choice([0.5, 1.0, 2.0, 3.5], 40)
    fit = moore_penrose(states, target, weight, np.minimum(1, weight))
    H = np.hstack([*states, np.ones((40, 1))])
    for i in range(40):
        less = weight.copy()
        less[i] = max(less[i] - 1, 0)
        root = np.sqrt(less)[:, None]
        refitted = H[i] @ np.linalg.lstsq(H * root, target * root, rcond=None)[0]
        np.testing.assert_allclose(fit.outside[i], refitted, rtol=1e-8, atol=1e-9)


def test_wide_and_repeated_states_give_the_minimum_norm_solution(rng):
    states, target, weight = problem(rng, n=10, m=4, n_states=4)
    states[2] = states[1]
    readout = moore_penrose(states, target, weight, np.minimum(1, weight)).readout
    H = np.hstack([*states, np.ones((10, 1))])
    np.testing.assert_allclose(
        np.vstack([readout.weights.reshape(16, 2), readout.bias]), np.linalg.pinv(H) @ target, rtol=1e-7, atol=1e-9
    )
    np.testing.assert_allclose(readout.weights[1], readout.weights[2], rtol=1e-9, atol=1e-12)


def test_weight_k_equals_a_row_repeated_k_times(rng):
    states, target, _ = problem(rng)
    times = rng.integers(1, 4, 80)
    weighted = moore_penrose(states, target, times.astype(float), np.ones(80)).readout
    repeated = moore_penrose(
        [np.repeat(s, times, 0) for s in states],
        np.repeat(target, times, 0),
        np.ones(times.sum()),
        np.ones(times.sum()),
    ).readout
    np.testing.assert_allclose(weighted.weights, repeated.weights, rtol=1e-9, atol=1e-12)


def test_final_state_reads_the_last_state_only(rng):
    states, target, weight = problem(rng)
    readout = final_state(states, target, weight, weight).readout
    last = np.c_[states[-1], np.ones(80)]
    np.testing.assert_allclose(readout.of_states(states), last @ np.linalg.pinv(last) @ target, rtol=1e-9, atol=1e-12)
    assert not readout.weights[:-1].any()


def test_final_state_does_not_read_the_late_digits_of_a_fixed_point(rng):
    """Rows differ by 1e-9 only: the target must not be fitted with weights of 1e9."""
    signal = rng.normal(size=(80, 3))
    readout = final_state([0.5 + 1e-9 * signal], signal[:, :1], np.ones(80), np.ones(80)).readout
    assert np.abs(readout.weights).max() < 10


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_one_hot_target_is_inverse_friendly(name):
    codes = np.array([0, 2, 1, 2])
    expected = naive.f_inverse(np.eye(3)[codes], name)
    np.testing.assert_allclose(inverse_one_hot(codes, 3, ACTIVATIONS[name]), expected, rtol=1e-12)
