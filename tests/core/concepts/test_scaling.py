import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata
from sklearn.preprocessing import minmax_scale

from cogmap.core.concepts.scaling import KNOTS, Line, Lines, identity, kept_groups, rank_knots, varying
from cogmap.core.sums.space import NUMPY
from cogmap.core.sums.statistics import LEAST_SPAN
from tests.core.problems import SPACES, concepts_of

KINDS = ("minmax", "quantile", "halfway")


def mid_ranks(column):
    ranks = rankdata(column, method="average")
    return (ranks - ranks.min()) / (ranks.max() - ranks.min())


def scaling_of(kind, X, weight=None):
    return concepts_of(X, weight, kind, None, (0.0, 1.0)).scaling


def scaled(scaling, X, space=NUMPY):
    lines = zip(scaling.lines(space), X.T, strict=True)
    return np.stack([space.host(line(space.put(column.copy()))) for line, column in lines], axis=1)


def columns(rng, n=200):
    return np.c_[rng.normal(size=n), rng.integers(0, 4, n), np.exp(3 * rng.normal(size=n)), rng.integers(0, 2, n)]


def test_minmax_equals_scikit_learn(rng):
    X = columns(rng)
    np.testing.assert_allclose(scaled(scaling_of("minmax", X), X), minmax_scale(X), atol=1e-15)


def test_quantile_equals_mid_ranks(rng):
    X = columns(rng)
    ranks = scaled(scaling_of("quantile", X), X)
    np.testing.assert_allclose(ranks, np.apply_along_axis(mid_ranks, 0, X), atol=1e-12)


def test_halfway_is_the_mean_of_both(rng):
    X = columns(rng)
    expected = (minmax_scale(X) + np.apply_along_axis(mid_ranks, 0, X)) / 2
    np.testing.assert_allclose(scaled(scaling_of("halfway", X), X), expected, atol=1e-12)


def test_many_rows_are_within_one_knot_of_their_ranks(rng):
    X = np.exp(rng.normal(size=(20_000, 1)))
    scaling = scaling_of("quantile", X)
    assert len(scaling.values[0]) <= 2 * (KNOTS + 2)
    np.testing.assert_allclose(scaled(scaling, X)[:, 0], mid_ranks(X[:, 0]), atol=1 / KNOTS)


@pytest.mark.parametrize("kind", KINDS)
def test_rounding_noise_does_not_split_ties(kind, rng):
    X = rng.integers(0, 5, (300, 2)).astype(float)
    noisy = X + 1e-12 * rng.normal(size=X.shape)
    expected = scaled(scaling_of(kind, X), X)
    np.testing.assert_allclose(scaled(scaling_of(kind, noisy), noisy), expected, atol=1e-11)


@pytest.mark.parametrize("kind", KINDS)
def test_weight_k_equals_a_row_repeated_k_times(kind, rng):
    X, times = columns(rng), rng.integers(1, 4, 200)
    weighted = scaling_of(kind, X, times.astype(float))
    repeated = scaling_of(kind, np.repeat(X, times, axis=0))
    np.testing.assert_allclose(scaled(weighted, X), scaled(repeated, X), atol=1e-14)


@pytest.mark.parametrize("kind", KINDS)
@given(
    values=st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=40).filter(lambda v: max(v) - min(v) >= LEAST_SPAN),
    new=st.lists(st.floats(-1e7, 1e7), min_size=1, max_size=20),
)
def test_scaling_is_monotone_and_stays_in_range(kind, values, new):
    X = np.array(values)[:, None]
    heights = scaled(scaling_of(kind, X), np.sort(np.array(new))[:, None])[:, 0]
    assert (np.diff(heights) >= -1e-15).all()
    assert ((heights >= 0) & (heights <= 1)).all()


def test_identity_clips_only(space):
    X = np.array([[-0.5, 0.25], [0.5, 2.0]])
    np.testing.assert_array_equal(scaled(identity(2, 0.0, 1.0), X, space), [[0, 0.25], [0.5, 1]])


def test_varying_columns():
    assert varying(np.array([[1.0, 2.0, 0.0, -1e308], [1.0, 3.0, 2e-309, 1e308]])).tolist() == [
        False,
        True,
        False,
        True,
    ]


def knots_by_hand(column, weight):
    """Return the knots of all groups of values that tie: at both ends of each, its mid-rank, stretched to [0, 1]."""
    order = np.argsort(column, kind="stable")
    x, w = column[order], weight[order]
    groups = [[0]]
    for i in range(1, len(x)):
        if x[i] - x[i - 1] > 1e-9 * (x[-1] - x[0]):
            groups.append([])
        groups[-1].append(i)
    mass = np.array([w[group].sum() for group in groups])
    rank = np.cumsum(mass) - mass / 2
    height = (rank - rank[0]) / (rank[-1] - rank[0])
    ends = [(x[group[0]], x[group[-1]]) for group in groups]
    return mass, np.ravel(ends), np.repeat(height, 2)


@given(st.lists(st.integers(-6, 6), min_size=2, max_size=40).filter(lambda x: len(set(x)) > 1), st.booleans())
def test_knots_are_those_of_a_sort_with_ties(values, weighted):
    """Numbers that tie exactly, nearly, or not."""
    column = np.array(values) * 0.5 + 1e-12 * np.arange(len(values))
    weight = 1.0 + np.arange(len(values)) % 3 if weighted else np.ones(len(values))
    _, *expected = knots_by_hand(column, weight)
    for space in SPACES:
        knots = rank_knots(space, space.put(column), space.put(weight) if weighted else None)
        assert all((a == b).all() for a, b in zip(knots, expected, strict=True))


@pytest.mark.parametrize("weighted", [False, True])
def test_knots_of_more_values_than_are_kept(weighted, space, rng):
    """Those groups are kept into which a quantile (j + ½) / KNOTS falls, and both ends."""
    column, weight = rng.normal(size=7000).round(3), rng.integers(1, 5, 7000) * 1.0 if weighted else np.ones(7000)
    mass, values, heights = knots_by_hand(column, weight)
    upto = np.cumsum(mass)
    levels = (np.arange(KNOTS) + 0.5) / KNOTS * upto[-1]
    kept = sorted({0, len(mass) - 1} | {int((upto < level).sum()) for level in levels})
    assert len(mass) > len(kept)
    assert kept_groups(mass).tolist() == kept
    places = np.ravel([(2 * k, 2 * k + 1) for k in kept])
    knots = rank_knots(space, space.put(column), space.put(weight) if weighted else None)
    assert (knots[0] == values[places]).all()
    np.testing.assert_allclose(knots[1], heights[places], rtol=1e-14)


@pytest.mark.parametrize("n", [300, 3000])
def test_scaled_values_have_the_bits_of_numpy(n, space, rng):
    values = np.repeat(np.sort(rng.normal(size=20)), 2)
    heights = np.repeat(np.sort(rng.random(20)), 2)
    x = np.r_[rng.normal(size=n) * 2, values]
    assert (space.host(Line.of(space, values, heights)(space.put(x))) == np.interp(x, values, heights)).all()


def test_a_slope_without_end_does_not_spoil_a_knot(space):
    """Two values that nearly touch have a slope beyond all numbers; at the knots the heights still hold."""
    values, heights = np.array([0.0, 5e-324, 1e-323, 1.0]), np.array([0.0, 0.25, 0.75, 1.0])
    x = space.put(values)
    assert (space.host(Line.of(space, values, heights)(x)) == heights).all()


def test_many_features_at_once_have_the_bits_of_numpy_s_interpolation(rng):
    """Smooth and skewed ones, ties, two values, huge and tiny ranges; rows beyond the ends and at the knots too."""
    X = np.c_[columns(rng, 3000), 1e300 * rng.normal(size=3000), 4e-309 * rng.integers(0, 9, 3000), rng.random(3000)]
    for kind in KINDS:
        scaling = scaling_of(kind, X)
        lines = Lines(scaling.lines(NUMPY))
        knots = [np.resize(values, 3000) for values in scaling.values]
        rows = np.concatenate([X.T, 1.5 * X.T, np.array(knots), np.nextafter(knots, 0)], axis=1)
        expected = [np.interp(x, v, h) for x, v, h in zip(rows, scaling.values, scaling.heights, strict=True)]
        assert (lines(rows) == expected).all()
        assert len(lines.suited) < X.shape[1]
        assert {0, 1, 3, 6} <= set(lines.suited)


def test_no_feature_may_be_suited_or_all():
    skewed = Line.of(NUMPY, np.array([0.0, 1e-9, 2e-9, 3e-9, 4e-9, 5e-9, 1.0]), np.linspace(0, 1, 7))
    plain = Line.of(NUMPY, np.array([0.0, 1.0]), np.array([0.0, 1.0]))
    x = np.array([[-1.0, 0.0, 2.5e-9, 0.5, 1.0, 7.0]])
    for lines, n_suited in (([skewed], 0), ([plain], 1), ([plain, skewed], 1), ([plain, plain], 2)):
        found = Lines(lines)
        assert len(found.suited) == n_suited
        expected = [np.interp(x[0], line.values, line.heights) for line in lines]
        assert (found(np.repeat(x, len(lines), axis=0)) == expected).all()
