"""The unsupervised step: initial states, inner weights and reference row from blocks, in every space."""

from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from cogmap.core.fit.network import draft, initial_states
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.constraints import Bounds
from cogmap.core.sums import sources
from cogmap.core.sums.sampling import content_keys
from cogmap.core.sums.sources import Blocks, at_once, cut, from_rows, on_device, only_block
from cogmap.core.sums.space import NUMPY
from tests.core.problems import SETTINGS, census_of, concepts_of, on, rows_of
from tests.core.weights import correlation_weights, regression_weights, slope_weights, stable_regression_weights

INNER = {
    "slopes": slope_weights,
    "correlation": correlation_weights,
    "regression": regression_weights,
    "stable-regression": stable_regression_weights,
}


@pytest.fixture(params=[False, True], ids=["even", "weighted"])
def rows(request, rng):
    X = rng.normal(size=(700, 4)) @ rng.normal(size=(4, 4))
    X[:, 2] = 1.0
    weight = rng.integers(1, 4, 700) * 1.0 if request.param else None
    return rows_of(X, rng.integers(0, 3, 700), weight)


def ways(rows, space):
    """Return the same rows as one block, as several, and on a device."""
    return [at_once(rows), Blocks(lambda: cut([rows]), 700), on_device(space, on(space, rows), 300, 100)]


@pytest.mark.parametrize("terms", [None, 3])
def test_initial_states_are_those_of_numpy_with_its_keys(terms, rows, space):
    concepts = concepts_of(rows.X, rows.weight, "halfway", terms, (0.0, 1.0))
    states = initial_states(concepts, space)(on(space, rows))
    assert (space.host(states.initial) == concepts(rows.X)).all()
    keys = space.host(states.keys)
    if not space.numpy:
        keys = keys.view(np.uint64) ^ np.uint64(2**63)
    # A feature that does not vary tells no rows apart.
    assert (keys == content_keys(NUMPY, rows.X[:, [0, 1, 3]].T.copy())).all()
    for name in ("codes", "weight", "unit"):
        assert (space.host(getattr(states, name)) == getattr(rows, name)).all()
    assert states.even == rows.even
    assert states.n_classes == 3


@pytest.mark.parametrize("inner", INNER)
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_inner_weights_reference_and_scatter_are_those_of_all_rows(activation, inner, rows, device, monkeypatch):
    monkeypatch.setattr(sources, "BLOCK_ROWS", 128)
    f = ACTIVATIONS[activation]
    settings = replace(SETTINGS, inner=inner, activation=activation)
    initial = concepts_of(rows.X, rows.weight, "halfway", None, (f.low, f.high))(rows.X)
    learned = INNER[inner](*([initial, rows.weight, f] if "regression" in inner else [initial, rows.weight]))
    mean = np.average(initial, axis=0, weights=rows.weight)
    scatter = ((initial - mean) * rows.weight[:, None]).T @ (initial - mean)
    for source in ways(rows, device):
        plan = draft(source, census_of(rows), settings)
        for mine, theirs in zip((plan.network.weights, plan.network.bias), _weights(learned), strict=True):
            np.testing.assert_allclose(mine, theirs, atol=1e-9)
        np.testing.assert_allclose(plan.reference, mean, rtol=1e-12)
        np.testing.assert_allclose(plan.scatter, scatter, atol=1e-9)
        assert plan.network.phi == settings.phi


def _weights(learned):
    return learned if isinstance(learned, tuple) else (learned, np.zeros(len(learned)))


def test_concepts_that_are_known_are_not_learned_again(rows):
    concepts = concepts_of(rows.X, rows.weight, "minmax", None, (0.0, 1.0))
    plan = draft(at_once(rows), census_of(rows), SETTINGS, concepts)
    assert plan.concepts is concepts
    assert (only_block(plan.states).initial == concepts(rows.X)).all()


def test_weights_of_ones_own_hold_for_all_terms_of_a_feature(rows, rng):
    W = rng.normal(size=(4, 4))
    plan = draft(at_once(rows), census_of(rows), replace(SETTINGS, inner=W, terms=3))
    feature = plan.concepts.feature
    assert (plan.network.weights == W[np.ix_(feature, feature)]).all()
    assert not plan.network.bias.any()


@pytest.mark.parametrize("inner", INNER)
def test_bounds_hold(inner, rows):
    lower, upper = np.full((3, 3), -np.inf), np.full((3, 3), np.inf)
    upper[0, 1], lower[2, 1] = 0.0, 0.05

    def bounds(concepts):
        return Bounds(lower, upper, np.full(len(lower), np.nan))

    plan = draft(at_once(rows), census_of(rows), replace(SETTINGS, inner=inner, bounds=bounds))
    assert plan.network.weights[0, 1] <= 0
    assert plan.network.weights[2, 1] >= 0.05 - 1e-12


def test_rows_at_once_are_few_and_blocks_are_not(rows):
    assert draft(at_once(rows), census_of(rows), SETTINGS).few
    assert not draft(from_rows(rows), census_of(rows), SETTINGS).few


def test_initial_states_of_no_concepts(space):
    rows = rows_of(np.ones((5, 2)))
    concepts = concepts_of(rows.X, None, "halfway", None, (0.0, 1.0))
    source = Blocks(lambda: [on(space, rows)], 5, space).map(partial(initial_states, concepts), 4)
    states = only_block(source)
    assert states.initial.shape == (5, 0)
    assert states.keys.shape == (5,)
