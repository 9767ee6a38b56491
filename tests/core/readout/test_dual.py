"""The dual against the primal solution written out, scikit-learn's ridge refitted without each row, and brute force."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogmap.core.constants import RIDGE_DECAYS, RIDGE_PENALTIES
from cogmap.core.fit.at_once import learn
from cogmap.core.network.reasoning import trajectory
from cogmap.core.readout import dual
from cogmap.core.readout.dual import (
    Gram,
    choose,
    fit_factor,
    fit_gram,
    fit_penalty,
    needed,
    read,
    readout,
    standardise,
)
from cogmap.core.readout.ridge import Design, smooth, spectrum
from tests.core.readout.test_ridge import SHAPES, WEIGHTS, problem, ridge, standardised


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
def test_scores_equal_the_primal_solution_and_explicit_refits(shape, kind, alpha, fit, rng, monkeypatch):
    monkeypatch.setattr(dual, "STEP_ROWS", 5)
    design, target = problem(rng, shape, kind)
    weight = design.sample_weight
    choice = fit(design, target, alpha, 0.0)
    found, Z = choice.solution, standardised(design, design.initial)
    constant, beta = primal(Z, target, weight, alpha)
    np.testing.assert_allclose(found.fitted, constant + Z @ beta, rtol=1e-8, atol=1e-8)
    new = rng.random((30, design.initial.shape[1]))
    expected = constant + standardised(design, new) @ beta
    read_out = readout(design, target, choice)
    np.testing.assert_allclose(read_out.scores(design.network, new), expected, rtol=1e-8, atol=1e-8)
    R, q = read_out.outer(design.network)
    states = trajectory(design.network, new, design.n_iter)
    np.testing.assert_allclose(np.einsum("ntm,tmk->nk", states, R) + q, expected, rtol=1e-8, atol=1e-8)
    for i in range(len(Z)):
        less = weight.copy()
        less[i] = max(less[i] - 1, 0)
        refitted = ridge(Z, target, less, alpha).predict(Z[i : i + 1])[0]
        np.testing.assert_allclose(found.outside[i], refitted, rtol=1e-8, atol=1e-8)
    smoother = ridge(Z, np.eye(len(Z)), weight, alpha).predict(Z)
    assert found.degrees_of_freedom == pytest.approx(np.trace(smoother), rel=1e-8)
    assert found.error == pytest.approx(weight @ ((target - found.outside) ** 2).sum(axis=1), rel=1e-12)
    S = np.linalg.svd((Z - np.average(Z, axis=0, weights=weight)) * np.sqrt(weight)[:, None], compute_uv=False)
    assert found.condition <= 1.01 * (1 + (S**2).sum() / alpha)


@pytest.mark.parametrize("most", [100, 5])
@pytest.mark.parametrize("kind", ["none", "fractional"])
def test_iterations_decay_and_penalty_are_those_of_brute_force(kind, most, rng, monkeypatch):
    """Decays are tried for few rows only; here 14 rows count as few or as many."""
    monkeypatch.setattr(dual, "RIDGE_ROWS", most)
    monkeypatch.setattr(dual, "RIDGE_ITERATIONS", (0, 1, 3))
    design, target = problem(rng, "wide", kind)
    target[:, 0] += 4 * np.tanh(design.initial @ design.network.weights)[:, 0]
    weight, m = design.sample_weight, design.initial.shape[1]
    decays = RIDGE_DECAYS if most > len(target) else (1.0,)
    trials = []
    for decay, n_iter in [(1.0, 0), (1.0, 1), (1.0, 3), *((decay, 4) for decay in decays)]:
        tried = replace(design, n_iter=n_iter, decay=decay)
        Z = standardised(tried, design.initial)
        size = (weight @ Z**2).sum() / min(m * (n_iter + 1), len(Z) - 1)
        for alpha in RIDGE_PENALTIES * size:
            outside = smooth(tried, spectrum(tried), target, alpha)[1]
            trials.append((weight @ ((target - outside) ** 2).sum(axis=1), alpha, decay, n_iter))
    error, alpha, decay, n_iter = min(trials)
    choice = choose(design, target, 0.0)
    found = choice.solution
    assert (found.decay, found.n_iter) == (decay, n_iter)
    assert (found.error, found.alpha) == pytest.approx((error, alpha), rel=1e-8)
    Z = standardised(replace(design, n_iter=n_iter, decay=decay), design.initial)
    constant, beta = primal(Z, target, weight, alpha)
    scores = readout(design, target, choice).scores(design.network, design.initial)
    np.testing.assert_allclose(scores, constant + Z @ beta, rtol=1e-7, atol=1e-7)


def test_reading_stops_at_the_fixed_point(rng):
    design, target = problem(rng)
    design = replace(design, n_iter=40, network=replace(design.network, weights=0.2 * design.network.weights))
    change = np.abs(np.diff(trajectory(design.network, design.initial, 40), axis=1)).max(axis=(0, 2))
    tol = float(np.sqrt(change[4] * change[5]))
    assert sum(1 for _ in read(design, tol)) == 6
    assert fit_gram(design, target, 1.0, tol).solution.n_iter == 5
    assert choose(design, target, tol).solution.n_iter <= 5


def test_a_penalty_too_small_for_the_gram_matrix_gets_an_lq_factor(rng):
    """Rows that nearly repeat others: what tells them apart is below the rounding errors of G."""
    design, target = problem(rng, "wide")
    design.initial[[3, 5]] = design.initial[[2, 4]] + 1e-7 * rng.normal(size=(2, 5))
    alpha = 1e-17
    found = fit_penalty(design, target, alpha, 0.0).solution
    Z = standardised(design, design.initial)
    U, S = (part[..., :-1] for part in np.linalg.svd(Z, full_matrices=False)[:2])
    mean = target.mean(axis=0)
    expected = mean + (U * (S**2 / (S**2 + alpha))) @ (U.T @ (target - mean))
    assert S[0] / S[-1] > 1e6
    np.testing.assert_allclose(found.fitted, expected, atol=1e-8)
    assert found.condition == pytest.approx(np.sqrt((S[0] ** 2 + alpha) / (S[-1] ** 2 + alpha)), rel=1e-4)
    from_gram = fit_penalty(design, target, 1.0, 0.0).solution
    assert from_gram.condition == pytest.approx(1 + Z.size, rel=1e-9)
    design, target = problem(rng, "tall")
    with pytest.raises(ValueError, match=r"alpha=1e-17 is below the rounding errors of 40 rows.*use alpha='loo', or"):
        fit_penalty(design, target, 1e-17, 0.0)


@pytest.mark.parametrize(
    ("n", "m", "n_iter", "expected"),
    [
        (100, 1000, 9, False),  # 8 MB
        (1000, 2000, 9, True),  # 160 MB
        (20_000, 50, 9, False),  # 80 MB, but few columns
        (20_000, 2_000, 9, True),  # 3.2 GB, as many columns as rows
        (20_000, 200, 9, False),  # 320 MB, but few columns
    ],
)
def test_only_what_is_too_large_to_hold_needs_the_dual(n, m, n_iter, expected):
    initial = np.broadcast_to(0.0, (n, m))
    assert needed(Design(None, initial, initial[0], None, None, n_iter)) is expected


@pytest.mark.parametrize("alpha", [0.3, 1e-9])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_a_large_problem_has_the_solution_of_a_small_one(kind, alpha, rng, monkeypatch):
    design, target = problem(rng, "wide", kind)
    options = {"alpha": alpha, "cases": False, "final": False, "max_iter": 4, "tol": 0.0}
    given = (design.network, design.initial, target, design.sample_weight, design.unit)
    held = learn(*given, **options)
    monkeypatch.setattr(dual, "HELD_BYTES", 0)
    found = learn(*given, **options)
    np.testing.assert_allclose(found.fitted, held.fitted, atol=1e-7)
    np.testing.assert_allclose(found.outside, held.outside, rtol=1e-4, atol=1e-7)
    new = rng.random((9, 5))
    np.testing.assert_allclose(
        found.readout.scores(design.network, new), held.readout.scores(design.network, new), rtol=1e-6, atol=1e-6
    )
    assert found.rank == held.rank
    assert found.degrees_of_freedom == pytest.approx(held.degrees_of_freedom, rel=1e-7)
