"""The supervised step as a whole: what is chosen, against every alternative refitted explicitly."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cogmap.core.constants import RIDGE_DECAYS, RIDGE_ITERATIONS, RIDGE_PENALTIES
from cogmap.core.decision.decision import class_covariance
from cogmap.core.fit import at_once, shrinking
from cogmap.core.fit.at_once import solve
from cogmap.core.fit.shrinking import innovations
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network, trajectory
from cogmap.core.readout import dual
from cogmap.core.readout.shrunken import ShrunkReadout
from cogmap.core.readout.states import moore_penrose
from cogmap.core.readout.terms import raw_scores
from cogmap.core.sums.space import NUMPY
from cogmap.core.trajectory.innovations import grow
from tests.core.problems import draft_of, increments_of, states_of
from tests.core.trajectory.test_innovations import applied

N_CLASSES = 3


class Problem:
    """Rows of three classes, and a network of one's own."""

    def __init__(self, rng, n, m, kind="none", gain=1.5):
        self.X = rng.random((n, m))
        signal = rng.normal(size=n) / 2 + 3 * self.X[:, 0] - 2 * self.X[:, 1] ** 2
        self.codes = np.digitize(signal, np.quantile(signal, [0.3, 0.6]))
        self.network = Network(gain * rng.normal(size=(m, m)), rng.normal(size=m), 0.9, ACTIVATIONS["tanh"])
        self.weight = np.ones(n) if kind == "none" else rng.choice([0.5, 1.0, 2.0, 3.0], n)

    @property
    def reference(self):
        return np.average(self.X, axis=0, weights=self.weight)

    @property
    def target(self):
        zero, one = self.network.activation.ends
        return zero + (one - zero) * np.eye(N_CLASSES)[self.codes]

    def one_hot_scale(self, raw):
        zero, one = self.network.activation.ends
        return (np.asarray(raw) - zero) / (one - zero)

    def draft(self, alpha="loo", final=False, max_iter=3, tol=0.0, cases=False):
        states = states_of(self.X, self.codes, self.weight, N_CLASSES)
        readout = "final" if final else "trajectory"
        settings = {"alpha": alpha, "readout": readout, "max_iter": max_iter, "tol": tol, "cases": cases}
        return draft_of(self.network, states, **settings)

    def learn(self, *args, **options):
        """Solve the readout; what a solution says of itself must be so."""
        solution = solve(self.draft(*args, **options))
        assert (solution.scores.codes == self.codes).all()
        assert (solution.scores.weight == self.weight).all()
        assert solution.error == pytest.approx(self.error(solution.scores.raw), rel=1e-12)
        if self.X.shape[1]:
            active = self.reasons(solution)
            inside = self.one_hot_scale(self.scores(solution, self.X[active]))
            # Of training rows, cases see the leverage that these have from outside, which stops more of them.
            if active.all() and not (options.get("cases") and (solution.solved.active < 1).any()):
                between = class_covariance(inside, self.codes, self.weight)
                # A minimum norm magnifies rounding, by another library otherwise.
                np.testing.assert_allclose(solution.between, between, atol=1e-4 if args and args[0] == 0 else 1e-7)
        return solution

    def reasons(self, solution):
        """Say which rows the gate lets reason to the end, when they are new ones."""
        stopped = solution.solved.readout.terms(NUMPY, self.network, self.X).stopped
        return np.ones(len(self.X), dtype=bool) if stopped is None else ~stopped.any(axis=1)

    def scores(self, solution, rows):
        return raw_scores(solution.solved.readout, NUMPY, self.network, rows)

    def blocks(self, n_iter=3):
        every = increments_of(self.network, self.X, self.reference, n_iter)
        return [block / np.abs(block).max(axis=0) for block in every]

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
        """Return the squared error of scores on the scale of the one-hot."""
        one_hot = np.eye(N_CLASSES)[self.codes]
        return (self.weight[:, None] * (one_hot - outside) ** 2).sum() / self.weight.sum()

    def naive_outside(self, Z, alphas):
        """Return leave-one-out predictions for each penalty: β = FᵀW (FFᵀW + αI)⁻¹ T, where F and T are centred."""
        outside = np.empty((len(alphas), *self.target.shape))
        for i in range(len(Z)):
            weight = self.without(i)
            means = [np.average(values, axis=0, weights=weight) for values in (Z, self.target)]
            F, T = Z - means[0], self.target - means[1]
            for a, alpha in enumerate(alphas):
                gram = F @ F.T * weight + alpha * np.eye(len(F))
                outside[a, i] = means[1] + F[i] @ F.T @ (weight[:, None] * np.linalg.solve(gram, T))
        return outside

    def ridge_outside(self, Z, alpha):
        """Return the leave-one-out predictions of scikit-learn's ridge, refitted for each row."""
        model = Ridge(alpha=alpha, solver="cholesky")
        rows = range(len(Z))
        return np.vstack([model.fit(Z, self.target, self.without(i)).predict(Z[i : i + 1]) for i in rows])


def least_squares(F, target, weight):
    root = np.sqrt(weight)[:, None]
    return np.linalg.lstsq(F * root, target * root, rcond=None)[0]


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize("kind", ["none", "weighted"])
def test_few_rows_get_the_ridge_with_the_least_error_over_explicit_refits(kind, seed, monkeypatch):
    """Over decays with all iterations, fewer iterations without a decay, and penalties."""
    monkeypatch.setattr(at_once, "CONCEPTS_PER_ROW", 0)
    p = Problem(np.random.default_rng(seed), 9, 10, kind)
    solution = p.learn()
    trials = []
    candidates = [(decay, 3) for decay in RIDGE_DECAYS] + [(1.0, n_iter) for n_iter in RIDGE_ITERATIONS if n_iter < 3]
    for decay, n_iter in candidates:
        Z = p.standardised(decay)[:, : 10 * (n_iter + 1)]
        S = np.linalg.svd(Z * np.sqrt(p.weight)[:, None], compute_uv=False)
        alphas = RIDGE_PENALTIES * (S[:8] ** 2).mean()  # rank 8: nine rows, centred
        for alpha, outside in zip(alphas, p.naive_outside(Z, alphas), strict=True):
            trials.append((p.error(p.one_hot_scale(outside)), alpha, Z, n_iter))
    _, alpha, Z, n_iter = min(trials, key=lambda trial: trial[0])
    outside = p.one_hot_scale(p.ridge_outside(Z, alpha))
    solved = solution.solved
    assert solved.alpha == pytest.approx(alpha, rel=1e-9)
    assert solved.readout.n_iter == n_iter
    assert solved.shrinkage is None
    np.testing.assert_allclose(solution.scores.raw, outside, rtol=1e-8, atol=1e-8)
    fitted = Ridge(alpha=alpha).fit(Z, p.target, p.weight).predict(Z)
    np.testing.assert_allclose(p.scores(solution, p.X), fitted, rtol=1e-7, atol=1e-7)
    assert solved.rank == 9


@pytest.mark.parametrize("kind", ["none", "weighted"])
def test_many_rows_get_innovations_whose_leave_one_out_equals_explicit_refits(kind, rng):
    """Each row stops where its leverage, seen from outside, passes max(.501, 3 p / (n − p))."""
    p = Problem(rng, 80, 2, kind)
    p.X[0], p.weight[0] = 1.8, 1  # one row that the gate stops
    signal = p.X[:, 0] + 3 * np.tanh(p.X @ p.network.weights + p.network.bias)[:, 0] ** 2
    p.codes = np.digitize(signal, np.quantile(signal, [0.3, 0.6]))
    solution = p.learn()
    solved = solution.solved
    assert isinstance(solved.readout, ShrunkReadout)
    F = np.c_[np.ones(80), np.hstack(p.blocks())]
    ends, total = [1 + 2 * (t + 1) for t in range(len(solved.shrinkage))], p.weight.sum()
    active = np.zeros((len(ends), 80))
    for i in range(80):
        less, going = p.without(i), True
        expected = previous = least_squares(F[:, :1], p.target, less)[0]
        for t, (e, d) in enumerate(zip(ends, solved.shrinkage, strict=True)):
            leverage = F[i, :e] @ np.linalg.pinv((F[:, :e] * less[:, None]).T @ F[:, :e]) @ F[i, :e]
            active[t, i] = going = going and leverage <= max(0.501, 3 * e / (total - e))
            alone = F[i, :e] @ least_squares(F[:, :e], p.target, less) if going else previous
            expected, previous = expected + d * (alone - previous), alone
        np.testing.assert_allclose(solution.scores.raw[i], p.one_hot_scale(expected), rtol=1e-7, atol=1e-7)
    assert len(ends) > 1
    assert not active.all()
    np.testing.assert_allclose(solved.active, active @ p.weight / total, rtol=1e-12)
    solutions = [F[:, :e] @ least_squares(F[:, :e], p.target, p.weight) for e in [1, *ends]]
    fitted = solutions[0] + sum(
        d * (after - before) for d, (before, after) in zip(solved.shrinkage, pairwise(solutions), strict=True)
    )
    between = class_covariance(p.one_hot_scale(fitted), p.codes, p.weight)
    np.testing.assert_allclose(solution.between, between, rtol=1e-7, atol=1e-7)
    going = p.reasons(solution)
    assert 70 < going.sum() < 80
    np.testing.assert_allclose(p.scores(solution, p.X[going]), fitted[going], rtol=1e-7, atol=1e-7)
    assert solved.alpha is None
    assert solved.rank == ends[-1]


@pytest.mark.parametrize("seed", range(6))
def test_the_smaller_leave_one_out_error_decides_between_ridge_and_innovations(seed, monkeypatch):
    """Between 6 and 1 / .6 rows a concept both are tried; which of them wins depends on the problem."""
    p = Problem(np.random.default_rng(seed), 24, 5)
    taken = p.learn()
    with monkeypatch.context() as patch:
        patch.setattr(at_once, "FEW_ROWS", 0)
        innovated = p.learn()
    with monkeypatch.context() as patch:
        patch.setattr(at_once, "CONCEPTS_PER_ROW", 0)
        ridge = p.learn()
    assert innovated.solved.shrinkage is not None
    assert ridge.solved.alpha is not None
    better = min(innovated, ridge, key=lambda solution: p.error(solution.scores.raw))
    np.testing.assert_array_equal(taken.scores.raw, better.scores.raw)


def test_both_branches_win_somewhere():
    taken = {Problem(np.random.default_rng(seed), 24, 5).learn().solved.alpha is None for seed in range(12)}
    assert taken == {True, False}


@pytest.mark.parametrize("kind", ["none", "weighted"])
def test_alpha_zero_is_the_papers_solution(kind, rng):
    p = Problem(rng, 50, 3, kind)
    solution = p.learn(alpha=0)
    states = list(trajectory(p.network, p.X, 3).transpose(1, 0, 2))
    H = np.c_[np.hstack(states), np.ones(50)]
    root = np.sqrt(p.weight)[:, None]
    paper = np.linalg.pinv(H * root) @ (p.target * root)
    np.testing.assert_allclose(p.scores(solution, p.X), H @ paper, rtol=1e-8, atol=1e-8)
    R, q = solution.solved.readout.outer(p.network)
    np.testing.assert_allclose(np.vstack([*R, q]), paper, rtol=1e-6, atol=1e-8)
    fit = moore_penrose(states, p.target, p.weight, np.minimum(1, p.weight))
    np.testing.assert_allclose(solution.scores.raw, p.one_hot_scale(fit.outside), rtol=1e-12)
    assert solution.solved.degrees_of_freedom == solution.solved.rank == 13


@pytest.mark.parametrize("kind", ["none", "weighted"])
@pytest.mark.parametrize("n", [40, 9])
def test_a_positive_alpha_is_a_ridge(n, kind, rng):
    p = Problem(rng, n, 4, kind)
    solution, Z = p.learn(alpha=0.3), p.standardised()
    model = Ridge(alpha=0.3).fit(Z, p.target, p.weight)
    np.testing.assert_allclose(p.scores(solution, p.X), model.predict(Z), rtol=1e-8, atol=1e-8)
    outside = p.one_hot_scale(p.ridge_outside(Z, 0.3))
    np.testing.assert_allclose(solution.scores.raw, outside, rtol=1e-8, atol=1e-8)
    smoother = Ridge(alpha=0.3).fit(Z, np.eye(n), p.weight).predict(Z)
    assert solution.solved.degrees_of_freedom == pytest.approx(np.trace(smoother), rel=1e-8)
    assert solution.solved.alpha == 0.3


@pytest.mark.parametrize("alpha", [0.3, 1e-6])
@pytest.mark.parametrize("kind", ["none", "weighted"])
def test_a_ridge_by_rows_has_the_solution_of_one_by_columns(kind, alpha, rng, monkeypatch):
    p = Problem(rng, 18, 4, kind)
    by_columns = p.learn(alpha=alpha)
    monkeypatch.setattr(dual, "HELD_BYTES", 0)
    ways = []
    monkeypatch.setattr(
        dual, "fit_penalty", partial(lambda way, *given: ways.append(1) or way(*given), dual.fit_penalty)
    )
    by_rows = p.learn(alpha=alpha)
    assert ways == [1]
    np.testing.assert_allclose(by_rows.scores.raw, by_columns.scores.raw, rtol=1e-4, atol=1e-6)
    new = rng.random((9, 4))
    np.testing.assert_allclose(p.scores(by_rows, new), p.scores(by_columns, new), rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(by_rows.between, by_columns.between, atol=1e-7)
    assert by_rows.solved.rank == by_columns.solved.rank
    freedom = by_columns.solved.degrees_of_freedom
    assert by_rows.solved.degrees_of_freedom == pytest.approx(freedom, rel=1e-6)


def test_final_reads_the_last_state_only(rng):
    p = Problem(rng, 40, 3)
    solution = p.learn(final=True)
    last = np.c_[trajectory(p.network, p.X, 3)[:, -1], np.ones(40)]
    expected = last @ least_squares(last, p.target, p.weight)
    np.testing.assert_allclose(p.scores(solution, p.X), expected, rtol=1e-8, atol=1e-8)
    assert not solution.solved.readout.outer(p.network)[0][:-1].any()


@pytest.mark.parametrize("long", [5, 50])
@pytest.mark.parametrize(("tol", "least"), [(2.0, 0), (0.3, 1), (1e-2, 2), (1e-4, 3)])
def test_iterations_stop_where_no_activation_moves_by_tol(tol, least, long, rng, monkeypatch):
    """Whether the fixed point is looked for first, as where many iterations are allowed, or not."""
    monkeypatch.setattr(at_once, "LONG", long)
    p = Problem(rng, 60, 3, gain=0.3)
    change = np.abs(np.diff(trajectory(p.network, p.X, 30), axis=1)).max(axis=(0, 2))
    first = int(np.flatnonzero(change < tol)[0])
    assert least <= first < 30
    for alpha in (0, 0.1):
        assert p.learn(alpha, max_iter=30, tol=tol).solved.readout.n_iter == first
    assert p.learn(max_iter=30, tol=tol).solved.readout.n_iter <= first
    E = np.hstack(increments_of(p.network, p.X, p.reference, first))
    Z = (E - E.mean(axis=0)) / E.std(axis=0)
    value = np.linalg.eigvalsh(Z.T @ Z)
    rank = 1 + (value > len(value) * np.finfo(float).eps * value[-1]).sum()
    if long > 30:
        rank = 1 + len(value)  # more columns than rows were allowed: by rows, no direction is cut off
    assert abs(p.learn(0.1, max_iter=30, tol=tol).solved.rank - rank) <= 1  # what a Gram matrix tells from 0


def test_tol_zero_uses_all_iterations(rng):
    p = Problem(rng, 60, 3, gain=0.3)
    assert p.learn(0.1, max_iter=12).solved.readout.n_iter == 12


@pytest.mark.parametrize("alpha", ["loo", 0, 0.5])
@pytest.mark.parametrize("final", [False, True])
def test_without_concepts_the_scores_are_the_class_means(final, alpha, rng):
    p = Problem(rng, 10, 3, "weighted")
    p.X, p.network = np.empty((10, 0)), Network(np.empty((0, 0)), np.empty(0), 0.8, ACTIVATIONS["sigmoid"])
    solution = p.learn(alpha, final, tol=1e-6)
    mean = np.average(p.target, axis=0, weights=p.weight)
    np.testing.assert_allclose(p.scores(solution, np.empty((4, 0))), np.tile(mean, (4, 1)), atol=1e-12)
    expected = [np.average(p.target, axis=0, weights=p.without(i)) for i in range(10)]
    np.testing.assert_allclose(solution.scores.raw, p.one_hot_scale(expected), atol=1e-12)
    assert solution.solved.rank == 1


@pytest.mark.parametrize("kind", ["none", "weighted"])
def test_a_map_from_a_sample_solves_the_problem_of_all_rows(kind, rng, monkeypatch):
    """Outliers that an even sample would miss among them."""
    p = Problem(rng, 400, 3, kind)
    p.X[[57, 203]] = [[5.0, -4.0, 0.5], [-4.0, 0.5, 6.0]]
    monkeypatch.setattr(shrinking, "MAX_RANK", 30)
    grown = []
    monkeypatch.setattr(shrinking, "grow", lambda blocks, w, most: grown.append(len(w)) or grow(blocks, w, most))
    known = innovations(p.draft())
    assert len(grown) == 1
    assert grown[0] < 100
    assert known.basis.ends == [4, 7, 10, 13]
    Q = known.of_all_rows()
    np.testing.assert_allclose((Q * p.weight[:, None]).T @ Q, np.eye(13), atol=1e-10)
    C = Q.T @ (p.weight[:, None] * p.target)
    for upto, end in enumerate(known.basis.ends, start=1):
        F = np.c_[np.ones(400), np.hstack(p.blocks()[:upto])]
        expected = F @ least_squares(F, p.target, p.weight)
        np.testing.assert_allclose(Q[:, :end] @ C[:end], expected, atol=1e-8 * np.abs(expected).max())
    every = increments_of(p.network, p.X, p.reference, 3)
    np.testing.assert_allclose(applied(known.basis, every), Q, atol=1e-10)
    sums = Q.T @ (p.weight[:, None] * np.eye(N_CLASSES)[p.codes])
    np.testing.assert_allclose(known.sums, sums, atol=1e-9)


def test_a_map_from_all_rows_gives_their_innovations(rng):
    p = Problem(rng, 60, 3, "weighted")
    known = innovations(p.draft())
    Q = known.of_all_rows()
    every = increments_of(p.network, p.X, p.reference, 3)
    np.testing.assert_allclose(applied(known.basis, every), Q, atol=1e-9)
    np.testing.assert_allclose((Q * p.weight[:, None]).T @ Q, np.eye(Q.shape[1]), atol=1e-9)
    sums = Q.T @ (p.weight[:, None] * np.eye(N_CLASSES)[p.codes])
    np.testing.assert_allclose(known.sums, sums, atol=1e-9)


def test_the_fixed_point_is_that_of_all_rows_even_if_a_sample_builds_the_map(rng, monkeypatch):
    """The iterations after it are cut off, though the sample went on."""
    n = 400
    p = Problem(rng, n, 2)
    p.X = p.X[:, :1]
    p.network = Network(np.array([[3.0]]), np.array([-1.5]), 0.9, ACTIVATIONS["sigmoid"])
    monkeypatch.setattr(shrinking, "MAX_RANK", 10)
    changes = np.abs(np.diff(trajectory(p.network, p.X, 12), axis=1)).max(axis=(0, 2))
    tol = float(np.sqrt(changes[3] * changes[4]))
    assert (np.diff(changes[:6]) < 0).all()
    known = innovations(p.draft(max_iter=12, tol=tol))
    assert len(known.basis.columns) == 5  # A⁰ and the four iterations that move by tol or more


@pytest.mark.parametrize("kind", ["none", "weighted"])
def test_cases_are_read_together_with_innovations(kind, rng):
    both = Problem(rng, 60, 3, kind).learn(cases=True)
    assert both.solved.alpha is not None
    assert both.solved.readout.n_iter == 3
    assert both.solved.rank == 60
