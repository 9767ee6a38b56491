"""The increments against 80-digit arithmetic: every activation, every rule, up to iteration 20."""

from itertools import islice

import mpmath
import numpy as np
import pytest

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import RULES, Network, trajectory
from cogmap.core.trajectory.increments import Course, block_increments, increments, states_readout, tanh_parts

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


@pytest.mark.parametrize("phi", [0.5, 0.8, 1.0])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_increments_keep_their_digits_at_every_iteration(activation, rule, phi, rng):
    X = rng.random((6, 3))
    network = Network.from_rule(rule, rng.normal(size=(3, 3)) / 2, rng.normal(size=3) / 5, phi, ACTIVATIONS[activation])
    reference = X.mean(axis=0)
    found = islice(block_increments(Course(network, reference), X), 1, N_ITER + 1)
    with mpmath.workdps(80):
        for ours, *exact in zip(found, *exact_increments(network, X, reference), strict=True):
            for block, digits in zip(ours, exact, strict=True):
                truth = np.array([[float(v) for v in row] for row in digits])
                np.testing.assert_allclose(block, truth, rtol=0, atol=1e-11 * np.abs(truth).max())


@pytest.mark.parametrize("rule", RULES)
def test_increments_span_what_the_states_span(rule, rng):
    X = rng.random((200, 3))
    network = Network.from_rule(rule, rng.normal(size=(3, 3)), rng.normal(size=3), 0.9, ACTIVATIONS["tanh"])
    H = np.hstack([np.ones((200, 1)), *trajectory(network, X, 3).transpose(1, 0, 2)])
    F = np.hstack([np.ones((200, 1)), *(block for block, _ in islice(increments(network, X, X.mean(axis=0)), 4))])
    for target, basis in ((H, F), (F, H)):
        residual = target - basis @ np.linalg.lstsq(basis, target, rcond=None)[0]
        np.testing.assert_allclose(residual, 0, atol=1e-8)


def test_tanh_and_what_it_lacks_are_accurate_for_small_and_large_arguments():
    u = np.concatenate([sign * np.logspace(-12, 2, 5000) for sign in (-1, 1)])
    with mpmath.workdps(60):
        exact = [(mpmath.tanh(v), mpmath.tanh(v) - v) for v in map(mpmath.mpf, u.tolist())]
    layouts = u, u.reshape(100, 100), u.reshape(100, 100, order="F"), np.repeat(u, 2)[::2]
    for given, order in zip(layouts, "CCFC", strict=True):
        for found, truth in zip(tanh_parts(given), zip(*exact, strict=True), strict=True):
            np.testing.assert_allclose(found.ravel(order=order), np.array(truth, dtype=float), rtol=3e-15)


@pytest.mark.parametrize("phi", [0.6, 1.0])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_readout_of_the_states_equals_that_of_the_increments(activation, rule, phi, rng):
    X, reference = rng.random((50, 3)), rng.random(3)
    network = Network.from_rule(rule, rng.normal(size=(3, 3)), rng.normal(size=3), phi, ACTIVATIONS[activation])
    coefficients = rng.normal(size=(5, 3, 2))
    R, constant = states_readout(network, reference, coefficients)
    blocks = [block for block, _ in islice(increments(network, X, reference), 5)]
    expected = sum(block @ K for block, K in zip(blocks, coefficients, strict=True))
    found = np.einsum("ntm,tmk->nk", trajectory(network, X, 4), R) + constant
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_saturated_concepts_keep_their_digits(activation, rng):
    X = rng.random((40, 3))
    network = Network(50 * rng.normal(size=(3, 3)), 20 * rng.normal(size=3), 0.8, ACTIVATIONS[activation])
    states = trajectory(network, X, 6)
    for t, (linearised, whole) in enumerate(islice(block_increments(Course(network, X[0]), X), 7)):
        assert np.isfinite(linearised).all()
        expected = states[:, t] - states[:, t - 1] if t else X
        np.testing.assert_allclose(whole, expected, atol=1e-13)


def test_rows_pass_through_in_blocks(rng):
    X, reference = rng.random((600, 3)), rng.random(3)
    network = Network(rng.normal(size=(3, 3)), rng.normal(size=3), 0.7, ACTIVATIONS["tanh"])
    states = trajectory(network, X, 3)
    parts = [islice(block_increments(Course(network, reference), rows), 4) for rows in np.array_split(X, 7)]
    expected = [np.concatenate([linearised for linearised, _ in part]) for part in zip(*parts, strict=True)]
    for t, (linearised, change) in enumerate(islice(increments(network, X, reference), 4)):
        np.testing.assert_allclose(linearised, expected[t], rtol=1e-9, atol=1e-14)
        assert t == 0 or change == pytest.approx(np.abs(states[:, t] - states[:, t - 1]).max())
