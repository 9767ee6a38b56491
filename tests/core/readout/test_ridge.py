"""The ridge against scikit-learn's on the same standardised increments; its sums against the rows; in every space."""

from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network, trajectory
from cogmap.core.readout import ridge as module
from cogmap.core.readout.ridge import (
    STANDARD_ROWS,
    Evidence,
    Frame,
    IncrementReadout,
    Sums,
    designed,
    fit_ridge,
    fixed_at,
    scored,
    solve,
    standardised,
    summed,
)
from cogmap.core.readout.terms import raw_scores
from cogmap.core.sums import space as spaces
from cogmap.core.sums import threads
from cogmap.core.sums.factor import Factor, refine_factor
from cogmap.core.sums.sources import Blocks
from cogmap.core.sums.space import NUMPY, STRIP
from cogmap.core.sums.statistics import merged
from tests.core.problems import increments_of, on, states_of

N_ITER, N_CLASSES = 4, 3
WEIGHTS = ("none", "fractional", "integer")


@pytest.fixture
def network(rng):
    return Network(rng.normal(size=(3, 3)), rng.normal(size=3), 0.7, ACTIVATIONS["sigmoid"])


def weights(kind, rng, n):
    return {"none": None, "fractional": rng.uniform(0.3, 2.5, n), "integer": rng.integers(1, 4, n) * 1.0}[kind]


def started(initial, rng, weight=None):
    """Rows with these initial states, of random classes that depend on them a little."""
    codes = np.digitize(initial[:, 0] + rng.random(len(initial)), [0.7, 1.2])
    codes[:N_CLASSES] = np.arange(N_CLASSES)
    return states_of(initial, codes, weight, N_CLASSES)


def frame_of(network, initial, tol=1e-5, n_iter=N_ITER):
    """Standardise by the rows themselves."""
    return Frame.from_sample(network, initial.mean(axis=0), initial, np.ones(len(initial)), n_iter, tol)


def source_of(space, states, sizes=(0.3, 0.7)):
    """Cut rows into three blocks."""
    n = len(states.codes)
    ends = [0, *(int(n * size) for size in sizes), n]
    parts = [on(space, states[slice(a, b)]) for a, b in pairwise(ends)]
    return Blocks(lambda: parts, n, space)


def by_hand(frame, states, rows):
    """Return the increments of rows, standardised by the training rows, and the target."""
    E, new = (np.hstack(increments_of(frame.network, A, frame.reference, frame.n_iter)) for A in (states.initial, rows))
    mean = np.average(E, axis=0, weights=states.weight)
    spread = np.sqrt(np.average((E - mean) ** 2, axis=0, weights=states.weight))
    varies = np.ptp(E, axis=0) > 0
    zero, one = frame.network.activation.ends
    return ((new - mean) / np.where(varies, spread, 1))[:, varies], zero + (one - zero) * np.eye(N_CLASSES)[
        states.codes
    ]


def fitted_ridge(space, frame, states, alpha, tol=0.0):
    source = source_of(space, states)
    return fit_ridge(lambda frame: source.through(partial(designed, frame)), frame, alpha, tol)


def untrusted(monkeypatch, factor):
    """Let no Gram matrix be enough."""
    if factor:
        monkeypatch.setattr(module, "TRUSTED", 0.0)


@pytest.mark.parametrize("factor", [False, True])
@pytest.mark.parametrize("alpha", [1e-3, 0.7, 50.0])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_scores_equal_scikit_learn(kind, alpha, factor, network, space, rng, monkeypatch):
    untrusted(monkeypatch, factor)
    initial = rng.random((80, 3))
    states = started(initial, rng, weights(kind, rng, 80))
    solved, smoother, _ = fitted_ridge(space, frame_of(network, initial[:30]), states, alpha)
    new = rng.random((40, 3))
    Z, target = by_hand(smoother.frame, states, initial)
    model = Ridge(alpha=alpha, solver="svd").fit(Z, target, states.weight)
    scores = space.host(raw_scores(solved.readout, space, network, space.put(new)))
    np.testing.assert_allclose(scores, model.predict(by_hand(smoother.frame, states, new)[0]), rtol=1e-6, atol=1e-6)
    assert solved.readout.n_iter == N_ITER
    assert solved.alpha == alpha
    smooth = Ridge(alpha=alpha, solver="svd").fit(Z, np.eye(80), states.weight).predict(Z)
    assert solved.degrees_of_freedom == pytest.approx(np.trace(smooth), rel=1e-6)
    weighted = Z * np.sqrt(states.weight)[:, None]
    condition = np.linalg.cond(np.vstack([weighted, np.sqrt(alpha) * np.eye(Z.shape[1])]))
    assert solved.condition == pytest.approx(condition, rel=1e-6)
    assert solved.rank == np.linalg.matrix_rank(weighted) + 1
    # The covariance of the one-hot with the fitted scores, on its scale.
    (zero, one), share = network.activation.ends, states.weight / states.weight.sum()
    inside = (model.predict(Z) - zero) / (one - zero)
    between = (np.eye(N_CLASSES)[states.codes] * share[:, None]).T @ (inside - share @ inside)
    np.testing.assert_allclose(smoother.between, between, atol=1e-8)


@pytest.mark.parametrize("factor", [False, True])
@pytest.mark.parametrize("alpha", [0.05, 3.0])
@pytest.mark.parametrize("kind", WEIGHTS)
def test_judging_scores_equal_explicit_refits(kind, alpha, factor, network, space, rng, monkeypatch):
    """The last row is alone in its class, and is judged from inside."""
    untrusted(monkeypatch, factor)
    initial = rng.random((50, 3))
    states = started(initial, rng, weights(kind, rng, 50))
    codes = np.where(np.arange(50) == 49, 2, states.codes % 2)
    states = replace(states, codes=codes)
    mass = np.bincount(codes, states.weight)
    states.unit[49] = mass[2]
    _, smoother, designs = fitted_ridge(space, frame_of(network, initial[:30]), states, alpha)
    raw, judged, weight = designs.reduce(partial(scored, smoother, mass))
    assert (judged == codes).all()
    assert (weight == states.weight).all()
    Z, target = by_hand(smoother.frame, states, initial)
    zero, one = network.activation.ends
    for i in range(1, 50, 6):
        less = states.weight.copy()
        less[i] -= states.unit[i] if i < 49 else 0
        refitted = Ridge(alpha=alpha, solver="svd").fit(Z, target, less).predict(Z[i : i + 1])[0]
        np.testing.assert_allclose(raw[i], (refitted - zero) / (one - zero), rtol=1e-6, atol=1e-6)


def test_a_penalty_too_small_for_a_gram_matrix_gets_a_factor(network, space, rng):
    """Columns that nearly repeat others: a Gram matrix would lose what tells them apart."""
    initial = rng.random((200, 3))
    initial[:, 1] = initial[:, 0] + 1e-6 * rng.normal(size=200)
    states = started(initial, rng)
    frame = frame_of(network, initial[:60], n_iter=1)
    source = source_of(space, states).through(partial(designed, frame))
    sums = Sums(*source.reduce(summed).host)
    assert sums.solved(frame, 1e-12, space) is None
    assert sums.solved(frame, 1.0, space) is not None
    solved, *_ = fitted_ridge(space, frame, states, 1e-12)
    Z, target = by_hand(frame, states, initial)
    U, S, _ = np.linalg.svd(Z, full_matrices=False)
    mean = target.mean(axis=0)
    expected = mean + (U * (S**2 / (S**2 + 1e-12))) @ (U.T @ (target - mean))
    scores = space.host(raw_scores(solved.readout, space, network, space.put(initial)))
    np.testing.assert_allclose(scores, expected, atol=1e-5)
    assert S[0] / S[-1] > 1e5
    assert solved.condition == pytest.approx(S[0] / S[-1], rel=1e-3)


def test_outer_weights_on_the_states_give_the_same_scores(network, rng):
    initial, new = rng.random((60, 3)), rng.random((30, 3))
    solved, *_ = fitted_ridge(NUMPY, frame_of(network, initial), started(initial, rng), 0.5)
    R, q = solved.readout.outer(network)
    expected = raw_scores(solved.readout, NUMPY, network, new)
    np.testing.assert_allclose(np.einsum("ntm,tmk->nk", trajectory(network, new, N_ITER), R) + q, expected, atol=1e-7)


def test_scores_of_a_readout_are_the_weighted_increments(network, space, rng):
    X, reference = rng.random((30, 3)), rng.random(3)
    coefficients, constant = rng.normal(size=(N_ITER + 1, 3, 2)), rng.normal(size=2)
    readout = IncrementReadout(reference, coefficients, constant)
    blocks = increments_of(network, X, reference, N_ITER)
    expected = constant + sum(E @ K for E, K in zip(blocks, coefficients, strict=True))
    np.testing.assert_allclose(space.host(raw_scores(readout, space, network, space.put(X))), expected, atol=1e-12)


@pytest.mark.parametrize("factor", [False, True])
def test_the_standardisation_of_the_sample_does_not_matter(factor, network, rng, monkeypatch):
    """It only keeps numbers near 1; what divides columns is the spread of all rows."""
    untrusted(monkeypatch, factor)
    initial = rng.random((80, 3))
    states, frame = started(initial, rng, rng.uniform(0.3, 2.5, 80)), frame_of(network, initial)
    p = len(frame.mean)
    moved = replace(
        frame,
        mean=frame.mean + rng.uniform(-0.5, 0.5, p) / frame.scale,
        scale=frame.scale * 10.0 ** rng.uniform(-4, 2, p),
    )
    one, other = (fitted_ridge(NUMPY, each, states, 0.3)[0] for each in (frame, moved))
    expected = raw_scores(one.readout, NUMPY, network, initial)
    np.testing.assert_allclose(raw_scores(other.readout, NUMPY, network, initial), expected, rtol=1e-7, atol=1e-8)
    assert other.degrees_of_freedom == pytest.approx(one.degrees_of_freedom, rel=1e-8)


@pytest.mark.parametrize("factor", [False, True])
def test_repeated_concepts_do_not_add_to_the_rank(factor, network, rng, monkeypatch):
    untrusted(monkeypatch, factor)
    network.weights[:, 1], network.bias[1] = network.weights[:, 0], network.bias[0]
    initial = rng.random((80, 3))
    initial[:, 1] = initial[:, 0]
    states = started(initial, rng)
    solved, smoother, _ = fitted_ridge(NUMPY, frame_of(network, initial[:30]), states, 0.7)
    Z, target = by_hand(smoother.frame, states, initial)
    assert solved.rank == np.linalg.matrix_rank(Z) + 1 == 2 * (N_ITER + 1) + 1
    S = np.linalg.svd(Z, compute_uv=False)[: solved.rank - 1]
    assert solved.condition == pytest.approx(np.sqrt((S[0] ** 2 + 0.7) / (S[-1] ** 2 + 0.7)), rel=1e-6)
    assert solved.degrees_of_freedom == pytest.approx(1 + (S**2 / (S**2 + 0.7)).sum(), rel=1e-8)
    expected = Ridge(alpha=0.7, solver="svd").fit(Z, target).predict(Z)
    np.testing.assert_allclose(raw_scores(solved.readout, NUMPY, network, initial), expected, rtol=1e-7, atol=1e-7)


def test_of_rows_that_are_all_alike_the_shares_of_the_classes_are_known(network, space, rng):
    initial = np.tile(rng.random(3), (20, 1))
    states, frame = started(initial, rng, rng.uniform(0.3, 2.5, 20)), frame_of(network, initial)
    zero, one = network.activation.ends
    expected = zero + (one - zero) * np.bincount(states.codes, states.weight) / states.weight.sum()
    from_factor = solve(frame, Evidence.from_block(designed(frame, NUMPY)(states)), 0.5)
    for solved, *_ in (fitted_ridge(space, frame, states, 0.5), from_factor):
        assert (solved.rank, solved.condition, solved.degrees_of_freedom) == (1, 1.0, 1.0)
        scores = space.host(raw_scores(solved.readout, space, network, space.put(rng.random((5, 3)))))
        np.testing.assert_allclose(scores, np.tile(expected, (5, 1)), rtol=1e-12)


@pytest.mark.parametrize("factor", [False, True])
def test_leverages_may_be_summed_over_some_columns_at_a_time(factor, network, space, rng, monkeypatch):
    untrusted(monkeypatch, factor)
    monkeypatch.setattr(spaces, "PIECE", 4)
    initial = rng.random((50, 3))
    states = started(initial, rng)
    _, smoother, designs = fitted_ridge(space, frame_of(network, initial[:30]), states, 0.05)
    raw = designs.reduce(partial(scored, smoother, np.bincount(states.codes) * 1.0)).raw
    Z, target = by_hand(smoother.frame, states, initial)
    model = Ridge(alpha=0.05, solver="svd")
    leverage = np.diag(model.fit(Z, np.eye(50)).predict(Z))
    outside = target - (target - model.fit(Z, target).predict(Z)) / (1 - leverage)[:, None]
    zero, one = network.activation.ends
    np.testing.assert_allclose(raw, (outside - zero) / (one - zero), rtol=1e-6, atol=1e-6)


def test_a_sample_gives_its_own_means_and_spreads(rng):
    """A concept that nothing leads to is constant, and keeps its scale."""
    network = Network(rng.normal(size=(3, 3)), rng.normal(size=3), 0.7, ACTIVATIONS["tanh"])
    network.weights[:, 1], network.bias[1] = 0, np.arctanh(0.1)
    initial, weight = rng.random((40, 3)), rng.uniform(0.5, 2, 40)
    initial[:, 1] = 0.1
    frame = Frame.from_sample(network, initial.mean(axis=0), initial, weight, N_ITER, tol=9.0)
    E = np.hstack(increments_of(network, initial, frame.reference, N_ITER))
    mean = np.average(E, axis=0, weights=weight)
    np.testing.assert_allclose(frame.mean, mean, atol=1e-14)
    spread = np.sqrt(np.average((E - mean) ** 2, axis=0, weights=weight))
    varies = np.arange(3 * (N_ITER + 1)) % 3 != 1
    np.testing.assert_allclose(frame.scale[varies], 1 / spread[varies], rtol=1e-10)
    assert (frame.varies == varies).all()
    assert (frame.scale[~varies] == 1.0).all()
    assert not frame.moves.any()
    moved = np.abs(np.diff(trajectory(network, initial, N_ITER), axis=1)).max(axis=(0, 2))
    changes = designed(frame, NUMPY)(started(initial, rng)).changes
    np.testing.assert_allclose(changes, np.r_[initial.max(), moved], rtol=1e-9)


def test_a_constant_concept_has_no_part_in_the_scores(space, rng):
    """Nothing leads to it and its bias keeps it where it is, so that all its increments are constant."""
    network = Network(rng.normal(size=(3, 3)), rng.normal(size=3), 0.7, ACTIVATIONS["tanh"])
    initial = rng.random((60, 3))
    initial[:, 1] = 0.4
    network.weights[:, 1] = 0
    network.bias[1] = np.arctanh(0.4)
    states = started(initial, rng)
    solved, smoother, _ = fitted_ridge(space, frame_of(network, initial[:30]), states, 0.5)
    assert not solved.readout.coefficients[:, 1].any()
    Z, target = by_hand(smoother.frame, states, initial)
    assert Z.shape[1] == 2 * (N_ITER + 1)
    expected = Ridge(alpha=0.5, solver="svd").fit(Z, target).predict(Z)
    scores = space.host(raw_scores(solved.readout, space, network, space.put(initial)))
    np.testing.assert_allclose(scores, expected, rtol=1e-7, atol=1e-7)


@pytest.mark.parametrize("factor", [False, True])
@pytest.mark.parametrize("constant", [0.37, 0.9])
def test_a_constant_concept_is_none_that_varies_by_rounding(constant, factor, monkeypatch):
    """Its mean cannot be written exactly: about it, all rows are off by a rounding error."""
    untrusted(monkeypatch, factor)
    for seed in range(6):
        rng = np.random.default_rng(seed)
        network = Network(rng.normal(size=(3, 3)), rng.normal(size=3), 0.7, ACTIVATIONS["tanh"])
        network.weights[:, 1], network.bias[1] = 0, np.arctanh(constant)
        initial = rng.random((61, 3))
        initial[:, 1] = constant
        states = started(initial, rng, rng.uniform(0.3, 2.5, 61))
        solved, *_ = fitted_ridge(NUMPY, frame_of(network, initial[:30]), states, 0.5)
        assert not solved.readout.coefficients[:, 1].any()


def test_weight_k_equals_a_row_repeated_k_times(network, space, rng):
    initial, times = rng.random((60, 3)), rng.integers(1, 4, 60)
    states = started(initial, rng, times * 1.0)
    copies = states_of(np.repeat(initial, times, axis=0), np.repeat(states.codes, times), None, N_CLASSES)
    frame, mass = frame_of(network, initial), np.bincount(states.codes, times).astype(float)
    for factor in (False, True):
        results = []
        for rows in (states, copies):
            with pytest.MonkeyPatch.context() as patch:
                untrusted(patch, factor)
                solved, smoother, designs = fitted_ridge(space, frame, rows, 0.2)
            raw = designs.reduce(partial(scored, smoother, mass)).raw
            results.append((raw_scores(solved.readout, NUMPY, network, initial), raw))
        np.testing.assert_allclose(results[0][0], results[1][0], atol=1e-8)
        np.testing.assert_allclose(np.repeat(results[0][1], times, axis=0), results[1][1], atol=1e-8)


@pytest.mark.parametrize("weighted", [False, True])
def test_means_and_scatter_are_those_of_the_rows(weighted, network, space, rng):
    initial = rng.random((500, 3))
    states = started(initial, rng, rng.random(500) + 0.5 if weighted else None)
    frame = frame_of(network, initial[:40])
    p = len(frame.mean)
    source = source_of(space, states).through(partial(designed, frame))
    sums = Sums(*source.reduce(summed).host)
    scatter = sums.scatter(p)
    E = np.hstack(increments_of(network, initial, frame.reference, N_ITER))
    Z = (E - frame.mean) * frame.scale
    ZY = np.hstack([Z, np.eye(N_CLASSES)[states.codes]])
    mean = np.average(ZY, axis=0, weights=states.weight)
    centred = (ZY - mean) * np.sqrt(states.weight)[:, None]
    np.testing.assert_allclose(scatter.total, states.weight.sum())
    np.testing.assert_allclose(scatter.mean, mean, atol=1e-12)
    np.testing.assert_allclose(scatter.gram, centred.T @ centred, atol=1e-9)
    np.testing.assert_allclose(sums.mass, np.bincount(states.codes, states.weight))
    part = np.r_[: 2 * 3, p : p + N_CLASSES]
    np.testing.assert_allclose(sums.scatter(6).gram, scatter.gram[np.ix_(part, part)], atol=1e-12)
    factor = refine_factor(source, module.columns, p, scatter)
    np.testing.assert_allclose(factor.centred.T @ factor.centred, centred.T @ centred, atol=1e-9)


@pytest.mark.parametrize("n", [5, 300, 9 * STRIP + 1])
def test_designs_are_those_of_numpy_in_every_space(n, network, space, rng):
    """And those of the increments, standardised by hand."""
    initial = rng.random((n, 3))
    states, frame = started(initial, rng), frame_of(network, rng.random((40, 3)), tol=0.05)
    design = designed(frame, space)(on(space, states))
    E = np.hstack(increments_of(network, initial, frame.reference, N_ITER))
    np.testing.assert_allclose(space.host(design.Z), (E - frame.mean) * frame.scale, atol=1e-11)
    assert (space.host(design.Y) == np.eye(N_CLASSES)[states.codes]).all()
    moved = np.abs(np.diff(trajectory(network, initial, N_ITER), axis=1)).max(axis=(0, 2))
    expected = np.where(frame.moves, np.inf, np.r_[initial.max(), moved])
    np.testing.assert_allclose(space.host(design.changes), expected, rtol=1e-9)


def test_designs_have_the_same_bits_for_any_number_of_workers(network, rng, monkeypatch):
    initial = rng.random((12 * STRIP + 5, 3))
    frame, results = frame_of(network, initial[:40]), []
    for workers in (1, 2, 4):
        monkeypatch.setattr(threads, "n_workers", lambda workers=workers: workers)
        results.append(standardised(frame, NUMPY)(initial, 0)[0])
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all()


def test_ranges_tell_columns_that_are_constant_in_all_rows_from_those_of_the_sample(network, space, rng):
    network = Network(np.diag(np.diag(network.weights)), network.bias, network.phi, network.activation)
    initial = rng.random((300, 3))
    initial[:, 1] = 0.25
    initial[:, 2] = np.where(np.arange(300) == 7, 0.9, 0.5)
    frame = frame_of(network, np.delete(initial, 7, axis=0))
    assert frame.varies.reshape(N_ITER + 1, 3).tolist() == [[True, False, False]] * (N_ITER + 1)
    states = started(initial, rng)
    source = source_of(space, states).through(partial(designed, frame))
    sums = Sums(*source.reduce(summed).host)
    evidence = Evidence.from_block(designed(frame, NUMPY)(states))
    for statistic in (sums, evidence):
        varies = (statistic.high > statistic.low).reshape(N_ITER + 1, 3)
        assert varies.tolist() == [[True, False, True]] * (N_ITER + 1)


def test_evidence_of_blocks_is_that_of_all_rows(network, rng):
    """And its solution is that of the Gram matrix."""
    initial = rng.random((300, 3))
    states, frame = started(initial, rng, rng.uniform(0.5, 2, 300)), frame_of(network, initial[:60])
    work = designed(frame, NUMPY)
    parts = [states[slice(a, a + 50)] for a in range(0, 300, 50)]
    evidence = merged(Evidence.from_block(work(part)) for part in parts)
    whole = work(states)
    expected = Factor.from_block(states.weight, whole.Z, whole.Y)
    np.testing.assert_allclose(evidence.factor.R.T @ evidence.factor.R, expected.R.T @ expected.R, atol=1e-9)
    solved, smoother = solve(frame, evidence, 0.7)
    other, known, _ = fitted_ridge(NUMPY, frame, states, 0.7)
    np.testing.assert_allclose(
        raw_scores(solved.readout, NUMPY, network, initial),
        raw_scores(other.readout, NUMPY, network, initial),
        atol=1e-8,
    )
    np.testing.assert_allclose(smoother.between, known.between, atol=1e-10)


@pytest.mark.parametrize("tol", [0.0, 1e-3, 1e-2, 1.0])
def test_iterations_end_where_no_row_moves_whatever_the_sample_says(tol, network, space, rng):
    """One row moves more than those of the sample."""
    network = Network(network.weights / 4, network.bias, 0.7, network.activation)
    initial = np.vstack([0.5 + rng.random((200, 3)) / 100, np.zeros((1, 3))])
    frame = frame_of(network, initial[:200], tol, n_iter=8)
    moved = np.abs(np.diff(trajectory(network, initial, 8), axis=1)).max(axis=(0, 2))
    expected = next((t for t, change in enumerate(moved) if change < tol), 8)
    states = started(initial, rng)
    changes = space.host(designed(frame, space)(on(space, states)).changes)
    assert fixed_at(changes, tol) == expected
    assert np.isinf(changes).tolist() == frame.moves.tolist()
    np.testing.assert_allclose(changes[1:][~frame.moves[1:]], moved[~frame.moves[1:]], atol=1e-15)
    solved, smoother, _ = fitted_ridge(space, frame, states, 1.0, tol)
    assert solved.readout.n_iter == smoother.frame.n_iter == expected


@pytest.mark.parametrize("factor", [False, True])
def test_rows_are_judged_by_the_iterations_up_to_the_fixed_point(factor, network, space, rng, monkeypatch):
    untrusted(monkeypatch, factor)
    network = Network(network.weights / 4, network.bias, 0.7, network.activation)
    initial = rng.random((60, 3))
    states, mass = started(initial, rng), np.full(N_CLASSES, 20.0)
    judged = []
    for tol, n_iter in ((1e-2, 8), (0.0, None)):
        frame = frame_of(network, initial, tol, n_iter=judged[0][1] if n_iter is None else n_iter)
        _, smoother, designs = fitted_ridge(space, frame, states, 0.5, tol)
        judged.append((designs.reduce(partial(scored, smoother, mass)).raw, smoother.frame.n_iter))
    assert judged[0][1] == judged[1][1] < 8
    np.testing.assert_allclose(judged[0][0], judged[1][0], atol=1e-9)


def test_many_rows_of_a_sample_are_thinned(network, rng):
    initial = rng.random((3 * STANDARD_ROWS, 3))
    every_third = frame_of(network, initial[::3])
    thinned = Frame.from_sample(network, initial[::3].mean(axis=0), initial, np.ones(len(initial)), N_ITER, 1e-5)
    assert (thinned.mean == every_third.mean).all()
    assert (thinned.scale == every_third.scale).all()


@pytest.mark.parametrize("n_iter", [0, 2, N_ITER])
def test_a_frame_that_is_cut_is_that_of_fewer_iterations(n_iter, network, rng):
    initial = rng.random((40, 3))
    cut, shorter = frame_of(network, initial).cut(n_iter), frame_of(network, initial, n_iter=n_iter)
    assert cut.n_iter == n_iter
    for name in ("mean", "scale", "varies", "moves"):
        np.testing.assert_allclose(getattr(cut, name), getattr(shorter, name), rtol=1e-12)
