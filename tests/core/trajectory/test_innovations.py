"""The innovations against separate least-squares solutions, in cases where those are well-conditioned."""

import numpy as np
import pytest

from cogmap.core.constants import NOVELTY
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network, trajectory
from cogmap.core.sums import threads
from cogmap.core.sums.space import NUMPY, STRIP
from cogmap.core.trajectory.increments import Course
from cogmap.core.trajectory.innovations import _whitening, features, grow, whitened_by
from tests.core.problems import increments_of

WEIGHTS = ("none", "fractional", "integer")


def sample_weights(kind, rng, n):
    return {"none": np.ones(n), "fractional": rng.uniform(0.2, 3.0, n), "integer": rng.integers(1, 4, n) * 1.0}[kind]


def steep_blocks(rng, n=200, m=3, n_iter=4):
    """Increments of a network whose iterations differ much, so that least squares needs no care."""
    network = Network(1.5 * rng.normal(size=(m, m)), rng.normal(size=m), 0.9, ACTIVATIONS["tanh"])
    X = rng.random((n, m))
    return increments_of(network, X, X.mean(axis=0), n_iter)


def converging_blocks(rng, X, n_iter=20):
    W = rng.normal(size=(X.shape[1], X.shape[1]))
    network = Network(W / np.linalg.norm(W), np.zeros(X.shape[1]), 0.8, ACTIVATIONS["sigmoid"])
    return increments_of(network, X, X.mean(axis=0), n_iter)


def standardised(blocks, weight):
    """Return the constant and the standardised columns of the blocks."""
    F = np.hstack(blocks)
    centred = F - np.average(F, axis=0, weights=weight)
    return np.c_[np.ones(len(F)), centred / centred.std(axis=0)]


def least_squares(F, target, weight):
    root = np.sqrt(weight)[:, None]
    return F @ np.linalg.lstsq(F * root, target * root, rcond=None)[0]


def fit(blocks, weight, max_rank=100):
    """Return the basis and the rows' Q, which satisfies Σ w q qᵀ = I."""
    basis, F = grow(iter(blocks), weight, max_rank)
    Z = F @ basis.map
    basis = whitened_by(basis, Z.T @ Z)
    return basis, Z[:, : len(basis.whiten)] @ basis.whiten / np.sqrt(weight)[:, None]


def applied(basis, blocks):
    """Return Q of the rows whose increments these are."""
    chosen = zip(blocks, basis.columns, basis.scales, strict=False)
    read = [block[:, columns] * scale for block, columns, scale in chosen]
    return np.hstack([np.ones((len(read[0]), 1)), *read]) @ basis.map @ basis.whiten


@pytest.mark.parametrize("kind", WEIGHTS)
def test_innovations_are_orthonormal_under_the_weights(kind, rng):
    weight = sample_weights(kind, rng, 200)
    for blocks in (steep_blocks(rng), converging_blocks(rng, rng.random((200, 3)))):
        _, Q = fit(blocks, weight)
        gram = sum(w * np.outer(q, q) for w, q in zip(weight, Q, strict=True))
        np.testing.assert_allclose(gram, np.eye(Q.shape[1]), atol=1e-9)
        np.testing.assert_allclose(Q[:, 0], weight.sum() ** -0.5, rtol=1e-12)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_innovations_span_what_the_increments_span(kind, rng):
    blocks, weight = steep_blocks(rng), sample_weights(kind, rng, 200)
    basis, Q = fit(blocks, weight)
    assert basis.ends == [4, 7, 10, 13, 16]
    for end, upto in zip(basis.ends, range(1, 6), strict=True):
        F = standardised(blocks[:upto], weight)
        np.testing.assert_allclose(F, least_squares(Q[:, :end], F, np.ones(200)), atol=1e-9)


@pytest.mark.parametrize("kind", WEIGHTS)
def test_leading_columns_solve_every_smaller_number_of_iterations(kind, rng):
    blocks, weight, target = steep_blocks(rng), sample_weights(kind, rng, 200), rng.normal(size=(200, 2))
    basis, Q = fit(blocks, weight)
    C = Q.T @ (weight[:, None] * target)
    for upto, end in enumerate(basis.ends, start=1):
        expected = least_squares(standardised(blocks[:upto], weight), target, weight)
        np.testing.assert_allclose(Q[:, :end] @ C[:end], expected, atol=1e-8 * np.abs(expected).max())


def test_basis_reproduces_the_innovations_of_the_training_rows(rng):
    weight = sample_weights("fractional", rng, 200)
    for blocks in (steep_blocks(rng), converging_blocks(rng, rng.random((200, 3)))):
        basis, Q = fit(blocks, weight)
        rounding = 4 * np.finfo(float).eps * basis.condition / np.sqrt(weight.sum())
        np.testing.assert_allclose(applied(basis, blocks), Q, rtol=0, atol=rounding)
        rows = rng.permutation(200)[:50]
        np.testing.assert_allclose(applied(basis, [b[rows] for b in blocks]), Q[rows], rtol=0, atol=rounding)


def test_cut_basis_gives_the_leading_columns(rng):
    blocks = steep_blocks(rng)
    basis, Q = fit(blocks, np.ones(200))
    new = [block[::-3] for block in blocks]
    for n_iterations, end in enumerate(basis.ends):
        cut = basis.cut(n_iterations)
        assert cut.ends == basis.ends[: n_iterations + 1]
        np.testing.assert_allclose(applied(cut, new), Q[::-3, :end], atol=1e-12)


def test_coefficients_of_increments_give_the_same_scores(rng):
    blocks = steep_blocks(rng)
    blocks[0] = blocks[0][:, [0, 1, 1, 2]]
    basis, Q = fit(blocks, sample_weights("fractional", rng, 200))
    C = rng.normal(size=(Q.shape[1], 2))
    found, constant = basis.coefficients(C, 4)
    assert found.shape == (5, 4, 2)
    scores = constant + sum(block @ K[: block.shape[1]] for block, K in zip(blocks, found, strict=True))
    np.testing.assert_allclose(scores, Q @ C, atol=1e-9 * np.abs(Q @ C).max())
    assert (np.abs(found[0]).max(axis=1) > 0).sum() == 3


def test_columns_that_repeat_or_complement_others_do_not_enter_twice(rng):
    A, target = rng.random((100, 3)), rng.normal(size=(100, 2))
    first = np.c_[A, A[:, 0], 1 - A[:, 1], A.sum(axis=1), np.full(100, 0.3)]
    second = np.c_[A[:, 2] - A[:, 0], A[:, 0] ** 2]
    basis, Q = fit([first, second], np.ones(100))
    entered = set(basis.columns[0].tolist())
    assert len(entered) == 3
    assert np.linalg.matrix_rank(np.c_[np.ones(100), first[:, sorted(entered)]]) == 4
    assert basis.columns[1].tolist() == [1]
    expected = least_squares(np.c_[np.ones(100), A, A[:, 0] ** 2], target, np.ones(100))
    np.testing.assert_allclose(Q @ (Q.T @ target), expected, atol=1e-10)


def test_a_column_enters_if_enough_of_its_spread_is_new():
    old, new = np.tile([0.9, -0.9, 0.9, -0.9], 25), np.tile([0.9, 0.9, -0.9, -0.9], 25)
    for share, enters in ((NOVELTY / 3, False), (NOVELTY * 3, True)):
        basis, _ = fit([old[:, None], (old + share * new)[:, None]], np.ones(100))
        assert (len(basis.columns) == 2) == enters


def test_the_column_with_the_largest_new_share_of_its_spread_enters_first():
    old, new, other = (np.tile(signs, 10) for signs in ([1.0, -1, 1, -1], [1.0, 1, -1, -1], [1.0, -1, -1, 1]))
    block = np.c_[0.9 * old + 0.1 * new, 0.01 * (0.6 * old + 0.8 * other)]  # new shares .1 and .8
    basis, _ = fit([old[:, None], block], np.ones(40))
    assert basis.columns[1].tolist() == [1, 0]
    assert fit([old[:, None], block], np.ones(40), max_rank=2)[0].columns[1].tolist() == [1]


def test_a_block_that_adds_nothing_ends_the_innovations(rng):
    A = rng.random((50, 2))
    for idle in (np.zeros((50, 2)), A @ rng.normal(size=(2, 2)) + 1):
        basis, Q = fit([A, idle, A**2], np.ones(50))
        assert basis.ends == [3]
        assert Q.shape == (50, 3)


def test_fewer_rows_than_columns_are_spanned_completely(rng):
    X, target = rng.random((5, 8)), rng.normal(size=(5, 2))
    basis, Q = fit([X, X**2], np.full(5, 10.0))
    assert basis.ends == [5]
    np.testing.assert_allclose(Q @ (Q.T @ (10 * target)), target, atol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_permuted_rows_give_the_same_scores(seed):
    rng = np.random.default_rng(seed)
    X, order = rng.random((300, 3)), rng.permutation(300)
    blocks, target = converging_blocks(rng, X), np.eye(2)[(np.sin(9 * X[:, 0]) > X[:, 1]).astype(int)]
    basis, Q = fit(blocks, np.ones(300))
    permuted = fit([block[order] for block in blocks], np.ones(300))[0]
    assert len(basis.ends) > 8
    scores = Q @ (Q.T @ target)
    Q_permuted = applied(permuted, [block[order] for block in blocks])
    again = applied(permuted, blocks) @ (Q_permuted.T @ target[order])
    np.testing.assert_allclose(again, scores, atol=1e-6 * np.abs(scores).max())


@pytest.mark.parametrize("seed", range(5))
def test_weight_k_equals_a_row_repeated_k_times(seed):
    rng = np.random.default_rng(seed)
    X, times, target = rng.random((200, 3)), rng.integers(1, 4, 200), rng.normal(size=(200, 2))
    blocks = converging_blocks(rng, X)
    _, Q = fit(blocks, times.astype(float))
    repeated, again = fit([np.repeat(block, times, axis=0) for block in blocks], np.ones(times.sum()))
    scores = Q @ (Q.T @ (times[:, None] * target))
    found = applied(repeated, blocks) @ (again.T @ np.repeat(target, times, axis=0))
    np.testing.assert_allclose(found, scores, atol=1e-6 * np.abs(scores).max())


def test_no_more_innovations_than_asked_for(rng):
    blocks = steep_blocks(rng)
    target = rng.normal(size=(200, 1))
    every = fit(blocks, np.ones(200))[0]
    for max_rank in (1, 3, 5, 9, 15):
        basis, Q = fit(blocks, np.ones(200), max_rank)
        assert Q.shape == (200, max_rank + 1)
        assert basis.ends[-1] == max_rank + 1
        kept = [blocks[t][:, columns] for t, columns in enumerate(basis.columns)]
        expected = least_squares(standardised(kept, np.ones(200)), target, np.ones(200))
        np.testing.assert_allclose(Q @ (Q.T @ target), expected, atol=1e-8)
        for entered, best in zip(basis.columns, every.columns, strict=False):
            assert entered.tolist() == best[: len(entered)].tolist()


def test_condition_is_the_growth_of_a_rounding_error_of_the_increments(rng):
    """A column that differs from the constant by 1e-5 makes an innovation that magnifies errors by about 1e5."""
    column = rng.choice([-1.0, 1.0], 1000)
    column -= column.mean()
    for size in (1e-3, 1e-5):
        basis, _ = fit([0.75 + size * column[:, None]], np.ones(1000))
        # The innovation is column / ‖column‖, so the column in (½, 1) and the constant have the coefficients:
        across, inverse = -0.75 / size, 1 / size
        expected = np.hypot(across, inverse) / np.sqrt((column**2).mean())
        assert basis.condition == pytest.approx(expected, rel=1e-3)


def test_columns_that_depend_on_earlier_ones_after_all_are_left_out(rng):
    A = rng.normal(size=(100, 4))
    A[:, 2] = A[:, 0] + A[:, 1]
    whiten = _whitening(A.T @ A)
    assert whiten.shape == (2, 2)
    np.testing.assert_allclose((A[:, :2] @ whiten).T @ (A[:, :2] @ whiten), np.eye(2), atol=1e-12)


def test_first_columns_of_a_basis_are_those_of_the_whole(rng):
    X = rng.random((100, 3))
    network = Network(rng.normal(size=(3, 3)), np.zeros(3), 0.8, ACTIVATIONS["sigmoid"])
    blocks = increments_of(network, X, X.mean(axis=0), 3)
    basis, Q = fit(blocks, np.ones(100), 60)
    for n_columns in (1, 2, 4, 5, 8):
        part = basis.first(n_columns)
        np.testing.assert_allclose(applied(part, blocks), Q[:, :n_columns], atol=1e-8)
        assert part.ends[-1] == n_columns


@pytest.mark.parametrize("n", [1, 60, 10 * STRIP + 3])
def test_features_are_the_columns_of_the_increments_that_the_basis_reads(n, space, rng):
    network = Network(rng.normal(size=(3, 3)), rng.normal(size=3), 0.8, ACTIVATIONS["tanh"])
    sample, X = rng.random((200, 3)), rng.random((n, 3))
    reference = sample.mean(axis=0)
    basis, _ = fit(increments_of(network, sample, reference, 4), np.ones(200), 11)
    course = Course(space, network, reference, 4)
    F, changes = features(course, basis, space.put(X))
    blocks = increments_of(network, X, reference, len(basis.columns) - 1)
    Q = space.host(F) @ basis.scaled(course.gain)
    np.testing.assert_allclose(Q, applied(basis, blocks), atol=1e-11)
    np.testing.assert_allclose(
        basis.scaled(course.gain, basis.map) @ basis.whiten, basis.scaled(course.gain), rtol=1e-9
    )
    states = trajectory(network, X, len(blocks) - 1)
    np.testing.assert_allclose(space.host(changes)[1:], np.abs(np.diff(states, axis=1)).max(axis=(0, 2)), rtol=1e-9)


def test_features_have_the_same_bits_for_any_number_of_workers(rng, monkeypatch):
    network = Network(rng.normal(size=(3, 3)), rng.normal(size=3), 0.8, ACTIVATIONS["tanh"])
    X = rng.random((12 * STRIP + 3, 3))
    basis, _ = fit(increments_of(network, X[:100], X[0], 4), np.ones(100))
    results = []
    for workers in (1, 2, 4):
        monkeypatch.setattr(threads, "n_workers", lambda workers=workers: workers)
        results.append(features(Course(NUMPY, network, X[0], 4), basis, X)[0])
    assert (results[0] == results[1]).all()
    assert (results[0] == results[2]).all()


def test_a_basis_ends_where_nothing_changes(rng):
    basis, _ = fit(steep_blocks(rng), np.ones(200))
    changes = np.array([9.0, 1.0, 0.1, 0.01, 0.001])
    for tol, n_iterations in ((2.0, 0), (0.5, 1), (0.05, 2), (0.0, 4)):
        assert basis.until(changes, tol).ends == basis.ends[: n_iterations + 1]
