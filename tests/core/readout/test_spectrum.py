"""The spectrum of columns that are not held against that of the whole matrix, and scikit-learn's ridge refitted."""

import numpy as np
import pytest

from cogmap.core.readout.spectrum import Problem, smooth, spectrum_of
from tests.core.readout.test_dual import SHAPES, WEIGHTS, blocks_of, problem, ridge, spectrum, standardised


def test_singular_values_are_kept_whatever_their_unit(rng):
    given, _ = problem(rng, "wide")
    blocks = blocks_of(given)
    expected, found = (spectrum_of([unit * Z for Z in blocks], *given.shape).S for unit in (1.0, 1e-18))
    np.testing.assert_allclose(found, 1e-18 * expected, rtol=1e-9)


@pytest.mark.parametrize("alpha", [0.05, 3.0])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_leave_one_out_equals_explicit_refits(shape, kind, alpha, rng):
    given, target = problem(rng, shape, kind)
    outside = smooth(given, spectrum(given), target, alpha)[1]
    Z = standardised(given, given.initial)
    for i in range(0, len(Z), 4):
        less = given.sample_weight.copy()
        less[i] = max(less[i] - 1, 0)
        refitted = ridge(Z, target, less, alpha).predict(Z[i : i + 1])[0]
        np.testing.assert_allclose(outside[i], refitted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", ["none", "fractional"])
@pytest.mark.parametrize("shape", SHAPES)
def test_spectrum_equals_that_of_the_whole_matrix(shape, kind, rng):
    """Rows and columns that nearly repeat others make singular values of 1e-9: a Gram matrix would lose them."""
    given, _ = problem(rng, shape, kind)
    given.initial[[3, 5]] = given.initial[[2, 4]] + 1e-9 * rng.normal(size=(2, 1))
    given.initial[:, 1] = given.initial[:, 0] + 1e-9 * rng.normal(size=len(given.initial))
    given.network.weights[:, 1] = given.network.weights[:, 0]
    given.network.bias[1] = given.network.bias[0]
    Z = standardised(given, given.initial) * np.sqrt(given.sample_weight)[:, None]
    U, S, _ = np.linalg.svd(Z, full_matrices=False)
    singular = spectrum(given)
    k = len(singular.S)
    np.testing.assert_allclose(singular.S, S[:k], rtol=1e-9, atol=1e-13 * S[0])
    assert (S[k:] < 1e-13 * S[0]).all()
    assert 1e-12 < singular.S[-1] / S[0] < 1e-8
    large = S[:k] > 1e-3 * S[0]
    np.testing.assert_allclose(np.abs((singular.U * U[:, :k]).sum(axis=0))[large], 1, atol=1e-9)


@pytest.mark.parametrize("alpha", [1e-6, 1.0])
def test_condition_is_that_of_the_penalised_matrix(alpha, rng):
    given, _ = problem(rng)
    Z = standardised(given, given.initial)
    expected = np.linalg.cond(np.vstack([Z, np.sqrt(alpha) * np.eye(Z.shape[1])]))
    assert spectrum(given).condition(alpha) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_shares_left_by_the_penalty_add_up_to_the_trace_of_the_smoother(shape, rng):
    given, _ = problem(rng, shape, "fractional")
    Z = standardised(given, given.initial)
    smoother = ridge(Z, np.eye(len(Z)), given.sample_weight, 0.4).predict(Z)
    assert 1 + spectrum(given).kept(0.4).sum() == pytest.approx(np.trace(smoother), rel=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_weight_k_equals_a_row_repeated_k_times(shape, rng):
    given, target = problem(rng, shape, "integer")
    times = given.sample_weight.astype(int)
    ones = np.ones(times.sum())
    repeated = Problem(
        given.network, np.repeat(given.initial, times, axis=0), given.reference, ones, ones, given.n_iter
    )
    inside, outside = smooth(given, spectrum(given), target, 0.2)
    again = smooth(repeated, spectrum(repeated), np.repeat(target, times, axis=0), 0.2)
    np.testing.assert_allclose(np.repeat(inside, times, axis=0), again[0], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(np.repeat(outside, times, axis=0), again[1], rtol=1e-9, atol=1e-10)
