"""Fits in blocks against fits of all rows at once, as a user sees them: the numerical contract, and judges."""

import numpy as np
import pytest

from cogmap import Knowledge, LTCNClassifier
from cogmap.core.fit import judges
from cogmap.core.sums import sources
from cogmap.intake import blocks as intake

BOUND = 1e-6


def problem(rng, n=1500, m=5):
    X = rng.normal(size=(n, m)) @ rng.normal(size=(m, m))
    X[:, 1] = X[:, 1].round()
    signal = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] / 4 + rng.normal(size=n) / 2
    return X, np.digitize(signal, [-1.0, 0.5])


def fit(X, y, monkeypatch, *, blocks, weight=None, **parameters):
    monkeypatch.setattr(intake, "MOST_ROWS", 100 if blocks else 10**9)
    monkeypatch.setattr(sources, "BLOCK_ROWS", 384)
    return LTCNClassifier(**parameters).fit(X, y, sample_weight=weight)


PARAMETERS = [
    {},
    {"alpha": 1.0},
    {"alpha": 1e-4, "max_iter": 3},
    {"inner": "regression", "max_iter": 4},
    {"inner": "stable-regression"},
    {"inner": "correlation", "activation": "tanh"},
    {"scaling": "minmax", "decision_metric": "kappa"},
    {"scaling": "quantile", "terms": 3, "max_iter": 5},
    {"decision": "argmax"},
    {"class_weight": "balanced", "decision_metric": "balanced_accuracy"},
    {"tol": 1e-3},
    {"alpha": 0.1, "tol": 1e-3},
    {"rule": "kosko-memory"},
    {"knowledge": Knowledge().irrelevant("x3").forbid("x0", "x1")},
]


@pytest.mark.parametrize("parameters", PARAMETERS, ids=str)
def test_a_fit_in_blocks_keeps_the_contract(parameters, rng, monkeypatch):
    X, y = problem(rng)
    whole = fit(X, y, monkeypatch, blocks=False, **parameters)
    blocks = fit(X, y, monkeypatch, blocks=True, **parameters)
    scores = whole.decision_function(X)
    assert np.abs(blocks.decision_function(X) - scores).max() <= BOUND * np.abs(scores).max()
    np.testing.assert_allclose(blocks.predict_proba(X), whole.predict_proba(X), atol=1e-5)
    assert blocks.n_iter_ == whole.n_iter_
    if isinstance(parameters.get("alpha"), float):
        # Of a Gram matrix, only what it can tell from 0 is counted.
        assert blocks.rank_ <= whole.rank_
    else:
        assert blocks.rank_ == whole.rank_
    np.testing.assert_allclose(blocks.degrees_of_freedom_, whole.degrees_of_freedom_, rtol=1e-6)
    np.testing.assert_allclose(blocks.inner_weights_, whole.inner_weights_, atol=1e-10)
    if whole.active_share_ is not None:
        np.testing.assert_allclose(blocks.active_share_, whole.active_share_, atol=1e-9)
        np.testing.assert_allclose(blocks.shrinkage_, whole.shrinkage_, atol=1e-5)


@pytest.mark.parametrize("parameters", [{}, {"alpha": 1.0}], ids=str)
@pytest.mark.parametrize("kind", ["whole", "fractional"])
def test_weights_and_copies(parameters, kind, rng, monkeypatch):
    X, y = problem(rng)
    weight = rng.integers(0, 4, len(y)) * 1.0 if kind == "whole" else rng.choice([0.0, 0.5, 1.25, 3.0], len(y))
    whole = fit(X, y, monkeypatch, blocks=False, weight=weight, **parameters)
    blocks = fit(X, y, monkeypatch, blocks=True, weight=weight, **parameters)
    scores = whole.decision_function(X)
    assert np.abs(blocks.decision_function(X) - scores).max() <= BOUND * np.abs(scores).max()
    if kind == "whole":
        repeated = np.repeat(np.arange(len(y)), weight.astype(int))
        copies = fit(X[repeated], y[repeated], monkeypatch, blocks=True, **parameters)
        assert np.abs(copies.decision_function(X) - scores).max() <= BOUND * np.abs(scores).max()


def test_a_class_of_one_row_is_judged_from_inside(rng, monkeypatch):
    X, y = problem(rng)
    y[7] = 9
    whole = fit(X, y, monkeypatch, blocks=False)
    blocks = fit(X, y, monkeypatch, blocks=True)
    scores = whole.decision_function(X)
    assert np.abs(blocks.decision_function(X) - scores).max() <= BOUND * np.abs(scores).max()


def test_what_is_kept_between_passes_changes_no_bit(rng, monkeypatch):
    X, y = problem(rng)
    kept = fit(X, y, monkeypatch, blocks=True)
    monkeypatch.setattr(sources, "KEPT_BYTES", 0)
    computed = fit(X, y, monkeypatch, blocks=True)
    assert (kept.decision_function(X) == computed.decision_function(X)).all()
    assert (kept.predict_proba(X) == computed.predict_proba(X)).all()


def test_the_order_of_the_rows_stays_within_the_contract(rng, monkeypatch):
    X, y = problem(rng)
    scores = fit(X, y, monkeypatch, blocks=True).decision_function(X)
    order = rng.permutation(len(y))
    other = fit(X[order], y[order], monkeypatch, blocks=True).decision_function(X)
    assert np.abs(other - scores).max() <= BOUND * np.abs(scores).max()


@pytest.mark.parametrize("parameters", [{"alpha": 0.0, "max_iter": 1}, {"readout": "final"}, {"cases": True}], ids=str)
def test_what_blocks_cannot_do_is_fitted_at_once(parameters, rng, monkeypatch):
    X, y = problem(rng, 300)
    whole = fit(X, y, monkeypatch, blocks=False, **parameters)
    blocks = fit(X, y, monkeypatch, blocks=True, **parameters)
    assert (blocks.decision_function(X) == whole.decision_function(X)).all()


@pytest.mark.parametrize("parameters", [{}, {"alpha": 1.0}, {"decision_metric": "balanced_accuracy"}], ids=str)
def test_some_judges_decide_nearly_as_all_rows_do(parameters, rng, monkeypatch):
    X = rng.normal(size=(6000, 5))
    y = np.digitize(X[:, 0] + X[:, 1] * X[:, 2] / 2 + rng.normal(size=6000) / 2, [-1.5, 1.5])
    monkeypatch.setattr(intake, "MOST_ROWS", 100)
    by_all = LTCNClassifier(**parameters).fit(X, y)
    for name in ("JUDGES", "DECIDERS", "DECIDERS_OF_A_CLASS"):
        monkeypatch.setattr(judges, name, 900)
    by_some = LTCNClassifier(**parameters).fit(X, y)
    assert (by_some.predict_proba(X) != by_all.predict_proba(X)).any()
    assert (by_some.predict(X) == by_all.predict(X)).mean() > 0.95
    assert np.abs(by_some.predict_proba(X) - by_all.predict_proba(X)).mean() < 0.02
    assert abs(by_some.score(X, y) - by_all.score(X, y)) < 0.02  # 900 rows know it to 0.012
    if by_all.active_share_ is not None:
        shared = min(by_some.n_iter_, by_all.n_iter_) + 1
        np.testing.assert_allclose(by_some.active_share_[:shared], by_all.active_share_[:shared], atol=0.05)
        np.testing.assert_allclose(by_some.shrinkage_[:shared], by_all.shrinkage_[:shared], atol=0.3)
