import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogmap.core.concepts.concepts import fit_concepts, memberships

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


@given(
    heights=st.lists(st.integers(0, 1000), min_size=3, max_size=9, unique=True),
    x=st.lists(st.floats(-0.2, 1.2), min_size=1, max_size=20),
)
def test_memberships_equal_the_triangles_and_add_up_to_one(heights, x):
    peaks, x = np.sort(heights) / 1000, np.array(x)
    found = memberships(x, peaks)
    expected = [[triangle(v, peaks, k) for k in range(len(peaks))] for v in x]
    np.testing.assert_allclose(found, expected, atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)


@pytest.mark.parametrize("scaling", ["minmax", "quantile", "halfway", None])
@pytest.mark.parametrize("terms", [3, 4, 5, 7])
def test_terms_peak_at_quantiles_of_the_scaled_feature(terms, scaling, rng):
    X = rng.random((150, 2)) ** 2
    concepts = fit_concepts(X, np.ones(150), scaling, terms, RANGE)
    for scaled, peaks in zip(concepts.scaling(X).T, concepts.peaks, strict=True):
        np.testing.assert_allclose(peaks, np.quantile(scaled, np.linspace(0, 1, terms), method="higher"), atol=1e-12)
    expected = [
        [triangle(x[j], concepts.peaks[j], k) for j in range(2) for k in range(terms)] for x in concepts.scaling(X)
    ]
    np.testing.assert_allclose(concepts(X), expected, atol=1e-12)
    np.testing.assert_allclose(concepts(X).sum(axis=1), 2, atol=1e-12)


def test_without_terms_a_concept_is_its_scaled_feature(rng):
    X = rng.normal(size=(50, 3))
    concepts = fit_concepts(X, np.ones(50), "minmax", None, RANGE)
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
    concepts = fit_concepts(rng.random((60, 2)), np.ones(60), "halfway", terms, RANGE)
    expected = [f"{feature} is {word}" for feature in ("alcohol", "ash") for word in words]
    assert concepts.names(["alcohol", "ash"]) == expected


@pytest.mark.parametrize("scaling", ["minmax", "quantile", "halfway"])
def test_more_terms_are_named_after_the_values_where_they_peak(scaling):
    """101 values 10, 12, …, 210: the quantiles j/6 are at the next of 0, 16.7, 33.3, … 100 steps."""
    X = 10.0 + 2 * np.arange(101)[:, None]
    concepts = fit_concepts(X, np.ones(101), scaling, 7, RANGE)
    values = [10, 44, 78, 110, 144, 178, 210]
    assert concepts.names(["ash"]) == [f"ash is about {value}" for value in values]
    at_peaks = concepts(np.array(values, dtype=float)[:, None])
    np.testing.assert_allclose(at_peaks, np.eye(7), atol=1e-12)


def test_a_feature_with_two_values_is_one_concept(rng):
    X = np.c_[rng.random(40), np.repeat([3.0, 8.0], 20)]
    concepts = fit_concepts(X, np.ones(40), "minmax", 3, RANGE)
    assert concepts.names(["a", "b"]) == ["a is low", "a is medium", "a is high", "b"]
    np.testing.assert_array_equal(concepts(X)[:, 3], np.repeat([0.0, 1.0], 20))
    assert concepts.feature.tolist() == [0, 0, 0, 1]


def test_a_feature_with_few_values_has_no_more_terms_than_values():
    X = np.repeat([1.0, 2.0, 4.0], 20)[:, None]
    concepts = fit_concepts(X, np.ones(60), "minmax", 5, RANGE)
    assert concepts.names(["grade"]) == ["grade is low", "grade is medium", "grade is high"]
    np.testing.assert_array_equal(concepts(X), np.repeat(np.eye(3), 20, axis=0))
    np.testing.assert_allclose(concepts(np.array([[3.0], [1.5]])), [[0, 0.5, 0.5], [0.5, 0.5, 0]], atol=1e-12)


def test_a_value_that_most_rows_have_is_one_peak():
    """Of the quantiles 0, ¼, ½, ¾, 1, all but the ends fall on the same value."""
    X = np.r_[0.0, np.full(98, 0.3), 1.0][:, None]
    concepts = fit_concepts(X, np.ones(100), "minmax", 5, RANGE)
    np.testing.assert_allclose(concepts.peaks[0], [0, 0.3, 1])


@pytest.mark.parametrize("terms", [None, 3])
@pytest.mark.parametrize("scaling", ["minmax", "quantile", "halfway", None])
def test_a_constant_feature_is_no_concept(scaling, terms, rng):
    X = rng.random((30, 4))
    X[:, 1] = 0.25
    concepts = fit_concepts(X, np.ones(30), scaling, terms, RANGE)
    per_feature = terms or 1
    assert concepts.feature.tolist() == [j for j in (0, 2, 3) for _ in range(per_feature)]
    assert concepts.varies.tolist() == [True, False, True, True]
    assert len(concepts.names(list("abcd"))) == 3 * per_feature
    assert not any(name.startswith("b") for name in concepts.names(list("abcd")))
    changed = X.copy()
    changed[:, 1] = rng.random(30)
    np.testing.assert_array_equal(concepts(X), concepts(changed))
    without = fit_concepts(np.delete(X, 1, axis=1), np.ones(30), scaling, terms, RANGE)
    np.testing.assert_array_equal(concepts(X), without(np.delete(X, 1, axis=1)))


@pytest.mark.parametrize("terms", [None, 3])
def test_constant_features_alone_make_no_concepts(terms):
    concepts = fit_concepts(np.ones((5, 2)), np.ones(5), "minmax", terms, RANGE)
    assert concepts(np.ones((7, 2))).shape == (7, 0)
    assert concepts.names(["a", "b"]) == []
    assert len(concepts.feature) == 0


@pytest.mark.parametrize("scaling", ["minmax", "quantile", "halfway"])
@pytest.mark.parametrize("terms", [None, 3, 5])
def test_weight_k_equals_a_row_repeated_k_times(terms, scaling, rng):
    X, times = np.c_[rng.normal(size=80), rng.integers(0, 4, 80)], rng.integers(1, 4, 80)
    weighted = fit_concepts(X, times.astype(float), scaling, terms, RANGE)
    repeated = fit_concepts(np.repeat(X, times, axis=0), np.ones(times.sum()), scaling, terms, RANGE)
    np.testing.assert_allclose(weighted(X), repeated(X), atol=1e-12)


def test_data_in_the_range_of_the_activation_is_clipped_to_it():
    X = np.array([[-0.5], [0.0], [0.5]])
    concepts = fit_concepts(X, np.ones(3), None, None, (-1.0, 1.0))
    np.testing.assert_array_equal(concepts(np.array([[-3.0], [-0.25], [2.0]])), [[-1], [-0.25], [1]])


def test_names_of_many_terms_tell_values_apart_that_differ_in_late_digits():
    X = np.linspace(101_300, 101_400, 50)[:, None]
    names = fit_concepts(X, np.ones(50), "minmax", 7, (0.0, 1.0)).names(["pressure"])
    assert len(set(names)) == 7
    assert names[0] == "pressure is about 101300"


@pytest.mark.parametrize("terms", [None, 3, 5])
@pytest.mark.parametrize("scaling", ["halfway", "quantile", "minmax"])
def test_inverse_gives_the_varying_features_back(scaling, terms, rng):
    X = np.c_[rng.normal(size=80) ** 3, np.full(80, 2.0), rng.integers(0, 4, 80), rng.random(80)]
    concepts = fit_concepts(X, np.ones(80), scaling, terms, RANGE)
    np.testing.assert_allclose(concepts.inverse(concepts(X)), X[:, [0, 2, 3]], atol=1e-9)
