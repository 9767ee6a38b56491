"""Rows that judge: the same whatever the order and the blocks, even over the classes, and in the place of all rows."""

from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from cogmap.core.fit.passes import Range

from cogmap import LTCNClassifier
from cogmap.core.fit import judges, passes
from cogmap.core.fit.judges import JUDGED_NUMBERS, candidates, judges_from, judges_of_a_class, most_judges
from cogmap.core.sums.rows import Rows
from cogmap.core.sums.sampling import LAST_KEY, Samples, content_keys
from cogmap.core.sums.sources import cut
from cogmap.core.sums.statistics import Held, merged
from cogmap.intake import blocks as intake


def rows_of(rng, n=3000):
    """Rows with copies, whole weights and a rare class."""
    X, codes = rng.integers(0, 9, (n, 3)) * 1.0, np.digitize(rng.random(n), [0.7, 0.97])
    frequency = rng.integers(1, 4, n) * 1.0
    return Rows(X, codes, frequency * 2, np.full(n, 2.0), 3)


def judging(rows, most, n_blocks=1):
    edges = np.linspace(0, len(rows.X), n_blocks + 1).astype(int)
    parts = [rows[slice(a, b)] for a, b in pairwise(edges)]
    keys = [content_keys(np.column_stack([part.codes, part.X])) for part in parts]
    given = np.full(3, LAST_KEY), judges_of_a_class(3, 3, most)
    kept = merged(Samples(candidates(part, key, *given)) for part, key in zip(parts, keys, strict=True))
    return judges_from(kept.parts, rows.mass)


@pytest.mark.parametrize("most", [30, 300, 10**6])
def test_judges_weigh_what_their_classes_do(most, rng):
    rows = rows_of(rng)
    found = judging(rows, most)
    different = [len(np.unique(rows.X[rows.codes == code], axis=0)) for code in range(3)]
    assert np.bincount(found.codes).tolist() == [min(most // 3, n) for n in different]
    np.testing.assert_allclose(found.mass / found.weight.sum(), rows.mass / rows.weight.sum(), rtol=1e-12)
    assert (found.unit == 2.0).all()
    # Their total is what they weigh themselves: copies counted, classes not yet made up for.
    pairs = zip(found.codes, found.X, strict=True)
    own = [rows.weight[(rows.codes == code) & (row == rows.X).all(axis=1)].sum() for code, row in pairs]
    np.testing.assert_allclose(found.weight.sum(), np.sum(own), rtol=1e-12)


def test_neither_blocks_nor_order_choose_them(rng):
    rows, order = rows_of(rng), rng.permutation(3000)
    moved = Rows(rows.X[order], rows.codes[order], rows.weight[order], rows.unit[order], 3)
    expected = judging(rows, 90)
    for found in (judging(rows, 90, 11), judging(moved, 90, 4)):
        for name in ("X", "codes", "weight", "unit"):
            assert (getattr(found, name) == getattr(expected, name)).all()


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

    class Watched(Held):
        def reduce(self, from_block):
            looks.append(sum(len(part.keys) for block in self.blocks for part in from_block(block).parts))
            return super().reduce(from_block)

    known = Range(X.min(axis=0), X.max(axis=0), rows.mass)
    found = passes._candidates(Watched(tuple(cut([rows]))), known, 400)
    everything = Held((rows,)).reduce(partial(passes._kept, np.full(3, LAST_KEY), 200)).parts
    for one, other in zip(found, everything, strict=True):
        for name in ("keys", "rows", "weight"):
            assert (getattr(one, name) == getattr(other, name)).all()
    assert len(looks) == (1 if kind == "different" else 2)
    assert looks[0] < 1300


@pytest.mark.parametrize("parameters", [{}, {"alpha": 1.0}, {"decision_metric": "balanced_accuracy"}], ids=str)
def test_some_judges_decide_nearly_as_all_rows_do(parameters, rng, monkeypatch):
    X = rng.normal(size=(6000, 5))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] / 2 + rng.normal(size=6000) / 2, [-1.5, 1.5])
    monkeypatch.setattr(intake, "MOST_ROWS", 100)
    by_all = LTCNClassifier(**parameters).fit(X, y)
    for name in ("JUDGES", "DECIDERS", "DECIDERS_OF_A_CLASS"):
        monkeypatch.setattr(judges, name, 900)
    by_some = LTCNClassifier(**parameters).fit(X, y)
    assert (by_some.predict_proba(X) != by_all.predict_proba(X)).any()
    assert (by_some.predict(X) == by_all.predict(X)).mean() > 0.95
    np.testing.assert_allclose(by_some.predict_proba(X), by_all.predict_proba(X), atol=0.25)
    assert abs(by_some.score(X, y) - by_all.score(X, y)) < 0.02  # 900 rows know it to 0.012
    if by_all.active_share_ is not None:
        shared = min(by_some.n_iter_, by_all.n_iter_) + 1
        np.testing.assert_allclose(by_some.active_share_[:shared], by_all.active_share_[:shared], atol=0.05)
        np.testing.assert_allclose(by_some.shrinkage_[:shared], by_all.shrinkage_[:shared], atol=0.3)
