"""Ridges from Gram matrices of two halves, against normal equations of the rows themselves."""

import numpy as np
import pytest

from cogmap.core.constants import PAIR_PENALTIES, PAIR_RATIOS, PAIR_SHARES
from cogmap.core.curves.halves import Halves, Size


@pytest.fixture
def problem(rng):
    n = 240
    Z = rng.random((n, 7)) + rng.normal(size=7)
    codes = (Z[:, 0] + Z[:, 4] * Z[:, 5] + rng.normal(size=n) * 0.3 > np.median(Z[:, 0])).astype(int) + (Z[:, 1] > 0.8)
    return Z, np.eye(3)[codes % 3], rng.integers(1, 4, n).astype(float), rng.integers(0, 2, n)


def halves_of(Z, Y, weight, half):
    def gram(own):
        ZY = np.hstack([Z, Y])[own]
        return np.triu((ZY * weight[own, None]).T @ ZY)

    return Halves.of([gram(half == h) for h in (0, 1)], Z.shape[1], 4)


def naive(Z, Y, weight, penalty):
    """Solve the normal equations with a free constant."""
    design = np.hstack([Z, np.ones((len(Z), 1))])
    solution = np.linalg.solve(
        (design * weight[:, None]).T @ design + np.diag([*penalty, 0.0]), (design * weight[:, None]).T @ Y
    )
    return solution[:-1], solution[-1], design


def test_a_solution_is_that_of_the_normal_equations(problem):
    Z, Y, weight, _half = problem
    columns = np.array([0, 1, 2, 3, 5])
    halves = halves_of(*problem)
    ridge = halves.solved(columns, Size(1.0, 0.3, 2.0))
    penalty = np.array([0.3] * 4 + [2.0])
    slope, offset, design = naive(Z[:, columns], Y, weight, penalty)
    np.testing.assert_allclose(ridge.slope, slope, rtol=1e-8, atol=1e-10)
    np.testing.assert_allclose(ridge.offset, offset, rtol=1e-8)
    inverse = np.linalg.inv((design * weight[:, None]).T @ design + np.diag([*penalty, 0.0]))
    leverage = np.einsum("ij,jk,ik->i", design, inverse, design)
    centred = (Z[:, columns] - ridge.known.mean) @ ridge.spread
    np.testing.assert_allclose((centred**2).sum(axis=1) + 1 / weight.sum(), leverage, rtol=1e-8)
    assert ridge.degrees_of_freedom == pytest.approx(weight @ leverage)
    fitted, share = Z[:, columns] @ slope + offset, weight / weight.sum()
    expected = (Y * share[:, None]).T @ (fitted - share @ fitted)
    np.testing.assert_allclose(halves.between(columns, ridge.slope), expected, atol=1e-10)
    root = np.sqrt(weight)[:, None]
    value = np.linalg.eigvalsh(((Z - share @ Z)[:, columns] * root).T @ ((Z - share @ Z)[:, columns] * root))
    assert ridge.condition >= np.sqrt((value[-1] + 0.3) / (value[0] + 2.0))


def test_the_size_has_the_least_two_fold_error(problem):
    """Each half chooses other columns for surfaces; every size is tried here by fits to rows."""
    Z, Y, weight, half = problem

    def columns(who, share):
        return np.r_[:4, (np.array([4, 5]), np.array([5, 6]))[who][: round(2 * share)]]

    def error(share, curve, surface):
        total = 0.0
        for h in (0, 1):
            own, chosen = half == h, columns(h, share)
            slope, offset, _ = naive(Z[own][:, chosen], Y[own], weight[own], np.where(chosen < 4, curve, surface))
            total += weight[~own] @ ((Y[~own] - offset - Z[~own][:, chosen] @ slope) ** 2).sum(axis=1)
        return total

    found = halves_of(*problem).choose(columns)
    every = {(s, a, a * r): error(s, a, a * r) for s in PAIR_SHARES for a in PAIR_PENALTIES for r in PAIR_RATIOS}
    assert error(*found) == pytest.approx(min(every.values()), rel=1e-9)


@pytest.mark.parametrize("penalties", [(0.1, 0.1), (1.0, 30.0), (100.0, 0.3)])
def test_slopes_of_the_error_are_finite_differences(problem, penalties):
    """Along the logarithm of the penalty of curves, and of that of surfaces."""
    one, other, _ = halves_of(*problem).known
    curves, step = np.arange(7) < 4, 1e-5

    def judged(logs):
        return one.judged(other, np.exp(np.where(curves, *logs)), curves)

    logs = np.log(penalties)
    found = judged(logs)
    for along, slope in enumerate(found[1:]):
        further, nearer = (judged(logs + sign * step * (np.arange(2) == along))[0] for sign in (1, -1))
        assert slope == pytest.approx((further - nearer) / (2 * step), rel=1e-5, abs=1e-6)


def test_a_half_without_rows_says_nothing(problem):
    Z, Y, weight, half = problem
    assert halves_of(Z, Y, weight, np.zeros_like(half)) is None
