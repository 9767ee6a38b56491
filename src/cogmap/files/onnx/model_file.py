"""One ONNX file of a fitted classifier: its graph, its labels, and metadata that say what goes in and out.

Easy to get wrong: a file with the right name and half its bytes is worse than none. It is written under another name in
the same folder and then moved.
"""

import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from onnx import ModelProto, TensorProto, ValueInfoProto, checker, defs, helper

from ... import __version__
from ...core.fit.fitted import Fitted
from ...tables.columns import Column
from ...writing import whole
from .graph import Graph, Tensor, check_text, total
from .scores import Split, probabilities
from .table import Input, encoded, table_inputs

OLDEST_OPSET = 13
"""The first operator set in which every operator has the form in which it is used here."""

TEXT_OPSET = 2
"""The version of the domain ai.onnx.ml that is imported where a column is text."""

INPUT_TYPES = {"double": TensorProto.DOUBLE, "float": TensorProto.FLOAT, "string": TensorProto.STRING}

OUTPUTS = {
    "label": "The predicted class: the one whose score, and the shift in the metadata, is largest.",
    "scores": "The score of each class in log-odds; decision_function for two classes is the second less the first.",
    "probabilities": "The probability of each class: the softmax of the scores.",
    "contributions": "What each iteration of each concept adds to the score of each class.",
    "base": "What every row's score has beside its contributions.",
    "cases": "What resemblance to remembered training rows adds to the score of each class.",
}


def export(
    fitted: Fitted,
    path: str | os.PathLike[str],
    *,
    kind: str,
    opset: int,
    contributions: bool,
    dtype: str,
    columns: Sequence[Column] = (),
) -> Path:
    """Write a fitted classifier as an ONNX file and return its path; see `NetworkClassifier.to_onnx`.

    `kind` is the name of its class. With the columns of a table that its features encode, the graph takes these instead
    of the features; see `TabularClassifier.to_onnx`.
    """
    newest = defs.onnx_opset_version()
    if opset not in range(OLDEST_OPSET, newest + 1):
        raise ValueError(f"opset={opset!r} is not supported: use a whole number from {OLDEST_OPSET} to {newest}.")
    if dtype not in ("float32", "float64"):
        raise ValueError(f"dtype={dtype!r} is unknown: use one of 'float32', 'float64'.")
    inputs = table_inputs(columns, dtype) if columns else [_features(fitted, dtype)]
    graph = Graph(taken.name for taken in inputs)
    rows = encoded(graph, columns) if columns else Tensor(graph, "X")
    outputs = _outputs(fitted, rows if columns or dtype == "float64" else rows.as_float64(), contributions)
    described = [_output(fitted, name, graph.output(tensor, name)) for name, tensor in outputs.items()]
    model = _model(fitted, kind, graph, inputs, described, int(opset))
    checker.check_model(model, full_check=True)
    return _written(model.SerializeToString(), Path(path))


def label_values(classes: NDArray[Any]) -> NDArray[Any]:
    """Return the classes as an array of one type that ONNX has."""
    kinds = {np.asarray(value).dtype.kind for value in classes.tolist()}
    if kinds == {"U"}:
        check_text(classes.tolist(), "The classes")
        return np.array(classes.tolist(), dtype=object)
    if len(kinds) == 1 and kinds <= set("bif"):
        return np.array(classes.tolist())
    raise ValueError(
        f"The classes {classes.tolist()!r} cannot be labels of an ONNX model: they must be all text, all whole numbers "
        "of 64 bits, all floating point numbers, or true and false."
    )


def _outputs(fitted: Fitted, rows: Tensor, contributions: bool) -> dict[str, Tensor]:
    split = Split(fitted, rows)
    scores = split.scores()
    largest = scores.apply("ArgMax", axis=1, keepdims=1)
    shift = fitted.decision.shift
    chosen = (scores + shift).apply("ArgMax", axis=1, keepdims=1) if shift.any() else largest
    labels = rows.graph.constant(label_values(fitted.classes))
    outputs = {
        "label": labels.apply("Gather", chosen.apply("Squeeze", np.array([1]))),
        "scores": scores,
        "probabilities": probabilities(scores, largest),
    }
    if contributions:
        outputs |= {"contributions": split.contributions(), "base": rows.repeated(split.base)}
        outputs |= {"cases": total(split.cases)} if split.cases else {}
    return outputs


def _model(
    fitted: Fitted, kind: str, graph: Graph, inputs: list[Input], outputs: list[ValueInfoProto], opset: int
) -> ModelProto:
    taken = [_described(i.name, INPUT_TYPES[i.type], (i.width,), i.meaning) for i in inputs]
    versions = {"": opset} | {node.domain: TEXT_OPSET for node in graph.nodes if node.domain}
    imports = [helper.make_opsetid(domain, version) for domain, version in versions.items()]
    model = helper.make_model(
        helper.make_graph(graph.nodes, "cogmap", taken, outputs, initializer=graph.constants),
        opset_imports=imports,
        ir_version=helper.find_min_ir_version_for(imports),
        producer_name="cogmap",
        producer_version=__version__,
        doc_string=f"{kind}: Long-Term Cognitive Network with {len(fitted.concept_names)} "
        f"concepts, read over {fitted.n_iter} iterations.",
    )
    helper.set_model_props(model, _metadata(fitted, inputs))
    return model


def _features(fitted: Fitted, dtype: str) -> Input:
    """Return the one input of a network without a table."""
    check_text(fitted.feature_names, "The features")
    type_ = "float" if dtype == "float32" else "double"
    return Input("X", type_, fitted.n_features, None, "Rows, columns in the features' order.")


def _output(fitted: Fitted, kind: str, name: str) -> ValueInfoProto:
    types = {"label": helper.np_dtype_to_tensor_dtype(label_values(fitted.classes).dtype)}
    shapes = {"label": (), "contributions": fitted.outer_weights.shape}
    shape = shapes.get(kind, (len(fitted.classes),))
    return _described(name, types.get(kind, TensorProto.DOUBLE), shape, OUTPUTS[kind])


def _described(name: str, kind: int, shape: tuple[int, ...], text: str) -> ValueInfoProto:
    """Return a value of so many rows, each of this shape."""
    return helper.make_tensor_value_info(name, kind, ["rows", *shape], doc_string=text)


def _metadata(fitted: Fitted, inputs: list[Input]) -> dict[str, str]:
    """Return names for what the tensors number, and what the inputs hold, as JSON."""
    named = {
        "feature_names": fitted.feature_names,
        "concept_names": fitted.concept_names.tolist(),
        "classes": fitted.classes.tolist(),
        "shift": fitted.decision.shift.tolist(),
        "inputs": [asdict(taken) for taken in inputs],
    }
    return {key: json.dumps(value, ensure_ascii=False) for key, value in named.items()}


def _written(content: bytes, path: Path) -> Path:
    if not path.parent.is_dir():
        raise FileNotFoundError(f"The folder {str(path.parent)!r} does not exist: create it first.")
    with whole(path) as unfinished:
        unfinished.write_bytes(content)
    return path
