"""Rank knots from passes over blocks against those of the whole column."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cogmap.core.concepts.cells import streamed_knots
from cogmap.core.concepts.scaling import rank_knots
from cogmap.core.sums.sources import Blocks
from cogmap.core.sums.space import NUMPY


def counted(X, weight, n_rows=700):
    """Return a source over blocks, and a list that grows by one with each pass."""
    passes = []

    def blocks():
        passes.append(1)
        return [(X[i : i + n_rows], weight[i : i + n_rows]) for i in range(0, len(X), n_rows)]

    return Blocks(blocks, len(X)), passes


def given_columns(space):
    return lambda block: block


@pytest.mark.parametrize("kind", ["none", "whole"])
def test_knots_are_those_of_the_whole_column_to_the_last_bit(kind, rng):
    n = 6000
    normal = rng.normal(size=n)
    ties = np.repeat(rng.random(n // 10), 10) + 1e-11 * rng.normal(size=n)
    dense = np.r_[0.0, 1.0, 0.5 + 2e-9 * rng.random(n - 2)]
    X = np.c_[
        normal,
        np.exp(5 * normal),
        rng.integers(0, 7, n),
        np.r_[1e12, rng.random(n - 1)],
        normal.round(2),
        ties,
        dense,
        rng.integers(0, 1500, n) / 3,
    ]
    weight = np.ones(n) if kind == "none" else rng.integers(1, 4, n) * 1.0
    source, passes = counted(X, weight)
    streamed = streamed_knots(source, given_columns, X.min(axis=0), X.max(axis=0))
    for knots, column in zip(streamed, X.T, strict=True):
        for mine, expected in zip(knots, rank_knots(NUMPY, column, weight), strict=True):
            assert mine.tolist() == expected.tolist()
    assert len(passes) <= 6


def test_few_different_values_take_one_pass(rng):
    X = rng.integers(0, 50, (3000, 2)) * 1.0
    source, passes = counted(X, np.ones(3000))
    streamed_knots(source, given_columns, X.min(axis=0), X.max(axis=0))
    assert len(passes) == 1


@settings(max_examples=50)
@given(arrays(np.float64, (40, 1), elements=st.floats(-1e300, 1e300)))
def test_any_numbers(X):
    if X.max() == X.min() or not np.isfinite(X.max() - X.min()):
        return
    streamed = streamed_knots(counted(X, np.ones(40), 7)[0], given_columns, X.min(axis=0), X.max(axis=0))
    for mine, expected in zip(streamed[0], rank_knots(NUMPY, X[:, 0], None), strict=True):
        assert mine.tolist() == expected.tolist()
