"""Resemblance of rows against scipy's distances, in every space."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist

from cogmap.core.resemblance.distance import PART, Metric, coordinates, kernel, lower_kernel, resemblance
from tests.core.resemblance.test_cases import CDIST
from tests.core.resemblance.test_metric import similar, some_metric


@pytest.mark.parametrize("n", [1, PART, PART + 1, 3 * PART])
@pytest.mark.parametrize("distance", CDIST)
def test_a_kernel_is_the_resemblance_of_all_rows_to_each_other(distance, n, rng):
    rows, metric = rng.random((n, 3)), some_metric(rng, 3, distance)
    np.testing.assert_allclose(kernel(metric, metric(rows)), similar(metric, rows, rows), atol=1e-7)


@pytest.mark.parametrize("distance", CDIST)
def test_resemblance_is_the_same_in_every_space(distance, space, rng):
    rows, cases, metric = rng.random((20, 3)), rng.random((7, 3)), some_metric(rng, 3, distance)
    found = resemblance(space, metric, coordinates(space, metric, space.put(rows)), metric(cases))
    np.testing.assert_allclose(space.host(found), similar(metric, rows, cases), atol=1e-7)


def test_kernel_blocks_fill_the_lower_triangle(rng):
    cases, features = rng.normal(size=(600, 3)), rng.normal(size=(600, 5))
    expected = np.exp(-cdist(cases, cases)) + features @ features.T
    found = lower_kernel(Metric(np.zeros(3), np.eye(3)), cases, features)
    # The distance of a case to itself is rounding: its square root is 1e-8, not 0.
    np.testing.assert_allclose(np.tril(found), np.tril(expected), rtol=1e-7, atol=1e-7)
