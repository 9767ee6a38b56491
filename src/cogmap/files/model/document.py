"""The document of a model file: format, library, training data and model, as JSON beside the arrays.

Easy to get wrong: a prediction also depends on `EPSILON`, where f⁻¹ clips the one-hot. A file names the value it was
made with, and is refused under another one.
"""

import re
from typing import Any

from ... import __version__
from ...core.network.activation import EPSILON
from ...errors import ModelFileError
from .estimators import Estimator
from .kinds import Arrays, Json, Scope, Sink
from .values import ESTIMATORS, Content

FORMAT = 2
"""Version of the format; a file of a later version is refused."""


def to_document(estimator: Any, data_sha256: str | None) -> tuple[Json, Sink]:
    """Return the document of a fitted estimator and its arrays; `data_sha256` is the digest of the file it learned."""
    arrays: Sink = {}
    return {
        "format": FORMAT,
        "library": f"cogmap {__version__}",
        "epsilon": EPSILON,
        "data_sha256": data_sha256,
        "model": Estimator(tuple(ESTIMATORS)).encode(estimator, "model", arrays),
    }, arrays


def from_document(document: Json, arrays: Arrays) -> Content:
    """Return the content of a document; every array must have its place in it."""
    scope = Scope("document", arrays)
    scope.need(isinstance(document, dict), "a JSON object")
    _check_format(document)
    document = scope.entries(document, {"format", "library", "epsilon", "data_sha256", "model"})
    library = document["library"]
    scope.at("library").need(
        isinstance(library, str) and library.isprintable() and len(library) <= 80, "a line of text"
    )
    digest = document["data_sha256"]
    sound = digest is None or (isinstance(digest, str) and re.fullmatch("[0-9a-f]{64}", digest) is not None)
    scope.at("data_sha256").need(sound, "null or 64 hexadecimal digits")
    if document["epsilon"] != EPSILON:
        raise ModelFileError(f"its epsilon is {document['epsilon']!r:.80}, and this version of cogmap has {EPSILON}.")
    content = Estimator(tuple(ESTIMATORS)).decode(document["model"], Scope("model", arrays))
    if arrays.described:
        raise ModelFileError(f"no field names its array {min(arrays.described)[:80]!r}.")
    return content


def _check_format(document: dict[str, Json]) -> None:
    version = document.get("format")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"its format is {version!r:.80}, which is none.")
    if version > FORMAT:
        raise ModelFileError(
            f"it has format {version} and was written by {document.get('library')!r:.80}, but cogmap "
            f"{__version__} reads formats up to {FORMAT}: install a newer version."
        )
