"""What the tests of the export share: rows, and an exported model or graph at work."""

from datetime import datetime, timedelta

import numpy as np
import onnxruntime
import pandas as pd
from onnx import TensorProto, helper
from sklearn.datasets import load_wine

from cogmap.files.onnx.graph import Graph, Tensor

BOUND = 1e-6
X, Y = load_wine(return_X_y=True)
TRAIN = np.arange(len(X)) % 2 == 0


def run(model, rows, outputs=None):
    """Return what an ONNX file or its content gives, by output, for rows or for inputs by name."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    outputs = outputs or [output.name for output in session.get_outputs()]
    return dict(zip(outputs, session.run(outputs, rows if isinstance(rows, dict) else {"X": rows}), strict=True))


def run_graph(build, rows):
    """Return the value of `build`, a function from the input to a tensor."""
    graph = Graph()
    graph.output(build(Tensor(graph, "X")), "result")
    ends = [helper.make_tensor_value_info(name, TensorProto.DOUBLE, None) for name in ("X", "result")]
    proto = helper.make_graph(graph.nodes, "graph", ends[:1], ends[1:], initializer=graph.constants)
    model = helper.make_model(proto, opset_imports=[helper.make_opsetid("", 13)], ir_version=7)
    return run(model.SerializeToString(), rows)["result"]


def inputs_of(path, frame):
    """Return what a file takes of a table, by name: text, "" where missing; numbers, and dates in seconds, or NaN."""
    session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    return {i.name: column_input(frame[i.name], i.type) for i in session.get_inputs()}


def column_input(values, kind):
    """Return a column as an input of an ONNX graph."""
    if kind == "tensor(string)":
        return np.array([["" if pd.isna(value) else str(value)] for value in values], dtype=object).reshape(-1, 1)
    numbers = [[np.nan if pd.isna(value) else _number(value)] for value in values]
    return np.array(numbers, dtype=np.float32 if kind == "tensor(float)" else np.float64).reshape(-1, 1)


def _number(value):
    return (value - datetime(1970, 1, 1)) / timedelta(seconds=1) if isinstance(value, datetime) else float(value)


def assert_same(clf, rows, found):
    """Compare with what the classifier itself says of the rows."""
    scores = clf._scores(rows)
    allowed = BOUND * np.abs(scores).max()
    np.testing.assert_allclose(found["scores"], scores, rtol=0, atol=allowed)
    second, first = np.sort(scores + clf.fitted_.decision.shift, axis=1)[:, -2:].T
    clear = first - second > allowed
    assert (found["label"] == clf.predict(rows))[clear].all()
    np.testing.assert_allclose(found["probabilities"], clf.predict_proba(rows), rtol=0, atol=allowed)
    if not clf.fitted_.decision.shift.any():
        assert (clf.classes_[found["probabilities"].argmax(axis=1)] == found["label"]).all()
