"""Attributions against integrals of finite differences, and against the laws that define them."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import quad_vec

from cogmap.core.activation import ACTIVATIONS
from cogmap.core.attribution import Accuracy, added_up, attribute
from cogmap.core.case_attribution import cases_gradient
from cogmap.core.cases import CaseReadout, Metric
from cogmap.core.contributions import split
from cogmap.core.model import Settings, fit_model
from cogmap.core.readout import StateReadout
from cogmap.core.reasoning import Network
from cogmap.core.ridge import IncrementReadout

from .test_contributions import DEFAULTS, model, rows  # noqa: F401  (fixtures)

DECODE = np.array([[1.0, 0.5], [-1.0, 0.0], [0.0, 2.0]])


def network_of(rng, n=3, size=1.0, activation="sigmoid"):
    return Network(size * rng.normal(size=(n, n)), rng.normal(size=n), 0.8, ACTIVATIONS[activation])


def without_gate(readout):
    if isinstance(readout, CaseReadout):
        return replace(readout, trajectory=without_gate(readout.trajectory))
    return replace(readout, caps=np.full_like(readout.caps, np.inf)) if hasattr(readout, "caps") else readout


def values_of(readout, network, initial, baseline, decode=None):
    decode = np.eye(2) if decode is None else decode
    return attribute(readout, network, initial, as_rows(baseline, initial), decode, Accuracy(1.0)).values


def as_rows(baseline, initial):
    """Return the same baseline for every row."""
    return np.tile(baseline, (len(initial), 1))


def integrated(score, initial, baseline):
    """Return attributions by an adaptive integral of central differences of `score`, one row at a time."""
    found = []
    for row in initial:
        delta, steps = row - baseline, 1e-5 * np.eye(len(row))

        def gradient(s, delta=delta, steps=steps):
            points = baseline + s * delta
            return (score(points + steps) - score(points - steps)) / 2e-5

        found.append(delta[:, None] * quad_vec(gradient, 0, 1, epsabs=1e-10)[0])
    return np.array(found)


@pytest.mark.parametrize("activation", ACTIVATIONS)
@pytest.mark.parametrize("kind", ["increments", "states"])
def test_attributions_equal_the_integral_of_differences(kind, activation, rng):
    network, K = network_of(rng, activation=activation), rng.normal(size=(5, 3, 2))
    readout = IncrementReadout(rng.random(3), K, np.ones(2)) if kind == "increments" else StateReadout(K, np.ones(2))
    initial, baseline = rng.random((3, 3)), rng.random(3)
    expected = integrated(lambda points: readout.scores(network, points), initial, baseline)
    np.testing.assert_allclose(values_of(readout, network, initial, baseline), expected, atol=1e-8)


def test_attributions_add_up_with_the_gate_of_the_row(model, rows):  # noqa: F811
    """For every readout: the baseline's score is computed here with the coefficients that the row's gate left."""
    X = np.vstack([rows.X[:40], [[9.0, -9.0, 9.0, -9.0]]])
    initial, baseline = model.concepts(X), model.concepts(rows.X).mean(axis=0)
    largest = np.abs(model.raw(X)).max()
    found = attribute(model.readout, model.network, initial, as_rows(baseline, initial), DECODE, Accuracy(largest))
    known = split(model.readout, model.network, initial)
    at_baseline = split(without_gate(model.readout), model.network, baseline[None])
    gate = np.where(known.stopped_at < 0, 99, known.stopped_at)[:, None] > known.iteration
    start = (at_baseline.values * gate) @ known.coefficients @ DECODE + at_baseline.cases @ DECODE
    np.testing.assert_allclose(found.baseline, start, atol=1e-9 * largest)
    difference = (known.scores - known.base) @ DECODE - found.baseline
    tolerance = 1e-8 * max(largest, 1e-6 * np.abs(known.values[:, :, None] * known.coefficients).max())
    np.testing.assert_allclose(found.values.sum(axis=1), difference, rtol=0, atol=5 * tolerance)
    np.testing.assert_allclose(found.missing, difference - found.values.sum(axis=1), atol=tolerance)


def test_every_row_may_have_its_own_baseline(model, rows):  # noqa: F811
    initial, baselines = model.concepts(rows.X[:6]), model.concepts(rows.X[10:16])
    together = attribute(model.readout, model.network, initial, baselines, DECODE, Accuracy(1.0))
    for i in range(6):
        pair = slice(i, i + 1)
        alone = attribute(model.readout, model.network, initial[pair], baselines[pair], DECODE, Accuracy(1.0))
        np.testing.assert_allclose(together.values[i], alone.values[0], atol=1e-7)
        np.testing.assert_allclose(together.baseline[i], alone.baseline[0], atol=1e-7)


def test_rough_paths_take_more_nodes(rng):
    network = network_of(rng, size=3.0, activation="tanh")
    readout = IncrementReadout(np.zeros(3), rng.normal(size=(4, 3, 2)), np.zeros(2))
    initial, baseline = 2 * rng.random((20, 3)) - 1, np.zeros(3)
    score = readout.scores(network, initial) - readout.scores(network, baseline[None])
    found = attribute(readout, network, initial, as_rows(baseline, initial), np.eye(2), Accuracy(np.abs(score).max()))
    np.testing.assert_allclose(found.values.sum(axis=1), score, rtol=0, atol=1e-8 * np.abs(score).max())
    few = attribute(readout, network, initial, as_rows(baseline, initial), np.eye(2), Accuracy(np.inf))
    assert np.abs(few.missing).max() > 1e-6 * np.abs(score).max()


def test_a_linear_score_is_attributed_by_its_weights(rng):
    network, weights = network_of(rng), rng.normal(size=(1, 3, 2))
    initial, baseline = rng.random((5, 3)), rng.random(3)
    expected = (initial - baseline)[:, :, None] * weights[0]
    for readout in (StateReadout(weights, np.ones(2)), IncrementReadout(rng.random(3), weights, np.ones(2))):
        np.testing.assert_allclose(values_of(readout, network, initial, baseline), expected, atol=1e-14)


def test_concepts_that_play_the_same_part_get_the_same(rng):
    W, b, K = rng.normal(size=(3, 3)), rng.normal(size=3), rng.normal(size=(4, 3, 2))
    swap = [1, 0, 2]
    W, b, K = (W + W[np.ix_(swap, swap)]) / 2, (b + b[swap]) / 2, (K + K[:, swap]) / 2
    network = Network(W, b, 0.8, ACTIVATIONS["sigmoid"])
    initial = np.c_[rng.random((6, 1)).repeat(2, axis=1), rng.random(6)]
    baseline = np.array([0.3, 0.3, 0.8])
    found = values_of(IncrementReadout(baseline, K, np.zeros(2)), network, initial, baseline)
    np.testing.assert_allclose(found[:, 0], found[:, 1], rtol=1e-10)


def test_a_concept_that_nothing_reads_gets_nothing(rng):
    network, K = network_of(rng), rng.normal(size=(4, 3, 2))
    network.weights[1] = 0.0
    K[:, 1] = 0.0
    initial, baseline = rng.random((6, 3)), rng.random(3)
    assert not values_of(IncrementReadout(baseline, K, np.zeros(2)), network, initial, baseline)[:, 1].any()


def test_the_order_of_the_concepts_does_not_matter(rng):
    network, K, reference = network_of(rng), rng.normal(size=(4, 3, 2)), rng.random(3)
    initial, baseline, order = rng.random((6, 3)), rng.random(3), [2, 0, 1]
    other = Network(network.weights[np.ix_(order, order)], network.bias[order], 0.8, network.activation)
    found = values_of(IncrementReadout(reference, K, np.zeros(2)), network, initial, baseline)
    permuted = values_of(
        IncrementReadout(reference[order], K[:, order], np.zeros(2)), other, initial[:, order], baseline[order]
    )
    np.testing.assert_allclose(permuted, found[:, order], atol=1e-13)


def test_the_baseline_itself_owes_nothing_to_any_concept(model, rows):  # noqa: F811
    baseline = model.concepts(rows.X[:1])[0]
    found = attribute(model.readout, model.network, baseline[None], baseline[None], DECODE, Accuracy(1.0))
    assert not found.values.any()


def case_readout(rng, n_cases=30):
    metric = Metric(rng.random(3), rng.normal(size=(3, 3)))
    return CaseReadout(None, metric, metric(rng.random((n_cases, 3))), rng.normal(size=(n_cases, 2)))


def test_attribution_of_cases_equals_the_integral_of_differences(rng):
    readout, baseline, initial = case_readout(rng), rng.random(3), rng.random((4, 3))

    def score(points):
        distance = np.sqrt(((readout.metric(points)[:, None] - readout.cases) ** 2).sum(axis=2))
        return np.exp(-distance) @ readout.coefficients

    gradient, start = cases_gradient(readout, initial, as_rows(baseline, initial), np.eye(2))
    values = gradient * (initial - baseline)[:, :, None]
    np.testing.assert_allclose(values, integrated(score, initial, baseline), atol=1e-7)
    np.testing.assert_allclose(start[0], score(baseline[None])[0], atol=1e-12)
    np.testing.assert_allclose(values.sum(axis=1), score(initial) - start, atol=1e-12)


def test_a_row_that_is_a_case_ends_at_the_kink(rng):
    """The line ends in the case, where the gradient jumps; a second line passes through one on its way."""
    metric = Metric(np.zeros(2), np.eye(2))
    baseline = np.zeros(2)
    initial = np.array([[1.0, 2.0], [2.0, 4.0]])
    readout = CaseReadout(None, metric, initial[:1], np.ones((1, 1)))
    gradient, _ = cases_gradient(readout, initial, as_rows(baseline, initial), np.eye(1))
    values = (gradient * initial[:, :, None])[:, :, 0]
    # Along a line through the case the distance is |s − s₀| · length, and features share as they share its square.
    gained = np.exp(-np.array([0.0, np.sqrt(5)])) - np.exp(-np.sqrt(5))
    np.testing.assert_allclose(values, gained[:, None] * np.array([0.2, 0.8]), atol=1e-7)


def test_a_row_without_distance_from_the_baseline_gets_nothing_from_cases(rng):
    readout, baseline = case_readout(rng), rng.random(3)
    gradient, _ = cases_gradient(readout, baseline[None], baseline[None], np.eye(2))
    assert np.isfinite(gradient).all()
    assert not gradient.any()


def test_what_is_missing_is_shared_out_by_size(rng):
    values, missing = rng.normal(size=(5, 4, 2)), 1e-3 * rng.normal(size=(5, 2))
    values[0] = 0.0
    missing[4] = 2.0
    found = added_up(values, values.sum(axis=1) + missing, 1.0)
    np.testing.assert_array_equal(found[4], values[4])
    found, values, missing = found[:4], values[:4], missing[:4]
    np.testing.assert_allclose((found - values)[1:].sum(axis=1), missing[1:], atol=1e-15)
    share = (found - values)[1:] / np.abs(values[1:])
    np.testing.assert_allclose(share, np.broadcast_to(share[:, :1], share.shape), rtol=1e-9)
    assert not found[0].any()


def test_gated_rows_are_attributed_with_their_own_coefficients(rows):  # noqa: F811
    """A row alone and among rows with other gates gets the same."""
    fitted = fit_model(rows, Settings(**(DEFAULTS | {"scaling": "minmax"})))[0]
    X = np.vstack([rows.X[:5], [[9.0, -9.0, 9.0, -9.0]]])
    initial = fitted.concepts(X)
    assert len(np.unique(split(fitted.readout, fitted.network, initial).stopped_at)) > 1
    together = values_of(fitted.readout, fitted.network, initial, fitted.concepts(rows.X).mean(axis=0), DECODE)
    for i in range(len(X)):
        alone = values_of(
            fitted.readout, fitted.network, initial[i : i + 1], fitted.concepts(rows.X).mean(axis=0), DECODE
        )
        np.testing.assert_allclose(together[i], alone[0], atol=1e-7)
