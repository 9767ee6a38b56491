"""Inner weights under bounds, against scipy on the whole problem: all rows, an intercept, one column at a time."""

import numpy as np
import pytest
from scipy.optimize import lsq_linear

from cogmap.core.concepts.concepts import Concepts
from cogmap.core.concepts.scaling import identity
from cogmap.core.constants import INNER_NORM, INNER_RIDGE
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.constraints import Bounds, cap_factor
from tests import naive
from tests.core.weights import (
    constrained_regression,
    constrained_stable_regression,
    regression_weights,
    ridge_weights,
    stable_regression_weights,
)

SIGMOID = ACTIVATIONS["sigmoid"]
M = 5
WAYS = [(constrained_regression, regression_weights), (constrained_stable_regression, stable_regression_weights)]


def nothing(m=M):
    return Bounds(np.full((m, m), -np.inf), np.full((m, m), np.inf), np.full(m, np.nan))


def some(rng, m=M):
    """Return fixed weights, signs and bounds on about half of the edges."""
    bounds, kind, value = nothing(m), rng.integers(0, 8, (m, m)), rng.normal(size=(m, m)) / 2
    bounds.lower[kind == 0], bounds.upper[kind == 0] = value[kind == 0], value[kind == 0]
    bounds.lower[kind == 1], bounds.upper[kind == 2] = 0.0, 0.0
    bounds.lower[kind == 3] = value[kind == 3]
    return bounds


def naive_column(X, weight, i, lower, upper, ridge=0.0, bias=np.nan):
    """Solve column i with scipy, on all rows and with an intercept, free unless `bias` is a number."""
    root = np.sqrt(weight)[:, None]
    penalty = np.c_[np.sqrt(ridge * weight.sum()) * np.eye(X.shape[1]), np.zeros(X.shape[1])]
    design = np.vstack([np.c_[X, np.ones(len(X))] * root, penalty])
    target = np.r_[naive.f_inverse(X[:, i], "sigmoid") * root[:, 0], np.zeros(X.shape[1])]
    free = np.isnan(bias)
    lower, upper = np.r_[lower, -np.inf if free else bias], np.r_[upper, np.inf if free else bias]
    lower[i] = upper[i] = np.clip(0.0, lower[i], upper[i])
    held = lower == upper
    target = target - design[:, held] @ lower[held]
    found = np.where(held, lower, 0.0)
    found[~held] = lsq_linear(design[:, ~held], target, (lower[~held], upper[~held]), method="bvls", tol=1e-15).x
    return found[:-1], found[-1]


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("weighted", [False, True])
def test_every_column_is_the_bounded_regression(seed, weighted):
    rng = np.random.default_rng(seed)
    X, weight = rng.random((40, M)), rng.choice([1.0, 2.5], 40) if weighted else np.ones(40)
    bounds = some(rng)
    W, b = constrained_regression(X, weight, SIGMOID, bounds)
    for i in range(M):
        expected, bias = naive_column(X, weight, i, bounds.lower[:, i], bounds.upper[:, i])
        np.testing.assert_allclose(W[:, i], expected, atol=1e-9)
        assert b[i] == pytest.approx(bias, abs=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_every_column_is_the_bounded_ridge_where_the_cap_is_far(seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.random((400, M)), rng.choice([1.0, 2.5], 400)
    bounds = some(rng)
    bounds.lower[:], bounds.upper[:] = bounds.lower / 4, bounds.upper / 4
    W, b = constrained_stable_regression(X, weight, SIGMOID, bounds)
    for i in range(M):
        expected, _ = naive_column(X, weight, i, bounds.lower[:, i], bounds.upper[:, i], INNER_RIDGE)
        np.testing.assert_allclose(W[:, i], expected, atol=1e-9)
    np.testing.assert_allclose(weight @ X / weight.sum() @ W + b, naive_mean(X, weight), atol=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_a_stated_bias_is_the_intercept_of_its_column(seed):
    rng = np.random.default_rng(seed)
    X, weight = rng.random((400, M)), rng.choice([1.0, 2.5], 400)
    _, learned = regression_weights(X, weight, SIGMOID)
    for way, ridge in ((constrained_regression, 0.0), (constrained_stable_regression, INNER_RIDGE)):
        bounds = some(rng)
        bounds.lower[:], bounds.upper[:] = bounds.lower / 4, bounds.upper / 4
        bounds.bias[[0, 3]] = learned[[0, 3]] + rng.uniform(-0.5, 0.5, 2)
        W, b = way(X, weight, SIGMOID, bounds)
        assert np.linalg.norm(W, 2) < 0.99 * INNER_NORM  # or the cap would act on what was learned
        assert b[[0, 3]].tolist() == bounds.bias[[0, 3]].tolist()
        for i in range(M):
            expected, _ = naive_column(X, weight, i, bounds.lower[:, i], bounds.upper[:, i], ridge, bounds.bias[i])
            np.testing.assert_allclose(W[:, i], expected, atol=1e-9)


def test_a_bias_that_is_what_would_be_learned_changes_nothing():
    X, weight = np.random.default_rng(0).random((400, M)), np.ones(400)
    for way, free in WAYS:
        W, b = free(X, weight, SIGMOID)
        bounds = nothing()
        bounds.bias[:] = b
        stated = way(X, weight, SIGMOID, bounds)
        np.testing.assert_allclose(stated[0], W, atol=1e-9)
        assert stated[1].tolist() == b.tolist()


def naive_mean(X, weight):
    return np.average(naive.f_inverse(X, "sigmoid"), axis=0, weights=weight)


@pytest.mark.parametrize(("constrained", "plain"), WAYS)
def test_columns_that_nothing_is_stated_about_keep_their_bits(constrained, plain, rng):
    X = rng.random((500, M))  # independent, so that the cap is far
    bounds = nothing()
    bounds.lower[1, 2] = bounds.upper[1, 2] = 0.05
    bounds.lower[0, 4] = -1e9  # holds anyway
    W, b = constrained(X, np.ones(500), SIGMOID, bounds)
    W_plain, b_plain = plain(X, np.ones(500), SIGMOID)
    others = [0, 1, 3, 4]
    assert W[:, others].tobytes() == W_plain[:, others].tobytes()
    assert b[others].tobytes() == b_plain[others].tobytes()
    assert W[1, 2] == 0.05
    assert not np.isclose(W[:, 2], W_plain[:, 2]).all()


@pytest.mark.parametrize(("constrained", "plain"), WAYS)
def test_bounds_that_state_nothing_change_nothing(constrained, plain, rng):
    X = rng.random((50, M)) @ (np.eye(M) + 3 * np.ones((M, M)))
    X = (X - X.min(0)) / np.ptp(X, axis=0)
    for found, expected in zip(
        constrained(X, np.ones(50), SIGMOID, nothing()), plain(X, np.ones(50), SIGMOID), strict=True
    ):
        assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("constrained", [way for way, _ in WAYS])
@pytest.mark.parametrize("kind", ["independent", "collinear", "wide"])
def test_bounds_hold_exactly(constrained, kind, seed):
    rng = np.random.default_rng(seed)
    X = rng.random((4 if kind == "wide" else 40, M))
    if kind == "collinear":
        X[:, 0], X[:, 1] = X[:, 2], 1 - X[:, 3]
    bounds = some(rng)
    W, b = constrained(X, np.ones(len(X)), SIGMOID, bounds)
    assert (bounds.lower <= W).all()
    assert (bounds.upper >= W).all()
    assert np.isfinite(b).all()


def test_a_forbidden_copy_leaves_its_weight_to_the_other(rng):
    """Concept 3 is a copy of concept 0: both explain concept 1 evenly, unless one of them must not."""
    X = rng.random((60, M))
    X[:, 3] = X[:, 0]
    bounds = nothing()
    bounds.lower[3, 1] = bounds.upper[3, 1] = 0.0
    W, _ = constrained_regression(X, np.ones(60), SIGMOID, bounds)
    W_plain, _ = regression_weights(X, np.ones(60), SIGMOID)
    assert W[3, 1] == 0
    assert W[0, 1] == pytest.approx(W_plain[0, 1] + W_plain[3, 1], rel=1e-9)


def test_terms_that_add_up_to_one_are_solved_as_well_as_scipy_does_on_all_rows(rng):
    """Memberships of each feature add up to 1, so that many weights fit equally well; the fit itself is unique."""
    X = rng.random((150, 3))
    X = Concepts(np.ones(3, dtype=bool), identity(3, 0.0, 1.0), (np.array([0.0, 0.4, 1.0]),) * 3)(X)
    bounds = nothing(9)
    bounds.lower[:, :3], bounds.upper[4, 5] = 0.0, -0.3
    W, b = constrained_regression(X, np.ones(150), SIGMOID, bounds)
    assert (bounds.lower <= W).all()
    assert W[4, 5] <= -0.3
    for i in (0, 1, 2, 5):
        expected, bias = naive_column(X, np.ones(150), i, bounds.lower[:, i], bounds.upper[:, i])
        np.testing.assert_allclose(X @ W[:, i] + b[i], X @ expected + bias, atol=1e-8)
        assert np.linalg.norm(W[:, i]) <= np.linalg.norm(expected) + 1e-9


def test_a_stated_self_edge_is_held_and_the_others_explain_the_rest(rng):
    X, bounds = rng.random((60, M)), nothing()
    bounds.lower[2, 2] = 0.7
    W, b = constrained_regression(X, np.ones(60), SIGMOID, bounds)
    others = [0, 1, 3, 4]
    rest = naive.f_inverse(X[:, 2], "sigmoid") - 0.7 * X[:, 2]
    expected = np.linalg.lstsq(np.c_[X[:, others], np.ones(60)], rest, rcond=None)[0]
    np.testing.assert_allclose(np.r_[W[others, 2], b[2]], expected, atol=1e-10)
    assert W[2, 2] == 0.7
    assert not np.diag(W)[others].any()


def correlated(rng):
    X = rng.random((200, 1)) + 0.05 * rng.random((200, M))
    return (X - X.min(0)) / np.ptp(X, axis=0)


@pytest.mark.parametrize("stated", [0.0, 0.4, 1.5])
def test_the_cap_shrinks_what_was_learned_towards_the_least_that_is_stated(stated, rng):
    """With W(s) = least + s (W − least), s is the largest share whose norm is within the cap."""
    X, bounds, weight = correlated(rng), nothing(), np.ones(200)
    bounds.lower[0, 1] = bounds.upper[0, 1] = stated
    bounds.lower[2, 3] = 0.1
    W, b = constrained_stable_regression(X, weight, SIGMOID, bounds)
    uncapped = ridge_weights(X, weight, SIGMOID)[0]
    for i in (1, 3):
        uncapped[:, i] = naive_column(X, weight, i, bounds.lower[:, i], bounds.upper[:, i], INNER_RIDGE)[0]
    assert np.linalg.norm(uncapped, 2) > INNER_NORM
    least = bounds.least
    shares = np.linspace(0, 1, 2001)
    within = [np.linalg.norm(least + s * (uncapped - least), 2) <= INNER_NORM for s in shares]
    share = shares[within].max()
    np.testing.assert_allclose(W, least + share * (uncapped - least), atol=2e-3)
    assert np.linalg.norm(W, 2) == pytest.approx(INNER_NORM, rel=1e-9)
    assert W[0, 1] == stated
    assert W[2, 3] >= 0.1
    # The mean row maps to the mean target, shrunk by the same share.
    np.testing.assert_allclose(X.mean(0) @ W + b, share * naive_mean(X, weight), atol=5e-3)


def test_stated_weights_above_the_cap_are_kept_and_the_learned_part_is_capped_alone(rng):
    X, bounds = correlated(rng), nothing()
    bounds.lower[0, 1] = bounds.upper[0, 1] = 2.5
    W, _ = constrained_stable_regression(X, np.ones(200), SIGMOID, bounds)
    assert W[0, 1] == 2.5
    W[0, 1] = 0
    assert np.linalg.norm(W, 2) == pytest.approx(INNER_NORM, rel=1e-9)


def test_a_least_norm_exactly_at_the_cap_leaves_no_room():
    least, learned = np.diag([INNER_NORM, 0.0]), np.diag([1.0, 0.0])
    assert cap_factor(least, learned) == 0
    assert cap_factor(least, -learned) == 1


def test_clipping_replaces_only_what_breaks_a_bound(rng):
    W, bounds = rng.normal(size=(M, M)), some(rng)
    expected = [[min(max(W[j, i], bounds.lower[j, i]), bounds.upper[j, i]) for i in range(M)] for j in range(M)]
    assert (bounds.clip(W) == np.array(expected)).all()
