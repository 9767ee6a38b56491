"""A fitted network: its scores in any batch, its states, its scale, and the rows that it keeps."""

import numpy as np
import pytest

from cogmap.core.fit.fit import fit_network
from cogmap.core.fit.model import SUMMARY_ROWS, summarise
from cogmap.core.network.reasoning import trajectory
from cogmap.core.sums import space as space_module
from cogmap.core.sums import threads
from cogmap.core.sums.sources import at_once
from tests.core.problems import SETTINGS, census_of, rows_of


@pytest.fixture
def rows(rng):
    X = rng.normal(size=(400, 3))
    return rows_of(X, (X[:, 0] > X[:, 1] ** 2).astype(np.intp))


@pytest.fixture
def model(rows):
    return fit_network(at_once(rows), census_of(rows), SETTINGS).model


@pytest.mark.parametrize("workers", [1, 4])
def test_a_row_has_the_same_score_in_any_batch(workers, model, rng, monkeypatch):
    monkeypatch.setattr(threads, "n_workers", lambda: workers)
    X = rng.normal(size=(3000, 3))
    whole = model.raw(X)
    for part in (slice(0, 1), slice(7, 100), slice(1500, 3000)):
        # The rows of a block stand elsewhere in it, and have the same bits.
        assert (model.raw(X[part]) == whole[part]).all()


def test_blocks_of_a_device_do_not_matter(model, device, rng, monkeypatch):
    X = rng.normal(size=(3000, 3))
    expected = model.raw(X)
    monkeypatch.setattr(space_module, "UNKNOWN_MEMORY", 0)
    scores = device.host(model.raw(device.put(X), device))
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_states_are_the_trajectory_of_the_concepts(model, rows):
    expected = trajectory(model.network, model.concepts(rows.X), 4)
    np.testing.assert_allclose(model.states(rows.X, 4), expected, rtol=1e-12, atol=1e-14)


def test_the_scale_takes_the_target_to_the_one_hot(model):
    zero, one = model.scale
    np.testing.assert_allclose(model.one_hot_scale(np.array([[zero, one]])), [[0.0, 1.0]], atol=1e-15)


def test_rows_without_concepts_get_the_same_scores(space, rng):
    rows = rows_of(np.ones((20, 2)), rng.integers(0, 2, 20))
    model = fit_network(at_once(rows), census_of(rows), SETTINGS).model
    scores = space.host(model.raw(space.put(np.ones((5, 2))), space))
    zero, one = model.scale
    mean = zero + (one - zero) * rows.mass / 20
    np.testing.assert_allclose(scores, np.tile(mean, (5, 1)), atol=1e-12)


def test_a_summary_is_spread_over_the_classes(rng):
    rows = rows_of(rng.normal(size=(1000, 2)), np.repeat([0, 1], [900, 100]), np.repeat([1.0, 9.0], [900, 100]))
    kept = summarise(rows)
    assert len(kept.rows) == SUMMARY_ROWS
    np.testing.assert_allclose(kept.shares, [0.5, 0.5])
    assert abs((kept.weight == 9).sum() - SUMMARY_ROWS / 10) <= 1
