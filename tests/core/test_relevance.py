import numpy as np

from cogmap.core.relevance import paper_relevance


def test_relevance_equals_the_sums_written_as_loops(rng):
    W, R = rng.normal(size=(4, 4)), rng.normal(size=(3, 4, 2))
    expected = [
        sum(abs(W[i, j]) for j in range(4)) + sum(abs(R[t, i, j]) for t in range(3) for j in range(2)) for i in range(4)
    ]
    np.testing.assert_allclose(paper_relevance(W, R), expected, rtol=1e-14)
