import numpy as np
import pytest

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network, trajectory
from cogmap.core.readout.states import StateReadout, final_state, inverse_one_hot, leave_one_out, moore_penrose
from cogmap.core.readout.terms import raw_scores
from tests import naive


def problem(rng, n=80, m=3, n_states=3):
    return [rng.random((n, m)) for _ in range(n_states)], rng.normal(size=(n, 2)), np.ones(n)


def read(readout, states):
    return sum(A @ R for A, R in zip(states, readout.weights, strict=True)) + readout.bias


def test_solution_is_the_pseudoinverse_of_h_and_ones(rng):
    states, target, weight = problem(rng)
    fit = moore_penrose(states, target, weight, np.minimum(1, weight))
    H = np.hstack([*states, np.ones((80, 1))])
    expected = np.linalg.pinv(H) @ target
    np.testing.assert_allclose(fit.readout.weights.reshape(9, 2), expected[:-1], rtol=1e-9)
    np.testing.assert_allclose(fit.readout.bias, expected[-1], rtol=1e-9)
    np.testing.assert_allclose(read(fit.readout, states), H @ expected, rtol=1e-9, atol=1e-12)
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


def test_wide_states_of_repeated_rows_give_the_minimum_norm_solution(rng):
    """All other rows are met exactly: without it, each is predicted by its copy."""
    states = [rng.random((5, 4)) for _ in range(4)]
    states, target = [np.vstack([A, A]) for A in states], rng.normal(size=(10, 2))
    fit = moore_penrose(states, target, np.ones(10), np.ones(10))
    H = np.hstack([*states, np.ones((10, 1))])
    expected = np.linalg.pinv(H) @ target
    np.testing.assert_allclose(fit.readout.weights.reshape(16, 2), expected[:-1], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(fit.readout.bias, expected[-1], rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(fit.outside, np.roll(target, 5, axis=0), atol=1e-9)
    assert fit.rank == 5


@pytest.mark.parametrize("factor", [1e-14, 1e14])
@pytest.mark.parametrize("n", [12, 80])
def test_weights_in_another_unit_change_nothing(n, factor, rng):
    """Repeated states: what counts as zero must be a share of the largest singular value."""
    states, target, weight = problem(rng, n=n, m=4, n_states=3)
    states[2] = states[1]
    plain, other = (moore_penrose(states, target, unit * weight, unit * weight) for unit in (1.0, factor))
    assert plain.rank == other.rank == 9
    assert other.condition == pytest.approx(plain.condition)
    np.testing.assert_allclose(other.readout.weights, plain.readout.weights, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(other.outside, plain.outside, rtol=1e-8, atol=1e-9)


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
    np.testing.assert_allclose(read(readout, states), last @ np.linalg.pinv(last) @ target, rtol=1e-9, atol=1e-12)
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


@pytest.mark.parametrize("unread", [(), (0, 1), (1, 3), (0, 1, 2, 3)])
def test_scores_are_the_weighted_states_in_every_space(unread, space, rng):
    """States without weights are not even asked for."""
    X, weights, bias = rng.random((30, 3)), rng.normal(size=(4, 3, 2)), rng.normal(size=2)
    weights[list(unread)] = 0.0
    network = Network(rng.normal(size=(3, 3)), rng.normal(size=3), 0.8, ACTIVATIONS["sigmoid"])
    readout = StateReadout(weights, bias)
    expected = np.einsum("ntm,tmk->nk", trajectory(network, X, 3), weights) + bias
    terms = readout.terms(space, network, space.put(X))
    np.testing.assert_allclose(space.host(terms.scores(space, 30)), expected, atol=1e-12)
    np.testing.assert_allclose(space.host(raw_scores(readout, space, network, space.put(X))), expected, atol=1e-12)
    assert sorted(set(terms.iteration.tolist())) == [t for t in range(4) if t not in unread]
    assert readout.n_iter == 3
    assert all((a == b).all() for a, b in zip(readout.outer(network), (weights, bias), strict=True))


def test_leave_one_out_in_every_space_and_of_a_row_that_alone_determines_its_fit(space, rng):
    target, fitted, leverage, unit = rng.normal(size=(5, 2)), rng.normal(size=(5, 2)), rng.random(5), np.full(5, 0.5)
    fitted[0], leverage[0], unit[0] = target[0], 1.0, 1.0
    outside = space.host(leave_one_out(space, *map(space.put, (target, fitted, leverage, unit))))
    expected = target[1:] - (target[1:] - fitted[1:]) / (1 - 0.5 * leverage[1:])[:, None]
    np.testing.assert_allclose(outside[1:], expected, rtol=1e-12)
    assert (outside[0] == target[0]).all()


@pytest.mark.parametrize(("n", "width"), [(300, 120), (60, 150), (90, 91)])
@pytest.mark.parametrize("least", [1.0, 1e-4, 1e-9, 1e-13])
def test_triangular_and_singular_solutions_are_the_pseudoinverse(n, width, least, rng):
    """Singular values that fall to `least` decide which way is gone; SVD is the truth for both."""
    left, right = (np.linalg.qr(rng.normal(size=(size, min(n, width))))[0] for size in (n, width))
    H = left * np.geomspace(1.0, least, min(n, width)) @ right.T
    target, ones = rng.normal(size=(n, 3)), np.ones(n)
    found = moore_penrose([H], target, ones, ones)
    U, s, Vt = np.linalg.svd(np.hstack([H, ones[:, None]]), full_matrices=False)
    solution = (Vt.T / s) @ (U.T @ target)
    rounding = 1e-15 * s[0] / s[-1] * np.abs(solution).max()
    np.testing.assert_allclose(found.readout.weights[0], solution[:-1], atol=100 * rounding)
    np.testing.assert_allclose(found.readout.bias, solution[-1], atol=100 * rounding)
    assert found.rank == len(s)
    assert found.condition == pytest.approx(s[0] / s[-1], rel=max(1e-6, 1e-14 * s[0] / s[-1]))
    if n > width:
        without = target - (target - U @ (U.T @ target)) / (1 - (U**2).sum(axis=1))[:, None]
        np.testing.assert_allclose(found.outside, without, atol=1e-12 * s[0] / s[-1])
