import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogmap.core.sums import rows as training
from cogmap.core.sums.rows import merge_copies


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
