"""What remembered rows add, against the terms of the readouts, and the same bits in any batch."""

import numpy as np
import pytest

from cogmap.core.resemblance.cases import CaseReadout
from cogmap.core.resemblance.distance import Metric
from cogmap.core.resemblance.regions import RegionReadout, cut_boxes
from cogmap.core.sums.tiles import TILE


def readout_of(rng, n_regions, n=400, M=4):
    """Return cases with coefficients of chance, in boxes or without."""
    initial, metric = rng.random((n, M)), Metric(rng.random(M), rng.normal(size=(M, M)))
    coefficients = rng.normal(size=(n, 3))
    if n_regions == 0:
        return CaseReadout(None, metric, metric(initial), coefficients)
    boxes = cut_boxes(initial, np.ones(M), -(-n // n_regions))
    region = boxes.codes(initial)
    order = np.argsort(region, kind="stable")
    ends, constants = np.cumsum(np.bincount(region)), rng.normal(size=(len(boxes.low), 3))
    return RegionReadout(metric, boxes, ends, metric(initial[order]), coefficients, constants)


def by_hand(readout, initial):
    """Return the sums one row and one case at a time."""
    found = []
    for row in initial:
        k, cases = 0, slice(None)
        if isinstance(readout, RegionReadout):
            boxes = zip(readout.boxes.low, readout.boxes.high, strict=True)
            k = next(k for k, (low, high) in enumerate(boxes) if (row > low).all() and (row <= high).all())
            cases = readout.regions[k]
        distance = np.linalg.norm((row - readout.metric.mean) @ readout.metric.map - readout.cases[cases], axis=1)
        constant = readout.constants[k] if isinstance(readout, RegionReadout) else 0.0
        found.append(np.exp(-distance) @ readout.coefficients[cases] + constant)
    return np.array(found)


@pytest.mark.parametrize("n_regions", [0, 1, 4])
def test_rows_are_compared_with_the_cases_of_their_region(n_regions, rng):
    readout, initial = readout_of(rng, n_regions), rng.random((3 * TILE + 5, 4))
    np.testing.assert_allclose(readout.remembered()(initial), by_hand(readout, initial), atol=1e-6)


@pytest.mark.parametrize("n_regions", [0, 1, 4])
def test_a_row_has_the_same_bits_in_any_batch(n_regions, rng):
    remembered, initial = readout_of(rng, n_regions).remembered(), rng.random((3 * TILE + 5, 4))
    whole = remembered(initial)
    for size in (1, 7, TILE, TILE + 1):
        for begin in range(0, len(initial), size):
            assert (remembered(initial[begin : begin + size]) == whole[begin : begin + size]).all()
