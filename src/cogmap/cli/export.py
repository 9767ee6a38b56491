"""``cogmap export``."""

from pathlib import Path

import click

from .inputs import FILE, NEW_FILE, load_model
from .output import emit, json_option, say


@click.command()
@click.argument("model", type=FILE)
@click.argument("output", type=NEW_FILE)
@click.option("--contributions", is_flag=True, help="Also compute what each concept contributes to the scores.")
@json_option
def export(model: Path, output: Path, contributions: bool, as_json: bool) -> None:
    r"""Write MODEL as an ONNX file, which runs without Python.

    \b
    Example:
      cogmap export people.cogmap people.onnx
    """
    classifier = load_model(model)
    classifier.to_onnx(output, contributions=contributions)
    network = getattr(classifier, "classifier_", classifier)
    names = [str(name) for name in getattr(network, "feature_names_in_", range(network.n_features_in_))]
    say(f"{output} takes {len(names)} encoded columns and gives labels and probabilities.")
    if as_json:
        emit({"onnx": str(output), "inputs": names, "classes": classifier.classes_})
    else:
        click.echo("\n".join(names))
