"""Folded readouts against the terms that they sum up, with and without a gate, and what the sketch lets through."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import chi2

from cogmap.core.fit.fit import fit_network
from cogmap.core.readout import folded as module
from cogmap.core.readout.folded import SKETCHES, fold
from cogmap.core.readout.shrunken import ShrunkReadout
from cogmap.core.readout.terms import raw_scores
from cogmap.core.sums.sources import at_once
from cogmap.core.sums.space import NUMPY, in_blocks
from cogmap.core.sums.tiles import TILE, in_tiles, tiled
from tests.core.problems import SETTINGS, census_of, rows_of


def model_of(rng, n=3000, n_features=5, **settings):
    X = rng.normal(size=(n, n_features)) ** 3
    codes = ((X[:, 0] * X[:, 1] > 0).astype(np.intp) + (X[:, 2] + X[:, 3] ** 2 > 1)).astype(np.intp)
    rows = rows_of(X, codes)
    return fit_network(at_once(rows), census_of(rows), replace(SETTINGS, max_iter=20, **settings)).model


def scores_by_terms(model, initial):
    return in_blocks(lambda rows: raw_scores(model.readout, NUMPY, model.network, rows), initial)


def scores_folded(model, initial):
    readout = fold(model.readout, model.network)
    return in_tiles(lambda rows, _: readout(tiled(rows)), initial)


def corners(rng, n, M=5):
    """Return initial states of rows that few training rows are like: most concepts are at an end of their range."""
    return rng.choice([0.0, 0.5, 1.0], (n, M), p=[0.45, 0.1, 0.45])


@pytest.mark.parametrize("settings", [{}, {"activation": "tanh"}, {"phi": 1.0}, {"terms": 3}, {"alpha": 0.1}], ids=str)
def test_folded_scores_are_the_sums_of_all_terms(settings, rng):
    model = model_of(rng, **settings)
    initial = np.concatenate([rng.random((300, len(model.network.bias))), corners(rng, 300, len(model.network.bias))])
    expected = scores_by_terms(model, initial)
    np.testing.assert_allclose(scores_folded(model, initial), expected, atol=1e-7 * np.abs(expected).max())


@pytest.mark.parametrize(("n", "n_features"), [(100, 5), (3000, 9)])
def test_rows_are_stopped_where_their_leverage_says_so(n, n_features, rng):
    """With few training rows all innovations are computed, with many a sketch of them."""
    model = model_of(rng, n, n_features)
    readout = fold(model.readout, model.network)
    assert (readout.gate.sketch.shape[1] > 0) == (n > 100)
    initial = np.concatenate([rng.random((2000, n_features)), corners(rng, 2000, n_features)])
    stopped = NUMPY.host(model.readout.terms(NUMPY, model.network, initial).stopped).any(axis=1)
    assert 0.05 < stopped.mean() < 0.95
    expected = scores_by_terms(model, initial)
    open_gate = replace(model.readout, caps=np.full_like(model.readout.caps, np.inf))
    without = scores_by_terms(replace(model, readout=open_gate), initial)
    matters = np.abs(expected - without).max(axis=1) > 1e-5
    found = scores_folded(model, initial)
    assert matters.sum() > 20
    np.testing.assert_allclose(found, expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.slow
def test_the_sketch_misses_no_row_that_is_to_be_stopped(rng):
    """Of a million directions that innovations may have; at the cap exactly, so that more would be seen sooner."""
    model = model_of(rng, n_features=9)
    gate = fold(model.readout, model.network).gate
    p, cap, missed = len(gate.sketch), float(model.readout.caps.min()), 0
    for _ in range(50):
        Q = rng.normal(size=(20_000, p))
        Q *= np.sqrt(cap / (Q**2).sum(axis=1, keepdims=True))
        missed += int((((Q @ gate.directions) ** 2).sum(axis=1) <= gate.most).sum())
    assert missed <= 6
    assert (gate.sketch.shape[1], gate.most / cap) in SKETCHES


@pytest.mark.parametrize(("n_directions", "share"), SKETCHES)
def test_one_suspect_in_a_million_is_missed(n_directions, share):
    assert 1e-7 < chi2.cdf(n_directions * share, n_directions) <= 1.05e-6


def test_the_larger_the_leverage_the_more_directions(rng):
    model = model_of(rng)
    gate = fold(model.readout, model.network).gate
    assert [gate._sketch(400, n)[0] for n in (100, 3300, 5000, 1e6)] == [0, 128, 64, 32]
    assert gate._sketch(SKETCHES[0][0], 1e6) == (0, 0.0)


def test_suspects_depend_on_no_other_row(rng):
    model = model_of(rng, n_features=9)
    assert fold(model.readout, model.network).gate.sketch.shape[1]
    initial = np.concatenate([rng.random((200, 9)), corners(rng, 200, 9)])
    whole = scores_folded(model, initial)
    for size in (1, 7, TILE, 130):
        for begin in range(0, 400, max(size, 20)):
            assert (scores_folded(model, initial[begin : begin + size]) == whole[begin : begin + size]).all()


def test_coefficients_that_do_not_cancel_over_the_classes_are_read_too(rng):
    model = model_of(rng)
    odd = replace(model.readout, coefficients=rng.normal(size=model.readout.coefficients.shape))
    model, initial = replace(model, readout=odd), rng.random((50, 5))
    assert fold(odd, model.network).total is None
    expected = scores_by_terms(model, initial)
    np.testing.assert_allclose(scores_folded(model, initial), expected, atol=1e-6 * np.abs(expected).max())


def test_scores_of_all_classes_have_one_sum(rng):
    model = model_of(rng)
    totals = scores_folded(model, rng.random((100, 5))).sum(axis=1)
    np.testing.assert_allclose(totals, totals[0], rtol=1e-12)


def test_readouts_of_states_are_not_folded(rng):
    model = model_of(rng, 200, alpha=0.0)
    assert not isinstance(model.readout, ShrunkReadout)
    assert fold(model.readout, model.network) is None


@pytest.mark.parametrize("piece", [1, 7, 1000])
def test_pieces_of_the_map_do_not_matter(piece, rng, monkeypatch):
    model = model_of(rng, 100)
    monkeypatch.setattr(module, "PIECE", piece)
    initial = corners(rng, 100)
    expected = scores_by_terms(model, initial)
    np.testing.assert_allclose(scores_folded(model, initial), expected, atol=1e-7 * np.abs(expected).max())
