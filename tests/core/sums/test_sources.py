"""Sources: rows cut into blocks, passes over them, and what is kept between passes."""

import numpy as np
import pytest

from cogmap.core.sums import sources, threads
from cogmap.core.sums.rows import JudgeScores
from cogmap.core.sums.sources import Blocks, at_once, cut, from_rows, on_device, only_block
from cogmap.core.sums.space import NUMPY, Space
from cogmap.core.sums.statistics import Totals
from tests.core.problems import on, rows_of


@pytest.fixture
def rows(rng):
    return rows_of(rng.normal(size=(50, 3)), rng.integers(0, 3, 50), rng.integers(1, 4, 50) * 1.0)


def parts_of(rows, ends):
    return [rows[slice(a, b)] for a, b in zip([0, *ends], [*ends, len(rows.codes)], strict=True)]


def scores(space):
    """Pass over blocks to a statistic that keeps the rows in their order."""
    return lambda block: JudgeScores(*map(space.host, (block.X, block.codes, block.weight)))


def doubled(space):
    return lambda block: rows_of(2 * block.X, block.codes, block.weight, n_classes=3)


def length(space):
    return lambda block: Totals(space, (space.put(np.array(1.0)), space.xp.sum(block.weight)))


@pytest.mark.parametrize("ends", [[], [7], [8, 16], [1, 2, 3, 30, 49], [0, 20]])
def test_blocks_have_one_size_wherever_the_parts_end(ends, rows, monkeypatch):
    monkeypatch.setattr(sources, "BLOCK_ROWS", 8)
    blocks = list(cut(parts_of(rows, ends)))
    assert [len(block.codes) for block in blocks] == [8] * 6 + [2]
    for name in ("X", "codes", "weight", "unit"):
        assert (np.concatenate([getattr(block, name) for block in blocks]) == getattr(rows, name)).all()
    assert all(block.X.flags.c_contiguous for block in blocks)


def test_blocks_of_even_and_other_rows_are_not_even():
    even, uneven = rows_of(np.zeros((3, 1))), rows_of(np.zeros((3, 1)), weight=np.full(3, 2.0))
    assert [block.even for block in cut([even, even])] == [True]
    assert [block.even for block in cut([even, uneven])] == [False]


@pytest.mark.parametrize("workers", [1, 2, 4])
def test_a_statistic_of_blocks_is_that_of_all_rows_in_their_order(workers, rows, monkeypatch):
    monkeypatch.setattr(sources, "BLOCK_ROWS", 8)
    monkeypatch.setattr(threads, "n_workers", lambda: workers)
    for source in (from_rows(rows), at_once(rows)):
        total = source.reduce(scores)
        assert (total.raw == rows.X).all()
        assert (total.codes == rows.codes).all()
        assert (source.map(doubled, 3).reduce(scores).raw == 2 * rows.X).all()
        assert (source.through(doubled).reduce(scores).raw == 2 * rows.X).all()
        assert (source.through(doubled).map(doubled, 3).reduce(scores).raw == 4 * rows.X).all()
        assert source.whole is rows
        assert source.map(doubled, 3).whole is None
    assert from_rows(rows).reduce(length).host[0] == 7
    assert at_once(rows).reduce(length).host[0] == 1


def test_the_only_block(rows):
    assert only_block(at_once(rows)) is rows
    assert (only_block(at_once(rows).through(doubled)).X == 2 * rows.X).all()


@pytest.mark.parametrize("kept_bytes", [0, 10**6])
def test_what_a_pass_gives_is_kept_while_it_is_small(kept_bytes, rows, monkeypatch):
    monkeypatch.setattr(sources, "KEPT_BYTES", kept_bytes)
    monkeypatch.setattr(sources, "BLOCK_ROWS", 8)
    computed = []

    def counted(space):
        return lambda block: computed.append(1) or doubled(space)(block)

    source = from_rows(rows).map(counted, 3)
    for _ in range(3):
        assert (source.reduce(scores).raw == 2 * rows.X).all()
    assert len(computed) == (7 if kept_bytes else 21)


def test_half_a_pass_is_not_kept(rows, monkeypatch):
    """Only a pass that went through all blocks leaves anything behind."""
    monkeypatch.setattr(sources, "BLOCK_ROWS", 8)
    source = from_rows(rows).map(doubled, 3)
    next(iter(source.start()))
    assert (source.reduce(scores).raw == 2 * rows.X).all()
    assert (source.reduce(scores).raw == 2 * rows.X).all()


def test_a_watch_sees_the_rows_of_every_block_in_every_pass(rows, monkeypatch):
    monkeypatch.setattr(sources, "BLOCK_ROWS", 8)
    seen = []

    def watch(parts):
        for n, part in parts:
            seen.append(n)
            yield part

    source = Blocks(lambda: cut([rows]), 50, watch=watch)
    assert (source.through(doubled).reduce(scores).raw == 2 * rows.X).all()
    assert (source.map(doubled, 3).reduce(scores).raw == 2 * rows.X).all()
    assert seen == ([8] * 6 + [2]) * 2


@pytest.mark.parametrize(("many", "heavy", "sizes"), [(20, 8, [8, 8, 4, 8, 8, 4, 8, 2]), (50, 0, [50]), (7, 9, None)])
def test_blocks_on_a_device_are_smaller_for_heavy_work(many, heavy, sizes, rows, device):
    """Heavy work cuts the blocks again, each for itself."""
    source = on_device(device, on(device, rows), many, heavy)
    assert source.n_rows == 50
    lengths = []

    def counted(space):
        return lambda block: lengths.append(block.codes.shape[0]) or length(space)(block)

    assert source.through(counted).reduce(lambda _: lambda total: total).host[1] == rows.weight.sum()
    assert lengths == (sizes or [7] * 7 + [1])
    assert (source.reduce(scores).raw == rows.X).all()
    assert source.reduce(length).host[0] == -(-50 // many)


def test_some_rows_beside_a_source_are_where_it_is(rows, device):
    there = on_device(device, on(device, rows), 20, 8)
    beside = there.beside(rows)
    assert beside.space is device
    assert beside.reduce(length).host[0] == 1
    assert (beside.reduce(scores).raw == rows.X).all()
    assert at_once(rows).beside(rows).whole is rows
    assert there.through(length).beside(rows).space is NUMPY


@pytest.mark.parametrize("free", [True, False])
def test_a_device_keeps_what_fits(free, rows, device, monkeypatch):
    monkeypatch.setattr(Space, "keeps", lambda self, n_bytes: free)
    computed = []

    def counted(space):
        return lambda block: computed.append(1) or block

    source = on_device(device, on(device, rows), 20, 0).map(counted, 3)
    for _ in range(2):
        assert (source.reduce(scores).raw == rows.X).all()
    assert len(computed) == (3 if free else 6)


def test_no_blocks_are_an_error():
    with pytest.raises(ValueError, match="no rows"):
        Blocks(list, 0).reduce(scores)
