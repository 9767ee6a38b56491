"""Folded readouts against the terms that they sum up, with and without a gate, and what the sketch lets through."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import chi2

from cogmap.core.fit.fit import fit_network
from cogmap.core.network.activation import ACTIVATIONS
from cogmap.core.network.reasoning import Network
from cogmap.core.readout import folded as module
from cogmap.core.readout.folded import SKETCHES, fold
from cogmap.core.readout.shrunken import ShrunkReadout
from cogmap.core.readout.terms import raw_scores
from cogmap.core.sums.sources import at_once
from cogmap.core.sums.space import NUMPY, in_blocks
from cogmap.core.sums.tiles import TILE, in_tiles, tiled
from cogmap.core.trajectory.innovations import Basis
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


def test_a_single_suspect_is_stopped_too(rng):
    model = model_of(rng, n_features=9)
    assert fold(model.readout, model.network).gate.sketch.shape[1]
    initial = corners(rng, 400, 9)
    stopped = NUMPY.host(model.readout.terms(NUMPY, model.network, initial).stopped).any(axis=1)
    assert stopped.any()
    among = np.full((TILE, 9), 0.5)
    for among[3] in initial[stopped][:5]:
        expected = scores_by_terms(model, among)
        np.testing.assert_allclose(scores_folded(model, among), expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.skipif(np.finfo(np.longdouble).eps > 1e-18, reason="no more digits than a double has")
def test_coefficients_of_the_increments_have_more_digits_than_what_they_are_a_sum_of(rng):
    """The map has entries of 1e10 that cancel; sums of fractions are the truth."""
    p = 7
    map_ = np.triu(rng.normal(size=(p, p))) + np.diag([1.0, *10.0 ** np.arange(4, 4 + p - 1)])
    map_[0, 1:] = 1e10 * rng.normal(size=p - 1)
    whiten = np.triu(np.linalg.inv(map_) @ (np.eye(p) + 1e-3 * np.triu(rng.normal(size=(p, p)), 1)))
    basis = Basis((np.arange(3), np.arange(3)), (np.ones(3), np.ones(3)), map_, whiten)
    shrink, C = np.array([1.0, 0.5]), rng.normal(size=(p, 2))
    readout = module.ShrunkReadout(np.full(3, 0.5), basis, C, shrink, np.full(2, 9.0))
    network = Network(rng.normal(size=(3, 3)), rng.normal(size=3), 1.0, ACTIVATIONS["tanh"])
    exact = np.vectorize(Fraction)
    truth = exact(map_) @ (exact(whiten) @ exact(np.r_[1, np.repeat(shrink, 3)][:, None] * C))
    found = fold(readout, network)
    assert found.course.gain == 1.0
    np.testing.assert_allclose(found.constant[:2, 0], truth[0].astype(float), rtol=1e-11)
    np.testing.assert_allclose(found.matrix[:2].T, truth[1:].astype(float), rtol=1e-11)


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_scores_have_one_sum_where_coefficients_of_all_classes_cancel(unit, rng):
    """What rounding adds is shared by the squares of the classes' coefficients; a row without any cancels."""
    K = unit * rng.normal(size=(20, 3)) * [1.0, 0.1, 0.3]
    K[:, 2] = -K[:, 0] - K[:, 1]
    K[4] = 0
    total = module._total(K, np.array([0.5, 1.0, 2.0]))
    assert total.score == 3.5
    np.testing.assert_allclose(total.shares[:, 0], (K**2).sum(axis=0) / (K**2).sum(), rtol=1e-12)
    for row in (0, 10):
        odd = K.copy()
        odd[row] = unit * np.array([1e-4, 0, 0])
        odd[row + 1] = odd[row + 1] * 1e6
        assert module._total(odd, np.zeros(3)) is None
        odd[row + 1] = -odd[row]
        assert odd.sum() == pytest.approx(0, abs=1e-12 * unit)
        assert module._total(odd, np.zeros(3)) is None
    assert module._total(np.zeros((4, 3)), np.zeros(3)) is None


def test_the_first_innovation_must_cancel_too(rng):
    model = model_of(rng)
    C = model.readout.coefficients.copy()
    C[1, 0] += 1.0
    assert fold(model.readout, model.network).total is not None
    assert fold(replace(model.readout, coefficients=C), model.network).total is None


def test_coefficients_that_do_not_cancel_over_the_classes_are_read_too(rng):
    model = model_of(rng)
    odd = replace(model.readout, coefficients=rng.normal(size=model.readout.coefficients.shape))
    model, initial = replace(model, readout=odd), rng.random((50, 5))
    assert fold(odd, model.network).total is None
    expected = scores_by_terms(model, initial)
    np.testing.assert_allclose(scores_folded(model, initial), expected, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("settings", [{}, {"alpha": 0.1}], ids=str)
def test_scores_of_all_classes_have_one_sum(settings, rng):
    model = model_of(rng, **settings)
    assert fold(model.readout, model.network).total is not None
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
