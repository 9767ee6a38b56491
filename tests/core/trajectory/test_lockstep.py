"""Increments of all rows in lockstep against those that go row block by row block."""

from itertools import islice

import numpy as np
import pytest

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import RULES, Network
from cogmap.core.trajectory import lockstep as module
from cogmap.core.trajectory.increments import increments
from cogmap.core.trajectory.lockstep import lockstep


@pytest.mark.parametrize("rows", [7, 1000])
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_increments_are_the_same_to_the_last_digits(activation, rule, rows, rng, monkeypatch):
    """Relative to the largest of an iteration; late ones are many orders below the states that they belong to."""
    monkeypatch.setattr(module, "STEP_ROWS", rows)
    W, b = 0.2 * rng.normal(size=(6, 6)), rng.normal(size=6)
    network = Network.from_rule(rule, W, b, 0.8, ACTIVATIONS[activation])
    X = rng.random((30, 6))
    reference = X.mean(axis=0)
    pairs = zip(lockstep(network, X, reference), islice(increments(network, X, reference), 15), strict=False)
    n_read = 0
    for found, expected in pairs:
        atol = 1e-13 * np.abs(expected.linearised).max()
        np.testing.assert_allclose(found.linearised, expected.linearised, rtol=0, atol=atol)
        assert found.change == pytest.approx(expected.change, rel=1e-12)
        found.linearised[:] = np.nan  # the caller may do as it likes with it
        n_read += 1
    assert n_read == 15
    assert np.isfinite(X).all()
