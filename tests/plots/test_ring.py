import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from cogmap.plots.ring import Rings, ring_angles, ring_order

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


@given(st.integers(1, 300))
def test_concepts_stand_apart_clockwise_around_the_ring(count):
    angle = ring_angles(count)
    assert len(angle) == count
    assert (np.diff(angle) < 0).all()
    assert angle[0] - angle[-1] < 2 * np.pi


@given(st.integers(13, 300))
def test_each_name_of_a_full_ring_has_a_line(count):
    """Of names on one side, no two are nearer than two thirds of what equal heights would leave them, from 60 on."""
    angle = ring_angles(count)
    for side in (np.cos(angle) > 0, np.cos(angle) < 0):
        heights = np.diff(np.sort(np.sin(angle[side])))
        equal = 2 / side.sum()
        assert heights.min() >= (0.98 * equal if count >= 60 else min(0.5 * equal, 2 / 30))
    assert abs(np.cos(angle)).min() > 1e-3


def test_a_small_ring_has_equal_angles():
    np.testing.assert_allclose(np.diff(ring_angles(8)), -2 * np.pi / 8)


def test_each_block_has_its_own_ring():
    block = np.repeat([0, 1], [20, 5])
    rings = Rings.arrange(block, np.ones(25), np.zeros((25, 25)))
    for b, count in ((0, 20), (1, 5)):
        np.testing.assert_allclose(np.sort(rings.angle[block == b]), np.sort(ring_angles(count)))
