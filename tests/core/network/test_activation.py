import numpy as np
import pytest

from cogmap.core.network.activation import ACTIVATIONS, EPSILON, STEPS

NAIVE = {"sigmoid": lambda z: 1 / (1 + np.exp(-z)), "tanh": np.tanh}


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_value_equals_the_textbook_formula(name):
    z = np.linspace(-20, 20, 1001)
    np.testing.assert_allclose(ACTIVATIONS[name](z), NAIVE[name](z), atol=1e-15)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_derivative_equals_a_finite_difference(name):
    z, h = np.linspace(-6, 6, 101), 1e-5
    difference = (NAIVE[name](z + h) - NAIVE[name](z - h)) / (2 * h)
    np.testing.assert_allclose(ACTIVATIONS[name].derivative(z), difference, atol=1e-9)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_lipschitz_constant_is_the_largest_derivative(name):
    z = np.linspace(-6, 6, 100_001)
    assert ACTIVATIONS[name].lipschitz == pytest.approx(ACTIVATIONS[name].derivative(z).max())


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_inverse_undoes_the_activation_inside_the_range(name):
    f = ACTIVATIONS[name]
    margin = EPSILON * (f.high - f.low)
    y = np.linspace(f.low + margin, f.high - margin, 101)
    np.testing.assert_allclose(NAIVE[name](f.inverse(y)), y, rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_inverse_is_finite_and_monotone_at_the_ends_of_the_range(name):
    f = ACTIVATIONS[name]
    z = f.inverse(np.linspace(f.low, f.high, 101))
    assert np.isfinite(z).all()
    assert (np.diff(z) >= 0).all()
    assert z[0] == pytest.approx(-z[-1])


def test_steps_are_the_limit_of_steep_activations():
    z = np.array([-2.0, -1e-9, 0.0, 1e-9, 2.0])
    assert STEPS["bivalent"](z).tolist() == [0, 0, 0, 1, 1]
    assert STEPS["trivalent"](z).tolist() == [-1, -1, 0, 1, 1]
    away = np.array([-2.0, -0.1, 0.1, 2.0])
    for step, smooth in (("bivalent", "sigmoid"), ("trivalent", "tanh")):
        np.testing.assert_allclose(STEPS[step](away), NAIVE[smooth](300 * away), atol=1e-12)
        assert not STEPS[step].derivative(away).any()
