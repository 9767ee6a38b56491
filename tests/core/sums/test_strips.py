"""A row has the same bits whatever rows come with it."""

import numpy as np
import pytest

from cogmap.core.sums import threads
from cogmap.core.sums.space import MANY_STRIPS, STRIP, blocks, in_blocks

N = (MANY_STRIPS + 3) * STRIP + 5


def test_blocks_have_one_shape_and_padding_is_zero(rng):
    X = rng.normal(size=(STRIP + 3, 2))
    parts = list(blocks(X))
    assert [len(part) for part in parts] == [STRIP, STRIP]
    assert (np.concatenate(parts)[: len(X)] == X).all()
    assert not parts[1][3:].any()


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_row_has_the_same_bits_in_any_batch_and_with_any_number_of_workers(workers, rng, monkeypatch):
    monkeypatch.setattr(threads, "n_workers", lambda: workers)
    X, W = rng.normal(size=(N, 7)), rng.normal(size=(7, 40))

    def work(part):
        return np.tanh(part @ W) @ W.T

    whole = in_blocks(work, X)
    assert whole.shape == X.shape
    np.testing.assert_allclose(whole, work(X), rtol=1e-12, atol=1e-12)
    for part in (slice(0, 1), slice(0, 77), slice(0, 5 * STRIP)):
        assert (in_blocks(work, X[part]) == whole[part]).all()
