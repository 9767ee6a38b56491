"""One intake: the same rows give the same census and the same encoded rows, in memory, on a device and in blocks."""

import array_api_strict
import numpy as np
import pytest
from sklearn.utils.class_weight import compute_class_weight

from cogmap import Knowledge, LTCNClassifier
from cogmap.core.sums.sources import keep_small
from cogmap.core.sums.space import Space
from cogmap.errors import KnowledgeWarning, ManyClassesWarning
from cogmap.intake.blocks import Features, RawBlock
from cogmap.intake.device import DeviceSupply
from cogmap.intake.encoding import Encoder, class_shares, warn_of_constants
from cogmap.intake.progress import Meter
from cogmap.intake.stream import StreamSupply
from cogmap.intake.supply import ArraySupply

N = 60
SPACE = Space(array_api_strict, array_api_strict.Device("device1"))


@pytest.fixture
def table(rng):
    """Return rows, classes and weights; the class "z" has weight 0 alone."""
    X, y = rng.integers(0, 3, (N, 3)) * 1.0, np.array(["b", "a", "c"])[rng.integers(0, 3, N)].astype(object)
    weight = rng.integers(0, 4, N) * 1.0
    y[:2], weight[:2] = "z", 0
    return X, y, weight


def in_memory(X, y, weight):
    return ArraySupply.of(LTCNClassifier(), X, y, weight)


def in_blocks(X, y, weight):
    parts = [(X[i : i + 7], y[i : i + 7], weight[i : i + 7]) for i in range(0, N, 7)]
    return StreamSupply.of(lambda: parts, Meter(lambda _: None), keep_small)


def on_device(X, y, weight):
    return DeviceSupply.of(SPACE, SPACE.put(X), y, SPACE.put(weight))


@pytest.mark.parametrize("supply", [in_memory, in_blocks, on_device])
def test_every_supply_counts_and_encodes_the_same(supply, table):
    X, y, weight = table
    given = supply(*table)
    counted = given.counted
    assert given.features == Features(3, None)
    assert (counted.n_rows, counted.labels.tolist()) == ((weight > 0).sum(), ["a", "b", "c"])
    assert counted.mass.tolist() == [weight[y == label].sum() for label in "abc"]
    assert (counted.low.tolist(), counted.high.tolist()) == ([0.0] * 3, [2.0] * 3)
    encoder = Encoder.of(given.features, counted, {"b": 3.0}, Knowledge().irrelevant("x1"))
    known = encoder.range(counted)
    assert known.varies.tolist() == [True, False, True]
    assert known.mass.tolist() == [counted.mass[0], 3 * counted.mass[1], counted.mass[2]]
    (settings,) = _settings(known)
    source = given.source(encoder, known, [settings])
    rows = _all_rows(source)
    kept = weight > 0
    share = np.where(y[kept] == "b", 3.0, 1.0)
    assert (X[kept] * [1, 0, 1] == rows.X).all()
    assert (np.array(["a", "b", "c"])[rows.codes] == y[kept]).all()
    assert (rows.weight == weight[kept] * share).all()
    assert (rows.unit == share).all()
    gathered = given.gather()
    assert (np.concatenate([block.X for block in gathered]) == X[kept]).all()
    assert np.concatenate([block.labels for block in gathered]).tolist() == y[kept].tolist()


def _settings(known):
    classifier = LTCNClassifier()
    classifier.n_features_in_ = 3
    return classifier.settings(known)


def _all_rows(source):
    """Return all rows of a source as numpy arrays, in one block."""
    blocks, host = list(source.start()), source.space.host
    joined = {
        name: np.concatenate([host(getattr(b, name)) for b in blocks]) for name in ("X", "codes", "weight", "unit")
    }
    return type(blocks[0])(**joined, n_classes=3)


def test_copies_are_merged_once_with_their_weights(table):
    X, y, weight = table
    block = RawBlock(X, y, weight).positive
    encoder = Encoder(
        np.array(["a", "b", "c"], dtype=object), np.array([1.0, 3.0, 1.0]), np.array([False, True, False])
    )
    merged = encoder.merged(block)
    expected = {}
    for row, label, w in zip(block.X * [1, 0, 1], block.labels, block.weight, strict=True):
        key = (*row, label)
        expected[key] = expected.get(key, 0.0) + w
    found = {(*row, "abc"[code]): w for row, code, w in zip(merged.X, merged.codes, merged.weight, strict=True)}
    assert found == {key: w * (3 if key[-1] == "b" else 1) for key, w in expected.items()}


def test_a_class_that_was_not_there_and_one_of_another_kind_are_refused():
    encoder = Encoder(np.array([1, 2]), np.ones(2), np.zeros(1, dtype=bool))
    assert encoder.codes(np.array([2, 1, 2])).tolist() == [1, 0, 1]
    with pytest.raises(ValueError, match="y holds the class 7, which was not there before"):
        encoder.codes(np.array([2, 7]))
    with pytest.raises(ValueError, match=r"y mixes numbers \(1\) and text \('u'\)"):
        encoder.codes(np.array(["u"], dtype=object))


def test_class_shares_are_those_of_scikit_learn():
    y = np.repeat(["u", "v"], [30, 10])
    share = class_shares("balanced", np.array(["u", "v"]), np.array([30.0, 10.0]))
    np.testing.assert_allclose(share, compute_class_weight("balanced", classes=np.array(["u", "v"]), y=y))
    with pytest.raises(ValueError, match=r"y holds one class \('u'\) only"):
        class_shares(None, np.array(["u"]), np.ones(1))
    with pytest.raises(ValueError, match=r"class_weight=\{'u': 0\} must give every class a weight from 1e-30"):
        class_shares({"u": 0}, np.array(["u", "v"]), np.ones(2))
    with pytest.warns(ManyClassesWarning, match="y holds 101 classes"):
        class_shares(None, np.arange(101), np.ones(101))


def test_a_statement_about_a_constant_feature_is_told():
    knowledge = Knowledge().forbid("x0", "x1")
    warn_of_constants(knowledge, ["x0", "x1"], np.array([True, True]))
    with pytest.warns(KnowledgeWarning, match="has no effect: 'x1' is constant in these rows"):
        warn_of_constants(knowledge, ["x0", "x1"], np.array([True, False]))
