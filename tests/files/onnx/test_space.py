"""What readouts do, recorded as a graph and run, against what they do with arrays."""

from itertools import islice

import numpy as np
import pytest

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network
from cogmap.core.sums.space import NUMPY
from cogmap.core.trajectory.increments import Course, increments
from cogmap.files.onnx.space import GraphSpace
from tests.files.onnx.running import run_graph


@pytest.mark.parametrize("rule", ["quasi-nonlinear", "kosko", "kosko-memory"])
@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
def test_increments_have_full_relative_precision(rule, activation, rng):
    """Late increments are tiny; those of core are compared with 80-digit arithmetic in its own tests."""
    W = rng.normal(size=(5, 5)) / 4
    network = Network.from_rule(rule, W, rng.normal(size=5) / 4, 0.8, ACTIVATIONS[activation])
    initial, reference = rng.random((50, 5)), rng.random(5)

    def increment(space, states, t):
        return next(islice(increments(Course(space, network, reference), states), t, None)).E

    for t in (1, 2, 12):
        expected = increment(NUMPY, initial, t)
        recorded = run_graph(lambda x, t=t: increment(GraphSpace(), x, t), initial)
        np.testing.assert_allclose(recorded, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
