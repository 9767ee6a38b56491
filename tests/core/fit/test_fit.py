"""Fits in blocks and on a device against fits of all rows as one block, and the same bits for the same rows."""

from dataclasses import replace

import numpy as np
import pytest

from cogmap.core.decision.decision import class_covariance, decide
from cogmap.core.fit.fit import fit_network, passable, remember
from cogmap.core.fit.judges import for_themselves
from cogmap.core.network.constraints import Bounds
from cogmap.core.resemblance.regions import RegionReadout
from cogmap.core.sums import sources, threads
from cogmap.core.sums.rows import Rows, weighted_rows
from cogmap.core.sums.sources import Blocks, at_once, cut, from_rows, on_device
from cogmap.core.sums.statistics import Range
from tests.core.problems import SETTINGS, census_of, on, rows_of

BOUND, CONTRACT = 1e-8, 1e-6
"""Of the largest score: with few iterations; and with so many that innovations magnify rounding as far as they may."""


def problem(rng, n=700, m=5):
    X = rng.normal(size=(n, m)) @ rng.normal(size=(m, m))
    X[:, 1] = X[:, 1].round()
    signal = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 4 + rng.normal(size=n) / 2
    return X, np.digitize(signal, [-1.0, 0.5])


def named(settings):
    """Name a test, the same in every process."""
    return ", ".join(f"{name}={getattr(value, '__name__', value)}" for name, value in settings.items()) or "defaults"


def fit(source, rows, monkeypatch, *, few=False, **settings):
    """Fit as if rows were few, or many."""
    monkeypatch.setattr(sources, "BLOCK_ROWS", 192)
    return fit_network(replace(source, single=few), census_of(rows), replace(SETTINGS, **settings))


def blocks_of(rows):
    """Return rows that are never at hand at once."""
    return Blocks(lambda: cut([rows]), len(rows.codes))


def stated(concepts):
    lower, upper = (np.full((len(concepts.feature),) * 2, sign * np.inf) for sign in (-1, 1))
    upper[0, 1] = lower[0, 1] = 0.0
    return Bounds(lower, upper, np.full(len(lower), np.nan))


SETTINGS_OF_BLOCKS = [
    {},
    {"max_iter": 20},
    {"alpha": 1.0},
    {"alpha": 1e-4, "max_iter": 3},
    {"inner": "regression", "max_iter": 4},
    {"inner": "stable-regression"},
    {"inner": "correlation", "activation": "tanh"},
    {"scaling": "minmax"},
    {"scaling": "quantile", "terms": 3, "max_iter": 5},
    {"scaling": None},
    {"tol": 1e-3},
    {"alpha": 0.1, "tol": 1e-3},
    {"rule": "kosko-memory"},
    {"bounds": stated},
]


def bound_of(settings, least=BOUND):
    return CONTRACT if settings.get("max_iter") == 20 or "rule" in settings else least


def assert_alike(one, other, X, bound=BOUND):
    """Compare two fits: raw scores, what is known of the readout, and the decision."""
    scores = one.model.raw(X)
    assert np.abs(other.model.raw(X) - scores).max() <= bound * np.abs(scores).max()
    for name in ("shrinkage", "active"):
        mine, theirs = getattr(one.solved, name), getattr(other.solved, name)
        assert (mine is None) == (theirs is None)
        if mine is not None:
            np.testing.assert_allclose(theirs, mine, atol=1e-6)
    assert other.solved.readout.n_iter == one.solved.readout.n_iter
    if one.solved.alpha is None:
        assert other.solved.rank == one.solved.rank
    else:
        assert abs(other.solved.rank - one.solved.rank) <= 2  # what a Gram matrix tells from 0
        assert other.solved.alpha == one.solved.alpha
    np.testing.assert_allclose(other.solved.degrees_of_freedom, one.solved.degrees_of_freedom, rtol=1e-6)
    np.testing.assert_allclose(other.model.network.weights, one.model.network.weights, atol=1e-10)
    np.testing.assert_allclose(other.between, one.between, atol=1e-7)
    decoded = []
    for known in (one, other):
        decision = decide(known.scores, known.between, "accuracy", known.model.scale)
        decoded.append(decision(known.model.one_hot_scale(scores)))
    assert np.abs(decoded[1] - decoded[0]).max() <= 1e-6 * np.abs(decoded[0]).max()
    np.testing.assert_allclose(other.summary.shares, one.summary.shares)


@pytest.mark.parametrize("settings", SETTINGS_OF_BLOCKS, ids=named)
def test_a_fit_of_several_blocks_is_that_of_one(settings, rng, monkeypatch):
    rows = rows_of(*problem(rng))
    whole = fit(at_once(rows), rows, monkeypatch, few=True, **settings)
    blocks = fit(blocks_of(rows), rows, monkeypatch, **settings)
    assert len(blocks.scores.raw) == len(whole.scores.raw) == len(rows.X)
    assert_alike(whole, blocks, rows.X, bound_of(settings))
    # Whole columns at hand give the same knots as cells do, and all that follows has the same bits.
    at_hand = fit(from_rows(rows), rows, monkeypatch, **settings)
    assert (at_hand.model.raw(rows.X) == blocks.model.raw(rows.X)).all()
    assert (at_hand.scores.raw == blocks.scores.raw).all()


@pytest.mark.parametrize("settings", SETTINGS_OF_BLOCKS, ids=named)
def test_a_fit_on_a_device_is_that_of_numpy(settings, device, rng, monkeypatch):
    rows = rows_of(*problem(rng))
    expected = fit(blocks_of(rows), rows, monkeypatch, **settings)
    there = fit(on_device(device, on(device, rows), 700, 300), rows, monkeypatch, **settings)
    bound = bound_of(settings, 1e-7)
    assert_alike(expected, there, rows.X, bound)
    scores = device.host(there.model.raw(device.put(rows.X), device))
    np.testing.assert_allclose(scores, expected.model.raw(rows.X), rtol=0, atol=bound * np.abs(scores).max())
    assert (there.summary.rows == expected.summary.rows).all()
    assert (there.summary.weight == expected.summary.weight).all()


@pytest.mark.parametrize("settings", [{}, {"alpha": 1.0}], ids=named)
@pytest.mark.parametrize("kind", ["whole", "fractional"])
def test_weights_and_copies(settings, kind, device, rng, monkeypatch):
    X, codes = problem(rng)
    times = rng.integers(1, 4, len(X)) if kind == "whole" else rng.choice([0.5, 1.25, 3.0], len(X))
    rows = weighted_rows(X, codes, times.astype(float), np.array([1.0, 2.0, 0.5]))
    whole = fit(at_once(rows), rows, monkeypatch, few=True, **settings)
    assert_alike(whole, fit(blocks_of(rows), rows, monkeypatch, **settings), X)
    there = on_device(device, on(device, rows), 700, 300)
    assert_alike(whole, fit(there, rows, monkeypatch, **settings), X, 1e-7)
    if kind == "whole":
        repeated = np.repeat(np.arange(len(X)), times)
        copies = weighted_rows(X[repeated], codes[repeated], np.ones(len(repeated)), np.array([1.0, 2.0, 0.5]))
        assert_alike(whole, fit(blocks_of(copies), copies, monkeypatch, **settings), X)


@pytest.mark.parametrize("settings", [{}, {"alpha": 1.0}], ids=named)
def test_a_class_of_one_row_is_judged_from_inside(settings, rng, monkeypatch):
    X, codes = problem(rng)
    codes[7] = 3
    rows = rows_of(X, codes)
    whole = fit(at_once(rows), rows, monkeypatch, few=True, **settings)
    blocks = fit(blocks_of(rows), rows, monkeypatch, **settings)
    assert_alike(whole, blocks, X)
    for known in (whole, blocks):
        own = known.scores.raw[known.scores.codes == 3]
        inside = known.model.one_hot_scale(known.model.raw(X[7:8]))
        np.testing.assert_allclose(own, inside, atol=1e-7)


@pytest.mark.parametrize("settings", [{}, {"alpha": 1.0}], ids=named)
def test_what_is_kept_between_passes_changes_no_bit(settings, rng, monkeypatch):
    rows = rows_of(*problem(rng))
    kept = fit(blocks_of(rows), rows, monkeypatch, **settings)
    monkeypatch.setattr(sources, "KEPT_BYTES", 0)
    computed = fit(blocks_of(rows), rows, monkeypatch, **settings)
    assert (kept.model.raw(rows.X) == computed.model.raw(rows.X)).all()
    assert (kept.scores.raw == computed.scores.raw).all()


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("settings", [{}, {"alpha": 1.0}], ids=named)
def test_the_number_of_workers_changes_no_bit(settings, few, rng, monkeypatch):
    rows = rows_of(*problem(rng))
    results = []
    for workers in (1, 2, 4):
        monkeypatch.setattr(
            threads, "n_workers", lambda n=workers: 1 if getattr(threads._THREAD, "works", False) else n
        )
        source = at_once(rows) if few else blocks_of(rows)
        known = fit(source, rows, monkeypatch, few=few, **settings)
        results.append((known.model.raw(rows.X), known.scores.raw))
    for other in results[1:]:
        assert all((a == b).all() for a, b in zip(results[0], other, strict=True))


def test_the_order_of_the_rows_stays_within_the_contract(rng, monkeypatch):
    X, codes = problem(rng)
    rows, order = rows_of(X, codes), rng.permutation(len(X))
    moved = rows_of(X[order], codes[order])
    expected = fit(blocks_of(rows), rows, monkeypatch)
    again = fit(blocks_of(moved), moved, monkeypatch)
    assert_alike(expected, again, X)
    assert (again.summary.rows == expected.summary.rows).all()


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("distance", ["straight", "axes"])
def test_the_rows_that_judge_are_remembered(distance, few, rng, monkeypatch):
    rows = rows_of(*problem(rng, 500))
    known = fit(at_once(rows) if few else blocks_of(rows), rows, monkeypatch, few=few)
    judges = known.judges
    remembering = remember(known, [known.model], distance)
    inside = remembering.model.one_hot_scale(remembering.model.raw(judges.X))
    assert isinstance(remembering.model.readout, RegionReadout)
    assert remembering.model.readout.metric.distance == distance
    assert remembering.model.network is known.model.network
    assert len(remembering.model.readout.cases) == len(judges.codes) == len(remembering.scores.raw)
    np.testing.assert_allclose(class_covariance(inside, judges.codes, judges.weight), remembering.between, atol=1e-9)
    error = [((np.eye(3)[judges.codes] - raw) ** 2).mean() for raw in (inside, remembering.scores.raw)]
    assert error[0] < error[1] < 0.2


@pytest.mark.parametrize("times", [1, 3])
def test_judges_of_a_rare_class_are_left_out_as_they_weigh(times, rng):
    """A copy of a judge whose class counts less, or more, than its rows do is that much lighter, or heavier."""
    frequency = np.where(rng.random(40) < 0.5, times, 1.0)
    factor = np.array([0.1, 2.5])[np.arange(40) % 2]
    rows = Rows(rng.random((40, 2)), np.arange(40) % 2, frequency * factor, np.ones(40), 2)
    np.testing.assert_allclose(for_themselves(rows).unit, factor)


def test_what_needs_all_rows_at_once_is_not_passable():
    census = Range(np.zeros(4), np.array([1.0, 1.0, 0.0, 1.0]), np.array([10.0, 7.9]))
    assert not passable(SETTINGS, census)  # 17.9 rows, but six for each of three concepts
    assert passable(SETTINGS, replace(census, mass=np.array([10.0, 8.0])))
    assert not passable(replace(SETTINGS, terms=2), replace(census, mass=np.array([10.0, 8.0])))
    assert passable(replace(SETTINGS, alpha=1.0), census)
    many = replace(census, mass=np.array([1e4, 1e4]))
    for settings in ({"alpha": 0.0}, {"readout": "final"}, {"cases": True}):
        assert not passable(replace(SETTINGS, **settings), many)
    assert not passable(SETTINGS, replace(many, high=census.low))


@pytest.mark.parametrize("alpha", [0.3, "loo"])
def test_a_network_that_never_moves(alpha, rng, monkeypatch):
    """With φ = 0 every increment is 0, also where activations are known to move by a tolerance of 0."""
    X = rng.normal(size=(60, 3))
    rows = Rows(X, (X[:, 0] > 0).astype(np.intp), np.ones(60), np.ones(60), 2, True)
    found = fit(at_once(rows), rows, monkeypatch, few=True, alpha=alpha, phi=0.0, max_iter=1, tol=0.0)
    assert np.isfinite(found.model.raw(X)).all()


@pytest.mark.parametrize("few", [False, True])
@pytest.mark.parametrize("settings", [{}, {"alpha": 1.0}, {"inner": "regression"}], ids=named)
def test_memory_that_nobody_set_is_not_computed_with(settings, few, rng, monkeypatch):
    """Memory that is not set may hold signalling NaN; arithmetic on it warns, and here a warning is an error."""
    rows, empty = rows_of(*problem(rng)), np.empty

    def soiled(*args, **keywords):
        array = empty(*args, **keywords)
        if array.dtype == np.float64:
            array.view(np.uint64)[...] = 0x7FF0_0000_0000_0001
        return array

    clean = fit(at_once(rows), rows, monkeypatch, few=few, **settings)
    monkeypatch.setattr(np, "empty", soiled)
    fitted = fit(at_once(rows), rows, monkeypatch, few=few, **settings)
    assert_alike(fitted, clean, rows.X, 0.0)
