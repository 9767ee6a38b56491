"""The rows chosen by content: whatever their order, blocks and space, and with the weights of all copies."""

import numpy as np
import pytest

from cogmap.core.sums.sampling import (
    LAST_KEY,
    Outlyingness,
    Sample,
    content_keys,
    in_order_of_int64,
    key_limits,
    limits_in,
    mixed,
    spanning_samples,
    union,
)
from cogmap.core.sums.space import NUMPY, Space
from cogmap.core.sums.statistics import merged


def keys_of(X):
    return content_keys(NUMPY, X.T.copy())


def keys_in(space, X):
    """Return the keys in a space, and as numpy holds them."""
    keys = content_keys(space, [space.put(column.copy()) for column in X.T])
    host = space.host(keys)
    return keys, host if space.numpy else host.view(np.uint64) ^ np.uint64(2**63)


def plainly(row):
    """Hash one row as SplitMix64 is printed, in numbers without end."""
    end, key = 2**64, 0x9E3779B97F4A7C15
    for value in row:
        key = (key ^ int(np.float64(value + 0.0).view(np.uint64))) + 0x9E3779B97F4A7C15
        key %= end
        key = (key ^ (key >> 30)) * 0xBF58476D1CE4E5B9 % end
        key = (key ^ (key >> 27)) * 0x94D049BB133111EB % end
        key ^= key >> 31
    return key


def test_keys_are_splitmix64_of_the_bits_in_every_space(space, rng):
    X = rng.normal(size=(300, 3)) * 10.0 ** rng.integers(-300, 300, (300, 3))
    X[:9, 1] = -0.0
    _, keys = keys_in(space, X)
    assert keys.tolist() == [plainly(row) for row in X]


def test_keys_of_operations_on_int64_are_those_of_numpy(rng):
    """What a GPU does without a compiler."""
    X, keys = rng.normal(size=(300, 3)), np.full(300, 0x9E3779B97F4A7C15 - 2**64)
    for column in X.T:
        keys = mixed(NUMPY, keys, column.copy().view(np.int64))
    assert (keys.view(np.uint64) == keys_of(X)).all()


def test_keys_are_those_of_numpy_in_torch(rng):
    torch = pytest.importorskip("torch", reason="torch is too large for CI")
    X = rng.normal(size=(300, 3))
    keys = content_keys(Space(torch, torch.device("cpu")), [torch.asarray(column.copy()) for column in X.T])
    assert (keys.numpy() == in_order_of_int64(keys_of(X))).all()


def test_keys_tell_rows_apart_and_copies_not(rng):
    X = rng.integers(0, 3, (2000, 4)) * 1.0
    keys = keys_of(X)
    different = np.unique(X, axis=0)
    assert len(np.unique(keys)) == len(different)
    for row in different[:5]:
        assert len(set(keys[(row == X).all(axis=1)])) == 1
    assert keys_of(np.array([[0.0, 1.0]])) == keys_of(np.array([[-0.0, 1.0]]))


def test_keys_are_spread_evenly(rng):
    """Also for rows that differ in one late digit only."""
    keys = keys_of(np.c_[np.ones(20000), np.arange(20000) * np.finfo(float).eps + 1])
    count = np.histogram(keys / 2.0**64, bins=20, range=(0, 1))[0]
    assert (np.abs(count - 1000) < 6 * np.sqrt(1000)).all()


def test_the_order_of_keys_is_the_same_in_every_space(space, rng):
    keys = np.r_[keys_of(rng.normal(size=(500, 2))), np.uint64(0), LAST_KEY]
    limits = limits_in(space, keys)
    order = sorted(range(len(keys)), key=limits.__getitem__)
    assert order == np.argsort(keys, kind="stable").tolist()


def test_limits_leave_a_little_more_than_is_asked_for(rng):
    limits = key_limits(np.array([1e6, 50.0]), np.array([1000, 40]))
    assert limits[1] == LAST_KEY
    keys = keys_of(rng.normal(size=(10**6, 1)))
    assert 1000 <= (keys <= limits[0]).sum() <= 1500


def test_sample_of_blocks_is_that_of_all_rows_with_the_weight_of_all_copies(space, rng):
    X = rng.integers(0, 6, (3000, 3)) * 1.0
    weight = rng.integers(1, 4, 3000) * 1.0
    outlyingness = Outlyingness.from_scatter(X.mean(axis=0), np.cov(X.T) * 3000)

    def sampled(rows, w, n_blocks):
        blocks = zip(np.array_split(rows, n_blocks), np.array_split(w, n_blocks), strict=True)
        return union(
            merged(
                spanning_samples(space, outlyingness, space.put(x), keys_in(space, x)[0], space.put(v), (40, 20))
                for x, v in blocks
            )
        )

    order = rng.permutation(3000)
    rows, mass = union(spanning_samples(NUMPY, outlyingness, X, keys_of(X), weight, (40, 20)))
    for again in (sampled(X, weight, 1), sampled(X, weight, 13), sampled(X[order], weight[order], 4)):
        assert (again[0] == rows).all()
        assert (again[1] == mass).all()
    assert 40 < len(rows) <= 60
    for row, w in zip(rows, mass, strict=True):
        assert w == weight[(row == X).all(axis=1)].sum()


@pytest.mark.parametrize("size", [0, 1, 40, 5000])
@pytest.mark.parametrize("ranked", [False, True])
@pytest.mark.parametrize("some", [False, True])
def test_samples_are_the_first_of_a_plain_sort(some, ranked, size, space, rng):
    """With copies whose weights count together, also where all rows are chosen, or where only some may be."""
    X = rng.integers(0, 8, (900, 3)) * 1.0
    weight = rng.integers(1, 4, 900) * 1.0
    far = Outlyingness.from_scatter(X.mean(axis=0), np.cov(X.T) * 900)
    keys, rank = keys_of(X), -far(NUMPY, X) if ranked and not some else np.zeros(900)
    among = np.flatnonzero(X[:, 0] > 2) if some else np.arange(900)
    first = {}
    for i in sorted(among, key=lambda i: (rank[i], keys[i])):
        first.setdefault(keys[i], []).append(i)
    chosen = list(first.values())[:size]

    there = space.put(X)
    given = -far(space, there) if ranked and not some else None
    places = space.put(among) if some else None
    parts = (there[:, :1], there[:, 1:])
    sample = Sample.from_block(space, given, keys_in(space, X)[0], parts, space.put(weight), size, among=places)
    assert sample.keys.tolist() == [keys[copies[0]] for copies in chosen]
    assert sample.rows.tolist() == [X[copies[0]].tolist() for copies in chosen]
    assert sample.weight.tolist() == [weight[copies].sum() for copies in chosen]
    np.testing.assert_allclose(sample.rank, [rank[copies[0]] for copies in chosen], rtol=1e-9)


def test_of_no_rows_none_are_chosen(space):
    there = space.put(np.ones((4, 3)))
    nothing = space.put(np.empty(0, dtype=np.int64))
    keys, _ = keys_in(space, np.ones((4, 3)))
    empty = Sample.from_block(space, None, keys, (there[:, :1], there), space.put(np.ones(4)), 5, among=nothing)
    assert empty.rows.shape == (0, 4)
    whole = Sample.from_block(space, None, keys, (there[:, :1], there), space.put(np.ones(4)), 5)
    assert empty.merge(whole).weight.tolist() == [4]


def test_distances_are_those_of_mahalanobis_to_thirty_digits(space, rng):
    X = rng.normal(size=(500, 3)) @ rng.normal(size=(3, 3))
    outlyingness = Outlyingness.from_scatter(X.mean(axis=0), np.cov(X.T))
    distance = space.host(outlyingness(space, space.put(X)))
    centred, ridged = X - X.mean(axis=0), np.cov(X.T) + 1e-6 * np.trace(np.cov(X.T)) / 3 * np.eye(3)
    expected = np.einsum("ij,jk,ik->i", centred, np.linalg.inv(ridged), centred)
    np.testing.assert_allclose(distance, expected, rtol=1e-8)
    assert (np.frexp(distance)[0] * 2**30 % 1 == 0).all()


def test_the_most_outlying_rows_are_in_the_sample(space, rng):
    X = rng.normal(size=(500, 2)) @ [[1.0, 0.9], [0.0, 0.1]]
    distance = np.einsum("ij,jk,ik->i", X - X.mean(axis=0), np.linalg.inv(np.cov(X.T)), X - X.mean(axis=0))
    outlyingness = Outlyingness.from_scatter(X.mean(axis=0), np.cov(X.T))
    there = space.put(X)
    sample = Sample.from_block(
        space, -outlyingness(space, there), keys_in(space, X)[0], (there,), space.put(np.ones(500)), 10
    )
    farthest = X[np.argsort(-distance)[:10]]
    assert {tuple(row) for row in sample.rows} == {tuple(row) for row in farthest}
