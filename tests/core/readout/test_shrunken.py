"""Shrinkage and gate against explicit refits on the increments, and against exhaustive constrained least squares."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network, trajectory
from cogmap.core.readout.shrunken import (
    NOTHING,
    Path,
    ShrunkReadout,
    active_rows,
    factors_from,
    from_outside,
    gains_gram,
    gate_caps,
    leverages,
    shrunk_readout,
    trace,
)
from cogmap.core.readout.terms import raw_scores
from cogmap.core.sums.space import NUMPY
from cogmap.core.trajectory.innovations import Basis
from tests.core.problems import increments_of
from tests.core.trajectory.test_innovations import fit

N_ITER = 4


class Problem:
    """A network with well-conditioned increments, so that all columns enter and plain least squares is exact."""

    def __init__(self, rng, n=60, m=2, kind="none"):
        self.X, self.target = rng.random((n, m)), rng.normal(size=(n, 2))
        self.X[0] = 1.6  # one row that the gate stops
        self.target[:, 0] += np.sin(6 * self.X[:, 0])
        self.network = Network(1.5 * rng.normal(size=(m, m)), rng.normal(size=m), 0.9, ACTIVATIONS["tanh"])
        self.weight = {
            "none": np.ones(n),
            "fractional": rng.uniform(0.3, 2.5, n),
            "integer": rng.integers(1, 4, n).astype(float),
        }[kind]
        self.weight[0] = 1
        self.unit = np.minimum(1, self.weight)
        self.reference = np.average(self.X, axis=0, weights=self.weight)
        self.basis, self.Q = fit(self.blocks(self.X), self.weight, 1 + m * (N_ITER + 1))
        self.ends = [1 + m * (t + 1) for t in range(N_ITER + 1)]
        assert self.basis.ends == self.ends

    def blocks(self, rows):
        return increments_of(self.network, rows, self.reference, N_ITER)

    def features(self, rows):
        """Return (1 | increments), in units of their size among the training rows."""
        size = np.abs(np.hstack(self.blocks(self.X))).max(axis=0)
        return np.c_[np.ones(len(rows)), np.hstack(self.blocks(rows)) / size]

    def fit(self):
        """Return the readout, its leave-one-out scores, and the path to them."""
        C, total = self.Q.T @ (self.weight[:, None] * self.target), self.weight.sum()
        path = trace(NUMPY, self.Q, self.basis.ends, self.target, C, total, self.unit)
        shrink = shrink_factors(path, self.target, self.weight)
        outside = path.mean + np.tensordot(shrink, path.gains, axes=1)
        return shrunk_readout(self.reference, self.basis, C, shrink, total), outside, path


def shrink_factors(path, target, weight):
    return factors_from(gains_gram(NUMPY, path, target, weight))


def scores_of(readout, network, rows, space=NUMPY):
    return space.host(raw_scores(readout, space, network, space.put(rows)))


def predictions(F, target, weight, F_new, ends):
    """Return the predictions of weighted least squares on 1, and on the first columns of F for each end."""
    root = np.sqrt(weight)[:, None]
    return np.array([F_new[:, :e] @ np.linalg.lstsq(F[:, :e] * root, target * root, rcond=None)[0] for e in [1, *ends]])


def hat_diagonal(F, weight, F_new, ends):
    """Return f (FᵀWF)⁻¹ fᵀ for each end and row."""
    found = [np.linalg.pinv(F[:, :e] * np.sqrt(weight)[:, None]) for e in ends]
    return np.array([((F_new[:, :e] @ inverse) ** 2).sum(axis=1) for e, inverse in zip(ends, found, strict=True)])


def follow(values, active):
    """Return the predictions of each iteration, held from where a row stops."""
    held = [values[0]]
    for value, going in zip(values[1:], np.logical_and.accumulate(active, axis=0), strict=True):
        held.append(np.where(going[:, None], value, held[-1]))
    return np.array(held)


def by_hand_caps(p, n):
    return np.array([max(0.501, 3 * k / (n - k)) for k in p])[:, None]


def mix(values, shrink):
    return values[0] + sum(d * step for d, step in zip(shrink, np.diff(values, axis=0), strict=True))


@pytest.mark.parametrize("kind", ["none", "fractional", "integer"])
def test_leave_one_out_equals_explicit_refits_for_every_number_of_iterations(kind, rng):
    p = Problem(rng, kind=kind)
    readout, outside, path = p.fit()
    F = p.features(p.X)
    shrink = np.append(readout.shrink, np.zeros(N_ITER + 1 - len(readout.shrink)))
    every = path.mean + np.concatenate([np.zeros((1, *p.target.shape)), np.cumsum(path.gains, axis=0)])
    caps = by_hand_caps(p.ends, p.weight.sum())
    for i in range(len(p.X)):
        less = p.weight.copy()
        less[i] = max(less[i] - 1, 0)
        active = hat_diagonal(F, less, F[i : i + 1], p.ends) <= caps
        refitted = follow(predictions(F, p.target, less, F[i : i + 1], p.ends), active)[:, 0]
        np.testing.assert_array_equal(path.active[:, i], np.logical_and.accumulate(active[:, 0]))
        np.testing.assert_allclose(every[:, i], refitted, rtol=1e-8, atol=1e-8)
        np.testing.assert_allclose(outside[i], mix(refitted, shrink), rtol=1e-8, atol=1e-8)
    assert 0 < path.active[-1].mean() < 1


def test_gate_stops_an_outlying_row_where_its_leverage_passes_the_cap(space, rng):
    p = Problem(rng, n=200)
    p.target[:, 1] = p.features(p.X) @ rng.normal(size=p.ends[-1])
    readout, *_ = p.fit()
    ends = p.ends[: readout.n_iter + 1]
    assert readout.n_iter == N_ITER
    rows = np.vstack([rng.random((20, 2)), 0.5 + 2 * rng.normal(size=(60, 2))])
    F, F_new = p.features(p.X), p.features(rows)
    active = hat_diagonal(F, p.weight, F_new, ends) <= by_hand_caps(ends, 200)
    stops = np.logical_and.accumulate(active, axis=0).sum(axis=0)
    assert {0, 1, 2, N_ITER + 1} <= set(stops.tolist())
    expected = mix(follow(predictions(F, p.target, p.weight, F_new, ends), active), readout.shrink)
    np.testing.assert_allclose(scores_of(readout, p.network, rows, space), expected, rtol=1e-7, atol=1e-8)


def test_a_row_that_stopped_does_not_start_again_where_the_cap_is_higher(space, monkeypatch):
    basis = Basis((np.zeros(1, dtype=int),) * 3, (np.ones(1),) * 3, np.eye(4), np.eye(4))
    readout = ShrunkReadout(np.zeros(1), basis, np.ones((4, 1)), np.array([0.9, 0.5, 0.2]), np.array([0.5, 0.6, 2.0]))
    monkeypatch.setattr(ShrunkReadout, "_innovations", lambda *_: space.put(Q))
    Q = np.sqrt([[0.1, 0.45, 0.01, 0.01], [0.1, 0.3, 0.1, 1.0], [0.1, 0.3, 0.3, 0.1], [0.1, 0.3, 0.1, 2.0]])
    terms = readout.terms(space, None, space.put(np.zeros((4, 1))))
    factors = space.host(terms.values(space)) / Q[:, 1:]
    np.testing.assert_allclose(factors, [[0, 0, 0], [0.9, 0.5, 0.2], [0.9, 0, 0], [0.9, 0.5, 0]], rtol=1e-14)
    assert (~space.host(terms.stopped)).sum(axis=1).tolist() == [0, 3, 1, 2]


def test_terms_belong_to_the_iterations_and_concepts_whose_increments_entered(space, rng):
    """Nothing of the second iteration did: it has no part."""
    columns = (np.array([1, 0, 2]), np.empty(0, dtype=int), np.array([2, 0]))
    basis = Basis(columns, tuple(np.ones(len(c)) for c in columns), np.eye(6), np.eye(6))
    readout = ShrunkReadout(np.full(3, 0.5), basis, np.ones((6, 2)), np.array([0.9, 0.5, 0.2]), np.full(3, 1e9))
    network = Network(rng.normal(size=(3, 3)), rng.normal(size=3), 0.9, ACTIVATIONS["tanh"])
    initial = rng.random((4, 3))
    terms = readout.terms(space, network, space.put(initial))
    assert terms.iteration.tolist() == [0, 0, 0, 2, 2]
    assert terms.concept.tolist() == [1, 0, 2, 2, 0]
    assert [part.shape for part, _ in terms.parts()] == [(4, 3), (4, 2)]
    blocks = increments_of(network, initial, readout.reference, 2)
    of_first = space.host(terms.values(space))[:, :3] / 0.9
    np.testing.assert_allclose(of_first, blocks[0][:, [1, 0, 2]], rtol=1e-12)


@pytest.mark.parametrize(("n", "expected"), [(100.0, 0.501), (30.0, 1.5), (11.0, 30.0), (10.5, 30.0), (4.0, 30.0)])
def test_the_cap_is_three_times_the_mean_leverage_from_outside(n, expected):
    """The mean is p / (n − p); less than one row beyond the columns counts as one."""
    assert gate_caps([10], n) == pytest.approx([expected])


@pytest.mark.parametrize("n", [39.999, 40, 40.001])
def test_no_cap_is_the_leverage_of_a_row_that_is_alone(n):
    """Rounding would decide whether such a row still reasons."""
    assert gate_caps([10], n)[0] > 1.0005
    assert gate_caps([10], 41)[0] < 0.98


@pytest.mark.parametrize("leverage", [1 - 1e-12, 1.0, 1 + 1e-15])
def test_a_row_that_determines_its_fit_has_an_immense_leverage_from_outside(leverage, space):
    """On either side of 1, where rounding puts it."""
    found = from_outside(space, space.put(np.array([[leverage], [0.5]])), space.put(np.array([1.0, 0.5])))
    assert space.host(found)[0, 0] > 1e8
    assert space.host(found)[1, 0] == pytest.approx(0.5 / 0.75)


@pytest.mark.parametrize("kind", ["none", "fractional"])
def test_outer_weights_on_the_states_give_the_shrunk_scores_without_the_gate(kind, rng):
    p = Problem(rng, n=150, kind=kind)
    readout, *_ = p.fit()
    R, q = readout.outer(p.network)
    rows = np.vstack([p.X, 2 * rng.random((50, 2))])
    solutions = predictions(p.features(p.X), p.target, p.weight, p.features(rows), p.ends[: readout.n_iter + 1])
    found = np.einsum("ntm,tmk->nk", trajectory(p.network, rows, readout.n_iter), R) + q
    expected = mix(solutions, readout.shrink)
    np.testing.assert_allclose(found, expected, atol=1e-8 * np.abs(expected).max())


@pytest.mark.parametrize("kind", ["none", "fractional"])
def test_degrees_of_freedom_are_the_trace_of_the_smoother(kind, rng):
    p = Problem(rng, kind=kind)
    readout, *_ = p.fit()
    F, ends = p.features(p.X), p.ends[: readout.n_iter + 1]
    unit_targets = predictions(F, np.eye(len(F)), p.weight, F, ends)
    assert readout.degrees_of_freedom == pytest.approx(np.trace(mix(unit_targets, readout.shrink)), rel=1e-9)


def test_iterations_without_a_share_are_cut_off(rng):
    p = Problem(rng, n=200)
    p.target = np.c_[p.X @ rng.normal(size=(2, 2))]
    readout, outside, _ = p.fit()
    assert readout.n_iter == 0
    np.testing.assert_allclose(outside[1:], p.target[1:], atol=1e-9)
    np.testing.assert_allclose(scores_of(readout, p.network, p.X[1:]), p.target[1:], atol=1e-9)


def loss(d, path, target, weight):
    residual = target - path.mean - sum(f * gain for f, gain in zip(d, path.gains, strict=True))
    return float((weight[:, None] * residual**2).sum())


def exhaustive(path, target, weight):
    """Return the least loss over 1 ≥ d⁰ ≥ … ≥ 0: every set of inequalities held as equalities, solved in turn."""
    k, root = len(path.gains), np.sqrt(np.repeat(weight, target.shape[1]))
    G = path.gains.reshape(k, -1).T * root[:, None]
    r = (target - path.mean).ravel() * root
    bounds = np.diff(np.vstack([np.zeros(k), np.eye(k), np.zeros(k)]), axis=0)  # d⁰, d¹ − d⁰, …, −d
    limits = np.r_[1.0, np.zeros(k)]
    best, at = np.inf, np.zeros(k)
    for size in range(k + 1):
        for held in map(list, combinations(range(k + 1), size)):
            start = np.linalg.lstsq(bounds[held], limits[held], rcond=None)[0] if held else np.zeros(k)
            free = np.linalg.svd(bounds[held])[2][size:].T if held else np.eye(k)
            d = start + free @ np.linalg.lstsq(G @ free, r - G @ start, rcond=None)[0]
            if (bounds @ d <= limits + 1e-9).all() and loss(d, path, target, weight) < best:
                best, at = loss(d, path, target, weight), d
    return best, at


def random_path(rng, k, n, size):
    gains, weight = rng.normal(size=(k, n, 2)), rng.uniform(0.5, 2, n)
    wanted = np.sort(rng.uniform(-0.5, 1.5, k))[::-1] if rng.random() < 0.5 else rng.uniform(-1, 2, k)
    mean = rng.normal(size=(n, 2))
    target = mean + np.tensordot(wanted, gains, axes=1) + size * rng.normal(size=(n, 2))
    return Path(mean, gains, np.ones((k, n), dtype=bool)), target, weight


@settings(max_examples=100)
@given(seed=st.integers(0, 2**32 - 1), k=st.integers(1, 4), n=st.integers(5, 30), size=st.sampled_from([0.0, 0.1, 3]))
def test_factors_are_the_bounded_non_increasing_least_squares(seed, k, n, size):
    path, target, weight = random_path(np.random.default_rng(seed), k, n, size)
    found = shrink_factors(path, target, weight)
    _, expected = exhaustive(path, target, weight)
    assert (np.diff(np.r_[1 + 1e-12, found, 0]) <= 1e-12).all()
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("seed", range(10))
def test_many_factors_equal_those_of_a_general_solver(seed):
    rng = np.random.default_rng(seed)
    path, target, weight = random_path(rng, 12, 200, 1.0)
    start = loss(np.zeros(12), path, target, weight)
    solved = minimize(
        lambda d: loss(d, path, target, weight) / start,
        np.full(12, 0.5),
        method="SLSQP",
        bounds=[(0, 1)] * 12,
        constraints={"type": "ineq", "fun": lambda d: -np.diff(d)},
        options={"ftol": 1e-14, "maxiter": 500},
    )
    found = shrink_factors(path, target, weight)
    assert loss(found, path, target, weight) <= start * solved.fun * (1 + 1e-9)
    np.testing.assert_allclose(found, solved.x, atol=1e-4)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([3.0, 2.0], [1, 1]),
        ([-1.0, -2.0], [0, 0]),
        ([2.0, -1.0], [1, 0]),
        ([0.2, 0.6], [0.4, 0.4]),
        ([0.7, 0.1], [0.7, 0.1]),
    ],
)
def test_bounds_and_order_hold(wanted, expected):
    """Gains that do not overlap and have one size make the factors those wanted, clipped and pooled."""
    gains = np.eye(2).reshape(2, 2, 1)
    target = np.array(wanted)[:, None]
    found = shrink_factors(Path(np.zeros((2, 1)), gains, np.ones((2, 2), dtype=bool)), target, np.ones(2))
    np.testing.assert_allclose(found, expected, atol=1e-7)


def test_a_row_that_alone_determines_an_innovation_stops_before_it(space, rng):
    """Its leverage is 1, so without it there is no prediction: it keeps the one that it had."""
    X = np.c_[rng.random(20), np.eye(20)[:, 0]]
    Q = np.linalg.qr(np.c_[np.ones(20), X])[0]
    target = rng.normal(size=(20, 1))
    there = map(space.put, (target, Q.T @ target))
    path = trace(space, space.put(Q), [2, 3], *there, 20.0, space.put(np.ones(20)))
    active = space.host(path.active)
    assert active[:, 0].tolist() == [True, False]
    assert active[:, 1:].all()
    assert space.host(path.gains)[1, 0] == 0
    assert (active == active_rows(Q, [2, 3], 20.0, np.ones(20)).T).all()


@pytest.mark.parametrize("kind", ["none", "fractional"])
def test_the_path_and_its_gains_are_those_of_numpy_in_every_space(kind, space, rng):
    p = Problem(rng, kind=kind)
    _, _, expected = p.fit()
    C, total = p.Q.T @ (p.weight[:, None] * p.target), p.weight.sum()
    Q, target, there, unit, weight = map(space.put, (p.Q, p.target, C, p.unit, p.weight))
    path = trace(space, Q, p.ends, target, there, total, unit)
    np.testing.assert_allclose(space.host(path.mean), expected.mean, rtol=1e-12)
    np.testing.assert_allclose(space.host(path.gains), expected.gains, rtol=1e-9, atol=1e-11)
    assert (space.host(path.active) == expected.active).all()
    gram = space.host(gains_gram(space, path, target, weight))
    flat = np.vstack([expected.gains.reshape(N_ITER + 1, -1), (p.target - expected.mean).reshape(1, -1)])
    np.testing.assert_allclose(gram, (flat * np.repeat(p.weight, 2)) @ flat.T, rtol=1e-9, atol=1e-9)
    cumulative = np.array([(p.Q[:, :end] ** 2).sum(axis=1) for end in p.ends]).T
    np.testing.assert_allclose(space.host(leverages(space, Q, p.ends)), cumulative, rtol=1e-12)


@pytest.mark.parametrize("size", [0.0, 1e-13, 1e-9])
def test_iterations_whose_gains_are_rounding_are_cut(size, rng):
    """Two iterations count; what comes after them is 0, rounding, or small but more than that."""
    gains = rng.normal(size=(5, 40, 1))
    gains[2:] *= size
    target = np.tensordot(np.r_[0.9, 0.8, 0.7, 0.6, 0.5], gains, axes=1) + 0.01 * rng.normal(size=(40, 1))
    path = Path(np.zeros((40, 1)), gains, np.ones((5, 40), dtype=bool))
    factors = shrink_factors(path, target, np.ones(40))
    alone = shrink_factors(Path(path.mean, gains[:2], path.active[:2]), target, np.ones(40))
    relative = (gains[2:] ** 2).sum(axis=(1, 2)) / (target**2).sum()
    if size < 1e-10:
        assert (relative <= NOTHING).all()
        assert not factors[2:].any()
        np.testing.assert_array_equal(factors[:2], alone)
    else:
        assert (relative > NOTHING).all()
        np.testing.assert_allclose(factors[:2], alone, atol=1e-6)
    assert (np.diff(factors) <= 1e-12).all()


def test_where_one_iteration_counts_the_others_are_cut(rng):
    gains = rng.normal(size=(3, 40, 1)) * np.array([1.0, 1e-13, 1e-13])[:, None, None]
    target = 0.9 * gains[0] + 1e13 * gains[1] + 1e13 * gains[2]
    factors = shrink_factors(Path(np.zeros((40, 1)), gains, np.ones((3, 40), dtype=bool)), target, np.ones(40))
    assert not factors[1:].any()


@pytest.mark.parametrize("unit", [1e-12, 1e12])
def test_factors_do_not_depend_on_the_unit_of_the_target(unit, rng):
    path, target, weight = random_path(rng, 4, 30, 0.1)
    target = path.mean + np.tensordot([0.9, 0.7, 0.4, 0.2], path.gains, axes=1)
    other = shrink_factors(Path(unit * path.mean, unit * path.gains, path.active), unit * target, weight)
    np.testing.assert_allclose(other, [0.9, 0.7, 0.4, 0.2], atol=1e-6)


def test_an_iteration_of_rounding_before_one_that_counts_is_not_cut(rng):
    gains = rng.normal(size=(3, 40, 1))
    gains[1] *= 1e-15
    target = gains[0] + 0.6 * gains[2]
    factors = shrink_factors(Path(np.zeros((40, 1)), gains, np.ones((3, 40), dtype=bool)), target, np.ones(40))
    assert factors[2] == pytest.approx(0.6, abs=1e-6)


def test_without_gains_nothing_is_added():
    factors = factors_from(np.diag([0.0, 0.0, 0.0, 4.0]))
    assert factors.shape == (3,)
    assert np.isfinite(factors).all()
    assert not factors[1:].any()
