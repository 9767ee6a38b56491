import numpy as np

from cogmap.files.onnx.concepts import interpolated
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
