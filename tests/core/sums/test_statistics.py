"""Statistics of blocks against those of all rows at once, and the tree against its definition."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogmap.core.sums.statistics import Census, Factor, Run, merged


@dataclass(frozen=True)
class Word:
    """A statistic that remembers how it was joined."""

    text: str

    def merge(self, other):
        return Word(f"({self.text}{other.text})")


def words(start, stop):
    return [Word(chr(ord("a") + i)) for i in range(start, stop)]


def tree(parts):
    """Join neighbours level by level, as a cluster would."""
    while len(parts) > 1:
        pairs = [parts[i : i + 2] for i in range(0, len(parts), 2)]
        parts = [pair[0].merge(pair[1]) if len(pair) == 2 else pair[0] for pair in pairs]
    return parts[0]


@pytest.mark.parametrize("n", range(1, 20))
def test_blocks_are_joined_along_one_binary_tree(n):
    assert merged(words(0, n)) == tree(words(0, n))


@given(st.lists(st.integers(0, 7), min_size=1, max_size=8).filter(any), st.randoms())
def test_runs_of_blocks_join_to_the_same_tree_in_any_grouping(lengths, random):
    ends = np.cumsum([0, *lengths])
    runs = [Run.from_parts(words(a, b), a) for a, b in pairwise(ends)]
    while len(runs) > 1:
        i = random.randrange(len(runs) - 1)
        runs[i : i + 2] = [runs[i].merge(runs[i + 1])]
    assert runs[0].total == tree(words(0, ends[-1]))


def test_no_blocks_are_an_error():
    with pytest.raises(ValueError, match="no rows"):
        merged([])


def split(n, *arrays):
    return zip(*(np.array_split(array, n) for array in arrays), strict=True)


def test_census_of_blocks_is_that_of_all_rows(rng):
    X, labels, weight = rng.normal(size=(50, 3)), rng.choice(["a", "bb", "ccc"], 50), rng.integers(1, 4, 50) * 1.0
    labels[:40][labels[:40] == "a"] = "bb"  # a class that only the last blocks hold
    found = merged(Census.from_block(*part) for part in split(7, X, labels, weight))
    assert found.n_rows == 50
    assert found.labels.tolist() == sorted(set(labels))
    assert found.mass.tolist() == [weight[labels == label].sum() for label in found.labels]
    assert (found.low == X.min(axis=0)).all()
    assert (found.high == X.max(axis=0)).all()


def test_factor_holds_mean_scatter_and_regression(rng):
    X, Y, weight = rng.normal(size=(200, 4)) + 5, rng.normal(size=(200, 2)), rng.uniform(0.5, 2, 200)
    found = merged(Factor.from_block(x, w, y) for x, w, y in split(6, X, weight, Y))
    mean = np.average(X, axis=0, weights=weight)
    np.testing.assert_allclose(found.total, weight.sum(), rtol=1e-13)
    np.testing.assert_allclose(found.mean[:4], mean, rtol=1e-13)
    np.testing.assert_allclose(found.size, (weight[:, None] * X**2).sum(), rtol=1e-13)
    scatter = (X - mean).T @ (weight[:, None] * (X - mean))
    centred = found.centred
    np.testing.assert_allclose(centred[:, :4].T @ centred[:, :4], scatter, atol=1e-11)
    slope = np.linalg.lstsq(centred[:, :4], centred[:, 4:], rcond=None)[0]
    root = np.sqrt(weight)[:, None]
    expected = np.linalg.lstsq(np.c_[np.ones(200), X] * root, Y * root, rcond=None)[0][1:]
    np.testing.assert_allclose(slope, expected, atol=1e-12)


def test_factor_keeps_small_singular_values(rng):
    """A Gram matrix would lose a direction of 1e-9."""
    X = rng.normal(size=(300, 3))
    X[:, 2] = X[:, 0] + 1e-9 * X[:, 2]
    found = merged(Factor.from_block(x, np.ones(len(x))) for (x,) in split(5, X))
    singular = np.linalg.svd(found.centred, compute_uv=False)
    np.testing.assert_allclose(singular, np.linalg.svd(X - X.mean(axis=0), compute_uv=False), rtol=1e-6)
