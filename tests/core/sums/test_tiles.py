"""Rows in tiles: all of them once, in order, each with the same bits in any batch and for any number of workers."""

import numpy as np
import pytest

from cogmap.core.sums import threads
from cogmap.core.sums.tiles import TILE, TILES, in_tiles, over_tiles, rows_of, tiled

N = 3 * TILES * TILE + 5


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_row_has_the_same_bits_in_any_batch_and_with_any_number_of_workers(workers, rng, monkeypatch):
    monkeypatch.setattr(threads, "n_workers", lambda: workers)
    X, W = rng.normal(size=(N, 7)), rng.normal(size=(7, 40))

    def work(part, n):
        assert len(part) % TILE == 0
        assert 0 <= len(part) - n < TILE
        assert not part[n:].any()
        return np.matmul(W, np.tanh(np.matmul(W.T, tiled(part))))

    whole = in_tiles(work, X)
    assert whole.shape == X.shape
    np.testing.assert_allclose(whole, np.tanh(X @ W) @ W.T, rtol=1e-12, atol=1e-12)
    for part in (slice(0, 1), slice(5, 77), slice(0, 5 * TILE), slice(TILE * TILES - 1, TILE * TILES + 1)):
        assert (in_tiles(work, X[part]) == whole[part]).all()


def test_rows_and_tiles_are_each_other_s_inverse(rng):
    X = rng.normal(size=(4 * TILE, 3))
    assert tiled(X).shape == (4, 3, TILE)
    assert (rows_of(tiled(X)) == X).all()
    assert (tiled(X)[2, 1] == X[2 * TILE : 3 * TILE, 1]).all()


@pytest.mark.parametrize("n", [1, TILE, 2 * TILE + 3])
def test_few_rows_are_filled_up_with_zeros(n, rng):
    X, seen = rng.normal(size=(n, 2)), []

    def work(tile):
        seen.append(tile.copy())
        return 2 * tile

    assert (over_tiles(work, X) == 2 * X).all()
    filled = np.concatenate(seen)
    assert {len(tile) for tile in seen} == {TILE}
    assert (filled[:n] == X).all()
    assert not filled[n:].any()
