from itertools import islice

import numpy as np
import pytest

from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network
from cogmap.core.trajectory.increments import increments
from cogmap.files.onnx.states import increments as graph_increments
from cogmap.files.onnx.states import interpolated
from tests.files.onnx.running import run_graph


def test_interpolation_is_numpy_s_to_the_last_bit(rng):
    columns, heights = [np.array([0.0, 5e-324])], [np.array([0.0, 1.0])]
    for n_knots in (2, 3, 7, 64, 65, 1999):
        values = np.sort(rng.normal(size=n_knots))
        values[1 : n_knots // 3] = values[1]
        columns.append(values)
        heights.append(np.sort(rng.random(n_knots)))
    at_knots = np.array([rng.choice(values, 500) for values in columns]).T
    rows = np.vstack([at_knots, np.nextafter(at_knots, 9), np.nextafter(at_knots, -9), rng.normal(size=(2000, 7)) * 2])
    found = run_graph(lambda x: interpolated(x, columns, heights), rows)
    expected = [np.interp(x, v, h) for x, v, h in zip(rows.T, columns, heights, strict=True)]
    np.testing.assert_array_equal(found, np.transpose(expected))


@pytest.mark.parametrize("rule", ["quasi-nonlinear", "kosko", "kosko-memory"])
@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
def test_increments_have_full_relative_precision(rule, activation, rng):
    """Late increments are tiny; those of core are compared with 80-digit arithmetic in its own tests."""
    W = rng.normal(size=(5, 5)) / 4
    network = Network.from_rule(rule, W, rng.normal(size=5) / 4, 0.8, ACTIVATIONS[activation])
    initial, reference = rng.random((50, 5)), rng.random(5)
    for t in (1, 2, 12):
        expected = next(islice(increments(network, initial, reference), t, None)).linearised
        found = run_graph(lambda x, t=t: next(islice(graph_increments(network, x, reference), t, None)), initial)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())
