"""Derivatives against differences in 120-digit arithmetic: every activation, every rule, up to iteration 12."""

import mpmath
import numpy as np
import pytest

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import RULES, Network
from cogmap.core.trajectory.gradient import increments_gradient, states_gradient

N_ITER, N_CONCEPTS, STEP = 12, 2, mpmath.mpf(10) ** -20


def exact_path(network, row):
    """States and pre-activations of one row in the digits at hand, by the rule as it is printed."""
    f, phi = network.activation, mpmath.mpf(network.phi)
    m = range(len(row))
    A, states, arguments = row, [row], []
    for _ in range(N_ITER):
        z = [
            mpmath.mpf(f.slope)
            * (mpmath.fsum(A[j] * mpmath.mpf(network.weights[j, i]) for j in m) + mpmath.mpf(network.bias[i]))
            for i in m
        ]
        A = [phi * (f.offset + f.scale * mpmath.tanh(z[i])) + (1 - phi) * row[i] for i in m]
        arguments.append(z)
        states.append(A)
    return states, arguments


def exact_increments(network, row, reference):
    """E¹ … Eᵀ of one row by subtraction: the increment less its linearisation about the reference."""
    (A, z), (_, z_ref) = exact_path(network, row), exact_path(network, reference)
    gain, m = mpmath.mpf(network.phi) * network.activation.scale, range(len(row))
    r = [[mpmath.tanh(v) for v in step] for step in z_ref]
    found = [[gain * (mpmath.tanh(z[0][i]) - r[0][i] - (z[0][i] - z_ref[0][i]) * (1 - r[0][i] ** 2)) for i in m]]
    later = (
        [A[t + 1][i] - A[t][i] - gain * (z[t][i] - z[t - 1][i]) * (1 - r[t][i] * r[t - 1][i]) for i in m]
        for t in range(1, N_ITER)
    )
    return [*found, *later]


def exact_jacobians(function, row):
    """∂ function_t,i / ∂ row_j for every t, shape (T, i, j), by central differences of 20 digits."""
    columns = []
    for j in range(len(row)):
        up, down = ([v + sign * STEP * (k == j) for k, v in enumerate(row)] for sign in (1, -1))
        pairs = zip(function(up), function(down), strict=True)
        columns.append([[float((a - b) / (2 * STEP)) for a, b in zip(u, d, strict=True)] for u, d in pairs])
    return np.array(columns).transpose(1, 2, 0)


@pytest.fixture(params=[(f, rule, phi) for f in ACTIVATIONS for rule in RULES for phi in (0.8, 1.0)], ids=str)
def network(request, rng):
    activation, rule, phi = request.param
    W, b = rng.normal(size=(N_CONCEPTS, N_CONCEPTS)) / 2, rng.normal(size=N_CONCEPTS) / 5
    return Network.from_rule(rule, W, b, phi, ACTIVATIONS[activation])


def as_digits(row):
    return [mpmath.mpf(float(v)) for v in row]


def test_derivatives_of_increments_keep_their_digits_at_every_iteration(network, rng):
    row, reference = rng.random(N_CONCEPTS), rng.random(N_CONCEPTS)
    with mpmath.workdps(120):
        exact = exact_jacobians(lambda digits: exact_increments(network, digits, as_digits(reference)), as_digits(row))
    for t in range(1, N_ITER + 1):
        coefficients = np.zeros((1, N_ITER + 1, N_CONCEPTS, N_CONCEPTS))
        coefficients[0, t] = np.eye(N_CONCEPTS)
        found = increments_gradient(network, row[None], reference, coefficients, np.zeros(1, np.intp))[0]
        np.testing.assert_allclose(found, exact[t - 1], rtol=0, atol=1e-11 * np.abs(exact[t - 1]).max())


def test_derivatives_of_states(network, rng):
    row = rng.random(N_CONCEPTS)
    with mpmath.workdps(120):
        exact = exact_jacobians(lambda digits: exact_path(network, digits)[0][1:], as_digits(row))
    weights = rng.normal(size=(N_ITER + 1, 3, N_CONCEPTS))
    expected = weights[0] + np.einsum("tki,tij->kj", weights[1:], exact)
    np.testing.assert_allclose(states_gradient(network, row[None], weights)[0], expected, atol=1e-12)


def test_rows_and_levels_do_not_mix(network, rng):
    rows, reference = rng.random((7, N_CONCEPTS)), rng.random(N_CONCEPTS)
    coefficients, level = rng.normal(size=(3, 5, 4, N_CONCEPTS)), np.array([0, 1, 2, 2, 1, 0, 0])
    together = increments_gradient(network, rows, reference, coefficients, level)
    assert together.shape == (7, 4, N_CONCEPTS)
    for i, own in enumerate(level):
        alone = increments_gradient(network, rows[i : i + 1], reference, coefficients[[own]], np.zeros(1, np.intp))
        np.testing.assert_allclose(together[i], alone[0], rtol=1e-12, atol=1e-13)


def test_without_iterations_the_derivatives_are_the_coefficients(rng):
    network = Network(rng.normal(size=(2, 2)), np.zeros(2), 0.8, ACTIVATIONS["tanh"])
    coefficients = rng.normal(size=(1, 1, 3, 2))
    found = increments_gradient(network, rng.random((4, 2)), np.zeros(2), coefficients, np.zeros(4, np.intp))
    np.testing.assert_array_equal(found, np.tile(coefficients[0, 0], (4, 1, 1)))
