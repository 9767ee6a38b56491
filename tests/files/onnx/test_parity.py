import numpy as np
import pytest

from cogmap import LTCNClassifier, LTCNClassifierCV
from cogmap.core.curves.pairs import PairReadout
from cogmap.core.readout.ridge import IncrementReadout
from cogmap.core.readout.shrunken import ShrunkReadout
from cogmap.core.readout.states import StateReadout
from cogmap.core.resemblance.cases import CaseReadout
from cogmap.errors import NoInformationWarning
from tests import own_metrics
from tests.files.onnx.running import BOUND, TRAIN, X, Y, assert_same, run

CONFIGURATIONS = [
    (ShrunkReadout, {}),
    (ShrunkReadout, {"activation": "tanh", "scaling": "minmax"}),
    (ShrunkReadout, {"rule": "kosko", "scaling": "quantile"}),
    (ShrunkReadout, {"rule": "kosko-memory", "activation": "tanh"}),
    (ShrunkReadout, {"inner": "regression", "phi": 1.0, "activation": "tanh"}),
    (ShrunkReadout, {"phi": 0.0}),
    (ShrunkReadout, {"max_iter": 0}),
    (IncrementReadout, {"alpha": 1.0}),
    (IncrementReadout, {"alpha": 1e-3, "rule": "kosko-memory"}),
    (IncrementReadout, {"alpha": 0.1, "activation": "tanh", "terms": 5}),
    (IncrementReadout, {"terms": 3, "decision": "argmax"}),
    (StateReadout, {"alpha": 0.0, "max_iter": 2}),
    (StateReadout, {"alpha": 0.0, "max_iter": 1, "activation": "tanh", "rule": "kosko"}),
    (StateReadout, {"readout": "final", "max_iter": 3}),
    (CaseReadout, {"cases": True}),
    (CaseReadout, {"cases": True, "terms": 3, "activation": "tanh"}),
]


@pytest.mark.parametrize(("kind", "parameters"), CONFIGURATIONS)
def test_every_kind_of_network_scores_as_in_python(kind, parameters, tmp_path):
    clf = LTCNClassifier(**parameters).fit(X[TRAIN], Y[TRAIN])
    assert isinstance(clf.fitted_.members[0][0].readout, kind)
    beyond = X.mean(axis=0) + 3 * (X[:40] - X.mean(axis=0))
    rows = np.vstack([X, beyond])
    found = run(clf.to_onnx(tmp_path / "model.onnx", contributions=True), rows)
    assert_same(clf, rows, found)
    total = found["base"] + found["contributions"].sum(axis=(1, 2)) + found.get("cases", 0)
    terms = np.abs(found["contributions"]).sum(axis=(1, 2)).max() + np.abs(found["scores"]).max()
    np.testing.assert_allclose(total, found["scores"], rtol=0, atol=1e-12 * terms)


@pytest.mark.parametrize("scaling", ["halfway", "minmax"])
def test_curves_and_surfaces_score_as_in_python(scaling, tmp_path, monkeypatch):
    monkeypatch.setattr("cogmap.estimators.tuned.stack_weights", lambda members: np.eye(len(members))[-1])
    rows = np.random.default_rng(0).uniform(-1, 1, size=(400, 4))
    clf = LTCNClassifierCV(cases=False, scaling=scaling, activation="tanh").fit(rows, rows[:, 1] * rows[:, 2] > 0)
    assert any(isinstance(model.readout, PairReadout) and len(model.readout.pairs) for model, _ in clf.fitted_.members)
    found = run(clf.to_onnx(tmp_path / "model.onnx", contributions=True), 1.2 * rows)
    assert_same(clf, 1.2 * rows, found)
    total = found["base"] + found["contributions"].sum(axis=(1, 2))
    np.testing.assert_allclose(total, found["scores"], rtol=0, atol=1e-11 * np.abs(found["contributions"]).max())
    explanation = clf.explain(1.2 * rows)
    margin = found["contributions"][..., 1] - found["contributions"][..., 0]
    np.testing.assert_allclose(margin, explanation.contributions(True), atol=1e-9 * np.abs(margin).max())


@pytest.mark.parametrize("heard", ["straight", "squared"])
def test_metrics_of_regions_score_as_in_python(heard, tmp_path):
    clf, rows, _ = own_metrics.fitted_stack(heard)
    assert_same(clf, rows, run(clf.to_onnx(tmp_path / "model.onnx"), rows))


def test_data_in_range_needs_no_scaling(tmp_path):
    rows = np.tanh((X - X.mean(axis=0)) / X.std(axis=0))
    clf = LTCNClassifier(scaling=None, activation="tanh", terms=3).fit(rows, Y)
    assert_same(clf, rows, run(clf.to_onnx(tmp_path / "model.onnx"), rows))


@pytest.fixture(scope="module")
def ill_conditioned():
    """Return a classifier that magnifies rounding, and rows: two features and a wavy border need late iterations."""
    rows = np.random.default_rng(0).uniform(-2, 2, (900, 2))
    clf = LTCNClassifier().fit(rows, (np.sin(3 * rows[:, 0]) > rows[:, 1]).astype(int))
    assert clf.condition_ > 1e8
    return clf, np.random.default_rng(1).uniform(-2.2, 2.2, (3000, 2))


@pytest.mark.parametrize("opset", [13, 16, 21])
def test_rounding_is_not_magnified_beyond_the_promise(opset, ill_conditioned, tmp_path):
    clf, rows = ill_conditioned
    assert_same(clf, rows, run(clf.to_onnx(tmp_path / "model.onnx", opset=opset), rows))


@pytest.mark.parametrize("name", ["banana", "vehicle3"])
def test_the_paper_s_data(name, paper_data, tmp_path):
    rows, classes = paper_data(name)
    clf = LTCNClassifier().fit(rows[::2], classes[::2])
    assert_same(clf, rows, run(clf.to_onnx(tmp_path / "model.onnx"), rows))


@pytest.mark.parametrize("n_rows", [0, 1, 2, 191, 193, 700])
def test_any_batch_size(n_rows, stack, stack_file):
    rows = np.tile(X, (4, 1))[:n_rows]
    found = run(stack_file, rows)
    shape = (n_rows, stack.n_iter_ + 1, len(stack.concept_names_), 3)
    assert found["contributions"].shape == shape
    assert found["label"].shape == (n_rows,)
    assert found["base"].shape == found["cases"].shape == found["probabilities"].shape == (n_rows, 3)
    if n_rows:
        assert_same(stack, rows, found)


@pytest.mark.parametrize("cases", [False, True])
def test_rows_at_the_border_of_two_classes(cases, tmp_path):
    """Bisect between rows of different classes down to the last digit: scores tie there, and must still agree."""
    clf = LTCNClassifier(cases=cases).fit(X, Y)
    low, high = X[Y == 0][:30], X[Y == 1][:30]
    first = clf.predict(low)
    for _ in range(60):
        middle = (low + high) / 2
        same = (clf.predict(middle) == first)[:, None]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    rows = np.vstack([low, high])
    scores = clf._scores(rows)
    gap = np.diff(np.sort(scores, axis=1)[:, -2:], axis=1)[:, 0]
    assert (gap < BOUND * np.abs(scores).max()).mean() > 0.5
    assert_same(clf, rows, run(clf.to_onnx(tmp_path / "model.onnx"), rows))


def test_float32_rows_cost_their_rounding_only(stack, tmp_path):
    rows = X.astype(np.float32)
    path = stack.to_onnx(tmp_path / "model.onnx", dtype="float32")
    found = run(path, rows)
    assert_same(stack, rows.astype(np.float64), found)
    assert found["scores"].dtype == np.float64


@pytest.mark.filterwarnings("ignore::cogmap.NoInformationWarning")
@pytest.mark.parametrize("model", [LTCNClassifier(), LTCNClassifierCV()])
def test_no_varying_feature(model, tmp_path):
    rows, classes = np.ones((30, 2)), np.array(["a"] * 20 + ["b"] * 10)
    with pytest.warns(NoInformationWarning):
        model.fit(rows, classes)
    path = model.to_onnx(tmp_path / "model.onnx", contributions=True)
    found = run(path, rows)
    assert_same(model, rows, found)
    assert found["contributions"].shape == (30, 1, 0, 2)
    assert run(path, rows[:0])["scores"].shape == (0, 2)


def test_constant_features_are_not_read(tmp_path):
    rows = np.insert(X[:, :5], [0, 2, 5], 1.0, axis=1)
    clf = LTCNClassifier().fit(rows, Y)
    path = clf.to_onnx(tmp_path / "model.onnx")
    found = run(path, rows)
    assert_same(clf, rows, found)
    rows[:, [0, 3, 7]] = np.nan
    np.testing.assert_array_equal(run(path, rows)["scores"], found["scores"])


def test_missing_values_show_in_the_scores_and_infinite_ones_are_clipped(tmp_path):
    clf = LTCNClassifier().fit(X, Y)
    rows = X[:4].copy()
    rows[0, 3], rows[1, 2], rows[2, 2] = np.nan, np.inf, -np.inf
    found = run(clf.to_onnx(tmp_path / "model.onnx"), rows)
    assert np.isnan(found["scores"]).any(axis=1).tolist() == [True, False, False, False]
    rows[1, 2], rows[2, 2] = X[:, 2].max(), X[:, 2].min()
    np.testing.assert_allclose(found["scores"][1:], clf._scores(rows[1:]), rtol=1e-9)
