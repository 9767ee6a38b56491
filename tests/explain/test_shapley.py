from itertools import permutations

import numpy as np
import pytest

from cogmap.explain.shapley import _turns, shapley_values


def exact(scores, row, background, groups):
    """Return Shapley's values by their definition, over all orders."""
    total = np.zeros((len(groups), scores(background).shape[1]))
    orders = list(permutations(range(len(groups))))
    for order in orders:
        mixed = background.copy()
        for g in order:
            before = scores(mixed)
            mixed[:, groups[g]] = row[groups[g]]
            total[g] += (scores(mixed) - before).mean(axis=0)
    return total / len(orders)


def rough(X):
    return np.stack([np.sin(3 * X[:, 0]) * X[:, 1] + X[:, 2] ** 2, X[:, 0] * X[:, 1] * X[:, 2]], axis=1)


def test_two_groups_are_exact(rng):
    rows, background, groups = rng.normal(size=(4, 3)), rng.normal(size=(9, 3)), [np.array([0, 2]), np.array([1])]
    values, start = shapley_values(rough, rows, background, groups)
    np.testing.assert_allclose(values, [exact(rough, row, background, groups) for row in rows])
    np.testing.assert_allclose(start, rough(background).mean(axis=0))


def test_many_orders_approach_the_definition(rng):
    row, background, groups = rng.normal(size=3), rng.normal(size=(5, 3)), [np.array([j]) for j in range(3)]
    values, _ = shapley_values(rough, row[None], background.repeat(2000, axis=0), groups)
    np.testing.assert_allclose(values[0], exact(rough, row, background, groups), atol=0.05)


def test_a_sum_over_columns_is_split_exactly(rng):
    weights = rng.normal(size=(6, 2))
    rows, background = rng.normal(size=(3, 6)), rng.normal(size=(7, 6))
    groups = [np.array([0]), np.array([1, 2, 3]), np.array([4]), np.array([5])]
    values, _ = shapley_values(lambda X: X @ weights, rows, background, groups)
    for g, group in enumerate(groups):
        expected = (rows - background.mean(axis=0))[:, group] @ weights[group]
        np.testing.assert_allclose(values[:, g], expected)


@pytest.mark.parametrize("n_groups", [1, 2, 5])
def test_values_add_up_and_stay_within_the_scores(n_groups, rng):
    seen = []

    def scores(X):
        seen.append(np.exp(X).cumsum(axis=1)[:, -2:] % 1.7)
        return seen[-1]

    rows, background = rng.normal(size=(4, 5)), rng.normal(size=(8, 5))
    groups = np.array_split(np.arange(5), n_groups)
    values, start = shapley_values(scores, rows, background, groups)
    np.testing.assert_allclose(start + values.sum(axis=1), scores(rows), atol=1e-12)
    assert np.abs(values).max() <= np.ptp(np.concatenate(seen), axis=0).max()


def test_steps_that_change_nothing_are_not_scored(rng):
    """Rows of two values share many with the background; the values are those of all steps."""
    counts = []

    def scores(X):
        counts.append(len(X))
        return rough(X)

    rows, background = (rng.integers(0, 2, size=(n, 3)).astype(float) for n in (6, 7))
    groups = [np.array([j]) for j in range(3)]
    values, _ = shapley_values(scores, rows, background, groups)
    assert sum(counts) < len(rows) * 2 * 7 * 2
    full = background.repeat(500, axis=0)
    np.testing.assert_allclose(values, [exact(rough, row, background, groups) for row in rows], atol=0.5)
    many, _ = shapley_values(rough, rows, full, groups)
    np.testing.assert_allclose(many, [exact(rough, row, background, groups) for row in rows], atol=0.03)
    assert not shapley_values(rough, rows, rows[[0]], groups)[0][0].any()


def test_known_scores_are_where_the_values_lead(rng):
    rows, background, groups = rng.normal(size=(4, 3)), rng.normal(size=(9, 3)), [np.array([j]) for j in range(3)]
    known = rough(rows) + 1e-3
    values, start = shapley_values(rough, rows, background, groups, known=known)
    np.testing.assert_allclose(start + values.sum(axis=1), known, atol=1e-12)


def test_small_blocks_give_the_same(rng, monkeypatch):
    rows, background, groups = rng.normal(size=(4, 3)), rng.normal(size=(9, 3)), [np.array([j]) for j in range(3)]
    whole = shapley_values(rough, rows, background, groups)[0]
    monkeypatch.setattr("cogmap.explain.shapley.CELLS", 7)
    np.testing.assert_allclose(shapley_values(rough, rows, background, groups)[0], whole, atol=1e-14)


def test_a_feature_of_no_group_keeps_the_value_of_the_background(rng):
    rows, background = rng.normal(size=(4, 3)), rng.normal(size=(9, 3))
    values, _ = shapley_values(lambda X: X[:, :2], rows, background, [np.array([0]), np.array([1])])
    np.testing.assert_allclose(values[:, 0, 0], rows[:, 0] - background[:, 0].mean())
    assert shapley_values(lambda X: 0 * X[:, :2], rows, background, [])[0].shape == (4, 0, 2)


def test_what_is_bound_takes_its_turns_one_after_the_other():
    bond = np.array([0, 1, 0, 2, 1, 0])
    turns = _turns(50, bond, seed=0)
    assert (np.sort(turns, axis=1) == np.arange(6)).all()
    np.testing.assert_array_equal(turns[50:], 5 - turns[:50])
    for k in range(3):
        own = turns[:, bond == k]
        assert (np.ptp(own, axis=1) == own.shape[1] - 1).all()
    assert len(np.unique(turns, axis=0)) > 30


def test_bonds_change_nothing_where_scores_are_sums(rng):
    weights, rows, background = rng.normal(size=(4, 2)), rng.normal(size=(3, 4)), rng.normal(size=(7, 4))
    groups = list(np.arange(4)[:, None])
    bound, _ = shapley_values(
        lambda X: X @ weights, rows, background, groups, bonds=[np.array([0, 3]), np.array([1, 2])]
    )
    np.testing.assert_allclose(bound, (rows - background.mean(axis=0))[:, :, None] * weights, atol=1e-12)
