import contextlib
import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from itertools import islice
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.exceptions import NotFittedError

from cogmap import LTCNClassifier, LTCNClassifierCV
from cogmap.core.activation import ACTIVATIONS
from cogmap.core.cases import CaseReadout
from cogmap.core.increments import increments
from cogmap.core.readout import StateReadout
from cogmap.core.reasoning import Network
from cogmap.core.ridge import IncrementReadout
from cogmap.core.shrinkage import ShrunkReadout
from cogmap.onnx.graph import Graph, Tensor
from cogmap.onnx.model_file import label_values
from cogmap.onnx.scores import probabilities
from cogmap.onnx.states import increments as graph_increments
from cogmap.onnx.states import interpolated

BOUND = 1e-6
X, Y = load_wine(return_X_y=True)
TRAIN = np.arange(len(X)) % 2 == 0


def run(model, rows, outputs=None):
    """Return what an ONNX file or its content gives for rows, by output."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    outputs = outputs or [output.name for output in session.get_outputs()]
    return dict(zip(outputs, session.run(outputs, {"X": rows}), strict=True))


def run_graph(build, rows):
    """Return the value of `build`, a function from the input to a tensor."""
    graph = Graph()
    graph.output(build(Tensor(graph, "X")), "result")
    ends = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, None) for name in ("X", "result")]
    proto = helper.make_graph(graph.nodes, "graph", ends[:1], ends[1:], initializer=graph.constants)
    model = helper.make_model(proto, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    return run(model.SerializeToString(), rows)["result"]


def assert_same(clf, rows, found):
    """Compare with what the classifier itself says of the rows."""
    scores = clf._scores(rows)
    allowed = BOUND * np.abs(scores).max()
    np.testing.assert_allclose(found["scores"], scores, rtol=0, atol=allowed)
    second, first = np.sort(scores, axis=1)[:, -2:].T
    clear = first - second > allowed
    assert (found["label"] == clf.predict(rows))[clear].all()
    np.testing.assert_allclose(
        found["probabilities"], clf.predict_proba(rows), rtol=0, atol=clf._decision.sharpness * allowed
    )
    assert (clf.classes_[found["probabilities"].argmax(axis=1)] == found["label"]).all()


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
    assert isinstance(clf._members[0][0].readout, kind)
    beyond = X.mean(axis=0) + 3 * (X[:40] - X.mean(axis=0))
    rows = np.vstack([X, beyond])
    found = run(clf.to_onnx(tmp_path / "model.onnx", contributions=True), rows)
    assert_same(clf, rows, found)
    total = found["base"] + found["contributions"].sum(axis=(1, 2)) + found.get("cases", 0)
    terms = np.abs(found["contributions"]).sum(axis=(1, 2)).max() + np.abs(found["scores"]).max()
    np.testing.assert_allclose(total, found["scores"], rtol=0, atol=1e-12 * terms)


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


@pytest.fixture(scope="module")
def stack():
    """Return a stack of networks with and without terms, and cases, for text classes."""
    names = np.array(["barolo", "grignolino", "barbera d'été"])
    clf = LTCNClassifierCV(terms=(None, 3), max_iter=4).fit(X[TRAIN], names[Y[TRAIN]])
    readouts = {type(model.readout) for model, _ in clf._members}
    assert readouts == {ShrunkReadout, IncrementReadout, CaseReadout}
    assert len(clf._networks) > 1
    assert len(clf._members) > len(clf._networks)
    return clf


@pytest.fixture(scope="module")
def stack_file(stack, tmp_path_factory):
    return stack.to_onnx(tmp_path_factory.mktemp("stack") / "stack.onnx", contributions=True)


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


def terms_of(readout, network, initial):
    """Yield iteration, concept, values and coefficients of all that a readout reads of the states."""
    if isinstance(readout, CaseReadout):
        yield from terms_of(readout.trajectory, network, initial)
    elif isinstance(readout, IncrementReadout):
        found = islice(increments(network, initial, readout.reference), readout.n_iter + 1)
        for t, increment in enumerate(found):
            for concept in range(initial.shape[1]):
                yield t, concept, increment.linearised[:, concept], readout.coefficients[t, concept]
    else:
        Q = readout.innovations(network, initial)
        gated, k = Q * readout.factors(Q), 0
        for t, concepts in enumerate(readout.basis.columns):
            for concept in concepts:
                k += 1
                yield t, concept, gated[:, k], readout.coefficients[k]


def test_contributions_are_what_each_member_reads_of_each_concept(stack, stack_file):
    found = run(stack_file, X)
    expected, cases = np.zeros_like(found["contributions"]), np.zeros_like(found["cases"])
    networks = [model.network for model in stack._networks]
    starts = np.cumsum([0, *(len(network.bias) for network in networks)])
    for model, weight in stack._members:
        zero, one = model.scale
        decode = weight / (one - zero) * stack._decision.projection
        start, initial = starts[[network is model.network for network in networks].index(True)], model.concepts(X)
        for t, concept, values, coefficients in terms_of(model.readout, model.network, initial):
            expected[:, t, start + concept] += np.outer(values, coefficients @ decode)
        if isinstance(model.readout, CaseReadout):
            cases += model.readout.resemblance(initial) @ model.readout.coefficients @ decode
    allowed = BOUND * np.abs(found["scores"]).max()
    np.testing.assert_allclose(found["contributions"], expected, rtol=0, atol=allowed)
    np.testing.assert_allclose(found["cases"], cases, rtol=0, atol=allowed)
    total = found["base"] + found["cases"] + found["contributions"].sum(axis=(1, 2))
    np.testing.assert_allclose(total, found["scores"], rtol=0, atol=1e-12 * np.abs(expected).sum(axis=(1, 2)).max())


def test_contributions_of_states_are_states_times_outer_weights(tmp_path):
    clf = LTCNClassifier(alpha=0.0, max_iter=1, decision="argmax").fit(X, Y)
    found = run(clf.to_onnx(tmp_path / "model.onnx", contributions=True), X)
    expected = clf.trajectory(X)[..., None] * clf.outer_weights_
    np.testing.assert_allclose(found["contributions"], expected, rtol=1e-9, atol=1e-9 * np.abs(expected).max())
    assert "cases" not in found


def test_contributions_end_where_the_gate_stops_a_row(tmp_path):
    rows, classes = load_breast_cancer(return_X_y=True)
    clf = LTCNClassifier().fit(rows[::2], classes[::2])
    readout, model = clf._members[0][0].readout, clf._members[0][0]
    Q = readout.innovations(model.network, model.concepts(rows))
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
    model, weight = clf._members[0]
    Q = model.readout.innovations(model.network, model.concepts(X))
    leverage = np.sort(np.cumsum(Q**2, axis=1)[:, np.array(model.readout.basis.ends) - 1], axis=0)
    caps = (leverage[120] + leverage[121]) / 2
    assert (leverage[122] - leverage[120] < Q[0, 0] ** 2).any()
    clf._members = [(replace(model, readout=replace(model.readout, caps=caps)), weight)]
    assert_same(clf, X, run(clf.to_onnx(tmp_path / "model.onnx"), X))


@pytest.mark.parametrize("rule", ["quasi-nonlinear", "kosko", "kosko-memory"])
@pytest.mark.parametrize("activation", ["sigmoid", "tanh"])
def test_increments_have_full_relative_precision(rule, activation, rng):
    """Late increments are tiny; those of core are compared with 80-digit arithmetic in its own tests."""
    W = rng.normal(size=(5, 5)) / 4
    network = Network.from_rule(rule, W, rng.normal(size=5) / 4, 0.8, ACTIVATIONS[activation])
    initial, reference = rng.random((50, 5)), rng.random(5)
    for t in (1, 2, 12):
        expected = next(islice(increments(network, initial, reference), t, None)).linearised
        found = run_graph(lambda x, t=t: next(islice(graph_increments(network, x, reference), t, None)), initial)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-13 * np.abs(expected).max())


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


def test_probabilities_that_rounding_ties_favour_the_label():
    scores = np.array([[0.0, 1e-20, 0.0], [3.0, 3.0, 1.0], [1.0, 2.0, 40.0]])
    found = run_graph(lambda s: probabilities(s, 1.0, s.apply("ArgMax", axis=1, keepdims=1)), scores)
    assert found.argmax(axis=1).tolist() == [1, 0, 2]
    expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
    np.testing.assert_allclose(found, expected, rtol=1e-15)


def test_float32_rows_cost_their_rounding_only(stack, tmp_path):
    rows = X.astype(np.float32)
    path = stack.to_onnx(tmp_path / "model.onnx", dtype="float32")
    found = run(path, rows)
    assert_same(stack, rows.astype(np.float64), found)
    assert found["scores"].dtype == np.float64


@pytest.mark.parametrize(
    ("classes", "dtype"),
    [
        (np.array(["a", "ß", "東京"]), object),
        (np.array(["a", "b", "c"], dtype=object), object),
        (np.array([-3, 7, 2**40]), np.int64),
        (np.array([5, 6, 7], dtype=np.uint8), np.int64),
        (np.array([1.0, 2.0, 5.0]), np.float64),
        (np.array([False, True, True]), np.bool_),
    ],
)
def test_labels_are_those_of_predict(classes, dtype, tmp_path):
    clf = LTCNClassifier(max_iter=2).fit(X, classes[Y])
    found = run(clf.to_onnx(tmp_path / "model.onnx"), X, ["label"])["label"]
    assert found.dtype == dtype
    assert found.tolist() == clf.predict(X).tolist()


@pytest.mark.parametrize("classes", [np.array([b"a", b"b"]), np.array([1, 2**63], dtype=np.uint64)])
def test_labels_that_onnx_has_not_are_refused(classes):
    with pytest.raises(ValueError, match="cannot be labels of an ONNX model"):
        label_values(classes)


def test_interpolation_is_numpy_s_to_the_last_bit(rng):
    columns, heights = [np.array([0.0, 5e-324])], [np.array([0.0, 1.0])]
    for n_knots in (2, 3, 7, 64, 65, 1999):
        values = np.sort(rng.normal(size=n_knots))
        values[1 : n_knots // 3] = values[1]
        columns.append(values)
        heights.append(np.sort(rng.random(n_knots)))
    at_knots = np.array([rng.choice(values, 500) for values in columns]).T
    rows = np.vstack([at_knots, np.nextafter(at_knots, 9), np.nextafter(at_knots, -9), rng.normal(size=(2000, 7)) * 2])
    found = run_graph(lambda x: interpolated(x, columns, heights), rows)
    expected = [np.interp(x, v, h) for x, v, h in zip(rows.T, columns, heights, strict=True)]
    np.testing.assert_array_equal(found, np.transpose(expected))


@pytest.mark.parametrize("model", [LTCNClassifier(), LTCNClassifierCV()])
def test_no_varying_feature(model, tmp_path):
    rows, classes = np.ones((30, 2)), np.array(["a"] * 20 + ["b"] * 10)
    path = model.fit(rows, classes).to_onnx(tmp_path / "model.onnx", contributions=True)
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


@pytest.fixture(scope="module")
def proto(stack_file):
    return onnx.load(stack_file)


def test_only_plain_operators_in_double_precision(proto):
    assert [imported.domain for imported in proto.opset_import] == [""]
    assert {node.domain for node in proto.graph.node} == {""}
    inferred = onnx.shape_inference.infer_shapes(proto, strict_mode=True, data_prop=True)
    types = {value.type.tensor_type.elem_type for value in [*inferred.graph.value_info, *inferred.graph.output]}
    assert types <= {TensorProto.DOUBLE, TensorProto.INT64, TensorProto.BOOL, TensorProto.STRING}
    assert not [a for node in proto.graph.node for a in node.attribute if a.type == onnx.AttributeProto.FLOAT]


def test_no_number_multiplies_next_to_a_matrix_product(proto):
    """Fused by onnxruntime, the number would be in single precision."""
    numbers = {c.name for c in proto.graph.initializer if numpy_helper.to_array(c).size == 1}
    products = [node for node in proto.graph.node if node.op_type == "MatMul"]
    inputs, outputs = {name for node in products for name in node.input}, {node.output[0] for node in products}
    scalings = [node for node in proto.graph.node if node.op_type in ("Mul", "Div") and numbers & set(node.input)]
    assert scalings
    assert not [node.name for node in scalings if node.output[0] in inputs or outputs & set(node.input)]


def test_nothing_is_computed_or_stored_twice(proto):
    nodes = [(n.op_type, *n.input, *(a.SerializeToString() for a in n.attribute)) for n in proto.graph.node]
    assert len(nodes) == len(set(nodes))
    arrays = [numpy_helper.to_array(c) for c in proto.graph.initializer]
    assert len(arrays) == len({(a.dtype.str, a.shape, str(a.tolist())) for a in arrays})


def test_the_file_says_what_it_is(stack, proto):
    assert proto.producer_name == "cogmap"
    assert "LTCNClassifierCV" in proto.doc_string
    properties = {item.key: json.loads(item.value) for item in proto.metadata_props}
    assert properties["classes"] == stack.classes_.tolist()
    assert properties["concept_names"] == stack.concept_names_.tolist()
    assert properties["feature_names"] == [f"x{i}" for i in range(13)]
    assert all(value.doc_string for value in [*proto.graph.input, *proto.graph.output])
    shape = [d.dim_param or d.dim_value for d in proto.graph.input[0].type.tensor_type.shape.dim]
    assert shape == ["rows", 13]


def test_names_of_features_are_kept(tmp_path):
    table = load_wine(as_frame=True)
    clf = LTCNClassifier(max_iter=1).fit(table.data, table.target)
    properties = {item.key: item.value for item in onnx.load(clf.to_onnx(tmp_path / "model.onnx")).metadata_props}
    assert json.loads(properties["feature_names"]) == table.feature_names


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    clf = LTCNClassifier(max_iter=1).fit(X, Y)
    path = tmp_path / "model.onnx"
    path.write_bytes(b"old")

    def full(self, target):
        raise OSError("no space left on device")

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(OSError, match="no space left"):
        clf.to_onnx(path)
    assert path.read_bytes() == b"old"
    assert [file.name for file in tmp_path.iterdir()] == ["model.onnx"]


def test_the_path_is_returned_and_an_old_file_replaced(tmp_path):
    clf = LTCNClassifier(max_iter=1).fit(X, Y)
    path = tmp_path / "model.onnx"
    path.write_bytes(b"old")
    assert clf.to_onnx(str(path)) == path
    assert run(path, X)["label"].tolist() == clf.predict(X).tolist()


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"opset": 12}, r"opset=12 is not supported: use a whole number from 13 to \d+"),
        ({"opset": 1000}, "opset=1000 is not supported"),
        ({"opset": "17"}, "opset='17' is not supported"),
        ({"dtype": "float16"}, "dtype='float16' is unknown: use one of 'float32', 'float64'"),
    ],
)
def test_unsupported_choices_are_refused(parameters, message, tmp_path):
    clf = LTCNClassifier(max_iter=1).fit(X, Y)
    with pytest.raises(ValueError, match=message):
        clf.to_onnx(tmp_path / "model.onnx", **parameters)
    assert not list(tmp_path.iterdir())


def test_a_missing_folder_is_named(tmp_path):
    clf = LTCNClassifier(max_iter=1).fit(X, Y)
    with pytest.raises(FileNotFoundError, match="nowhere' does not exist: create it first"):
        clf.to_onnx(tmp_path / "nowhere" / "model.onnx")


def test_an_unfitted_classifier_is_refused(tmp_path):
    with pytest.raises(NotFittedError):
        LTCNClassifier().to_onnx(tmp_path / "model.onnx")


def test_a_missing_library_is_named():
    code = "import sys; sys.modules['onnx'] = None; import cogmap.onnx"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stderr.strip().endswith('pip install "cogmap[onnx]".')


GUIDE = Path(__file__).parents[1] / "docs" / "onnx.md"


@pytest.mark.skipif(not GUIDE.exists(), reason="the guide is in the source tree only")
def test_the_guide_prints_what_it_shows(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"```python\n(.*?)```\n\n```text\n(.*?)```", GUIDE.read_text(), re.DOTALL)
    assert blocks
    known = {}
    for code, shown in blocks:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(code, known)
        assert printed.getvalue() == shown
