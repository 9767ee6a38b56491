"""Factors of rows against the rows themselves: by reflections in numpy, from Gram matrices on a device."""

from functools import partial

import numpy as np
import pytest

from cogmap.core.concepts.concepts import Concepts
from cogmap.core.concepts.scaling import identity
from cogmap.core.fit import network
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.sums import factor as module
from cogmap.core.sums.factor import Factor, Scatter, fit_factor, refine_factor, refined, root
from cogmap.core.sums.sources import Blocks, on_device
from cogmap.core.sums.statistics import merged
from tests.core.problems import concepts_of, on, rows_of


def split(n, *arrays):
    return zip(*(np.array_split(array, n) for array in arrays), strict=True)


def test_factor_holds_mean_scatter_and_regression(rng):
    X, Y, weight = rng.normal(size=(200, 4)) + 5, rng.normal(size=(200, 2)), rng.uniform(0.5, 2, 200)
    factor = merged(Factor.from_block(w, x, y) for x, w, y in split(6, X, weight, Y))
    mean = np.average(X, axis=0, weights=weight)
    np.testing.assert_allclose(factor.total, weight.sum(), rtol=1e-13)
    np.testing.assert_allclose(factor.mean[:4], mean, rtol=1e-13)
    np.testing.assert_allclose(factor.size, (weight[:, None] * X**2).sum(), rtol=1e-13)
    assert factor.n_rows == 200
    scatter = (X - mean).T @ (weight[:, None] * (X - mean))
    centred = factor.centred
    np.testing.assert_allclose(centred[:, :4].T @ centred[:, :4], scatter, atol=1e-11)
    slope = np.linalg.lstsq(centred[:, :4], centred[:, 4:], rcond=None)[0]
    root = np.sqrt(weight)[:, None]
    expected = np.linalg.lstsq(np.c_[np.ones(200), X] * root, Y * root, rcond=None)[0][1:]
    np.testing.assert_allclose(slope, expected, atol=1e-12)


def test_factor_keeps_small_singular_values(rng):
    """A Gram matrix would lose a direction of 1e-9."""
    X = rng.normal(size=(300, 3))
    X[:, 2] = X[:, 0] + 1e-9 * X[:, 2]
    factor = merged(Factor.from_block(np.ones(len(x)), x) for (x,) in split(5, X))
    singular = np.linalg.svd(factor.centred, compute_uv=False)
    np.testing.assert_allclose(singular, np.linalg.svd(X - X.mean(axis=0), compute_uv=False), rtol=1e-6)


def as_columns(space):
    """Give the features of rows, in two matrices."""
    return lambda block: (block.X[:, :2], block.X[:, 2:])


def source_of(space, rows, block_rows):
    return on_device(space, on(space, rows), block_rows, 0)


def steep(rng, n=2000):
    """Centred columns whose singular values fall to 1e-11 of the largest."""
    U = np.linalg.qr(rng.normal(size=(n, 5)))[0]
    Z = (U * np.array([1, 1e-3, 1e-6, 1e-9, 1e-11])) @ np.linalg.qr(rng.normal(size=(5, 5)))[0]
    return Z - Z.mean(axis=0)


def test_a_second_gram_matrix_keeps_small_singular_values(space, rng):
    """As Householder reflections do; the Gram matrix alone would leave nothing below 1e-8 of the largest."""
    Z = steep(rng)
    expected = np.linalg.svd(Z, compute_uv=False)
    known = Scatter(2000.0, np.zeros(5), Z.T @ Z)
    twice = np.linalg.svd(refined(source_of(space, rows_of(Z), 700), as_columns, known), compute_uv=False)
    np.testing.assert_allclose(twice, expected, rtol=1e-3)
    once = np.linalg.svd(root(known.gram), compute_uv=False)
    assert (np.abs(once - expected)[-2:] > 0.5 * expected[-2:]).all()


@pytest.mark.parametrize("weighted", [False, True])
def test_a_factor_of_a_device_keeps_what_it_is_asked_to_keep(weighted, space, rng):
    """Far from 0, too, where a Gram matrix that is centred afterwards would hold nothing but the mean."""
    weight = rng.integers(1, 4, 2000) * 1.0 if weighted else None
    rows = rows_of(steep(rng) + 3.0, weight=weight)
    mean = np.average(rows.X, axis=0, weights=rows.weight)
    centred = (rows.X - mean) * np.sqrt(rows.weight)[:, None]
    expected = np.linalg.svd(centred, compute_uv=False)
    source = source_of(space, rows, 700)
    exact = fit_factor(source, as_columns, 2, exact=True)
    # Centring leaves errors of the size of the rows, not of what is left of them.
    atol = 1e-13 * np.abs(rows.X).max()
    np.testing.assert_allclose(np.linalg.svd(exact.centred, compute_uv=False)[:5], expected, rtol=1e-3, atol=atol)
    known = Scatter(rows.weight.sum(), mean, centred.T @ centred)
    again = refine_factor(source, as_columns, 2, known)
    np.testing.assert_allclose(np.linalg.svd(again.centred, compute_uv=False)[:5], expected, rtol=1e-3, atol=atol)
    rough = fit_factor(source, as_columns, 2, exact=False)
    for factor in (exact, again, rough):
        np.testing.assert_allclose(factor.centred.T @ factor.centred, centred.T @ centred, atol=1e-12)
        np.testing.assert_allclose(factor.mean, mean, rtol=1e-12)
        assert factor.total == pytest.approx(rows.weight.sum(), rel=1e-12)
        assert factor.size == pytest.approx((rows.weight @ rows.X[:, :2] ** 2).sum(), rel=1e-12)
        assert factor.n_rows == 2000


def test_the_provisional_centre_may_be_that_of_few_rows(device, rng, monkeypatch):
    monkeypatch.setattr(module, "CENTRE_ROWS", 3)
    rows = rows_of(rng.normal(size=(500, 4)) + 1e4)
    factor = fit_factor(source_of(device, rows, 130), as_columns, 4, exact=False)
    centred = rows.X - rows.X.mean(axis=0)
    np.testing.assert_allclose(factor.centred.T @ factor.centred, centred.T @ centred, atol=1e-8)


def test_a_column_that_does_not_vary_has_no_part_in_a_root(rng):
    X = np.c_[rng.normal(size=(50, 2)), np.zeros(50)]
    R = root(X.T @ X)
    np.testing.assert_allclose(R.T @ R, X.T @ X, atol=1e-12)
    assert np.isfinite(R).all()


@pytest.mark.parametrize("activation", [None, "sigmoid", "tanh"])
@pytest.mark.parametrize("exact", [False, True])
def test_the_factor_of_the_concepts_has_the_gram_matrix_of_numpys(exact, activation, space, rng):
    X, weight = rng.normal(size=(500, 3)), rng.integers(1, 4, 500) * 1.0
    concepts = concepts_of(X, weight, "halfway", None, (0.0, 1.0))
    initial = concepts(X)
    others = [] if activation is None else [ACTIVATIONS[activation].inverse(initial)]
    expected = Factor.from_block(weight, initial, *others)
    source = source_of(space, rows_of(X, weight=weight), 130)
    states = source.map(partial(network.initial_states, concepts), 5)
    factor = fit_factor(states, partial(network._columns, activation), 3, exact=exact)
    np.testing.assert_allclose(factor.R.T @ factor.R, expected.R.T @ expected.R, rtol=1e-12)
    np.testing.assert_allclose(factor.mean, expected.mean, rtol=1e-12)
    assert factor.total == pytest.approx(weight.sum())
    assert factor.size == pytest.approx(expected.size)
    assert factor.n_rows == expected.n_rows


def test_no_concepts_have_a_factor_of_the_weights_alone(space):
    concepts = Concepts(np.zeros(2, dtype=bool), identity(0, 0.0, 1.0), ())
    rows = rows_of(np.ones((6, 2)), weight=np.full(6, 2.0))
    source = Blocks(lambda: [on(space, rows)], 6, space).map(partial(network.initial_states, concepts), 4)
    factor = fit_factor(source, partial(network._columns, None), 0, exact=False)
    assert factor.total == pytest.approx(12)
    assert factor.centred.shape[1] == 0
