"""What a space offers, in numpy and on a device, against plain numpy; and its way to another process."""

import pickle

import numpy as np
import pytest

from cogmap.core.sums import space as module
from cogmap.core.sums.space import NUMPY, STRIP, STRIP_NUMBERS, Space, gram, pieces, slices


def test_a_space_can_be_sent_to_another_process(space):
    again = pickle.loads(pickle.dumps(space))
    assert again == space
    assert again.xp is space.xp
    assert again.numpy == space.numpy
    assert (again.host(again.put(np.arange(3.0))) == np.arange(3.0)).all()


def test_a_space_of_torch_can_be_sent_to_another_process():
    torch = pytest.importorskip("torch", reason="torch is too large for CI")
    again = pickle.loads(pickle.dumps(Space(torch, torch.device("cpu"))))
    assert again.library == "torch"
    assert again.device == torch.device("cpu")


def test_arrays_go_to_a_space_and_back(space, rng):
    X = rng.normal(size=(5, 3))
    assert (space.host(space.put(X)) == X).all()
    assert space.put(X[::2]).shape == (3, 3)


def test_numpys_rows_are_not_copied(rng):
    X = rng.normal(size=(5, 3))
    assert NUMPY.put(X) is X
    assert NUMPY.host(X) is X


@pytest.mark.parametrize("p", [1, 255, 256, 257, 700])
def test_pieces_of_products(p, space, rng):
    F, T = rng.normal(size=(30, p)), np.triu(rng.normal(size=(p, p)))
    assert [end for _, end in pieces(p)][-1] == p
    np.testing.assert_allclose(np.triu(space.host(gram(space, space.put(F)))), np.triu(F.T @ F), atol=1e-12)
    product = space.host(space.times_triangle(space.put(F), space.put(T), 2))
    assert product.shape == (30, p + 2)
    np.testing.assert_allclose(product[:, :p], F @ T, atol=1e-11)


def test_the_gram_matrix_of_few_columns_and_many_rows(space, rng):
    F = rng.normal(size=(33_000, 3))
    np.testing.assert_allclose(np.triu(space.host(gram(space, space.put(F)))), np.triu(F.T @ F), rtol=1e-11, atol=1e-9)


@pytest.mark.parametrize("cached", [1, 2**21])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_columns_are_copied_and_put_side_by_side(dtype, cached, space, rng, monkeypatch):
    """Neighbours go together, and gaps between them do not matter."""
    monkeypatch.setattr(module, "CACHED", cached)
    X, wanted = rng.normal(size=(50, 21)).astype(dtype), [0, 3, 7, 8, 9, 20]
    columns = list(space.columns(space.put(X), wanted))
    assert all(column.dtype == space.xp.float64 for column in columns)
    assert (space.host(space.side_by_side(columns, 50)) == X[:, wanted]).all()
    assert space.side_by_side([], 50).shape == (50, 0)


def test_operations_on_parts_of_an_array(space, rng):
    X, W, shift = rng.normal(size=(7, 4)), rng.normal(size=(4, 4)), rng.normal(size=4)
    there, product = space.put(X), space.matrix(7, 6)
    space.product_into(product[:, 1:5], there, space.put(W))
    np.testing.assert_allclose(space.host(product[:, 1:5]), X @ W, rtol=1e-12, atol=1e-14)
    space.multiply_into(product[:, :4], there, there)
    assert (space.host(product[:, :4]) == X * X).all()
    space.affine_into(product[:, :4], there, space.put(shift), space.put(shift[::-1].copy()))
    np.testing.assert_allclose(space.host(product[:, :4]), X * shift + shift[::-1], rtol=1e-14)
    np.testing.assert_allclose(space.host(space.product(there, space.put(W))), X @ W, rtol=1e-12, atol=1e-14)


def test_small_functions(space, rng):
    X, codes = rng.normal(size=(9, 4)), rng.integers(0, 3, 9)
    there, at = space.put(X), space.put(np.array([3, 0, 3]))
    assert (space.host(space.take(there, at)) == X[[3, 0, 3]]).all()
    assert (space.host(space.take(there, at, axis=1)) == X[:, [3, 0, 3]]).all()
    assert (space.host(space.one_hot(space.put(codes), 3)) == np.eye(3)[codes]).all()
    low, high = space.extremes(there)
    assert (space.host(low) == X.min(axis=0)).all()
    assert (space.host(high) == X.max(axis=0)).all()
    for sign in (1, -1):
        assert float(space.largest(space.put(sign * X))) == np.abs(X).max()
    assert (space.host(space.most([there, space.put(-X), space.put(X / 2)])) == np.abs(X)).all()
    assert (space.host(space.ones(there)) == np.ones((9, 1))).all()
    assert (space.host(space.hstack([there, there])) == np.c_[X, X]).all()
    assert space.double(space.put(codes)).dtype == space.xp.float64


@pytest.mark.parametrize("width", [0, 10, 1000])
@pytest.mark.parametrize("n_rows", [0, 1, STRIP, STRIP + 1, 20 * STRIP + 5])
def test_strips_cover_all_rows_once_and_in_order(n_rows, width, space):
    strips = space.over_strips(lambda rows: rows, n_rows, width)
    assert np.concatenate([np.arange(n_rows)[rows] for rows in strips]).tolist() == list(range(n_rows))
    if space.numpy and len(strips) > 1:
        assert all((rows.stop - rows.start) % STRIP == 0 for rows in strips[:-1])
        assert STRIP <= strips[0].stop <= max(STRIP, STRIP_NUMBERS // max(width, 1))
    if width == 1000:
        assert len(strips) == (max(1, -(-n_rows // STRIP)) if space.numpy else 1)


@pytest.mark.parametrize(("n", "size", "expected"), [(0, 4, [0]), (4, 4, [4]), (9, 4, [4, 4, 1])])
def test_slices(n, size, expected):
    assert [rows.stop - rows.start for rows in slices(n, size)] == expected


def test_blocks_fit_into_what_is_free(space, monkeypatch):
    monkeypatch.setattr(module, "UNKNOWN_MEMORY", 2**30)
    assert space.block_rows(100) * 100 * 8 <= 0.1 * 2**30
    assert space.block_rows(10**9) == module.FEWEST_ROWS
    assert space.keeps(2**28)
    assert not space.keeps(2**28 + 1)
