"""Statistics of blocks against those of all rows at once, and the tree against its definition."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogmap.core.sums.statistics import Census, Range, Run, Totals, merged


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


def test_totals_are_summed_and_compared_where_they_are(space, rng):
    parts = [rng.normal(size=(5, 4)) for _ in range(3)]
    total = merged(
        Totals(space, (there.T @ there,), (space.xp.min(there, axis=0),), (space.xp.max(there, axis=0),))
        for there in map(space.put, parts)
    )
    gram, low, high = total.host
    X = np.concatenate(parts)
    np.testing.assert_allclose(gram, X.T @ X, rtol=1e-12, atol=1e-12)
    assert (low == X.min(axis=0)).all()
    assert (high == X.max(axis=0)).all()


def test_a_range_tells_which_features_vary_and_the_weight_of_all():
    census = Range(np.array([0.0, 1.0]), np.array([0.0, 2.0]), np.array([3.0, 0.5]))
    assert census.varies.tolist() == [False, True]
    assert census.total == 3.5
