"""What remembered rows add, against the terms of the readouts, and the same bits in any batch."""

from dataclasses import replace

import numpy as np
import pytest

from cogmap.core.resemblance.cases import CaseReadout
from cogmap.core.resemblance.distance import Metric
from cogmap.core.resemblance.regions import OwnMetrics, RegionReadout, cut_boxes
from cogmap.core.sums.tiles import TILE


def readout_of(rng, n_regions, own=False, n=400, M=4):
    """Return cases with coefficients of chance, in boxes or without; boxes may have metrics of their own."""
    initial, metric = rng.random((n, M)), Metric(rng.random(M), rng.normal(size=(M, M)))
    coefficients = rng.normal(size=(n, 3))
    if n_regions == 0:
        return CaseReadout(None, metric, metric(initial), coefficients)
    boxes = cut_boxes(initial, np.ones(M), -(-n // n_regions))
    region = boxes.codes(initial)
    order = np.argsort(region, kind="stable")
    ends, constants = np.cumsum(np.bincount(region)), rng.normal(size=(len(boxes.low), 3))
    readout = RegionReadout(metric, boxes, ends, metric(initial[order]), coefficients, constants)
    if own:
        readout = replace(readout, own=OwnMetrics(rng.random((len(ends), M)), rng.normal(size=(len(ends), M, M))))
        cases = [metric(initial[region == k]) for k, metric in enumerate(readout.metrics)]
        readout = replace(readout, cases=np.concatenate(cases))
    return readout


def by_hand(readout, initial):
    """Return the sums one row and one case at a time."""
    found = []
    for row in initial:
        k, cases, metric = 0, slice(None), readout.metric
        if isinstance(readout, RegionReadout):
            boxes = zip(readout.boxes.low, readout.boxes.high, strict=True)
            k = next(k for k, (low, high) in enumerate(boxes) if (row > low).all() and (row <= high).all())
            cases, metric = readout.regions[k], readout.metrics[k]
        distance = np.linalg.norm((row - metric.mean) @ metric.map - readout.cases[cases], axis=1)
        constant = readout.constants[k] if isinstance(readout, RegionReadout) else 0.0
        found.append(np.exp(-distance) @ readout.coefficients[cases] + constant)
    return np.array(found)


REGIONS = [(0, False), (1, False), (4, False), (4, True)]


@pytest.mark.parametrize(("n_regions", "own"), REGIONS)
def test_rows_are_compared_with_the_cases_of_their_region(n_regions, own, rng):
    readout, initial = readout_of(rng, n_regions, own), rng.random((3 * TILE + 5, 4))
    np.testing.assert_allclose(readout.remembered()(initial), by_hand(readout, initial), atol=1e-6)


@pytest.mark.parametrize(("n_regions", "own"), REGIONS)
def test_a_row_has_the_same_bits_in_any_batch(n_regions, own, rng):
    remembered, initial = readout_of(rng, n_regions, own).remembered(), rng.random((3 * TILE + 5, 4))
    whole = remembered(initial)
    for size in (1, 7, TILE, TILE + 1):
        for begin in range(0, len(initial), size):
            assert (remembered(initial[begin : begin + size]) == whole[begin : begin + size]).all()
