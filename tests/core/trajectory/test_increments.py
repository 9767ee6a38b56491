"""The increments against 80-digit arithmetic: every activation, every rule, up to iteration 20; in every space."""

from itertools import islice

import mpmath
import numpy as np
import pytest

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import RULES, Network, trajectory
from cogmap.core.sums import threads
from cogmap.core.sums.space import NUMPY, STRIP
from cogmap.core.trajectory.increments import (
    Course,
    increments,
    lockstep,
    operations,
    states_readout,
    step,
)
from tests.core.problems import increments_of

N_ITER = 20


def matmul(A, B):
    return [
        [mpmath.fsum(a * b for a, b in zip(row, column, strict=True)) for column in zip(*B, strict=True)] for row in A
    ]


def exact_increments(network, X, reference):
    """Aᵗ − Aᵗ⁻¹ minus its linearisation φ s d (1 − r r′), and Aᵗ − Aᵗ⁻¹, by subtraction in 80 digits."""
    f, phi = network.activation, mpmath.mpf(network.phi)
    offset, scale, slope = (mpmath.mpf(v) for v in (f.offset, f.scale, f.slope))
    W = [[mpmath.mpf(float(w)) for w in row] for row in network.weights]
    b = [mpmath.mpf(float(v)) for v in network.bias]
    A0 = [[mpmath.mpf(float(v)) for v in row] for row in [*X, reference]]
    m = range(len(b))
    A, previous_th, previous_z, blocks, wholes = A0, None, None, [], []
    for _ in range(N_ITER):
        z = [[slope * (row[i] + b[i]) for i in m] for row in matmul(A, W)]
        th = [[mpmath.tanh(v) for v in row] for row in z]
        following = [[phi * (offset + scale * t[i]) + (1 - phi) * a[i] for i in m] for t, a in zip(th, A0, strict=True)]
        r = th[-1]
        if previous_th is None:  # relative to the reference row, whose state is the same for all
            block = [
                [phi * scale * (t[i] - r[i] - (v[i] - z[-1][i]) * (1 - r[i] ** 2)) for i in m]
                for t, v in zip(th, z, strict=True)
            ]
        else:
            before = previous_th[-1]
            block = [
                [y[i] - x[i] - phi * scale * (v[i] - w[i]) * (1 - r[i] * before[i]) for i in m]
                for x, y, v, w in zip(A, following, z, previous_z, strict=True)
            ]
        blocks.append(block[:-1])
        wholes.append([[y[i] - x[i] for i in m] for x, y in zip(A[:-1], following[:-1], strict=True)])
        A, previous_th, previous_z = following, th, z
    return blocks, wholes


def whole_increments(course, initial, n_iter):
    """Return E and D of each iteration in numpy, with the factor that they lack."""
    space = course.space
    walk = islice(increments(course, space.put(initial)), n_iter + 1)
    gains = [1.0, *[course.gain] * n_iter]
    return [(g * space.host(E), g * space.host(D)) for g, (E, D, _) in zip(gains, walk, strict=True)]


@pytest.mark.parametrize("phi", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_increments_keep_their_digits_at_every_iteration(activation, rule, phi, space, rng):
    X = rng.random((6, 3))
    network = Network.from_rule(rule, rng.normal(size=(3, 3)) / 2, rng.normal(size=3) / 5, phi, ACTIVATIONS[activation])
    reference = X.mean(axis=0)
    ours = whole_increments(Course(space, network, reference, N_ITER), X, N_ITER)[1:]
    with mpmath.workdps(80):
        for pair, *exact in zip(ours, *exact_increments(network, X, reference), strict=True):
            for block, digits in zip(pair, exact, strict=True):
                truth = np.array([[float(v) for v in row] for row in digits])
                np.testing.assert_allclose(block, truth, rtol=0, atol=1e-11 * np.abs(truth).max())


@pytest.mark.parametrize("rule", RULES)
def test_increments_span_what_the_states_span(rule, rng):
    X = rng.random((200, 3))
    network = Network.from_rule(rule, rng.normal(size=(3, 3)), rng.normal(size=3), 0.9, ACTIVATIONS["tanh"])
    H = np.hstack([np.ones((200, 1)), *trajectory(network, X, 3).transpose(1, 0, 2)])
    F = np.hstack([np.ones((200, 1)), *increments_of(network, X, X.mean(axis=0), 3)])
    for target, basis in ((H, F), (F, H)):
        residual = target - basis @ np.linalg.lstsq(basis, target, rcond=None)[0]
        np.testing.assert_allclose(residual, 0, atol=1e-8)


@pytest.mark.parametrize("phi", [0.6, 1.0])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_readout_of_the_states_equals_that_of_the_increments(activation, rule, phi, rng):
    X, reference = rng.random((50, 3)), rng.random(3)
    network = Network.from_rule(rule, rng.normal(size=(3, 3)), rng.normal(size=3), phi, ACTIVATIONS[activation])
    coefficients = rng.normal(size=(5, 3, 2))
    R, constant = states_readout(network, reference, coefficients)
    blocks = increments_of(network, X, reference, 4)
    expected = sum(block @ K for block, K in zip(blocks, coefficients, strict=True))
    scores = np.einsum("ntm,tmk->nk", trajectory(network, X, 4), R) + constant
    np.testing.assert_allclose(scores, expected, atol=1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_saturated_concepts_keep_their_digits(activation, space, rng):
    X = rng.random((40, 3))
    network = Network(50 * rng.normal(size=(3, 3)), 20 * rng.normal(size=3), 0.8, ACTIVATIONS[activation])
    states = trajectory(network, X, 6)
    for t, (linearised, whole) in enumerate(whole_increments(Course(space, network, X[0]), X, 6)):
        assert np.isfinite(linearised).all()
        expected = states[:, t] - states[:, t - 1] if t else X
        np.testing.assert_allclose(whole, expected, atol=1e-13)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("phi", [0.0, 0.8, 1.0])
def test_increments_on_a_device_are_those_of_numpy(activation, phi, device, rng):
    network = Network(rng.normal(size=(4, 4)) / 3, rng.normal(size=4) / 4, phi, ACTIVATIONS[activation])
    initial = rng.random((50, 4))
    reference = initial.mean(axis=0)
    expected = whole_increments(Course(NUMPY, network, reference), initial, 12)
    there = whole_increments(Course(device, network, reference, 12), initial, 12)
    for one, other in zip(there, expected, strict=True):
        for ours, theirs in zip(one, other, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-13 * np.abs(theirs).max())


def test_rows_pass_through_in_blocks(rng):
    X, reference = rng.random((600, 3)), rng.random(3)
    network = Network(rng.normal(size=(3, 3)), rng.normal(size=3), 0.7, ACTIVATIONS["tanh"])
    course = Course(NUMPY, network, reference)
    parts = [whole_increments(course, rows, 3) for rows in np.array_split(X, 7)]
    expected = [np.concatenate([E for E, _ in part]) for part in zip(*parts, strict=True)]
    for E, blocks in zip(increments_of(network, X, reference, 3), expected, strict=True):
        np.testing.assert_allclose(E, blocks, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("n", [0, 1, 30, STRIP + 1])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_increments_in_lockstep_are_the_same_to_the_last_digits(activation, rule, n, rng):
    """Relative to the largest of an iteration; late ones are many orders below the states that they belong to."""
    W, b = 0.2 * rng.normal(size=(6, 6)), rng.normal(size=6)
    network = Network.from_rule(rule, W, b, 0.8, ACTIVATIONS[activation])
    X = rng.random((n, 6))
    reference = np.full(6, 0.5)
    course = Course(NUMPY, network, reference)
    n_read = 0
    walk = zip(lockstep(course, X), whole_increments(course, X, 14), strict=False)
    for (E, change), (expected, moved) in walk:
        np.testing.assert_allclose(E, expected, rtol=0, atol=1e-13 * np.abs(expected).max(initial=0))
        assert change == pytest.approx(np.abs(moved).max(initial=0), rel=1e-12)
        E[:] = np.nan  # the caller may do as it likes with it
        n_read += 1
    assert n_read == 15
    assert np.isfinite(X).all()


def test_the_changes_are_those_of_the_states(rng):
    X = rng.random((600, 3))
    network = Network(rng.normal(size=(3, 3)), rng.normal(size=3), 0.7, ACTIVATIONS["tanh"])
    states = trajectory(network, X, 5)
    walk = islice(lockstep(Course(NUMPY, network, X[0]), X), 1, 6)
    for t, (_, change) in enumerate(walk, start=1):
        assert change == pytest.approx(np.abs(states[:, t] - states[:, t - 1]).max())


def test_lockstep_has_the_same_bits_for_any_number_of_workers(rng, monkeypatch):
    X = rng.random((10 * STRIP + 7, 5))
    network = Network(rng.normal(size=(5, 5)), rng.normal(size=5), 0.7, ACTIVATIONS["sigmoid"])
    results = []
    for workers in (1, 2, 4):
        monkeypatch.setattr(threads, "n_workers", lambda workers=workers: workers)
        results.append(np.array(increments_of(network, X, X.mean(axis=0), 5)))
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all()


@pytest.mark.parametrize("started", [False, True])
def test_the_step_does_what_the_operations_do(started, device, rng):
    """Both branches of the fraction among them."""
    pulled, start, d, e_before = rng.normal(size=(4, 60, 3)) * 10.0 ** rng.uniform(-9, 1, (4, 60, 3))
    z, z_before = rng.normal(size=(2, 3))
    r, r_before = np.tanh(z), np.tanh(z_before)
    expected = operations(np, pulled + start if started else pulled, d, e_before, z, r, r_before)
    there = [device.put(x) for x in (pulled, start, d, e_before, z, r, r_before)]
    if not started:
        there[1] = None
    for ours, theirs in zip(step(device, *there), expected, strict=True):
        np.testing.assert_allclose(device.host(ours), theirs, rtol=1e-13, atol=1e-13 * np.abs(theirs).max())
