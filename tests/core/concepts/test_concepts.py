from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogmap.core.concepts.concepts import Concepts, TileScaler, fit_concepts
from cogmap.core.concepts.scaling import Scaling, identity
from cogmap.core.sums import sources
from cogmap.core.sums.sources import Blocks, cut, on_device
from cogmap.core.sums.tiles import TILE
from cogmap.core.sums.tiles import rows_of as rows_of_tiles
from tests.core.problems import census_of, concepts_of, on, rows_of

RANGE = (0.0, 1.0)


def triangle(x, peaks, k):
    """Return the membership in term k: 1 at its peak, 0 at the neighbours' peaks and beyond, linear between."""
    if x == peaks[k]:
        return 1.0
    if x < peaks[k]:
        if k == 0:
            return 1.0
        return max(0.0, (x - peaks[k - 1]) / (peaks[k] - peaks[k - 1]))
    if k == len(peaks) - 1:
        return 1.0
    return max(0.0, (peaks[k + 1] - x) / (peaks[k + 1] - peaks[k]))


def scaled(concepts, X):
    return replace(concepts, peaks=(np.empty(0),) * len(concepts.peaks))(X)


@given(
    heights=st.lists(st.integers(0, 1000), min_size=3, max_size=9, unique=True),
    x=st.lists(st.floats(-0.2, 1.2), min_size=1, max_size=20),
)
def test_memberships_equal_the_triangles_and_add_up_to_one(heights, x):
    peaks, x = np.sort(heights) / 1000, np.array(x)
    memberships = Concepts(np.ones(1, dtype=bool), identity(1, -1.0, 2.0), (peaks,))(x[:, None])
    expected = [[triangle(v, peaks, k) for k in range(len(peaks))] for v in x]
    np.testing.assert_allclose(memberships, expected, atol=1e-12)
    np.testing.assert_allclose(memberships.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("scaling", ["minmax", "quantile", "halfway", None])
@pytest.mark.parametrize("terms", [3, 4, 5, 7])
def test_terms_peak_at_quantiles_of_the_scaled_feature(terms, scaling, rng):
    X = rng.random((150, 2)) ** 2
    concepts = concepts_of(X, np.ones(150), scaling, terms, RANGE)
    features = scaled(concepts, X)
    for feature, peaks in zip(features.T, concepts.peaks, strict=True):
        np.testing.assert_allclose(peaks, np.quantile(feature, np.linspace(0, 1, terms), method="higher"), atol=1e-12)
    expected = [[triangle(x[j], concepts.peaks[j], k) for j in range(2) for k in range(terms)] for x in features]
    np.testing.assert_allclose(concepts(X), expected, atol=1e-12)
    np.testing.assert_allclose(concepts(X).sum(axis=1), 2, atol=1e-12)


def test_without_terms_a_concept_is_its_scaled_feature(rng):
    X = rng.normal(size=(50, 3))
    concepts = concepts_of(X, np.ones(50), "minmax", None, RANGE)
    new = np.vstack([X, 100 * rng.normal(size=(20, 3))])
    expected = np.clip((new - X.min(axis=0)) / np.ptp(X, axis=0), 0, 1)
    np.testing.assert_allclose(concepts(new), expected, atol=1e-12)
    assert concepts.names(["a", "b", "c"]) == ["a", "b", "c"]
    assert concepts.feature.tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        (3, ["low", "medium", "high"]),
        (4, ["very low", "low", "high", "very high"]),
        (5, ["very low", "low", "medium", "high", "very high"]),
    ],
)
def test_few_terms_have_words(terms, words, rng):
    concepts = concepts_of(rng.random((60, 2)), np.ones(60), "halfway", terms, RANGE)
    expected = [f"{feature} is {word}" for feature in ("alcohol", "ash") for word in words]
    assert concepts.names(["alcohol", "ash"]) == expected


@pytest.mark.parametrize("scaling", ["minmax", "quantile", "halfway"])
def test_more_terms_are_named_after_the_values_where_they_peak(scaling):
    """101 values 10, 12, …, 210: the quantiles j/6 are at the next of 0, 16.7, 33.3, … 100 steps."""
    X = 10.0 + 2 * np.arange(101)[:, None]
    concepts = concepts_of(X, np.ones(101), scaling, 7, RANGE)
    values = [10, 44, 78, 110, 144, 178, 210]
    assert concepts.names(["ash"]) == [f"ash is about {value}" for value in values]
    at_peaks = concepts(np.array(values, dtype=float)[:, None])
    np.testing.assert_allclose(at_peaks, np.eye(7), atol=1e-12)


def test_a_feature_with_two_values_is_one_concept(rng):
    X = np.c_[rng.random(40), np.repeat([3.0, 8.0], 20)]
    concepts = concepts_of(X, np.ones(40), "minmax", 3, RANGE)
    assert concepts.names(["a", "b"]) == ["a is low", "a is medium", "a is high", "b"]
    np.testing.assert_array_equal(concepts(X)[:, 3], np.repeat([0.0, 1.0], 20))
    assert concepts.feature.tolist() == [0, 0, 0, 1]


def test_a_feature_with_few_values_has_no_more_terms_than_values():
    X = np.repeat([1.0, 2.0, 4.0], 20)[:, None]
    concepts = concepts_of(X, np.ones(60), "minmax", 5, RANGE)
    assert concepts.names(["grade"]) == ["grade is low", "grade is medium", "grade is high"]
    np.testing.assert_array_equal(concepts(X), np.repeat(np.eye(3), 20, axis=0))
    np.testing.assert_allclose(concepts(np.array([[3.0], [1.5]])), [[0, 0.5, 0.5], [0.5, 0.5, 0]], atol=1e-12)


def test_a_value_that_most_rows_have_is_one_peak():
    """Of the quantiles 0, ¼, ½, ¾, 1, all but the ends fall on the same value."""
    X = np.r_[0.0, np.full(98, 0.3), 1.0][:, None]
    concepts = concepts_of(X, np.ones(100), "minmax", 5, RANGE)
    np.testing.assert_allclose(concepts.peaks[0], [0, 0.3, 1])


@pytest.mark.parametrize("terms", [None, 3])
@pytest.mark.parametrize("scaling", ["minmax", "quantile", "halfway", None])
def test_a_constant_feature_is_no_concept(scaling, terms, rng):
    X = rng.random((30, 4))
    X[:, 1] = 0.25
    concepts = concepts_of(X, np.ones(30), scaling, terms, RANGE)
    per_feature = terms or 1
    assert concepts.feature.tolist() == [j for j in (0, 2, 3) for _ in range(per_feature)]
    assert concepts.varies.tolist() == [True, False, True, True]
    assert len(concepts.names(list("abcd"))) == 3 * per_feature
    assert not any(name.startswith("b") for name in concepts.names(list("abcd")))
    changed = X.copy()
    changed[:, 1] = rng.random(30)
    np.testing.assert_array_equal(concepts(X), concepts(changed))
    without = concepts_of(np.delete(X, 1, axis=1), np.ones(30), scaling, terms, RANGE)
    np.testing.assert_array_equal(concepts(X), without(np.delete(X, 1, axis=1)))


@pytest.mark.parametrize("terms", [None, 3])
def test_constant_features_alone_make_no_concepts(terms):
    concepts = concepts_of(np.ones((5, 2)), np.ones(5), "minmax", terms, RANGE)
    assert concepts(np.ones((7, 2))).shape == (7, 0)
    assert concepts.names(["a", "b"]) == []
    assert len(concepts.feature) == 0


@pytest.mark.parametrize("scaling", ["minmax", "quantile", "halfway"])
@pytest.mark.parametrize("terms", [None, 3, 5])
def test_weight_k_equals_a_row_repeated_k_times(terms, scaling, rng):
    X, times = np.c_[rng.normal(size=80), rng.integers(0, 4, 80)], rng.integers(1, 4, 80)
    weighted = concepts_of(X, times.astype(float), scaling, terms, RANGE)
    repeated = concepts_of(np.repeat(X, times, axis=0), np.ones(times.sum()), scaling, terms, RANGE)
    np.testing.assert_allclose(weighted(X), repeated(X), atol=1e-12)


def test_data_in_the_range_of_the_activation_is_clipped_to_it():
    X = np.array([[-0.5], [0.0], [0.5]])
    concepts = concepts_of(X, np.ones(3), None, None, (-1.0, 1.0))
    np.testing.assert_array_equal(concepts(np.array([[-3.0], [-0.25], [2.0]])), [[-1], [-0.25], [1]])


def test_names_of_many_terms_tell_values_apart_that_differ_in_late_digits():
    X = np.linspace(101_300, 101_400, 50)[:, None]
    names = concepts_of(X, np.ones(50), "minmax", 7, (0.0, 1.0)).names(["pressure"])
    assert len(set(names)) == 7
    assert names[0] == "pressure is about 101300"


@pytest.mark.parametrize("terms", [None, 3, 5])
@pytest.mark.parametrize("scaling", ["halfway", "quantile", "minmax"])
def test_inverse_gives_the_varying_features_back(scaling, terms, rng):
    X = np.c_[rng.normal(size=80) ** 3, np.full(80, 2.0), rng.integers(0, 4, 80), rng.random(80)]
    concepts = concepts_of(X, np.ones(80), scaling, terms, RANGE)
    np.testing.assert_allclose(concepts.inverse(concepts(X)), X[:, [0, 2, 3]], atol=1e-9)


@pytest.mark.parametrize("terms", [None, 3])
def test_concepts_are_those_of_numpy(terms, space, rng):
    X = np.c_[rng.normal(size=(400, 2)), np.ones(400), rng.integers(0, 2, 400)]
    concepts = concepts_of(X, np.ones(400), "halfway", terms, (0.0, 1.0))
    assert (space.host(concepts.on(space).of_rows(space.put(X))) == concepts(X)).all()


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("terms", [None, 4])
@pytest.mark.parametrize("scaling", ["minmax", "quantile", "halfway", None])
def test_concepts_from_blocks_and_from_a_device_are_those_of_all_rows(
    scaling, terms, weighted, device, rng, monkeypatch
):
    """To the last bit: whole weights add up without rounding."""
    monkeypatch.setattr(sources, "BLOCK_ROWS", 130)
    X = np.c_[rng.normal(size=2000), rng.random(2000).round(2), np.ones(2000), rng.integers(0, 2, 2000)]
    rows = rows_of(X, weight=rng.integers(1, 4, 2000) * 1.0 if weighted else None)
    given = (census_of(rows), scaling, terms, RANGE)
    expected = concepts_of(X, rows.weight, scaling, terms, RANGE)
    blocks = fit_concepts(Blocks(lambda: cut([rows]), 2000), *given)
    there = fit_concepts(on_device(device, on(device, rows), 700, 0), *given)
    for again in (blocks, there):
        assert (again.varies == expected.varies).all()
        for mine, theirs in (
            (again.scaling.values, expected.scaling.values),
            (again.scaling.heights, expected.scaling.heights),
            (again.peaks, expected.peaks),
        ):
            assert all((a == b).all() for a, b in zip(mine, theirs, strict=True))


def test_lines_beyond_numbers_stay_at_their_ends(space):
    concepts = Concepts(
        np.ones(1, dtype=bool), Scaling((np.array([0.0, 1.0]),), (np.array([0.0, 1.0]),)), (np.empty(0),)
    )
    X = np.array([[-np.inf], [np.inf], [0.5]])
    assert space.host(concepts.on(space).of_rows(space.put(X)))[:, 0].tolist() == [0.0, 1.0, 0.5]


@pytest.mark.parametrize("terms", [None, 3, 5])
@pytest.mark.parametrize("scaling", ["minmax", "halfway"])
def test_tiles_of_rows_have_the_same_bits(scaling, terms, rng):
    """Constant features and such of few values among them, and rows beyond the range."""
    X = np.c_[rng.normal(size=300), np.ones(300), rng.integers(0, 2, 300), rng.integers(0, 4, 300), rng.random(300)]
    concepts = concepts_of(X, None, scaling, terms, (0.0, 1.0))
    rows = np.concatenate([X, 3 * X])[: 10 * TILE]
    assert (rows_of_tiles(TileScaler(concepts)(rows)) == concepts(rows)).all()
