"""The supervised step as a whole: what is chosen, against every alternative refitted explicitly."""

from itertools import islice, pairwise

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cogmap.core.constants import RIDGE_DECAYS, RIDGE_ITERATIONS, RIDGE_PENALTIES
from cogmap.core.fit import at_once as learning
from cogmap.core.fit.at_once import _innovations, learn
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network, trajectory
from cogmap.core.readout.ridge import Design, spectrum
from cogmap.core.readout.shrunken import ShrunkReadout
from cogmap.core.readout.states import moore_penrose
from cogmap.core.trajectory.increments import increments
from cogmap.core.trajectory.innovations import grow


class Problem:
    def __init__(self, rng, n, m, kind="none", gain=1.5):
        self.X, self.target = rng.random((n, m)), rng.normal(size=(n, 2))
        self.target[:, 0] += 3 * self.X[:, 0] - 2 * self.X[:, 1] ** 2
        self.network = Network(gain * rng.normal(size=(m, m)), rng.normal(size=m), 0.9, ACTIVATIONS["tanh"])
        self.weight = np.ones(n) if kind == "none" else rng.choice([0.5, 1.0, 2.0, 3.0], n)
        self.reference = np.average(self.X, axis=0, weights=self.weight)

    def learn(self, alpha="loo", final=False, max_iter=3, tol=0.0):
        unit = np.minimum(1, self.weight)
        options = {"alpha": alpha, "cases": False, "final": final, "max_iter": max_iter, "tol": tol}
        return learn(self.network, self.X, self.target, self.weight, unit, **options)

    def blocks(self, n_iter=3):
        return [block / np.abs(block).max(axis=0) for block in increments_of(self, n_iter)]

    def standardised(self, decay=1.0):
        F = np.hstack(self.blocks())
        mean = np.average(F, axis=0, weights=self.weight)
        spread = np.sqrt(np.average((F - mean) ** 2, axis=0, weights=self.weight))
        return (F - mean) / spread * np.repeat(np.sqrt(decay) ** np.arange(4), self.X.shape[1])

    def without(self, i):
        """Return the weights without one unit of row i."""
        less = self.weight.copy()
        less[i] = max(less[i] - 1, 0)
        return less

    def error(self, outside):
        return (self.weight[:, None] * (self.target - outside) ** 2).sum() / self.weight.sum()

    def ridge_outside(self, Z, alpha):
        """Return the leave-one-out predictions of scikit-learn's ridge, refitted for each row."""
        model = Ridge(alpha=alpha, solver="cholesky")
        rows = range(len(Z))
        return np.vstack([model.fit(Z, self.target, self.without(i)).predict(Z[i : i + 1]) for i in rows])


def increments_of(problem, n_iter=3):
    found = islice(increments(problem.network, problem.X, problem.reference), n_iter + 1)
    return [block for block, _ in found]


def least_squares(F, target, weight):
    root = np.sqrt(weight)[:, None]
    return np.linalg.lstsq(F * root, target * root, rcond=None)[0]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["none", "weighted"])
def test_few_rows_get_the_ridge_with_the_least_error_over_explicit_refits(kind, seed, monkeypatch):
    """Over decays with all iterations, fewer iterations without a decay, and penalties."""
    monkeypatch.setattr(learning, "CONCEPTS_PER_ROW", 0)
    p = Problem(np.random.default_rng(seed), 9, 10, kind)
    found = p.learn()
    trials = []
    candidates = [(decay, 3) for decay in RIDGE_DECAYS] + [(1.0, n_iter) for n_iter in RIDGE_ITERATIONS if n_iter < 3]
    for decay, n_iter in candidates:
        Z = p.standardised(decay)[:, : 10 * (n_iter + 1)]
        S = np.linalg.svd(Z * np.sqrt(p.weight)[:, None], compute_uv=False)
        for alpha in RIDGE_PENALTIES * (S[:8] ** 2).mean():  # rank 8: nine rows, centred
            outside = p.ridge_outside(Z, alpha)
            trials.append((p.error(outside), alpha, Z, outside, n_iter))
    _, alpha, Z, outside, n_iter = min(trials, key=lambda trial: trial[0])
    assert found.alpha == pytest.approx(alpha, rel=1e-9)
    assert found.readout.n_iter == n_iter
    assert found.shrinkage is None
    np.testing.assert_allclose(found.outside, outside, rtol=1e-8, atol=1e-8)
    fitted = Ridge(alpha=alpha).fit(Z, p.target, p.weight).predict(Z)
    np.testing.assert_allclose(found.fitted, fitted, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.readout.scores(p.network, p.X), fitted, rtol=1e-7, atol=1e-7)
    assert found.rank == 9


@pytest.mark.parametrize("kind", ["none", "weighted"])
def test_many_rows_get_innovations_whose_leave_one_out_equals_explicit_refits(kind, rng):
    """Each row stops where its leverage, seen from outside, passes max(½, 10 p / (n − p))."""
    p = Problem(rng, 80, 2, kind)
    p.X[0], p.weight[0] = 1.8, 1  # one row that the gate stops
    p.target[:, 1] += 3 * np.tanh(p.X @ p.network.weights + p.network.bias)[:, 0] ** 2
    found = p.learn()
    assert isinstance(found.readout, ShrunkReadout)
    F = np.c_[np.ones(80), np.hstack(p.blocks())]
    ends, total = [1 + 2 * (t + 1) for t in range(len(found.shrinkage))], p.weight.sum()
    active = np.zeros((len(ends), 80))
    for i in range(80):
        less, going = p.without(i), True
        expected = previous = least_squares(F[:, :1], p.target, less)[0]
        for t, (e, d) in enumerate(zip(ends, found.shrinkage, strict=True)):
            leverage = F[i, :e] @ np.linalg.pinv((F[:, :e] * less[:, None]).T @ F[:, :e]) @ F[i, :e]
            active[t, i] = going = going and leverage <= max(0.5, 10 * e / (total - e))
            alone = F[i, :e] @ least_squares(F[:, :e], p.target, less) if going else previous
            expected, previous = expected + d * (alone - previous), alone
        np.testing.assert_allclose(found.outside[i], expected, rtol=1e-7, atol=1e-7)
    assert len(ends) > 1
    assert not active.all()
    np.testing.assert_allclose(found.active, active @ p.weight / total, rtol=1e-12)
    solutions = [F[:, :e] @ least_squares(F[:, :e], p.target, p.weight) for e in [1, *ends]]
    fitted = solutions[0] + sum(
        d * (after - before) for d, (before, after) in zip(found.shrinkage, pairwise(solutions), strict=True)
    )
    np.testing.assert_allclose(found.fitted, fitted, rtol=1e-7, atol=1e-7)
    assert found.alpha is None
    assert found.rank == ends[-1]


@pytest.mark.parametrize("seed", range(6))
def test_the_smaller_leave_one_out_error_decides_between_ridge_and_innovations(seed, monkeypatch):
    """Between 6 and 1 / .6 rows a concept both are tried; which of them wins depends on the problem."""
    p = Problem(np.random.default_rng(seed), 24, 5)
    taken = p.learn()
    with monkeypatch.context() as patch:
        patch.setattr(learning, "FEW_ROWS", 0)
        innovations = p.learn()
    with monkeypatch.context() as patch:
        patch.setattr(learning, "CONCEPTS_PER_ROW", 0)
        ridge = p.learn()
    assert innovations.shrinkage is not None
    assert ridge.alpha is not None
    better = min(innovations, ridge, key=lambda found: p.error(found.outside))
    np.testing.assert_array_equal(taken.outside, better.outside)
    assert taken.error(p.target, p.weight) == pytest.approx(p.error(taken.outside), rel=1e-12)


def test_both_branches_win_somewhere():
    taken = {Problem(np.random.default_rng(seed), 24, 5).learn().alpha is None for seed in range(6)}
    assert taken == {True, False}


@pytest.mark.parametrize("kind", ["none", "weighted"])
def test_alpha_zero_is_the_papers_solution(kind, rng):
    p = Problem(rng, 50, 3, kind)
    found = p.learn(alpha=0)
    states = list(trajectory(p.network, p.X, 3).transpose(1, 0, 2))
    H = np.c_[np.hstack(states), np.ones(50)]
    root = np.sqrt(p.weight)[:, None]
    solution = np.linalg.pinv(H * root) @ (p.target * root)
    np.testing.assert_allclose(found.readout.scores(p.network, p.X), H @ solution, rtol=1e-8, atol=1e-8)
    R, q = found.readout.outer(p.network)
    np.testing.assert_allclose(np.vstack([*R, q]), solution, rtol=1e-6, atol=1e-8)
    paper = moore_penrose(states, p.target, p.weight, np.minimum(1, p.weight))
    np.testing.assert_array_equal(found.outside, paper.outside)
    assert found.degrees_of_freedom == found.rank == 13


@pytest.mark.parametrize("kind", ["none", "weighted"])
@pytest.mark.parametrize("n", [40, 9])
def test_a_positive_alpha_is_a_ridge(n, kind, rng):
    p = Problem(rng, n, 4, kind)
    found, Z = p.learn(alpha=0.3), p.standardised()
    model = Ridge(alpha=0.3).fit(Z, p.target, p.weight)
    np.testing.assert_allclose(found.fitted, model.predict(Z), rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(found.outside, p.ridge_outside(Z, 0.3), rtol=1e-8, atol=1e-8)
    smoother = Ridge(alpha=0.3).fit(Z, np.eye(n), p.weight).predict(Z)
    assert found.degrees_of_freedom == pytest.approx(np.trace(smoother), rel=1e-8)
    assert found.alpha == 0.3


def test_final_reads_the_last_state_only(rng):
    p = Problem(rng, 40, 3)
    found = p.learn(final=True)
    last = np.c_[trajectory(p.network, p.X, 3)[:, -1], np.ones(40)]
    np.testing.assert_allclose(found.fitted, last @ least_squares(last, p.target, p.weight), rtol=1e-8, atol=1e-8)
    assert not found.readout.outer(p.network)[0][:-1].any()


@pytest.mark.parametrize(("tol", "least"), [(2.0, 0), (0.3, 1), (1e-2, 2), (1e-4, 3)])
def test_iterations_stop_where_no_activation_moves_by_tol(tol, least, rng):
    p = Problem(rng, 60, 3, gain=0.3)
    change = np.abs(np.diff(trajectory(p.network, p.X, 30), axis=1)).max(axis=(0, 2))
    first = int(np.flatnonzero(change < tol)[0])
    assert least <= first < 30
    for alpha in (0, 0.1):
        assert p.learn(alpha, max_iter=30, tol=tol).readout.n_iter == first
    assert p.learn(max_iter=30, tol=tol).readout.n_iter <= first
    assert p.learn(0.1, max_iter=30, tol=tol).rank == 1 + len(
        spectrum(Design(p.network, p.X, p.reference, p.weight, p.weight, first)).S
    )


def test_tol_zero_uses_all_iterations(rng):
    p = Problem(rng, 60, 3, gain=0.3)
    assert p.learn(0.1, max_iter=12).readout.n_iter == 12


@pytest.mark.parametrize("alpha", ["loo", 0, 0.5])
@pytest.mark.parametrize("final", [False, True])
def test_without_concepts_the_scores_are_the_class_means(final, alpha, rng):
    p = Problem(rng, 10, 3, "weighted")
    p.X, p.network = np.empty((10, 0)), Network(np.empty((0, 0)), np.empty(0), 0.8, ACTIVATIONS["sigmoid"])
    found = p.learn(alpha, final, tol=1e-6)
    mean = np.average(p.target, axis=0, weights=p.weight)
    np.testing.assert_allclose(found.readout.scores(p.network, np.empty((4, 0))), np.tile(mean, (4, 1)), atol=1e-12)
    expected = [np.average(p.target, axis=0, weights=p.without(i)) for i in range(10)]
    np.testing.assert_allclose(found.outside, expected, atol=1e-12)
    assert found.rank == 1


@pytest.mark.parametrize("kind", ["none", "weighted"])
def test_a_map_from_a_sample_solves_the_problem_of_all_rows(kind, rng, monkeypatch):
    """Outliers that an even sample would miss among them."""
    p = Problem(rng, 400, 3, kind)
    p.X[[57, 203]] = [[5.0, -4.0, 0.5], [-4.0, 0.5, 6.0]]
    monkeypatch.setattr(learning, "MAX_RANK", 30)
    grown = []
    monkeypatch.setattr(learning, "grow", lambda blocks, w, most: grown.append(len(w)) or grow(blocks, w, most))
    design = Design(p.network, p.X, p.reference, p.weight, np.minimum(1, p.weight), 3)
    found = _innovations(design, None, 0.0)
    assert len(grown) == 1
    assert grown[0] < 100
    assert found.basis.ends == [4, 7, 10, 13]
    Q = found.Q
    np.testing.assert_allclose((Q * p.weight[:, None]).T @ Q, np.eye(13), atol=1e-10)
    C = Q.T @ (p.weight[:, None] * p.target)
    for upto, end in enumerate(found.basis.ends, start=1):
        F = np.c_[np.ones(400), np.hstack(p.blocks()[:upto])]
        expected = F @ least_squares(F, p.target, p.weight)
        np.testing.assert_allclose(Q[:, :end] @ C[:end], expected, atol=1e-8 * np.abs(expected).max())
    np.testing.assert_allclose(found.basis(increments_of(p)), Q, atol=1e-10)


def test_the_fixed_point_is_that_of_all_rows_even_if_a_sample_builds_the_map(rng, monkeypatch):
    """The iterations after it are cut off, though the sample went on."""
    n = 400
    X = rng.random((n, 1))
    network = Network(np.array([[3.0]]), np.array([-1.5]), 0.9, ACTIVATIONS["sigmoid"])
    monkeypatch.setattr(learning, "MAX_RANK", 10)
    weight = np.ones(n)
    changes = np.abs(np.diff(trajectory(network, X, 12), axis=1)).max(axis=(0, 2))
    tol = float(np.sqrt(changes[3] * changes[4]))
    assert (np.diff(changes[:6]) < 0).all()
    found = _innovations(Design(network, X, X.mean(axis=0), weight, weight, 12), None, tol)
    assert len(found.basis.columns) == 5  # A⁰ and the four iterations that move by tol or more
