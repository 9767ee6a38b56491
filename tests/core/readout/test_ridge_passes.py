"""The ridge's statistics of blocks: sums, ranges and changes, against the rows themselves."""

from functools import partial

import numpy as np
import pytest

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network, trajectory
from cogmap.core.readout.ridge_passes import STANDARD_ROWS, Evidence, Frame, fixed_at, framed, ranges, summed
from cogmap.core.sums.rows import Started
from cogmap.core.sums.statistics import Held

N_ITER, N_CLASSES = 4, 3


@pytest.fixture
def network(rng):
    return Network(rng.normal(size=(3, 3)), rng.normal(size=3), 0.7, ACTIVATIONS["sigmoid"])


def started(initial, rng, weight=None):
    """Rows with these initial states, of random classes."""
    n = len(initial)
    weight = np.ones(n) if weight is None else weight
    return Started(initial, np.zeros(n, dtype=np.uint64), rng.integers(0, N_CLASSES, n), weight, np.ones(n), N_CLASSES)


def frame_of(network, initial, tol=1e-5, n_iter=N_ITER):
    """Standardise by the rows themselves."""
    return Frame.from_sample(network, initial.mean(axis=0), initial, np.ones(len(initial)), n_iter, tol)


@pytest.mark.parametrize("weighted", [False, True])
def test_means_and_scatter_are_those_of_the_rows(weighted, network, rng):
    initial = rng.random((500, 3))
    weight = rng.random(500) + 0.5 if weighted else None
    block, frame = started(initial, rng, weight), frame_of(network, initial[:40])
    parts = [
        Started(initial[part], block.keys[part], block.codes[part], block.weight[part], block.unit[part], N_CLASSES)
        for part in (slice(0, 200), slice(200, 500))
    ]
    found = Held(tuple(parts)).map(partial(framed, frame), 0).reduce(summed).scatter(len(frame.mean))
    ZY = np.hstack([frame(initial)[0], np.eye(N_CLASSES)[block.codes]])
    mean = np.average(ZY, axis=0, weights=weight)
    centred = (ZY - mean) * np.sqrt(block.weight)[:, None]
    np.testing.assert_allclose(found.total, block.weight.sum())
    np.testing.assert_allclose(found.mean, mean, atol=1e-13)
    np.testing.assert_allclose(found.gram, centred.T @ centred, atol=1e-11)


def test_ranges_tell_columns_that_are_constant_in_all_rows_from_those_of_the_sample(network, rng):
    network = Network(np.diag(np.diag(network.weights)), network.bias, network.phi, network.activation)
    initial = rng.random((300, 3))
    initial[:, 1] = 0.25
    initial[:, 2] = np.where(np.arange(300) == 7, 0.9, 0.5)
    frame = frame_of(network, np.delete(initial, 7, axis=0))
    assert frame.varies.reshape(N_ITER + 1, 3).tolist() == [[True, False, False]] * (N_ITER + 1)
    block = framed(frame, started(initial, rng))
    for low, high in (ranges(block), ranges_of(summed(block)), ranges_of(Evidence.from_block(block))):
        assert (high > low).reshape(N_ITER + 1, 3).tolist() == [[True, False, True]] * (N_ITER + 1)


def ranges_of(statistic):
    """Its ranges."""
    return statistic.low, statistic.high


@pytest.mark.parametrize("tol", [0.0, 1e-3, 1e-2, 1.0])
def test_iterations_end_where_no_row_moves_whatever_the_sample_says(tol, network, rng):
    """One row moves more than those of the sample."""
    network = Network(network.weights / 4, network.bias, 0.7, network.activation)
    initial = np.vstack([0.5 + rng.random((200, 3)) / 100, np.zeros((1, 3))])
    frame = frame_of(network, initial[:200], tol, n_iter=8)
    states = trajectory(network, initial, 8)
    moved = np.abs(np.diff(states, axis=1)).max(axis=(0, 2))
    expected = next((t for t, change in enumerate(moved) if change < tol), 8)
    changes = framed(frame, started(initial, rng)).changes
    assert fixed_at(changes, tol) == expected
    assert np.isinf(changes).tolist() == frame.moves.tolist()
    np.testing.assert_allclose(changes[1:][~frame.moves[1:]], moved[~frame.moves[1:]], atol=1e-15)


def test_many_rows_of_a_sample_are_thinned(network, rng):
    initial = rng.random((3 * STANDARD_ROWS, 3))
    every_third = frame_of(network, initial[::3])
    found = Frame.from_sample(network, initial[::3].mean(axis=0), initial, np.ones(len(initial)), N_ITER, 1e-5)
    assert (found.mean == every_third.mean).all()
    assert (found.scale == every_third.scale).all()
