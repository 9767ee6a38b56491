"""The ridge against scikit-learn's on the same standardised increments, from inside and from outside."""

from itertools import islice

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.preprocessing import scale

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network, trajectory
from cogmap.core.readout.ridge import Design, smooth, solve, spectrum
from cogmap.core.trajectory.increments import increments

SHAPES = {"tall": (40, 3, 3), "square": (16, 4, 3), "wide": (14, 5, 4)}
WEIGHTS = ("none", "fractional", "integer")


def problem(rng, shape="tall", kind="none", decay=1.0):
    n, m, n_iter = SHAPES[shape]
    network = Network(1.5 * rng.normal(size=(m, m)), rng.normal(size=m), 0.9, ACTIVATIONS["tanh"])
    X = rng.random((n, m))
    weight = {"none": np.ones(n), "fractional": rng.uniform(0.3, 2.5, n), "integer": rng.integers(1, 4, n) * 1.0}[kind]
    reference = np.average(X, axis=0, weights=weight)
    return Design(network, X, reference, weight, np.minimum(1, weight), n_iter, decay), rng.normal(size=(n, 2))


def standardised(design, rows):
    """Return the increments of rows in the training rows' mean and spread, iteration t times decay^(t/2)."""
    found = []
    for t in range(design.n_iter + 1):
        E, new = (
            next(islice(increments(design.network, A, design.reference), t, None)).linearised
            for A in (design.initial, rows)
        )
        mean = np.average(E, axis=0, weights=design.sample_weight)
        spread = np.sqrt(np.average((E - mean) ** 2, axis=0, weights=design.sample_weight))
        found.append(design.decay ** (t / 2) * (new - mean) / spread)
    return np.hstack(found)


def ridge(Z, target, weight, alpha):
    return Ridge(alpha=alpha, solver="svd").fit(Z, target, sample_weight=weight)


@pytest.mark.parametrize("alpha", [1e-3, 0.7, 50.0])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_scores_equal_scikit_learn(shape, kind, alpha, rng):
    design, target = problem(rng, shape, kind)
    found = spectrum(design)
    model = ridge(standardised(design, design.initial), target, design.sample_weight, alpha)
    expected = model.predict(standardised(design, design.initial))
    np.testing.assert_allclose(smooth(design, found, target, alpha)[0], expected, rtol=1e-8, atol=1e-8)
    new = rng.random((30, design.shape[1] // (design.n_iter + 1)))
    expected = model.predict(standardised(design, new))
    readout = solve(design, found, target, alpha)
    assert readout.n_iter == design.n_iter
    np.testing.assert_allclose(readout.scores(design.network, new), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("alpha", [0.05, 3.0])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_leave_one_out_equals_explicit_refits(shape, kind, alpha, rng):
    design, target = problem(rng, shape, kind)
    outside = smooth(design, spectrum(design), target, alpha)[1]
    Z = standardised(design, design.initial)
    for i in range(len(Z)):
        less = design.sample_weight.copy()
        less[i] = max(less[i] - 1, 0)
        refitted = ridge(Z, target, less, alpha).predict(Z[i : i + 1])[0]
        np.testing.assert_allclose(outside[i], refitted, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("decay", [0.3, 0.03])
def test_decay_weighs_each_further_iteration_less(decay, shape, rng):
    """Scaling a column by √decay is dividing its penalty by the decay."""
    design, target = problem(rng, shape, decay=decay)
    found = spectrum(design)
    model = ridge(standardised(design, design.initial), target, design.sample_weight, 0.5)
    new = rng.random((30, design.initial.shape[1]))
    scores = solve(design, found, target, 0.5).scores(design.network, new)
    np.testing.assert_allclose(scores, model.predict(standardised(design, new)), rtol=1e-8, atol=1e-8)
    undecayed, _ = problem(np.random.default_rng(0), shape)
    Z = standardised(undecayed, undecayed.initial)
    penalty = 0.5 / np.repeat(decay ** np.arange(design.n_iter + 1), design.initial.shape[1])
    beta = np.linalg.solve(Z.T @ Z + np.diag(penalty), Z.T @ (target - target.mean(axis=0)))
    fitted = smooth(design, found, target, 0.5)[0]
    np.testing.assert_allclose(fitted, target.mean(axis=0) + Z @ beta, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("kind", ["none", "fractional"])
@pytest.mark.parametrize("shape", SHAPES)
def test_spectrum_equals_that_of_the_whole_matrix(shape, kind, rng):
    """Rows and columns that nearly repeat others make singular values of 1e-9: a Gram matrix would lose them."""
    design, _ = problem(rng, shape, kind)
    design.initial[[3, 5]] = design.initial[[2, 4]] + 1e-9 * rng.normal(size=(2, 1))
    design.initial[:, 1] = design.initial[:, 0] + 1e-9 * rng.normal(size=len(design.initial))
    design.network.weights[:, 1] = design.network.weights[:, 0]
    design.network.bias[1] = design.network.bias[0]
    Z = standardised(design, design.initial) * np.sqrt(design.sample_weight)[:, None]
    U, S, _ = np.linalg.svd(Z, full_matrices=False)
    found = spectrum(design)
    k = len(found.S)
    np.testing.assert_allclose(found.S, S[:k], rtol=1e-9, atol=1e-13 * S[0])
    assert (S[k:] < 1e-13 * S[0]).all()
    assert 1e-12 < found.S[-1] / S[0] < 1e-8
    large = S[:k] > 1e-3 * S[0]
    np.testing.assert_allclose(np.abs((found.U * U[:, :k]).sum(axis=0))[large], 1, atol=1e-9)


@pytest.mark.parametrize("alpha", [1e-6, 1.0])
def test_condition_is_that_of_the_penalised_matrix(alpha, rng):
    design, _ = problem(rng)
    Z = standardised(design, design.initial)
    expected = np.linalg.cond(np.vstack([Z, np.sqrt(alpha) * np.eye(Z.shape[1])]))
    assert spectrum(design).condition(alpha) == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_shares_left_by_the_penalty_add_up_to_the_trace_of_the_smoother(shape, rng):
    design, _ = problem(rng, shape, "fractional")
    Z = standardised(design, design.initial)
    smoother = ridge(Z, np.eye(len(Z)), design.sample_weight, 0.4).predict(Z)
    assert 1 + spectrum(design).kept(0.4).sum() == pytest.approx(np.trace(smoother), rel=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_outer_weights_on_the_states_give_the_same_scores(shape, rng):
    design, target = problem(rng, shape)
    model = ridge(standardised(design, design.initial), target, design.sample_weight, 0.5)
    R, q = solve(design, spectrum(design), target, 0.5).outer(design.network)
    new = rng.random((30, design.initial.shape[1]))
    found = np.einsum("ntm,tmk->nk", trajectory(design.network, new, design.n_iter), R) + q
    np.testing.assert_allclose(found, model.predict(standardised(design, new)), rtol=1e-8, atol=1e-8)


def test_a_constant_concept_has_no_part_in_the_scores(rng):
    """Nothing leads to it and its bias keeps it where it is, so that all its increments are constant."""
    design, target = problem(rng)
    design.initial[:, 1] = 0.4
    design.network.weights[:, 1] = 0
    design.network.bias[1] = np.arctanh(0.4)
    readout = solve(design, spectrum(design), target, 0.5)
    assert not readout.coefficients[:, 1].any()
    E = [block[:, [0, 2]] for block, _ in islice(increments(design.network, design.initial, design.reference), 4)]
    Z = scale(np.hstack(E))
    expected = ridge(Z, target, np.ones(40), 0.5).predict(Z)
    np.testing.assert_allclose(readout.scores(design.network, design.initial), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_weight_k_equals_a_row_repeated_k_times(shape, rng):
    design, target = problem(rng, shape, "integer")
    times = design.sample_weight.astype(int)
    ones = np.ones(times.sum())
    repeated = Design(
        design.network, np.repeat(design.initial, times, axis=0), design.reference, ones, ones, design.n_iter
    )
    inside, outside = smooth(design, spectrum(design), target, 0.2)
    again = smooth(repeated, spectrum(repeated), np.repeat(target, times, axis=0), 0.2)
    np.testing.assert_allclose(np.repeat(inside, times, axis=0), again[0], rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(np.repeat(outside, times, axis=0), again[1], rtol=1e-9, atol=1e-10)
