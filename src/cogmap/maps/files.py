"""Files of maps: lists of edges and matrices as CSV, GraphML, JSON. What a file is shows in how it begins."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Literal, get_args

from ..tables.contents import content_of
from ..writing import whole
from .cognitive_map import CognitiveMap
from .graphml import from_graphml, to_graphml
from .json_form import from_json, to_json
from .tables import from_csv, to_edge_list, to_matrix

Form = Literal["edges", "matrix", "graphml", "json"]
FORMS: tuple[str, ...] = get_args(Form)
WRITERS: dict[str, Callable[[CognitiveMap], str]] = {
    "edges": to_edge_list,
    "matrix": to_matrix,
    "graphml": to_graphml,
    "json": to_json,
}
ENDINGS: dict[str, Form] = {".matrix.csv": "matrix", ".csv": "edges", ".graphml": "graphml", ".json": "json"}
"""The form that is written by default, by the end of a file's name; the first that fits."""


def read_map(path: str | os.PathLike[str]) -> CognitiveMap:
    """Read a cognitive map from a file.

    Parameters
    ----------
    path : path-like
        A list of edges or a matrix as CSV (that of Mental Modeler too), GraphML, or JSON; compressed by gzip or not.
        The form is found out from the content.

    Returns
    -------
    CognitiveMap
        The map. Of a list of edges, concepts are in the order in which they are mentioned.
    """
    path = Path(path)
    return from_text(content_of(path), str(path))


def from_text(content: str | bytes, name: str = "the map") -> CognitiveMap:
    """Read a cognitive map from the content of a file.

    Parameters
    ----------
    content : str or bytes
        What the file holds.
    name : str, default="the map"
        What errors call it.

    Returns
    -------
    CognitiveMap
        The map.
    """
    try:
        text = content if isinstance(content, str) else _decoded(content)
        start = text.lstrip("\ufeff \t\r\n")[:1]
        if start == "<":
            return from_graphml(content.encode() if isinstance(content, str) else content)
        return from_json(text) if start == "{" else from_csv(text.removeprefix("\ufeff"))
    except ValueError as error:
        raise ValueError(f"{name}: {error}") from error


def _decoded(content: bytes) -> str:
    """Return bytes as text; what is not UTF-8 is Latin-1, as spreadsheets write it."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
        return content.decode("utf-16")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        return content.decode("latin-1")


def to_text(cognitive_map: CognitiveMap, form: Form) -> str:
    """Return a cognitive map as the content of a file.

    Parameters
    ----------
    cognitive_map : CognitiveMap
        The map.
    form : {"edges", "matrix", "graphml", "json"}
        A list of edges or a matrix as CSV, GraphML, or JSON. CSV does not say how a map reasons.

    Returns
    -------
    str
        The content.
    """
    if form not in WRITERS:
        raise ValueError(f"form={form!r} is unknown: use one of {', '.join(repr(known) for known in FORMS)}.")
    return WRITERS[form](cognitive_map)


def write_map(cognitive_map: CognitiveMap, path: str | os.PathLike[str], *, form: Form | None = None) -> Path:
    """Write a cognitive map to a file, which appears when it is complete.

    Parameters
    ----------
    cognitive_map : CognitiveMap
        The map.
    path : path-like
        The file; one that exists is replaced.
    form : {"edges", "matrix", "graphml", "json"}, default=None
        What to write; by default what the name ends with: .csv is a list of edges, .matrix.csv a matrix.

    Returns
    -------
    Path
        The file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from cogmap import CognitiveMap, read_map, write_map
    >>> drawn = CognitiveMap.from_edges([("rain", "grass", 0.8), ("grass", "rabbits", 0.6)])
    >>> with TemporaryDirectory() as folder:
    ...     read_map(write_map(drawn, Path(folder) / "meadow.graphml")) == drawn
    True
    """
    path = Path(path)
    chosen = form or next((own for ending, own in ENDINGS.items() if path.name.lower().endswith(ending)), None)
    if chosen is None:
        endings = ", ".join(ENDINGS)
        raise ValueError(f"{path} ends with {path.suffix!r}: name a map {endings}, or say its form.")
    text = to_text(cognitive_map, chosen)
    with whole(path) as unfinished:
        unfinished.write_text(text, encoding="utf-8", newline="")
    return path
