"""``cogmap export``."""

from pathlib import Path
from typing import Any

import click

from .inputs import FILE, NEW_FILE, load_model
from .output import emit, json_option, say, show


@click.command()
@click.argument("model", type=FILE)
@click.argument("output", type=NEW_FILE)
@click.option("--contributions", is_flag=True, help="Also compute what each concept contributes to the scores.")
@json_option
def export(model: Path, output: Path, contributions: bool, as_json: bool) -> None:
    r"""Write MODEL as an ONNX file, which runs without Python.

    The file takes the raw table, one input of shape (rows, 1) for each column; their names, types and meanings are
    printed. A network that was saved without a table has one input X.

    \b
    Example:
      cogmap export people.cogmap people.onnx
    """
    from ..files.onnx import table_inputs

    classifier = load_model(model)
    classifier.to_onnx(output, contributions=contributions)
    if hasattr(classifier, "columns_"):
        inputs: Any = table_inputs(classifier.columns_)
        what = "columns of the table, each as one input,"
        width = max(len(i.name) for i in inputs)
        text = "\n".join(f"{i.name:<{width}}  {i.type:<6}  {i.meaning}" for i in inputs)
    else:
        inputs = [str(name) for name in getattr(classifier, "feature_names_in_", range(classifier.n_features_in_))]
        what, text = "features, all as one input X,", "\n".join(inputs)
    say(f"{output} takes {len(inputs)} {what} and gives labels and probabilities.")
    if as_json:
        emit({"onnx": str(output), "inputs": inputs, "classes": classifier.classes_})
    else:
        show(text)
