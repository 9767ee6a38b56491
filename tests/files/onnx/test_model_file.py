import contextlib
import io
import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper
from sklearn.datasets import load_wine
from sklearn.exceptions import NotFittedError

from cogmap import LTCNClassifier
from cogmap.files.onnx.model_file import label_values
from tests.files.onnx.running import X, Y, run


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


def test_text_that_onnx_has_not_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"The classes cannot be part of an ONNX file: '\\ud800' is not valid Unicode"):
        LTCNClassifier(max_iter=1).fit(X, np.array(["a", "\ud800", "c"])[Y]).to_onnx(tmp_path / "model.onnx")
    clf = LTCNClassifier(max_iter=1).fit(X, Y)
    clf.fitted_ = replace(clf.fitted_, feature_names=("\ud800",) * 13)
    with pytest.raises(ValueError, match="The features cannot be part"):
        clf.to_onnx(tmp_path / "model.onnx")


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
    code = "import sys; sys.modules['onnx'] = None; import cogmap.files.onnx"
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert result.stderr.strip().endswith('pip install "cogmap[onnx]".')


GUIDE = Path(__file__).parents[3] / "docs" / "onnx.md"


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
