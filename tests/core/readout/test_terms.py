"""Terms: raw scores of every kind of readout as sums, in every space."""

from dataclasses import replace

import numpy as np
import pytest

from cogmap.core.curves.pairs import PairReadout
from cogmap.core.fit.fit import fit_network
from cogmap.core.fit.pairs import read_pairs
from cogmap.core.readout.ridge import IncrementReadout
from cogmap.core.readout.shrunken import ShrunkReadout
from cogmap.core.readout.states import StateReadout
from cogmap.core.readout.terms import Terms, block_terms, raw_scores
from cogmap.core.resemblance.cases import CaseReadout
from cogmap.core.sums.sources import at_once
from cogmap.core.sums.space import NUMPY
from tests.core.problems import SETTINGS, census_of, rows_of

KINDS = {
    "shrunken": ({}, ShrunkReadout),
    "increments": ({"alpha": 1.0}, IncrementReadout),
    "states": ({"alpha": 0.0, "max_iter": 3}, StateReadout),
    "final": ({"readout": "final"}, StateReadout),
    "cases": ({"cases": True}, CaseReadout),
    "pairs": ({}, PairReadout),
}


@pytest.fixture(params=KINDS)
def model(request, rng):
    settings, kind = KINDS[request.param]
    X = rng.normal(size=(300, 4))
    rows = rows_of(X, ((X[:, 0] ** 2 + X[:, 1] > 1).astype(int) + (X[:, 2] > 1)).astype(np.intp))
    fitted = fit_network(at_once(rows), census_of(rows), replace(SETTINGS, **settings))
    if kind is PairReadout:
        fitted = read_pairs(at_once(rows), census_of(rows), fitted)
    assert isinstance(fitted.model.readout, kind)
    return fitted.model


def test_raw_scores_are_those_of_numpy_in_every_space(model, space, rng):
    """Outlying rows among them, whose reasoning a gate stops."""
    initial = np.vstack([model.concepts(rng.normal(size=(200, 4))), rng.random((50, 4)) * 3 - 1])
    expected = raw_scores(model.readout, NUMPY, model.network, initial)
    there = raw_scores(model.readout, space, model.network, space.put(initial))
    np.testing.assert_allclose(space.host(there), expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_a_model_scores_rows_alike_in_every_space(model, space, rng):
    X = rng.normal(size=(200, 4)) * 2
    expected = model.raw(X)
    there = space.host(model.raw(space.put(X), space))
    np.testing.assert_allclose(there, expected, rtol=0, atol=1e-8 * np.abs(expected).max())


def test_terms_are_at_home_at_their_iteration_and_concept(model, space, rng):
    terms = model.readout.terms(space, model.network, space.put(rng.random((9, 4))))
    values = space.host(terms.values(space))
    assert values.shape == (9, len(terms.iteration))
    assert terms.coefficients.shape == (len(terms.concept), 3)
    assert terms.iteration.max() <= model.readout.n_iter
    assert set(terms.concept.tolist()) <= set(range(4))
    cases = 0 if terms.cases is None else space.host(terms.cases)
    expected = terms.base + sum(np.outer(v, c) for v, c in zip(values.T, terms.coefficients, strict=True)) + cases
    scores = space.host(terms.scores(space, 9))
    np.testing.assert_allclose(scores, expected, rtol=0, atol=1e-9 * np.abs(scores).max())


def test_without_terms_every_row_gets_the_base(space):
    nothing = np.empty(0, dtype=np.intp)
    terms = Terms(tuple, np.empty((0, 2)), nothing, nothing, np.array([0.5, -1.0]))
    assert space.host(terms.scores(space, 3)).tolist() == [[0.5, -1.0]] * 3
    assert terms.values(space) is None
    with_cases = replace(terms, cases=space.put(np.eye(3)[:, :2]))
    assert space.host(with_cases.scores(space, 3)).tolist() == [[1.5, -1.0], [0.5, 0.0], [0.5, -1.0]]


def test_blocks_beyond_the_last_that_is_read_are_not_asked_for(space, rng):
    weights = np.zeros((4, 2, 3))
    weights[1] = rng.normal(size=(2, 3))
    blocks = [rng.normal(size=(5, 2)) for _ in range(2)]

    def known():
        yield from map(space.put, blocks)
        pytest.fail("asked for a block that is not read")

    terms = block_terms(known, weights, np.zeros(3))
    np.testing.assert_allclose(space.host(terms.scores(space, 5)), blocks[1] @ weights[1], rtol=1e-12)
    assert terms.iteration.tolist() == [1, 1]
    assert terms.concept.tolist() == [0, 1]
    blocks.clear()
    unread = block_terms(known, np.zeros((4, 2, 3)), np.ones(3))
    assert space.host(unread.scores(space, 5)).tolist() == [[1.0] * 3] * 5
    assert unread.iteration.dtype.kind == unread.concept.dtype.kind == "i"
