import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cogmap.plots.ring import Rings, ring_order

maps = st.integers(1, 9).flatmap(lambda n: arrays(np.float64, (n, n), elements=st.sampled_from([0.0, 0.0, 1.0, -2.0])))


@given(maps)
def test_every_concept_stands_once_and_those_without_an_edge_last(edges):
    order = ring_order(edges)
    assert sorted(order) == list(range(len(edges)))
    between = np.where(np.eye(len(edges), dtype=bool), 0, edges)
    linked = between.any(axis=0) | between.any(axis=1)
    assert (np.diff(linked[order].astype(int)) <= 0).all()


def test_connected_parts_follow_each_other():
    edges = np.zeros((6, 6))
    for j, i in [(0, 2), (2, 4), (5, 1)]:
        edges[j, i] = 1.0
    assert [set(ring_order(edges)[:3]), set(ring_order(edges)[3:5])] == [{0, 2, 4}, {1, 5}]


def test_a_long_cycle_is_laid_out_without_a_crossing():
    """Kamada and Kawai draw a cycle as a circle, so its own order comes back, in one of its two senses."""
    cycle = np.random.default_rng(0).permutation(9)
    edges = np.zeros((9, 9))
    edges[cycle, np.roll(cycle, -1)] = 1.0
    place = np.empty(9, dtype=int)
    place[ring_order(edges)] = np.arange(9)
    steps = (place[np.roll(cycle, -1)] - place[cycle]) % 9
    assert set(steps) in ({1}, {8})


def test_rooms_fill_each_ring():
    block = np.repeat([0, 1], [20, 5])
    edges = np.zeros((25, 25))
    edges[:6, :6] = edges[20:23, 20:23] = 1.0
    rings = Rings.arrange(block, np.ones(25), edges)
    for b in (0, 1):
        np.testing.assert_allclose(rings.room[block == b].sum(), 2 * np.pi)
    assert len(set(np.round(rings.room[:20], 9))) == 2  # a large ring: less room without an edge
    assert len(set(np.round(rings.room[20:], 9))) == 1
    around = np.sort(rings.angle[:20] % (2 * np.pi))
    gaps = np.diff(np.r_[around, around[0] + 2 * np.pi])
    assert gaps.min() >= rings.room[:20].min() - 1e-9
