import json
from dataclasses import replace
from itertools import islice

import numpy as np
import onnx
import pytest
from sklearn.datasets import load_breast_cancer

from cogmap import LTCNClassifier
from cogmap.core.readout.ridge import IncrementReadout
from cogmap.core.resemblance.cases import CaseReadout
from cogmap.core.resemblance.regions import RegionReadout, Remembering
from cogmap.core.sums.space import NUMPY
from cogmap.core.trajectory.increments import Course, lockstep
from cogmap.files.onnx.scores import probabilities
from tests.files.onnx.running import BOUND, X, Y, assert_same, run, run_graph


def increments(readout, network, initial):
    """Return A⁰, E¹, … as far as a readout reads them."""
    walk = islice(lockstep(Course(NUMPY, network, readout.reference), initial), readout.n_iter + 1)
    return [E.copy() for E, _ in walk]


def innovations(readout, network, initial):
    basis = readout.basis
    chosen = zip(increments(readout, network, initial), basis.columns, basis.scales, strict=True)
    F = [E[:, columns] * scale for E, columns, scale in chosen]
    return np.hstack([np.ones((len(initial), 1)), *F]) @ basis.map @ basis.whiten


def terms_of(readout, network, initial):
    """Yield iteration, concept, values and coefficients of all that a readout reads of the states."""
    if isinstance(readout, CaseReadout):
        yield from terms_of(readout.trajectory, network, initial)
        return
    if isinstance(readout, RegionReadout):
        return
    if isinstance(readout, IncrementReadout):
        for t, E in enumerate(increments(readout, network, initial)):
            for concept in range(initial.shape[1]):
                yield t, concept, E[:, concept], readout.coefficients[t, concept]
        return
    basis, k, Q = readout.basis, 1, innovations(readout, network, initial)
    reasons = np.ones(len(Q), dtype=bool)
    for t, (concepts, end) in enumerate(zip(basis.columns, basis.ends, strict=True)):
        reasons = reasons & ((Q[:, :end] ** 2).sum(axis=1) <= readout.caps[t])
        for concept in concepts:
            yield t, concept, Q[:, k] * reasons * readout.shrink[t], readout.coefficients[k]
            k += 1


def test_contributions_are_what_each_member_reads_of_each_concept(stack, stack_file):
    found = run(stack_file, X)
    expected, cases = np.zeros_like(found["contributions"]), np.zeros_like(found["cases"])
    networks = [model.network for model in stack.fitted_.networks]
    starts = np.cumsum([0, *(len(network.bias) for network in networks)])
    for model, weight in stack.fitted_.members:
        zero, one = model.scale
        decode = weight / (one - zero) * stack.fitted_.decision.projection
        start, initial = starts[[network is model.network for network in networks].index(True)], model.concepts(X)
        for t, concept, values, coefficients in terms_of(model.readout, model.network, initial):
            expected[:, t, start + concept] += np.outer(values, coefficients @ decode)
        if isinstance(model.readout, Remembering):
            cases += model.readout.resemblance(NUMPY, initial) @ model.readout.coefficients @ decode
    allowed = BOUND * np.abs(found["scores"]).max()
    np.testing.assert_allclose(found["contributions"], expected, rtol=0, atol=allowed)
    np.testing.assert_allclose(found["cases"], cases, rtol=0, atol=allowed)
    total = found["base"] + found["cases"] + found["contributions"].sum(axis=(1, 2))
    np.testing.assert_allclose(total, found["scores"], rtol=0, atol=1e-12 * np.abs(expected).sum(axis=(1, 2)).max())


def test_contributions_of_states_are_states_times_outer_weights(tmp_path):
    clf = LTCNClassifier(alpha=0.0, max_iter=1, decision="argmax").fit(X, Y)
    found = run(clf.to_onnx(tmp_path / "model.onnx", contributions=True), X)
    zero, one = clf.fitted_.networks[0].scale
    expected = clf.trajectory(X)[..., None] * clf.outer_weights_ * clf.fitted_.decision.projection[0, 0] / (one - zero)
    np.testing.assert_allclose(found["contributions"], expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert "cases" not in found


def test_contributions_end_where_the_gate_stops_a_row(tmp_path):
    rows, classes = load_breast_cancer(return_X_y=True)
    clf = LTCNClassifier().fit(rows[::2], classes[::2])
    readout, model = clf.fitted_.members[0][0].readout, clf.fitted_.members[0][0]
    Q = innovations(readout, model.network, model.concepts(rows))
    leverage = np.cumsum(Q**2, axis=1)[:, np.array(readout.basis.ends) - 1]
    stopped = np.logical_or.accumulate(leverage > readout.caps, axis=1)
    assert stopped.any()
    assert not stopped.all()
    found = run(clf.to_onnx(tmp_path / "model.onnx", contributions=True), rows)
    assert not found["contributions"][stopped].any()
    assert found["contributions"][~stopped].any(axis=(1, 2)).all()


def test_the_gate_counts_the_constant_too(tmp_path):
    """Put the caps between the leverages of rows that are closer together than the constant's leverage is large."""
    clf = LTCNClassifier().fit(X, Y)
    model, weight = clf.fitted_.members[0]
    Q = innovations(model.readout, model.network, model.concepts(X))
    leverage = np.sort(np.cumsum(Q**2, axis=1)[:, np.array(model.readout.basis.ends) - 1], axis=0)
    caps = (leverage[120] + leverage[121]) / 2
    assert (leverage[122] - leverage[120] < Q[0, 0] ** 2).any()
    member = replace(model, readout=replace(model.readout, caps=caps)), weight
    clf.fitted_ = replace(clf.fitted_, members=(member,))
    assert_same(clf, X, run(clf.to_onnx(tmp_path / "model.onnx"), X))


def test_probabilities_that_rounding_ties_favour_the_label():
    scores = np.array([[0.0, 1e-20, 0.0], [3.0, 3.0, 1.0], [1.0, 2.0, 40.0]])
    found = run_graph(lambda s: probabilities(s, s.apply("ArgMax", axis=1, keepdims=1)), scores)
    assert found.argmax(axis=1).tolist() == [1, 0, 2]
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


@pytest.mark.parametrize("metric", ["kappa", "balanced_accuracy"])
def test_a_metric_moves_the_label_and_not_the_probabilities(metric, paper_data, tmp_path):
    rows, classes = paper_data("vehicle3")
    clf = LTCNClassifier(decision_metric=metric, max_iter=2).fit(rows[::2], classes[::2])
    path = clf.to_onnx(tmp_path / "model.onnx")
    found = run(path, rows)
    assert_same(clf, rows, found)
    calibrated = LTCNClassifier(max_iter=2).fit(rows[::2], classes[::2]).predict_proba(rows)
    np.testing.assert_allclose(found["probabilities"], calibrated, rtol=0, atol=BOUND)
    assert (found["label"] != clf.classes_[found["probabilities"].argmax(axis=1)]).any()
    (shift,) = (json.loads(item.value) for item in onnx.load(path).metadata_props if item.key == "shift")
    moved = np.log(found["probabilities"]) + shift
    np.testing.assert_array_equal(clf.classes_[moved.argmax(axis=1)], found["label"])
