"""The dual against the primal solution written out, scikit-learn's ridge refitted without each row, and brute force."""

import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import Ridge
from sklearn.preprocessing import scale

from cogmap.core.constants import RIDGE_DECAYS, RIDGE_PENALTIES
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network, trajectory
from cogmap.core.readout import dual
from cogmap.core.readout.dual import (
    Gram,
    Problem,
    choose,
    dual_of,
    fit_factor,
    fit_gram,
    fit_penalty,
    needed,
    read,
    readout,
    smooth,
    spectrum_of,
    standardise,
)
from cogmap.core.readout.terms import raw_scores
from cogmap.core.sums import threads
from cogmap.core.sums.space import NUMPY, STRIP
from tests.core.problems import increments_of

SHAPES = {"tall": (40, 3, 3), "square": (16, 4, 3), "wide": (14, 5, 4)}
WEIGHTS = ("none", "fractional", "integer")


def problem(rng, shape="tall", kind="none", decay=1.0):
    n, m, n_iter = SHAPES[shape]
    network = Network(1.5 * rng.normal(size=(m, m)), rng.normal(size=m), 0.9, ACTIVATIONS["tanh"])
    X = rng.random((n, m))
    weight = {"none": np.ones(n), "fractional": rng.uniform(0.3, 2.5, n), "integer": rng.integers(1, 4, n) * 1.0}[kind]
    reference = np.average(X, axis=0, weights=weight)
    return Problem(network, X, reference, weight, np.minimum(1, weight), n_iter, decay), rng.normal(size=(n, 2))


def standardised(given, rows):
    """Return the increments of rows in the training rows' mean and spread, iteration t times decay^(t/2)."""
    parts = []
    pairs = (increments_of(given.network, A, given.reference, given.n_iter) for A in (given.initial, rows))
    for t, (E, new) in enumerate(zip(*pairs, strict=True)):
        mean = np.average(E, axis=0, weights=given.sample_weight)
        spread = np.sqrt(np.average((E - mean) ** 2, axis=0, weights=given.sample_weight))
        parts.append(given.decay ** (t / 2) * (new - mean) / spread)
    return np.hstack(parts)


def ridge(Z, target, weight, alpha):
    return Ridge(alpha=alpha, solver="svd").fit(Z, target, sample_weight=weight)


def blocks_of(given):
    """Return what is read of each iteration, with the decay."""
    return [given.decay ** (t / 2) * block.Z.copy() for t, block in enumerate(read(given, 0.0))]


def spectrum(given):
    return spectrum_of(blocks_of(given), *given.shape)


def scores_of(given, read_out, rows):
    return raw_scores(read_out, NUMPY, given.network, rows)


def primal(Z, target, weight, alpha):
    """Return intercept and coefficients: minimise Σ w ‖y − q − z β‖² + α ‖β‖²."""
    mean, total = weight @ Z / weight.sum(), weight.sum()
    centred = Z - mean
    normal = (centred * weight[:, None]).T @ centred + alpha * np.eye(Z.shape[1])
    beta = np.linalg.solve(normal, (centred * weight[:, None]).T @ (target - weight @ target / total))
    return weight @ target / total - mean @ beta, beta


@settings(max_examples=40)
@given(st.integers(1, 9), st.integers(1, 12), st.integers(1, 10), st.floats(1e-3, 1e3), st.integers(0, 2**32 - 1))
def test_the_inverse_in_parts_is_the_inverse_and_leaves_the_matrix(n, m, width, alpha, seed):
    rng = np.random.default_rng(seed)
    blocks, target = [rng.normal(size=(n, m)) for _ in range(2)], rng.normal(size=(n, 2))
    gram = Gram.zeros(n)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(dual, "COLUMNS", width)
        for Z, penalty in zip(blocks, (1.0, alpha), strict=True):
            gram.add(Z)
            # Twice: the first factor is not in the way of the second.
            gram.inverse_of_penalised(10 * penalty, target)
            solved, diagonal = gram.inverse_of_penalised(penalty, target)
        other = Gram.zeros(n)
        other.add_scaled(gram, 0.3)
        scaled = other.inverse_of_penalised(0.3 * alpha, target)[0]
    G = sum(Z @ Z.T for Z in blocks)
    inverse = np.linalg.inv(G + alpha * np.eye(n))
    np.testing.assert_allclose(solved, inverse @ target, rtol=1e-8, atol=1e-9 / alpha)
    np.testing.assert_allclose(diagonal, np.diag(inverse), rtol=1e-8, atol=1e-9 / alpha)
    np.testing.assert_allclose(scaled, inverse @ target / 0.3, rtol=1e-8, atol=1e-8 / alpha)
    assert gram.trace == pytest.approx(np.trace(G), rel=1e-12)


@pytest.mark.parametrize("width", [2, 512])
def test_standardised_columns_have_mean_zero_and_variance_one(width, rng, monkeypatch):
    monkeypatch.setattr(dual, "COLUMNS", width)
    E, weight = 3 + rng.normal(size=(8, 5)), rng.uniform(0.5, 2, 8)
    E[:, 3] = 0.1
    Z = E.copy()
    mean, scale = standardise(Z, weight)
    plain = Z / np.sqrt(weight)[:, None]
    np.testing.assert_allclose(weight @ plain, 0, atol=1e-12)
    np.testing.assert_allclose(weight @ plain**2 / weight.sum(), [1, 1, 1, 0, 1], atol=1e-12)
    np.testing.assert_allclose(mean, np.average(E, axis=0, weights=weight), rtol=1e-12)
    np.testing.assert_allclose(((E - mean) * scale) * np.sqrt(weight)[:, None], Z, atol=1e-12)
    assert scale[3] == 0


@pytest.mark.parametrize("fit", [fit_gram, fit_factor])
@pytest.mark.parametrize("alpha", [0.05, 3.0])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_scores_equal_the_primal_solution_and_explicit_refits(shape, kind, alpha, fit, rng):
    given, target = problem(rng, shape, kind)
    weight = given.sample_weight
    choice = fit(given, target, alpha, 0.0)
    found, Z = choice.solution, standardised(given, given.initial)
    constant, beta = primal(Z, target, weight, alpha)
    np.testing.assert_allclose(found.fitted, constant + Z @ beta, rtol=1e-8, atol=1e-8)
    new = rng.random((30, given.initial.shape[1]))
    expected = constant + standardised(given, new) @ beta
    read_out = readout(given, target, choice)
    np.testing.assert_allclose(scores_of(given, read_out, new), expected, rtol=1e-8, atol=1e-8)
    R, q = read_out.outer(given.network)
    states = trajectory(given.network, new, given.n_iter)
    np.testing.assert_allclose(np.einsum("ntm,tmk->nk", states, R) + q, expected, rtol=1e-8, atol=1e-8)
    for i in range(0, len(Z), 4):
        less = weight.copy()
        less[i] = max(less[i] - 1, 0)
        refitted = ridge(Z, target, less, alpha).predict(Z[i : i + 1])[0]
        np.testing.assert_allclose(found.outside[i], refitted, rtol=1e-8, atol=1e-8)
    smoother = ridge(Z, np.eye(len(Z)), weight, alpha).predict(Z)
    assert found.degrees_of_freedom == pytest.approx(np.trace(smoother), rel=1e-8)
    assert found.error == pytest.approx(weight @ ((target - found.outside) ** 2).sum(axis=1), rel=1e-12)
    S = np.linalg.svd((Z - np.average(Z, axis=0, weights=weight)) * np.sqrt(weight)[:, None], compute_uv=False)
    assert found.condition <= 1.01 * (1 + (S**2).sum() / alpha)
    assert found.alpha == alpha
    assert found.rank == (None if fit is fit_gram else np.count_nonzero(1e-10 * S[0] < S) + 1)


def brute_force(given, target, candidates):
    """Return the least leave-one-out error of pairs of decay and iterations and of all penalties, with those."""
    weight, trials = given.sample_weight, []
    for decay, n_iter in candidates:
        tried = replace(given, n_iter=n_iter, decay=decay)
        Z = standardised(tried, given.initial)
        size = (weight @ Z**2).sum() / min(Z.shape[1], len(Z) - 1)
        for alpha in RIDGE_PENALTIES * size:
            outside = smooth(tried, spectrum(tried), target, alpha)[1]
            trials.append((weight @ ((target - outside) ** 2).sum(axis=1), alpha, decay, n_iter))
    return min(trials)


@pytest.mark.parametrize("iterations", [(0,), (4,), (0, 6)])
@pytest.mark.parametrize(("most", "decays"), [(14, RIDGE_DECAYS), (13, (1.0,))])
@pytest.mark.parametrize("seed", [9, 8])
def test_a_decay_is_found_where_rows_are_few(seed, most, decays, iterations, monkeypatch):
    """Whether or not all iterations are among those tried anyway; concepts count for more than what follows."""
    monkeypatch.setattr(dual, "HOPELESS", np.inf)
    monkeypatch.setattr(dual, "RIDGE_WORTH", 0.0)
    monkeypatch.setattr(dual, "RIDGE_ROWS", most)
    monkeypatch.setattr(dual, "RIDGE_ITERATIONS", iterations)
    given, target = problem(np.random.default_rng(seed), "wide", "fractional")
    target[:, 0] += 4 * given.initial[:, 0] + 3 * np.tanh(given.initial @ given.network.weights)[:, 0]
    candidates = [*((1.0, t) for t in iterations if t < 4), *((decay, 4) for decay in decays)]
    error, alpha, decay, n_iter = brute_force(given, target, candidates)
    assert (decay < 1) == (len(decays) > 1)
    found = choose(given, target, 0.0).solution
    assert (found.decay, found.n_iter) == (decay, n_iter)
    assert (found.error, found.alpha) == pytest.approx((error, alpha), rel=1e-8)


@pytest.mark.parametrize("hopeless", [0.01, 1.1, np.inf])
def test_decays_that_begin_hopelessly_are_looked_at_once(hopeless, monkeypatch):
    """The first penalty that is asked with each of them is the one that was best before."""
    monkeypatch.setattr(dual, "HOPELESS", hopeless)
    monkeypatch.setattr(dual, "RIDGE_ITERATIONS", ())
    solve, asked, known, least = dual.solve_dual, {}, [], {}

    def noted(problem, gram, target, alpha):
        solution = solve(problem, gram, target, alpha)
        least.setdefault(problem.decay, min(known, default=np.inf))
        known.append(solution.error)
        asked.setdefault(problem.decay, []).append(solution.error)
        return solution

    monkeypatch.setattr(dual, "solve_dual", noted)
    found = choose(*problem(np.random.default_rng(9), "wide", "fractional"), 0.0).solution
    assert found.error == pytest.approx(min(known), rel=1e-8)
    assert list(asked) == list(RIDGE_DECAYS)
    for decay, errors in asked.items():
        assert (len(errors) == 1) == (errors[0] > hopeless * least[decay])


def test_the_penalty_of_a_single_column_is_that_of_brute_force(rng):
    network = Network(np.array([[0.5]]), np.zeros(1), 0.9, ACTIVATIONS["tanh"])
    X = rng.random((12, 1))
    given, target = Problem(network, X, X.mean(axis=0), np.ones(12), np.ones(12), 0), X + 0.3 * rng.normal(size=(12, 1))
    error, alpha, *_ = brute_force(given, target, [(1.0, 0)])
    found = choose(given, target, 0.0).solution
    assert (found.error, found.alpha) == pytest.approx((error, alpha), rel=1e-8)


def test_iterations_that_add_nothing_are_not_read(rng):
    """Without weights all rows go to the same state at once."""
    given, target = problem(rng)
    given.network.weights[:] = 0
    given = replace(given, network=replace(given.network, phi=1.0))
    assert choose(given, target, 0.0).solution.n_iter == 0


@pytest.mark.parametrize("most", [100, 5])
@pytest.mark.parametrize("kind", ["none", "fractional"])
def test_iterations_decay_and_penalty_are_those_of_brute_force(kind, most, rng, monkeypatch):
    """Decays are tried for few rows only; here 14 rows count as few or as many."""
    monkeypatch.setattr(dual, "RIDGE_ROWS", most)
    monkeypatch.setattr(dual, "RIDGE_ITERATIONS", (0, 1, 3))
    given, target = problem(rng, "wide", kind)
    target[:, 0] += 4 * np.tanh(given.initial @ given.network.weights)[:, 0]
    weight = given.sample_weight
    decays = RIDGE_DECAYS if most > len(target) else (1.0,)
    candidates = [(1.0, 0), (1.0, 1), (1.0, 3), *((decay, 4) for decay in decays)]
    error, alpha, decay, n_iter = brute_force(given, target, candidates)
    choice = choose(given, target, 0.0)
    found = choice.solution
    assert (found.decay, found.n_iter) == (decay, n_iter)
    assert (found.error, found.alpha) == pytest.approx((error, alpha), rel=1e-8)
    Z = standardised(replace(given, n_iter=n_iter, decay=decay), given.initial)
    constant, beta = primal(Z, target, weight, alpha)
    scores = scores_of(given, readout(given, target, choice), given.initial)
    np.testing.assert_allclose(scores, constant + Z @ beta, rtol=1e-7, atol=1e-7)


def test_reading_stops_at_the_fixed_point(rng):
    given, target = problem(rng)
    given = replace(given, n_iter=40, network=replace(given.network, weights=0.2 * given.network.weights))
    change = np.abs(np.diff(trajectory(given.network, given.initial, 40), axis=1)).max(axis=(0, 2))
    tol = float(np.sqrt(change[4] * change[5]))
    assert sum(1 for _ in read(given, tol)) == 6
    assert fit_gram(given, target, 1.0, tol).solution.n_iter == fit_factor(given, target, 1.0, tol).solution.n_iter == 5
    assert choose(given, target, tol).solution.n_iter <= 5
    # The concepts themselves are always read.
    assert sum(1 for _ in read(given, 9.0)) == 1


def test_a_penalty_too_small_for_the_gram_matrix_gets_an_lq_factor(rng):
    """Rows that nearly repeat others: what tells them apart is below the rounding errors of G."""
    given, target = problem(rng, "wide")
    given.initial[[3, 5]] = given.initial[[2, 4]] + 1e-7 * rng.normal(size=(2, 5))
    alpha = 1e-17
    found = fit_penalty(given, target, alpha, 0.0).solution
    Z = standardised(given, given.initial)
    U, S = (part[..., :-1] for part in np.linalg.svd(Z, full_matrices=False)[:2])
    mean = target.mean(axis=0)
    expected = mean + (U * (S**2 / (S**2 + alpha))) @ (U.T @ (target - mean))
    assert S[0] / S[-1] > 1e6
    np.testing.assert_allclose(found.fitted, expected, atol=1e-8)
    assert found.condition == pytest.approx(np.sqrt((S[0] ** 2 + alpha) / (S[-1] ** 2 + alpha)), rel=1e-4)
    from_gram = fit_gram(given, target, 1.0, 0.0).solution
    assert from_gram.condition == pytest.approx(1 + Z.size, rel=1e-9)
    given, target = problem(rng, "tall")
    message = r"alpha=1e-17 is below the rounding errors of 40 rows.*use alpha='loo', or (.*) at least\."
    with pytest.raises(ValueError, match=message) as error:
        fit_penalty(given, target, 1e-17, 0.0)
    least = float(re.search(message, str(error.value))[1])
    assert least < 1e-6
    assert np.isfinite(fit_penalty(given, target, least, 0.0).solution.error)


def test_a_penalty_too_small_for_the_gram_matrix_gets_a_factor_however_large_the_table_is(rng, monkeypatch):
    given, target = problem(rng, "wide")
    given.initial[[3, 5]] = given.initial[[2, 4]] + 1e-7 * rng.normal(size=(2, 5))
    expected = fit_factor(given, target, 1e-17, 0.0).solution
    monkeypatch.setattr(dual, "HELD_BYTES", 0)
    np.testing.assert_allclose(fit_penalty(given, target, 1e-17, 0.0).solution.fitted, expected.fitted, atol=1e-12)


@pytest.mark.parametrize("fit", [fit_gram, fit_factor])
def test_of_rows_that_are_all_alike_the_mean_is_known(fit, rng):
    given, target = problem(rng, "wide", "fractional")
    given.initial[:] = given.initial[0]
    choice = fit(given, target, 0.5, 0.0)
    found = choice.solution
    mean = np.average(target, axis=0, weights=given.sample_weight)
    np.testing.assert_allclose(found.fitted, np.tile(mean, (14, 1)), atol=1e-12)
    assert (found.degrees_of_freedom, found.condition) == pytest.approx((1.0, 1.0))
    assert found.rank in (None, 1)
    scores = scores_of(given, readout(given, target, choice), rng.random((3, 5)))
    np.testing.assert_allclose(scores, np.tile(mean, (3, 1)), atol=1e-12)


@pytest.mark.parametrize(
    ("n", "n_columns", "expected"),
    [
        (100, 10_000, True),  # more columns than rows
        (100, 100, False),
        (20_000, 500, False),  # 80 MB, but few columns
        (20_000, 19_000, True),  # 3 GB
        (20_000, 2_000, False),  # 320 MB, but few columns
    ],
)
def test_wide_problems_and_those_too_large_to_hold_need_the_dual(n, n_columns, expected):
    assert needed(n, n_columns) is expected


@pytest.mark.parametrize("alpha", [1e-3, 0.7, 50.0])
@pytest.mark.parametrize("kind", WEIGHTS)
@pytest.mark.parametrize("shape", SHAPES)
def test_scores_equal_scikit_learn(shape, kind, alpha, rng):
    given, target = problem(rng, shape, kind)
    singular = spectrum(given)
    model = ridge(standardised(given, given.initial), target, given.sample_weight, alpha)
    expected = model.predict(standardised(given, given.initial))
    np.testing.assert_allclose(smooth(given, singular, target, alpha)[0], expected, rtol=1e-8, atol=1e-8)
    new = rng.random((30, given.shape[1] // (given.n_iter + 1)))
    expected = model.predict(standardised(given, new))
    choice = fit_factor(given, target, alpha, 0.0)
    np.testing.assert_allclose(choice.solution.dual, dual_of(given, singular, target, alpha), rtol=1e-7, atol=1e-8)
    read_out = readout(given, target, choice)
    assert read_out.n_iter == given.n_iter
    np.testing.assert_allclose(scores_of(given, read_out, new), expected, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("decay", [0.3, 0.03])
def test_decay_weighs_each_further_iteration_less(decay, shape, rng):
    """Scaling a column by √decay is dividing its penalty by the decay."""
    given, target = problem(rng, shape, decay=decay)
    singular = spectrum(given)
    model = ridge(standardised(given, given.initial), target, given.sample_weight, 0.5)
    new = rng.random((30, given.initial.shape[1]))
    choice = fit_gram(replace(given, decay=1.0), target, 0.5, 0.0)
    solution = choice.solution._replace(decay=decay, dual=dual_of(given, singular, target, 0.5))
    scores = scores_of(given, readout(given, target, replace(choice, solution=solution)), new)
    np.testing.assert_allclose(scores, model.predict(standardised(given, new)), rtol=1e-8, atol=1e-8)
    undecayed, _ = problem(np.random.default_rng(0), shape)
    Z = standardised(undecayed, undecayed.initial)
    penalty = 0.5 / np.repeat(decay ** np.arange(given.n_iter + 1), given.initial.shape[1])
    beta = np.linalg.solve(Z.T @ Z + np.diag(penalty), Z.T @ (target - target.mean(axis=0)))
    fitted = smooth(given, singular, target, 0.5)[0]
    np.testing.assert_allclose(fitted, target.mean(axis=0) + Z @ beta, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("shape", SHAPES)
def test_outer_weights_on_the_states_give_the_same_scores(shape, rng):
    given, target = problem(rng, shape)
    model = ridge(standardised(given, given.initial), target, given.sample_weight, 0.5)
    R, q = readout(given, target, fit_penalty(given, target, 0.5, 0.0)).outer(given.network)
    new = rng.random((30, given.initial.shape[1]))
    scores = np.einsum("ntm,tmk->nk", trajectory(given.network, new, given.n_iter), R) + q
    np.testing.assert_allclose(scores, model.predict(standardised(given, new)), rtol=1e-8, atol=1e-8)


def test_a_constant_concept_has_no_part_in_the_scores(rng):
    """Nothing leads to it and its bias keeps it where it is, so that all its increments are constant."""
    given, target = problem(rng)
    given.initial[:, 1] = 0.4
    given.network.weights[:, 1] = 0
    given.network.bias[1] = np.arctanh(0.4)
    read_out = readout(given, target, fit_penalty(given, target, 0.5, 0.0))
    assert not read_out.coefficients[:, 1].any()
    E = [block[:, [0, 2]] for block in increments_of(given.network, given.initial, given.reference, 3)]
    Z = scale(np.hstack(E))
    expected = ridge(Z, target, np.ones(40), 0.5).predict(Z)
    np.testing.assert_allclose(scores_of(given, read_out, given.initial), expected, rtol=1e-8, atol=1e-8)


def test_a_readout_of_many_rows_has_the_same_bits_for_any_number_of_workers(rng, monkeypatch):
    given, _ = problem(rng)
    X = rng.random((9 * STRIP + 3, 3))
    many = replace(given, initial=X, sample_weight=np.ones(len(X)), unit=np.ones(len(X)))
    target = rng.normal(size=(len(X), 2))
    results = []
    for workers in (1, 2, 4):
        monkeypatch.setattr(threads, "n_workers", lambda workers=workers: workers)
        results.append(readout(many, target, fit_gram(many, target, 1.0, 0.0)).coefficients)
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all()
