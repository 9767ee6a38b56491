import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogmap.core.sums import rows as training
from cogmap.core.sums.rows import States, merge_copies, weighted_rows
from tests.core.problems import on


@pytest.mark.parametrize("compared", [3, 1024])
@given(seed=st.integers(0, 2**32 - 1), n=st.integers(1, 40))
def test_copies_are_merged_and_order_does_not_matter(compared, seed, n):
    rng = np.random.default_rng(seed)
    X, codes, frequency = rng.integers(-1, 2, (n, 2)) * 0.5, rng.integers(0, 2, n), rng.integers(1, 4, n).astype(float)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(training, "COMPARED_ROWS", compared)
        merged = merge_copies(X, codes, frequency)
    expected = {}
    for row, code, times in zip(X, codes, frequency, strict=True):
        expected[*row, code] = expected.get((*row, code), 0) + times
    assert {(*row, code): times for row, code, times in zip(*merged, strict=True)} == expected
    order = rng.permutation(n)
    for one, other in zip(merged, merge_copies(X[order], codes[order], frequency[order]), strict=True):
        np.testing.assert_array_equal(one, other)


def test_minus_zero_is_zero():
    X, _, frequency = merge_copies(np.array([[0.0], [-0.0]]), np.array([1, 1]), np.ones(2))
    assert len(X) == 1
    assert frequency.tolist() == [2]


def test_consecutive_rows_and_states_keep_all_that_belongs_to_them(space, rng):
    X, weight = rng.normal(size=(9, 2)), rng.integers(1, 3, 9) * 1.0
    rows = weighted_rows(X, rng.integers(0, 2, 9), weight, np.array([1.0, 2.0]))
    states = States(X, np.arange(9, dtype=np.uint64), rows.codes, rows.weight, rows.unit, 2)
    for whole, names in ((rows, ("X", "codes")), (states, ("initial", "keys", "codes", "weight", "unit"))):
        part = on(space, whole)[3:7]
        assert part.n_classes == 2
        assert part.even == whole.even
        for name in names:
            expected = getattr(on(space, whole), name)
            assert (space.host(getattr(part, name)) == space.host(expected)[3:7]).all()


def test_rows_are_even_where_all_weights_are_one():
    X, codes = np.zeros((3, 1)), np.array([0, 1, 1])
    assert weighted_rows(X, codes, np.ones(3), np.ones(2)).even
    assert not weighted_rows(X, codes, np.ones(3), np.array([1.0, 0.5])).even
    rows = weighted_rows(X, codes, np.array([0.5, 3.0, 1.0]), np.array([1.0, 2.0]))
    assert rows.weight.tolist() == [0.5, 6.0, 2.0]
    assert rows.unit.tolist() == [0.5, 2.0, 2.0]
    assert rows.mass.tolist() == [0.5, 8.0]
