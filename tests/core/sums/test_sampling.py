"""The rows chosen by content: whatever their order and blocks, and with the weights of all copies."""

import numpy as np

from cogmap.core.sums.sampling import Outlyingness, Sample, content_keys, spanning_samples, union
from cogmap.core.sums.statistics import merged


def test_keys_tell_rows_apart_and_copies_not(rng):
    X = rng.integers(0, 3, (2000, 4)) * 1.0
    keys = content_keys(X)
    different = np.unique(X, axis=0)
    assert len(np.unique(keys)) == len(different)
    for row in different[:5]:
        assert len(set(keys[(row == X).all(axis=1)])) == 1
    assert content_keys(np.array([[0.0, 1.0]])) == content_keys(np.array([[-0.0, 1.0]]))


def test_keys_are_spread_evenly(rng):
    """Also for rows that differ in one late digit only."""
    keys = content_keys(np.c_[np.ones(20000), np.arange(20000) * np.finfo(float).eps + 1])
    count = np.histogram(keys / 2.0**64, bins=20, range=(0, 1))[0]
    assert (np.abs(count - 1000) < 6 * np.sqrt(1000)).all()


def test_sample_of_blocks_is_that_of_all_rows_with_the_weight_of_all_copies(rng):
    X = rng.integers(0, 6, (3000, 3)) * 1.0
    weight = rng.integers(1, 4, 3000) * 1.0
    outlyingness = Outlyingness.from_scatter(X.mean(axis=0), np.cov(X.T) * 3000)

    def sampled(rows, w, n_blocks):
        blocks = zip(np.array_split(rows, n_blocks), np.array_split(w, n_blocks), strict=True)
        return union(merged(spanning_samples(outlyingness, x, content_keys(x), v, (40, 20)) for x, v in blocks))

    order = rng.permutation(3000)
    rows, mass = sampled(X, weight, 1)
    for found in (sampled(X, weight, 13), sampled(X[order], weight[order], 4)):
        assert (found[0] == rows).all()
        assert (found[1] == mass).all()
    assert 40 < len(rows) <= 60
    for row, w in zip(rows, mass, strict=True):
        assert w == weight[(row == X).all(axis=1)].sum()


def test_the_most_outlying_rows_are_in_the_sample(rng):
    X = rng.normal(size=(500, 2)) @ [[1.0, 0.9], [0.0, 0.1]]
    distance = np.einsum("ij,jk,ik->i", X - X.mean(axis=0), np.linalg.inv(np.cov(X.T)), X - X.mean(axis=0))
    outlyingness = Outlyingness.from_scatter(X.mean(axis=0), np.cov(X.T))
    keys = content_keys(X)
    found = Sample.from_block(-outlyingness(X), keys, X, np.ones(500), 10)
    farthest = X[np.argsort(-distance)[:10]]
    assert {tuple(row) for row in found.rows} == {tuple(row) for row in farthest}
