"""Rows that judge: the same whatever the order and the blocks, even over the classes, and in the place of all rows."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest

from cogmap.core.fit import judges
from cogmap.core.fit.judges import (
    JUDGED_NUMBERS,
    candidates,
    choose_cases,
    choose_judges,
    chosen,
    judges_from,
    judges_of_a_class,
    most_judges,
    row_keys,
)
from cogmap.core.sums.rows import Rows
from cogmap.core.sums.sampling import LAST_KEY, Samples, content_keys, limits_in
from cogmap.core.sums.sources import Blocks, at_once, cut, on_device
from cogmap.core.sums.space import NUMPY
from cogmap.core.sums.statistics import merged
from tests.core.problems import census_of, on


def rows_of(rng, n=3000):
    """Rows with copies, whole weights and a rare class."""
    X, codes = rng.integers(0, 9, (n, 3)) * 1.0, np.digitize(rng.random(n), [0.7, 0.97])
    frequency = rng.integers(1, 4, n) * 1.0
    return Rows(X, codes, frequency * 2, np.full(n, 2.0), 3)


def judging(rows, most, n_blocks=1, space=NUMPY):
    edges = np.linspace(0, len(rows.X), n_blocks + 1).astype(int)
    parts = [on(space, rows[slice(a, b)]) for a, b in pairwise(edges)]
    given = limits_in(space, np.full(3, LAST_KEY)), judges_of_a_class(3, 3, most)
    kept = merged(Samples(candidates(space, part, row_keys(space, part), *given)) for part in parts)
    return judges_from(kept.parts, rows.mass)


def test_keys_are_those_of_the_class_and_the_row(space, rng):
    rows = rows_of(rng, 50)
    keys = space.host(row_keys(space, on(space, rows)))
    expected = content_keys(NUMPY, np.column_stack([rows.codes, rows.X]).T.copy())
    assert (keys.view(np.uint64) ^ np.uint64(0 if space.numpy else 2**63) == expected).all()


@pytest.mark.parametrize("most", [30, 300, 10**6])
def test_judges_weigh_what_their_classes_do(most, space, rng):
    rows = rows_of(rng)
    found = judging(rows, most, space=space)
    different = [len(np.unique(rows.X[rows.codes == code], axis=0)) for code in range(3)]
    assert np.bincount(found.codes).tolist() == [min(most // 3, n) for n in different]
    np.testing.assert_allclose(found.mass / found.weight.sum(), rows.mass / rows.weight.sum(), rtol=1e-12)
    assert (found.unit == 2.0).all()
    # Their total is what they weigh themselves: copies counted, classes not yet made up for.
    pairs = zip(found.codes, found.X, strict=True)
    own = [rows.weight[(rows.codes == code) & (row == rows.X).all(axis=1)].sum() for code, row in pairs]
    np.testing.assert_allclose(found.weight.sum(), np.sum(own), rtol=1e-12)


def test_neither_blocks_nor_order_nor_space_choose_them(device, rng):
    rows, order = rows_of(rng), rng.permutation(3000)
    moved = Rows(rows.X[order], rows.codes[order], rows.weight[order], rows.unit[order], 3)
    expected = judging(rows, 90)
    for found in (judging(rows, 90, 11), judging(moved, 90, 4), judging(moved, 90, 3, device)):
        for name in ("X", "codes", "weight", "unit"):
            assert (getattr(found, name) == getattr(expected, name)).all()


@pytest.mark.parametrize("most", [30, 400, 10**6])
def test_those_that_judge_are_among_the_rows_to_remember(most, rng, monkeypatch):
    rows = rows_of(rng)
    source, census = at_once(rows), census_of(rows)
    monkeypatch.setattr(judges, "JUDGES", 120)
    expected, _ = choose_judges(source, census, 120)
    cases, judged = choose_cases(source, census, most)
    assert len(cases.codes) >= len(judged) == len(expected.codes)
    np.testing.assert_array_equal(cases.X[judged], expected.X)
    np.testing.assert_array_equal(cases.codes[judged], expected.codes)
    np.testing.assert_allclose(cases.mass / cases.weight.sum(), rows.mass / rows.weight.sum(), rtol=1e-12)


def test_wide_rows_have_fewer_judges():
    assert judges_of_a_class(50, 2, 1000) == 500
    assert judges_of_a_class(JUDGED_NUMBERS // 100, 2, 1000) == 50
    assert judges_of_a_class(10 * JUDGED_NUMBERS, 2, 1000) == 1


def test_fewer_rows_judge_a_decision_alone_but_enough_of_each_class():
    assert most_judges(2, decision_alone=False) == most_judges(50, decision_alone=True) == 30_000
    assert [most_judges(n, decision_alone=True) for n in (2, 10, 20)] == [10_000, 10_000, 20_000]


@pytest.mark.parametrize("kind", ["different", "copies", "heavy"])
def test_rows_that_cannot_be_chosen_need_no_look(kind, rng):
    """With copies, or weights that tell nothing of their number, too few are within the limits at first: look again."""
    X, codes = rng.normal(size=(9000, 2)), rng.integers(0, 2, 9000)
    X = X[rng.integers(0, 400, 9000)] if kind == "copies" else X
    rows = Rows(X, codes, np.full(9000, 50.0 if kind == "heavy" else 1.0), np.ones(9000), 2)
    looks = []

    def watch(parts):
        looks.append(0)
        for _, samples in parts:
            looks[-1] += sum(len(part.keys) for part in samples.parts)
            yield samples

    watched = Blocks(lambda: cut([rows]), 9000, watch=watch)
    found, summary = choose_judges(watched, census_of(rows), 400)
    kept, *of_classes = at_once(rows).reduce(partial(chosen, np.full(3, LAST_KEY), 200)).parts
    expected = judges_from(of_classes, rows.mass)
    for name in ("X", "codes", "weight", "unit"):
        assert (getattr(found, name) == getattr(expected, name)).all()
    assert (summary.rows == kept.rows).all()
    assert (summary.weight == kept.weight).all()
    np.testing.assert_allclose(summary.shares, rows.mass / rows.weight.sum())
    assert len(looks) == (1 if kind == "different" else 2)
    assert looks[0] < 1300


@pytest.mark.parametrize("limit", [2**62, 2**63 + 5, 2**64 - 1])
def test_judges_are_those_of_numpy(limit, space, rng):
    """Also of blocks in which a class has no rows."""
    given = (np.array([limit] * 6, np.uint64), 12)
    X, codes = rng.integers(0, 8, (900, 3)) * 1.0, np.sort(rng.integers(0, 4, 900))
    weight = rng.integers(1, 4, 900) * 1.0
    rows = Rows(X, codes, weight, weight / 2, 5)
    expected = chosen(*given, NUMPY)(rows).parts
    for block_rows in (900, 128):
        parts = on_device(space, on(space, rows), block_rows, block_rows).reduce(partial(chosen, *given)).parts
        for one, other in zip(parts, expected, strict=True):
            for name in ("keys", "rows", "weight"):
                assert (getattr(one, name) == getattr(other, name)).all()
    keys = row_keys(NUMPY, rows)
    for code, part in enumerate(expected[1:]):
        own = sorted({(keys[i], *X[i]) for i in np.flatnonzero((codes == code) & (keys <= np.uint64(limit)))})
        assert [(key, *row[1:]) for key, row in zip(part.keys, part.rows, strict=True)] == own[:12]


def test_a_summary_has_as_many_rows_as_a_model_keeps(rng):
    rows = Rows(rng.normal(size=(2000, 2)), rng.integers(0, 2, 2000), np.ones(2000), np.ones(2000), 2, True)
    found, summary = choose_judges(at_once(rows), census_of(rows), 600)
    assert np.bincount(found.codes).tolist() == [300, 300]
    assert len(summary.rows) == judges.SUMMARY_ROWS
